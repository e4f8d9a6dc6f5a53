"""Reports as HTML: one file, no network, readable on screen and on paper."""

from __future__ import annotations

from html import escape

from vbas_desktop.model.words import capitalised

from .blocks import Block, Checks, Command, Figure, Pairs, Paragraph, Report, Section, Table, Tiles

STYLE = """
:root { --text: #1b2530; --muted: #5c6975; --line: #d5dbe1; --accent: #0f6b8f; --good: #2a7a4b; --bad: #b3261e; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: #f4f6f8; color: var(--text); line-height: 1.55;
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
header, main, footer { max-width: 940px; margin: 0 auto; padding: 0 32px; }
header { padding-top: 40px; }
h1 { font-size: 30px; line-height: 1.2; font-weight: 600; margin: 4px 0 16px; letter-spacing: -0.01em; }
.banner { display: inline-block; margin: 0; padding: 2px 10px; border-radius: 3px; font-size: 13px;
  background: #e3eff4; color: var(--accent); }
.internal .banner { background: #fbe9e7; color: var(--bad); }
nav { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 13px; padding-bottom: 16px; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
section { background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: 20px 28px 24px;
  margin: 0 0 16px; }
h2 { font-size: 18px; font-weight: 600; margin: 0 0 12px; }
p { margin: 0 0 12px; max-width: 46em; }
p:last-child { margin-bottom: 0; }
.quiet { color: var(--muted); font-size: 13.5px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 24px; margin: 4px 0 20px; }
.tiles b { display: block; font-size: 28px; line-height: 1.2; font-weight: 600; color: var(--accent);
  font-variant-numeric: tabular-nums; }
.tiles span { color: var(--muted); font-size: 13.5px; line-height: 1.4; display: block; }
dl { display: grid; grid-template-columns: minmax(150px, 32%) 1fr; gap: 6px 24px; margin: 0 0 12px; }
dt { color: var(--muted); }
dd { margin: 0; }
.scroll { overflow-x: auto; margin: 0 0 16px; }
.scroll:last-child { margin-bottom: 0; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; line-height: 1.4; }
caption { caption-side: bottom; text-align: left; color: var(--muted); padding-top: 8px; }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid #e8ecef; vertical-align: top; }
th { font-weight: 500; color: var(--muted); border-bottom-color: #b9c2ca; vertical-align: bottom; }
th:last-child, td:last-child { padding-right: 0; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.n { white-space: normal; }
.marked td { font-weight: 650; background: #f0f6f9; }
code { font: 12px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; word-break: break-all;
  color: var(--muted); }
pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  background: #f4f6f8; border-radius: 4px; padding: 12px 16px; margin: 0; }
.checks { list-style: none; margin: 0 0 12px; padding: 0; }
.checks li { padding: 3px 0 3px 26px; position: relative; }
.checks i { position: absolute; left: 0; font-style: normal; font-weight: 700; color: var(--good); }
.checks .no i { color: var(--bad); }
figure { margin: 0 0 16px; }
figure:last-child { margin-bottom: 0; }
svg { display: block; width: 100%; height: auto; font-family: inherit; background: #fbfcfd; border-radius: 4px; }
svg text { paint-order: stroke; stroke: #ffffffb0; stroke-width: 2px; }
figcaption { color: var(--muted); font-size: 13.5px; margin-top: 8px; }
footer { color: var(--muted); font-size: 13px; padding-top: 8px; padding-bottom: 48px; }
@media (max-width: 640px) { header, main, footer { padding-left: 12px; padding-right: 12px; }
  section { padding: 16px; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 8px; } }
@media print { @page { margin: 18mm 16mm; } body { background: #fff; font-size: 10pt; } nav { display: none; }
  header, main, footer { max-width: none; padding: 0; } section { border: 0; padding: 0; margin: 0 0 22px; }
  h2 { break-after: avoid; } figure, tr, .tiles, dl, .checks li { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; } }
""".strip()
"""The look: calm, light, and the same on paper."""


def as_html(report: Report) -> str:
    """The whole page."""
    sections = "\n".join(_section(number, section) for number, section in enumerate(report.sections, 1))
    contents = " ".join(
        f'<a href="#s{number}">{escape(section.title)}</a>' for number, section in enumerate(report.sections, 1)
    )
    kind = "internal" if report.internal else "recipient"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(report.title)}</title>
<style>
{STYLE}
</style>
</head>
<body class="{kind}">
<header><p class="banner">{escape(report.banner)}</p><h1>{escape(report.title)}</h1><nav>{contents}</nav></header>
<main>
{sections}
</main>
<footer>{escape(report.foot)}</footer>
</body>
</html>
"""


def _section(number: int, section: Section) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f'<section id="s{number}"><h2>{escape(section.title)}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    match block:
        case Paragraph(text, quiet):
            return f'<p class="quiet">{escape(text)}</p>' if quiet else f"<p>{escape(text)}</p>"
        case Tiles(items):
            tiles = "".join(f"<div><b>{escape(value)}</b><span>{escape(text)}</span></div>" for value, text in items)
            return f'<div class="tiles">{tiles}</div>'
        case Pairs(items):
            pairs = "".join(f"<dt>{escape(name)}</dt><dd>{_breakable(value)}</dd>" for name, value in items)
            return f"<dl>{pairs}</dl>"
        case Checks(items):
            return f'<ul class="checks">{"".join(_check(*item) for item in items)}</ul>'
        case Figure(drawing, caption):
            width = min(100.0, drawing.width / 8.6)
            return (
                f'<figure style="width:{width:.0f}%">{drawing.svg}<figcaption>{escape(caption)}</figcaption></figure>'
            )
        case Command(text):
            return f"<pre>{escape(text)}</pre>"
        case Table():
            return _table(block)


def _check(passed: bool, name: str, detail: str) -> str:
    mark, word = ("✓", "yes") if passed else ("✗", "no")
    more = f' <span class="quiet">{escape(detail)}</span>' if detail else ""
    return f'<li class="{word}"><i aria-label="{word}">{mark}</i>{escape(capitalised(name))}{more}</li>'


def _table(table: Table) -> str:
    head = "".join(_cell("th", text, table.is_number(column)) for column, text in enumerate(table.headings))
    body = "\n".join(
        f"<tr{' class=marked' if index in table.marked else ''}>"
        + "".join(_cell("td", text, table.is_number(column)) for column, text in enumerate(row))
        + "</tr>"
        for index, row in enumerate(table.rows)
    )
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _cell(tag: str, text: str, number: bool) -> str:
    return f"<{tag}{' class=n' if number else ''}>{_breakable(text)}</{tag}>"


def _breakable(text: str) -> str:
    """Long words without spaces (checksums) may break anywhere."""
    return " ".join(f"<code>{escape(word)}</code>" if len(word) > 40 else escape(word) for word in text.split(" "))

"""Reports as HTML: one file, no network, readable on screen and on paper."""

from __future__ import annotations

from html import escape

from .blocks import Block, Checks, Command, Figure, Pairs, Paragraph, Report, Section, Table, Tiles
from .style import STYLE


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
    return f'<li class="{word}"><i aria-label="{word}">{mark}</i>{escape(name[:1].upper() + name[1:])}{more}</li>'


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

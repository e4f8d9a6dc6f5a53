"""Sets reports as HTML: one file, no network, readable on screen and on paper."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from vbas_desktop.io.paths import resource_path
from vbas_desktop.model.text import capitalise

from .blocks import Block, Checks, Command, Figure, Pairs, Paragraph, Report, Section, Table, Tiles


def render_html(report: Report) -> str:
    """Set a report as a page of HTML."""
    sections = "\n".join(_section(number, section) for number, section in enumerate(report.sections, 1))
    contents = " ".join(
        f'<a href="#s{number}">{escape(section.title)}</a>'
        for number, section in enumerate(report.sections, 1)
    )
    kind = "internal" if report.internal else "recipient"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(report.title)}</title>
<style>
{_read_style_sheet()}
</style>
</head>
<body class="{kind}">
<header><p class="banner">{escape(report.banner)}</p><h1>{escape(report.title)}</h1>
<nav aria-label="Contents">{contents}</nav></header>
<main>
{sections}
</main>
<footer>{escape(report.foot)}</footer>
</body>
</html>
"""


@lru_cache
def _read_style_sheet() -> str:
    """Read the style sheet: calm, light, and the same on paper."""
    return resource_path("report.css").read_text(encoding="utf-8").strip()


def _section(number: int, section: Section) -> str:
    blocks = "\n".join(_block(block, section.title) for block in section.blocks)
    heading = f'<h2 id="h{number}">{escape(section.title)}</h2>'
    return f'<section id="s{number}" aria-labelledby="h{number}">{heading}\n{blocks}\n</section>'


def _block(block: Block, section_title: str) -> str:
    match block:
        case Paragraph(text, quiet):
            return f'<p class="quiet">{escape(text)}</p>' if quiet else f"<p>{escape(text)}</p>"
        case Tiles(items):
            tiles = "".join(
                f"<div><b>{escape(value)}</b><span>{escape(text)}</span></div>" for value, text in items
            )
            return f'<div class="tiles">{tiles}</div>'
        case Pairs(items):
            pairs = "".join(
                f"<dt>{escape(name)}</dt><dd>{_breakable(value)}</dd>" for name, value in items
            )
            return f"<dl>{pairs}</dl>"
        case Checks(items):
            return f'<ul class="checks">{"".join(_check(*item) for item in items)}</ul>'
        case Figure(drawing, caption):
            width = min(100.0, drawing.width / 8.6)
            text = f"<figcaption>{escape(caption)}</figcaption>"
            return f'<figure style="width:{width:.0f}%">{drawing.svg}{text}</figure>'
        case Command(text):
            return f'<pre tabindex="0">{escape(text)}</pre>'
        case Table():
            return _table(block, section_title)


def _check(passed: bool, name: str, detail: str) -> str:
    mark, variant, word = ("✓", "yes", "Passed") if passed else ("✗", "no", "Not passed")
    more = f' <span class="quiet">{escape(detail)}</span>' if detail else ""
    return f'<li class="{variant}"><i role="img" aria-label="{word}">{mark}</i>{escape(capitalise(name))}{more}</li>'


def _table(table: Table, section_title: str) -> str:
    """Set a table that scrolls where it is wider than the page; the keyboard reaches it by its label."""
    head = "".join(
        _cell("th", text, table.is_number(column), "col") for column, text in enumerate(table.headings)
    )
    body = "\n".join(
        f"<tr{' class=marked aria-current=true' if index in table.marked else ''}>"
        + "".join(_cell("td", text, table.is_number(column)) for column, text in enumerate(row))
        + "</tr>"
        for index, row in enumerate(table.rows)
    )
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    label = escape(f"{section_title}: {table.caption or table.headings[0]}")
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
    )


def _cell(tag: str, text: str, number: bool, scope: str = "") -> str:
    attributes = f"{' class=n' if number else ''}{f' scope={scope}' if scope else ''}"
    return f"<{tag}{attributes}>{_breakable(text)}</{tag}>"


def _breakable(text: str) -> str:
    """Escape a text; long words without spaces (checksums) may break anywhere."""
    return " ".join(
        f"<code>{escape(word)}</code>" if len(word) > 40 else escape(word) for word in text.split(" ")
    )

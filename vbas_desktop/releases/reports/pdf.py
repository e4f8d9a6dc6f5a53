"""Reports as PDF: the same content set with reportlab; same content, same bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import reportlab
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import CondPageBreak, KeepTogether, SimpleDocTemplate, Spacer, TableStyle
from reportlab.platypus import Paragraph as Flow
from reportlab.platypus import Table as Grid

from vbas_desktop.model.text import capitalise

from .blocks import Block, Checks, Command, Figure, Pairs, Paragraph, Report, Table, Tiles
from .pdf_drawing import ABSENT, FONT, DrawnFigure

TEXT, MUTED, RULE, ACCENT = (
    colors.HexColor(code) for code in ("#1b2530", "#5c6975", "#d5dbe1", "#0f6b8f")
)
BAD = colors.HexColor("#b3261e")
WIDTH = A4[0] - 122
_FONTS = {FONT: "Vera.ttf", "Vera-Bold": "VeraBd.ttf"}


_ACCESSIBLE_VERSION = (
    "This file has no tags for screen readers. The accessible version is {name}, beside it."
)


def render_pdf(report: Report, html_name: str = "report.html") -> bytes:
    """Set a report as a PDF file, with language, title and outline; it names the HTML file as the accessible version.

    The viewer shows the title in place of the file's name. Returns the bytes of the file.
    """
    _register_fonts()
    out = io.BytesIO()
    document = SimpleDocTemplate(
        out, pagesize=A4, leftMargin=55, rightMargin=55, topMargin=55, bottomMargin=60, title=report.title,
        author="VBAS Desktop", invariant=1, lang="en", displayDocTitle=True,
    )  # fmt: skip
    story: list[Any] = [
        Flow(_safe(report.banner), _style(8, BAD if report.internal else ACCENT)),
        _Heading(report.title, 0, _style(20, TEXT, bold=True, after=10)),
        Flow(_safe(_ACCESSIBLE_VERSION.format(name=html_name)), _style(8, MUTED, after=6)),
    ]
    for section in report.sections:
        heading = _Heading(section.title, 1, _style(13, TEXT, bold=True, before=14, after=6))
        first, *others = [group for block in section.blocks for group in _flows(block)]
        if isinstance(first, _GridRows):
            story += [
                CondPageBreak(_height(heading) + first.measure_beginning()),
                heading,
                first.make_grid(),
            ]
        else:
            story.append(KeepTogether([heading, *first]))
        for group in others:
            story += _place_group(group)
    story.append(Flow(_safe(report.foot), _style(8, MUTED, before=16)))
    document.build(story, onFirstPage=_page_number, onLaterPages=_page_number)
    return out.getvalue()


class _Heading(Flow):
    """A heading that is an entry of the outline, at ``level`` 0 or 1."""

    def __init__(self, title: str, level: int, style: ParagraphStyle) -> None:
        super().__init__(_safe(title), style)
        self._title = title
        self._level = level

    def draw(self) -> None:
        """Draw the heading and enter it into the outline."""
        key = f"{self._level} {self._title}"
        self.canv.bookmarkHorizontal(key, 0, self.height)
        self.canv.addOutlineEntry(self._title, key, self._level, closed=False)
        super().draw()


ROWS_BELOW_HEADING = 3
"""Rows of a table, its head included, that are on the page of the heading; then a page break may come."""


@dataclass(frozen=True)
class _GridRows:
    """The content of a grid that a page break may divide."""

    rows: Sequence[Sequence[Any]]
    widths: Sequence[float]
    style: TableStyle
    head_rows: int = 0

    def make_grid(self, n_rows: int | None = None) -> Any:
        """Make the grid of the first rows (None: of all)."""
        rows = list(self.rows[:n_rows])
        return Grid(rows, self.widths, style=self.style, repeatRows=self.head_rows, hAlign="LEFT")

    def measure_beginning(self) -> float:
        """Return the height of the rows that stay with their heading, in points."""
        _, height = self.make_grid(ROWS_BELOW_HEADING).wrap(WIDTH, A4[1])
        return float(height)


_Group = list[Any] | _GridRows
"""Flowables that stay on one page, or a grid."""


def _place_group(group: _Group) -> list[Any]:
    if isinstance(group, _GridRows):
        return [group.make_grid()]
    return group if len(group) == 1 else [KeepTogether(group)]


def _height(flow: Any) -> float:
    _, height = flow.wrap(WIDTH, A4[1])
    return float(height + flow.getSpaceBefore() + flow.getSpaceAfter())


def _register_fonts() -> None:
    folder = Path(reportlab.__file__).parent / "fonts"
    for name, file in _FONTS.items():
        if name not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(TTFont(name, str(folder / file)))


def _page_number(canvas: Any, document: Any) -> None:
    canvas.setFont("Vera", 7.5)
    canvas.setFillColor(MUTED)
    canvas.drawRightString(A4[0] - 55, 34, str(document.page))


def _style(
    size: float,
    colour: Any,
    bold: bool = False,
    before: float = 0,
    after: float = 4,
    right: bool = False,
) -> ParagraphStyle:
    return ParagraphStyle(
        "text", fontName="Vera-Bold" if bold else "Vera", fontSize=size, leading=size * 1.42, textColor=colour,
        spaceBefore=before, spaceAfter=after, alignment=2 if right else 0, splitLongWords=1,
    )  # fmt: skip


def _safe(text: str) -> str:
    """Remove marks that the font lacks, and escape markup."""
    return escape(text.translate(ABSENT))


def _flows(block: Block) -> list[_Group]:
    """Set a block as groups, between which a page break may come."""
    match block:
        case Paragraph(text, quiet):
            return [[Flow(_safe(text), _style(8 if quiet else 9, MUTED if quiet else TEXT, after=6))]]
        case Tiles(items):
            big = [Flow(_safe(value), _style(16, ACCENT, bold=True, after=0)) for value, _ in items]
            small = [Flow(_safe(text), _style(7.5, MUTED)) for _, text in items]
            widths = [WIDTH / len(items)] * len(items)
            return [_GridRows([big, small], widths, _plain()), [Spacer(1, 8)]]
        case Pairs(items):
            rows = [
                [Flow(_safe(a), _style(8, MUTED, after=0)), Flow(_safe(b), _style(8, TEXT, after=0))]
                for a, b in items
            ]
            return [_GridRows(rows, [WIDTH * 0.32, WIDTH * 0.68], _plain()), [Spacer(1, 6)]]
        case Checks(items):
            return [
                *([Flow(_check(*item), _style(8.5, TEXT, after=2))] for item in items),
                [Spacer(1, 4)],
            ]
        case Figure(drawing, caption):
            return [[DrawnFigure(drawing, WIDTH), Flow(_safe(caption), _style(8, MUTED, after=8))]]
        case Command(text):
            return [[Flow(_safe(text), _style(8, TEXT))]]
        case Table():
            return _table(block)


def _check(passed: bool, name: str, detail: str) -> str:
    mark, colour = ("yes", "#2a7a4b") if passed else ("no", "#b3261e")
    more = f' <font color="#5c6975">{_safe(detail)}</font>' if detail else ""
    return f'<font name="Vera-Bold" color="{colour}">{mark}</font>&nbsp; {_safe(capitalise(name))}{more}'


def _plain() -> TableStyle:
    return TableStyle(_padding(8, 1))


def _padding(right: float, above: float) -> list[tuple[Any, ...]]:
    everywhere = ((0, 0), (-1, -1))
    return [
        ("VALIGN", *everywhere, "TOP"),
        ("LEFTPADDING", *everywhere, 0),
        ("RIGHTPADDING", *everywhere, right),
        ("TOPPADDING", *everywhere, above),
        ("BOTTOMPADDING", *everywhere, above),
    ]


def _table(table: Table) -> list[_Group]:
    size = 7.5 if len(table.headings) < 8 else 6.0
    widths = _widths(table, size)
    head = [
        Flow(_safe(text), _style(size, MUTED, right=table.is_number(c), after=0))
        for c, text in enumerate(table.headings)
    ]
    body = [
        [
            Flow(
                _safe(text), _style(size, TEXT, index in table.marked, right=table.is_number(c), after=0)
            )
            for c, text in enumerate(row)
        ]
        for index, row in enumerate(table.rows)
    ]
    lines = [("LINEBELOW", (0, 0), (-1, 0), 0.6, MUTED), ("LINEBELOW", (0, 1), (-1, -1), 0.3, RULE)]
    style = TableStyle([*_padding(6, 2), *lines])
    groups: list[_Group] = [_GridRows([head, *body], widths, style, 1)]
    if table.caption:
        groups.append([Flow(_safe(table.caption), _style(8, MUTED))])
    return [*groups, [Spacer(1, 8)]]


def _widths(table: Table, size: float) -> list[float]:
    """Columns as wide as their longest word, the rest shared by the length of their texts."""
    columns = (
        list(zip(table.headings, *table.rows, strict=True))
        if table.rows
        else [(text,) for text in table.headings]
    )
    least = [
        min(150.0, max(_width(word, size) for text in cells for word in text.split() or [""])) + 9
        for cells in columns
    ]
    wish = [max(_width(text, size) for text in cells) + 9 for cells in columns]
    spare = max(0.0, WIDTH - sum(least))
    wanted_width = sum(wish) - sum(least) or 1.0
    widths = [low + spare * (full - low) / wanted_width for low, full in zip(least, wish, strict=True)]
    return [width * min(1.0, WIDTH / sum(widths)) for width in widths]


def _width(text: str, size: float) -> float:
    return float(pdfmetrics.stringWidth(text.translate(ABSENT), "Vera", size))

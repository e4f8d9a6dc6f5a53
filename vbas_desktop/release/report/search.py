"""A search as a page for people: what is recommended, the front, its picture and the ladders."""

from __future__ import annotations

from itertools import pairwise

from vbas_desktop import __version__
from vbas_desktop.search.picture import lines_of
from vbas_desktop.search.run import Searched
from vbas_desktop.search.table import front_rows, summary_lines

from .blocks import Block, Figure, Paragraph, Report, Section, Table
from .drawing import Dot, Drawing, Label, Line

_WIDTH, _HEIGHT, _LEFT, _FOOT, _TOP = 640.0, 320.0, 60.0, 40.0, 16.0
_COLOURS = ("#0f6b8f", "#b4652b", "#3f7d4e", "#7a4fa3", "#a33f4f", "#5d6b2c")


def search_report(searched: Searched) -> Report:
    """The whole page."""
    sections = [Section("What was found", [Paragraph(line) for line in summary_lines(searched)])]
    if searched.front:
        sections += [_front(searched), _picture(searched)]
    sections.append(_ladders(searched))
    return Report(
        "Finding a release",
        "For the organisation: it tells how many records would be suppressed",
        True,
        sections,
        f"Made by VBAS Desktop {__version__}.",
    )


def _front(searched: Searched) -> Section:
    head, *rows = front_rows(searched)
    marked = frozenset(index for index, row in enumerate(rows) if row[0].startswith(">"))
    blocks: list[Block] = [
        Paragraph(
            "Of each attribute the categories that remain. No other combination keeps more of the attributes and of "
            "the place than one of these; the marked one keeps the largest product of both."
        ),
        Table(head, rows, marked=marked),
    ]
    return Section("Combinations that no other one beats", blocks)


def _picture(searched: Searched) -> Section:
    caption = "Number of regions against the share of the attributes' information that is kept; large dots: the front."
    return Section("Place against attributes", [Figure(drawing_of(searched), caption)])


def drawing_of(searched: Searched) -> Drawing:
    """Number of regions against detail, one line for each combination of the other attributes."""
    drawing = Drawing(_WIDTH, _HEIGHT, description="Number of regions against detail of the attributes")
    lines = lines_of(searched)
    points = [point for line in lines for point in line.points]
    most = max((point.regions for point in points), default=1)
    least = min((point.detail for point in points), default=0.0)
    span = (1.0 - least) or 1.0

    def place(detail: float, regions: int) -> tuple[float, float]:
        across = _LEFT + (detail - least) / span * (_WIDTH - _LEFT - 20)
        return across, _HEIGHT - _FOOT - regions / most * (_HEIGHT - _FOOT - _TOP)

    drawing.things += [Line((_LEFT, _TOP), (_LEFT, _HEIGHT - _FOOT)), Line(place(least, 0), place(1.0, 0))]
    for share in (0.0, 0.5, 1.0):
        x, y = place(least, round(share * most))
        drawing.things.append(Label((x - 6, y + 3), f"{round(share * most):,}", anchor="end"))
        x, y = place(least + share * span, 0)
        drawing.things.append(Label((x, y + 14), f"{100 * (least + share * span):.0f} %"))
    drawing.things.append(Label((_WIDTH / 2, _HEIGHT - 6), "attributes kept"))
    for index, line in enumerate(lines):
        colour = _COLOURS[index % len(_COLOURS)]
        spots = [place(point.detail, point.regions) for point in line.points]
        drawing.things += [Line(one, other, colour) for one, other in pairwise(spots)]
        for spot, point in zip(spots, line.points, strict=True):
            drawing.things.append(Dot(spot, 4 if point.front else 2, colour if point.front else "#ffffff", colour))
    return drawing


def _ladders(searched: Searched) -> Section:
    blocks: list[Block] = []
    for ladder in searched.finest.lattice.ladders:
        rows = [
            (str(level), f"{rung.number:,}", ", ".join(ladder.labels(level))) for level, rung in enumerate(ladder.rungs)
        ]
        blocks.append(Table(("level", "categories", "groups"), rows, numbers_to=2, caption=ladder.column))
    return Section("Ladders", blocks)

"""A search as a page for people: what is recommended, the front, its picture and the hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vbas_desktop.engine.lattice.search import LatticeSearchResult
from vbas_desktop.engine.lattice.table import (
    ChartLine,
    build_chart_lines,
    describe_search,
    format_front_rows,
)

from .blocks import FOOT, Block, Figure, Paragraph, Report, Section, Table
from .drawing import Dot, Drawing, Label, Line

_WIDTH = 640.0
_HEIGHT = 320.0
_LEFT = 60.0
_FOOT = 40.0
_TOP = 16.0
_ROW = 13.0
_MOST_NAMED = 12
"""So many lines are all named."""

_OTHERS = "#b8c0c8"
_COLOURS = ("#0f6b8f", "#b4652b", "#3f7d4e", "#7a4fa3", "#a33f4f", "#5d6b2c")


def build_search_report(searched: LatticeSearchResult) -> Report:
    """Build the whole page."""
    sections = [Section("What was found", [Paragraph(line) for line in describe_search(searched)])]
    if searched.front:
        sections += [_front_section(searched), _picture_section(searched)]
    sections.append(_hierarchies_section(searched))
    return Report(
        "Finding a release",
        "For the organisation: it shows how many records would be suppressed",
        True,
        sections,
        FOOT,
    )


def _front_section(searched: LatticeSearchResult) -> Section:
    head, *rows = format_front_rows(searched)
    marked = frozenset(index for index, row in enumerate(rows) if row[0].startswith(">"))
    blocks: list[Block] = [
        Paragraph(
            "Of each attribute the categories that remain. No other combination keeps more of the attributes and of "
            "the place than one of these; the marked one keeps the largest product of both among those that leave "
            "more than one category of every attribute, if there are any."
        ),
        Table(head, rows, marked=marked),
    ]
    return Section("Combinations that no other one beats", blocks)


def _picture_section(searched: LatticeSearchResult) -> Section:
    caption = (
        "Number of regions against the share of the attributes' information that is kept; large dots: the front; "
        "ring: recommended. Each letter stands at the end of its line; the names below show how many categories of the "
        "other attributes its nodes have."
    )
    return Section("Place against attributes", [Figure(draw_search(searched), caption)])


def draw_search(searched: LatticeSearchResult) -> Drawing:
    """Number of regions against detail, one line for each combination of the other attributes, with their names."""
    drawing = Drawing(_WIDTH, _HEIGHT, description="Number of regions against detail of the attributes")
    lines = build_chart_lines(searched)
    points = [point for line in lines for point in line.points]
    most = max((point.regions for point in points), default=1)
    least = min((point.detail for point in points), default=0.0)
    span = (1.0 - least) or 1.0

    def place(detail: float, regions: int) -> tuple[float, float]:
        across = _LEFT + (detail - least) / span * (_WIDTH - _LEFT - 30)
        return across, _HEIGHT - _FOOT - regions / most * (_HEIGHT - _FOOT - _TOP)

    drawing.things += [
        Line((_LEFT, _TOP), (_LEFT, _HEIGHT - _FOOT)),
        Line(place(least, 0), place(1.0, 0)),
    ]
    for share in (0.0, 0.5, 1.0):
        x, y = place(least, round(share * most))
        drawing.things.append(Label((x - 6, y + 3), f"{round(share * most):,}", anchor="end"))
        x, y = place(least + share * span, 0)
        drawing.things.append(Label((x, y + 14), f"{100 * (least + share * span):.0f} %"))
    drawing.things.append(Label((_WIDTH / 2, _HEIGHT - 6), "attributes kept"))
    named = _choose_letters(lines)
    colours = {index: _COLOURS[at % len(_COLOURS)] for at, index in enumerate(named)}
    letter_positions: list[tuple[float, float]] = []
    # Lines that are named are drawn last, above the others.
    for index in sorted(range(len(lines)), key=lambda index: index in colours):
        line = lines[index]
        colour = colours.get(index, _OTHERS)
        spots = [place(point.detail, point.regions) for point in line.points]
        drawing.things += [Line(start, end, colour) for start, end in pairwise(spots)]
        for spot, point in zip(spots, line.points, strict=True):
            if point.recommended:
                drawing.things.append(Dot(spot, 7, "none", colour))
            drawing.things.append(
                Dot(spot, 4 if point.front else 2, colour if point.front else "#ffffff", colour)
            )
        if index in colours:
            letter_positions.append(_find_free_position(spots[-1], letter_positions))
            drawing.things.append(Label(letter_positions[-1], named[index], colour=colour))
    _add_names(
        drawing, [(named[index], lines[index].title, colour) for index, colour in colours.items()]
    )
    if len(named) < len(lines):
        drawing.things.append(
            Label((_LEFT, drawing.height - 4), "grey: dominated by others", anchor="start")
        )
        drawing.height += _ROW
    return drawing


def _choose_letters(lines: Sequence[ChartLine]) -> dict[int, str]:
    """Choose the letter of each line that has one: of many lines only those that have part in the front."""
    chosen = [index for index, line in enumerate(lines) if any(point.front for point in line.points)]
    return {
        index: make_letters(at)
        for at, index in enumerate(chosen if len(lines) > _MOST_NAMED else range(len(lines)))
    }


def make_letters(number: int) -> str:
    """Write a number as letters: A, B … Z, AA, AB …"""
    rest, last = divmod(number, 26)
    return (make_letters(rest - 1) if rest else "") + chr(ord("A") + last)


def _find_free_position(
    spot: tuple[float, float], letter_positions: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """Find a place at the end of a line where no letter stands yet."""
    x = spot[0] + 12
    y = spot[1] + 3
    while any(abs(x - other[0]) < 12 and abs(y - other[1]) < 9 for other in letter_positions):
        y -= 9
    return x, y


def _add_names(drawing: Drawing, names: Sequence[tuple[str, str, str]]) -> None:
    """Below the picture: letter, a piece of the line and what its nodes have in common."""
    top = drawing.height + _ROW
    for at, (letter, title, colour) in enumerate(names):
        y = top + at * _ROW
        drawing.things += [
            Label((_LEFT, y), letter, anchor="end", colour=colour),
            Line((_LEFT + 6, y - 3), (_LEFT + 30, y - 3), colour),
            Label((_LEFT + 36, y), title, anchor="start"),
        ]
    drawing.height = top + len(names) * _ROW


def _hierarchies_section(searched: LatticeSearchResult) -> Section:
    blocks: list[Block] = []
    for hierarchy in searched.finest.lattice.hierarchies:
        rows = [
            (str(level), f"{hierarchy.count_groups(level):,}", ", ".join(hierarchy.list_labels(level)))
            for level in range(len(hierarchy.levels))
        ]
        blocks.append(
            Table(("level", "categories", "groups"), rows, numbers_to=2, caption=hierarchy.column)
        )
    return Section("Hierarchies", blocks)

"""The picture of a search as data: number of regions against detail, one line per combination of the attributes."""

from __future__ import annotations

from dataclasses import dataclass

from .run import FOUND, Searched


@dataclass(frozen=True)
class Point:
    """One node."""

    number: int
    detail: float
    regions: int
    front: bool
    recommended: bool


@dataclass(frozen=True)
class PictureLine:
    """The nodes that differ in the level of one attribute alone, from the least detail to the most."""

    title: str
    points: tuple[Point, ...]


def lines_of(searched: Searched) -> list[PictureLine]:
    """One line for each combination of the levels of all attributes but the one with the longest ladder."""
    lattice = searched.finest.lattice
    along = max(range(len(lattice.ladders)), key=lambda place: len(lattice.allowed[place]))
    groups: dict[tuple[int, ...], list[Point]] = {}
    for number, row in enumerate(searched.rows, 1):
        if row.status == FOUND and row.regions is not None:
            rest = (*row.node[:along], *row.node[along + 1 :])
            is_front, is_best = row.node in searched.front, row is searched.recommended
            groups.setdefault(rest, []).append(Point(number, row.detail, row.regions, is_front, is_best))
    others = [ladder for place, ladder in enumerate(lattice.ladders) if place != along]
    lines = []
    for rest, points in sorted(groups.items()):
        words = [f"{ladder.column} {ladder.rungs[level].number:,}" for ladder, level in zip(others, rest, strict=True)]
        title = ", ".join(words) or lattice.ladders[along].column
        lines.append(PictureLine(title, tuple(sorted(points, key=lambda point: point.detail))))
    return lines

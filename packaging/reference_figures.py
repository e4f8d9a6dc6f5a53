"""Draws the figures of the reference: every way of placing sites, making and refining regions, on one made-up example.

Nothing is random and nothing comes from a file, so that the same program always draws the same figures.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.map_colouring import assign_colours, recolour
from vbas_desktop.algorithms.region_graph import contract_graph, find_point_neighbours
from vbas_desktop.algorithms.voronoi_cells import clip_voronoi_cells, outline_aggregated_regions
from vbas_desktop.approaches.registry import NOTHING, create_approach, list_approaches
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Categories, SourceFile
from vbas_desktop.model.regions import (
    CoordinateKind,
    CoordinateSystem,
    CrosswalkPartition,
    Obstacles,
    Regions,
)
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.run import RunSettings

SITES = 20
K = 5
_WIDTH = 100.0
_HEIGHT = 64.0
_SCALE = 3.4
_GAP = 12
_TOWNS = ((30.0, 40.0, 13.0, 70), (74.0, 20.0, 9.0, 40))
"""Middle, radius and number of initial regions."""

_COUNTRY = 60
_SHARES = (0.3, 0.25, 0.18, 0.12, 0.08, 0.045, 0.02, 0.005)
"""How common each class is; the last ones are what gets suppressed."""

_FILLS = ("#dbe9f6", "#fde6cf", "#dff0d8", "#f3dff0", "#fff6c9", "#e3e3ef", "#d7f0ee")

EXAMPLE = (
    "The figures show one made-up example: two towns and the country around them. Dots are initial regions, squares "
    "are sites, and a site's cell is drawn around what it attracts."
)


@dataclass(frozen=True)
class Figure:
    """A drawing and what it shows."""

    svg: str
    caption: str


@cache
def draw_locations() -> dict[str, Figure]:
    """One figure for each site location approach, by its name."""
    problem = build_example()
    kinds = list_approaches("site_location")
    return {
        name: _figure(problem, name, "seeding" in {p.name for p in kinds[name].options()})
        for name in kinds
    }


@cache
def draw_refinements() -> dict[str, Figure]:
    """One figure for each refinement that does something, by its name."""
    problem, location = build_example(), create_approach("site_location", "balanced-density")
    before = _solution(problem, location)
    figures = {}
    for name in list_approaches("refinement"):
        if name == NOTHING:
            continue
        found = _solution(problem, location, create_approach("refinement", name))
        moved = np.flatnonzero(found.owner != before.owner)
        told = (
            f"Before (left, {location.metadata.title.lower()}) and after: {len(moved)} of {len(problem.regions)} "
            f"initial regions (red) have gone to a neighbour, {before.measures['regions_in_pieces']} and "
            f"{found.measures['regions_in_pieces']} aggregated regions are in several pieces, and instead of "
            f"{before.measures['suppressed_records']:,} now {_lost(problem, found)}."
        )
        panels = [_merged_panel(problem, before, moved[:0]), _merged_panel(problem, found, moved)]
        figures[name] = Figure(_svg(panels), told)
    return figures


@cache
def draw_constructions() -> dict[str, Figure]:
    """One figure for each construction, by its name: two panels where it starts from something, or differs."""
    plain, location = build_example(), create_approach("site_location", "balanced-density")
    nearest = _solution(plain, location)
    none = np.empty(0, np.intp)
    figures = {}
    for name, kind in list_approaches("construction").items():
        problem, before, told = plain, None, "{regions} aggregated regions: {lost}."
        if name == "obstacles":
            problem, before = replace(plain, regions=replace(plain.regions, obstacles=_river())), nearest
            told = "As the crow flies (left) and around a river with a bridge: "
            told += "{moved} initial regions (red) change hands."
        elif name == "coarsen":
            before = _solution(plain, location, sites=2 * SITES)
            earlier = CrosswalkPartition(
                before.membership, tuple(map(str, before.owners_used)), SourceFile("earlier.csv", 0, "")
            )
            problem = replace(plain, regions=replace(plain.regions, earlier=earlier))
            told = "{before} regions of an earlier release (left) joined to {regions}: {lost}."
        elif name == "given":
            before = nearest
            region, _ = dense_membership(_with_moves(plain, nearest))
            source = SourceFile("edited.csv", 0, "")
            problem = replace(
                plain, given=CrosswalkPartition(region, tuple(map(str, range(SITES))), source)
            )
            told = "Before (left) and after {moved} initial regions (red) were moved by hand: {lost}."
        elif name == "crop":
            problem = replace(
                plain, regions=replace(plain.regions, ids=_hierarchical_ids(plain.regions.points))
            )
        found = _solution(problem, location, construction=kind())
        moved = (
            np.flatnonzero(found.owner != nearest.membership) if name in ("obstacles", "given") else none
        )
        panels = [] if before is None else [_merged_panel(problem, before, none)]
        told = told.format(
            moved=len(moved),
            regions=found.aggregated_regions,
            before=before and before.aggregated_regions,
            lost=_lost(problem, found),
        )
        figures[name] = Figure(_svg([*panels, _merged_panel(problem, found, moved)]), told)
    return figures


def _with_moves(problem: Problem, solution: Solution) -> NDArray[np.int32]:
    """Move three initial regions to the aggregated region of a neighbour, as somebody might do by hand."""
    membership = solution.membership.copy()
    borders = [
        (a, b)
        for a, b in find_point_neighbours(problem.regions.points)
        if membership[a] != membership[b]
    ]
    for source, target in borders[::40][:3]:
        membership[source] = membership[target]
    return membership


def _hierarchical_ids(points: NDArray[np.float64]) -> tuple[str, ...]:
    """Make codes of squares within squares: each character halves the square of those before it in both directions."""
    codes = []
    for number, (x, y) in enumerate(points.tolist()):
        steps = [
            (int(x / _WIDTH * 2**depth) % 2, int(y / _HEIGHT * 2**depth) % 2) for depth in range(1, 4)
        ]
        codes.append("".join("ABCD"[2 * row + column] for column, row in steps) + str(number))
    return tuple(codes)


def _river() -> Obstacles:
    """From the west, between the towns, to the north; one bridge."""
    banks = [((0.0, 22.0), (24.0, 26.0), (38.0, 25.0)), ((41.0, 25.0), (58.0, 30.0), (60.0, 64.0))]
    shapes = np.empty(len(banks), object)
    shapes[:] = [shapely.LineString(bank) for bank in banks]
    return Obstacles(shapes, ("river",) * len(banks), ())


@cache
def build_example() -> Problem:
    """Two towns and the country around them: 170 initial regions, eight classes."""
    points = np.array([*_country(), *(place for town in _TOWNS for place in _town(*town))])
    populations = [
        12 + 12 * _spread(i, 7) if i < _COUNTRY else 25 + 30 * _spread(i, 7) for i in range(len(points))
    ]
    matrix = np.array(
        [
            [
                int(people * share + _spread(i * len(_SHARES) + column, 5))
                for column, share in enumerate(_SHARES)
            ]
            for i, people in enumerate(populations)
        ],
        np.int64,
    )
    ids = tuple(str(number) for number in range(len(points)))
    classes = np.arange(len(_SHARES), dtype=np.int64)
    return Problem(
        Regions(ids, points, CoordinateSystem(CoordinateKind.PLANAR)),
        ClassCounts.from_matrix((len(_SHARES),), classes, matrix),
        K,
        ("class",),
        (Categories("class", tuple(str(number) for number in classes)),),
        "region",
    )


def _spread(number: int, base: int) -> float:
    """The van der Corput sequence: evenly spread over 0 … 1, and the same everywhere."""
    value, step = 0.0, 1.0
    number += 1
    while number:
        number, digit = divmod(number, base)
        step /= base
        value += digit * step
    return value


def _country() -> Iterable[tuple[float, float]]:
    for i in range(_COUNTRY):
        yield round(_WIDTH * _spread(i, 2), 1), round(_HEIGHT * _spread(i, 3), 1)


def _town(x: float, y: float, radius: float, number: int) -> Iterable[tuple[float, float]]:
    placed = 0
    for i in range(4 * number):
        east, north = 2 * _spread(i, 2) - 1, 2 * _spread(i, 3) - 1
        away = east * east + north * north
        if away <= 1 and placed < number:
            placed += 1
            # Squeezed towards the middle, where towns are densest.
            yield (
                round(x + radius * east * (0.4 + 0.6 * away), 1),
                round(y + radius * north * (0.4 + 0.6 * away), 1),
            )


def _solution(
    problem: Problem,
    location: object,
    refinement: object = None,
    construction: object = None,
    sites: int = SITES,
) -> Solution:
    number, made = (
        create_approach("site_number", "fixed", {"sites": sites}),
        construction or create_approach("construction", "voronoi"),
    )
    settings = RunSettings(range_reach=0)
    request = Request(problem, number, location, made, refinement, settings=settings)
    return run(request).solutions[0]


def _figure(problem: Problem, name: str, seeded: bool) -> Figure:
    location = create_approach("site_location", name)
    found = _solution(problem, location)
    assert found.sites is not None
    if not seeded:
        told = f"{SITES} sites on {len(problem.regions)} initial regions: {_lost(problem, found)}."
        return Figure(_svg([_panel(problem, found.sites)]), told)
    before = _solution(problem, location.seeding)
    assert before.sites is not None
    moved = np.flatnonzero((before.sites != found.sites).any(axis=1))
    told = (
        f"Before (left, {location.seeding.metadata.title.lower()}) and after: {len(moved)} of {SITES} sites have moved "
        f"(lines show from where), {found.aggregated_regions} aggregated regions are left, and instead of "
        f"{before.measures['suppressed_records']:,} now {_lost(problem, found)}."
    )
    panels = [_panel(problem, before.sites), _panel(problem, found.sites, before.sites)]
    return Figure(_svg(panels), told)


def _lost(problem: Problem, solution: Solution) -> str:
    return f"{solution.measures['suppressed_records']:,} of {problem.records:,} records are suppressed (k = {K})"


def _svg(panels: list[list[str]]) -> str:
    width, height = _WIDTH * _SCALE, _HEIGHT * _SCALE
    whole = len(panels) * width + (len(panels) - 1) * _GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {whole:.0f} {height:.0f}">'
    ]
    for number, panel in enumerate(panels):
        lines += [f'<g transform="translate({number * (width + _GAP):.0f} 0)">', *panel, "</g>"]
    return "\n".join([*lines, "</svg>", ""])


def _panel(
    problem: Problem, sites: NDArray[np.float64], before: NDArray[np.float64] | None = None
) -> list[str]:
    """Cells, initial regions as dots, sites as squares, and lines from where sites came."""
    area = shapely.box(0, 0, _WIDTH, _HEIGHT)
    colours = assign_colours(
        len(sites), find_point_neighbours(sites if before is None else before), len(_FILLS)
    )
    if before is not None:
        colours = recolour(colours, find_point_neighbours(sites), len(_FILLS))
    lines = ['<g stroke="#7a7f87" stroke-width="0.8">']
    for cell, colour in zip(clip_voronoi_cells(sites, area), colours, strict=True):
        corners = " ".join(_place(x, y) for x, y in shapely.get_coordinates(cell)[:-1])
        lines.append(f'<polygon points="{corners}" fill="{_FILLS[colour]}"/>' if corners else "")
    lines += ["</g>", _dots(problem.regions.points, "#4a5058")]
    if before is not None:
        drawn = " ".join(
            f"M{_place(*old)}L{_place(*new)}"
            for old, new in zip(before, sites, strict=True)
            if (old != new).any()
        )
        lines.append(f'<path stroke="#c0392b" stroke-width="1.5" d="{drawn}"/>')
    return [line for line in (*lines, _squares(sites)) if line]


def _dots(points: NDArray[np.float64], ink: str) -> str:
    """Initial regions; nothing if there are none."""
    dots = " ".join(f"M{_place(x, y)}h.1" for x, y in points)
    return f'<path stroke="{ink}" stroke-width="3" stroke-linecap="round" d="{dots}"/>' if dots else ""


def _squares(sites: NDArray[np.float64]) -> str:
    squares = " ".join(f"M{_place(x, y)}m-3.5-3.5h7v7h-7z" for x, y in sites)
    return f'<path fill="#c0392b" stroke="#ffffff" stroke-width="0.8" d="{squares}"/>'


def _merged_panel(problem: Problem, solution: Solution, moved: NDArray[np.intp]) -> list[str]:
    """Aggregated regions as unions of the cells of their points, sites as squares, moved regions in red, rivers."""
    regions, membership = problem.regions, solution.membership
    shapes = outline_aggregated_regions(regions, membership, area=shapely.box(0, 0, _WIDTH, _HEIGHT))
    pairs = contract_graph(find_point_neighbours(regions.points), membership)
    lines = ['<g stroke="#7a7f87" stroke-width="0.8">']
    for shape, colour in zip(shapes, assign_colours(len(shapes), pairs, len(_FILLS)), strict=True):
        rings = shapely.get_rings(shapely.get_parts(shape))
        drawn = " ".join(
            f"M{'L'.join(_place(x, y) for x, y in shapely.get_coordinates(ring)[:-1])}Z"
            for ring in rings
        )
        lines.append(f'<path d="{drawn}" fill="{_FILLS[colour]}"/>')
    others = np.delete(regions.points, moved, axis=0)
    lines += ["</g>", _dots(others, "#4a5058"), _dots(regions.points[moved], "#c0392b")]
    for line in regions.obstacles.shapes if regions.obstacles is not None else ():
        drawn = "L".join(_place(x, y) for x, y in shapely.get_coordinates(line))
        lines.append(f'<path fill="none" stroke="#1f6fb2" stroke-width="3" d="M{drawn}"/>')
    if solution.sites is not None:
        lines.append(_squares(solution.sites))
    return [line for line in lines if line]


def _place(x: float, y: float) -> str:
    """On paper, y grows downwards."""
    return f"{x * _SCALE:.1f},{(_HEIGHT - y) * _SCALE:.1f}"

"""The map of the aggregated regions, and the solutions as a scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.map_colouring import assign_colours
from vbas_desktop.algorithms.polygons import list_rings
from vbas_desktop.algorithms.region_graph import Pairs, contract_graph
from vbas_desktop.engine.outcome import find_largest_shares, suppress_solution
from vbas_desktop.model.regions import CoordinateKind
from vbas_desktop.model.solution import Solution

from ..plan import ReleasedPartition, ReleasePlan
from .drawing import Area, Dot, Drawing, Label, Line

Ring = list[list[float]]

FILLS = (
    "#a9c6de", "#f0cfa0", "#a8d5c2", "#e3b3b0", "#c9c3e0", "#d9dca0",
    "#8fb8c9", "#e8bfd2", "#bcd6a4", "#d8c3ab", "#9fcfd6", "#cfd4da",
)  # fmt: skip
SEQUENCE = ("#fff3e0", "#fdd9a5", "#f7b267", "#e58237", "#bf5413", "#7f2d04")
WIDTH = 860.0
TALLEST = 900.0
LABEL_ROOM = (30.0, 12.0)


class Frame:
    """Positions of the parts of a map on the page."""

    def __init__(self, shapes: NDArray[np.object_], swap: bool) -> None:
        self.swap = swap
        low_x, low_y, high_x, high_y = shapely.total_bounds(self.to_east_north(shapes))
        wide = max(high_x - low_x, 1e-12)
        high = max(high_y - low_y, 1e-12)
        self.scale = min((WIDTH - 20) / wide, (TALLEST - 50) / high)
        self.width = WIDTH
        self.height = high * self.scale + 50
        self._left = (WIDTH - wide * self.scale) / 2 - low_x * self.scale
        self._top = 10 + high_y * self.scale

    def to_east_north(self, shapes: NDArray[np.object_]) -> NDArray[np.object_]:
        """Shapes with x to the east (raw degrees are kept as latitude, longitude)."""
        to_east_north: NDArray[np.object_] = (
            shapely.transform(shapes, lambda points: points[:, ::-1]) if self.swap else shapes
        )
        return to_east_north

    def to_drawing(self, shapes: NDArray[np.object_]) -> NDArray[np.object_]:
        """Shapes in the units of the drawing, without detail that nobody could see."""

        def move(points: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.column_stack(
                (points[:, 0] * self.scale + self._left, self._top - points[:, 1] * self.scale)
            )

        to_drawing: NDArray[np.object_] = shapely.simplify(
            shapely.transform(self.to_east_north(shapes), move), 0.2
        )
        return to_drawing


class RegionMap:
    """The aggregated regions on paper, to be filled in one way or another."""

    def __init__(self, partition: ReleasedPartition, shapes: NDArray[np.object_]) -> None:
        regions = partition.regions
        self._partition = partition
        self._frame = Frame(shapes, regions.system.kind is CoordinateKind.DEGREES)
        to_drawing = self._frame.to_drawing(shapes)
        self._rings = _rings(to_drawing)
        self._over = [*_labels(partition, to_drawing), *_scale_bar(self._frame, regions.system.unit)]

    def distinct(self, pairs: Pairs) -> Drawing:
        """Draw in colours that tell neighbours apart; ``pairs`` are the neighbours among the initial regions."""
        return self._fill_regions(_distinct(self._partition, pairs), "Map of the aggregated regions")

    def shade(self, values: NDArray[np.float64], description: str) -> Drawing:
        """Draw a share (0 … 1) in shades; ``description`` says in words what the map shows."""
        drawing = self._fill_regions(_shades(values), description)
        drawing.things += _legend(self._frame, float(values.max(initial=0.0)))
        return drawing

    def _fill_regions(self, fills: Sequence[str], description: str) -> Drawing:
        drawing = Drawing(self._frame.width, self._frame.height, description=description)
        for rings, fill, code in zip(self._rings, fills, self._partition.codes, strict=True):
            drawing.things.append(Area(rings, fill, title=code))
        drawing.things += self._over
        return drawing


@dataclass(frozen=True)
class Maps:
    """The maps of a release: its regions, the share of their records that was suppressed (None: none was), and the
    share of the commonest harmful value (None: no column is sensitive).
    """

    regions: Drawing
    suppressed: Drawing | None
    harm: Drawing | None = None


def make_maps(plan: ReleasePlan, shapes: NDArray[np.object_], pairs: Pairs) -> Maps:
    """Draw the maps of a plan; ``pairs`` are the neighbours among the initial regions."""
    drawn = RegionMap(plan, shapes)
    share = plan.suppressed_by_region / np.maximum(1, plan.records_by_region)
    suppressed = None
    if plan.records_suppressed:
        suppressed = drawn.shade(share, "Map of the share of suppressed records by aggregated region")
    maps = Maps(drawn.distinct(pairs), suppressed, _harm(plan, drawn))
    for drawing in (maps.regions, maps.suppressed, maps.harm):
        if drawing is not None:
            # Now, while records are still written, rather than when a report waits for it.
            _ = drawing.svg
    return maps


def _harm(plan: ReleasePlan, drawn: RegionMap) -> Drawing | None:
    if not plan.problem.sensitive:
        return None
    share = find_largest_shares(suppress_solution(plan.problem, plan.solution))
    description = "Map of the largest share of one sensitive value by aggregated region"
    return drawn.shade(np.nan_to_num(share) / 100, description)


def solutions_scatter(
    solutions: Sequence[Solution], chosen: Solution, x: str, y: str, titles: tuple[str, str]
) -> Drawing:
    """Solutions by two measures; those not dominated are filled, the chosen one has a ring."""
    drawing = Drawing(430, 300, description=f"Solutions by {titles[0]} and {titles[1]}")
    known = [
        one for one in solutions if one.measures.get(x) is not None and one.measures.get(y) is not None
    ]
    if not known:
        return drawing
    values = np.array([[float(one.measures[x] or 0), float(one.measures[y] or 0)] for one in known])
    low = values.min(axis=0)
    high = values.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    places = np.column_stack(
        (70 + 330 * (values[:, 0] - low[0]) / span[0], 240 - 195 * (values[:, 1] - low[1]) / span[1])
    )
    drawing.things += [Line((55, 255), (415, 255)), Line((55, 30), (55, 255))]
    drawing.things += [
        Label((235, 290), f"{titles[0]}: {_short(low[0])} to {_short(high[0])}", 11),
        Label((55, 18), f"{titles[1]}: {_short(low[1])} to {_short(high[1])}", 11, "start"),
    ]
    for one, (px, py) in zip(known, places.tolist(), strict=True):
        if one.id == chosen.id:
            drawing.things.append(Dot((px, py), 9, "none", "#0f6b8f"))
        drawing.things.append(Dot((px, py), 5, "#0f6b8f" if one.pareto else "#ffffff", "#0f6b8f"))
        drawing.things.append(Label((px + 11, py + 4), str(one.id), 11, "start"))
    return drawing


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"


def _distinct(partition: ReleasedPartition, initial: Pairs) -> list[str]:
    pairs = contract_graph(initial, partition.membership)
    return [FILLS[colour] for colour in assign_colours(len(partition.codes), pairs, len(FILLS)).tolist()]


def _shades(values: NDArray[np.float64]) -> list[str]:
    top = float(values.max(initial=0.0)) or 1.0
    steps = np.minimum((values / top * len(SEQUENCE)).astype(int), len(SEQUENCE) - 1)
    return [SEQUENCE[step] for step in steps.tolist()]


def _rings(shapes: NDArray[np.object_]) -> list[list[Ring]]:
    """List the rings of each shape, without the point that closes them."""
    return [[ring[:-1] for rings in polygons for ring in rings] for polygons in list_rings(shapes)]


def _labels(partition: ReleasedPartition, to_drawing: NDArray[np.object_]) -> list[Label]:
    """Place the codes where there is room to read them."""
    labels = []
    for number, shape in enumerate(to_drawing):
        if shape.is_empty:
            continue
        largest = max(shapely.get_parts(shape), key=lambda part: part.area)
        low_x, low_y, high_x, high_y = largest.bounds
        if high_x - low_x >= LABEL_ROOM[0] and high_y - low_y >= LABEL_ROOM[1]:
            point = largest.representative_point()
            labels.append(Label((point.x, point.y + 3), partition.codes[number], 8))
    return labels


def _scale_bar(frame: Frame, unit: str) -> list[Line | Label]:
    length = 160 / frame.scale
    step = 10.0 ** math.floor(math.log10(length))
    nice = max(step * factor for factor in (1, 2, 5) if step * factor <= length)
    text = f"{nice / 1000:,g} km" if unit == "m" else f"{nice:,g} {unit}{'s' if nice != 1 else ''}"
    y = frame.height - 14
    right = 10 + nice * frame.scale
    bar = [Line((10, y), (right, y)), Line((10, y - 4), (10, y)), Line((right, y - 4), (right, y))]
    return [*bar, Label((right + 6, y + 3), text, 10, "start")]


def _legend(frame: Frame, top: float) -> list[Area | Label]:
    x = frame.width - 250
    y = frame.height - 24
    boxes: list[Area | Label] = [
        Area(
            [[(x + 26 * i, y), (x + 26 * i + 26, y), (x + 26 * i + 26, y + 10), (x + 26 * i, y + 10)]],
            fill,
        )
        for i, fill in enumerate(SEQUENCE)
    ]
    return [
        *boxes,
        Label((x - 6, y + 9), "0 %", 10, "end"),
        Label((x + 162, y + 9), f"{100 * top:.3g} %", 10, "start"),
    ]

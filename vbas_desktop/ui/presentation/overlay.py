"""What is drawn besides regions and solution: context layers, outlines of columns, labels. Made in a thread. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.polygons import Shapes
from vbas_desktop.algorithms.region_codes import list_member_names
from vbas_desktop.algorithms.voronoi_cells import outline_aggregated_regions
from vbas_desktop.io.regions.map_layers import load_context_layer
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.text import escape_controls

from ..state.map_style import CODES, NAMES, MapStyle
from .map_shapes import Frame, Rings, lines_of, rings_of
from .region_geometry import RegionGeometry, SolutionGeometry

_DETAIL = 3_000.0
"""Context is simplified to this many steps along the diagonal of the study area: as fine as a screen shows."""

_AROUND = 1.0
"""Context is cut off this many widths of the study area around it."""


@dataclass(frozen=True, eq=False)
class DrawnContext:
    """A layer ready to be drawn: areas, lines (their borders included) and points; ``problem`` says why it is empty."""

    areas: Rings | None = None
    lines: Rings | None = None
    points: NDArray[np.float64] | None = None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Labels:
    """Texts and their positions, the most important first. ``sizes`` are widths and heights of the labelled shapes."""

    texts: tuple[str, ...]
    positions: NDArray[np.float64]
    sizes: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Overlay:
    """All of it for one region file; ``labelled`` says what the labels were made for."""

    regions: Regions
    coast: str | None = None
    context: Mapping[str, DrawnContext] = field(default_factory=dict)
    outlines: Mapping[str, Rings] = field(default_factory=dict)
    labels: Labels | None = None
    labelled: tuple[object, ...] = ()


def label_key(
    style: MapStyle, geometry: SolutionGeometry | None, names: tuple[str, ...]
) -> tuple[object, ...]:
    """Return the key of everything that the labels depend on."""
    if style.labels == CODES:
        return (style.labels, None if geometry is None else id(geometry.shapes))
    if style.labels == NAMES:
        return (style.labels, names, None if geometry is None else id(geometry.shapes))
    return (style.labels,)


def is_complete(
    overlay: Overlay | None, base: RegionGeometry, style: MapStyle, labelled: tuple[object, ...]
) -> bool:
    """Say if an overlay has all that a style asks for."""
    return (
        overlay is not None
        and overlay.regions is base.regions
        and overlay.coast == base.coast
        and set(overlay.context) == {layer.path for layer in style.context}
        and set(overlay.outlines) == set(style.outlines)
        and overlay.labelled == labelled
    )


def prepare_overlay(
    base: RegionGeometry,
    geometry: SolutionGeometry | None,
    names: tuple[str, ...],
    style: MapStyle,
    before: Overlay | None,
    progress: Progress,
) -> Overlay:
    """Prepare the layers, outlines and labels that a style asks for; reuse what ``before`` has."""
    reusable = before if before is not None and before.regions is base.regions else Overlay(base.regions)
    if reusable.coast != base.coast:
        reusable = Overlay(base.regions, base.coast, reusable.context)
    context = {}
    outlines = {}
    for layer in style.context:
        progress.update("Reading layers")
        context[layer.path] = reusable.context.get(layer.path) or prepare_context(layer.path, base)
    for column in style.outlines:
        progress.update("Outlining")
        outlines[column] = reusable.outlines.get(column) or outlines_of(base, column)
    labelled = label_key(style, geometry, names)
    labels = reusable.labels
    if labelled != reusable.labelled:
        progress.update("Preparing labels")
        labels = labels_of(base, geometry, names, style.labels)
    return Overlay(base.regions, base.coast, context, outlines, labels, labelled)


def prepare_context(path: str, base: RegionGeometry) -> DrawnContext:
    """Read a file, cut it to the surroundings of the study area and simplify it; never raises for a wrong file."""
    try:
        shapes = load_context_layer(path, base.regions.system)
    except InputError as error:
        return DrawnContext(problem=str(error.findings[0]))
    except OSError as error:
        return DrawnContext(problem=f"{path}: {error.strerror or 'cannot be read'}.")
    low, high = np.array(base.area.bounds).reshape(2, 2)
    span = high - low
    low = low - _AROUND * span
    high = high + _AROUND * span
    near = shapes[shapely.intersects(shapely.box(*shapely.bounds(shapes).T), shapely.box(*low, *high))]
    cut = shapely.clip_by_rect(_parts(near), *low, *high)
    parts = _parts(cut[~shapely.is_empty(cut)])
    kinds = shapely.get_dimensions(parts)
    fine = shapely.simplify(parts[kinds > 0], float(np.hypot(*span)) / _DETAIL, preserve_topology=False)
    fine = _parts(fine[~shapely.is_empty(fine)])
    areas = fine[shapely.get_dimensions(fine) == 2]
    lines = fine[shapely.get_dimensions(fine) == 1]
    borders = _borders(
        _parts(near[shapely.get_dimensions(near) == 2]), low, high, float(np.hypot(*span))
    )
    both = np.concatenate((lines, borders))
    points = shapely.get_coordinates(parts[kinds == 0])
    if not (len(areas) or len(both) or len(points)):
        return DrawnContext(
            problem=f"{path}: Nothing in it lies near the regions. Check its coordinate system."
        )
    frame = base.frame
    return DrawnContext(
        rings_of(areas, frame) if len(areas) else None,
        lines_of(both, frame) if len(both) else None,
        frame.to_map(points) if len(points) else None,
    )


def _parts(shapes: Shapes) -> Shapes:
    parts: Shapes = shapely.get_parts(shapely.get_parts(shapes))
    return parts


def _borders(
    areas: Shapes, low: NDArray[np.float64], high: NDArray[np.float64], diagonal: float
) -> Shapes:
    """Return the rings of areas as lines, so that the edge at which they are cut off is no border."""
    lines = shapely.clip_by_rect(shapely.boundary(areas), *low, *high)
    fine: Shapes = shapely.simplify(
        lines[~shapely.is_empty(lines)], diagonal / _DETAIL, preserve_topology=False
    )
    return _parts(fine[~shapely.is_empty(fine)])


def _dissolve_by_value(base: RegionGeometry, values: tuple[str, ...]) -> tuple[list[str], Shapes]:
    """List the values of a column, and the area of each: dissolved polygons, or cells of points."""
    distinct = list(dict.fromkeys(values))
    number = {value: index for index, value in enumerate(distinct)}
    membership = np.array([number[value] for value in values], np.int32)
    return distinct, outline_aggregated_regions(base.drawn, membership, None, base.area, base.clean)


def outlines_of(base: RegionGeometry, column: str) -> Rings:
    """Find the borders between regions with different values of a column."""
    _, shapes = _dissolve_by_value(base, base.regions.columns[column])
    return rings_of(shapes, base.frame)


def labels_of(
    base: RegionGeometry, geometry: SolutionGeometry | None, names: tuple[str, ...], content: str | None
) -> Labels | None:
    """Label aggregated regions by code or name, or the places that share a value of a column."""
    if content is None or (content in (CODES, NAMES) and geometry is None):
        return None
    if content in (CODES, NAMES):
        assert geometry is not None
        texts = list(geometry.codes if content == CODES else names)
        records = None
        if base.records is not None:
            own = np.bincount(geometry.solution.membership, base.records, len(geometry.shapes))
            records = own.astype(np.float64)
        return _labels(texts, geometry.shapes, base.frame, records)
    column = base.regions.columns[content]
    texts, shapes = _dissolve_by_value(
        base, list_member_names(base.regions, content) if any(column) else column
    )
    return _labels(texts, shapes, base.frame)


def _labels(
    texts: list[str], shapes: Shapes, frame: Frame, importance: NDArray[np.float64] | None = None
) -> Labels | None:
    """Ordered by records, or by area; texts break ties, so that the same labels come every time."""
    drawn = np.array([bool(text) for text in texts], np.bool_) & ~shapely.is_empty(shapes)
    if not drawn.any():
        return None
    weight = shapely.area(shapes) if importance is None else importance
    order = [number for number in np.lexsort((np.array(texts, str), -weight)).tolist() if drawn[number]]
    chosen = shapes[order]
    largest = [max(shapely.get_parts(shape), key=lambda part: part.area) for shape in chosen]
    positions = frame.to_map(shapely.get_coordinates(shapely.point_on_surface(largest)))
    bounds = shapely.bounds(largest)
    sizes = np.abs(frame.to_map(bounds[:, 2:]) - frame.to_map(bounds[:, :2]))
    return Labels(tuple(escape_controls(texts[number]) for number in order), positions, sizes)

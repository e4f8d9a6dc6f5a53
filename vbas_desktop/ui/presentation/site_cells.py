"""The cells of the sites where the plain diagram would show what is not so: around obstacles and within boundaries.

They are made only when they are to be seen. No Qt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.polygons import Shapes
from vbas_desktop.algorithms.voronoi_cells import clip_voronoi_cells, outline_aggregated_regions
from vbas_desktop.engine.constraints import CONSTRAINT_DIAGNOSTICS, list_zones
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.regions import Obstacles

from .map_shapes import Rings, lines_of, rings_of
from .region_geometry import RegionGeometry, SolutionGeometry

_CELL_STEPS = 250
"""Borders of cells around obstacles are drawn to this many steps along the longer side of the study area."""

_STAGE = "Drawing the cells"

Parts = list[tuple[shapely.Geometry, NDArray[np.float64]]]
"""The area of each part with the sites in it."""


def lacks_cells(geometry: SolutionGeometry) -> bool:
    """Say if Voronoi cells could be drawn but are not prepared yet."""
    return geometry.cell_rings is None and geometry.sites is not None


def with_cells(geometry: SolutionGeometry, progress: Progress) -> SolutionGeometry:
    """Return the geometry with Voronoi cells: per constraint zone, within it, and around obstacles if these counted.

    Ways around obstacles take seconds where coasts are long.
    """
    base = geometry.base
    obstacles = geometry.base.regions.obstacles
    progress.update(_STAGE)
    around = geometry.detoured is not None and obstacles is not None
    parts = _parts(geometry, around)
    if around:
        assert obstacles is not None
        return replace(geometry, cell_rings=_around(base, obstacles, parts, progress))
    return replace(geometry, cell_rings=_plain(base, parts, progress))


def _parts(geometry: SolutionGeometry, around: bool) -> Parts:
    """Ways are those that the construction went; plain cells are those of the sites where they are now."""
    base = geometry.base
    solution = geometry.solution
    sites = solution.unrefined.sites if around and solution.unrefined is not None else solution.sites
    assert sites is not None
    if CONSTRAINT_DIAGNOSTICS not in solution.diagnostics:
        return [(base.cell_area, sites)]
    parts = list_zones(base.regions, solution)
    if parts is None:
        return []
    if len(parts) == 1:
        return [(base.cell_area, sites)]
    number = np.empty(len(base.regions), np.int32)
    for index, (members, _) in enumerate(parts):
        number[members] = index
    areas = outline_aggregated_regions(base.drawn, number, None, base.area, base.clean)
    return [(area, sites[own]) for area, (_, own) in zip(areas, parts, strict=True)]


def _plain(base: RegionGeometry, parts: Parts, progress: Progress) -> Rings:
    cells: list[Shapes] = []
    for area, sites in parts:
        progress.update(_STAGE)
        cells.append(clip_voronoi_cells(sites, area))
    return rings_of(np.concatenate([np.empty(0, object), *cells]), base.frame)


def _around(base: RegionGeometry, obstacles: Obstacles, parts: Parts, progress: Progress) -> Rings:
    lines = np.concatenate([np.empty(0, object), *_lines(base, obstacles, parts, progress)])
    return lines_of(lines, base.frame)


def _lines(
    base: RegionGeometry, obstacles: Obstacles, parts: Parts, progress: Progress
) -> Iterator[Shapes]:
    """Yield the borders between cells, inside the area of each part; then those of the parts."""
    from vbas_desktop.algorithms.geodesic import trace_cell_borders
    from vbas_desktop.algorithms.geodesic_mesh import obstacle_barriers

    low_x, low_y, high_x, high_y = shapely.bounds(base.cell_area).tolist()
    step = max(high_x - low_x, high_y - low_y) / _CELL_STEPS
    for area, sites in parts:
        if len(sites) > 1:
            stretches = trace_cell_borders(obstacle_barriers(obstacles), sites, area, step, progress)
            inside = shapely.intersection(shapely.linestrings(stretches), area)
            yield inside[shapely.get_dimensions(inside) == 1]
    if len(parts) > 1:
        yield shapely.get_parts(shapely.boundary(np.array([area for area, _ in parts], object)))

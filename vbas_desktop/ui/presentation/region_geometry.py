"""Prepare what the map draws, as plain arrays, in a background thread.

`prepare_region_geometry` depends on the regions alone and is called once per region file; `prepare_solution_geometry`
adds one solution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from vbas_desktop.algorithms.map_colouring import assign_colours, match_groups, recolour
from vbas_desktop.algorithms.nearest_site import find_nearest_sites, unique_pairs
from vbas_desktop.algorithms.polygons import Shapes, clean_coverage, extract_polygons
from vbas_desktop.algorithms.region_codes import make_region_codes
from vbas_desktop.algorithms.region_graph import (
    Pairs,
    contract_graph,
    count_pieces,
    find_neighbours,
    find_point_neighbours,
)
from vbas_desktop.algorithms.voronoi_cells import (
    clip_voronoi_cells,
    compute_study_area,
    dissolve_groups,
    measure_compactness,
    outline_aggregated_regions,
)
from vbas_desktop.engine.constraints import CONSTRAINT_DIAGNOSTICS
from vbas_desktop.io.regions.map_layers import load_context_layer
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.solution import Solution

from .map_shapes import (
    Frame,
    Rings,
    Tiles,
    find_shared_edges,
    frame_of,
    lines_of,
    rings_of,
    sort_into_tiles,
)

_COAST_DETAIL = 4_000.0
"""The coast is simplified to this many steps along the diagonal of the study area: finer than a screen shows."""

_DISC = 0.004
"""The radius around points off the coast, as a share of the diagonal: their cells must not vanish."""

FILLS = 12
"""How many fills the aggregated regions are coloured with."""

_OUTLINE_DETAIL = 4_000.0
"""The study area's outline is simplified to this many steps along its diagonal: finer than a screen shows."""

_CELL_DETAIL = 1_000.0
"""The dashed lines of cells may end a pixel beside the outline; cutting them at every bend would take long."""

_DETAIL = 12_000.0
"""Polygons with very many vertices are simplified to this many steps: fine enough for a tenfold zoom."""

_MANY_VERTICES = 250_000


@dataclass(frozen=True, eq=False)
class RegionGeometry:
    """Everything the map needs of the initial regions, and of the obstacles between them.

    ``drawn`` are the regions with the polygons that are drawn: without overlaps (if ``clean``), and simplified if they
    have very many vertices. ``coast`` is the file at whose areas the study area ends, if there is one.
    """

    regions: Regions
    frame: Frame
    bounds: tuple[float, float, float, float]
    points: NDArray[np.float64]
    area: shapely.Geometry
    cell_area: shapely.Geometry
    area_rings: Rings
    polygon_rings: Rings | None
    polygon_tiles: Tiles | None
    polygon_tree: shapely.STRtree | None
    point_tree: cKDTree
    pairs: Pairs
    drawn: Regions
    clean: bool
    coast: str | None = None
    obstacle_areas: Rings | None = None
    obstacle_lines: Rings | None = None
    obstacle_tree: shapely.STRtree | None = None
    records: NDArray[np.int64] | None = None

    def with_records(self, records: NDArray[np.int64] | None) -> RegionGeometry:
        """Return the geometry with the number of records of each initial region."""
        return replace(self, records=records)

    def is_drawn_like(self, other: RegionGeometry | None) -> bool:
        """Say if another one looks the same."""
        if other is None or other.regions is not self.regions:
            return False
        return other.records is self.records and other.coast == self.coast

    def obstacle_at(self, x: float, y: float, reach: float) -> int | None:
        """Find the obstacle at a point of the map, or the nearest within reach."""
        if self.obstacle_tree is None:
            return None
        point = shapely.Point(self.frame.from_map(x, y))
        nearest = self.obstacle_tree.query_nearest(
            point, max_distance=max(reach, 1e-300), all_matches=False
        )
        return int(nearest[0]) if nearest.size else None

    def region_at(self, x: float, y: float, reach: float) -> int | None:
        """Find the initial region at a point of the map, or the nearest point within reach."""
        if self.polygon_tree is not None:
            hits = self.polygon_tree.query(
                shapely.Point(self.frame.from_map(x, y)), predicate="intersects"
            )
            if hits.size:
                return int(hits.min())
        distance, index = self.point_tree.query((x, y), distance_upper_bound=reach)
        return int(index) if np.isfinite(distance) else None


@dataclass(frozen=True, eq=False)
class SolutionGeometry:
    """One solution on the map. Arrays have one entry per aggregated region unless they say otherwise.

    ``codes`` are what aggregated regions are called: in the window as in the release. ``detoured`` initial regions have
    another site than the nearest because of an obstacle (None: obstacles had no part in it); ``moved`` ones went to
    another aggregated region by a refinement (None: there was none). ``outline`` are the borders of larger areas, if
    these are what is shown.
    """

    base: RegionGeometry
    solution: Solution
    codes: tuple[str, ...]
    shapes: Shapes
    rings: Rings
    colours: NDArray[np.int8]
    pieces: NDArray[np.int32]
    compactness: NDArray[np.float64]
    without_records: NDArray[np.bool_]
    sites: NDArray[np.float64] | None
    site_attracts: NDArray[np.bool_]
    detoured: NDArray[np.bool_] | None
    cell_rings: Rings | None
    tree: shapely.STRtree
    pairs: Pairs
    outline: Rings | None = None
    moved: NDArray[np.bool_] | None = None

    @cached_property
    def cell_lines(self) -> Rings | None:
        """The edges between the Voronoi cells of the sites, each once, so that dashes do not fall into gaps."""
        return None if self.cell_rings is None else find_shared_edges(self.cell_rings)

    def aggregated_at(self, x: float, y: float) -> int | None:
        """Find the aggregated region at a point of the map."""
        hits = self.tree.query(shapely.Point(self.base.frame.from_map(x, y)), predicate="intersects")
        return int(hits.min()) if hits.size else None

    def box(self, aggregated: int) -> tuple[float, float, float, float]:
        """Smallest and largest map coordinates of an aggregated region: x, y, x, y."""
        corners = np.array(shapely.bounds(self.shapes[aggregated])).reshape(2, 2)
        (low_x, low_y), (high_x, high_y) = self.base.frame.to_map(corners).tolist()
        return low_x, low_y, high_x, high_y


def _obstacles(regions: Regions, frame: Frame, diagonal: float) -> dict[str, Any]:
    """Obstacles as fine as a screen shows."""
    if regions.obstacles is None:
        return {}
    shapes = shapely.simplify(
        regions.obstacles.shapes, diagonal / _OUTLINE_DETAIL, preserve_topology=False
    )
    kinds = shapely.get_dimensions(regions.obstacles.shapes)
    return {
        "obstacle_areas": rings_of(shapes[kinds == 2], frame),
        "obstacle_lines": lines_of(shapes[kinds == 1], frame),
        "obstacle_tree": shapely.STRtree(regions.obstacles.shapes),
    }


def prepare_region_geometry(
    regions: Regions, progress: Progress | None = None, coast: str | None = None
) -> RegionGeometry:
    """Prepare what stays the same for all solutions of one region file; ``coast`` counts for points only."""
    tell = progress or NO_PROGRESS
    frame = frame_of(regions)
    diagonal = float(np.hypot(*np.ptp(regions.points, axis=0)))
    tell.update("Checking the polygons")
    drawn, clean = _drawn_regions(regions, diagonal)
    tell.update("Outlining the study area")
    area = compute_study_area(drawn, clean) if coast is None else area_ashore(regions, coast)
    if drawn.polygons is not None:
        area = shapely.simplify(area, diagonal / _OUTLINE_DETAIL)
    area_rings = rings_of(np.array([area], object), frame)
    tell.update("Finding neighbours")
    pairs = find_neighbours(drawn, clean)
    tell.update("Preparing the map")
    points = frame.to_map(regions.points)
    polygon_rings = None if drawn.polygons is None else rings_of(drawn.polygons, frame)
    low = area_rings.xy.min(axis=0)
    high = area_rings.xy.max(axis=0)
    return RegionGeometry(
        regions=regions,
        frame=frame,
        bounds=(float(low[0]), float(low[1]), float(high[0]), float(high[1])),
        points=points,
        area=area,
        cell_area=area if drawn.polygons is None else shapely.simplify(area, diagonal / _CELL_DETAIL),
        area_rings=area_rings,
        polygon_rings=polygon_rings,
        polygon_tiles=None if polygon_rings is None else sort_into_tiles(polygon_rings),
        polygon_tree=None if drawn.polygons is None else shapely.STRtree(drawn.polygons),
        point_tree=cKDTree(points),
        pairs=pairs,
        drawn=drawn,
        clean=clean,
        coast=coast,
        **_obstacles(regions, frame, diagonal),
    )


def _drawn_regions(regions: Regions, diagonal: float) -> tuple[Regions, bool]:
    """Simplify polygons so that they are drawn and merged quickly; return also if they are a valid coverage."""
    if regions.polygons is None:
        return regions, False
    polygons, clean = clean_coverage(regions.polygons)
    whole = not shapely.is_missing(polygons).any()
    if clean and whole and int(shapely.get_num_coordinates(polygons).sum()) > _MANY_VERTICES:
        polygons = shapely.coverage_simplify(polygons, diagonal / _DETAIL)
    return replace(regions, polygons=polygons), clean


def prepare_solution_geometry(
    base: RegionGeometry, solution: Solution, progress: Progress | None = None
) -> SolutionGeometry:
    """Prepare one solution for drawing."""
    tell = progress or NO_PROGRESS
    regions = base.drawn
    frame = base.frame
    membership = solution.membership
    used = None if solution.sites is None else solution.sites[solution.owners_used]
    tell.update("Shaping the aggregated regions")
    shapes = outline_aggregated_regions(regions, membership, used, base.area, base.clean)
    rings = rings_of(shapes, frame)
    tell.update("Colouring the map")
    pairs = _drawn_neighbours(base, solution, used)
    tell.update("Preparing the map")
    tree = shapely.STRtree(shapes)
    compact = measure_compactness(shapes)
    tell.update("Preparing the cells of the sites")
    detoured = _find_detoured(regions, solution)
    # Around obstacles, and within limits, the cells of the plain diagram would show what is not so: see `site_cells`.
    plain = (
        solution.sites is not None
        and detoured is None
        and CONSTRAINT_DIAGNOSTICS not in solution.diagnostics
    )
    cells = rings_of(clip_voronoi_cells(solution.sites, base.cell_area), frame) if plain else None  # type: ignore[arg-type]
    tell.update("Preparing the map")
    totals = (
        None
        if base.records is None
        else np.bincount(membership, base.records, solution.aggregated_regions)
    )
    attracts = np.zeros(0 if solution.sites is None else len(solution.sites), np.bool_)
    if solution.sites is not None:
        attracts[solution.owners_used] = True
    geometry = SolutionGeometry(
        base=base,
        solution=solution,
        codes=make_region_codes(base.regions, solution),
        shapes=shapes,
        rings=rings,
        colours=assign_colours(len(shapes), pairs, FILLS),
        pieces=count_pieces(regions, membership, base.pairs),
        compactness=compact,
        without_records=np.zeros(len(shapes), np.bool_) if totals is None else totals == 0,
        sites=None if solution.sites is None else frame.to_map(solution.sites),
        site_attracts=attracts,
        detoured=detoured,
        cell_rings=cells,
        tree=tree,
        pairs=pairs,
        moved=None if solution.unrefined is None else solution.owner != solution.unrefined.owner,
    )
    # Cached here, in a worker's thread: the window asks for them on its own thread.
    _ = geometry.cell_lines
    return geometry


def _find_detoured(regions: Regions, solution: Solution) -> NDArray[np.bool_] | None:
    if regions.obstacles is None or solution.approaches.get("construction") != "obstacles":
        return None
    if solution.detoured is not None or CONSTRAINT_DIAGNOSTICS in solution.diagnostics:
        return solution.detoured
    original = solution.unrefined or solution
    assert original.sites is not None
    return np.asarray(original.owner != find_nearest_sites(regions.points, original.sites))


def drawn_in_places(
    geometry: SolutionGeometry, ancestors: NDArray[np.int32], number: int
) -> SolutionGeometry:
    """Return the map with one fill and one outer border per fallback area."""
    fills = assign_colours(number, contract_graph(geometry.pairs, ancestors), FILLS)
    shapes = dissolve_groups(geometry.shapes, ancestors)
    return replace(geometry, colours=fills[ancestors], outline=rings_of(shapes, geometry.base.frame))


def coloured_like(geometry: SolutionGeometry, other: SolutionGeometry) -> SolutionGeometry:
    """Return the map with each aggregated region in the colour of its counterpart in another solution."""
    match = match_groups(geometry.solution.membership, other.solution.membership, geometry.base.records)
    preferred = np.where(match >= 0, other.colours[match], -1)
    return replace(geometry, colours=recolour(preferred, geometry.pairs, FILLS))


def _drawn_neighbours(
    base: RegionGeometry, solution: Solution, used: NDArray[np.float64] | None
) -> Pairs:
    """Return the pairs of aggregated regions that touch, as drawn: Voronoi cells, or unions of initial regions."""
    pairs = contract_graph(base.pairs, solution.membership)
    if used is not None and base.regions.polygons is None:
        pairs = unique_pairs(*np.concatenate((pairs, find_point_neighbours(used))).T).astype(np.int32)
    return pairs


def area_ashore(regions: Regions, coast: str) -> shapely.Geometry:
    """Return the land near the points; everything near them if the file has no area there, or is invalid.

    What is wrong with it the layer tells, which is the same file.
    """
    area = compute_study_area(regions)
    try:
        shapes = load_context_layer(coast, regions.system)
    except (InputError, OSError):
        return area
    low_x, low_y, high_x, high_y = shapely.bounds(area).tolist()
    diagonal = float(np.hypot(high_x - low_x, high_y - low_y))
    near = shapely.clip_by_rect(
        shapes[shapely.get_dimensions(shapes) == 2], low_x, low_y, high_x, high_y
    )
    near = shapely.make_valid(shapely.simplify(near[~shapely.is_empty(near)], diagonal / _COAST_DETAIL))
    land = extract_polygons(shapely.intersection(shapely.union_all(near), area))
    if land.is_empty:
        return area
    wet = regions.points[~shapely.intersects_xy(land, regions.points)]
    discs = shapely.buffer(shapely.points(wet), _DISC * diagonal, quad_segs=4)
    return extract_polygons(shapely.union_all([land, *discs]))

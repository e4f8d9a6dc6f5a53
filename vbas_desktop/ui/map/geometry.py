"""What the map draws, as plain arrays: prepared in a thread, never on the window's.

Nothing here knows Qt. `prepare_base` depends on the regions alone and is done once per region file; `prepare_map`
adds one solution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from vbas_desktop.algorithms.adjacency import Pairs, group_neighbours, neighbours, pieces, point_neighbours
from vbas_desktop.algorithms.cells import aggregated_shapes, cell_polygons, compactness, merged_shapes, study_area
from vbas_desktop.algorithms.colouring import colour_map, recolour
from vbas_desktop.algorithms.coverage import Shapes, clean_coverage, polygonal
from vbas_desktop.algorithms.matching import matched_groups
from vbas_desktop.algorithms.nearest import nearest_sites
from vbas_desktop.algorithms.places import distinct_pairs
from vbas_desktop.algorithms.region_names import region_codes
from vbas_desktop.algorithms.shape_blocks import take_apart
from vbas_desktop.engine.limits import TOLD
from vbas_desktop.io.regions.obstacles import load_context
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.regions import CoordinateKind, Regions
from vbas_desktop.model.solution import Solution

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


@dataclass(frozen=True)
class Frame:
    """How coordinates become map coordinates: east to the right, north up.

    With latitudes as x the axes change places and degrees of longitude shrink with the cosine of the middle latitude.
    """

    swapped: bool = False
    x_scale: float = 1.0

    def to_map(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map coordinates of points (n, 2)."""
        if not self.swapped:
            return points
        return np.column_stack((points[:, 1] * self.x_scale, points[:, 0]))

    def from_map(self, x: float, y: float) -> tuple[float, float]:
        """The point under a place on the map."""
        return (y, x / self.x_scale) if self.swapped else (x, y)


@dataclass(frozen=True, eq=False)
class Rings:
    """The rings of many shapes in one array, ready to become painter paths.

    ``joined[i]`` says whether vertex i is joined to vertex i + 1; the vertices of shape j are
    ``starts[j]:starts[j + 1]``.
    """

    xy: NDArray[np.float64]
    joined: NDArray[np.bool_]
    starts: NDArray[np.int64]

    def of(self, shapes: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Vertices and joints of some of the shapes."""
        counts = self.starts[shapes + 1] - self.starts[shapes]
        offsets = np.repeat(self.starts[shapes] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        index = np.arange(int(counts.sum())) + offsets
        return self.xy[index], self.joined[index]


@dataclass(frozen=True, eq=False)
class BaseGeometry:
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

    def with_records(self, records: NDArray[np.int64] | None) -> BaseGeometry:
        """The same with the number of records of each initial region."""
        return replace(self, records=records)

    def is_drawn_like(self, other: BaseGeometry | None) -> bool:
        """Whether another one looks the same."""
        if other is None or other.regions is not self.regions:
            return False
        return other.records is self.records and other.coast == self.coast

    def obstacle_at(self, x: float, y: float, reach: float) -> int | None:
        """The obstacle under a place on the map, or the nearest within reach."""
        if self.obstacle_tree is None:
            return None
        place = shapely.Point(self.frame.from_map(x, y))
        found = self.obstacle_tree.query_nearest(place, max_distance=max(reach, 1e-300), all_matches=False)
        return int(found[0]) if found.size else None

    def region_at(self, x: float, y: float, reach: float) -> int | None:
        """The initial region under a place on the map, or the nearest point within reach."""
        if self.polygon_tree is not None:
            found = self.polygon_tree.query(shapely.Point(self.frame.from_map(x, y)), predicate="intersects")
            if found.size:
                return int(found.min())
        distance, index = self.point_tree.query((x, y), distance_upper_bound=reach)
        return int(index) if np.isfinite(distance) else None


@dataclass(frozen=True, eq=False)
class MapGeometry:
    """One solution on the map. Arrays have one entry per aggregated region unless they say otherwise.

    ``codes`` are what aggregated regions are called: in the window as in the release. ``detoured`` initial regions have
    another site than the nearest because of an obstacle (None: obstacles had no part in it); ``moved`` ones went to
    another aggregated region by a refinement (None: there was none). ``outline`` are the borders of larger places, if
    these are what is shown.
    """

    base: BaseGeometry
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

    def aggregated_at(self, x: float, y: float) -> int | None:
        """The aggregated region under a place on the map."""
        found = self.tree.query(shapely.Point(self.base.frame.from_map(x, y)), predicate="intersects")
        return int(found.min()) if found.size else None

    def box(self, aggregated: int) -> tuple[float, float, float, float]:
        """Smallest and largest map coordinates of an aggregated region: x, y, x, y."""
        corners = np.array(shapely.bounds(self.shapes[aggregated])).reshape(2, 2)
        (low_x, low_y), (high_x, high_y) = self.base.frame.to_map(corners).tolist()
        return low_x, low_y, high_x, high_y


def frame_of(regions: Regions) -> Frame:
    """The frame that puts north up."""
    if regions.system.kind is not CoordinateKind.DEGREES or len(regions) == 0:
        return Frame()
    latitudes = regions.points[:, 0]
    middle = float(latitudes.min() + latitudes.max()) / 2
    # Coordinates that are no latitudes are drawn as they are rather than squeezed to nothing.
    return Frame(True, float(np.cos(np.radians(middle))) if abs(middle) <= 85 else 1.0)


def rings_of(shapes: Shapes, frame: Frame) -> Rings:
    """The rings of shapes in map coordinates, holes included (fill them odd-even)."""
    parts, shape = take_apart(shapely.get_parts, shapes)
    rings, part = take_apart(shapely.get_rings, parts)
    return _joined(rings, shape[part], len(shapes), frame)


def lines_of(shapes: Shapes, frame: Frame) -> Rings:
    """Lines in map coordinates, to be stroked."""
    parts, shape = take_apart(shapely.get_parts, shapes)
    return _joined(parts, shape, len(shapes), frame)


def _joined(lines: Shapes, shape: NDArray[np.integer], number: int, frame: Frame) -> Rings:
    """The vertices of lines, each of which belongs to one of so many shapes."""
    xy, line = take_apart(shapely.get_coordinates, lines)
    joined = np.append(line[1:] == line[:-1], False)[: len(xy)]
    starts = np.searchsorted(shape[line], np.arange(number + 1)).astype(np.int64)
    return Rings(frame.to_map(xy), joined, starts)


def _obstacles(regions: Regions, frame: Frame, diagonal: float) -> dict[str, Any]:
    """Obstacles as fine as a screen shows."""
    if regions.obstacles is None:
        return {}
    shapes = shapely.simplify(regions.obstacles.shapes, diagonal / _OUTLINE_DETAIL, preserve_topology=False)
    kinds = shapely.get_dimensions(regions.obstacles.shapes)
    return {
        "obstacle_areas": rings_of(shapes[kinds == 2], frame),
        "obstacle_lines": lines_of(shapes[kinds == 1], frame),
        "obstacle_tree": shapely.STRtree(regions.obstacles.shapes),
    }


def prepare_base(regions: Regions, progress: Progress | None = None, coast: str | None = None) -> BaseGeometry:
    """Prepare what stays the same for all solutions of one region file; ``coast`` counts for points only."""
    tell = progress or Silent()
    frame = frame_of(regions)
    diagonal = float(np.hypot(*np.ptp(regions.points, axis=0)))
    tell.update("Checking the polygons")
    drawn, clean = _drawn_regions(regions, diagonal)
    tell.update("Outlining the study area")
    area = study_area(drawn, clean) if coast is None else area_ashore(regions, coast)
    if drawn.polygons is not None:
        area = shapely.simplify(area, diagonal / _OUTLINE_DETAIL)
    area_rings = rings_of(np.array([area], object), frame)
    tell.update("Finding neighbours")
    pairs = neighbours(drawn, clean)
    tell.update("Preparing the map")
    points = frame.to_map(regions.points)
    low, high = area_rings.xy.min(axis=0), area_rings.xy.max(axis=0)
    return BaseGeometry(
        regions=regions,
        frame=frame,
        bounds=(float(low[0]), float(low[1]), float(high[0]), float(high[1])),
        points=points,
        area=area,
        cell_area=area if drawn.polygons is None else shapely.simplify(area, diagonal / _CELL_DETAIL),
        area_rings=area_rings,
        polygon_rings=None if drawn.polygons is None else rings_of(drawn.polygons, frame),
        polygon_tree=None if drawn.polygons is None else shapely.STRtree(drawn.polygons),
        point_tree=cKDTree(points),
        pairs=pairs,
        drawn=drawn,
        clean=clean,
        coast=coast,
        **_obstacles(regions, frame, diagonal),
    )


def _drawn_regions(regions: Regions, diagonal: float) -> tuple[Regions, bool]:
    """The regions with polygons that can be drawn and merged quickly, and whether these are a valid coverage."""
    if regions.polygons is None:
        return regions, False
    polygons, clean = clean_coverage(regions.polygons)
    whole = not shapely.is_missing(polygons).any()
    if clean and whole and int(shapely.get_num_coordinates(polygons).sum()) > _MANY_VERTICES:
        polygons = shapely.coverage_simplify(polygons, diagonal / _DETAIL)
    return replace(regions, polygons=polygons), clean


def prepare_map(base: BaseGeometry, solution: Solution, progress: Progress | None = None) -> MapGeometry:
    """Prepare one solution for drawing."""
    tell = progress or Silent()
    regions, frame, membership = base.drawn, base.frame, solution.membership
    used = None if solution.sites is None else solution.sites[solution.owners_used]
    tell.update("Shaping the aggregated regions")
    shapes = aggregated_shapes(regions, membership, used, base.area, base.clean)
    rings = rings_of(shapes, frame)
    tell.update("Colouring the map")
    pairs = _drawn_neighbours(base, solution, used)
    tell.update("Preparing the map")
    tree, compact = shapely.STRtree(shapes), compactness(shapes)
    tell.update("Preparing the cells of the sites")
    detoured = _detoured(regions, solution)
    # Around obstacles, and within limits, the cells of the plain diagram would show what is not so: see `site_cells`.
    plain = solution.sites is not None and detoured is None and TOLD not in solution.told
    cells = rings_of(cell_polygons(solution.sites, base.cell_area), frame) if plain else None  # type: ignore[arg-type]
    tell.update("Preparing the map")
    totals = None if base.records is None else np.bincount(membership, base.records, solution.aggregated_regions)
    attracts = np.zeros(0 if solution.sites is None else len(solution.sites), np.bool_)
    if solution.sites is not None:
        attracts[solution.owners_used] = True
    return MapGeometry(
        base=base,
        solution=solution,
        codes=region_codes(base.regions, solution),
        shapes=shapes,
        rings=rings,
        colours=colour_map(len(shapes), pairs, FILLS),
        pieces=pieces(regions, membership, base.pairs),
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


def _detoured(regions: Regions, solution: Solution) -> NDArray[np.bool_] | None:
    if regions.obstacles is None or solution.approaches.get("construction") != "obstacles":
        return None
    if solution.detoured is not None or TOLD in solution.told:
        return solution.detoured
    made = solution.unrefined or solution
    assert made.sites is not None
    return np.asarray(made.owner != nearest_sites(regions.points, made.sites))


def drawn_in_places(geometry: MapGeometry, places: NDArray[np.int32], number: int) -> MapGeometry:
    """The same map in which the aggregated regions of one larger place have one fill and one border around them."""
    fills = colour_map(number, group_neighbours(geometry.pairs, places), FILLS)
    shapes = merged_shapes(geometry.shapes, places)
    return replace(geometry, colours=fills[places], outline=rings_of(shapes, geometry.base.frame))


def coloured_like(geometry: MapGeometry, other: MapGeometry) -> MapGeometry:
    """The same map in which aggregated regions have the colours of their counterparts in another solution."""
    match = matched_groups(geometry.solution.membership, other.solution.membership, geometry.base.records)
    wanted = np.where(match >= 0, other.colours[match], -1)
    return replace(geometry, colours=recolour(wanted, geometry.pairs, FILLS))


def _drawn_neighbours(base: BaseGeometry, solution: Solution, used: NDArray[np.float64] | None) -> Pairs:
    """Which aggregated regions touch, whether drawn as cells of sites or as unions of what they own."""
    pairs = group_neighbours(base.pairs, solution.membership)
    if used is not None and base.regions.polygons is None:
        pairs = distinct_pairs(*np.concatenate((pairs, point_neighbours(used))).T).astype(np.int32)
    return pairs


def area_ashore(regions: Regions, coast: str) -> shapely.Geometry:
    """What lies near the points and on land; all that lies near them if the file has no area there, or is wrong.

    What is wrong with it the layer tells, which is the same file.
    """
    area = study_area(regions)
    try:
        shapes = load_context(coast, regions.system)
    except (InputError, OSError):
        return area
    low_x, low_y, high_x, high_y = shapely.bounds(area).tolist()
    diagonal = float(np.hypot(high_x - low_x, high_y - low_y))
    near = shapely.clip_by_rect(shapes[shapely.get_dimensions(shapes) == 2], low_x, low_y, high_x, high_y)
    near = shapely.make_valid(shapely.simplify(near[~shapely.is_empty(near)], diagonal / _COAST_DETAIL))
    land = polygonal(shapely.intersection(shapely.union_all(near), area))
    if land.is_empty:
        return area
    wet = regions.points[~shapely.intersects_xy(land, regions.points)]
    discs = shapely.buffer(shapely.points(wet), _DISC * diagonal, quad_segs=4)
    return polygonal(shapely.union_all([land, *discs]))

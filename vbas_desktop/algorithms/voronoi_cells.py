"""Shapes: the study area, Voronoi cells clipped to it, and the outlines of aggregated regions.

Everything is in the coordinates of ``Regions.points``. Shapes are shapely polygons in object arrays, because they are
written to GeoJSON and drawn; nothing here decides who owns which initial region.
"""

from __future__ import annotations

import numpy as np
import scipy
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon, Polygon

from vbas_desktop.model.regions import Regions

from .nearest_site import group_coincident_points, weighted_centroids
from .polygons import Shapes, clean_coverage, dissolve, extract_polygons, make_shape_array
from .voronoi_diagram import voronoi_polygons
from .weak_cache import cached_per_object

_MARGIN = 0.02
"""Margin around the outermost points, as a share of the study area's diagonal."""

_NEAREST = 3
"""Number of nearest points by whose distance the density of points is measured."""

_BRIDGED = 1.2
"""Gaps up to twice this many margins are closed: wide enough not to fray, narrow enough to leave out empty sea."""

_SINGLE_PLACE = {"m": 500.0, "degree": 0.005}
"""Radius of the disc that stands for a study area of one place; in a plane of unknown unit it follows the numbers."""

_ONE_PLACE = 1e-9
"""Points nearer to each other than this share of their distance from the origin are at one place."""


def compute_study_area(regions: Regions, clean: bool = False) -> Polygon | MultiPolygon:
    """Compute the area that the map shows and that cells are clipped to.

    The union of the polygons where the file has them; else what lies near the points, without the empty space between.
    ``clean``: the polygons are known to be a valid coverage, which is costly to find out.
    """
    polygons = _given_polygons(regions.polygons)
    if polygons.size == 0:
        return _outline(regions)
    area = dissolve(polygons, clean or shapely.coverage_is_valid(polygons))
    outside = (
        regions.points[~shapely.intersects_xy(area, regions.points)]
        if polygons.size < len(regions)
        else None
    )
    if outside is not None and outside.size:
        area = shapely.union_all([area, *_discs(outside, _diagonal(regions))])
    return extract_polygons(area)


def clip_voronoi_cells(sites: NDArray[np.float64], area: Polygon | MultiPolygon) -> Shapes:
    """Clip the Voronoi cell of each site to the area; the cells partition it.

    Of several sites at one place the first has the cell and the others an empty one, as ties go to the lower index.
    """
    return _cells(sites, area)[0]


def _cells(sites: NDArray[np.float64], area: Polygon | MultiPolygon) -> tuple[Shapes, Shapes | None]:
    """Return the cells, and what they were before they were clipped if that is known to be a valid coverage."""
    cells = np.full(len(sites), Polygon(), object)
    if len(sites) == 0:
        return cells, None
    first = _first_of_each(sites)
    low, high = np.array(area.bounds).reshape(2, 2)
    low = np.minimum(low, sites.min(axis=0))
    high = np.maximum(high, sites.max(axis=0))
    if first.size == 1:
        cells[first] = area
        return cells, None
    whole, fit = voronoi_polygons(sites[first], low, high)
    before = cells.copy()
    cells[first] = _clip_cells(whole, area)
    before[first] = whole
    return cells, before if fit else None


def outline_aggregated_regions(
    regions: Regions,
    membership: NDArray[np.integer],
    sites: NDArray[np.float64] | None = None,
    area: Polygon | MultiPolygon | None = None,
    clean: bool = False,
) -> Shapes:
    """Build one (multi)polygon per aggregated region, in the order of their numbers.

    With polygons in the region file: their union. Else, if each point belongs to its nearest site: the cells of
    ``sites`` (one row per aggregated region). Else the union of the cells of the points. ``area`` is the study area if
    the caller has it already, ``clean`` says that the polygons are known to be a valid coverage.
    """
    number = int(membership.max()) + 1 if membership.size else 0
    if _given_polygons(regions.polygons).size:
        return _dissolved_polygons(regions, membership, number, clean)
    if sites is not None and len(sites) == number and _nearest_owns(regions.points, membership, sites):
        return clip_voronoi_cells(sites, compute_study_area(regions) if area is None else area)
    cells = _known_cells(regions) if area is None else _cells(regions.points, area)
    return _dissolved_cells(regions.points, membership, number, *cells)


@cached_per_object
def _known_cells(regions: Regions) -> tuple[Shapes, Shapes | None]:
    """Return what `_cells` gives for the points, once for as long as the regions exist."""
    return _cells(regions.points, compute_study_area(regions))


def compute_area_centroids(regions: Regions, membership: NDArray[np.integer]) -> NDArray[np.float64]:
    """Compute the centroid of the area of each aggregated region, (groups, 2).

    The area of an initial region is its polygon or, if the file has none, the Voronoi cell of its point. A group
    without area, or whose cells cannot be computed, has the mean of its points. O(r) once the areas are known.
    """
    area, centre = _known_areas(regions)
    total = np.bincount(membership, area)
    weighted = np.column_stack([np.bincount(membership, area * centre[:, axis]) for axis in (0, 1)])
    with np.errstate(invalid="ignore", divide="ignore"):
        centroids = weighted / total[:, None]
    return np.where(total[:, None] > 0, centroids, weighted_centroids(regions.points, membership))


@cached_per_object
def _known_areas(regions: Regions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measure the area and the centroid of each initial region, once for as long as the regions are there."""
    shapes = regions.polygons
    if shapes is None or not _given_polygons(shapes).size:
        try:
            shapes = _known_cells(regions)[0]
        except shapely.errors.GEOSException:
            # Points a rounding error apart have no cells that can be computed; they have no area worth counting.
            return np.zeros(len(regions)), regions.points
    area = np.nan_to_num(shapely.area(shapes))
    centre = regions.points.copy()
    # An empty shape has no centroid to ask for.
    some = area > 0
    centre[some] = shapely.get_coordinates(shapely.centroid(shapes[some]))
    return area, centre


def dissolve_groups(shapes: Shapes, membership: NDArray[np.integer]) -> Shapes:
    """Unite the shapes of each group to one (multi)polygon, such as aggregated regions to larger areas."""
    coverage = bool(shapely.coverage_is_valid(shapes))
    return make_shape_array(
        [dissolve(shapes[members], coverage) for members in _groups(membership, membership.max() + 1)]
    )


def measure_compactness(shapes: Shapes) -> NDArray[np.float64]:
    """Compute the Polsby–Popper compactness 4πA/P² of each shape: 1 for a disc, towards 0 for ragged ones."""
    perimeter = shapely.length(shapes)
    with np.errstate(invalid="ignore", divide="ignore"):
        value: NDArray[np.float64] = np.where(
            perimeter > 0, 4 * np.pi * shapely.area(shapes) / perimeter**2, np.nan
        )
    return value


def _given_polygons(polygons: Shapes | None) -> Shapes:
    if polygons is None:
        return np.empty(0, object)
    return polygons[~(shapely.is_missing(polygons) | shapely.is_empty(polygons))]


def find_disc_radius(regions: Regions) -> float | None:
    """Return the radius of the disc that stands for the study area if all regions are coincident points, else None."""
    if len(regions) == 0 or _given_polygons(regions.polygons).size:
        return None
    farthest = float(np.abs(regions.points).max())
    if float(np.hypot(*np.ptp(regions.points, axis=0))) > _ONE_PLACE * farthest:
        return None
    return _SINGLE_PLACE.get(regions.system.unit, farthest / 1000 or 1.0)


def _diagonal(regions: Regions) -> float:
    radius = find_disc_radius(regions)
    return (
        float(np.hypot(*np.ptp(regions.points, axis=0))) or 1.0 if radius is None else radius / _MARGIN
    )


def _outline(regions: Regions) -> Polygon | MultiPolygon:
    """Unite discs around the points, wider where these are sparse, and close the gaps between them.

    What is far from all points, such as a bay that a hull would span, is left out; far islands are pieces of their own.
    """
    margin = _MARGIN * _diagonal(regions)
    if find_disc_radius(regions) is not None:
        return extract_polygons(
            shapely.buffer(shapely.convex_hull(shapely.multipoints(regions.points)), margin, quad_segs=6)
        )
    positions = np.unique(regions.points, axis=0)
    apart = scipy.spatial.cKDTree(positions).query(positions, k=min(len(positions), 1 + _NEAREST))[0][
        :, -1
    ]
    # Few points are far apart everywhere: then that is what near means.
    typical_gap = float(np.quantile(apart, 0.9))
    reach = np.clip(1.5 * apart, 0.3 * margin, max(margin, 0.75 * typical_gap))
    # One disc stands for all points of a small square, wide enough to cover theirs.
    step = 0.15 * margin
    order = np.argsort(-reach, kind="stable")
    _, first = np.unique(np.floor(positions[order] / step), axis=0, return_index=True)
    selected = order[np.sort(first)]
    area = shapely.union_all(
        shapely.buffer(shapely.points(positions[selected]), reach[selected] + 2 * step, quad_segs=4)
    )
    gap = _BRIDGED * max(margin, typical_gap)
    area = shapely.buffer(shapely.buffer(area, gap, quad_segs=4), -gap, quad_segs=4)
    return extract_polygons(shapely.simplify(area, step / 3))


def _discs(points: NDArray[np.float64], diagonal: float) -> Shapes:
    return shapely.buffer(shapely.points(points), diagonal / 300, quad_segs=6)


def _first_of_each(points: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the indices of the first of all points at one position, ascending."""
    return np.sort(group_coincident_points(points)[0])


def _clip_cells(cells: Shapes, area: Polygon | MultiPolygon) -> Shapes:
    """Cut cells at the area's border; those inside are left alone, which is most of them."""
    shapely.prepare(area)
    crossing = np.flatnonzero(~shapely.contains_properly(area, cells))
    clipped = cells.copy()
    clipped[crossing] = [extract_polygons(cut) for cut in shapely.intersection(cells[crossing], area)]
    return clipped


def _nearest_owns(
    points: NDArray[np.float64], membership: NDArray[np.integer], sites: NDArray[np.float64]
) -> bool:
    """Test whether every point belongs to a site that no other site is nearer than."""
    nearest, _ = scipy.spatial.cKDTree(sites).query(points)
    own = np.hypot(*(points - sites[membership]).T)
    return bool((own <= nearest * (1 + 1e-9)).all())


def _groups(membership: NDArray[np.integer], number: int) -> list[NDArray[np.intp]]:
    """List the members of each aggregated region, ascending."""
    order = np.argsort(membership, kind="stable")
    return np.split(order, np.searchsorted(membership[order], np.arange(1, number)))


def _dissolved_polygons(
    regions: Regions, membership: NDArray[np.integer], number: int, clean: bool
) -> Shapes:
    assert regions.polygons is not None
    polygons, coverage = (regions.polygons, True) if clean else clean_coverage(regions.polygons)
    polygons = polygons.copy()
    missing = np.flatnonzero(shapely.is_missing(polygons) | shapely.is_empty(polygons))
    polygons[missing] = _discs(regions.points[missing], _diagonal(regions))
    # A disc that stands for a missing polygon overlaps its neighbours, so its group cannot be merged as a coverage.
    plain = set(membership[missing].tolist())
    shapes = [
        dissolve(polygons[members], coverage and group not in plain)
        for group, members in enumerate(_groups(membership, number))
    ]
    return make_shape_array(shapes)


def _dissolved_cells(
    points: NDArray[np.float64],
    membership: NDArray[np.integer],
    number: int,
    cells: Shapes,
    before: Shapes | None,
) -> Shapes:
    cells = _shared_cells(points, membership, cells)
    filled = ~shapely.is_empty(cells)
    coverage = _still_fit(cells, before, filled)
    shapes = [
        dissolve(cells[members[filled[members]]], coverage) for members in _groups(membership, number)
    ]
    return make_shape_array(shapes)


def _still_fit(cells: Shapes, before: Shapes | None, filled: NDArray[np.bool_]) -> bool:
    """Test whether the filled cells are a valid coverage, given those they were made from if these are one.

    Cells are cut at the study area one by one, which may leave borders that differ in the last digit. Those that
    neither were cut nor touch one that was fit as before.
    """
    if before is None:
        return bool(shapely.coverage_is_valid(cells[filled]))
    changed = np.array([now is not then for now, then in zip(cells, before, strict=True)]) & filled
    near = np.unique(shapely.STRtree(cells[filled]).query(cells[changed], predicate="intersects")[1])
    return bool(shapely.coverage_is_valid(cells[filled][near]))


def _shared_cells(points: NDArray[np.float64], membership: NDArray[np.integer], cells: Shapes) -> Shapes:
    """Build cells in which points at one position but of different aggregated regions have a strip each."""
    _, position = group_coincident_points(points)
    pairs = np.unique(np.column_stack((position, membership)), axis=0, return_index=True)
    crowded = np.flatnonzero(np.bincount(pairs[0][:, 0]) > 1)
    shared = cells.copy()
    for spot in crowded:
        claimants = pairs[1][pairs[0][:, 0] == spot]
        cell = next(cells[i] for i in np.flatnonzero(position == spot) if not cells[i].is_empty)
        low_x, low_y, high_x, high_y = cell.bounds
        cuts = np.linspace(low_x, high_x, claimants.size + 1)
        strips = shapely.box(cuts[:-1], low_y, cuts[1:], high_y)
        shared[np.flatnonzero(position == spot)] = Polygon()
        shared[claimants] = [extract_polygons(shapely.intersection(cell, strip)) for strip in strips]
    return shared

"""Shortest ways around obstacles: the nearest site of each point, and the borders between the cells of the sites.

Owners and distances at the corners of a mesh are exact; between them a border is a straight stretch in each triangle,
and the mesh is made finer where borders are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
import shapely
from numpy.typing import NDArray

from vbas_desktop.model.progress import NO_PROGRESS, Progress

from .geodesic_mesh import AnchoredPoints, Barriers, FreeArea, anchor_points, build_mesh
from .kernels.geodesic_waves import Waves, begin_at, prepare_waves, run_on
from .nearest_site import find_nearest_sites

_STEPS = 5_000
_STAGE = "Going around the obstacles"
_SAME = 1e-9
_DETOUR = 1.5
_LEAST = 0.01
"""How long ways are thought to be at first: by the longest straight one; so much of the obstacles' extent at least."""
_MOST = 0.6
"""If more than this share of the walls is near, all of them are taken at once."""
UNREACHED = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class ObstacleAssignment:
    """The owner of each point and the length of the way (infinite where there is none).

    ``moved`` points lay inside an obstacle and count from its edge, as do ``moved_sites``. ``enclosed`` points are cut
    off from all sites and went to the owner across the shortest gap. ``changed`` points have another owner than the
    nearest site as the crow flies.
    """

    owner: NDArray[np.int32]
    distance: NDArray[np.float64]
    moved: NDArray[np.bool_]
    moved_sites: NDArray[np.bool_]
    enclosed: NDArray[np.bool_]
    changed: NDArray[np.bool_]


def assign_around_obstacles(
    walls: Barriers,
    points: NDArray[np.float64],
    sites: NDArray[np.float64],
    progress: Progress = NO_PROGRESS,
) -> ObstacleAssignment:
    """Assign each point to its nearest site by the shortest way that crosses no obstacle; ties to the lower site."""
    progress.update(_STAGE)
    straight = find_nearest_sites(points, sites, progress)
    if not len(walls.pairs):
        nothing = np.zeros(len(points), np.bool_)
        length = np.hypot(*(points - sites[straight]).T)
        return ObstacleAssignment(
            straight, length, nothing, np.zeros(len(sites), np.bool_), nothing, nothing
        )
    both = anchor_points(walls, np.concatenate((points, sites)))
    area, waves = propagate_waves(walls, both, len(points), progress)
    distance, owner = _nearest_of_points(area, waves, len(points))
    owner = _restore_straight(
        walls, both.points[: len(points)], both.points[len(points) :], distance, owner, progress
    )
    enclosed = owner == UNREACHED
    owner = _fill_gaps(area, both.points[: len(points)], both.points[len(points) :], owner)
    moved = both.moved[: len(points)]
    moved_sites = both.moved[len(points) :]
    return ObstacleAssignment(owner, distance, moved, moved_sites, enclosed, owner != straight)


def propagate_waves(
    walls: Barriers, both: AnchoredPoints, points: int, progress: Progress
) -> tuple[FreeArea, Waves]:
    """Propagate waves over a mesh from the sites to all points that can be reached.

    both: the points, then the sites; ``points`` is the number of the former.

    Of many walls only those in a box around the places are meshed at first. That is exact if no way is longer than
    the box is wide around the places: a shorter one cannot leave it. And each area that is cut off must not touch the
    box, beyond which there may be a way. Else the box grows.
    """
    low = both.points.min(axis=0)
    high = both.points.max(axis=0)
    straight = scipy.spatial.cKDTree(both.points[points:]).query(both.points[:points])[0]
    reach = max(
        _DETOUR * float(straight.max(initial=0.0)), _LEAST * float(np.ptp(walls.vertices, axis=0).max())
    )
    while True:
        progress.update(_STAGE)
        beyond = reach * (1 + _SAME)
        inside = walls.in_box(low - beyond, high + beyond)
        if inside.size > _MOST * len(walls.pairs):
            area = build_mesh(walls, both)
            return area, _run_waves(area, points, progress)[0]
        on = np.where(both.on < 0, -1, np.searchsorted(inside, both.on))
        area = build_mesh(walls.only(inside, low - beyond, high + beyond), replace(both, on=on))
        progress.update(_STAGE)
        waves, far = _run_waves(area, points, progress)
        if far <= reach and not _is_cut_off(area, points, low - reach, high + reach):
            return area, waves
        reach = max(2 * reach, _DETOUR * far)


def _is_cut_off(
    area: FreeArea, points: int, low: NDArray[np.float64], high: NDArray[np.float64]
) -> bool:
    """Test whether an area with points that no site reaches goes on to the edge of the box."""
    unreached_parts = np.setdiff1d(
        area.part[area.nodes_of(slice(0, points))[0]], area.part[area.nodes_of(slice(points, None))[0]]
    )
    at = np.isin(area.part, unreached_parts)
    x = area.mesh.x[at]
    y = area.mesh.y[at]
    return bool(((x < low[0]) | (x > high[0]) | (y < low[1]) | (y > high[1])).any())


def _run_waves(area: FreeArea, points: int, progress: Progress) -> tuple[Waves, float]:
    """Run the waves until every point that can be reached is; return them and the longest way to a point."""
    mesh = area.mesh
    number = mesh.x.size
    capacity = 4 * mesh.x.size + 4096
    waves = Waves(
        np.full(number, np.inf),
        np.full(number, UNREACHED, np.int32),
        np.empty((capacity, 4)),
        np.empty((capacity, 3)),
        np.empty((capacity, 2), np.int32),
        np.arange(capacity, dtype=np.int32),
        np.empty(2 * capacity),
        np.empty(2 * capacity, np.int32),
        np.array([0, capacity], np.int64),
    )
    nodes, site = area.nodes_of(slice(points, None))
    prepare_waves(mesh, waves, nodes, site, progress)
    begin_at(mesh, waves, nodes, site)
    targets = area.nodes_of(slice(0, points))[0]
    targets = targets[np.isin(area.part[targets], area.part[nodes])]
    far = np.inf
    while True:
        progress.update(_STAGE)
        state, _ = run_on(mesh, waves, _STEPS, far)
        longest = float(waves.distance[targets].max(initial=0.0))
        if state == 0:
            break
        if state == 1:
            waves = _double_capacity(waves)
        # A way that is as long may still come from a site of lower number.
        far = longest * (1 + _SAME)
    # What lies farther than all points is not known for sure.
    waves.site[waves.distance > far] = UNREACHED
    return waves, longest


def _double_capacity(waves: Waves) -> Waves:
    """Copy the waves into arrays of twice the size."""
    capacity = len(waves.free)
    free = np.concatenate((waves.free, np.empty(capacity, np.int32)))
    left = int(waves.counts[1])
    free[left : left + capacity] = np.arange(capacity, 2 * capacity, dtype=np.int32)
    counts = waves.counts.copy()
    counts[1] += capacity
    grown = {
        name: _double_array(getattr(waves, name)) for name in ("ends", "source", "aim", "key", "entry")
    }
    return waves._replace(free=free, counts=counts, **grown)


def _double_array(values: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate((values, np.empty_like(values)))


def _nearest_of_points(
    area: FreeArea, waves: Waves, points: int
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return distance and site of the points; of a point with several sides, those of the nearest side."""
    node = area.place_nodes
    point = np.repeat(np.arange(area.node_starts.size - 1), np.diff(area.node_starts))
    order = np.lexsort((waves.site[node], waves.distance[node], point))
    first = order[np.append(True, point[order][1:] != point[order][:-1])]
    distance = np.full(area.node_starts.size - 1, np.inf)
    site = np.full(area.node_starts.size - 1, UNREACHED, np.int32)
    distance[point[first]] = waves.distance[node[first]]
    site[point[first]] = waves.site[node[first]]
    at = area.place_of[:points]
    return distance[at], site[at]


def _restore_straight(
    walls: Barriers,
    points: NDArray[np.float64],
    sites: NDArray[np.float64],
    distance: NDArray[np.float64],
    owner: NDArray[np.int32],
    progress: Progress,
) -> NDArray[np.int32]:
    """Assign points exactly as the plain Voronoi diagram does where nothing is in the way."""
    straight = find_nearest_sites(points, sites, progress)
    length = np.hypot(*(points - sites[straight]).T)
    candidates = np.flatnonzero((straight != owner) & (distance <= length * (1 + _SAME)))
    if not candidates.size:
        return owner
    ways = shapely.linestrings(np.stack((points[candidates], sites[straight[candidates]]), axis=1))
    blocked = np.unique(walls.tree.query(ways, predicate="crosses")[0])
    blocked = np.union1d(blocked, np.flatnonzero(shapely.relate_pattern(ways, walls.area, "T********")))
    clear = np.delete(np.arange(candidates.size), blocked)
    owner = owner.copy()
    owner[candidates[clear]] = straight[candidates[clear]]
    return owner


def _fill_gaps(
    area: FreeArea, points: NDArray[np.float64], sites: NDArray[np.float64], owner: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Give each part of the area without a site to the owner of the point outside that is nearest to one of its own.

    If no point at all has an owner, it goes to the nearest site.
    """
    unreached = np.flatnonzero(owner == UNREACHED)
    reached = np.flatnonzero(owner != UNREACHED)
    if not unreached.size:
        return owner
    part = area.part[area.place_nodes[area.node_starts[area.place_of[unreached]]]]
    points_reached, owners = (
        (points[reached], owner[reached]) if reached.size else (sites, np.arange(len(sites)))
    )
    gap, nearest = scipy.spatial.cKDTree(points_reached).query(points[unreached])
    owner = owner.copy()
    order = np.lexsort((unreached, gap, part))
    first = order[np.append(True, part[order][1:] != part[order][:-1])]
    of_part = dict(zip(part[first].tolist(), owners[nearest[first]].tolist(), strict=True))
    owner[unreached] = [of_part[part_number] for part_number in part.tolist()]
    return owner


Floats = NDArray[np.float64]

_COARSE = 4
"""Number of steps between corners at first."""
_ROUNDS = 4
_PARTS = 8
_STAGE = "Drawing the cells around the obstacles"


def trace_cell_borders(
    walls: Barriers,
    sites: Floats,
    visible_area: shapely.Geometry,
    step: float,
    progress: Progress = NO_PROGRESS,
) -> Floats:
    """Trace the borders as line segments, float64 (n, 2, 2), in the area that is shown and a little beyond.

    Wherever a line crosses an edge of the mesh, a border does too, and no such edge is longer than a step (unless so
    many rounds were not enough): more corners are put on edges that a border crosses until that is so.
    """
    low, high = np.array(shapely.bounds(visible_area)).reshape(2, 2)
    coarse = _COARSE * step
    wide = shapely.buffer(shapely.simplify(visible_area, step / 2), 2 * coarse, quad_segs=2)
    shapely.prepare(wide)
    probes = _grid(low, high, coarse)
    probes = _select_free(walls, probes[shapely.intersects_xy(wide, probes)])
    for _ in range(_ROUNDS):
        progress.update(_STAGE)
        area, waves = propagate_waves(
            walls, anchor_points(walls, np.concatenate((probes, sites))), len(probes), progress
        )
        more = _on_long_edges(area, waves, step, low - coarse, high + coarse)
        more = more[shapely.intersects_xy(wide, more)]
        if not len(more):
            break
        probes = np.concatenate((probes, more))
    return _draw_borders(area, waves)


def _grid(low: Floats, high: Floats, step: float) -> Floats:
    """Make a grid of points in rows, every other one shifted by half a step, so that all triangles are alike."""
    rows = np.arange(low[1] - step, high[1] + 2 * step, step * np.sqrt(0.75))
    columns = np.arange(low[0] - step, high[0] + 2 * step, step)
    x = columns[None, :] + np.where(np.arange(rows.size) % 2, step / 2, 0.0)[:, None]
    return np.column_stack((x.ravel(), np.repeat(rows, columns.size)))


def _select_free(walls: Barriers, positions: Floats) -> Floats:
    """Select the positions that no obstacle covers."""
    shapely.prepare(walls.area)
    return positions[~np.asarray(shapely.intersects_xy(walls.area, positions))]


def _find_mixed_triangles(area: FreeArea, waves: Waves) -> NDArray[np.intp]:
    """Find the triangles whose corners belong to different sites."""
    site = waves.site[area.mesh.corners]
    there = (site != UNREACHED).all(axis=1)
    return np.flatnonzero(there & ((site[:, 0] != site[:, 1]) | (site[:, 1] != site[:, 2])))


def _on_long_edges(area: FreeArea, waves: Waves, longest: float, low: Floats, high: Floats) -> Floats:
    """Put points on the edges between different owners that are too long, about that far apart."""
    nodes = area.mesh.corners[_find_mixed_triangles(area, waves)]
    edges = np.unique(
        np.sort(np.concatenate((nodes[:, :2], nodes[:, 1:], nodes[:, ::2])), axis=1), axis=0
    )
    edges = edges[waves.site[edges[:, 0]] != waves.site[edges[:, 1]]]
    ends = np.stack((area.mesh.x[edges], area.mesh.y[edges]), axis=-1)
    is_visible = ((ends.max(axis=1) >= low) & (ends.min(axis=1) <= high)).all(axis=1)
    length = np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1))
    parts = np.minimum(np.ceil(length / longest * (1 - 1e-9)), _PARTS).astype(np.int64)
    is_divided = is_visible & (parts > 1)
    parts = parts[is_divided]
    ends = ends[is_divided]
    step = (
        np.arange(int((parts - 1).sum())) - np.repeat(np.cumsum(parts - 1) - (parts - 1), parts - 1) + 1
    )
    share = (step / np.repeat(parts, parts - 1))[:, None]
    begin, end = (np.repeat(ends[:, i], parts - 1, axis=0) for i in (0, 1))
    return np.unique(begin + share * (end - begin), axis=0)


def _draw_borders(area: FreeArea, waves: Waves) -> Floats:
    """Draw the line between the crossed edges of each triangle with two owners; with three, lines to its middle."""
    nodes = area.mesh.corners[_find_mixed_triangles(area, waves)]
    positions = np.stack((area.mesh.x[nodes], area.mesh.y[nodes]), axis=-1)
    site = waves.site[nodes]
    distance = waves.distance[nodes]
    crossing = np.empty_like(positions)
    for i in range(3):
        j = (i + 1) % 3
        apart = positions[:, j] - positions[:, i]
        length = np.sqrt((apart * apart).sum(axis=1))
        # Away from both sites the two distances grow alike until they meet.
        part = np.clip((length + distance[:, j] - distance[:, i]) / (2 * length), 0.0, 1.0)
        crossing[:, i] = positions[:, i] + part[:, None] * apart
    differs = site != np.roll(site, -1, axis=1)
    two = differs.sum(axis=1) == 2
    three = differs.all(axis=1)
    pairs = crossing[two][differs[two]].reshape(-1, 2, 2)
    middle = np.repeat(crossing[three].mean(axis=1, keepdims=True), 3, axis=1)
    spokes = np.stack((crossing[three], middle), axis=2).reshape(-1, 2, 2)
    return np.concatenate((pairs, spokes))

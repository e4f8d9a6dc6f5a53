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

from vbas_desktop.model.progress import SILENT, Progress

from .geodesic_mesh import Area, Standing, Walls, mesh_of, stand
from .kernels.geodesic_waves import Waves, begin_at, run_on
from .kernels.preparation import prepare
from .nearest import nearest_sites

_STEPS = 5_000
_STAGE = "Going around the obstacles"
_SAME = 1e-9
_DETOUR, _LEAST = 1.5, 0.01
"""How long ways are thought to be at first: by the longest straight one; so much of the obstacles' extent at least."""
_MOST = 0.6
"""If more than this share of the walls is near, all of them are taken at once."""
NOBODY = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Around:
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


def around_obstacles(
    walls: Walls, points: NDArray[np.float64], sites: NDArray[np.float64], progress: Progress = SILENT
) -> Around:
    """The nearest site of each point by the shortest way that crosses no obstacle; ties to the lower site."""
    progress.update(_STAGE)
    straight = nearest_sites(points, sites, progress)
    if not len(walls.pairs):
        nothing = np.zeros(len(points), np.bool_)
        length = np.hypot(*(points - sites[straight]).T)
        return Around(straight, length, nothing, np.zeros(len(sites), np.bool_), nothing, nothing)
    both = stand(walls, np.concatenate((points, sites)))
    area, waves = waves_to(walls, both, len(points), progress)
    distance, owner = _of_places(area, waves, len(points))
    owner = _as_straight(walls, both.points[: len(points)], both.points[len(points) :], distance, owner, progress)
    enclosed = owner == NOBODY
    owner = _across_gaps(area, both.points[: len(points)], both.points[len(points) :], owner)
    moved, moved_sites = both.moved[: len(points)], both.moved[len(points) :]
    return Around(owner, distance, moved, moved_sites, enclosed, owner != straight)


def waves_to(walls: Walls, both: Standing, points: int, progress: Progress) -> tuple[Area, Waves]:
    """Waves over a mesh from the sites, which are the places after so many points, to all points that can be reached.

    Of many walls only those in a box around the places are meshed at first. That is exact if no way is longer than
    the box is wide around the places: a shorter one cannot leave it. And each area that is cut off must not touch the
    box, beyond which there may be a way. Else the box grows.
    """
    low, high = both.points.min(axis=0), both.points.max(axis=0)
    straight = scipy.spatial.cKDTree(both.points[points:]).query(both.points[:points])[0]
    room = max(_DETOUR * float(straight.max(initial=0.0)), _LEAST * float(np.ptp(walls.places, axis=0).max()))
    while True:
        progress.update(_STAGE)
        beyond = room * (1 + _SAME)
        inside = walls.in_box(low - beyond, high + beyond)
        if inside.size > _MOST * len(walls.pairs):
            area = mesh_of(walls, both)
            return area, _run_waves(area, points, progress)[0]
        on = np.where(both.on < 0, -1, np.searchsorted(inside, both.on))
        area = mesh_of(walls.only(inside, low - beyond, high + beyond), replace(both, on=on))
        progress.update(_STAGE)
        waves, far = _run_waves(area, points, progress)
        if far <= room and not _cut_off_at(area, points, low - room, high + room):
            return area, waves
        room = max(2 * room, _DETOUR * far)


def _cut_off_at(area: Area, points: int, low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Whether an area with points that no site reaches goes on to the edge of the box."""
    lost = np.setdiff1d(area.part[area.nodes_of(slice(0, points))[0]], area.part[area.nodes_of(slice(points, None))[0]])
    at = np.isin(area.part, lost)
    x, y = area.mesh.x[at], area.mesh.y[at]
    return bool(((x < low[0]) | (x > high[0]) | (y < low[1]) | (y > high[1])).any())


def _run_waves(area: Area, points: int, progress: Progress) -> tuple[Waves, float]:
    """Waves until every point that can be reached is, and the longest way to one."""
    mesh = area.mesh
    number, room = mesh.x.size, 4 * mesh.x.size + 4096
    waves = Waves(
        np.full(number, np.inf),
        np.full(number, NOBODY, np.int32),
        np.empty((room, 4)),
        np.empty((room, 3)),
        np.empty((room, 2), np.int32),
        np.arange(room, dtype=np.int32),
        np.empty(2 * room),
        np.empty(2 * room, np.int32),
        np.array([0, room], np.int64),
    )
    nodes, site = area.nodes_of(slice(points, None))
    prepare(progress, begin_at, mesh, waves, nodes, site)
    prepare(progress, run_on, mesh, waves, _STEPS, np.inf)
    begin_at(mesh, waves, nodes, site)
    asked = area.nodes_of(slice(0, points))[0]
    asked = asked[np.isin(area.part[asked], area.part[nodes])]
    far = np.inf
    while True:
        progress.update(_STAGE)
        state, _ = run_on(mesh, waves, _STEPS, far)
        longest = float(waves.distance[asked].max(initial=0.0))
        if state == 0:
            break
        if state == 1:
            waves = _roomier(waves)
        # A way that is as long may still come from a site of lower number.
        far = longest * (1 + _SAME)
    # What lies farther than all points is not known for sure.
    waves.site[waves.distance > far] = NOBODY
    return waves, longest


def _roomier(waves: Waves) -> Waves:
    """The same with twice the room."""
    room = len(waves.free)
    free = np.concatenate((waves.free, np.empty(room, np.int32)))
    left = int(waves.counts[1])
    free[left : left + room] = np.arange(room, 2 * room, dtype=np.int32)
    counts = waves.counts.copy()
    counts[1] += room
    grown = {name: _doubled(getattr(waves, name)) for name in ("ends", "source", "aim", "key", "entry")}
    return waves._replace(free=free, counts=counts, **grown)


def _doubled(values: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate((values, np.empty_like(values)))


def _of_places(area: Area, waves: Waves, points: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Distance and site of the points: of a place with several sides the nearest one."""
    node = area.place_nodes
    place = np.repeat(np.arange(area.node_starts.size - 1), np.diff(area.node_starts))
    order = np.lexsort((waves.site[node], waves.distance[node], place))
    first = order[np.append(True, place[order][1:] != place[order][:-1])]
    distance = np.full(area.node_starts.size - 1, np.inf)
    site = np.full(area.node_starts.size - 1, NOBODY, np.int32)
    distance[place[first]], site[place[first]] = waves.distance[node[first]], waves.site[node[first]]
    at = area.place_of[:points]
    return distance[at], site[at]


def _as_straight(
    walls: Walls,
    points: NDArray[np.float64],
    sites: NDArray[np.float64],
    distance: NDArray[np.float64],
    owner: NDArray[np.int32],
    progress: Progress,
) -> NDArray[np.int32]:
    """Where nothing is in the way the owner is exactly that of the plain diagram, whatever was rounded on the way."""
    straight = nearest_sites(points, sites, progress)
    length = np.hypot(*(points - sites[straight]).T)
    asked = np.flatnonzero((straight != owner) & (distance <= length * (1 + _SAME)))
    if not asked.size:
        return owner
    ways = shapely.linestrings(np.stack((points[asked], sites[straight[asked]]), axis=1))
    blocked = np.unique(walls.tree.query(ways, predicate="crosses")[0])
    blocked = np.union1d(blocked, np.flatnonzero(shapely.relate_pattern(ways, walls.area, "T********")))
    clear = np.delete(np.arange(asked.size), blocked)
    owner = owner.copy()
    owner[asked[clear]] = straight[asked[clear]]
    return owner


def _across_gaps(
    area: Area, points: NDArray[np.float64], sites: NDArray[np.float64], owner: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Each part of the area without a site goes to the owner of the point outside that is nearest to one of its own.

    If no point at all has an owner, it goes to the nearest site.
    """
    lost = np.flatnonzero(owner == NOBODY)
    known = np.flatnonzero(owner != NOBODY)
    if not lost.size:
        return owner
    part = area.part[area.place_nodes[area.node_starts[area.place_of[lost]]]]
    places, owners = (points[known], owner[known]) if known.size else (sites, np.arange(len(sites)))
    gap, nearest = scipy.spatial.cKDTree(places).query(points[lost])
    owner = owner.copy()
    order = np.lexsort((lost, gap, part))
    first = order[np.append(True, part[order][1:] != part[order][:-1])]
    of_part = dict(zip(part[first].tolist(), owners[nearest[first]].tolist(), strict=True))
    owner[lost] = [of_part[each] for each in part.tolist()]
    return owner


Floats = NDArray[np.float64]

_COARSE = 4
"""At first the corners are so many steps apart."""
_ROUNDS, _PARTS = 4, 8
_STAGE = "Drawing the cells around the obstacles"


def cell_borders(
    walls: Walls, sites: Floats, shown: shapely.Geometry, step: float, progress: Progress = SILENT
) -> Floats:
    """The borders as stretches, (n, 2, 2), in the area that is shown and a little beyond.

    Wherever a line crosses an edge of the mesh, a border does too, and no such edge is longer than a step (unless so
    many rounds were not enough): more corners are put on edges that a border crosses until that is so.
    """
    low, high = np.array(shapely.bounds(shown)).reshape(2, 2)
    coarse = _COARSE * step
    wide = shapely.buffer(shapely.simplify(shown, step / 2), 2 * coarse, quad_segs=2)
    shapely.prepare(wide)
    probes = _grid(low, high, coarse)
    probes = _free(walls, probes[shapely.intersects_xy(wide, probes)])
    for _ in range(_ROUNDS):
        progress.update(_STAGE)
        area, waves = waves_to(walls, stand(walls, np.concatenate((probes, sites))), len(probes), progress)
        more = _on_long_edges(area, waves, step, low - coarse, high + coarse)
        more = more[shapely.intersects_xy(wide, more)]
        if not len(more):
            break
        probes = np.concatenate((probes, more))
    return _stretches(area, waves)


def _grid(low: Floats, high: Floats, step: float) -> Floats:
    """Places in rows, every other one shifted by half a step: all triangles between them are alike."""
    rows = np.arange(low[1] - step, high[1] + 2 * step, step * np.sqrt(0.75))
    columns = np.arange(low[0] - step, high[0] + 2 * step, step)
    x = columns[None, :] + np.where(np.arange(rows.size) % 2, step / 2, 0.0)[:, None]
    return np.column_stack((x.ravel(), np.repeat(rows, columns.size)))


def _free(walls: Walls, places: Floats) -> Floats:
    """Those of the places that no obstacle covers."""
    shapely.prepare(walls.area)
    return places[~np.asarray(shapely.intersects_xy(walls.area, places))]


def _mixed(area: Area, waves: Waves) -> NDArray[np.intp]:
    """The triangles whose corners belong to different sites."""
    site = waves.site[area.mesh.corners]
    there = (site != NOBODY).all(axis=1)
    return np.flatnonzero(there & ((site[:, 0] != site[:, 1]) | (site[:, 1] != site[:, 2])))


def _on_long_edges(area: Area, waves: Waves, longest: float, low: Floats, high: Floats) -> Floats:
    """Places on those edges between different owners that are too long, about that far apart."""
    nodes = area.mesh.corners[_mixed(area, waves)]
    edges = np.unique(np.sort(np.concatenate((nodes[:, :2], nodes[:, 1:], nodes[:, ::2])), axis=1), axis=0)
    edges = edges[waves.site[edges[:, 0]] != waves.site[edges[:, 1]]]
    ends = np.stack((area.mesh.x[edges], area.mesh.y[edges]), axis=-1)
    shown = ((ends.max(axis=1) >= low) & (ends.min(axis=1) <= high)).all(axis=1)
    length = np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1))
    parts = np.minimum(np.ceil(length / longest * (1 - 1e-9)), _PARTS).astype(np.int64)
    wanted = shown & (parts > 1)
    parts, ends = parts[wanted], ends[wanted]
    step = np.arange(int((parts - 1).sum())) - np.repeat(np.cumsum(parts - 1) - (parts - 1), parts - 1) + 1
    share = (step / np.repeat(parts, parts - 1))[:, None]
    begin, end = (np.repeat(ends[:, i], parts - 1, axis=0) for i in (0, 1))
    return np.unique(begin + share * (end - begin), axis=0)


def _stretches(area: Area, waves: Waves) -> Floats:
    """In each triangle with two owners the line between the crossings of its edges; with three, lines to its middle."""
    nodes = area.mesh.corners[_mixed(area, waves)]
    places = np.stack((area.mesh.x[nodes], area.mesh.y[nodes]), axis=-1)
    site, distance = waves.site[nodes], waves.distance[nodes]
    crossing = np.empty_like(places)
    for i in range(3):
        j = (i + 1) % 3
        apart = places[:, j] - places[:, i]
        length = np.sqrt((apart * apart).sum(axis=1))
        # Away from both sites the two distances grow alike until they meet.
        part = np.clip((length + distance[:, j] - distance[:, i]) / (2 * length), 0.0, 1.0)
        crossing[:, i] = places[:, i] + part[:, None] * apart
    differs = site != np.roll(site, -1, axis=1)
    two, three = differs.sum(axis=1) == 2, differs.all(axis=1)
    pairs = crossing[two][differs[two]].reshape(-1, 2, 2)
    middle = np.repeat(crossing[three].mean(axis=1, keepdims=True), 3, axis=1)
    spokes = np.stack((crossing[three], middle), axis=2).reshape(-1, 2, 2)
    return np.concatenate((pairs, spokes))

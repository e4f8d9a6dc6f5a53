"""The borders between the cells of sites around obstacles, as lines to be drawn.

Owners and distances at the corners of a mesh are exact; between them a border is a straight stretch in each triangle.
The mesh is made finer where borders are.
"""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Progress

from .distances import NOBODY, waves_to
from .mesh import Area, Walls, stand
from .waves import Waves

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

"""Shortest ways around obstacles the slow way: every pair of corners that see each other, and Floyd's algorithm.

A corner is taken a hair's breadth beside the wall, once for each side of it, so that no way slips through a wall at
the place where two of its pieces meet.
"""

from __future__ import annotations

import numpy as np
import shapely

HAIR = 1e-7


def sides_of_corners(places, pairs):
    """A place beside each corner for each gap between the walls that meet there."""
    found = []
    for number, place in enumerate(places):
        ends = np.concatenate((pairs[pairs[:, 0] == number, 1], pairs[pairs[:, 1] == number, 0]))
        angles = np.sort(np.arctan2(*(places[ends] - place).T[::-1]))
        following = np.append(angles[1:], angles[0] + 2 * np.pi)
        middles = (angles + following) / 2
        found += [place + HAIR * np.array([np.cos(angle), np.sin(angle)]) for angle in middles]
    return np.array(found).reshape(-1, 2)


def naive_distances(walls, points, sites):
    """The shortest way from each point to each site; infinite where there is none."""
    corners = sides_of_corners(walls.vertices, walls.pairs)
    if not walls.area.is_empty:
        corners = corners[~shapely.contains_xy(walls.area, corners)]
    nodes = np.concatenate((corners, points, sites))
    one, other = np.triu_indices(len(nodes), 1)
    ways = shapely.linestrings(np.stack((nodes[one], nodes[other]), axis=1))
    blocked = np.zeros(one.size, bool)
    blocked[shapely.STRtree(walls.segments).query(ways, predicate="intersects")[0]] = True
    length = np.where(blocked, np.inf, np.hypot(*(nodes[one] - nodes[other]).T))
    table = np.full((len(nodes), len(nodes)), np.inf)
    table[one, other] = table[other, one] = length
    np.fill_diagonal(table, 0.0)
    for through in range(len(nodes)):
        np.minimum(table, table[:, through, None] + table[None, through], out=table)
    first = len(corners)
    return table[first : first + len(points), first + len(points) :]

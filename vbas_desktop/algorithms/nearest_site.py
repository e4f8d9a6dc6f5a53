"""Nearest site of each point, points at the same location, and weighted centroids of groups of points."""

from __future__ import annotations

import os

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.model.progress import NO_PROGRESS, Progress


def group_coincident_points(points: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the distinct positions: the index of the first point of each, and the number of the position of each point.

    Places are numbered by x, then by y.
    """
    _, first, number = np.unique(
        points[:, 0] + 1j * points[:, 1], return_index=True, return_inverse=True
    )
    return first, number


def unique_pairs(first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.int64]:
    """List the different pairs (one, other) of natural numbers, ascending, as an (m, 2) array."""
    width = int(second.max(initial=0)) + 1
    # numpy.unique takes forty times as long: it puts numbers into a hash table before it sorts them.
    keys = np.sort(first.astype(np.int64) * width + second)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.column_stack((keys // width, keys % width))


def weighted_centroids(
    points: NDArray[np.float64], owner: NDArray[np.integer], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Compute the mean point (by weight) of the members of each group; the origin for groups without members."""
    weight = np.ones(len(points)) if weights is None else weights
    number = np.bincount(owner, weight)
    number[number == 0] = 1.0
    return np.column_stack([np.bincount(owner, weight * points[:, axis]) / number for axis in (0, 1)])


_BLOCK = 20_000
_SLACK = 1e-9
_TINY = 1e-150
_PAYS_FROM = 2000


def choose_thread_count(questions: int) -> int:
    """Choose the number of threads that is fastest for this number of k-d tree queries; the result is the same."""
    return min(2, os.cpu_count() or 1) if questions >= _PAYS_FROM else 1


def squared_distances(points: NDArray[np.float64], sites: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ``dx*dx + dy*dy``, broadcast; all code compares distances to sites by this arithmetic."""
    dx = points[..., 0] - sites[..., 0]
    dy = points[..., 1] - sites[..., 1]
    return np.asarray(dx * dx + dy * dy)


def find_nearest_sites(
    points: NDArray[np.float64], sites: NDArray[np.float64], progress: Progress = NO_PROGRESS
) -> NDArray[np.int32]:
    """Find each point's nearest site: the lowest index of smallest ``dx*dx + dy*dy``, O((r + s) log s).

    A k-d tree alone returns any of several equally near sites and rounds in its own way. It only proposes here: every
    site within a relative 1e-9 of the nearest distance is a candidate, and the candidates are compared by
    `squared_distances`, so the answer is that of the full comparison of every point with every site.
    """
    # Sorted by first appearance, the order of the distinct places is the order of the site indices.
    first = np.sort(group_coincident_points(sites)[0])
    positions = sites[first]
    tree = scipy.spatial.cKDTree(positions)
    owner = np.empty(len(points), np.int64)
    for start in range(0, len(points), _BLOCK):
        progress.update("Finding the nearest sites", start / len(points))
        owner[start : start + _BLOCK] = _find_nearest_positions(
            tree, points[start : start + _BLOCK], positions
        )
    return first[owner].astype(np.int32)


def _find_nearest_positions(
    tree: scipy.spatial.cKDTree, points: NDArray[np.float64], positions: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Find the nearest distinct position of each point; ask for candidates until the next one is clearly farther."""
    if len(positions) == 1:
        return np.zeros(len(points), np.int64)
    nearest = np.empty(len(points), np.int64)
    open_points = np.arange(len(points))
    n_neighbours = 2
    while open_points.size:
        n_neighbours = min(n_neighbours, len(positions))
        distance, candidate = tree.query(
            points[open_points], k=n_neighbours, workers=choose_thread_count(open_points.size)
        )
        reach = distance[:, 0] * (1 + _SLACK) + _TINY
        if n_neighbours == 2:
            # Hardly ever are two equally near.
            nearest[open_points] = candidate[:, 0]
            unclear = distance[:, 1] <= reach
            open_points, distance, candidate, reach = (
                array[unclear] for array in (open_points, distance, candidate, reach)
            )
        settled = (distance[:, -1] > reach) | (n_neighbours == len(positions))
        chosen = candidate[settled]
        squared = squared_distances(points[open_points[settled], None, :], positions[chosen])
        tied = squared == squared.min(axis=1, keepdims=True)
        nearest[open_points[settled]] = np.where(tied, chosen, len(positions)).min(axis=1)
        open_points = open_points[~settled]
        n_neighbours *= 2
    return nearest

"""The nearest site of each point, exactly: ties go to the lower site index."""

from __future__ import annotations

import os

import numpy as np
import scipy
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT, Progress

from .places import place_numbers

_BLOCK = 20_000
_SLACK = 1e-9
_TINY = 1e-150
_PAYS_FROM = 2000


def threads_for(questions: int) -> int:
    """How many threads answer so many questions to a k-d tree quickest; the answers are the same."""
    return min(2, os.cpu_count() or 1) if questions >= _PAYS_FROM else 1


def squared_distances(points: NDArray[np.float64], sites: NDArray[np.float64]) -> NDArray[np.float64]:
    """``dx*dx + dy*dy``, broadcast: the one arithmetic by which everybody compares distances to sites."""
    dx = points[..., 0] - sites[..., 0]
    dy = points[..., 1] - sites[..., 1]
    return np.asarray(dx * dx + dy * dy)


def nearest_sites(
    points: NDArray[np.float64], sites: NDArray[np.float64], progress: Progress = SILENT
) -> NDArray[np.int32]:
    """The index of each point's nearest site: the lowest index of smallest ``dx*dx + dy*dy``, O((r + s) log s).

    A k-d tree alone returns any of several equally near sites and rounds in its own way. It only proposes here: every
    site within a relative 1e-9 of the nearest distance is a candidate, and the candidates are compared by
    `squared_distances`, so the answer is that of the full comparison of every point with every site.
    """
    # Sorted by first appearance, the order of the distinct places is the order of the site indices.
    first = np.sort(place_numbers(sites)[0])
    places = sites[first]
    tree = scipy.spatial.cKDTree(places)
    owner = np.empty(len(points), np.int64)
    for start in range(0, len(points), _BLOCK):
        progress.update("Finding the nearest sites", start / len(points))
        owner[start : start + _BLOCK] = _nearest_places(tree, points[start : start + _BLOCK], places)
    return first[owner].astype(np.int32)


def _nearest_places(
    tree: scipy.spatial.cKDTree, points: NDArray[np.float64], places: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Nearest distinct place of each point; asks for more candidates until the next one is clearly farther."""
    if len(places) == 1:
        return np.zeros(len(points), np.int64)
    nearest = np.empty(len(points), np.int64)
    open_points = np.arange(len(points))
    wanted = 2
    while open_points.size:
        wanted = min(wanted, len(places))
        distance, candidate = tree.query(points[open_points], k=wanted, workers=threads_for(open_points.size))
        reach = distance[:, 0] * (1 + _SLACK) + _TINY
        if wanted == 2:
            # Hardly ever are two equally near.
            nearest[open_points] = candidate[:, 0]
            unclear = distance[:, 1] <= reach
            open_points, distance, candidate, reach = (
                each[unclear] for each in (open_points, distance, candidate, reach)
            )
        settled = (distance[:, -1] > reach) | (wanted == len(places))
        chosen = candidate[settled]
        squared = squared_distances(points[open_points[settled], None, :], places[chosen])
        tied = squared == squared.min(axis=1, keepdims=True)
        nearest[open_points[settled]] = np.where(tied, chosen, len(places)).min(axis=1)
        open_points = open_points[~settled]
        wanted *= 2
    return nearest

"""Anonymity-driven clustering word by word: everything is recomputed for every candidate, geometry in fractions.

The reference for ``vbas_desktop.algorithms.adc``. It shares no code with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key

import numpy as np

Place = tuple[float, float]
Star = tuple[list[Place], bool]
"""Places of the adjacent sites in cyclic order, and whether the cell is bounded."""


@dataclass
class LiteralRun:
    """What the algorithm did: accepted moves as (site, class, place), and where it ended."""

    sites: np.ndarray
    owner: np.ndarray | None = None
    anonymity: int | None = None
    moves: list[tuple[int, int, Place]] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    tries: int = 0


class LiteralAdc:
    """The algorithm on (r, 2) points and an (r, classes) matrix of counts."""

    def __init__(self, points, counts, k: int) -> None:
        self.points, self.counts, self.k = points, counts, k

    def run(self, sites, most_tries: float = float("inf")) -> LiteralRun:
        """Move the (s, 2) sites until the end, or until so many candidates were tried."""
        run = LiteralRun(np.array(sites, float))
        improved = True
        while improved:
            run.owner, sizes = self.aggregate(run.sites)
            run.anonymity, value = rate(sizes)
            if run.anonymity is None or run.anonymity >= self.k:
                return run
            run.values.append(value)
            improved = self.improve(run, sizes, value, most_tries)
        return run

    def improve(self, run: LiteralRun, sizes, value: int, most_tries: float) -> bool:
        """One pass over the candidates: True after the first accepted move."""
        for site in range(len(run.sites)):
            present = sizes[site][sizes[site] > 0]
            if present.size == 0 or present.min() > run.anonymity:
                continue
            inside = self.neighbourhood(run.sites, run.owner, site)
            for column in np.flatnonzero(sizes[site] == run.anonymity):
                if run.tries >= most_tries:
                    return False
                run.tries += 1
                place = weighted_mean(self.points, self.counts[:, column], inside)
                moved = run.sites.copy()
                moved[site] = place
                if rate(self.aggregate(moved)[1])[1] > value:
                    run.sites = moved
                    run.moves.append((site, int(column), place))
                    return True
        return False

    def aggregate(self, sites) -> tuple[np.ndarray, np.ndarray]:
        """The nearest site of each point (ties: lower index), and the class sizes of each site's region."""
        dx = self.points[:, :1] - sites[:, 0]
        dy = self.points[:, 1:] - sites[:, 1]
        owner = np.argmin(dx * dx + dy * dy, axis=1)
        sizes = np.zeros((len(sites), self.counts.shape[1]), np.int64)
        np.add.at(sizes, owner, self.counts)
        return owner, sizes

    def neighbourhood(self, sites, owner, site: int) -> list[int]:
        """The points in the cell or in the closed polygon through the adjacent sites, in file order."""
        corners, bounded = exact_star(sites, site)
        polygon = polygon_of(corners, bounded, (float(sites[site, 0]), float(sites[site, 1])))
        return [
            i
            for i, (x, y) in enumerate(self.points)
            if owner[i] == site or (polygon and in_polygon((float(x), float(y)), polygon))
        ]


def rate(sizes) -> tuple[int | None, int]:
    """α and the value α·s − (regions at α); no α without records."""
    lowest = np.where(sizes > 0, sizes, np.iinfo(np.int64).max).min(axis=1)[(sizes > 0).any(axis=1)]
    if not lowest.size:
        return None, 0
    alpha = int(lowest.min())
    return alpha, alpha * len(sizes) - int((lowest == alpha).sum())


def weighted_mean(points, weights, inside) -> Place:
    """Mean of the points inside, weighted, summed in file order."""
    x = y = total = 0.0
    for i in inside:
        if weights[i] > 0:
            weight = float(weights[i])
            x += weight * float(points[i, 0])
            y += weight * float(points[i, 1])
            total += weight
    return x / total, y / total


def polygon_of(corners: list[Place], bounded: bool, own: Place) -> list[Place]:
    """The polygon's corners; none if they are fewer than three or in one line."""
    polygon = corners if bounded else _with_own_at_the_open_side(corners, own)
    if len(polygon) < 3 or all(cross(polygon[0], polygon[1], corner) == 0 for corner in polygon[2:]):
        return []
    return polygon


def _with_own_at_the_open_side(corners: list[Place], own: Place) -> list[Place]:
    """The corners with the own site between the two successive ones that lie half a turn or more apart."""
    for i in range(len(corners)):
        following = corners[(i + 1) % len(corners)]
        if len(corners) == 1 or cross(own, corners[i], following) <= 0:
            return [*corners[: i + 1], own, *corners[i + 1 :]]
    return corners


def exact_star(sites, site) -> Star:
    """Adjacent sites from the definition: of the bisector with each other site, what remains is longer than a point."""
    v = exact(sites[site])
    others = [place for place in {exact(other) for other in sites} if place != v]
    corners, bounded = [], bool(others)
    for w in others:
        low, high = _common_edge(v, w, others)
        if low is not None and high is not None and low >= high:
            continue
        corners.append(w)
        bounded &= low is not None and high is not None
    ordered = sorted(corners, key=cmp_to_key(lambda a, b: _turn(v, a, b)))
    return [(float(x), float(y)) for x, y in ordered], bounded


def _common_edge(v, w, others):
    """The piece of the bisector of v and w, as parameters along it, where no other site is nearer (None: no end)."""
    middle = ((v[0] + w[0]) / 2, (v[1] + w[1]) / 2)
    along = (v[1] - w[1], w[0] - v[0])
    low = high = None
    for z in others:
        if z == w:
            continue
        dx, dy = z[0] - v[0], z[1] - v[1]
        slope = 2 * (along[0] * dx + along[1] * dy)
        room = z[0] ** 2 + z[1] ** 2 - v[0] ** 2 - v[1] ** 2 - 2 * (middle[0] * dx + middle[1] * dy)
        if slope > 0:
            high = room / slope if high is None else min(high, room / slope)
        elif slope < 0:
            low = room / slope if low is None else max(low, room / slope)
        elif room < 0:
            return Fraction(0), Fraction(0)
    return low, high


def _turn(v, a, b) -> int:
    """Order of directions from v, counter-clockwise from the positive x direction."""
    half_a, half_b = _half(v, a), _half(v, b)
    if half_a != half_b:
        return half_a - half_b
    side = cross(v, a, b)
    return -1 if side > 0 else (1 if side < 0 else 0)


def _half(v, a) -> int:
    dx, dy = a[0] - v[0], a[1] - v[1]
    return 0 if dy > 0 or (dy == 0 and dx > 0) else 1


def in_polygon(point: Place, polygon: list[Place]) -> bool:
    """Whether a point is inside a simple polygon or on its border."""
    inside = False
    px, py = exact(point)
    for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        (ax, ay), (bx, by) = exact(a), exact(b)
        side = cross(a, b, point)
        if side == 0 and min(ax, bx) <= px <= max(ax, bx) and min(ay, by) <= py <= max(ay, by):
            return True
        if (ay > py) != (by > py) and (side > 0) == (by > ay):
            inside = not inside
    return inside


def cross(a, b, p) -> Fraction:
    """Twice the area of the triangle a, b, p: positive if counter-clockwise."""
    (ax, ay), (bx, by), (px, py) = exact(a), exact(b), exact(p)
    return (bx - ax) * (py - ay) - (by - ay) * (px - ax)


def exact(place) -> tuple[Fraction, Fraction]:
    """A place without rounding."""
    return Fraction(place[0]), Fraction(place[1])

"""Random small problems for anonymity-driven clustering, above all awkward ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

KINDS = (
    "uniform",
    "clustered",
    "grid",
    "decimal grid",
    "collinear",
    "slanted line",
    "duplicates",
    "circle",
    "one place",
)


@dataclass(frozen=True)
class Instance:
    """Points, counts, sites and k."""

    points: np.ndarray
    counts: np.ndarray
    sites: np.ndarray
    k: int


def instance(kind: str, r: int, s: int, classes: int, k: int, seed: int, scale: float = 1.0) -> Instance:
    """A problem of that kind; a tenth of the regions has no records, and classes differ in frequency."""
    rng = np.random.default_rng(seed)
    points = places(kind, r, rng) * scale
    frequency = rng.choice([0.1, 0.5, 1.0, 4.0]) * rng.uniform(0.3, 1.0, classes)
    counts = rng.poisson(frequency, (r, classes)) * (rng.random((r, 1)) > 0.1)
    return Instance(points, counts.astype(np.int64), _sites(kind, points, s, rng, scale), k)


def places(kind: str, number: int, rng: np.random.Generator) -> np.ndarray:
    """Places of that kind, about ten units across."""
    if kind == "clustered":
        centres = rng.random((3, 2)) * 10
        return centres[rng.integers(0, 3, number)] + rng.normal(0, 0.4, (number, 2))
    if kind in ("grid", "decimal grid"):
        return rng.integers(0, 8, (number, 2)) * (1.0 if kind == "grid" else 0.1)
    if kind == "collinear":
        return np.column_stack([rng.integers(0, 40, number), np.full(number, 3)]).astype(float)
    if kind == "slanted line":
        steps = rng.integers(0, 40, number)
        return np.column_stack([steps * 2, steps * 3 + 1]).astype(float)
    if kind == "duplicates":
        return (rng.random((4, 2)) * 10)[rng.integers(0, 4, number)]
    if kind == "circle":
        corner = np.array(
            [
                (5, 0),
                (4, 3),
                (3, 4),
                (0, 5),
                (-3, 4),
                (-4, 3),
                (-5, 0),
                (-3, -4),
                (0, -5),
                (3, -4),
                (0, 0),
            ]
        )
        return corner[rng.integers(0, len(corner), number)].astype(float)
    if kind == "one place":
        return np.full((number, 2), 2.5)
    return rng.random((number, 2)) * 10


def _sites(kind: str, points: np.ndarray, s: int, rng: np.random.Generator, scale: float) -> np.ndarray:
    choice = rng.integers(0, 3)
    if choice == 0:
        return points[rng.permutation(len(points))[:s]]
    if choice == 1:
        return places(kind, s, rng) * scale
    return np.array([points[rng.permutation(len(points))[:3]].mean(axis=0) for _ in range(s)])

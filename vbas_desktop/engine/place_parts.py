"""The parts of a solution's vector: how far records moved, on which levels its columns are, which classes remain."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.indices import DaviesBouldin, of_rows
from vbas_desktop.algorithms.released import Placed
from vbas_desktop.algorithms.separation import coinciding_pairs, largest_ratios
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.records import EquivalenceCounts

HEIGHT = 2
"""Levels above a value, and above an initial region without tiers: the group it is taken into, suppression."""

Levels = Mapping[str, Mapping[int, int]]
"""Column → level → released records."""


@dataclass(frozen=True, eq=False)
class Moves:
    """How far records are from the record-weighted centre of their aggregated region, in the unit of the coordinates.

    ``by_region`` is the mean of each aggregated region (NaN where nothing was released), ``mean`` that of all.
    """

    by_region: NDArray[np.float64]
    mean: float | None
    davies_bouldin: DaviesBouldin


def moves(
    points: NDArray[np.float64], membership: NDArray[np.integer], groups: int, weight: NDArray[np.int64]
) -> Moves:
    """From the released records of each initial region, or of each initial region in each tier.

    A distance itself says how far a place was generalised, so Davies–Bouldin takes it without a further factor: S is
    the root mean square of a region, D that of the centres.
    """
    total = np.bincount(membership, weight, minlength=groups)
    everything = float(weight.sum())
    if not everything:
        return Moves(np.full(groups, np.nan), None, DaviesBouldin(None, 0, reason="nothing is released"))
    safe = np.where(total > 0, total, 1.0)
    centre = np.column_stack(
        [np.bincount(membership, weight * points[:, axis], minlength=groups) / safe for axis in (0, 1)]
    )
    squared = ((points - centre[membership]) ** 2).sum(axis=1)
    far = np.sqrt(squared)
    by_region = np.bincount(membership, weight * far, minlength=groups) / safe
    spread = np.sqrt(np.bincount(membership, weight * squared, minlength=groups) / safe)
    middle = (weight[:, None] * points).sum(axis=0) / everything
    widest = float(np.sqrt((weight * ((points - middle) ** 2).sum(axis=1)).sum() / everything))
    used = total > 0
    largest, nearest = largest_ratios(centre[used], spread[used])
    index = of_rows(largest, nearest, coinciding_pairs(centre[used]), widest)
    return Moves(np.where(used, by_region, np.nan), float((weight * far).sum() / everything), index)


def levels_of(problem: Problem, membership: NDArray[np.int32], released: Placed) -> Levels:
    """On which level the released records are in each column: a region that stands alone is as it was."""
    found: dict[str, dict[int, int]] = {}
    first = released.classes[0]
    totals = np.sum([counts.class_totals for counts in released.classes], axis=0)
    grouped = {grouping.column: grouping.groups for grouping in problem.groupings}
    for q, categories in enumerate(problem.categories):
        name = problem.quasi_identifiers[q]
        raised = {group for value, group in grouped.get(name, {}).items() if group != value}
        level = np.array([int(value in raised) for value in categories.values], np.int64)
        records = np.bincount(level[codes_of(first, q)], totals, minlength=2) if totals.size else np.zeros(2)
        found[name] = {number: int(records[number]) for number in (0, 1) if records[number]}
    together = np.bincount(membership)[membership] > 1
    moved = int(released.records[0, together].sum())
    places = {0: int(released.records[0].sum()) - moved, 1: moved}
    places |= {tier + 1: int(released.records[tier].sum()) for tier in range(1, len(released.classes))}
    found[problem.region_column] = {number: records for number, records in places.items() if records}
    return found


def precision_by_column(levels: Levels, heights: Mapping[str, int] = MappingProxyType({})) -> dict[str, float] | None:
    """1 − the mean share of the levels climbed, column by column; None if nothing was released."""
    if not any(sum(records.values()) for records in levels.values()):
        return None
    return {
        name: 1.0
        - sum(level * number for level, number in records.items()) / heights.get(name, HEIGHT) / sum(records.values())
        for name, records in levels.items()
    }


def codes_of(counts: EquivalenceCounts, q: int) -> NDArray[np.int64]:
    """The category of each class in the q-th quasi-identifier."""
    rest = counts.classes
    for number in reversed(counts.category_numbers[q + 1 :]):
        rest = rest // number
    return np.asarray(rest % counts.category_numbers[q])


def packed(flags: NDArray[np.bool_]) -> str:
    """Flags as a short text."""
    return base64.b64encode(np.packbits(flags).tobytes()).decode("ascii")


def unpacked(text: str, number: int) -> NDArray[np.bool_] | None:
    """The flags again; None if the text does not hold so many."""
    try:
        bits = np.unpackbits(np.frombuffer(base64.b64decode(text, validate=True), np.uint8))
    except ValueError:
        return None
    return bits[:number].astype(bool) if number <= bits.size < number + 8 else None

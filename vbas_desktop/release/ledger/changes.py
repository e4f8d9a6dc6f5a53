"""Releases of different record files, such as this year's and last year's: who came and who went.

The recipient takes the rows of both that are alike for the same person. What is left over in a cell has come or gone,
with all its values. So of every cell at least k rows, or none, may come, and likewise go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .entry import Entry, Rows, cell_keys
from .fates import places_in

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Change:
    """How many people are told to have come or gone in groups of fewer than k, in how many cells.

    ``reason`` says why the two cannot be compared; ``by_rows``: rows were compared, not only their numbers.
    """

    people: int = 0
    cells: int = 0
    reason: str = ""
    by_rows: bool = True


def changes(new: Entry, rows: Rows | None, old: Entry) -> Change:
    """What the new release tells of people who came or went since the old one."""
    if new.parents or old.parents:
        return Change(reason="their places are in tiers, where a record can change its place although nobody moved")
    if set(new.quasi_identifiers) != set(old.quasi_identifiers) or not _same_groups(new, old):
        return Change(reason="their quasi-identifiers or groups differ")
    if set(new.visible) != set(old.visible):
        return Change(reason="one lacks a quasi-identifier among its columns")
    joined = _joined(new, old)
    if joined is None:
        return Change(reason="their regions overlap without being the same or joined from the earlier ones")
    exact = rows is not None and old.rows is not None and set(new.columns) == set(old.columns)
    if not exact:
        rows, old_rows = _as_rows(new), _as_rows(old)
    else:
        assert rows is not None
        assert old.rows is not None
        old_rows = old.rows
    coarser = joined.max(initial=-1) + 1 < old.aggregated_regions
    return _compared(new, rows, old, old_rows, joined, coarser, exact)


def _same_groups(new: Entry, old: Entry) -> bool:
    def pairs(entry: Entry) -> dict[str, set[tuple[int, int]]]:
        found = {name: {(int(a), int(b)) for a, b in each if a != b} for name, each in entry.groups.items()}
        return {name: each for name, each in found.items() if each}

    return pairs(new) == pairs(old)


def _joined(new: Entry, old: Entry) -> Ints | None:
    """The new aggregated region that each old one went into as a whole; None if one was divided or is not there."""
    place = places_in(new, old.regions).astype(np.int64)
    if (place < 0).any() or new.regions.size != old.regions.size:
        return None
    joined = np.full(old.aggregated_regions, -1, np.int64)
    joined[old.membership] = place
    return joined if (joined[old.membership] == place).all() else None


def _as_rows(entry: Entry) -> Rows:
    """The cells as rows that cannot be told apart."""
    number = np.arange(len(entry.cells), dtype=np.int32)
    return Rows(number, np.zeros(number.size, np.uint64), entry.cells.counts)


def _compared(new: Entry, rows: Rows, old: Entry, old_rows: Rows, joined: Ints, coarser: bool, exact: bool) -> Change:
    new_keys = cell_keys(new.cells.place, new.cells.classes)
    old_keys = cell_keys(joined[old.cells.place], old.cells.classes)
    both = np.intersect1d(new_keys, old_keys)
    if not both.size:
        return Change(by_rows=exact)
    now, now_cell, now_counts = _of(new_keys, rows, both)
    was, was_cell, was_counts = _of(old_keys, old_rows, both)
    keys, place = np.unique(np.concatenate((now, was)), return_inverse=True)
    place = place.ravel()
    difference = np.bincount(place, np.concatenate((now_counts, -was_counts)), minlength=keys.size).astype(np.int64)
    cell = np.zeros(keys.size, np.int64)
    cell[place] = np.concatenate((now_cell, was_cell))
    came = np.bincount(cell, np.maximum(difference, 0), minlength=both.size).astype(np.int64)
    went = np.bincount(cell, np.maximum(-difference, 0), minlength=both.size).astype(np.int64)
    few_came = (came > 0) & (came < new.k)
    # Where regions were joined, those who went are told by their smaller regions: any number may be few in one of them.
    few_went = (went > 0) & ((went < new.k) | coarser)
    people = int(came[few_came].sum() + went[few_went].sum())
    return Change(people, int(np.count_nonzero(few_came | few_went)), by_rows=exact)


def _of(keys: NDArray[np.uint64], rows: Rows, both: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Ints, Ints]:
    """Key of the row, number of the cell and records of the rows whose cells are in both releases."""
    cell_key = keys[rows.cell]
    place = np.minimum(np.searchsorted(both, cell_key), both.size - 1)
    kept = both[place] == cell_key
    return cell_keys(place[kept], rows.values[kept]), place[kept].astype(np.int64), rows.counts[kept].astype(np.int64)

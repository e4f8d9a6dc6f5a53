"""Releases of different record files, such as this year's and last year's: who came and who went.

The recipient takes the rows of both that are alike for the same person. What is left over in a cell has come or gone,
with all its values. So of every cell at least k rows, or none, may come, and likewise go.

In tiers a record may be listed in a larger place in one of the two, although nobody moved. Then the other one tells in
which smaller place it is. So where both list a class, it must be in the same places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .entry import Entry, Rows, cell_keys
from .fates import places_in
from .numbering import Ints, matches

_Keys = NDArray[np.uint64]
_Around = tuple[_Keys, Ints]


@dataclass(frozen=True)
class Change:
    """How many people are told to have come or gone in groups of fewer than k, in how many cells.

    ``reason`` says why the two cannot be compared; ``by_rows``: rows were compared, not only their numbers. ``moved``:
    they are told in which smaller place they are, because one of the two lists them there.
    """

    people: int = 0
    cells: int = 0
    reason: str = ""
    by_rows: bool = True
    moved: bool = False


def changes(new: Entry, rows: Rows | None, old: Entry) -> Change:
    """What the new release tells of people who came or went since the old one."""
    if not new.has_classes_of(old):
        return Change(reason="their quasi-identifiers or groups differ")
    if set(new.visible) != set(old.visible):
        return Change(reason="one lacks a quasi-identifier among its columns")
    joined = _joined(new, old)
    if joined is None:
        return Change(reason="their regions overlap without being the same or joined from the earlier ones")
    old_rows, exact = old.rows, set(new.columns) == set(old.columns)
    if rows is None or old_rows is None or not exact:
        rows, old_rows, exact = _as_rows(new), _as_rows(old), False
    if new.parents or old.parents:
        wrong = _why_not_in_tiers(new, old, joined, exact)
        if wrong:
            return Change(reason=wrong)
    mine, theirs = _sides(new, old, joined)
    moved = np.concatenate((mine.in_smaller_places(theirs), theirs.in_smaller_places(mine)))
    if moved.size:
        return Change(int(moved.sum()), moved.size, moved=True)
    coarser = joined.max(initial=-1) + 1 < old.aggregated_regions
    return _compared(mine.keys, rows, theirs.keys, old_rows, new.k, coarser, exact)


def _why_not_in_tiers(new: Entry, old: Entry, joined: Ints, exact: bool) -> str:
    """Why two releases, one of them or both in tiers, cannot be compared; empty if they can."""
    if not new.aggregated_regions == old.aggregated_regions == np.unique(joined).size:
        return "their places are in tiers, and regions were joined"
    if new.parents and old.parents and all_places(new, old, joined) is None:
        return "their places are in tiers, and the larger places differ"
    if not exact:
        return (
            "their places are in tiers, where rows have to be compared, and their columns differ or rows are too many"
        )
    return ""


def all_places(new: Entry, old: Entry, joined: Ints) -> Ints | None:
    """The new number of each old place of all tiers; None if there is none for some. ``joined`` has those of tier 0."""
    if new.places != old.places:
        return None
    found, place, starts = [joined], joined, np.cumsum(new.places)
    for mine, theirs, start in zip(new.parents, old.parents, starts, strict=False):
        above = np.full(int(theirs.max(initial=-1)) + 1, -1, np.int64)
        above[theirs] = mine[place]
        if (above[theirs] != mine[place]).any() or np.unique(above).size != above.size:
            return None
        found.append(above + start)
        place = above
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class _Side:
    """The keys of the cells of one of two releases, which number their places alike, and their numbers of records.

    ``around`` has the keys that the cells would have in each larger place.
    """

    keys: _Keys
    sizes: Ints
    around: list[_Around]

    def in_smaller_places(self, other: _Side) -> Ints:
        """The records of the cells that this release lists and the other one has in a larger place."""
        larger = np.zeros(self.keys.size, np.bool_)
        for keys, inside in self.around:
            larger[inside] |= np.isin(keys, other.keys)
        return self.sizes[larger & ~np.isin(self.keys, other.keys)] if self.around else self.sizes[:0]


def _sides(new: Entry, old: Entry, joined: Ints) -> tuple[_Side, _Side]:
    """Both releases; places are numbered as in the one that has larger ones, else as in the new one."""
    mine, theirs, above = new.cells.place.astype(np.int64), old.cells.place.astype(np.int64), new.above
    if old.parents and not new.parents:
        above = old.above
        mine = np.argsort(joined)[mine]
    else:
        places = all_places(new, old, joined) if new.parents and old.parents else joined
        assert places is not None
        theirs = places[theirs]

    def side(entry: Entry, place: Ints) -> _Side:
        keys, sizes = cell_keys(place, entry.cells.classes), entry.cells.counts.astype(np.int64)
        return _Side(keys, sizes, list(_around(place, entry, above)))

    return side(new, mine), side(old, theirs)


def _around(place: Ints, entry: Entry, above: Ints) -> Iterator[_Around]:
    """The keys of the cells in each larger place, and which of the cells have one."""
    inside = np.arange(place.size)
    while True:
        place = above[place]
        inside, place = inside[place >= 0], place[place >= 0]
        if not inside.size:
            return
        yield cell_keys(place, entry.cells.classes[inside]), inside


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


def _compared(
    new_keys: _Keys, rows: Rows, old_keys: _Keys, old_rows: Rows, k: int, coarser: bool, exact: bool
) -> Change:
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
    few_came = (came > 0) & (came < k)
    # Where regions were joined, those who went are told by their smaller regions: any number may be few in one of them.
    few_went = (went > 0) & ((went < k) | coarser)
    people = int(came[few_came].sum() + went[few_went].sum())
    return Change(people, int(np.count_nonzero(few_came | few_went)), by_rows=exact)


def _of(keys: _Keys, rows: Rows, both: _Keys) -> tuple[_Keys, Ints, Ints]:
    """Key of the row, number of the cell and records of the rows whose cells are in both releases."""
    kept, place = matches(both, keys[rows.cell])
    return cell_keys(place, rows.values[kept]), place, rows.counts[kept].astype(np.int64)

"""Releases of different record files, such as this year's and last year's: who came, who left and who stayed.

The recipient takes rows of both that are alike for the same person (`row_groups`). So in every cell, none or at least
k people may come, leave, or stay while others leave, and these groups must meet the criteria for sensitive values.

In tiers a record may be listed in a larger place in one of the two, although nobody moved. Then the other one tells in
which smaller place it is. So where both list a class, it must be in the same places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .entry import Entry, Rows, cell_keys
from .fates import places_in
from .numbering import Ints
from .row_groups import MOST_RELEASES, Listing, RowGroups

_Keys = NDArray[np.uint64]
_Around = tuple[_Keys, Ints]
Texts = Mapping[str, Sequence[str]]
"""By column, values that are known as texts: a ledger has hashes only."""


@dataclass(frozen=True)
class Disclosure:
    """A sensitive column of which people learn more than the criteria of a release allow, and of how many."""

    column: str
    criteria: tuple[str, ...]
    people: int


@dataclass(frozen=True)
class Change:
    """What releases of different record files tell together.

    ``people`` came, left or stayed in groups of fewer than k, in so many ``cells``. ``disclosed`` are sensitive values
    of groups that are large enough. ``reason`` says why the releases cannot be compared; ``compared``: the columns by
    which rows were compared (none: only their numbers were). ``moved``: people are told in which smaller place they
    are, because one of the releases lists them there.
    """

    people: int = 0
    cells: int = 0
    disclosed: tuple[Disclosure, ...] = ()
    reason: str = ""
    compared: tuple[str, ...] = ()
    moved: bool = False

    @property
    def safe(self) -> bool:
        """Whether the releases can be compared and expose nobody."""
        return not (self.people or self.disclosed or self.reason)


def changes(new: Entry, rows: Rows | None, old: Entry, k: int, key: bytes, texts: Texts) -> Change:
    """Compare a release with one of another record file; ``rows`` are those of the new one."""
    if not new.has_classes_of(old):
        return Change(reason="their quasi-identifiers or groups differ")
    if set(new.visible) != set(old.visible):
        return Change(reason="one lacks a quasi-identifier among its columns")
    if new.aggregated or old.aggregated:
        # Means of two years and the sizes of the classes give the values of whoever came or left.
        return Change(reason="sensitive values are aggregated in one of them")
    joined = _joined(new, old)
    if joined is None:
        return Change(reason="their regions overlap without being the same or joined from the earlier ones")
    wrong = _why_not_by_rows(new, rows, old)
    if not wrong and (new.parents or old.parents):
        exact = rows is not None and old.rows is not None and set(new.columns) == set(old.columns)
        wrong = _why_not_in_tiers(new, old, joined, exact)
    if wrong:
        return Change(reason=wrong)
    mine, theirs = _sides(new, old, joined)
    moved = np.concatenate((mine.in_smaller_places(theirs), theirs.in_smaller_places(mine)))
    if moved.size:
        return Change(int(moved.sum()), moved.size, moved=True)
    groups = RowGroups((_listing(mine.keys, rows, new), _listing(theirs.keys, old.rows, old)))
    # Where regions were joined, those who left are told by their smaller regions: any number may be few in one of them.
    coarser = joined.max(initial=-1) + 1 < old.aggregated_regions
    exposed = groups.few(k) | groups.left() if coarser else groups.few(k)
    return _told(groups, exposed, (new, old), key, texts)


def joint_changes(new: Entry, rows: Rows | None, earlier: Sequence[Entry], k: int, key: bytes, texts: Texts) -> Change:
    """Compare a release with several of other record files at once, each of which is safe beside it alone.

    Somebody who left and came back is told apart by three releases, but not by any two of them. Earlier releases in
    tiers beside a new one without have places of their own, and are left out.
    """
    comparable = [old for old in earlier if old.rows is not None and (new.parents or not old.parents)]
    comparable = comparable[1 - MOST_RELEASES :]
    if rows is None or len(comparable) < 2:
        return Change()
    listings = [Listing(cell_keys(new.cells.place, new.cells.classes), rows)]
    for old in comparable:
        joined = _joined(new, old)
        assert joined is not None
        listings.append(_listing(_sides(new, old, joined)[1].keys, old.rows, old))
    groups = RowGroups(tuple(listings))
    return _told(groups, groups.few(k), (new, *comparable), key, texts)


def _told(groups: RowGroups, exposed: NDArray[np.bool_], releases: Sequence[Entry], key: bytes, texts: Texts) -> Change:
    """Count whom the new release exposes, and whose sensitive values."""
    disclosed = []
    for number, entry in enumerate(releases):
        for guarded in entry.guarded:
            missed = groups.missing_criteria(key, guarded, number, texts.get(guarded.column, ()))
            people = int(groups.people[missed & ~exposed].sum())
            if people:
                disclosed.append(Disclosure(guarded.column, guarded.criteria, people))
    people = int(groups.people[exposed].sum())
    return Change(people, groups.number_of_cells(exposed), tuple(disclosed), compared=tuple(groups.common))


def _listing(keys: _Keys, rows: Rows | None, entry: Entry) -> Listing:
    """Take the cells as rows without further columns if the rows are not known."""
    if rows is None:
        rows = Rows(np.arange(len(entry.cells), dtype=np.int32), entry.cells.counts)
    return Listing(keys, rows)


def _why_not_by_rows(new: Entry, rows: Rows | None, old: Entry) -> str:
    """Say why criteria for sensitive values cannot be judged; empty if they can, or if there are none."""
    for guarded in (*new.guarded, *old.guarded):
        for entry, known in ((new, rows), (old, old.rows)):
            if guarded.column in entry.columns and (known is None or guarded.column not in known.columns):
                return (
                    f"the values of “{guarded.column}” have to be compared row by row, because of its criteria, and a "
                    "release lacks a quasi-identifier among its columns or has too many different rows or values"
                )
    return ""


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
    """Number the places of both releases as in the new one; larger places as in the one that has them."""
    places, above = joined, new.above
    if new.parents and old.parents:
        found = all_places(new, old, joined)
        assert found is not None
        places = found
    elif old.parents:
        # Both have the same aggregated regions, in another order.
        places = np.concatenate((joined, np.arange(joined.size, sum(old.places))))
        above = np.full(places.size, -1, np.int64)
        above[places] = np.where(old.above >= 0, places[old.above], -1)

    def side(entry: Entry, place: Ints) -> _Side:
        keys, sizes = cell_keys(place, entry.cells.classes), entry.cells.counts.astype(np.int64)
        return _Side(keys, sizes, list(_around(place, entry, above)))

    return side(new, new.cells.place.astype(np.int64)), side(old, places[old.cells.place])


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

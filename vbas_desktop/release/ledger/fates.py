"""Several releases of the same records: which people they tell apart together.

The *fate* of a record in a release is the cell (place and class) that it is released in, or none; in tiers the place
may be a larger one than its aggregated region. The
recipient of several releases may be able to tell which of their rows are the same person, by the other columns. Then
people are told apart as far as their fates differ, and no further. So releases are safe together if every group of
records with the same fate in all of them has at least k, and if no cell that a release lacks is shown to hold somebody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from vbas_desktop.algorithms.composite_keys import number_combinations
from vbas_desktop.algorithms.tier_suppression import Refuse, decide_in_tiers
from vbas_desktop.model.counts import ClassCounts

from .entry import Entry, cell_keys
from .keyed import Hashes, Listed, class_hashes, region_hashes
from .numbering import Ints, matches

NOT_RELEASED = -1

OPEN = 255
"""The tier of what is released in none."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """The records by initial region and by class of all quasi-identifiers of all releases that are compared.

    ``values`` has the hashes of the categories of each of ``columns``, in the order of their codes. ``grouped``: they
    are groups already, the same in all releases.
    """

    regions: Hashes
    columns: tuple[str, ...]
    values: tuple[Hashes, ...]
    counts: ClassCounts
    grouped: bool = False

    def merged(
        self, places: Sequence[NDArray[np.int32]], releases: Sequence[Entry] = ()
    ) -> tuple[Atoms, list[NDArray[np.int32]]]:
        """Initial regions that no release tells apart taken together: fewer atoms, the same fates.

        Where the ``releases`` are given, classes that none of them tells apart are taken together, too.
        """
        region, first = number_combinations(places)
        kind, kinds = self._kinds(releases)
        if first.size == region.size and kinds.size == kind.size:
            return self, list(places)
        row, column, records = self.cells
        table = coo_array((records, (region[row], kind[column])), shape=(first.size, kinds.size)).tocsr()
        counts = ClassCounts(self.counts.n_categories, self.counts.combinations[kinds], table)
        return replace(self, regions=self.regions[first], counts=counts), [place[first] for place in places]

    def _kinds(self, releases: Sequence[Entry]) -> tuple[Ints, Ints]:
        """What the releases have for each class, in the order of the classes, and where each of these stands first."""
        if not releases:
            every = np.arange(self.counts.n_combinations)
            return every, every
        return number_combinations([self.classes_in(entry, entry.quasi_identifiers) for entry in releases])

    @property
    def records(self) -> Ints:
        """The records of every atom."""
        return self.counts.sizes

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Ints]:
        """Region, class and records of every atom."""
        counts = self.counts
        return counts.list_class_regions(), counts.table.indices.astype(np.int64), counts.sizes

    def classes_in(self, entry: Entry, names: Sequence[str]) -> Hashes:
        """The class that each class of the atoms is in a release, by these of its columns."""
        of_names = {q: self.values[q] for q in map(self.columns.index, names)}
        if not self.grouped:
            of_names = {q: entry.grouped(self.columns[q], values) for q, values in of_names.items()}
        return class_hashes(self.counts, of_names)


def places_in(entry: Entry, regions: Hashes) -> NDArray[np.int32]:
    """The aggregated region of each of these initial regions in a release; -1 for regions that it does not know."""
    known, order = entry.known_regions
    found = np.full(regions.size, NOT_RELEASED, np.int32)
    at, spot = matches(known, regions)
    found[at] = entry.membership[order[spot]]
    return found


def partition_of(entry: Entry, key: bytes, ids: Sequence[str]) -> NDArray[np.int32]:
    """The aggregated region of each of these initial regions; those that the release does not know are one more."""
    place = places_in(entry, region_hashes(key, ids))
    return np.where(place < 0, entry.aggregated_regions, place).astype(np.int32)


@dataclass(frozen=True, eq=False)
class OpenLevel:
    """The cell of one tier that each atom is in, and up to which number its open records may be anything."""

    node: Ints
    room: Ints


@dataclass(frozen=True, eq=False)
class Fates:
    """The fates of all atoms in one release.

    ``cell`` numbers the cell of tier 0 that each atom belongs to, be it released or not. ``tier`` is the tier in which
    it is released (`OPEN`: in none), ``where`` the number of its cell there. ``levels`` has a level for each tier.
    """

    k: int
    where: Ints
    cell: Ints
    tier: NDArray[np.integer]
    levels: tuple[OpenLevel, ...]

    @cached_property
    def fate(self) -> Ints:
        """The number of the cell that each atom is released in (`NOT_RELEASED`: none)."""
        return np.where(self.tier == OPEN, NOT_RELEASED, self.where)

    def same_in_own_regions(self, other: Fates) -> bool:
        """Whether both releases have the same cells of tier 0, of which they release the same ones there."""
        if self.k != other.k or not np.array_equal(self.tier == 0, other.tier == 0):
            return False
        mine, theirs = np.unique(self.cell), np.unique(other.cell)
        pairs = np.unique(np.searchsorted(mine, self.cell) * theirs.size + np.searchsorted(theirs, other.cell))
        return mine.size == theirs.size == pairs.size


class Released(NamedTuple):
    """The numbers of cells of aggregated regions that a release lists, and the tier in which it lists each."""

    cells: Ints
    tier: NDArray[np.uint8]


def fates_in(entry: Entry, atoms: Atoms, place: NDArray[np.int32], released: Released | None = None) -> Fates:
    """What becomes of every atom in a release; ``released`` are its cells, if they are known (`released_cells`)."""
    cell, kinds = _cells(entry, atoms, place)
    if released is None:
        released = released_cells(entry, atoms, place)
    if entry.parents or released is None:
        return _in_tiers(entry, cell, kinds.size, atoms.records, released)
    tier = np.where(np.isin(cell, released.cells), 0, OPEN).astype(np.uint8)
    rooms = np.broadcast_to(np.int64(entry.k - 1), cell.shape)
    return Fates(entry.k, cell, cell, tier, (OpenLevel(cell, rooms),))


def _cells(entry: Entry, atoms: Atoms, place: NDArray[np.int32]) -> tuple[Ints, Hashes]:
    """The number of each atom's cell in a release (-1: none), and all classes of a place in the order of numbers.

    Atoms that are merged, or a part of others, have the same numbers as these.
    """
    table = atoms.counts.table
    kinds, kind = np.unique(atoms.classes_in(entry, entry.quasi_identifiers), return_inverse=True)
    start = np.repeat(place.astype(np.int64) * kinds.size, np.diff(table.indptr))
    return np.where(start >= 0, start + kind[table.indices], NOT_RELEASED), kinds


def released_cells(
    entry: Entry, atoms: Atoms, place: NDArray[np.int32], listed: Listed | None = None
) -> Released | None:
    """What a release lists; None if it has tiers and the rule says it.

    If all quasi-identifiers are released, its own cells say which classes are; else they are counted again, unless
    what it ``listed`` was found out.
    """
    if listed is None and entry.parents:
        return None
    cell, kinds = _cells(entry, atoms, place)
    if listed is not None:
        cells, there = _numbers(kinds, listed.place, listed.classes)
        return Released(cells, listed.tier[there])
    if entry.visible == entry.quasi_identifiers:
        cells, _ = _numbers(kinds, entry.cells.place, entry.cells.classes)
    else:
        known = cell >= 0
        used, member = np.unique(cell[known], return_inverse=True)
        cells = used[np.bincount(member.ravel(), atoms.records[known], minlength=used.size) >= entry.k]
    return Released(cells, np.zeros(cells.size, np.uint8))


def _numbers(kinds: Hashes, where: NDArray[np.integer], classes: Hashes) -> tuple[Ints, Ints]:
    """The numbers of cells that are known by place and class, and of which there is one."""
    there, kind = matches(kinds, classes)
    return where[there].astype(np.int64) * kinds.size + kind, there


def _in_tiers(entry: Entry, cell: Ints, width: int, counts: Ints, released: Released | None) -> Fates:
    """The fates in a release in tiers, by what was ``released`` if that is known, else by the rule."""
    known = np.flatnonzero(cell >= 0)
    used, member = np.unique(cell[known], return_inverse=True)
    own = member.ravel()
    given = None if released is None else _tier_of(released, used)
    total = np.bincount(own, counts[known], minlength=used.size).astype(np.int64)
    fate, tier = np.full(cell.size, NOT_RELEASED), np.full(cell.size, OPEN, np.uint8)
    found, start = [], 0
    left = np.ones(used.size, np.bool_)
    refuse = None if given is None else _refuse_unlisted(given, left)
    decisions = decide_in_tiers(used // width, used % width, total, entry.tiers, entry.k, refuse)
    for number, decision in enumerate(decisions):
        left &= ~decision.released[decision.sum_of]
        node = decision.sum_of[own]
        here = decision.released[node] & (tier[known] == OPEN)
        if given is not None:
            here &= given[own] == number
        fate[known[here]] = ((start + decision.area) * width + decision.column)[node[here]]
        tier[known[here]] = number
        nodes, rooms = np.full(cell.size, NOT_RELEASED), np.zeros(cell.size, np.int64)
        nodes[known], rooms[known] = node, decision.bound[node]
        found.append(OpenLevel(nodes, rooms))
        start += entry.places[number]
    return Fates(entry.k, fate, cell, tier, tuple(found))


def _tier_of(released: Released, cells: Ints) -> NDArray[np.uint8]:
    """The tier in which each of these cells of aggregated regions is listed."""
    order = np.argsort(released.cells)
    found = np.full(cells.size, OPEN, np.uint8)
    there, spot = matches(released.cells[order], cells)
    found[there] = released.tier[order[spot]]
    return found


def _refuse_unlisted(given: NDArray[np.uint8], left: NDArray[np.bool_]) -> Refuse:
    """Refuse in every tier what is not listed there, whatever its size; ``left`` are cells that no tier released yet.

    What is listed nowhere may have k records or more. It counts as having fewer, which leaves it less room.
    """

    def refuse(tier: int, column: Ints, area: Ints, sum_of: Ints) -> NDArray[np.bool_]:
        unlisted = np.ones(column.size, np.bool_)
        unlisted[sum_of[left & (given == tier)]] = False
        return unlisted

    return refuse


def releases_what_it_lists(entry: Entry, atoms: Atoms, fates: Fates) -> bool:
    """Whether the record file gives just the records that were released; by cell, if all quasi-identifiers were."""
    counts = atoms.records
    there = fates.tier != OPEN
    if int(counts[there].sum()) != entry.records:
        return False
    if not entry.parents or entry.visible != entry.quasi_identifiers:
        return True
    classes = atoms.classes_in(entry, entry.quasi_identifiers)
    width = np.unique(classes).size
    keys = cell_keys(fates.fate[there] // width, classes[atoms.counts.table.indices[there]])
    found, member = np.unique(keys, return_inverse=True)
    own, order = entry.cell_keys
    sizes = np.bincount(member.ravel(), counts[there], minlength=found.size)
    return np.array_equal(found, own) and np.array_equal(sizes, entry.cells.counts[order])


@dataclass(frozen=True)
class Exposure:
    """How many people are in groups of fewer than k, in how many groups; and how many cells are shown not to be empty.

    ``shown`` counts groups of records that prove of cells which a release lacks that somebody is in them.
    """

    people: int = 0
    groups: int = 0
    shown: int = 0


def exposed_together(new: Fates, earlier: Sequence[Fates], counts: Ints, k: int) -> Exposure:
    """Whom the new release exposes beside the earlier ones, beyond those whom these expose already."""
    seen_before = np.any([each.tier != OPEN for each in earlier], axis=0)
    seen = seen_before | (new.tier != OPEN)
    before, _ = number_combinations([each.fate for each in earlier])
    after, first = number_combinations([before, new.fate])
    size = np.bincount(after, counts)
    size_before = np.bincount(before, counts)[before[first]]
    found = (size < k) & seen[first] & ((size_before >= k) | ~seen_before[first])
    return Exposure(int(size[found].sum()), int(np.count_nonzero(found)))

"""Several releases of the same records: which people they tell apart together.

The *fate* of a record in a release is the cell (place and class) that it is released in, or none; in tiers the place
may be a larger one than its aggregated region. The
recipient of several releases may be able to tell which of their rows are the same person, by the other columns. Then
people are told apart as far as their fates differ, and no further. So releases are safe together if every group of
records with the same fate in all of them has at least k, and if no cell that a release lacks is shown to hold somebody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.grouping import aggregate
from vbas_desktop.algorithms.key_groups import group_keys
from vbas_desktop.audit.tier_recount import levels
from vbas_desktop.domain.records import EquivalenceCounts
from vbas_desktop.engine.place_parts import codes_of

from .entry import Entry, cell_keys
from .kernels import add_mixed, cells_of, flagged, mark, settle
from .keyed import Hashes, region_hashes

Ints = NDArray[np.int64]
NOT_RELEASED = -1
OPEN = 255
"""The tier of what is released in none."""

_FLAGS = 1 << 26
_SPREAD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class Atoms:
    """The records by initial region and by class of all quasi-identifiers of all releases that are compared.

    ``values`` has the hashes of the categories of each of ``columns``, in the order of their codes. ``grouped``: they
    are groups already, the same in all releases.
    """

    regions: Hashes
    columns: tuple[str, ...]
    values: tuple[Hashes, ...]
    counts: EquivalenceCounts
    grouped: bool = False

    def merged(self, places: Sequence[NDArray[np.int32]]) -> tuple[Atoms, list[NDArray[np.int32]]]:
        """Initial regions that no release tells apart taken together: fewer atoms, the same fates."""
        together = np.zeros(self.regions.size, np.int64)
        for place in places:
            together = np.unique(together * (int(place.max(initial=0)) + 2) + place + 1, return_inverse=True)[1].ravel()
        number = int(together.max(initial=-1)) + 1
        if number == self.regions.size:
            return self, list(places)
        first = np.zeros(number, np.int64)
        first[together[::-1]] = np.arange(together.size)[::-1]
        counts = aggregate(self.counts, together.astype(np.int32), number)
        merged = Atoms(self.regions[first], self.columns, self.values, counts, self.grouped)
        return merged, [place[first] for place in places]

    @property
    def records(self) -> Ints:
        """The records of every atom."""
        return self.counts.rows[2]

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Ints]:
        """Region, class and records of every atom."""
        indptr, columns, values = self.counts.rows
        return np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), columns.astype(np.int64), values

    def classes_in(self, entry: Entry, names: Sequence[str]) -> Hashes:
        """The class that each class of the atoms is in a release, by these of its columns."""
        total = np.zeros(self.counts.classes.size, np.uint64)
        for name in names:
            q = self.columns.index(name)
            values = self.values[q] if self.grouped else entry.grouped(name, self.values[q])
            total += values[codes_of(self.counts, q)]
        return total


def places_in(entry: Entry, regions: Hashes) -> NDArray[np.int32]:
    """The aggregated region of each of these initial regions in a release; -1 for regions that it does not know."""
    order = np.argsort(entry.regions)
    known = entry.regions[order]
    if not known.size:
        return np.full(regions.size, NOT_RELEASED, np.int32)
    spot = np.minimum(np.searchsorted(known, regions), known.size - 1)
    return np.where(known[spot] == regions, entry.membership[order[spot]], NOT_RELEASED).astype(np.int32)


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
    """The fates of all atoms in one release: the number of a cell (`NOT_RELEASED`: none).

    ``cell`` numbers the cell of tier 0 that each atom belongs to, be it released or not. ``tier`` is the tier in which
    it is released (`OPEN`: in none). ``levels`` has a level for each tier.
    """

    k: int
    fate: Ints
    cell: Ints
    tier: NDArray[np.integer]
    levels: tuple[OpenLevel, ...]

    def same_in_own_regions(self, other: Fates) -> bool:
        """Whether both releases have the same cells of tier 0, of which they release the same ones there."""
        if self.k != other.k or not np.array_equal(self.tier == 0, other.tier == 0):
            return False
        mine, theirs = np.unique(self.cell), np.unique(other.cell)
        pairs = np.unique(np.searchsorted(mine, self.cell) * theirs.size + np.searchsorted(theirs, other.cell))
        return mine.size == theirs.size == pairs.size

    def add_to(self, total: Hashes, seen: NDArray[np.bool_], number: int) -> None:
        """Add a hash of each fate to those of other releases, which have other numbers, and note which are released."""
        # A factor of its own for every release: the same fate in another one must not stand for the same.
        add_mixed(self.fate, np.uint64(pow(_SPREAD, 2 * number + 3, 1 << 64)), total, seen)


def fates_in(entry: Entry, atoms: Atoms, place: NDArray[np.int32], listed: Hashes | None = None) -> Fates:
    """What becomes of every atom in a release.

    If all quasi-identifiers are released, its own cells say which classes are; else they are counted again, unless the
    keys of the cells that it ``listed`` were found out. In tiers the rule says it.
    """
    indptr, columns, counts = atoms.counts.rows
    numbers = np.unique(atoms.classes_in(entry, entry.quasi_identifiers), return_inverse=True)
    width = numbers[0].size
    cell = np.empty(counts.size, np.int64)
    cells_of(indptr, columns, place, numbers[1].ravel(), width, cell)
    if entry.parents:
        return _in_tiers(entry, cell, width, counts)
    # Cells are looked up in a table of flags while that is small: sorting all atoms takes longer than reading them.
    size = (int(place.max(initial=-1)) + 1) * width
    flags = np.zeros(size, np.bool_) if size <= _FLAGS else None
    if listed is not None or entry.visible == entry.quasi_identifiers:
        used = np.unique(cell[cell >= 0]) if flags is None else _marked(cell, flags)
        keys = entry.cell_keys[0] if listed is None else listed
        wanted = cell_keys(used // width, numbers[0][used % width])
        spot = np.minimum(np.searchsorted(keys, wanted), max(0, keys.size - 1))
        there = used[keys[spot] == wanted] if keys.size else used[:0]
    else:
        known = cell >= 0
        used, member = np.unique(cell[known], return_inverse=True)
        there = used[np.bincount(member.ravel(), counts[known], minlength=used.size) >= entry.k]
    released = np.zeros(cell.size, np.bool_)
    if flags is not None:
        flags[:] = False
        flags[there] = True
        flagged(cell, flags, released)
    elif there.size:
        spot = np.minimum(np.searchsorted(there, cell), there.size - 1)
        released = there[spot] == cell
    fate, tier, rooms = np.empty_like(cell), np.empty(cell.size, np.uint8), np.empty_like(cell)
    settle(cell, released, entry.k - 1, OPEN, fate, tier, rooms)
    return Fates(entry.k, fate, cell, tier, (OpenLevel(cell, rooms),))


def _in_tiers(entry: Entry, cell: Ints, width: int, counts: Ints) -> Fates:
    """The fates in a release in tiers, by the rule."""
    known = np.flatnonzero(cell >= 0)
    used, member = np.unique(cell[known], return_inverse=True)
    node = member.ravel()
    total = np.bincount(node, counts[known], minlength=used.size).astype(np.int64)
    fate, tier = np.full(cell.size, NOT_RELEASED), np.full(cell.size, OPEN, np.uint8)
    found, start = [], 0
    parents = [parent.astype(np.int64) for parent in entry.parents]
    for number, level in enumerate(levels(used // width, used % width, total, parents, entry.k)):
        node = level.below[node] if number else node
        here = level.released[node] & (tier[known] == OPEN)
        fate[known[here]] = ((start + level.place) * width + level.kind)[node[here]]
        tier[known[here]] = number
        nodes, rooms = np.full(cell.size, NOT_RELEASED), np.zeros(cell.size, np.int64)
        nodes[known], rooms[known] = node, level.room[node]
        found.append(OpenLevel(nodes, rooms))
        start += entry.places[number]
    return Fates(entry.k, fate, cell, tier, tuple(found))


def releases_what_it_lists(entry: Entry, atoms: Atoms, fates: Fates) -> bool:
    """Whether the record file gives just the records that were released; by cell, if all quasi-identifiers were."""
    counts = atoms.records
    there = fates.fate >= 0
    if int(counts[there].sum()) != entry.records:
        return False
    if not entry.parents or entry.visible != entry.quasi_identifiers:
        return True
    classes = atoms.classes_in(entry, entry.quasi_identifiers)
    width = np.unique(classes).size
    keys = cell_keys(fates.fate[there] // width, classes[atoms.counts.rows[1][there]])
    found, member = np.unique(keys, return_inverse=True)
    own, order = entry.cell_keys
    sizes = np.bincount(member.ravel(), counts[there], minlength=found.size)
    return np.array_equal(found, own) and np.array_equal(sizes, entry.cells.counts[order])


def _marked(cells: Ints, flags: NDArray[np.bool_]) -> Ints:
    """The different cells among many, ascending; ``flags`` has one for each, and is changed."""
    mark(cells, flags)
    return np.flatnonzero(flags)


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
    before, seen_before = np.zeros(counts.size, np.uint64), np.zeros(counts.size, np.bool_)
    for number, each in enumerate(earlier, start=1):
        each.add_to(before, seen_before, number)
    after, seen = before.copy(), seen_before.copy()
    new.add_to(after, seen, 0)
    _, first, size = group_keys(after, counts)
    whole, _, whole_size = group_keys(before[first], size)
    found = (size < k) & seen[first] & ((whole_size[whole] >= k) | ~seen_before[first])
    return Exposure(int(size[found].sum()), int(np.count_nonzero(found)))

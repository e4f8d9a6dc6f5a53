"""Whether several releases show of a place and values which one of them does not list that somebody is there.

What a release does not list of a class is *open*: a recipient knows no more than that each place has any number of
its records up to its *room* (docs/tiers.md; k − 1 in an aggregated region). Another release may show that some of them
are there. Nothing is proved if all that is seen fits into the rooms in any case, even if any one place is empty.

Two at a time is not enough. A release may show five people in an area of which a second one lacks all parts and a
third one lacks all parts, too, but cut otherwise. Each pair leaves room for any part to be empty; all three may not.

*Seen* are the records that some release lists. They form groups with the same fate in all releases. Within a group they
can be moved about among the cells that the group is in without changing anything that is released, as long as no cell
that a release lacks gets k or more. Nothing is proved if every such cell can be emptied in this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_combinations

from .fates import NOT_RELEASED, Fates
from .numbering import Ints

MOST_TRIED = 20_000
"""Of so many cells it is tried one by one whether they can be emptied; of more it is not believed."""


def shown_cells(one: Fates, other: Fates, counts: Ints) -> int:
    """How many groups of records must be in cells that ``other`` does not list, with no room to spare.

    A group are the records with the same fate in both. Those that ``one`` lists in their own regions can be moved about
    among the places of ``other`` that they are in. A place that several groups are in is divided evenly among them, and
    places without records are left out: both is less room than there is. Groups that are open in both releases would
    have to fit into the rooms of both at once, and are never taken to.
    """
    lost = np.flatnonzero(_is_open(other) & ((one.fate != NOT_RELEASED) | (other.fate != NOT_RELEASED)))
    if not lost.size:
        return 0
    group, _ = number_combinations([one.fate[lost], other.fate[lost]], sort=True)
    size = np.bincount(group, counts[lost])
    tight = size > _certain_room(other, lost, group, size.size)
    tight[group[_is_open(one)[lost]]] = True
    return int(np.count_nonzero(tight))


def _certain_room(fates: Fates, lost: Ints, group: Ints, groups: int) -> NDArray[np.float64]:
    """How many records of each group fit into the open places, even if the largest part of them is empty."""
    tier = fates.tier[lost]
    total, largest = np.zeros(groups), np.zeros(groups)
    at, room = np.arange(lost.size), np.zeros(lost.size)
    for number, level in enumerate(fates.levels):
        node = level.node[lost]
        # Below the place that lists them, the parts may be filled as their rooms allow.
        listed = tier[at] == number
        np.add.at(total, group[at[listed]], room[listed])
        np.maximum.at(largest, group[at[listed]], room[listed])
        at, room = at[~listed], room[~listed]
        pair, first = number_combinations([group[at], node[at]], sort=True)
        _, users = np.unique(node[at[first]], return_inverse=True)
        share = level.room[lost[at[first]]] // np.bincount(users.ravel())[users.ravel()]
        inside = np.bincount(pair, room, minlength=first.size)
        if number == len(fates.levels) - 1:
            np.maximum.at(largest, group[at], room if number else share[pair])
        room = np.minimum(share, inside) if number else share
        at = at[first]
    np.add.at(total, group[at], room)
    return total - largest


def shown_jointly(releases: Sequence[Fates], counts: Ints) -> NDArray[np.bool_]:
    """The atoms in cells that all releases together show not to be empty, as far as the opposite cannot be proved."""
    shown = np.zeros(counts.size, np.bool_)
    plain = [each for each in releases if len(each.levels) == 1]
    for each in releases:
        if len(each.levels) > 1:
            shown |= _shown_in_tiers(each, [other for other in releases if other is not each], counts)
    seen = np.zeros(counts.size, np.bool_)
    lacking = np.zeros(counts.size, np.bool_)
    for each in releases:
        seen |= each.fate != NOT_RELEASED
    for each in plain:
        lacking |= _is_open(each)
    at = np.flatnonzero(seen & lacking & (counts > 0))
    if at.size:
        group, _ = number_combinations([each.fate[at] for each in releases], sort=True)
        cells = [np.where(_is_open(each)[at], each.cell[at], NOT_RELEASED) for each in plain]
        part, first = number_combinations([group, *cells], sort=True)
        number = np.bincount(part, counts[at]).astype(np.int64)
        lists = [_Lacking.of(cell[first], each.k - 1, number) for cell, each in zip(cells, plain, strict=True)]
        shown[at] |= _Parts(group[first], number, tuple(lists)).shown()[part]
    return shown


def _is_open(release: Fates) -> NDArray[np.bool_]:
    """The atoms that a release knows and does not list in their own regions."""
    return (release.tier != 0) & (release.cell != NOT_RELEASED)


def _shown_in_tiers(release: Fates, others: Sequence[Fates], counts: Ints) -> NDArray[np.bool_]:
    """A release in tiers beside all others as if these were one; what is open in several counts as shown."""
    fate, _ = number_combinations([each.fate for each in others], sort=True)
    none = np.all([each.fate == NOT_RELEASED for each in others], axis=0)
    unlisted = np.any([_is_open(each) for each in others], axis=0)
    one = Fates(
        release.k,
        np.where(none, NOT_RELEASED, fate),
        np.zeros(counts.size, np.int64),
        np.where(unlisted, 1, 0),
        others[0].levels[:1],
    )
    if not shown_cells(one, release, counts):
        return np.zeros(counts.size, np.bool_)
    return _is_open(release) & (~none | (release.fate != NOT_RELEASED))


@dataclass(frozen=True, eq=False)
class _Lacking:
    """The cells that one release lacks: the number of each part's cell (`NOT_RELEASED`: it lists the part), the room of
    every such cell, and the seen records that it has.
    """

    cell: Ints
    room: int
    filled: Ints

    @classmethod
    def of(cls, cell: Ints, room: int, number: Ints) -> _Lacking:
        """With cells numbered from 0."""
        found, lacking = np.full(cell.size, NOT_RELEASED, np.int64), cell >= 0
        found[lacking] = np.unique(cell[lacking], return_inverse=True)[1].ravel()
        return cls(found, room, np.bincount(found[lacking], number[lacking]).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Parts:
    """Seen records that have the same group and, in every release, the same cell."""

    group: Ints
    number: Ints
    lacking: tuple[_Lacking, ...]

    def shown(self) -> NDArray[np.bool_]:
        """The parts of cells that may not be empty."""
        tight, shown, tried = self._tight()[self.group], np.zeros(self.group.size, np.bool_), 0
        for release in self.lacking if tight.any() else ():
            members = _members(release.cell)
            for cell in np.unique(release.cell[tight & (release.cell >= 0)]).tolist():
                tried += 1
                inside = members[cell]
                if tried > MOST_TRIED or not self._can_be_emptied(inside):
                    shown[inside] = True
        return shown

    def _tight(self) -> NDArray[np.bool_]:
        """Groups of which it is not certain at a glance: if the room of every cell is divided evenly among its parts,
        a group must fit into its parts even without those of its largest cell.
        """
        share = np.full(self.group.size, np.iinfo(np.int64).max)
        for release in self.lacking:
            at = np.flatnonzero(release.cell >= 0)
            users = np.bincount(release.cell[at])
            share[at] = np.minimum(share[at], release.room // users[release.cell[at]])
        groups = int(self.group.max()) + 1
        size, total = (np.bincount(self.group, each, groups) for each in (self.number, share))
        largest = np.zeros(groups)
        for release in self.lacking:
            at = np.flatnonzero(release.cell >= 0)
            pair, first = number_combinations([self.group[at], release.cell[at]], sort=True)
            np.maximum.at(largest, self.group[at][first], np.bincount(pair, share[at]))
        return size > total - largest

    @cached_property
    def _by_group(self) -> list[Ints]:
        return _members(self.group)

    def _can_be_emptied(self, inside: Ints) -> bool:
        """Whether all who are inside find room in other parts of their groups."""
        used: dict[tuple[int, int], int] = {}
        homeless: dict[int, int] = {}
        within = set(inside.tolist())
        for part in within:
            group, number = int(self.group[part]), int(self.number[part])
            homeless[group] = homeless.get(group, 0) + number
            for cell in self._cells(part):
                used[cell] = used.get(cell, 0) - number
        for group, number in homeless.items():
            for part in self._by_group[group].tolist():
                if not number:
                    break
                if part not in within:
                    cells = self._cells(part)
                    taken = max(0, min(number, *(self._left(cell) - used.get(cell, 0) for cell in cells)))
                    number -= taken
                    for cell in cells:
                        used[cell] = used.get(cell, 0) + taken
            if number:
                return False
        return True

    def _cells(self, part: int) -> list[tuple[int, int]]:
        """The cells that a part is in, of the releases that lack them."""
        found = ((number, int(release.cell[part])) for number, release in enumerate(self.lacking))
        return [(number, cell) for number, cell in found if cell >= 0]

    def _left(self, cell: tuple[int, int]) -> int:
        release = self.lacking[cell[0]]
        return release.room - int(release.filled[cell[1]])


def _members(number: Ints) -> list[Ints]:
    """Where each number from 0 on stands."""
    order = np.argsort(number, kind="stable")
    order = order[np.searchsorted(number[order], 0) :]
    return np.split(order, np.cumsum(np.bincount(number[order]))[:-1]) if order.size else []

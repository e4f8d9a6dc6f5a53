"""Find classes that several releases show to be occupied although one of the releases does not list them.

Of a class that a release does not list, a recipient knows only that it has any number of records up to its *bound*
(the *room* of docs/tiers.md; k − 1 in an aggregated region). Another release may show that some of them are there.
Nothing is proved if all that is shown fits within the bounds in any case, even if any one of the classes is empty.

Two at a time is not enough. A release may show five people in an area of which a second one lacks all parts and a
third one lacks all parts, too, but cut otherwise. Each pair lets any part be empty; all three may not.

*Seen* are the records that some release lists. They form groups with the same outcome in all releases. Within a group
they can be moved among the classes that the group is in without changing anything that is released, as long as no
class that a release lacks gets k or more. Nothing is proved if every such class can be emptied in this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_combinations, number_values

from .cross_release_groups import NO_CLASS, ReleaseOutcome
from .entry import Ints

MAX_CLASSES_TRIED = 20_000
"""For so many classes it is tried one by one whether they can be emptied; of more it is assumed that they cannot."""


def count_revealed_groups(one: ReleaseOutcome, other: ReleaseOutcome, sizes: Ints) -> int:
    """Count the groups of records that must be in classes which ``other`` does not list.

    A group are the records with the same outcome in both releases. Those that ``one`` lists in their own regions can
    be moved among the classes of ``other`` that they are in. A class that several groups are in is divided evenly
    among them, and classes without records are left out: both understates what fits. Groups that are unlisted in both
    releases would have to fit both releases at once, and are always counted.

    sizes: number of records of each cell.
    """
    unlisted = np.flatnonzero(other.is_unlisted & (one.is_released | other.is_released))
    if not unlisted.size:
        return 0
    outcomes = [one.released_class[unlisted], other.released_class[unlisted]]
    group, _ = number_combinations(outcomes, sort=True)
    group_sizes = np.bincount(group, sizes[unlisted])
    is_revealed = group_sizes > _sum_certain_bounds(other, unlisted, group, group_sizes.size)
    is_revealed[group[one.is_unlisted[unlisted]]] = True
    return int(np.count_nonzero(is_revealed))


def _sum_certain_bounds(
    outcome: ReleaseOutcome, unlisted: Ints, group: Ints, n_groups: int
) -> NDArray[np.float64]:
    """Sum how many records of each group fit into its unlisted classes, even if the largest of these is empty.

    unlisted: cells; group: group of each of them.
    """
    tier = outcome.tier[unlisted]
    total = np.zeros(n_groups)
    largest = np.zeros(n_groups)
    cells = np.arange(unlisted.size)
    bounds = np.zeros(unlisted.size)
    for number, tier_classes in enumerate(outcome.tiers):
        classes = tier_classes.numbers[unlisted]
        # Below the region that lists them, the parts may be filled as far as their bounds allow.
        is_listed = tier[cells] == number
        np.add.at(total, group[cells[is_listed]], bounds[is_listed])
        np.maximum.at(largest, group[cells[is_listed]], bounds[is_listed])
        cells = cells[~is_listed]
        bounds = bounds[~is_listed]
        part, first = number_combinations([group[cells], classes[cells]], sort=True)
        class_of_part, first_part = number_values(classes[cells[first]])
        groups_in_class = np.bincount(class_of_part, minlength=first_part.size)
        share = tier_classes.bounds[unlisted[cells[first]]] // groups_in_class[class_of_part]
        if number == len(outcome.tiers) - 1:
            np.maximum.at(largest, group[cells], bounds if number else share[part])
        parts_below = np.bincount(part, bounds, minlength=first.size)
        bounds = np.minimum(share, parts_below) if number else share
        cells = cells[first]
    np.add.at(total, group[cells], bounds)
    return total - largest


def find_occupied_cells(releases: Sequence[ReleaseOutcome], sizes: Ints) -> NDArray[np.bool_]:
    """Find the cells in classes that all releases together show to be occupied.

    A class that one of the releases lacks counts as occupied unless the opposite can be proved.
    """
    occupied = np.zeros(sizes.size, np.bool_)
    for release in releases:
        if len(release.tiers) > 1:
            others = [other for other in releases if other is not release]
            occupied |= _find_occupied_in_tiers(release, others, sizes)
    without_tiers = [release for release in releases if len(release.tiers) == 1]
    is_seen = np.any([release.is_released for release in releases], axis=0)
    is_unlisted = np.zeros(sizes.size, np.bool_)
    for release in without_tiers:
        is_unlisted |= release.is_unlisted
    cells = np.flatnonzero(is_seen & is_unlisted & (sizes > 0))
    if not cells.size:
        return occupied
    group, _ = number_combinations([release.released_class[cells] for release in releases], sort=True)
    unlisted_classes = [
        np.where(release.is_unlisted[cells], release.own_class[cells], NO_CLASS)
        for release in without_tiers
    ]
    part, first = number_combinations([group, *unlisted_classes], sort=True)
    part_sizes = np.bincount(part, sizes[cells]).astype(np.int64)
    unlisted = [
        _UnlistedClasses.of_parts(classes[first], release.k - 1, part_sizes)
        for classes, release in zip(unlisted_classes, without_tiers, strict=True)
    ]
    parts = _SeenParts(group[first], part_sizes, tuple(unlisted))
    occupied[cells] |= parts.find_occupied()[part]
    return occupied


def _find_occupied_in_tiers(
    release: ReleaseOutcome, others: Sequence[ReleaseOutcome], sizes: Ints
) -> NDArray[np.bool_]:
    """Find the cells whose occupied class follows from a release in tiers and all others taken as one release.

    A class that several releases do not list counts as occupied.
    """
    joint_class, _ = number_combinations([other.released_class for other in others], sort=True)
    is_seen = np.any([other.is_released for other in others], axis=0)
    is_unlisted = np.any([other.is_unlisted for other in others], axis=0)
    joint = ReleaseOutcome(
        k=release.k,
        released_class=np.where(is_seen, joint_class, NO_CLASS),
        own_class=np.zeros(sizes.size, np.int64),
        tier=np.where(is_unlisted, 1, 0),
        tiers=(),
    )
    if not count_revealed_groups(joint, release, sizes):
        return np.zeros(sizes.size, np.bool_)
    return release.is_unlisted & (is_seen | release.is_released)


@dataclass(frozen=True, eq=False)
class _UnlistedClasses:
    """The classes that one release lacks.

    classes: class of each part, numbered from 0; `NO_CLASS` if the release lists the part.
    bound: largest number of records of each class.
    seen: number of seen records of each class.
    """

    classes: Ints
    bound: int
    seen: Ints

    @classmethod
    def of_parts(cls, classes: Ints, bound: int, part_sizes: Ints) -> _UnlistedClasses:
        """Number the classes from 0, and count the seen records of each."""
        numbers = np.full(classes.size, NO_CLASS, np.int64)
        is_unlisted = classes >= 0
        _, codes = np.unique(classes[is_unlisted], return_inverse=True)
        numbers[is_unlisted] = codes
        return cls(numbers, bound, np.bincount(codes, part_sizes[is_unlisted]).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _SeenParts:
    """Seen records divided into parts: those of a part are in the same group and in the same unlisted classes.

    group, sizes: group and number of records of each part.
    releases: the classes that each release lacks.
    """

    group: Ints
    sizes: Ints
    releases: tuple[_UnlistedClasses, ...]

    def find_occupied(self) -> NDArray[np.bool_]:
        """Find the parts in classes that may not be empty."""
        is_tight = self._find_tight_groups()[self.group]
        occupied = np.zeros(self.group.size, np.bool_)
        n_tried = 0
        for release in self.releases if is_tight.any() else ():
            members = _list_members(release.classes)
            for number in np.unique(release.classes[is_tight & (release.classes >= 0)]).tolist():
                n_tried += 1
                if n_tried > MAX_CLASSES_TRIED or not self._can_be_emptied(members[number]):
                    occupied[members[number]] = True
        return occupied

    def _find_tight_groups(self) -> NDArray[np.bool_]:
        """Find the groups of which a simple bound does not prove that any of their classes can be empty.

        If the bound of every class is divided evenly among its parts, a group must fit into its parts even without
        those of its largest class.
        """
        share = np.full(self.group.size, np.iinfo(np.int64).max)
        for release in self.releases:
            unlisted = np.flatnonzero(release.classes >= 0)
            parts_in_class = np.bincount(release.classes[unlisted])
            share[unlisted] = np.minimum(
                share[unlisted], release.bound // parts_in_class[release.classes[unlisted]]
            )
        n_groups = int(self.group.max()) + 1
        group_sizes = np.bincount(self.group, self.sizes, n_groups)
        total = np.bincount(self.group, share, n_groups)
        largest = np.zeros(n_groups)
        for release in self.releases:
            unlisted = np.flatnonzero(release.classes >= 0)
            group = self.group[unlisted]
            pair, first = number_combinations([group, release.classes[unlisted]], sort=True)
            np.maximum.at(largest, group[first], np.bincount(pair, share[unlisted]))
        return group_sizes > total - largest

    @cached_property
    def _parts_of_group(self) -> list[Ints]:
        return _list_members(self.group)

    def _can_be_emptied(self, parts: Ints) -> bool:
        """Try to move all records of these parts into other parts of their groups; return True if that succeeds."""
        moved: dict[tuple[int, int], int] = {}
        remaining: dict[int, int] = {}
        emptied = set(parts.tolist())
        for part in emptied:
            group = int(self.group[part])
            size = int(self.sizes[part])
            remaining[group] = remaining.get(group, 0) + size
            for unlisted in self._unlisted_classes(part):
                moved[unlisted] = moved.get(unlisted, 0) - size
        for group, people in remaining.items():
            for part in self._parts_of_group[group].tolist():
                if not people:
                    break
                if part in emptied:
                    continue
                classes = self._unlisted_classes(part)
                free = (self._free_records(unlisted) - moved.get(unlisted, 0) for unlisted in classes)
                added = max(0, min(people, *free))
                people -= added
                for unlisted in classes:
                    moved[unlisted] = moved.get(unlisted, 0) + added
            if people:
                return False
        return True

    def _unlisted_classes(self, part: int) -> list[tuple[int, int]]:
        """List the unlisted classes that a part is in: number of the release, number of the class."""
        numbers = [(number, int(release.classes[part])) for number, release in enumerate(self.releases)]
        return [(number, unlisted) for number, unlisted in numbers if unlisted >= 0]

    def _free_records(self, unlisted: tuple[int, int]) -> int:
        """Count the records that a class may have beyond the seen ones."""
        release = self.releases[unlisted[0]]
        return release.bound - int(release.seen[unlisted[1]])


def _list_members(numbers: Ints) -> list[Ints]:
    """List the positions of each number from 0 on; negative numbers are left out."""
    order = np.argsort(numbers, kind="stable")
    order = order[np.searchsorted(numbers[order], 0) :]
    return np.split(order, np.cumsum(np.bincount(numbers[order]))[:-1]) if order.size else []

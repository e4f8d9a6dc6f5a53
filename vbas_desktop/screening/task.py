"""What is to be planned (`Task`), what comes of it (`Plan`), and whether everybody can be seated where they may go."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_flow

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.records import frozen
from vbas_desktop.model.words import agreeing, counted

from .vectors import AnonymityVector


@dataclass(frozen=True, eq=False)
class GroupLimits:
    """Side constraints on who shares a slot; ``group[i]`` is the group of class i.

    Without a majority: at most ``largest_share`` of a slot's capacity for people of one group (1: no limit), and at
    least ``fewest_groups`` different groups in every slot that is used at all.

    With a ``majority`` (a group): all other groups together are at most ``largest_share`` of the people in a slot, and
    at least ``fewest_groups`` different ones among them wherever there are any (source 004, section 9, E2).
    """

    group: NDArray[np.int64]
    largest_share: float = 1.0
    fewest_groups: int = 1
    majority: int | None = None

    @property
    def active(self) -> bool:
        """Whether anything is limited."""
        return self.largest_share < 1.0 or self.fewest_groups > 1

    @property
    def number_of_groups(self) -> int:
        """Return how many groups are numbered."""
        return max(int(self.group.max(initial=0)), self.majority or 0) + 1

    @property
    def share(self) -> Fraction:
        """Return the share exactly as it is written in decimals: 0.15 is 3/20."""
        return max(Fraction(str(self.largest_share)).limit_denominator(1_000_000), Fraction(1, 1_000_000))

    @property
    def percent(self) -> str:
        """Return the share in words."""
        return f"{100 * self.largest_share:.4g} %"

    def most_others(self, people: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many of so many people in a slot may be of other groups than the majority."""
        share = self.share
        return people.astype(np.int64) * share.numerator // share.denominator

    def fewest_majority(self, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many people of the majority a slot needs beside so many of other groups."""
        share = self.share
        return -(-others * (share.denominator - share.numerator) // share.numerator)

    def others_beside(self, majority: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many people of other groups may sit with so many of the majority, if there are enough seats."""
        share = self.share
        rest = share.denominator - share.numerator
        if not rest:
            return np.full(majority.shape, np.iinfo(np.int64).max)
        return majority.astype(np.int64) * share.numerator // rest


@dataclass(frozen=True, eq=False)
class Task:
    """Classes with their numbers of people, slots with their seats, and which class may use which slot.

    ``allowed`` (classes × slots) is None where every class may use every slot.
    """

    people: NDArray[np.int64]
    seats: NDArray[np.int64]
    class_labels: tuple[tuple[str, ...], ...] = ()
    slot_labels: tuple[tuple[str, ...], ...] = ()
    allowed: NDArray[np.bool_] | None = None
    limits: GroupLimits | None = None

    def __post_init__(self) -> None:
        problems = []
        if (self.people < 0).any():
            problems.append(
                Finding("negative-people", "A class has a negative number of people.", "Correct its count.")
            )
        if (self.seats < 0).any():
            problems.append(Finding("negative-capacity", "A slot has a negative capacity.", "Correct its capacity."))
        if not problems and self.people.sum() > self.seats.sum():
            people, seats = int(self.people.sum()), int(self.seats.sum())
            problems.append(
                Finding(
                    "too-few-seats",
                    f"{counted(people, 'person is', 'people are')} to be invited, "
                    f"but there {agreeing(seats, 'is', 'are')} only {counted(seats, 'seat')}: "
                    f"{counted(people - seats, 'seat is', 'seats are')} missing.",
                    "Add slots or raise capacities.",
                )
            )
        if problems:
            raise InputError(problems)

    @cached_property
    def before(self) -> AnonymityVector:
        """The anonymity vector of the people without appointments."""
        return AnonymityVector.of_sizes(self.people)

    @property
    def has_majority(self) -> bool:
        """Say whether other groups than a majority are limited in each slot."""
        return self.limits is not None and self.limits.active and self.limits.majority is not None

    @property
    def constrained(self) -> bool:
        """Whether side constraints apply."""
        return self.allowed is not None or (self.limits is not None and self.limits.active)


@dataclass(frozen=True, eq=False)
class Plan:
    """How many people of each class go to each slot: the non-zero cells, ordered by class, then slot.

    ``proof`` says what is known: "optimal", "levels 1–6 proved" or "heuristic".
    """

    classes: NDArray[np.int64]
    slots: NDArray[np.int64]
    counts: NDArray[np.int64]
    planner: str
    proof: str = "heuristic"
    seconds: float = 0.0

    @classmethod
    def from_cells(
        cls, classes: NDArray[np.int64], slots: NDArray[np.int64], counts: NDArray[np.int64], planner: str, proof: str
    ) -> Plan:
        """A plan from cells in any order; cells named twice are added up, empty ones left out."""
        width = int(slots.max()) + 1 if slots.size else 1
        keys, inverse = np.unique(classes * width + slots, return_inverse=True)
        totals = np.bincount(inverse, counts, keys.size).astype(np.int64)
        keys, totals = keys[totals > 0], totals[totals > 0]
        return cls(frozen(keys // width), frozen(keys % width), frozen(totals), planner, proof)

    @classmethod
    def from_table(cls, cells: NDArray[np.int64], planner: str, proof: str) -> Plan:
        """Make a plan from rows of class, slot and people in any order."""
        return cls.from_cells(cells[:, 0], cells[:, 1], cells[:, 2], planner, proof)

    @classmethod
    def from_matrix(cls, matrix: NDArray[np.int64], planner: str, proof: str) -> Plan:
        """A plan from a classes × slots matrix."""
        classes, slots = np.nonzero(matrix)
        return cls.from_cells(classes.astype(np.int64), slots.astype(np.int64), matrix[classes, slots], planner, proof)

    def matrix(self, task: Task) -> NDArray[np.int64]:
        """The plan as a classes × slots matrix."""
        full = np.zeros((task.people.size, task.seats.size), np.int64)
        full[self.classes, self.slots] = self.counts
        return full

    @cached_property
    def vector(self) -> AnonymityVector:
        """The anonymity vector with the appointments as part of the quasi-identifier."""
        return AnonymityVector.of_sizes(self.counts)

    def free_seats(self, task: Task) -> NDArray[np.int64]:
        """Seats of each slot that nobody has."""
        return task.seats - np.bincount(self.slots, self.counts, task.seats.size).astype(np.int64)

    def violations(self, task: Task) -> list[str]:
        """What is wrong with the plan, in words; empty for a valid one."""
        placed = np.bincount(self.classes, self.counts, task.people.size)
        wrong = []
        if (placed != task.people).any():
            wrong.append(f"{counted(int((placed != task.people).sum()), 'class')} not placed exactly once")
        if (self.free_seats(task) < 0).any():
            wrong.append(f"{counted(int((self.free_seats(task) < 0).sum()), 'slot')} over capacity")
        if task.allowed is not None and not task.allowed[self.classes, self.slots].all():
            astray = int((~task.allowed[self.classes, self.slots]).sum())
            wrong.append(f"{counted(astray, 'class')} in slots that may not be used")
        if task.limits is not None and task.limits.active:
            wrong += self._group_violations(task, task.limits)
        return wrong

    def people_by_group(self, task: Task, limits: GroupLimits) -> NDArray[np.int64]:
        """Count the people of each group in each slot: groups × slots."""
        people = np.zeros((limits.number_of_groups, task.seats.size), np.int64)
        np.add.at(people, (limits.group[self.classes], self.slots), self.counts)
        return people

    def _group_violations(self, task: Task, limits: GroupLimits) -> list[str]:
        shares = self.people_by_group(task, limits)
        if limits.majority is not None:
            return _majority_violations(shares, limits)
        wrong = []
        over = shares > np.floor(limits.largest_share * task.seats + 1e-9)[None, :]
        if limits.largest_share < 1.0 and over.any():
            wrong.append(f"{counted(int(over.any(axis=0).sum()), 'slot')} with too many people of one group")
        used = shares.sum(axis=0) > 0
        if ((shares > 0).sum(axis=0)[used] < limits.fewest_groups).any():
            wrong.append("some slots hold too few groups")
        return wrong


def _majority_violations(people: NDArray[np.int64], limits: GroupLimits) -> list[str]:
    """Say which limits beside a majority are broken by people of each group in each slot."""
    totals = people.sum(axis=0)
    others = np.delete(people, [limits.majority], axis=0) if limits.majority is not None else people
    wrong = []
    over = others.sum(axis=0) > limits.most_others(totals)
    if over.any():
        wrong.append(f"{counted(int(over.sum()), 'slot')} with too many people of other groups")
    groups = (others > 0).sum(axis=0)
    few = (groups > 0) & (groups < limits.fewest_groups)
    if few.any():
        wrong.append(f"{counted(int(few.sum()), 'slot')} with too few other groups")
    return wrong


def alternatives(task: Task, plan: Plan, class_number: int, slot: int) -> list[tuple[int, AnonymityVector]]:
    """Where one person of a class who cannot attend a slot could go instead: free slots, best vector first.

    The vector depends only on how many of the class sit in the other slot, so few vectors are made for many slots.
    """
    own = plan.classes == class_number
    seated = np.zeros(task.seats.size, np.int64)
    seated[plan.slots[own]] = plan.counts[own]
    if seated[slot] < 1:
        raise InputError(
            Finding("not-there", "Nobody of this class has an appointment in this slot.", "Choose another.")
        )
    free = plan.free_seats(task) > 0
    free[slot] = False
    if task.allowed is not None:
        free &= task.allowed[class_number]
    if task.limits is not None and task.limits.majority is not None:
        free &= _may_join(task, task.limits, plan, class_number)
    vectors = {size: _moved(plan.vector, int(seated[slot]), size) for size in np.unique(seated[free]).tolist()}
    options = [(int(other), vectors[int(seated[other])]) for other in np.flatnonzero(free)]
    return sorted(options, key=lambda option: (option[1], option[0]))


def _may_join(task: Task, limits: GroupLimits, plan: Plan, class_number: int) -> NDArray[np.bool_]:
    """Say which slots keep the limits beside a majority with one more person of a class."""
    people = plan.people_by_group(task, limits)
    people[limits.group[class_number]] += 1
    fits = np.ones(task.seats.size, bool)
    for slot in range(task.seats.size):
        fits[slot] = not _majority_violations(people[:, slot : slot + 1], limits)
    return fits


def _moved(vector: AnonymityVector, left: int, joined: int) -> AnonymityVector:
    """The vector after one person left a cell of ``left`` people for one of ``joined``."""
    counts = [*vector.counts, 0]
    for size, change in ((left, -1), (left - 1, 1), (joined, -1), (joined + 1, 1)):
        if size > 0:
            counts[size - 1] += change
    return AnonymityVector.of_counts(counts)


def complete(task: Task, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """A full plan (classes × slots) from a partial one: those left over are seated, others re-seated as needed.

    Raises `InputError` with the number of people who cannot be seated whatever one does.
    """
    partial = np.zeros((task.people.size, task.seats.size), np.int64)
    np.add.at(partial, (cells[:, 0], cells[:, 1]), cells[:, 2])
    allowed = task.allowed if task.allowed is not None else np.ones(partial.shape, bool)
    for moving in (False, True):
        left_people, left_seats = task.people - partial.sum(axis=1), task.seats - partial.sum(axis=0)
        # First what fits without moving anybody; the full flow would tear well-seated classes apart.
        partial += _flow(left_people, left_seats, allowed, partial if moving else np.zeros_like(partial))
        if (partial.sum(axis=1) == task.people).all():
            return partial
    missing = int((task.people - partial.sum(axis=1)).sum())
    stuck = np.nonzero(partial.sum(axis=1) < task.people)[0]
    raise InputError(
        Finding(
            "allowed-slots",
            f"{counted(missing, 'person')} of {counted(stuck.size, 'class')} "
            f"{agreeing(missing, 'finds', 'find')} no seat in the slots they may use.",
            "Add seats there, or widen the region or distance limit.",
        )
    )


def _flow(
    people: NDArray[np.int64], seats: NDArray[np.int64], allowed: NDArray[np.bool_], movable: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The change of the plan that seats most of ``people``: new seats taken, minus ``movable`` seats given up."""
    classes, slots = allowed.shape
    source, sink = classes + slots, classes + slots + 1
    rows, columns = np.nonzero(allowed)
    back_rows, back_columns = np.nonzero(movable)
    total = int(people.sum()) + int(movable.sum())
    heads = np.concatenate([np.full(classes, source), rows, back_columns + classes, np.arange(slots) + classes])
    tails = np.concatenate([np.arange(classes), columns + classes, back_rows, np.full(slots, sink)])
    limits = np.concatenate([people, np.full(rows.size, total), movable[back_rows, back_columns], seats])
    size = classes + slots + 2
    capacity = csr_array(coo_array((limits.astype(np.int32), (heads, tails)), shape=(size, size)))
    flow = maximum_flow(capacity, source, sink).flow
    change = flow[:classes, classes : classes + slots]
    return np.asarray(change.todense(), np.int64)

"""Appointment task and plan (classes, slots, seats, limits), whether everybody can be seated, and what makes plans."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_flow

from vbas_desktop.approaches.interface import Approach
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.text import format_count, inflect

from .anonymity_vector import AnonymityVector


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
        """True if anything is limited."""
        return self.largest_share < 1.0 or self.fewest_groups > 1

    @property
    def number_of_groups(self) -> int:
        """Number of groups."""
        return max(int(self.group.max(initial=0)), self.majority or 0) + 1

    @property
    def share(self) -> Fraction:
        """Largest share exactly as it is written in decimals: 0.15 is 3/20."""
        return max(
            Fraction(str(self.largest_share)).limit_denominator(1_000_000), Fraction(1, 1_000_000)
        )

    @property
    def percent(self) -> str:
        """Largest share as text, in percent."""
        return f"{100 * self.largest_share:.4g} %"

    def most_others(self, people: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute how many of the ``people`` of each slot may be of other groups than the majority."""
        share = self.share
        return people.astype(np.int64) * share.numerator // share.denominator

    def fewest_majority(self, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute how many people of the majority each slot needs beside its ``others``."""
        share = self.share
        return -(-others * (share.denominator - share.numerator) // share.numerator)

    def others_beside(self, majority: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute how many people of other groups may sit with each ``majority``, if there are enough seats."""
        share = self.share
        rest = share.denominator - share.numerator
        if not rest:
            return np.full(majority.shape, np.iinfo(np.int64).max)
        return majority.astype(np.int64) * share.numerator // rest


@dataclass(frozen=True, eq=False)
class AppointmentTask:
    """People to be seated: classes with their numbers of people, and slots with their seats.

    ``allowed`` (classes × slots) is None where every class may use every slot. Raises `InputError` for negative numbers
    and for fewer seats than people.
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
                Finding(
                    "negative-people", "A class has a negative number of people.", "Correct its count."
                )
            )
        if (self.seats < 0).any():
            problems.append(
                Finding("negative-capacity", "A slot has a negative capacity.", "Correct its capacity.")
            )
        if not problems and self.people.sum() > self.seats.sum():
            people = int(self.people.sum())
            seats = int(self.seats.sum())
            problems.append(
                Finding(
                    "too-few-seats",
                    f"{format_count(people, 'person is', 'people are')} to be invited, "
                    f"but there {inflect(seats, 'is', 'are')} only {format_count(seats, 'seat')}: "
                    f"{format_count(people - seats, 'seat is', 'seats are')} missing.",
                    "Add slots or raise capacities.",
                )
            )
        if problems:
            raise InputError(problems)

    @cached_property
    def before(self) -> AnonymityVector:
        """Anonymity vector of the people without appointments."""
        return AnonymityVector.of_sizes(self.people)

    @property
    def has_majority(self) -> bool:
        """True if other groups than a majority are limited in each slot."""
        return self.limits is not None and self.limits.active and self.limits.majority is not None

    @property
    def constrained(self) -> bool:
        """True if side constraints apply."""
        return self.allowed is not None or (self.limits is not None and self.limits.active)


@dataclass(frozen=True, eq=False)
class AppointmentPlan:
    """Number of people of each class in each slot: the non-zero cells, ordered by class, then slot.

    ``proof`` states what is known: "optimal", "levels 1–6 proved" or "heuristic".
    """

    classes: NDArray[np.int64]
    slots: NDArray[np.int64]
    counts: NDArray[np.int64]
    planner: str
    proof: str = "heuristic"
    seconds: float = 0.0

    @classmethod
    def from_cells(
        cls,
        classes: NDArray[np.int64],
        slots: NDArray[np.int64],
        counts: NDArray[np.int64],
        planner: str,
        proof: str,
    ) -> AppointmentPlan:
        """Build a plan from cells in any order; cells listed twice are added up, empty ones left out."""
        width = int(slots.max()) + 1 if slots.size else 1
        keys, inverse = np.unique(classes * width + slots, return_inverse=True)
        totals = np.bincount(inverse, counts, keys.size).astype(np.int64)
        used = totals > 0
        keys = keys[used]
        return cls(
            as_readonly(keys // width),
            as_readonly(keys % width),
            as_readonly(totals[used]),
            planner,
            proof,
        )

    @classmethod
    def from_table(cls, cells: NDArray[np.int64], planner: str, proof: str) -> AppointmentPlan:
        """Build a plan from rows of class, slot and people in any order."""
        return cls.from_cells(cells[:, 0], cells[:, 1], cells[:, 2], planner, proof)

    @classmethod
    def from_matrix(cls, matrix: NDArray[np.int64], planner: str, proof: str) -> AppointmentPlan:
        """Build a plan from a classes × slots matrix."""
        classes, slots = np.nonzero(matrix)
        return cls.from_cells(
            classes.astype(np.int64), slots.astype(np.int64), matrix[classes, slots], planner, proof
        )

    def matrix(self, task: AppointmentTask) -> NDArray[np.int64]:
        """Return the plan as a classes × slots matrix."""
        full = np.zeros((task.people.size, task.seats.size), np.int64)
        full[self.classes, self.slots] = self.counts
        return full

    @cached_property
    def vector(self) -> AnonymityVector:
        """Anonymity vector with the appointments as part of the quasi-identifier."""
        return AnonymityVector.of_sizes(self.counts)

    def free_seats(self, task: AppointmentTask) -> NDArray[np.int64]:
        """Count the free seats of each slot."""
        return task.seats - np.bincount(self.slots, self.counts, task.seats.size).astype(np.int64)

    def violations(self, task: AppointmentTask) -> list[str]:
        """List the constraints that the plan breaks, as text; empty for a valid plan."""
        seated = np.bincount(self.classes, self.counts, task.people.size)
        broken = []
        if (seated != task.people).any():
            broken.append(
                f"{format_count(int((seated != task.people).sum()), 'class')} not placed exactly once"
            )
        if (self.free_seats(task) < 0).any():
            broken.append(
                f"{format_count(int((self.free_seats(task) < 0).sum()), 'slot')} over capacity"
            )
        if task.allowed is not None and not task.allowed[self.classes, self.slots].all():
            n_cells = int((~task.allowed[self.classes, self.slots]).sum())
            broken.append(f"{format_count(n_cells, 'class')} in slots that may not be used")
        if task.limits is not None and task.limits.active:
            broken += self._group_violations(task, task.limits)
        return broken

    def people_by_group(self, task: AppointmentTask, limits: GroupLimits) -> NDArray[np.int64]:
        """Count the people of each group in each slot: groups × slots."""
        people = np.zeros((limits.number_of_groups, task.seats.size), np.int64)
        np.add.at(people, (limits.group[self.classes], self.slots), self.counts)
        return people

    def _group_violations(self, task: AppointmentTask, limits: GroupLimits) -> list[str]:
        shares = self.people_by_group(task, limits)
        if limits.majority is not None:
            return _majority_violations(shares, limits)
        broken = []
        over = shares > np.floor(limits.largest_share * task.seats + 1e-9)[None, :]
        if limits.largest_share < 1.0 and over.any():
            broken.append(
                f"{format_count(int(over.any(axis=0).sum()), 'slot')} with too many people of one group"
            )
        used = shares.sum(axis=0) > 0
        if ((shares > 0).sum(axis=0)[used] < limits.fewest_groups).any():
            broken.append("some slots hold too few groups")
        return broken


def _majority_violations(people: NDArray[np.int64], limits: GroupLimits) -> list[str]:
    """List the limits beside a majority that ``people`` (groups × slots) break."""
    totals = people.sum(axis=0)
    others = np.delete(people, [limits.majority], axis=0) if limits.majority is not None else people
    broken = []
    over = others.sum(axis=0) > limits.most_others(totals)
    if over.any():
        broken.append(f"{format_count(int(over.sum()), 'slot')} with too many people of other groups")
    groups = (others > 0).sum(axis=0)
    few = (groups > 0) & (groups < limits.fewest_groups)
    if few.any():
        broken.append(f"{format_count(int(few.sum()), 'slot')} with too few other groups")
    return broken


def list_alternatives(
    task: AppointmentTask, plan: AppointmentPlan, class_number: int, slot: int
) -> list[tuple[int, AnonymityVector]]:
    """List slots for one person of a class who cannot attend a slot: free slots with the resulting vectors, best first.

    The vector depends only on how many of the class sit in the other slot, so few vectors are computed for many slots.
    Raises `InputError` if nobody of the class is in the slot.
    """
    own = plan.classes == class_number
    seated = np.zeros(task.seats.size, np.int64)
    seated[plan.slots[own]] = plan.counts[own]
    if seated[slot] < 1:
        raise InputError(
            Finding(
                "not-there", "Nobody of this class has an appointment in this slot.", "Choose another."
            )
        )
    free = plan.free_seats(task) > 0
    free[slot] = False
    if task.allowed is not None:
        free &= task.allowed[class_number]
    if task.limits is not None and task.limits.majority is not None:
        free &= _find_joinable_slots(task, task.limits, plan, class_number)
    vectors = {
        size: _move_person(plan.vector, int(seated[slot]), size)
        for size in np.unique(seated[free]).tolist()
    }
    options = [(int(other), vectors[int(seated[other])]) for other in np.flatnonzero(free)]
    return sorted(options, key=lambda option: (option[1], option[0]))


def _find_joinable_slots(
    task: AppointmentTask, limits: GroupLimits, plan: AppointmentPlan, class_number: int
) -> NDArray[np.bool_]:
    """Find the slots that keep the limits beside a majority with one more person of a class."""
    people = plan.people_by_group(task, limits)
    people[limits.group[class_number]] += 1
    fits = np.ones(task.seats.size, bool)
    for slot in range(task.seats.size):
        fits[slot] = not _majority_violations(people[:, slot : slot + 1], limits)
    return fits


def _move_person(vector: AnonymityVector, left: int, joined: int) -> AnonymityVector:
    """Compute the vector after one person left a cell of ``left`` people for one of ``joined``."""
    counts = [*vector.counts, 0]
    for size, change in ((left, -1), (left - 1, 1), (joined, -1), (joined + 1, 1)):
        if size > 0:
            counts[size - 1] += change
    return AnonymityVector.of_counts(counts)


def seat_everyone(task: AppointmentTask, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Complete a partial plan: seat those left over, and move others where needed; return classes × slots.

    ``cells``: rows of class, slot and people. Raises `InputError` with the number of people who cannot be seated at
    all.
    """
    partial = np.zeros((task.people.size, task.seats.size), np.int64)
    np.add.at(partial, (cells[:, 0], cells[:, 1]), cells[:, 2])
    allowed = task.allowed if task.allowed is not None else np.ones(partial.shape, bool)
    for moving in (False, True):
        left_people = task.people - partial.sum(axis=1)
        left_seats = task.seats - partial.sum(axis=0)
        # First what fits without moving anybody; the full flow would tear well-seated classes apart.
        partial += _find_reseating(
            left_people, left_seats, allowed, partial if moving else np.zeros_like(partial)
        )
        if (partial.sum(axis=1) == task.people).all():
            return partial
    missing = int((task.people - partial.sum(axis=1)).sum())
    stuck = np.nonzero(partial.sum(axis=1) < task.people)[0]
    raise InputError(
        Finding(
            "allowed-slots",
            f"{format_count(missing, 'person')} of {format_count(stuck.size, 'class')} "
            f"{inflect(missing, 'finds', 'find')} no seat in the slots they may use.",
            "Add seats there, or widen the region or distance limit.",
        )
    )


def _find_reseating(
    people: NDArray[np.int64],
    seats: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    movable: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Find the change of a plan that seats most of ``people``: new seats, minus ``movable`` seats given up.

    A maximum flow from classes to slots; ``allowed`` and ``movable`` are classes × slots.
    """
    classes, slots = allowed.shape
    source = classes + slots
    sink = source + 1
    rows, columns = np.nonzero(allowed)
    back_rows, back_columns = np.nonzero(movable)
    total = int(people.sum()) + int(movable.sum())
    heads = np.concatenate(
        [np.full(classes, source), rows, back_columns + classes, np.arange(slots) + classes]
    )
    tails = np.concatenate([np.arange(classes), columns + classes, back_rows, np.full(slots, sink)])
    limits = np.concatenate([people, np.full(rows.size, total), movable[back_rows, back_columns], seats])
    size = classes + slots + 2
    capacity = csr_array(coo_array((limits.astype(np.int32), (heads, tails)), shape=(size, size)))
    flow = maximum_flow(capacity, source, sink).flow
    change = flow[:classes, classes : classes + slots]
    return np.asarray(change.todense(), np.int64)


class Planner(Approach):
    """Base class of planners. ``obeys_limits``: it keeps limits on groups also without a majority; all do with one."""

    component: ClassVar[str] = "planner"
    obeys_limits: ClassVar[bool] = False

    @abstractmethod
    def build_plan(self, task: AppointmentTask, progress: Progress) -> AppointmentPlan:
        """Build a valid plan for the task."""

    def plan(self, task: AppointmentTask, progress: Progress) -> AppointmentPlan:
        """Build a valid plan and measure the time it took.

        Raises `InputError` where the task has constraints that this planner cannot keep.
        """
        if (
            task.limits is not None
            and task.limits.active
            and not (task.has_majority or self.obeys_limits)
        ):
            raise InputError(
                Finding(
                    "planner-limits",
                    f"{self.metadata.title} cannot keep limits on groups within a slot.",
                    "Choose the planner “optimal”, or leave the limits out.",
                )
            )
        started = time.perf_counter()
        plan = self.build_plan(task, progress)
        violations = plan.violations(task)
        if violations:
            raise AssertionError(
                f"planner {self.metadata.name} made an invalid plan: {'; '.join(violations)}"
            )
        return replace(plan, seconds=time.perf_counter() - started)

"""Seat a majority and other groups so that the others are few, and of several groups, wherever they are.

Source 004, section 9, E2: in a slot, all groups but the majority together are at most a share of the people there, and
at least some number of different ones among them wherever there are any. The frame fixes group by group how many people
sit in which slot; within a group, classes are then seated like everybody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count, inflect

from .plan import AppointmentTask, GroupLimits

Ints = NDArray[np.int64]
MAX_CELLS = 200_000
"""Pairs of a bundle and a slot that it may use up to which a frame is searched with CP-SAT."""

_FRAME_SECONDS = 60.0
SeatClasses = Callable[[Ints, Ints], Ints]
"""Seats people per class on seats per slot, which are at least as many: rows of class, slot and people."""


@dataclass(frozen=True, eq=False)
class GroupFrame:
    """Number of people of each bundle in each slot; a bundle is all classes of one group with the same slots.

    ``bundle[i]`` is the bundle of class i. ``people`` is bundles × slots. Where ``exact`` is False, it holds for the
    bundles of other groups only: the majority uses any seats that are left, at least ``fewest_majority`` in each slot.
    """

    bundle: Ints
    people: Ints
    fewest_majority: Ints
    exact: bool


def seat_groups(task: AppointmentTask, seat_classes: SeatClasses, progress: Progress) -> Ints:
    """Seat everybody within the limits on groups; return rows of class, slot and people.

    Raises `InputError` with the constraint that cannot be kept and the number of people who find no seat.
    """
    limits = task.limits
    assert limits is not None
    progress.update("Seating groups")
    parts = _find_separate_parts(task)
    if parts:
        return _seat_parts(task, limits, parts, seat_classes, progress)
    frame = _build_frame(task, limits, progress)
    majority = np.flatnonzero(limits.group == limits.majority)
    free = task.seats.astype(np.int64).copy()
    cells = []
    for number in range(frame.people.shape[0]):
        members = np.flatnonzero(frame.bundle == number)
        if frame.exact or limits.group[members[0]] != limits.majority:
            cells.append(_seat_members(task, members, frame.people[number], seat_classes))
            free -= frame.people[number]
    if not frame.exact and majority.size:
        own = _seat_members(task, majority, free, seat_classes)
        cells.append(_move_majority(own, frame.fewest_majority))
    return np.concatenate(cells) if cells else np.zeros((0, 3), np.int64)


def _find_separate_parts(task: AppointmentTask) -> list[tuple[Ints, Ints]]:
    """Find the classes and slots of each region if every slot is for one region only; otherwise return no parts."""
    if task.allowed is None:
        return []
    present = np.flatnonzero(task.people > 0)
    rows, part = np.unique(task.allowed[present], axis=0, return_inverse=True)
    if (rows.sum(axis=0) > 1).any():
        return []
    part = part.reshape(-1)
    return [(present[part == number], np.flatnonzero(row)) for number, row in enumerate(rows)]


def _seat_parts(
    task: AppointmentTask,
    limits: GroupLimits,
    parts: list[tuple[Ints, Ints]],
    seat_classes: SeatClasses,
    progress: Progress,
) -> Ints:
    """Seat the classes of each part in its slots, all of which they may use: rows of class, slot, people.

    parts: the numbers of the classes and slots of each. Raises `InputError` where people find no seat.
    """
    cells = []
    findings: list[Finding] = []
    failed = 0
    for classes, slots in parts:
        try:
            own = GroupLimits(
                limits.group[classes], limits.largest_share, limits.fewest_groups, limits.majority
            )
            seated = seat_groups(
                AppointmentTask(task.people[classes], task.seats[slots], limits=own),
                seat_classes,
                progress,
            )
            cells.append(np.column_stack([classes[seated[:, 0]], slots[seated[:, 1]], seated[:, 2]]))
        except InputError as error:
            failed += 1
            findings = findings or list(error.findings)
    if failed:
        prefix = f"In {failed:,} of {format_count(len(parts), 'region')} (this is about the first)"
        raise InputError(
            [replace(finding, message=f"{prefix}: {finding.message}") for finding in findings]
        )
    return np.concatenate(cells)


def _seat_members(task: AppointmentTask, members: Ints, seats: Ints, seat_classes: SeatClasses) -> Ints:
    """Seat some classes of the task on these seats; return rows of class, slot and people."""
    cells = seat_classes(task.people[members], seats)
    return np.column_stack([members[cells[:, 0]], cells[:, 1], cells[:, 2]])


def _move_majority(cells: Ints, fewest: Ints) -> Ints:
    """Move people of the majority into slots where they are too few, whole cells first; there are enough of them."""
    surplus = np.bincount(cells[:, 1], cells[:, 2], fewest.size).astype(np.int64) - fewest
    if (surplus >= 0).all():
        return cells
    people: dict[int, dict[int, int]] = {}
    for number, slot, count in cells.tolist():
        people.setdefault(slot, {})[number] = count
    for receiver in np.flatnonzero(surplus < 0).tolist():
        while surplus[receiver] < 0:
            donor = int(np.argmax(surplus))
            n_missing = min(int(-surplus[receiver]), int(surplus[donor]))
            donor_cells = people[donor]
            # The largest group that can leave as a whole, else a part of the largest one.
            candidates = {
                number: count for number, count in donor_cells.items() if count <= n_missing
            } or donor_cells
            number = max(candidates, key=lambda candidate: candidates[candidate])
            moved = min(n_missing, donor_cells[number])
            donor_cells[number] -= moved
            if not donor_cells[number]:
                del donor_cells[number]
            receiver_cells = people.setdefault(receiver, {})
            receiver_cells[number] = receiver_cells.get(number, 0) + moved
            surplus[donor] -= moved
            surplus[receiver] += moved
    moved_cells = [
        (number, slot, count)
        for slot, donor_cells in people.items()
        for number, count in donor_cells.items()
    ]
    return np.array(moved_cells, np.int64).reshape(-1, 3)


def _build_frame(task: AppointmentTask, limits: GroupLimits, progress: Progress) -> GroupFrame:
    """Build the frame greedily where that is possible, otherwise with CP-SAT."""
    bundle = _number_bundles(task, limits)
    if task.allowed is None:
        _refuse_impossible(task, limits)
        frame = _build_greedy_frame(task, limits, bundle)
        if frame is not None:
            return frame
    people = _solve_frame(task, limits, bundle, progress)
    return GroupFrame(bundle, people, np.zeros(task.seats.size, np.int64), exact=True)


def _solve_frame(task: AppointmentTask, limits: GroupLimits, bundle: Ints, progress: Progress) -> Ints:
    """Find numbers of people by bundle and slot that keep all constraints: bundles × slots.

    Raises `InputError` with the constraint that leaves people without a seat, `Cancelled` if stopped.
    """
    from .cp_models import SeatingModel
    from .cp_solver import TimeLimit

    _, first = np.unique(bundle, return_index=True)
    allowed = None if task.allowed is None else task.allowed[first]
    n_cells = first.size * task.seats.size if allowed is None else int(allowed.sum())
    if n_cells > MAX_CELLS:
        groups = format_count(first.size, "group")
        slots = format_count(task.seats.size, "slot")
        message = f"{groups} in {slots} are too many for one plan."
        raise InputError(Finding("too-large", message, "Plan the regions or dates one by one."))
    people = np.bincount(bundle, task.people, first.size).astype(np.int64)
    bundle_limits = replace(limits, group=limits.group[first])
    model = SeatingModel(AppointmentTask(people, task.seats, allowed=allowed, limits=bundle_limits))
    model.seat_everybody()
    return model.find_plan(TimeLimit(_FRAME_SECONDS), progress)


def _number_bundles(task: AppointmentTask, limits: GroupLimits) -> Ints:
    """Number the bundles: classes of the same group that may use the same slots."""
    keys = limits.group[:, None]
    if task.allowed is not None:
        keys = np.column_stack([keys, task.allowed])
    _, bundle = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(bundle, np.int64).reshape(-1)


# Where every class may use every slot, the limits can be checked exactly before anybody is seated.


def _count_groups(task: AppointmentTask, limits: GroupLimits) -> tuple[Ints, int]:
    """Count the people of each other group (0 for the majority), and of the majority."""
    sizes = np.bincount(limits.group, task.people, limits.number_of_groups).astype(np.int64)
    assert limits.majority is not None
    majority = int(sizes[limits.majority])
    sizes[limits.majority] = 0
    return sizes, majority


def _choose_host_slots(task: AppointmentTask, limits: GroupLimits, others: int) -> Ints:
    """Choose the slots where other groups sit: the fewest, those with the most seats for them.

    Fewer slots are never worse: more people of each group are left for each slot, and less is lost by rounding.
    """
    capacity = limits.most_others(task.seats)
    capacity[capacity < limits.fewest_groups] = 0
    order = np.argsort(-capacity, kind="stable")
    needed = int(np.searchsorted(np.cumsum(capacity[order]), others)) + 1
    return order[:needed]


def _refuse_impossible(task: AppointmentTask, limits: GroupLimits) -> None:
    """Raise `InputError` if no seating keeps the limits on groups."""
    sizes, majority = _count_groups(task, limits)
    others = int(sizes.sum())
    if not others:
        return
    findings = [
        *_check_number_of_groups(limits, sizes, others),
        *_check_seats_for_others(task, limits, others),
        *_check_size_of_majority(limits, others, majority),
    ]
    if not findings:
        hosts = _choose_host_slots(task, limits, others).size
        if int(np.minimum(sizes, hosts).sum()) < limits.fewest_groups * hosts:
            message = (
                f"{format_count(others, 'person of another group needs', 'people of other groups need')} "
                f"{format_count(hosts, 'slot')} at {limits.percent} of a slot, but the groups are too small to have "
                f"{limits.fewest_groups} of them in each."
            )
            findings = [
                Finding(
                    "infeasible", message, "Allow fewer groups, a larger share, or add larger slots."
                )
            ]
    if findings:
        raise InputError(findings)


def _check_number_of_groups(limits: GroupLimits, sizes: Ints, others: int) -> Iterator[Finding]:
    groups = int((sizes > 0).sum())
    if groups < limits.fewest_groups:
        message = (
            f"There {inflect(groups, 'is', 'are')} only {format_count(groups, 'other group')} than the "
            "majority, but at "
            f"least {limits.fewest_groups} must share a slot: "
            f"{format_count(others, 'person finds', 'people find')} no seat."
        )
        yield Finding("infeasible", message, "Lower the number of groups (--min-groups).")


def _check_seats_for_others(
    task: AppointmentTask, limits: GroupLimits, others: int
) -> Iterator[Finding]:
    capacity = limits.most_others(task.seats)
    short = others - int(capacity.sum())
    if short > 0:
        message = (
            f"With at most {limits.percent} of a slot for all groups but the majority together, "
            f"{format_count(short, 'person finds', 'people find')} no seat."
        )
        yield Finding("infeasible", message, "Raise the share (--max-share), or add larger slots.")
        return
    short = others - int(capacity[capacity >= limits.fewest_groups].sum())
    if short > 0:
        message = (
            f"With at most {limits.percent} of a slot for all groups but the majority together, and at least "
            f"{limits.fewest_groups} of them where there are any, {format_count(short, 'person finds', 'people find')} "
            "no seat: the other slots are too small for that many groups."
        )
        yield Finding("infeasible", message, "Raise the share, allow fewer groups, or add larger slots.")


def _check_size_of_majority(limits: GroupLimits, others: int, majority: int) -> Iterator[Finding]:
    most = int(limits.others_beside(np.array([majority]))[0])
    if most < others:
        message = (
            f"With at most {limits.percent} of a slot for all groups but the majority together, "
            f"{format_count(others - most, 'person finds', 'people find')} no seat: the majority is too small."
        )
        yield Finding(
            "infeasible", message, "Raise the share (--max-share), or choose another majority."
        )


def _build_greedy_frame(task: AppointmentTask, limits: GroupLimits, bundle: Ints) -> GroupFrame | None:
    """Spread the other groups over few slots; None if the majority might be too small because of rounding."""
    sizes, majority = _count_groups(task, limits)
    others = int(sizes.sum())
    slots = task.seats.size
    frame = np.zeros((limits.number_of_groups, slots), np.int64)
    if others:
        hosts = _choose_host_slots(task, limits, others)
        capacity = limits.most_others(task.seats)[hosts]
        frame[:, hosts] = _spread_groups(sizes, capacity, limits.fewest_groups)
    fewest = limits.fewest_majority(frame.sum(axis=0))
    if int(fewest.sum()) > majority:
        return None
    of_bundle = np.zeros((int(bundle.max()) + 1, slots), np.int64)
    of_bundle[bundle] = frame[limits.group]
    return GroupFrame(bundle, of_bundle, fewest, exact=False)


def _spread_groups(sizes: Ints, capacity: Ints, fewest: int) -> Ints:
    """Deal the people of each group to slots, so that each slot has ``fewest`` groups: groups × slots.

    ``capacity`` is the number of such people per slot. First it is decided which groups are in which slot; then the
    people of a group follow to the slots where it is, evenly, and then to any free seats.
    """
    dealt = _choose_groups(sizes, capacity.size, fewest, in_proportion=True)
    if dealt is None:
        dealt = _choose_groups(sizes, capacity.size, fewest, in_proportion=False)
    assert dealt is not None
    left = sizes - dealt.sum(axis=1)
    free = capacity - dealt.sum(axis=0)
    for anywhere in (False, True):
        for group in np.argsort(-left, kind="stable").tolist():
            while left[group]:
                usable = np.flatnonzero((free > 0) & (anywhere | (dealt[group] > 0)))
                if not usable.size:
                    break
                share = max(1, int(left[group]) // usable.size)
                emptiest = usable[np.argsort(dealt[group, usable], kind="stable")][: left[group]]
                n_added = np.minimum(share, free[emptiest])
                dealt[group, emptiest] += n_added
                free[emptiest] -= n_added
                left[group] -= n_added.sum()
    return dealt


def _choose_groups(sizes: Ints, slots: int, fewest: int, in_proportion: bool) -> Ints | None:
    """Choose ``fewest`` groups for each slot, one person of each: groups × slots; None if that fails.

    ``in_proportion``: larger groups are in more slots, so that as many people of each sit together (D'Hondt's method).
    Otherwise the groups with the most people left come first, which finds a way whenever there is one (Gale–Ryser).
    """
    used = np.zeros(sizes.size, np.int64)
    dealt = np.zeros((sizes.size, slots), np.int64)
    for slot in range(slots):
        left = sizes - used
        rank = (
            np.where(left > 0, sizes / (used + 1), 0.0)
            if in_proportion
            else np.minimum(left, slots - slot)
        )
        chosen = np.argsort(-rank, kind="stable")[:fewest]
        if (left[chosen] <= 0).any():
            return None
        dealt[chosen, slot] = 1
        used[chosen] += 1
    return dealt

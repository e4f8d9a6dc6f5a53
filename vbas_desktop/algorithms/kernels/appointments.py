"""Exchanges of people between two slots that make the anonymity vector of a plan smaller."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress

from .jit import kernel, prepare, subkernel


class Exchanges(NamedTuple):
    """A plan that people are exchanged in, and what the exchanges must keep.

    state: int64, classes × slots, a last row for free seats. is_allowed: bool, same shape. group: int64, group of each
    row (−1: free seats). people: int64, groups × slots. limits: int64, majority, numerator and denominator of the share
    of the others, fewest groups. Group, people and limits are empty if there are no such limits.
    """

    state: NDArray[np.int64]
    is_allowed: NDArray[np.bool_]
    group: NDArray[np.int64]
    people: NDArray[np.int64]
    limits: NDArray[np.int64]


def prepare_sweep(exchanges: Exchanges, pieces: NDArray[np.int64], progress: Progress) -> None:
    """Compile `sweep` for these arguments, or load it from the cache, while a stop is obeyed."""
    prepare(progress, sweep, exchanges, pieces, 0, 0)


@kernel
def sweep(exchanges: Exchanges, pieces: NDArray[np.int64], at: int, budget: int) -> tuple[int, int]:
    """Try the pieces from ``at`` on until one exchange was made or the budget of tries is used up.

    pieces: int64 (pieces, 2), class and slot. Returns where it ended, and how many exchanges were made (0 or 1).
    """
    work = 0
    while at < pieces.shape[0] and work < budget:
        is_improved, tries = _improve_piece(exchanges, pieces[at, 0], pieces[at, 1])
        if is_improved:
            return at, 1
        work += tries
        at += 1
    return at, 0


@subkernel
def _improve_piece(exchanges: Exchanges, i: int, j: int) -> tuple[bool, int]:
    """Exchange people of class i in slot j if that helps; return whether it did, and the number of tries."""
    state = exchanges.state
    may = exchanges.is_allowed
    group = exchanges.group
    people = exchanges.people
    limits = exchanges.limits
    rows, slots = state.shape
    tries = 0
    for other_slot in range(slots):
        if other_slot == j:
            continue
        for other in range(rows):
            if other == i:
                continue
            # People of i leave j for the other slot, or come from there into j.
            for here, there in ((j, other_slot), (other_slot, j)):
                if may[i, there] and may[other, here]:
                    for t in range(min(state[i, here], state[other, there]), 0, -1):
                        tries += 1
                        if _lowers_vector(state, i, here, other, there, t, rows - 1):
                            if limits.size:
                                _regroup(group, people, i, here, other, there, t)
                                is_within_limits = _is_within_limits(
                                    people, limits, here
                                ) and _is_within_limits(people, limits, there)
                                if not is_within_limits:
                                    _regroup(group, people, i, here, other, there, -t)
                                    continue
                            _move(state, i, here, other, there, t)
                            return True, tries
    return False, tries


@subkernel
def _move(state: NDArray[np.int64], i: int, j: int, other: int, other_slot: int, t: int) -> None:
    state[i, j] -= t
    state[i, other_slot] += t
    state[other, other_slot] -= t
    state[other, j] += t


@subkernel
def _regroup(
    group: NDArray[np.int64],
    people: NDArray[np.int64],
    i: int,
    j: int,
    other: int,
    other_slot: int,
    t: int,
) -> None:
    """Count t people of class i in the other slot instead of j, and t of the other class in j instead of there."""
    people[group[i], j] -= t
    people[group[i], other_slot] += t
    if group[other] >= 0:
        people[group[other], other_slot] -= t
        people[group[other], j] += t


@subkernel
def _is_within_limits(people: NDArray[np.int64], limits: NDArray[np.int64], slot: int) -> bool:
    """Say whether a slot keeps the limits beside a majority. O(groups)."""
    others = 0
    groups = 0
    for number in range(people.shape[0]):
        if number != limits[0] and people[number, slot] > 0:
            others += people[number, slot]
            groups += 1
    total = others + people[limits[0], slot]
    return others * limits[2] <= total * limits[1] and (groups == 0 or groups >= limits[3])


@subkernel
def _lowers_vector(
    state: NDArray[np.int64], i: int, j: int, other: int, other_slot: int, t: int, free: int
) -> bool:
    """Test whether moving t of i from j to the other slot, and t of the other class back, makes the vector smaller."""
    sizes = (
        (state[i, j], state[i, j] - t),
        (state[i, other_slot], state[i, other_slot] + t),
        (state[other, other_slot], state[other, other_slot] - t),
        (state[other, j], state[other, j] + t),
    )
    used = 4 if other != free else 2
    last = 0
    while True:
        smallest = 1 << 62
        for n in range(used):
            for size in sizes[n]:
                if last < size < smallest:
                    smallest = size
        if smallest == 1 << 62:
            return False
        balance = 0
        for n in range(used):
            if sizes[n][0] == smallest:
                balance -= 1
            if sizes[n][1] == smallest:
                balance += 1
        if balance:
            return balance < 0
        last = smallest

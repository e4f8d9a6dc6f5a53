"""Whether everybody can be seated where they may go, and if not, who is in the way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_flow

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.words import agreeing, counted

from .task import Task


def complete(task: Task, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """A full plan (classes × slots) from a partial one: those left over are seated, others re-seated as needed.

    Raises `InputError` with the number of people who cannot be seated whatever one does.
    """
    partial = np.zeros((task.people.size, task.seats.size), np.int64)
    np.add.at(partial, (cells[:, 0], cells[:, 1]), cells[:, 2])
    allowed = task.allowed if task.allowed is not None else np.ones(partial.shape, bool)
    left_people = task.people - partial.sum(axis=1)
    left_seats = task.seats - partial.sum(axis=0)
    # First what fits without moving anybody; the full flow would tear well-seated classes apart.
    partial += _flow(left_people, left_seats, allowed, np.zeros_like(partial))
    if (partial.sum(axis=1) == task.people).all():
        return partial
    left_people = task.people - partial.sum(axis=1)
    left_seats = task.seats - partial.sum(axis=0)
    partial += _flow(left_people, left_seats, allowed, partial)
    missing = int((task.people - partial.sum(axis=1)).sum())
    if missing:
        stuck = np.nonzero(partial.sum(axis=1) < task.people)[0]
        raise InputError(
            Finding(
                "allowed-slots",
                f"{counted(missing, 'person')} of {counted(stuck.size, 'class')} "
                f"{agreeing(missing, 'finds', 'find')} no seat in the slots they may use.",
                "Add seats there, or widen the region or distance limit.",
            )
        )
    return partial


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

"""All planners by name, and the random one that the others are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.interface import Metadata, option
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress

from .greedy_planner import ExchangePlanner, GreedyPlanner
from .majority import seat_groups
from .plan import AppointmentPlan, AppointmentTask, Planner, seat_everyone


class RandomPlanner(Planner):
    """Seats people in random order on random free seats: what happens when nobody thinks of anonymity.

    Notes
    -----
    A random permutation of all seats, dealt to the people class by class. Where classes are limited to some slots,
    each takes a random allowed seat in turn, and those left over are placed by re-seating others. With a majority, it
    is fixed how many people of each other group sit in a slot; who they are is random.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="random",
        title="Random",
        summary="Everybody gets a random free seat; the baseline that the others are compared with.",
        complexity="O(seats)",
        when="Only to see what planning is worth.",
        order=40,
    )
    random_seed: int = option(0, label="Random seed", help="The same seed gives the same plan.", ge=0)

    def build_plan(self, task: AppointmentTask, progress: Progress) -> AppointmentPlan:
        """Deal random seats to the people, class by class."""
        generator = np.random.default_rng(self.random_seed)
        progress.update("Dealing seats", 0.0)
        if task.has_majority:
            seated = seat_groups(
                task, lambda people, seats: _deal_seats(people, seats, generator), progress
            )
            return AppointmentPlan.from_table(seated, self.metadata.name, "heuristic")
        people = np.repeat(np.arange(task.people.size), task.people)
        seats = generator.permutation(np.repeat(np.arange(task.seats.size), task.seats))
        if task.allowed is None:
            ones = np.ones(people.size, np.int64)
            return AppointmentPlan.from_cells(
                people, seats[: people.size], ones, self.metadata.name, "heuristic"
            )
        cells = []
        free = np.ones(seats.size, bool)
        for number in generator.permutation(task.people.size):
            own = np.nonzero(free & task.allowed[number][seats])[0][: int(task.people[number])]
            free[own] = False
            cells.append(
                np.column_stack([np.full(own.size, number), seats[own], np.ones(own.size, np.int64)])
            )
        table = np.concatenate(cells) if cells else np.zeros((0, 3), np.int64)
        return AppointmentPlan.from_matrix(seat_everyone(task, table), self.metadata.name, "heuristic")


def _deal_seats(
    people: NDArray[np.int64], seats: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Give everybody a random seat; return rows of class, slot and people."""
    classes = np.repeat(np.arange(people.size), people)
    dealt = generator.permutation(np.repeat(np.arange(seats.size), seats))[: classes.size]
    pairs, counts = np.unique(np.column_stack([classes, dealt]), axis=0, return_counts=True)
    return np.column_stack([pairs, counts]).astype(np.int64)


def list_planners() -> dict[str, type[Planner]]:
    """List all planners by name, in menu order."""
    from .exact_planner import ExactPlanner  # needs OR-Tools

    return {
        kind.metadata.name: kind
        for kind in (GreedyPlanner, ExchangePlanner, ExactPlanner, RandomPlanner)
    }


def select_parameters(
    assignments: Mapping[tuple[str, str], str], name: str
) -> tuple[dict[str, str], list[str]]:
    """Select the parameters of one planner from assignments (planner, parameter) → value; list those it does not use.

    “better” starts from the plan of “heuristic”, so it takes its ``fill`` as well. Raises `InputError` for planners,
    parameters and values that do not exist.
    """
    used: dict[str, str] = {}
    unused = []
    for (owner, key), value in assignments.items():
        create_planner(owner)
        kind = list_planners()[owner]
        kind.from_texts({key: value})
        if owner == name or (owner == "heuristic" and name == "better"):
            used[key] = value
        else:
            unused.append(f"{owner}.{key}")
    return used, unused


def create_planner(name: str, **values: Any) -> Planner:
    """Create the planner of that name; parameters that it does not have, or that are None, are left out.

    Raises `InputError` for an unknown name.
    """
    classes = list_planners()
    if name not in classes:
        raise InputError(
            Finding("unknown-planner", f"There is no planner “{name}”.", f"Known: {', '.join(classes)}.")
        )
    planner_class = classes[name]
    parameter_names = {parameter.name for parameter in planner_class.options()}
    return planner_class.from_texts(
        {key: value for key, value in values.items() if key in parameter_names and value is not None}
    )

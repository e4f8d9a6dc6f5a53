"""What a planner is, the random one that others are compared with, and all planners by name."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Approach, Card, parameter
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress

from .majority import seat_groups
from .task import Plan, Task, complete


@dataclass(frozen=True)
class Planner(Approach):
    """Makes a plan; ``obeys_limits``: it can keep limits on groups without a majority. All can with a majority."""

    component: ClassVar[str] = "planner"
    obeys_limits: ClassVar[bool] = False

    @abstractmethod
    def make(self, task: Task, progress: Progress) -> Plan:
        """A valid plan for the task."""

    def plan(self, task: Task, progress: Progress) -> Plan:
        """A valid plan with the time it took; refused where the task has constraints that this planner cannot keep."""
        if task.limits is not None and task.limits.active and not (task.has_majority or self.obeys_limits):
            raise InputError(
                Finding(
                    "planner-limits",
                    f"{self.card.title} cannot keep limits on groups within a slot.",
                    "Choose the planner “optimal”, or leave the limits out.",
                )
            )
        started = time.perf_counter()
        made = self.make(task, progress)
        wrong = made.violations(task)
        if wrong:
            raise AssertionError(f"planner {self.card.name} made an invalid plan: {'; '.join(wrong)}")
        return replace(made, seconds=time.perf_counter() - started)


@dataclass(frozen=True)
class RandomPlan(Planner):
    """Seats people in random order on random free seats: what happens when nobody thinks of anonymity.

    Notes
    -----
    A random permutation of all seats, dealt to the people class by class. Where classes are limited to some slots,
    each takes a random allowed seat in turn, and those left over are placed by re-seating others. With a majority, it
    is fixed how many people of each other group sit in a slot; who they are is random.
    """

    card: ClassVar[Card] = Card(
        name="random",
        title="Random",
        summary="Everybody gets a random free seat; the baseline that the others are compared with.",
        complexity="O(seats)",
        when="Only to see what planning is worth.",
        order=40,
    )
    random_seed: int = parameter(0, label="Random seed", help="The same seed gives the same plan.", low=0)

    def make(self, task: Task, progress: Progress) -> Plan:
        """Deal the seats."""
        generator = np.random.default_rng(self.random_seed)
        progress.update("Dealing seats", 0.0)
        if task.has_majority:
            seated = seat_groups(task, lambda people, seats: _deal(people, seats, generator), progress)
            return Plan.from_table(seated, self.card.name, "heuristic")
        people = np.repeat(np.arange(task.people.size), task.people)
        seats = generator.permutation(np.repeat(np.arange(task.seats.size), task.seats))
        if task.allowed is None:
            ones = np.ones(people.size, np.int64)
            return Plan.from_cells(people, seats[: people.size], ones, self.card.name, "heuristic")
        cells = []
        free = np.ones(seats.size, bool)
        for number in generator.permutation(task.people.size):
            mine = np.nonzero(free & task.allowed[number][seats])[0][: int(task.people[number])]
            free[mine] = False
            cells.append(np.column_stack([np.full(mine.size, number), seats[mine], np.ones(mine.size, np.int64)]))
        table = np.concatenate(cells) if cells else np.zeros((0, 3), np.int64)
        return Plan.from_matrix(complete(task, table), self.card.name, "heuristic")


def _deal(people: NDArray[np.int64], seats: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Give everybody a random seat: cells of class, slot and people."""
    classes = np.repeat(np.arange(people.size), people)
    dealt = generator.permutation(np.repeat(np.arange(seats.size), seats))[: classes.size]
    pairs, counts = np.unique(np.column_stack([classes, dealt]), axis=0, return_counts=True)
    return np.column_stack([pairs, counts]).astype(np.int64)


def planners() -> dict[str, type[Planner]]:
    """All planners by name, in menu order."""
    from .better import Better
    from .heuristic import Heuristic
    from .optimal import Optimal

    return {kind.card.name: kind for kind in (Heuristic, Better, Optimal, RandomPlan)}


def assigned_parameters(assignments: Mapping[tuple[str, str], str], name: str) -> tuple[dict[str, str], list[str]]:
    """Return the parameters of one planner from assignments (planner, parameter) → value, and those it does not use.

    “better” starts from the plan of “heuristic”, so it takes its ``fill`` as well. Raises `InputError` for planners,
    parameters and values that do not exist.
    """
    used: dict[str, str] = {}
    unused = []
    for (owner, key), value in assignments.items():
        planner(owner)
        kind = planners()[owner]
        kind.from_texts({key: value})
        if owner == name or (owner == "heuristic" and name == "better"):
            used[key] = value
        else:
            unused.append(f"{owner}.{key}")
    return used, unused


def planner(name: str, **values: Any) -> Planner:
    """The planner of that name with these parameters (those it does not have are left out)."""
    known = planners()
    if name not in known:
        raise InputError(Finding("unknown-planner", f"There is no planner “{name}”.", f"Known: {', '.join(known)}."))
    kind = known[name]
    names = {parameter.name for parameter in kind.parameters()}
    return kind.from_texts({key: value for key, value in values.items() if key in names and value is not None})

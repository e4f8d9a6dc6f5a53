"""The baseline: everybody gets a random free seat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.approaches.base import Card, parameter
from vbas_desktop.domain.progress import Progress

from .planners import Planner
from .task import Plan, Task, complete


@dataclass(frozen=True)
class RandomPlan(Planner):
    """Seats people in random order on random free seats: what happens when nobody thinks of anonymity.

    Notes
    -----
    A random permutation of all seats, dealt to the people class by class. Where classes are limited to some slots,
    each takes a random allowed seat in turn, and those left over are placed by re-seating others.
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

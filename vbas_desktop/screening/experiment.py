"""Experiments with the planners: random programmes of growing size, and a whole country's invitations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vbas_desktop.domain.progress import Progress

from .planners import planner
from .task import Plan, Task
from .vectors import improvement


def random_programme(people: int, seed: int) -> Task:
    """N people in N/100 + 5 classes of about equal size (standard deviation 20 %), slots of 10 ± 2 seats.

    Slots are added until there is a seat for everybody.
    """
    generator = np.random.default_rng(seed)
    classes = people // 100 + 5
    mean = people / classes
    sizes = np.maximum(1, np.round(generator.normal(mean, 0.2 * mean, classes))).astype(np.int64)
    while (gap := people - int(sizes.sum())) != 0:
        place = int(generator.integers(classes))
        sizes[place] = max(1, sizes[place] + (1 if gap > 0 else -1))
    seats: list[int] = []
    while sum(seats) < people:
        seats.append(max(1, int(np.round(generator.normal(10.0, 2.0)))))
    return Task(sizes, np.array(seats, np.int64))


@dataclass(frozen=True)
class Row:
    """Mean improvements at one size: of each planner over random, and of the optimum over the heuristic."""

    people: int
    programmes: int
    over_random: dict[str, float]
    optimal_over_heuristic: float | None
    proved: int


def improvements(
    sizes: Sequence[int], programmes: int, largest_optimal: int, seconds: float, progress: Progress
) -> list[Row]:
    """One row per size; the optimum only up to ``largest_optimal`` people, at most ``seconds`` each."""
    rows = []
    for number, people in enumerate(sizes):
        names = ["heuristic", "better"] + (["optimal"] if people <= largest_optimal else [])
        totals, gained, proved = dict.fromkeys(names, 0.0), 0.0, 0
        for seed in range(programmes):
            progress.update(f"{people:,} people", (number + seed / programmes) / len(sizes))
            task = random_programme(people, seed)
            plans = {name: planner(name, time_limit=seconds).plan(task, progress) for name in names}
            random = planner("random", random_seed=seed).plan(task, progress)
            for name in names:
                totals[name] += _gain(task, plans[name], random)
            if "optimal" in plans:
                gained += _gain(task, plans["optimal"], plans["heuristic"])
                proved += plans["optimal"].proof == "optimal"
        means = {name: total / programmes for name, total in totals.items()}
        rows.append(Row(people, programmes, means, gained / programmes if "optimal" in names else None, proved))
    return rows


REGIONS = ((1_370_100, 13), (348_487, 4), (303_226, 3), (244_990, 3), (132_395, 3))
"""Invitations and centres of five regions of a country with 2.4 million invitations over 23 years."""
DATES = 282


@dataclass(frozen=True)
class CountryRow:
    """One region: the improvements of its programmes over random seats, smallest, largest and mean."""

    invitations: int
    centres: int
    programmes: int
    smallest: float
    largest: float
    mean: float


def country(dates: int, seed: int, progress: Progress) -> list[CountryRow]:
    """One programme per region and date: birth years as classes, centres as slots, gain of the heuristic."""
    generator = np.random.default_rng(seed)
    rows = []
    for number, (invitations, centres) in enumerate(REGIONS):
        found = []
        for date in range(dates):
            progress.update(f"Region {number + 1}", (number + date / dates) / len(REGIONS))
            task = _programme(generator, invitations // DATES, centres)
            random = planner("random", random_seed=date).plan(task, progress)
            found.append(_gain(task, planner("heuristic").plan(task, progress), random))
        rows.append(
            CountryRow(invitations // DATES * dates, centres, dates, min(found), max(found), float(np.mean(found)))
        )
    return rows


def _programme(generator: np.random.Generator, people: int, centres: int) -> Task:
    """People of 45 birth years, more of some than of others; centres of uneven size with a few seats to spare."""
    shares = generator.dirichlet(np.full(45, 8.0))
    sizes = generator.multinomial(people, shares)
    seats = np.ceil(generator.dirichlet(np.full(centres, 20.0)) * people * 1.02).astype(np.int64)
    seats[0] += max(0, people - int(seats.sum()))
    return Task(sizes[sizes > 0].astype(np.int64), seats)


def _gain(task: Task, plan: Plan, random: Plan) -> float:
    return improvement(plan.vector, random.vector, task.before).value

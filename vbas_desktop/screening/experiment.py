"""Experiments with the planners: random programmes of growing size, and a whole country's invitations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.words import counted

from .expressions import Expression, parse_expression
from .heuristic import CLOSEST
from .planners import planner
from .published import BIRTH_YEARS, DATES, TABLE_11, USUAL_CLASSES, PublishedRegion
from .task import Plan, Task
from .vectors import improvement

USUAL = parse_expression(USUAL_CLASSES)


def random_programme(people: int, seed: int, number_of_classes: Expression = USUAL) -> Task:
    """Draw N people in classes of about equal size (standard deviation 20 %), and slots of 10 ± 2 seats.

    There are N/100 + 5 classes, or as many as the expression says. Slots are added until there is a seat for everybody
    (source 004, section 8.1).
    """
    generator = np.random.default_rng(seed)
    classes = count_classes(number_of_classes, people)
    mean = people / classes
    sizes = np.maximum(1, np.round(generator.normal(mean, 0.2 * mean, classes))).astype(np.int64)
    while (gap := people - int(sizes.sum())) != 0:
        place = int(generator.integers(classes))
        sizes[place] = max(1, sizes[place] + (1 if gap > 0 else -1))
    seats: list[int] = []
    while sum(seats) < people:
        seats.append(max(1, int(np.round(generator.normal(10.0, 2.0)))))
    return Task(sizes, np.array(seats, np.int64))


def count_classes(number_of_classes: Expression, people: int) -> int:
    """Return how many classes so many people are in; refused unless every class can have somebody."""
    try:
        classes = number_of_classes.value(people)
    except ValueError as error:
        raise InputError(Finding("classes", f"{error}.", "Write another expression, such as N/100+5.")) from None
    if not 1 <= classes <= people:
        message = f"{number_of_classes.text} is {classes:,} for {counted(people, 'person')}."
        raise InputError(Finding("classes", message, "There must be at least one class, and no more than people."))
    return classes


@dataclass(frozen=True)
class Row:
    """Mean improvements at one size: of each planner over random, and of the optimum over the heuristic."""

    people: int
    programmes: int
    over_random: dict[str, float]
    optimal_over_heuristic: float | None
    proved: int


def improvements(
    sizes: Sequence[int],
    programmes: int,
    largest_optimal: int,
    seconds: float,
    progress: Progress,
    number_of_classes: Expression = USUAL,
    fill: str = CLOSEST,
) -> list[Row]:
    """Compute one row per size; the optimum only up to ``largest_optimal`` people, at most ``seconds`` each."""
    for people in sizes:
        count_classes(number_of_classes, people)
    rows = []
    for number, people in enumerate(sizes):
        names = ["heuristic", "better"] + (["optimal"] if people <= largest_optimal else [])
        totals, gained, proved = dict.fromkeys(names, 0.0), 0.0, 0
        for seed in range(programmes):
            progress.update(f"{people:,} people", (number + seed / programmes) / len(sizes))
            task = random_programme(people, seed, number_of_classes)
            plans = {name: planner(name, time_limit=seconds, fill=fill).plan(task, progress) for name in names}
            random = planner("random", random_seed=seed).plan(task, progress)
            for name in names:
                totals[name] += _gain(task, plans[name], random)
            if "optimal" in plans:
                gained += _gain(task, plans["optimal"], plans["heuristic"])
                proved += plans["optimal"].proof == "optimal"
        means = {name: total / programmes for name, total in totals.items()}
        rows.append(Row(people, programmes, means, gained / programmes if "optimal" in names else None, proved))
    return rows


@dataclass(frozen=True)
class CountryRow:
    """One region: the improvements of its programmes over random seats, smallest, largest and mean, and Table 11's."""

    published: PublishedRegion
    invitations: int
    programmes: int
    smallest: float
    largest: float
    mean: float


def country(
    dates: int, seed: int, progress: Progress, birth_years: tuple[int, int] = BIRTH_YEARS, fill: str = CLOSEST
) -> list[CountryRow]:
    """Plan one programme per region of Table 11 and date: birth years as classes, centres as slots, by the heuristic.

    ``birth_years``: the first and the last one (source 004, section 8.2: 1904 to 1996).
    """
    generator = np.random.default_rng(seed)
    years = birth_years[1] - birth_years[0] + 1
    rows = []
    for number, published in enumerate(TABLE_11):
        found = []
        people = published.invitations // DATES
        for date in range(dates):
            progress.update(f"Region {published.region}", (number + date / dates) / len(TABLE_11))
            task = _programme(generator, people, published.centres, years)
            random = planner("random", random_seed=date).plan(task, progress)
            found.append(_gain(task, planner("heuristic", fill=fill).plan(task, progress), random))
        rows.append(CountryRow(published, people * dates, dates, min(found), max(found), float(np.mean(found))))
    return rows


def _programme(generator: np.random.Generator, people: int, centres: int, years: int) -> Task:
    """Draw people by birth year, more of some than of others; centres of uneven size with a few seats to spare."""
    shares = generator.dirichlet(np.full(years, 8.0))
    sizes = generator.multinomial(people, shares)
    seats = np.ceil(generator.dirichlet(np.full(centres, 20.0)) * people * 1.02).astype(np.int64)
    seats[0] += max(0, people - int(seats.sum()))
    return Task(sizes[sizes > 0].astype(np.int64), seats)


def _gain(task: Task, plan: Plan, random: Plan) -> float:
    return improvement(plan.vector, random.vector, task.before).value

"""Experiments with the planners: random programmes of growing size, and a whole country's invitations.

The published figures are printed beside the computed ones and never asserted. Source 004: R. Caballero, S. Sen, J. F.
Nygård, Anticipating Anonymity in Screening Program Databases, International Journal of Medical Informatics (2017),
sections 7 and 8.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count

from .anonymity_vector import compute_improvement
from .greedy_planner import CLOSEST
from .plan import AppointmentPlan, AppointmentTask
from .planners import create_planner

_MAX_EXPRESSION_LENGTH = 100
_SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "–": "-", "÷": "/", ":": "/"})
_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Expression:
    """Parsed arithmetic expression in N, such as N/100+5; its syntax tree is evaluated, never the text as Python."""

    text: str
    tree: ast.expr

    def value(self, n: int) -> int:
        """Compute the value for N = n exactly and round it down. Raises ValueError for a division by zero."""
        try:
            return math.floor(_evaluate(self.tree, n))
        except ZeroDivisionError:
            raise ValueError(f"{self.text} divides by zero for N = {n:,}") from None


def parse_expression(text: str) -> Expression:
    """Parse an expression in N. Raises ValueError that says what is allowed."""
    error = ValueError("write an expression in N with + − × / and brackets, such as N/100+5")
    if not text.strip() or len(text) > _MAX_EXPRESSION_LENGTH:
        raise error
    try:
        tree = ast.parse(text.strip().translate(_SIGNS), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise error from None
    if not _is_allowed(tree):
        raise error
    return Expression(text.strip(), tree)


def _is_allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return type(node.op) in _OPERATORS and _is_allowed(node.left) and _is_allowed(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub | ast.UAdd) and _is_allowed(node.operand)
    if isinstance(node, ast.Constant):
        return (
            isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
            and node.value < 1e12
        )
    return isinstance(node, ast.Name) and node.id in ("N", "n")


def _evaluate(node: ast.AST, n: int) -> Fraction:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_evaluate(node.left, n), _evaluate(node.right, n))
    if isinstance(node, ast.UnaryOp):
        value = _evaluate(node.operand, n)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Constant):
        # A decimal fraction is meant as it is written: 0.1 is a tenth.
        return Fraction(str(node.value))
    return Fraction(n)


SOURCE = "Caballero, Sen, Nygård 2017"

DEFAULT_CLASS_EXPRESSION = "N/100+5"
"""Number of quasi-identifier values of Table 10 for N people (section 8.1)."""


@dataclass(frozen=True)
class PublishedGain:
    """Improvements of Table 10: of the heuristic over random seats, and of the optimum over the heuristic."""

    heuristic_over_random: float
    optimal_over_heuristic: float | None


TABLE_10 = {
    20: PublishedGain(0.24, 0.01),
    25: PublishedGain(0.20, 0.02),
    30: PublishedGain(0.36, 0.05),
    35: PublishedGain(0.42, 0.12),
    40: PublishedGain(0.54, 0.14),
    45: PublishedGain(0.50, 0.14),
    50: PublishedGain(0.62, 0.10),
    100: PublishedGain(0.82, None),
    250: PublishedGain(0.93, None),
    500: PublishedGain(0.92, None),
    1000: PublishedGain(0.92, None),
}

MANY_CLASSES = {1000: PublishedGain(0.35, None)}
"""With N/10 + 5 quasi-identifier values, in the text of section 8.1."""


@dataclass(frozen=True)
class PublishedRegion:
    """One row of Table 11: invitations and centres of a region, and its smallest, largest and mean improvement."""

    region: int
    invitations: int
    centres: int
    smallest: float
    largest: float
    mean: float


TABLE_11 = (
    PublishedRegion(1, 1_370_100, 13, 0.654, 0.969, 0.826),
    PublishedRegion(2, 348_487, 4, 0.017, 0.653, 0.344),
    PublishedRegion(3, 303_226, 3, 0.358, 0.922, 0.588),
    PublishedRegion(4, 244_990, 3, 0.095, 0.893, 0.537),
    PublishedRegion(9, 132_395, 3, 0.0, 0.214, 0.036),
)

DATES = 282
BIRTH_YEARS = (1904, 1996)


def find_published_gain(classes: str, people: int) -> PublishedGain | None:
    """Find the published improvement for an expression of the number of classes and a number of people."""
    plain = classes.replace(" ", "").upper()
    tables = {DEFAULT_CLASS_EXPRESSION: TABLE_10, "N/10+5": MANY_CLASSES}
    return tables.get(plain, {}).get(people)


DEFAULT_CLASSES = parse_expression(DEFAULT_CLASS_EXPRESSION)


def draw_programme(
    people: int, seed: int, number_of_classes: Expression = DEFAULT_CLASSES
) -> AppointmentTask:
    """Draw N people in classes of about equal size (standard deviation 20 %), and slots of 10 ± 2 seats.

    There are N/100 + 5 classes, or as many as the expression gives. Slots are added until there is a seat for everybody
    (source 004, section 8.1).
    """
    generator = np.random.default_rng(seed)
    classes = evaluate_class_count(number_of_classes, people)
    mean = people / classes
    sizes = np.maximum(1, np.round(generator.normal(mean, 0.2 * mean, classes))).astype(np.int64)
    while (gap := people - int(sizes.sum())) != 0:
        number = int(generator.integers(classes))
        sizes[number] = max(1, sizes[number] + (1 if gap > 0 else -1))
    seats: list[int] = []
    while sum(seats) < people:
        seats.append(max(1, int(np.round(generator.normal(10.0, 2.0)))))
    return AppointmentTask(sizes, np.array(seats, np.int64))


def evaluate_class_count(number_of_classes: Expression, people: int) -> int:
    """Compute the number of classes of ``people`` people.

    Raises `InputError` unless it is between 1 and the number of people.
    """
    try:
        classes = number_of_classes.value(people)
    except ValueError as error:
        raise InputError(
            Finding("classes", f"{error}.", "Write another expression, such as N/100+5.")
        ) from None
    if not 1 <= classes <= people:
        message = f"{number_of_classes.text} is {classes:,} for {format_count(people, 'person')}."
        raise InputError(
            Finding("classes", message, "There must be at least one class, and no more than people.")
        )
    return classes


@dataclass(frozen=True)
class ImprovementRow:
    """Mean improvements at one size: of each planner over random, and of the exact planner over the greedy one."""

    people: int
    programmes: int
    over_random: dict[str, float]
    optimal_over_heuristic: float | None
    proved: int


def run_improvement_experiment(
    sizes: Sequence[int],
    programmes: int,
    largest_optimal: int,
    seconds: float,
    progress: Progress,
    number_of_classes: Expression = DEFAULT_CLASSES,
    fill: str = CLOSEST,
) -> list[ImprovementRow]:
    """Compute one row per size; the exact plan only up to ``largest_optimal`` people, at most ``seconds`` each."""
    for people in sizes:
        evaluate_class_count(number_of_classes, people)
    rows = []
    for number, people in enumerate(sizes):
        names = ["heuristic", "better"] + (["optimal"] if people <= largest_optimal else [])
        totals = dict.fromkeys(names, 0.0)
        gained = 0.0
        proved = 0
        for seed in range(programmes):
            progress.update(f"{people:,} people", (number + seed / programmes) / len(sizes))
            task = draw_programme(people, seed, number_of_classes)
            plans = {
                name: create_planner(name, time_limit=seconds, fill=fill).plan(task, progress)
                for name in names
            }
            random = create_planner("random", random_seed=seed).plan(task, progress)
            for name in names:
                totals[name] += _measure_improvement(task, plans[name], random)
            if "optimal" in plans:
                gained += _measure_improvement(task, plans["optimal"], plans["heuristic"])
                proved += plans["optimal"].proof == "optimal"
        means = {name: total / programmes for name, total in totals.items()}
        rows.append(
            ImprovementRow(
                people, programmes, means, gained / programmes if "optimal" in names else None, proved
            )
        )
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


def run_country_experiment(
    dates: int,
    seed: int,
    progress: Progress,
    birth_years: tuple[int, int] = BIRTH_YEARS,
    fill: str = CLOSEST,
) -> list[CountryRow]:
    """Plan one programme per region of Table 11 and date with the greedy planner.

    Birth years are the classes, centres the slots. ``birth_years``: the first and the last one (source 004, section
    8.2: 1904 to 1996).
    """
    generator = np.random.default_rng(seed)
    years = birth_years[1] - birth_years[0] + 1
    rows = []
    for number, published in enumerate(TABLE_11):
        gains = []
        people = published.invitations // DATES
        for date in range(dates):
            progress.update(f"Region {published.region}", (number + date / dates) / len(TABLE_11))
            task = _draw_region_programme(generator, people, published.centres, years)
            random = create_planner("random", random_seed=date).plan(task, progress)
            gains.append(
                _measure_improvement(
                    task, create_planner("heuristic", fill=fill).plan(task, progress), random
                )
            )
        rows.append(
            CountryRow(published, people * dates, dates, min(gains), max(gains), float(np.mean(gains)))
        )
    return rows


def _draw_region_programme(
    generator: np.random.Generator, people: int, centres: int, years: int
) -> AppointmentTask:
    """Draw people by birth year, more of some than of others; centres of uneven size with a few seats to spare."""
    shares = generator.dirichlet(np.full(years, 8.0))
    sizes = generator.multinomial(people, shares)
    seats = np.ceil(generator.dirichlet(np.full(centres, 20.0)) * people * 1.02).astype(np.int64)
    seats[0] += max(0, people - int(seats.sum()))
    return AppointmentTask(sizes[sizes > 0].astype(np.int64), seats)


def _measure_improvement(task: AppointmentTask, plan: AppointmentPlan, random: AppointmentPlan) -> float:
    return compute_improvement(plan.vector, random.vector, task.before).value

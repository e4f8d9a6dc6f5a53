"""Measures, solutions and risks as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vbas_desktop.approaches.base import Measure
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.assessment.risk import THRESHOLDS, Risk, class_sizes, risk_of
from vbas_desktop.domain.solution import Solution

from ..plan import Plan
from .blocks import Block, Paragraph, Table
from .disclosure import Disclosure

MEASURE_ROWS = ("measure", "value", "what it says")
SUPPRESSED = "suppressed_records"
NOT_STATED = "not stated"


def measures() -> dict[str, type[Measure]]:
    """The measures that reports show. Time is none of them: it differs from run to run, a report must not."""
    return {name: kind for name, kind in approaches("rating").items() if issubclass(kind, Measure)}


def formatted(kind: type[Measure], value: float | int | None, unit: str) -> str:
    """A value as people read it; distances in km where the coordinates are metres."""
    if value is None:
        return "–"
    if kind.unit == "distance":
        return f"{value / 1000:,.3f} km" if unit == "m" else f"{value:,.4g} {unit}s"
    if isinstance(value, int) or abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:,.4f}"


def measure_rows(solution: Solution, unit: str, suppressed: str | None, show: Disclosure) -> list[tuple[str, str, str]]:
    """Every measure of the released solution that may be told, with its explanation."""
    return [
        (
            kind.card.title,
            (suppressed or NOT_STATED) if name == SUPPRESSED else formatted(kind, solution.measures[name], unit),
            " ".join(filter(None, (kind.card.summary, kind.card.when))),
        )
        for name, kind in measures().items()
        if name in solution.measures and show.measure(name, released=True)
    ]


def solution_table(solutions: Sequence[Solution], chosen: Solution, unit: str, show: Disclosure) -> Table:
    """One row per solution, with the measures that may be told of all of them."""
    kinds = {
        name: kind
        for name, kind in measures().items()
        if name in chosen.measures and show.measure(name, released=False)
    }
    rows = []
    for solution in solutions:
        cells = [f"{solution.id}{' ★' if solution.pareto else ''}", f"{solution.site_count:,}"]
        cells.append(f"{solution.aggregated_regions:,}")
        cells += [formatted(kind, solution.measures.get(name), unit) for name, kind in kinds.items()]
        rows.append(cells)
    headings = ("solution", "sites", "regions", *(kind.card.title.lower() for kind in kinds.values()))
    marked = frozenset(index for index, solution in enumerate(solutions) if solution.id == chosen.id)
    return Table(headings, rows, marked=marked)


def risk_table(plan: Plan, internal: bool) -> Iterable[Block]:
    """The risk of the released file; for the file also that of the input with its initial regions."""
    after = risk_of(plan.released)
    columns = [("released file", after)]
    if internal:
        columns.insert(0, ("input, by initial region", risk_of(class_sizes(plan.problem.counts))))
    rows = [
        ("Prosecutor: highest", *(_chance(risk.prosecutor_maximum) for _, risk in columns)),
        ("Prosecutor: average", *(_chance(risk.prosecutor_average) for _, risk in columns)),
        *(_threshold_rows(columns, plan.problem.k, internal)),
        ("Journalist: highest", *("not defined" for _ in columns)),
        ("Marketer: share recognised", *(_chance(risk.marketer) for _, risk in columns)),
    ]
    yield Table(("risk", *(name for name, _ in columns)), rows)
    yield Paragraph(
        "Prosecutor: the attacker knows that the person is in the file; the risk of a record is 1 / the records that "
        "share its values. The limits 0.2, 0.09 and 0.05 stand for classes of 5, 11 and 20. Journalist: the attacker "
        "looks the person up in a population; not defined, because no population is known. Marketer: the share of "
        "records that are recognised if each is matched at random, the file being the whole population.",
        quiet=True,
    )


def _threshold_rows(columns: Sequence[tuple[str, Risk]], k: int, internal: bool) -> Iterable[tuple[str, ...]]:
    show = Disclosure(k, internal)
    for index, (text, _) in enumerate(THRESHOLDS):
        counts = [risk.at_risk[index] for _, risk in columns]
        yield (f"Records above {text}", *(f"{count:,}" if count == 0 else show.count(count) for count in counts))


def _chance(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"

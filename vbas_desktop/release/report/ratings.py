"""Measures, solutions and risks as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vbas_desktop.approaches.base import Measure
from vbas_desktop.approaches.registry import approaches
from vbas_desktop.assessment.risk import THRESHOLDS, Risk
from vbas_desktop.model.solution import Solution

from .blocks import Block, Paragraph, Table

MEASURE_ROWS = ("measure", "value", "what it says")


def measures() -> dict[str, type[Measure]]:
    """The measures that reports show. Time is none of them: it differs from run to run, a report must not."""
    return {name: kind for name, kind in approaches("rating").items() if issubclass(kind, Measure)}


def formatted(kind: type[Measure], value: float | int | None, unit: str, digits: int | None = None) -> str:
    """A value as people read it, with so many digits; distances in km where the coordinates are metres."""
    if value is None:
        return "–"
    if kind.unit == "distance":
        return _km(value / 1000, digits) if unit == "m" else f"{value:,.{digits or 4}g} {unit}s"
    if kind.unit == "share":
        return f"{100 * value:,.2f} %" if digits is None else f"{100 * value:.{digits}g} %"
    if digits is not None and abs(value) < 100:
        return f"{value:.{digits}g}"
    if isinstance(value, int) or abs(value) >= 10_000 or digits is not None:
        return f"{value:,.0f}"
    return f"{value:,.4f}"


def _km(value: float, digits: int | None) -> str:
    if digits is None:
        return f"{value:,.3f} km"
    return f"{value:.{digits}g} km" if value < 100 else f"{value:,.0f} km"


def measure_rows(
    values: Mapping[str, float | int | None], unit: str, digits: int | None = None
) -> list[tuple[str, str, str]]:
    """Every measure that has a value, with its explanation."""
    return [
        (
            kind.card.title,
            formatted(kind, values[name], unit, digits),
            " ".join(filter(None, (kind.card.summary, kind.card.when))),
        )
        for name, kind in measures().items()
        if name in values
    ]


def solution_table(solutions: Sequence[Solution], chosen: Solution, unit: str) -> Table:
    """One row per solution with its measures."""
    kinds = {name: kind for name, kind in measures().items() if name in chosen.measures}
    rows = []
    for solution in solutions:
        cells = [f"{solution.id}{' ★' if solution.pareto else ''}", f"{solution.site_count:,}"]
        cells.append(f"{solution.aggregated_regions:,}")
        cells += [formatted(kind, solution.measures.get(name), unit) for name, kind in kinds.items()]
        rows.append(cells)
    headings = ("solution", "sites", "regions", *(kind.card.title.lower() for kind in kinds.values()))
    marked = frozenset(index for index, solution in enumerate(solutions) if solution.id == chosen.id)
    return Table(headings, rows, marked=marked)


def journalist_of(document: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """The journalist's risk of the released file, as far as the inhabitants are known: what it is, and its value."""
    found = document.get("population")
    if not found:
        return ((_JOURNALIST, "not computed: no population is known (--population, or the page Policy)"),)
    for word in ("", "_estimated"):
        highest, average = found[f"journalist_maximum{word}"], found[f"journalist_average{word}"]
        if highest is not None:
            how = ", estimated" if word else ""
            return (f"{_JOURNALIST}{how}", f"{highest:.4g}"), (f"Journalist: average{how}", f"{average:.4g}")
    return ((_JOURNALIST, f"not computed: {found['not_exact_because']}"),)


def journalist_told(found: Mapping[str, Any] | None, whole: bool) -> Sequence[tuple[str, str]]:
    """What the recipient is told of it: what follows from the released file and a table of the population.

    An estimate goes by the records of the file, suppressed ones too, so it is not told. ``whole``: the released columns
    tell the classes.
    """
    if not found:
        return ((_JOURNALIST, "not computed: no population is known"),)
    if found["not_estimated_because"] or found["journalist_maximum_estimated"] is not None:
        return ((_JOURNALIST, "not computed: inhabitants are known by region only, not by the values of a record"),)
    if not whole:
        return ((_JOURNALIST, "not computed: the file lacks a column that the classes are made of"),)
    highest, average = found["journalist_maximum"], found["journalist_average"]
    if highest is None:
        return ((_JOURNALIST, "not computed: the table of the population does not fit the released records"),)
    return (_JOURNALIST, f"{highest:.2g}"), ("Journalist: average", f"{average:.2g}")


def risk_blocks(
    columns: Sequence[tuple[str, Risk]], journalist: Sequence[tuple[str, str]], digits: int = 4
) -> Iterable[Block]:
    """The risks of one or more files side by side, each with its heading; ``journalist`` is that of the last."""

    def chance(value: float | None) -> str:
        return "–" if value is None else f"{value:.{digits}g}"

    blank = [""] * (len(columns) - 1)
    rows = [
        ("Prosecutor: highest", *(chance(risk.prosecutor_maximum) for _, risk in columns)),
        ("Prosecutor: average", *(chance(risk.prosecutor_average) for _, risk in columns)),
        *(
            (f"Records above {text}", *(f"{risk.at_risk[index]:,}" for _, risk in columns))
            for index, (text, _) in enumerate(THRESHOLDS)
        ),
        *((name, *blank, value) for name, value in journalist),
        ("Marketer: share recognised", *(chance(risk.marketer) for _, risk in columns)),
    ]
    yield Table(("risk", *(name for name, _ in columns)), rows)
    yield Paragraph(
        "Prosecutor: the attacker knows that the person is in the file; the risk of a record is 1 / the records that "
        "share its values. The limits 0.2, 0.09 and 0.05 stand for classes of 5, 11 and 20. Journalist: the attacker "
        "looks the person up among all inhabitants; 1 / those of the place with the same values. Marketer: the share "
        "of records that are recognised if each is matched at random, the file being the whole population.",
        quiet=True,
    )


_JOURNALIST = "Journalist: highest"

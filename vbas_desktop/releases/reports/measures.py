"""The sections on measures, risks and geography."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.analysis.risk import THRESHOLDS, ReidentificationRisk
from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.engine.figures import (
    MISSING,
    SolutionFigure,
    Value,
    format_to_four_decimals,
    get_measure_figure,
)
from vbas_desktop.engine.geographic_representability import GeographicRepresentability, distance_scale
from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.solution import Solution

from ..plan import ReleasePlan
from ..tables import code_order
from .blocks import Block, Pairs, Paragraph, Table
from .regions import format_counts, region_table

MEASURE_ROWS = ("measure", "value", "what it says")


def format_measure(
    figure: SolutionFigure, value: Value, system: CoordinateSystem, digits: int | None = None
) -> str:
    """Write a measure with its unit, with so many digits if that is given."""
    shown = figure.convert(value, system)
    if shown is None:
        return MISSING
    if figure.unit == "distance":
        return _format_distance(shown, system, digits)
    if figure.unit == "share":
        return f"{shown:,.2f} %" if digits is None else f"{shown:.{digits}g} %"
    if digits is None:
        return format_to_four_decimals(shown)
    return f"{shown:.{digits}g}" if abs(shown) < 100 else f"{shown:,.0f}"


def _format_distance(value: float, system: CoordinateSystem, digits: int | None) -> str:
    if system.unit != "m":
        return f"{value:,.{digits or 4}g} {system.unit}s"
    if digits is None:
        return f"{value:,.3f} km"
    return f"{value:.{digits}g} km" if value < 100 else f"{value:,.0f} km"


def list_report_figures(measures: Iterable[str]) -> list[SolutionFigure]:
    """List the figures of these measures that reports show, in menu order.

    Time is none of them: it differs from run to run, a report must not.
    """
    names = set(measures)
    return [get_measure_figure(name) for name in list_approaches("rating") if name in names]


def measure_rows(
    values: Mapping[str, Value], system: CoordinateSystem, digits: int | None = None
) -> list[tuple[str, str, str]]:
    """List title, value and explanation of every measure that is given."""
    return [
        (
            figure.title,
            format_measure(figure, values[figure.name], system, digits),
            _explain(figure.name),
        )
        for figure in list_report_figures(values)
    ]


def _explain(measure: str) -> str:
    metadata = list_approaches("rating")[measure].metadata
    return " ".join(filter(None, (metadata.summary, metadata.when)))


def solution_table(solutions: Sequence[Solution], chosen: Solution, system: CoordinateSystem) -> Table:
    """Make a table with one row per solution: its regions and its measures."""
    figures = list_report_figures(chosen.measures)
    rows = []
    for solution in solutions:
        cells = [f"{solution.id}{' ★' if solution.pareto else ''}", f"{solution.site_count:,}"]
        cells.append(f"{solution.aggregated_regions:,}")
        cells += [format_measure(figure, figure.read(solution), system) for figure in figures]
        rows.append(cells)
    headings = ("solution", "sites", "regions", *(figure.title.lower() for figure in figures))
    marked = frozenset(index for index, solution in enumerate(solutions) if solution.id == chosen.id)
    return Table(headings, rows, marked=marked)


def journalist_risk(document: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """List the journalist's risk of the file, as far as the inhabitants are known: what it is, and its value."""
    population = document.get("population")
    if not population:
        return (
            (_JOURNALIST, "not computed: no population is known (--population, or the page Policy)"),
        )
    for word in ("", "_estimated"):
        highest = population[f"journalist_maximum{word}"]
        average = population[f"journalist_average{word}"]
        if highest is not None:
            how = ", estimated" if word else ""
            return (f"{_JOURNALIST}{how}", f"{highest:.4g}"), (
                f"Journalist: average{how}",
                f"{average:.4g}",
            )
    return ((_JOURNALIST, f"not computed: {population['not_exact_because']}"),)


def journalist_risk_for_recipients(
    population: Mapping[str, Any] | None, whole: bool
) -> Sequence[tuple[str, str]]:
    """State the journalist risk as far as it follows from the released file and a table of the population.

    An estimate goes by the records of the file, suppressed ones too, so it is not told. ``whole``: the released columns
    tell the classes.
    """
    if not population:
        return ((_JOURNALIST, "not computed: no population is known"),)
    if population["not_estimated_because"] or population["journalist_maximum_estimated"] is not None:
        return (
            (
                _JOURNALIST,
                "not computed: inhabitants are known by region only, not by the values of a record",
            ),
        )
    if not whole:
        return ((_JOURNALIST, "not computed: the file lacks a column that the classes are made of"),)
    highest = population["journalist_maximum"]
    average = population["journalist_average"]
    if highest is None:
        return (
            (_JOURNALIST, "not computed: the table of the population does not fit the released records"),
        )
    return (_JOURNALIST, f"{highest:.2g}"), ("Journalist: average", f"{average:.2g}")


def risk_blocks(
    columns: Sequence[tuple[str, ReidentificationRisk]],
    journalist: Sequence[tuple[str, str]],
    digits: int = 4,
) -> Iterable[Block]:
    """Yield the risks of files side by side, each with its heading; ``journalist`` is that of the last."""

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


_INTRODUCTION = (
    "Merging regions moves records: after it, a record’s place is known only as its aggregated region. These numbers "
    "say how much that changes."
)


def geography_blocks_for_recipients(overall: Mapping[str, Any]) -> Iterable[Block]:
    """Yield what remains of the geography for the recipient, from the released vector."""
    yield Paragraph(_INTRODUCTION)
    low = overall["sample_size_ratio_at_least"]
    high = overall["sample_size_ratio_at_most"]
    share = "not stated" if (low, high) == (0, 1) else f"{100 * low:.0f} to {100 * high:.0f} %"
    moved = "mean distance from an initial region to the middle of its aggregated region, weighted by its records"
    yield _measures(overall, share, moved)
    yield Paragraph(
        "The same with every aggregated region is in representability.json. Widths and distances take every initial "
        "region once, because how records were spread over them is not released; two digits are given.",
        quiet=True,
    )


def _measures(overall: Mapping[str, Any], share: str, moved: str) -> Table:
    unit = overall["distance_unit"]
    items = [
        ("Detail kept", _format(overall["precision"]), "1 if every value and place is as it was: the mean over the "
         "columns"),
        ("Detail kept by column", _format_by_column(overall["precision_by_column"]), "0.5 for a column of grouped "
         "values; the place loses log₂(initial regions in the record’s place) / log₂(all initial regions): 1 if "
         "nothing is merged, 0 for one region"),
        ("Kept together (Jaccard)", _format(overall["jaccard"]), "of the pairs of records with the same values and the "
         "same aggregated region, the share that already had the same initial region"),
        ("Fowlkes–Mallows", _format(overall["fowlkes_mallows"]), "the square root of it, as no class is ever split"),
        ("Hubert’s statistic", _format(overall["hubert"]), "the correlation of being together before and after, over "
         "all pairs of records"),
        ("Loss by entropy", _format(overall["entropy_loss"]), "how uncertain the initial region and values of a record "
         "are if its class is known: 0 nothing is lost, 1 everything"),
        ("Davies–Bouldin", _format(overall["davies_bouldin"]), "how wide the aggregated regions are against the "
         "distance of their centres: lower is better"),
        ("Davies–Bouldin, normalised", _format(overall["davies_bouldin_normalised"]), "the same between the best case "
         "(0: nothing merged) and the worst (1), which is one for all releases of a file"),
        ("Distance moved", _format(overall["mean_distance"], f" {unit}"), moved),
        ("Share of records released", share, "of the records of the file"),
    ]  # fmt: skip
    return Table(("measure", "value", "what it says"), items, 1, 2)


def geography_blocks(plan: ReleasePlan, geography: GeographicRepresentability) -> Iterable[Block]:
    """Yield what remains of the geography for the internal report: exact, and with a table by region."""
    overall = geography.as_dict(plan.problem.regions.system.unit)
    yield Paragraph(_INTRODUCTION)
    moved = "mean distance from the initial region to the middle of the aggregated region’s records"
    yield _measures(overall, f"{100 * overall['sample_size_ratio']:.4g} %", moved)
    yield Paragraph(
        f"With the suppressed records taken as one more class: Jaccard {_format(overall['jaccard_with_suppressed'])}, "
        f"Fowlkes–Mallows {_format(overall['fowlkes_mallows_with_suppressed'])}, detail kept "
        f"{_format(overall['precision_with_suppressed'])}. The Rand index is "
        f"{_format(overall['rand'])}; it is close to 1 whatever is merged and says little here.",
        quiet=True,
    )
    yield Pairs([("Over the aggregated regions", _describe_quartiles(geography, plan))])
    yield _farthest_table(plan, geography)


def _describe_quartiles(geography: GeographicRepresentability, plan: ReleasePlan) -> str:
    scale, unit = distance_scale(plan.problem.regions.system.unit)
    jaccard = _quartiles(geography.region_jaccard)
    distance = _quartiles(geography.region_distance / scale)
    if jaccard is None or distance is None:
        return "no record was released"
    distances = ", ".join(f"{value:.3g}" for value in distance)
    return f"quartiles of Jaccard {', '.join(f'{value:.3f}' for value in jaccard)}; of the distance {distances} {unit}"


def _quartiles(values: NDArray[np.float64]) -> list[float] | None:
    finite = values[np.isfinite(values)]
    return [float(value) for value in np.quantile(finite, (0.25, 0.5, 0.75))] if finite.size else None


def _farthest_table(plan: ReleasePlan, geography: GeographicRepresentability) -> Table:
    scale, unit = distance_scale(plan.problem.regions.system.unit)
    order = sorted(
        code_order(plan), key=lambda number: -np.nan_to_num(geography.region_distance[number], nan=-1.0)
    )
    columns = {
        "records released": format_counts(plan.released_by_region),
        "kept together": lambda number: _format(float(geography.region_jaccard[number])),
        "Fowlkes–Mallows": lambda number: _format(float(geography.region_fowlkes_mallows[number])),
        "Davies–Bouldin": lambda number: _format(float(geography.region_davies_bouldin[number])),
        f"distance moved ({unit})": lambda number: _format(
            float(geography.region_distance[number]) / scale
        ),
    }
    return region_table(plan, order, columns, caption="Those whose records moved farthest first.")


def _format_by_column(by_column: Mapping[str, float] | None) -> str:
    if by_column is None:
        return _format(None)
    return "; ".join(f"{name} {_format(value)}" for name, value in by_column.items())


def _format(value: float | None, unit: str = "") -> str:
    if value is None or not np.isfinite(value):
        return "not stated" if value is None else "–"
    return f"{value:.4g}{unit}"

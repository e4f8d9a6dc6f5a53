"""``comparison.csv``: one row per solution with every measure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from vbas_desktop.approaches.registry import DEFAULTS
from vbas_desktop.domain.solution import Solution

from .run import Comparison, Finished

_FACTS = ("released_records", "anonymity", "regions_without_release")
_VECTOR = (
    "precision",
    "precision_with_suppressed",
    "jaccard",
    "jaccard_with_suppressed",
    "fowlkes_mallows",
    "fowlkes_mallows_with_suppressed",
    "rand",
    "davies_bouldin",
    "davies_bouldin_normalised",
    "mean_distance",
    "distance_unit",
    "sample_size_ratio",
)
"""What is shown of the representability vector, where solutions have one."""

Chosen = Callable[[Solution], bool]


def columns_of(comparison: Comparison) -> list[str]:
    """The columns: the scenario, the combination, the solution, its measures, what it is worth."""
    found = [solution for _, solution in comparison.solutions]
    measures = list(dict.fromkeys(name for solution in found for name in solution.measures))
    return [
        "solution",
        "scenario",
        "quasi_identifiers",
        "generalised",
        "k",
        "records",
        "regions",
        "equivalence_classes",
        "classes_present",
        "globally_suppressed_records",
        "site_number",
        "site_location",
        "adc_seeding",
        "construction",
        "refinement",
        "tiers",
        "parameters",
        "approximated_sites",
        "sites",
        "aggregated_regions",
        "suppressed_percent",
        *measures,
        *_FACTS,
        *(_VECTOR if any(each.representability for each in found) else ()),
        "pareto",
        "recommended",
        "knee",
        "same_as",
        *(("meets_requirement",) if any(each.requirement is not None for each in found) else ()),
    ]


def rows_of(comparison: Comparison, only: Chosen | None = None) -> list[dict[str, Any]]:
    """One row per solution by column, or per solution that is wanted; what is undefined is None."""
    numbers = {scenario: number for number, scenario in enumerate(comparison.plan.scenarios, 1)}
    rows = []
    for number, (finished, solution) in enumerate(comparison.solutions, 1):
        scenario = finished.combination.scenario
        if only is not None and not only(solution):
            continue
        rows.append(
            {
                "solution": number,
                "scenario": numbers[scenario],
                "quasi_identifiers": ", ".join(scenario.quasi_identifiers),
                "generalised": "yes" if scenario.generalised else "no",
                "k": scenario.k,
                **_problem(finished),
                **_solution(solution),
                **{name: "yes" if getattr(solution, name) else "no" for name in ("pareto", "recommended", "knee")},
                "same_as": solution.same_as,
                **_verdict(solution),
            }
        )
    return rows


def csv_text(comparison: Comparison, only: Chosen | None = None) -> str:
    """The table as CSV with exact values."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns_of(comparison), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows_of(comparison, only))
    return text.getvalue()


def _problem(finished: Finished) -> dict[str, Any]:
    problem, result = finished.problem, finished.result
    return {
        "records": problem.records,
        "regions": len(problem.regions),
        "equivalence_classes": problem.counts.equivalence_classes,
        "classes_present": result.classes_present,
        "globally_suppressed_records": result.globally_suppressed_records,
    }


def _solution(solution: Solution) -> dict[str, Any]:
    named = {name: solution.approaches.get(name) for name in DEFAULTS}
    vector = solution.representability
    return {
        **named,
        "adc_seeding": solution.approaches.get("adc_seeding"),
        "parameters": json.dumps(solution.parameters, sort_keys=True, ensure_ascii=False),
        "approximated_sites": solution.approximated_sites,
        "sites": solution.site_count,
        "aggregated_regions": solution.aggregated_regions,
        "suppressed_percent": 100 * solution.suppressed_share,
        **solution.measures,
        **{name: getattr(solution, name) for name in _FACTS},
        **({name: vector.get(name) for name in _VECTOR} if vector else {}),
    }


def _verdict(solution: Solution) -> dict[str, str]:
    if solution.requirement is None:
        return {}
    return {"meets_requirement": "yes" if solution.requirement.met else "no"}

"""``comparison.csv``: one row per solution with every measure."""

from __future__ import annotations

import json
from typing import Any

from vbas_desktop.approaches.registry import DEFAULTS
from vbas_desktop.model.solution import Solution

from .published import csv_of
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
    "hubert",
    "entropy_loss",
    "davies_bouldin",
    "davies_bouldin_normalised",
    "mean_distance",
    "distance_unit",
    "sample_size_ratio",
)
"""What is shown of the representability vector, where solutions have one."""


def rows_of(comparison: Comparison, suitable_only: bool = False) -> list[dict[str, Any]]:
    """One row per solution by column: the scenario, the combination, the solution, its measures, what it is worth.

    What is undefined is None. ``suitable_only``: only the solutions that meet the requirement.
    """
    numbers = {scenario: number for number, scenario in enumerate(comparison.plan.scenarios, 1)}
    rows = []
    for number, (finished, solution) in enumerate(comparison.solutions, 1):
        scenario, verdict = finished.combination.scenario, solution.requirement
        if suitable_only and not solution.is_suitable:
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
                **({} if verdict is None else {"meets_requirement": "yes" if verdict.met else "no"}),
            }
        )
    return rows


def csv_text(comparison: Comparison, suitable_only: bool = False) -> str:
    """The table as CSV with exact values."""
    columns = list(dict.fromkeys(name for row in rows_of(comparison) for name in row))
    # What ADC starts from stands beside it.
    columns.remove("adc_seeding")
    columns.insert(columns.index("site_location") + 1, "adc_seeding")
    return csv_of(columns, ([row.get(name) for name in columns] for row in rows_of(comparison, suitable_only)))


def _problem(finished: Finished) -> dict[str, Any]:
    problem, result = finished.problem, finished.result
    return {
        "records": problem.records,
        "regions": len(problem.regions),
        "equivalence_classes": problem.counts.max_combinations,
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

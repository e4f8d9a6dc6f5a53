"""``comparison.csv``: one row per solution with every measure."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from vbas_desktop.domain.solution import Solution

from .run import Comparison, Finished

_FACTS = ("released_records", "anonymity", "regions_without_release")


def columns_of(comparison: Comparison) -> list[str]:
    """The columns: the scenario, the combination, the solution, its measures."""
    measures = list(dict.fromkeys(name for _, solution in comparison.solutions for name in solution.measures))
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
        "parameters",
        "approximated_sites",
        "sites",
        "aggregated_regions",
        *measures,
        *_FACTS,
        "pareto",
    ]


def rows_of(comparison: Comparison) -> list[dict[str, Any]]:
    """One row per solution by column; what is undefined is None."""
    numbers = {scenario: number for number, scenario in enumerate(comparison.plan.scenarios, 1)}
    rows = []
    for number, (finished, solution) in enumerate(comparison.solutions, 1):
        scenario = finished.combination.scenario
        rows.append(
            {
                "solution": number,
                "scenario": numbers[scenario],
                "quasi_identifiers": ", ".join(scenario.quasi_identifiers),
                "generalised": "yes" if scenario.generalised else "no",
                "k": scenario.k,
                **_problem(finished),
                **_solution(solution),
                "pareto": "yes" if solution.pareto else "no",
            }
        )
    return rows


def csv_text(comparison: Comparison) -> str:
    """The table as CSV with exact values."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns_of(comparison), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows_of(comparison))
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
    named = {name: solution.approaches.get(name) for name in ("site_number", "site_location", "construction")}
    facts = solution.facts or {}
    return {
        **named,
        "adc_seeding": solution.approaches.get("adc_seeding"),
        "parameters": json.dumps(solution.parameters, sort_keys=True, ensure_ascii=False),
        "approximated_sites": solution.approximated_sites,
        "sites": solution.site_count,
        "aggregated_regions": solution.aggregated_regions,
        **solution.measures,
        **{name: facts.get(name) for name in _FACTS},
    }

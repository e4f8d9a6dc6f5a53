"""What a planned release is like by the figures that policies ask for, and how it fares by one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vbas_desktop.analysis.policy_evaluation import (
    PolicyEvaluation,
    ReleaseFigures,
    collect_ledger_figures,
    collect_population_figures,
    collect_record_figures,
    collect_sensitive_figures,
    evaluate_policy,
    merge_figures,
)
from vbas_desktop.analysis.risk import (
    PopulationRisk,
    ReleasedTier,
    compute_population_risk,
    estimate_population_risk,
)
from vbas_desktop.io.documents.policies import find_policy
from vbas_desktop.model.policies import RECORDS
from vbas_desktop.model.problem import Population

from .plan import ReleasePlan

ANSWERS = "answers"
"""Where a filled-in checklist keeps the answers to the questions of policies."""


def assess_population_risk(
    plan: ReleasePlan, column: str | None, population: Population | None
) -> PopulationRisk | None:
    """Assess the risk among all inhabitants, by a table or else a column of the region file; None without either."""
    if population is not None:
        return compute_population_risk(
            population,
            Path(population.source.path).name,
            plan.problem.counts.records,
            list_released_classes(plan),
        )
    if column is None or column not in plan.regions.numbers:
        return None
    return estimate_population_risk(
        column,
        plan.regions.numbers[column],
        plan.problem.counts.region_totals,
        list_released_classes(plan),
    )


def list_released_classes(plan: ReleasePlan) -> tuple[ReleasedTier, ...]:
    """List the released classes of every tier with their places."""
    own = ReleasedTier(plan.membership, plan.places, plan.columns, plan.released_here)
    return (
        own,
        *(
            ReleasedTier(tier.membership, tier.size_places, tier.size_classes, tier.sizes)
            for tier in plan.coarser
        ),
    )


def compute_policy_figures(plan: ReleasePlan, document: Mapping[str, Any]) -> ReleaseFigures:
    """Collect all figures of a release; those of ledger and inhabitants are taken from the document of the run."""
    sizes, numbers = np.unique(plan.sizes, return_counts=True)
    suppressed_percent = 100 * plan.records_suppressed / max(1, plan.problem.records)
    return merge_figures(
        collect_record_figures(
            dict(zip(sizes.tolist(), numbers.tolist(), strict=True)), plan.smallest_area
        ),
        ReleaseFigures({("suppressed_percent", RECORDS): suppressed_percent}),
        collect_sensitive_figures(plan.solution.sensitive),
        collect_ledger_figures(document.get("ledger_check")),
        collect_population_figures(document.get("population")),
    )


def judge_release(name: str, plan: ReleasePlan, document: Mapping[str, Any]) -> PolicyEvaluation:
    """Judge a release by the policy of this id or in this file."""
    answers = (document.get("policy_checklist") or {}).get(ANSWERS) or {}
    return evaluate_policy(find_policy(name), compute_policy_figures(plan, document), answers)

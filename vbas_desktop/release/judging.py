"""What a planned release is like by the figures that policies ask for, and how it fares by one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vbas_desktop.assessment.policies import (
    Figures,
    Judgement,
    judge,
    ledger_figures,
    population_figures,
    record_figures,
    sensitive_figures,
    together,
)
from vbas_desktop.assessment.risk import Placed, PopulationRisk, estimated_risk, exact_risk
from vbas_desktop.io.policies import find_policy
from vbas_desktop.model.policies import RECORDS
from vbas_desktop.model.problem import Population

from .plan import Plan

ANSWERS = "answers"
"""Where a filled-in checklist keeps the answers to the questions of policies."""


def population_of(plan: Plan, column: str | None, population: Population | None) -> PopulationRisk | None:
    """What is known of the inhabitants: by a table, else by a column of the region file; None if neither is there."""
    if population is not None:
        return exact_risk(population, Path(population.source.path).name, plan.problem.counts.records, placed(plan))
    if column is None or column not in plan.regions.numbers:
        return None
    return estimated_risk(column, plan.regions.numbers[column], plan.problem.counts.region_totals, placed(plan))


def placed(plan: Plan) -> tuple[Placed, ...]:
    """The released classes of every tier with their places."""
    own = Placed(plan.membership, plan.places, plan.columns, plan.released_here)
    return (
        own,
        *(Placed(tier.membership, tier.size_places, tier.size_classes, tier.sizes) for tier in plan.coarser),
    )


def figures_of(plan: Plan, document: Mapping[str, Any]) -> Figures:
    """All figures of a release; what the ledger and the inhabitants say is taken from the document of the run."""
    sizes, numbers = np.unique(plan.sizes, return_counts=True)
    lost = 100 * plan.records_suppressed / max(1, plan.problem.records)
    return together(
        record_figures(dict(zip(sizes.tolist(), numbers.tolist(), strict=True)), plan.smallest_area),
        Figures({("suppressed_percent", RECORDS): lost}),
        sensitive_figures(plan.solution.sensitive),
        ledger_figures(document.get("ledger_check")),
        population_figures(document.get("population")),
    )


def judged_by(name: str, plan: Plan, document: Mapping[str, Any]) -> Judgement:
    """A release judged by the policy of this id or in this file."""
    answers = (document.get("policy_checklist") or {}).get(ANSWERS) or {}
    return judge(find_policy(name), figures_of(plan, document), answers)

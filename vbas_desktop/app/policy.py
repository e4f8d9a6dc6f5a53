"""Judging a solution by a policy before it is released, and making a copy of a policy to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vbas_desktop.analysis.policy_evaluation import PolicyEvaluation, ReleaseFigures, evaluate_policy
from vbas_desktop.io.documents.policies import find_policy, load_policy_text
from vbas_desktop.io.documents.population import read_population
from vbas_desktop.io.output import write_text
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.solution import Solution
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.releases.policy_figures import assess_population_risk, compute_policy_figures

from .inputs import check_saved_file


@dataclass(frozen=True, eq=False)
class Outcome:
    """The judgement and what the inhabitants say, as far as both are known; ``problems`` are those of the files."""

    judgement: PolicyEvaluation | None = None
    population: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class JudgeRequest:
    """Judge a solution by a policy (empty: none); without a solution its criteria wait for one.

    ``column`` of the region file and the table ``population`` tell the inhabitants. Earlier releases are compared when
    the release is written, not here.
    """

    policy: str
    problem: Problem | None = None
    solution: Solution | None = None
    column: str | None = None
    population: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)


def judge_solution(request: JudgeRequest, progress: Progress = NO_PROGRESS) -> Outcome:
    """Count, and judge; what is wrong with a file is handed back."""
    progress.update("Judging by the policy")
    problems: list[str] = []
    judgement = found = None
    try:
        found = _assess_population(request, progress)
    except InputError as error:
        problems += map(str, error.findings)
    try:
        judgement = _evaluate(request, {} if found is None else {"population": found})
    except InputError as error:
        problems += map(str, error.findings)
    return Outcome(judgement, found, tuple(problems))


def _assess_population(request: JudgeRequest, progress: Progress) -> dict[str, Any] | None:
    if request.problem is None or request.solution is None or not (request.population or request.column):
        return None
    table = (
        read_population(Path(request.population), request.problem, progress)
        if request.population
        else None
    )
    risk = assess_population_risk(build_plan(request.problem, request.solution), request.column, table)
    return None if risk is None else risk.as_dict()


def _evaluate(request: JudgeRequest, document: dict[str, Any]) -> PolicyEvaluation | None:
    if not request.policy:
        return None
    policy = find_policy(request.policy)
    if request.problem is None or request.solution is None:
        figures = ReleaseFigures(
            {},
            {
                (criterion.measure, criterion.of): "there is no solution yet"
                for criterion in policy.criteria
            },
        )
    else:
        figures = compute_policy_figures(build_plan(request.problem, request.solution), document)
    return evaluate_policy(policy, figures, request.answers)


@dataclass(frozen=True)
class CopyPolicyRequest:
    """Write a copy of a policy (empty: an example) to a file that can be changed.

    ``inputs`` are the options that name files to be read, which are not written over.
    """

    policy: str
    target: Path
    inputs: Mapping[str, Any] = field(default_factory=dict)


def copy_policy(request: CopyPolicyRequest, progress: Progress = NO_PROGRESS) -> Path:
    """Write the file and return its path."""
    progress.update("Writing the policy")
    check_saved_file(request.target, request.inputs)
    write_text(request.target, load_policy_text(request.policy))
    return request.target

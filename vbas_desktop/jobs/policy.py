"""Judging a solution by a policy before it is released, and making a copy of a policy to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.model.errors import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.solution import Solution

if TYPE_CHECKING:
    from vbas_desktop.assessment.policies import Judgement


@dataclass(frozen=True, eq=False)
class Outcome:
    """The judgement and what the inhabitants say, as far as both are known; ``problems`` are those of the files."""

    judgement: Judgement | None = None
    population: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class JudgeJob:
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

    def execute(self, progress: Progress = Silent()) -> Outcome:  # noqa: B008 (Silent has no state)
        """Count, and judge; what is wrong with a file is handed back."""
        progress.update("Judging by the policy")
        problems: list[str] = []
        judgement = found = None
        try:
            found = self._population(progress)
        except InputError as error:
            problems += map(str, error.findings)
        try:
            judgement = self._judged({} if found is None else {"population": found})
        except InputError as error:
            problems += map(str, error.findings)
        return Outcome(judgement, found, tuple(problems))

    def _population(self, progress: Progress) -> dict[str, Any] | None:
        from vbas_desktop.io.population import read_population
        from vbas_desktop.release.judging import population_of
        from vbas_desktop.release.plan import make_plan

        if self.problem is None or self.solution is None or not (self.population or self.column):
            return None
        table = read_population(Path(self.population), self.problem, progress) if self.population else None
        risk = population_of(make_plan(self.problem, self.solution), self.column, table)
        return None if risk is None else risk.as_dict()

    def _judged(self, document: dict[str, Any]) -> Judgement | None:
        from vbas_desktop.assessment.policies import Figures, judge
        from vbas_desktop.io.policies import find_policy
        from vbas_desktop.release.judging import figures_of
        from vbas_desktop.release.plan import make_plan

        if not self.policy:
            return None
        policy = find_policy(self.policy)
        if self.problem is None or self.solution is None:
            figures = Figures({}, {(each.measure, each.of): "there is no solution yet" for each in policy.criteria})
        else:
            figures = figures_of(make_plan(self.problem, self.solution), document)
        return judge(policy, figures, self.answers)


@dataclass(frozen=True)
class CopyPolicyJob:
    """Write a copy of a policy (empty: an example) to a file that can be changed.

    ``inputs`` are the options that name files to be read, which are not written over.
    """

    policy: str
    target: Path
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def execute(self, progress: Progress = Silent()) -> Path:  # noqa: B008
        """Write the file; the place of it."""
        from vbas_desktop.io.output import write_text
        from vbas_desktop.io.policies import text_of

        from .inputs import check_saved_file

        progress.update("Writing the policy")
        check_saved_file(self.target, self.inputs)
        write_text(self.target, text_of(self.policy))
        return self.target

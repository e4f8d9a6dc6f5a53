"""What the choices in force will come to, before anything is run: classes, records, sites."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from vbas_desktop.comparison.plan import seconds_of_one, seconds_of_rating
from vbas_desktop.comparison.words import duration_in_words, span_in_words
from vbas_desktop.engine.advice import KeptTrials
from vbas_desktop.engine.partitions import Partitions, decide_sites
from vbas_desktop.model.errors import Finding
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.solution import RunResult
from vbas_desktop.model.words import agreeing, counted, share_in_words

from .orders import RunOrder
from .results import ProblemKey, Run
from .words import product_in_words

_LONG_SECONDS = 8.0
"""A run that takes longer says so beforehand."""


@dataclass(frozen=True)
class Expected:
    """Between how many seconds a run will take; ``a_guess``: nothing like it was done here yet."""

    low: float
    high: float
    a_guess: bool = False

    @property
    def in_words(self) -> str:
        """A sentence; empty if there is nothing to prepare for."""
        if math.sqrt(self.low * self.high) < _LONG_SECONDS:
            return ""
        if self.low == self.high:
            return f"Will take about {duration_in_words(self.low)}."
        how = "roughly" if self.a_guess else "about"
        more = ": a first guess, nothing like it was run on these data yet" if self.a_guess else ""
        return f"Will take {how} {span_in_words(self.low, self.high)}{more}."


@dataclass(frozen=True, eq=False)
class Estimate:
    """The size of the problem and the number of sites that would be tried."""

    key: ProblemKey
    problem: Problem
    globally_suppressed: int
    approximated_sites: int
    site_numbers: tuple[int, ...]
    suppressed: int | None = None
    allowed_loss_percent: float | None = None
    findings: tuple[Finding, ...] = ()
    approaches: Mapping[str, str] = field(default_factory=dict)
    guessed_seconds: float = 0.0
    tried_seconds: float | None = None

    def expected(self, runs: Iterable[Run]) -> Expected:
        """How long a run will take: by the latest one with the same approaches, or else by what was tried of this one,
        or else by a first guess.
        """
        for run in reversed(list(runs)):
            if run.result is None or run.problem is None or not run.result.solutions:
                continue
            if all(run.choices.approaches.get(name) == approach for name, approach in self.approaches.items()):
                larger = _stored(self.problem) / max(1, _stored(run.problem))
                seconds = _seconds_of_one(run.result) * len(self.site_numbers) * larger
                return Expected(seconds, seconds)
        if self.tried_seconds is not None:
            return Expected(self.tried_seconds / 2, 2 * self.tried_seconds)
        return Expected(self.guessed_seconds / 3, 3 * self.guessed_seconds, a_guess=True)

    @property
    def in_words(self) -> str:
        """The live line: "7 × 2 = 14 classes; 2,433,221 records; approximated 350 sites"."""
        counts = self.problem.counts
        parts = [
            product_in_words(counts.n_categories, counts.max_combinations),
            counted(self.problem.records, "record"),
            self._sites_in_words,
        ]
        return "; ".join(parts)

    @property
    def _sites_in_words(self) -> str:
        """The number of sites, with what it loses where that was tried out."""
        if self.suppressed is None or self.allowed_loss_percent is None:
            return f"approximated {counted(self.approximated_sites, 'site')}"
        lost = share_in_words(self.suppressed, self.problem.records)
        loses = agreeing(self.approximated_sites, "loses", "lose")
        return f"{counted(self.approximated_sites, 'site')} {loses} {lost}, allowed {self.allowed_loss_percent:g} %"

    @property
    def more_in_words(self) -> str:
        """What the live line has no room for."""
        parts = [f"{finding.message} {finding.remedy}".strip() for finding in self.findings]
        if len(self.site_numbers) > 1:
            parts.append(f"Will try {', '.join(f'{number:,}' for number in self.site_numbers)} sites.")
        if self.globally_suppressed:
            parts.append(f"{counted(self.globally_suppressed, 'record')} suppressed before anything is merged.")
        if self.problem.unknown_region_records:
            parts.append(f"{counted(self.problem.unknown_region_records, 'record')} of unknown regions suppressed.")
        return " ".join(parts)


def estimate(order: RunOrder, progress: Progress = Silent()) -> Estimate:  # noqa: B008
    """Count if necessary and find the number of sites; far cheaper than a run, which need not try the same again."""
    problem = order.job.count(progress)
    request = order.job.request(problem)
    partitions = (order.job.kept or KeptTrials()).partitions(request, progress)
    sites, findings = decide_sites(partitions, progress)
    around = partitions.around(sites)
    return Estimate(
        order.key,
        problem,
        problem.counts.records - partitions.situation.records,
        sites,
        around,
        partitions.tried.get(sites),
        request.site_number.allowed_loss(),
        tuple(findings),
        {**order.choices.approaches},
        len(around) * seconds_of_one(request.site_location, _stored(problem)) * order.pace,
        _tried_seconds(partitions, around, _stored(problem)),
    )


def _seconds_of_one(result: RunResult) -> float:
    """What a solution of a run took; the first may have waited for what is made ready once and for all."""
    usual = median(solution.seconds for solution in result.solutions)
    return min(usual, result.seconds / len(result.solutions)) if usual > 0 else result.seconds / len(result.solutions)


def _tried_seconds(partitions: Partitions, around: Sequence[int], stored: int) -> float | None:
    """How long these numbers of sites will take if each takes as long as those that were tried, which are not made
    again; rating takes as long as a quick approach. None if none was tried.
    """
    one = partitions.known.seconds_of_one
    if one is None:
        return None
    rated = len(around) * seconds_of_rating(stored)
    return one * sum(number not in partitions.tried for number in around) + rated


def _stored(problem: Problem) -> int:
    return int(problem.counts.table.nnz)

"""What the choices in force will come to, before anything is run: classes, records, sites."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from vbas_desktop.app.run import build_engine_request, get_problem
from vbas_desktop.engine.comparison.plan import estimate_aggregation_seconds, estimate_rating_seconds
from vbas_desktop.engine.partitions import PartitionBuilder, TrialCache
from vbas_desktop.engine.site_search import choose_site_count
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.solution import RunResult
from vbas_desktop.model.text import (
    format_count,
    format_duration,
    format_duration_range,
    format_share,
    inflect,
)

from .requests import RunTask
from .scenario import RunEntry, Scenario
from .words import product_in_words

OUT_OF_REACH = "limit-out-of-reach"
"""The finding that even one region loses more records than are allowed."""

_LONG_SECONDS = 8.0
"""A run that takes longer says so beforehand."""


@dataclass(frozen=True)
class ExpectedDuration:
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
            return f"Will take about {format_duration(self.low)}."
        how = "roughly" if self.a_guess else "about"
        more = ": a first guess, nothing like it was run on these data yet" if self.a_guess else ""
        return f"Will take {how} {format_duration_range(self.low, self.high)}{more}."


@dataclass(frozen=True, eq=False)
class Estimate:
    """The size of the problem and the number of sites that would be tried."""

    key: Scenario
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

    def expected(self, runs: Iterable[RunEntry]) -> ExpectedDuration:
        """Estimate the duration of a run: from the latest run with the same approaches, else from trials, else by a
        first guess.
        """
        for run in reversed(list(runs)):
            if run.result is None or run.problem is None or not run.result.solutions:
                continue
            if all(
                run.choices.approaches.get(name) == approach
                for name, approach in self.approaches.items()
            ):
                larger = _count_stored(self.problem) / max(1, _count_stored(run.problem))
                seconds = _seconds_of_one(run.result) * len(self.site_numbers) * larger
                return ExpectedDuration(seconds, seconds)
        if self.tried_seconds is not None:
            return ExpectedDuration(self.tried_seconds / 2, 2 * self.tried_seconds)
        return ExpectedDuration(self.guessed_seconds / 3, 3 * self.guessed_seconds, a_guess=True)

    @property
    def expected_loss_percent(self) -> float | None:
        """Return the loss (percent of the records) with the number of sites that was found; None if not tried."""
        return None if self.suppressed is None else 100 * self.suppressed / max(1, self.problem.records)

    @property
    def in_words(self) -> str:
        """The live line: "7 × 2 = 14 classes; 2,433,221 records; approximated 350 sites"."""
        counts = self.problem.counts
        parts = [
            product_in_words(counts.n_categories, counts.max_combinations),
            format_count(self.problem.records, "record"),
            self._sites_in_words,
        ]
        return "; ".join(parts)

    @property
    def _sites_in_words(self) -> str:
        """The number of sites, with what it loses where that was tried out."""
        if self.suppressed is None or self.allowed_loss_percent is None:
            return f"approximated {format_count(self.approximated_sites, 'site')}"
        suppressed_share = format_share(self.suppressed, self.problem.records)
        loses = inflect(self.approximated_sites, "loses", "lose")
        sites = format_count(self.approximated_sites, "site")
        return f"{sites} {loses} {suppressed_share}, allowed {self.allowed_loss_percent:g} %"

    @property
    def more_in_words(self) -> str:
        """Describe what the forecast line has no room for."""
        parts = [f"{finding.message} {finding.remedy}".strip() for finding in self.findings]
        if len(self.site_numbers) > 1:
            parts.append(f"Will try {', '.join(f'{number:,}' for number in self.site_numbers)} sites.")
        if self.globally_suppressed:
            parts.append(
                f"{format_count(self.globally_suppressed, 'record')} suppressed before anything is merged."
            )
        if self.problem.unknown_region_records:
            parts.append(
                f"{format_count(self.problem.unknown_region_records, 'record')} of unknown regions suppressed."
            )
        return " ".join(parts)


def estimate(task: RunTask, progress: Progress = NO_PROGRESS) -> Estimate:
    """Count if necessary and find the number of sites; far cheaper than a run, which need not try the same again."""
    problem = get_problem(task.request, progress)
    request = build_engine_request(task.request.settings, problem)
    partitions = (task.request.trials or TrialCache()).partitions(request, progress)
    sites, findings = choose_site_count(partitions, progress)
    around = partitions.list_site_numbers(sites)
    return Estimate(
        task.key,
        problem,
        problem.counts.records - partitions.context.records,
        sites,
        around,
        partitions.tried.get(sites),
        request.site_number.allowed_loss(),
        tuple(findings),
        {**task.choices.approaches},
        len(around)
        * estimate_aggregation_seconds(request.site_location, _count_stored(problem))
        * task.pace,
        _tried_seconds(partitions, around, _count_stored(problem)),
    )


def _seconds_of_one(result: RunResult) -> float:
    """Return the seconds that one solution of a run took; the first may include one-off preparation."""
    typical = median(solution.seconds for solution in result.solutions)
    return (
        min(typical, result.seconds / len(result.solutions))
        if typical > 0
        else result.seconds / len(result.solutions)
    )


def _tried_seconds(partitions: PartitionBuilder, around: Sequence[int], stored: int) -> float | None:
    """Estimate the seconds for these numbers of sites from those tried, which are not repeated; rating takes as long as
    a quick approach. None if none was tried.
    """
    seconds_each = partitions.cache.median_seconds
    if seconds_each is None:
        return None
    rated = len(around) * estimate_rating_seconds(stored)
    return seconds_each * sum(number not in partitions.tried for number in around) + rated


def _count_stored(problem: Problem) -> int:
    return int(problem.counts.table.nnz)

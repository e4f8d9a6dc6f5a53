"""What the choices in force will come to, before anything is run: classes, records, sites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vbas_desktop.comparison.costs import seconds_of_one
from vbas_desktop.comparison.words import duration_in_words
from vbas_desktop.domain.errors import Finding
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.words import agreeing, counted, share_in_words
from vbas_desktop.engine.kept import KeptTrials
from vbas_desktop.engine.partitions import decide_sites

from .orders import RunOrder
from .results import ProblemKey, Run
from .words import product_in_words

_LONG_SECONDS = 8.0
"""A run that takes longer says so beforehand."""


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

    def seconds(self, runs: Iterable[Run]) -> float:
        """How long a run will take: by the latest one with the same approaches, or else by a first guess."""
        for run in reversed(list(runs)):
            if run.result is None or run.problem is None or not run.result.solutions:
                continue
            if all(run.approaches.get(name) == approach for name, approach in self.approaches.items()):
                larger = _stored(self.problem) / max(1, _stored(run.problem))
                return run.result.seconds / len(run.result.solutions) * len(self.site_numbers) * larger
        return self.guessed_seconds

    def time_in_words(self, runs: Iterable[Run]) -> str:
        """What is said before a long run; nothing before a short one."""
        seconds = self.seconds(runs)
        return f"Will take about {duration_in_words(seconds)}." if seconds >= _LONG_SECONDS else ""

    @property
    def in_words(self) -> str:
        """The live line: "7 × 2 = 14 classes; 2,433,221 records; approximated 350 sites"."""
        counts = self.problem.counts
        parts = [
            product_in_words(counts.category_numbers, counts.equivalence_classes),
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
    return Estimate(
        order.key,
        problem,
        problem.counts.records - partitions.situation.records,
        sites,
        partitions.around(sites),
        partitions.tried.get(sites),
        request.site_number.allowed_loss(),
        tuple(findings),
        {**order.choices.approaches},
        len(partitions.around(sites)) * seconds_of_one(request.site_location, _stored(problem)),
    )


def _stored(problem: Problem) -> int:
    return int(problem.counts.rows[2].size)

"""What the choices in force will come to, before anything is run: classes, records, sites."""

from __future__ import annotations

from dataclasses import dataclass

from vbas_desktop.algorithms.site_numbers import range_of_sites
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.words import counted
from vbas_desktop.engine.outcome import situation_of

from .orders import RunOrder
from .results import ProblemKey
from .words import product_in_words


@dataclass(frozen=True, eq=False)
class Estimate:
    """The size of the problem and the number of sites that would be tried."""

    key: ProblemKey
    problem: Problem
    globally_suppressed: int
    approximated_sites: int
    site_numbers: tuple[int, ...]

    @property
    def in_words(self) -> str:
        """The live line: "7 × 2 = 14 classes; 2,433,221 records; approximated 350 sites"."""
        counts = self.problem.counts
        parts = [
            product_in_words(counts.category_numbers, counts.equivalence_classes),
            counted(self.problem.records, "record"),
            f"approximated {counted(self.approximated_sites, 'site')}",
        ]
        return "; ".join(parts)

    @property
    def more_in_words(self) -> str:
        """What the live line has no room for."""
        parts = []
        if len(self.site_numbers) > 1:
            parts.append(f"Will try {', '.join(f'{number:,}' for number in self.site_numbers)} sites.")
        if self.globally_suppressed:
            parts.append(f"{counted(self.globally_suppressed, 'record')} suppressed before anything is merged.")
        if self.problem.unknown_region_records:
            parts.append(f"{counted(self.problem.unknown_region_records, 'record')} of unknown regions suppressed.")
        return " ".join(parts)


def estimate(order: RunOrder, progress: Progress = Silent()) -> Estimate:  # noqa: B008
    """Count if necessary and approximate the number of sites; far cheaper than a run."""
    problem = order.count(progress)
    progress.update("Approximating the number of sites")
    situation, suppressed = situation_of(problem, order.choices.global_suppression, order.choices.random_seed, progress)
    regions = len(problem.regions)
    sites = max(1, min(regions, order.choices.make("site_number").approximate(situation)))
    numbers = range_of_sites(sites, order.choices.range_step_percent, order.choices.range_reach, regions)
    return Estimate(order.key, problem, suppressed, sites, tuple(int(number) for number in numbers))

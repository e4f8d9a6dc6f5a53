"""Everything about a release that is decided before the first record is read: codes, kept classes, their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.grouping import aggregate
from vbas_desktop.algorithms.region_codes import mean_points, region_codes
from vbas_desktop.domain.errors import Finding, InputError, VerificationFailed
from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.solution import Solution


class Partition(Protocol):
    """The aggregated regions with their released records: all that the small files and the map need."""

    @property
    def regions(self) -> Regions:
        """The initial regions."""

    @property
    def membership(self) -> NDArray[np.int32]:
        """Aggregated region of each initial region."""

    @property
    def codes(self) -> tuple[str, ...]:
        """The code of each aggregated region."""

    @property
    def centres(self) -> NDArray[np.float64]:
        """The middle of each aggregated region."""

    @property
    def members_by_region(self) -> NDArray[np.int64]:
        """Number of initial regions of each aggregated region."""

    @property
    def released_by_region(self) -> NDArray[np.int64]:
        """Released records of each aggregated region."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The aggregation of one solution in counts: what is released of every class of every aggregated region.

    ``indptr, columns, counts`` list the non-zero classes of each aggregated region before local suppression, columns
    ascending; a class is released iff its count reaches k. (A class that global suppression drops has fewer than k
    records in the whole file, so it never reaches k in a region: one test covers both.)
    """

    problem: Problem
    solution: Solution
    codes: tuple[str, ...]
    centres: NDArray[np.float64]
    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def regions(self) -> Regions:
        """The initial regions."""
        return self.problem.regions

    @property
    def membership(self) -> NDArray[np.int32]:
        """Aggregated region of each initial region."""
        return self.solution.membership

    @cached_property
    def released(self) -> NDArray[np.int64]:
        """Released records of every listed class: its count, or 0 if it is too small."""
        return np.where(self.counts >= self.problem.k, self.counts, 0)

    def _per_region(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        running = np.concatenate(([0], np.cumsum(values)))
        return running[self.indptr[1:]] - running[self.indptr[:-1]]

    @cached_property
    def records_by_region(self) -> NDArray[np.int64]:
        """Records of each aggregated region before suppression."""
        return self._per_region(self.counts)

    @cached_property
    def released_by_region(self) -> NDArray[np.int64]:
        """Released records of each aggregated region."""
        return self._per_region(self.released)

    @cached_property
    def anonymity_by_region(self) -> NDArray[np.int64]:
        """Smallest released class of each aggregated region; 0 where nothing is released."""
        smallest = np.full(len(self.codes), np.iinfo(np.int64).max)
        region = np.repeat(np.arange(len(self.codes)), np.diff(self.indptr))
        kept = self.released > 0
        np.minimum.at(smallest, region[kept], self.released[kept])
        return np.where(self.released_by_region > 0, smallest, 0)

    @cached_property
    def members_by_region(self) -> NDArray[np.int64]:
        """Number of initial regions of each aggregated region."""
        return np.bincount(self.membership, minlength=len(self.codes)).astype(np.int64)

    @property
    def records_released(self) -> int:
        """Records of the released file."""
        return int(self.released.sum())

    @property
    def records_suppressed(self) -> int:
        """Records of the input that are not in the released file, those of unknown regions included."""
        return self.problem.records - self.records_released

    @property
    def anonymity(self) -> int | None:
        """The smallest released class, None if nothing is released."""
        kept = self.released[self.released > 0]
        return int(kept.min()) if kept.size else None


def empty(problem: Problem) -> InputError:
    """The refusal to release nothing: a file without records is no release, however well it is verified."""
    return InputError(
        Finding(
            "empty-release",
            f"Nothing would be released: no combination of values occurs {problem.k:,} times in an aggregated region.",
            "Choose a smaller k, fewer quasi-identifiers, broader groups, or a solution with fewer regions.",
        )
    )


def make_plan(problem: Problem, solution: Solution) -> Plan:
    """Aggregate the counts by the solution's owners and compare with what the solution says of itself."""
    merged = aggregate(problem.counts, solution.membership, solution.aggregated_regions)
    codes, centres = region_codes(problem.regions, solution), mean_points(problem.regions, solution)
    plan = Plan(problem, solution, codes, centres, *merged.rows)
    stated = solution.suppressed_global + solution.suppressed_local + problem.unknown_region_records
    if plan.records_suppressed != stated:
        raise VerificationFailed("The solution does not fit the counts of the record file. Run it again.")
    return plan

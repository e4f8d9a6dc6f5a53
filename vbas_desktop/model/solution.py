"""Results of a run: solutions with their owners, sites and measures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from .findings import Finding
from .records import as_readonly
from .tiers import Tiers

_COMPONENTS = ("site_number", "site_location", "adc_seeding", "construction", "refinement", "tiers")

DEFAULT_LOSS_PERCENT = 1.0
"""The share of all records that may be suppressed unless the user says otherwise."""

FINEST = "finest"
LEAST_LOSS = "least-loss"
"""Aims within the allowed loss: the most sites, or the least loss of information by the certainty penalty."""


class RepresentabilityMeasures(TypedDict, total=False):
    """Measures of the geography that survives an aggregation; None where undefined. Plain data, as in run.json."""

    precision: float | None
    precision_by_column: dict[str, float] | None
    precision_with_suppressed: float
    jaccard: float | None
    fowlkes_mallows: float | None
    rand: float | None
    hubert: float | None
    entropy_loss: float | None
    davies_bouldin: float | None
    davies_bouldin_normalised: float | None
    davies_bouldin_worst: float | None
    davies_bouldin_coinciding_classes: int
    davies_bouldin_reason: str
    mean_distance: float | None
    distance_unit: str
    jaccard_with_suppressed: float | None
    fowlkes_mallows_with_suppressed: float | None
    sample_size_ratio: float
    records_by_level: dict[str, dict[str, int]]


@dataclass(frozen=True)
class RequirementCheck:
    """Result of checking a requirement: whether all criteria are met, and the result of each criterion."""

    is_met: bool
    criteria: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True, eq=False)
class UnrefinedPartition:
    """Owners and sites as the construction made them, before a refinement changed them."""

    owner: NDArray[np.int32]
    sites: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Solution:
    """One aggregation of the r initial regions, with its measures.

    approaches, parameters: name of the approach by component, and its parameters.
    sites: float64 (s, 2), None for constructions without sites. owner: int32 (r,), index of the site of each initial
    region; some sites may own nothing, `aggregated_regions` counts those that do.
    measures: value by name of the measure. anonymity: size of the smallest released class (None: nothing is released).
    diagnostics: plain data on how approaches worked, by approach name.
    released_classes: packed flags, one for each class that occurs. requirement: None until one was checked.
    pareto, recommended, knee, same_as: rank among the solutions of the run; same_as is the id of an earlier solution
    with the same partition.
    tiers: larger areas for records that are too few in their aggregated region. released_by_tier: records of each tier.
    detoured: bool (r,), initial regions that an obstacle keeps from their nearest site (None: no obstacles).
    sensitive: figures of each sensitive column. suppressed_sensitive: records of classes of k or more that are
    suppressed because of their sensitive values.
    """

    id: int
    approaches: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, Any]]
    approximated_sites: int
    site_count: int
    sites: NDArray[np.float64] | None
    owner: NDArray[np.int32]
    measures: Mapping[str, float | int | None]
    seconds: float
    suppressed_global: int
    suppressed_local: int
    pareto: bool = False
    released_records: int = 0
    anonymity: int | None = None
    regions_without_release: int = 0
    diagnostics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    representability: RepresentabilityMeasures = field(
        default_factory=lambda: RepresentabilityMeasures()
    )
    released_classes: str = ""
    requirement: RequirementCheck | None = None
    recommended: bool = False
    knee: bool = False
    same_as: int | None = None
    unrefined: UnrefinedPartition | None = None
    detoured: NDArray[np.bool_] | None = None
    tiers: Tiers | None = None
    released_by_tier: tuple[int, ...] = ()
    sensitive: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    suppressed_sensitive: int = 0

    @cached_property
    def owners_used(self) -> NDArray[np.int32]:
        """Return the indices of sites that own an initial region, ascending: one per aggregated region."""
        return as_readonly(np.unique(self.owner))

    @cached_property
    def membership(self) -> NDArray[np.int32]:
        """Return the number (0 … aggregated_regions − 1) of the aggregated region of each initial region."""
        return as_readonly(np.searchsorted(self.owners_used, self.owner).astype(np.int32))

    @property
    def aggregated_regions(self) -> int:
        """Return the number of aggregated regions (sites that attract nothing make none)."""
        return int(self.owners_used.size)

    @cached_property
    def partition(self) -> bytes:
        """Return a hash that is equal for solutions that merge the same initial regions in each tier."""
        memberships = [self.owner] if self.tiers is None else self.tiers.memberships(self.membership)
        return hashlib.sha256(b"".join(_number_by_appearance(groups) for groups in memberships)).digest()

    @property
    def suppressed_records(self) -> int:
        """Return the number of records of the file that are not released, for whatever reason."""
        measured = self.measures.get("suppressed_records")
        return self.suppressed_global + self.suppressed_local if measured is None else int(measured)

    @property
    def suppressed_share(self) -> float:
        """Return the suppressed records as a share of all records of the file; 0 if there are none."""
        records = self.suppressed_records + self.released_records
        return self.suppressed_records / records if records else 0.0

    def with_marks(
        self, pareto: bool, recommended: bool = False, knee: bool = False, same_as: int | None = None
    ) -> Solution:
        """Return the same solution with these marks, which compare it with the others of its run."""
        return replace(self, pareto=pareto, recommended=recommended, knee=knee, same_as=same_as)

    @property
    def is_suitable(self) -> bool:
        """Tell whether a requirement was checked and is met."""
        return self.requirement is not None and self.requirement.is_met

    def facts(self) -> dict[str, Any]:
        """Return everything but measures and owners as plain data, for run.json and cached solutions."""
        facts: dict[str, Any] = {
            "released_records": self.released_records,
            "anonymity": self.anonymity,
            "regions_without_release": self.regions_without_release,
            **{name: dict(diagnostics) for name, diagnostics in self.diagnostics.items()},
        }
        if self.tiers is not None:
            facts["released_by_tier"] = self._by_tier()
        if self.sensitive:
            facts["sensitive"] = {column: dict(figures) for column, figures in self.sensitive.items()}
            facts["suppressed_sensitive"] = self.suppressed_sensitive
        if self.representability:
            facts["representability"] = self.representability
        if self.requirement is not None:
            facts["meets_requirement"] = self.requirement.is_met
            facts["requirement"] = [dict(row) for row in self.requirement.criteria]
        return facts

    def _by_tier(self) -> list[dict[str, Any]]:
        assert self.tiers is not None
        rows = zip(self.tiers.titles, self.tiers.n_areas, self.released_by_tier, strict=True)
        return [
            {"area": title, "areas": number, "released_records": records}
            for title, number, records in rows
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of ``solutions`` in ``run.json``."""
        return {
            "id": self.id,
            **{component: self.approaches.get(component) for component in _COMPONENTS},
            "approximated_sites": self.approximated_sites,
            "sites": self.site_count,
            "aggregated_regions": self.aggregated_regions,
            "measures": dict(self.measures),
            "seconds": self.seconds,
            "pareto": self.pareto,
            "recommended": self.recommended,
            "knee": self.knee,
            "same_as": self.same_as,
            "suppressed_percent": 100 * self.suppressed_share,
        }


def _number_by_appearance(groups: NDArray[np.int32]) -> bytes:
    """Number groups in the order in which they occur, as bytes."""
    _, first, members = np.unique(groups, return_index=True, return_inverse=True)
    order = np.empty(first.size, np.int32)
    order[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
    return bytes(order[members].tobytes())


@dataclass(frozen=True)
class Advice:
    """Advice for a better solution than the chosen one: ``sites`` to use instead, if a number of them is the answer.

    ``suppressed`` are the records that would be lost then.
    """

    text: str
    sites: int | None
    suppressed: int


@dataclass(frozen=True)
class Alternative:
    """The result of another aim of the allowed loss, or of other tiers, with the same approaches.

    ``tiers`` is the name of that approach. ``suppressed`` records would be lost, and ``certainty_penalty`` is the total
    loss of information, from 0 to 1.
    """

    aim: str
    tiers: str
    sites: int
    suppressed: int
    certainty_penalty: float


@dataclass(frozen=True, eq=False)
class RunResult:
    """All solutions of one run, with facts about the run.

    ``seconds`` is the wall time of the stages, ``total_seconds`` that from start to finish: loading, counting and all
    stages (None: unknown, because only a part of it was done here).
    """

    solutions: tuple[Solution, ...]
    approximated_sites: int
    globally_suppressed_records: int
    classes_present: int
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    total_seconds: float | None = None
    allowed_loss_percent: float = DEFAULT_LOSS_PERCENT
    advice: Advice | None = None

    def solution(self, id: int) -> Solution:
        """Return the solution with this id."""
        return next(solution for solution in self.solutions if solution.id == id)

    @property
    def chosen(self) -> Solution:
        """Return the solution at the approximated number of sites: what a release uses by default."""
        return min(
            self.solutions, key=lambda solution: abs(solution.site_count - self.approximated_sites)
        )

    @property
    def recommended(self) -> Solution | None:
        """Return the finest solution within the allowed loss; None if there is none."""
        return next((solution for solution in self.solutions if solution.recommended), None)

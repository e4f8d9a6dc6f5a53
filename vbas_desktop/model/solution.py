"""What a run yields: solutions with their owners, sites and measures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from .errors import Finding
from .records import frozen
from .tiers import Tiers

_COMPONENTS = ("site_number", "site_location", "adc_seeding", "construction", "refinement", "tiers")

USUAL_LOSS_PERCENT = 1.0
"""The share of all records that may be suppressed unless the user says otherwise."""

FINEST, LEAST_LOSS = "finest", "least-loss"
"""What is best within the allowed loss: the most sites, or the least loss of information by the certainty penalty."""


class Representability(TypedDict, total=False):
    """How much of the geography survives an aggregation; None where it is undefined. Plain data, as in run.json."""

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
    """Whether a solution misses no criterion of a requirement, and how it fares by criterion."""

    met: bool
    criteria: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True, eq=False)
class Unrefined:
    """Owners and sites as the construction made them, before a refinement changed them."""

    owner: NDArray[np.int32]
    sites: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Solution:
    """One aggregation: who owns each initial region, and how good that is.

    ``owner[i]`` is the index of the site (or group) of initial region i. ``sites`` may be None for constructions that
    have none. Some sites may own nothing: ``aggregated_regions`` counts those that do.
    ``approaches`` maps component → approach name as in the command line, ``parameters`` holds their parameters.
    ``anonymity`` is the size of the smallest released class (None: nothing is released), ``told`` what approaches tell
    of their work, by approach name. ``released_classes`` are packed flags, one for each class that occurs;
    ``requirement`` is None until a requirement was checked. ``pareto``, ``recommended``, ``knee`` and ``same_as`` (the
    id of an earlier solution with the same partition) tell where it stands among the solutions of its run. ``tiers``
    are the larger places in which records are released that are too few in their aggregated region,
    ``released_by_tier`` says how many records each tier has. ``detoured`` marks the initial regions to which the
    construction gave another site than the nearest because of an obstacle (None: obstacles had no part in it).
    ``sensitive`` has figures of each sensitive column, ``suppressed_sensitive`` are the records of classes of k or more
    that are released nowhere because of them.
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
    told: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    representability: Representability = field(default_factory=lambda: Representability())
    released_classes: str = ""
    requirement: RequirementCheck | None = None
    recommended: bool = False
    knee: bool = False
    same_as: int | None = None
    unrefined: Unrefined | None = None
    detoured: NDArray[np.bool_] | None = None
    tiers: Tiers | None = None
    released_by_tier: tuple[int, ...] = ()
    sensitive: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    suppressed_sensitive: int = 0

    @cached_property
    def owners_used(self) -> NDArray[np.int32]:
        """The site indices that own at least one initial region, ascending: one per aggregated region."""
        return frozen(np.unique(self.owner))

    @cached_property
    def membership(self) -> NDArray[np.int32]:
        """Dense number (0 … aggregated_regions − 1) of the aggregated region of each initial region."""
        return frozen(np.searchsorted(self.owners_used, self.owner).astype(np.int32))

    @property
    def aggregated_regions(self) -> int:
        """How many aggregated regions there are (sites that attract nothing make none)."""
        return int(self.owners_used.size)

    @cached_property
    def partition(self) -> bytes:
        """Equal for solutions that merge the same initial regions, in each tier, however their sites are numbered."""
        memberships = [self.owner] if self.tiers is None else self.tiers.memberships(self.membership)
        return hashlib.sha256(b"".join(_numbered_as_met(each) for each in memberships)).digest()

    @property
    def suppressed_records(self) -> int:
        """Records of the file that are not released, for whatever reason."""
        measured = self.measures.get("suppressed_records")
        return self.suppressed_global + self.suppressed_local if measured is None else int(measured)

    @property
    def suppressed_share(self) -> float:
        """The same as a share of all records of the file; 0 if there are none."""
        records = self.suppressed_records + self.released_records
        return self.suppressed_records / records if records else 0.0

    def marked(
        self, pareto: bool, recommended: bool = False, knee: bool = False, same_as: int | None = None
    ) -> Solution:
        """The same solution with its marks set."""
        return replace(self, pareto=pareto, recommended=recommended, knee=knee, same_as=same_as)

    @property
    def is_suitable(self) -> bool:
        """Whether a requirement was checked and is met."""
        return self.requirement is not None and self.requirement.met

    def facts(self) -> dict[str, Any]:
        """What is known beside measures and owners, as plain data: part of run.json and of kept solutions."""
        found: dict[str, Any] = {
            "released_records": self.released_records,
            "anonymity": self.anonymity,
            "regions_without_release": self.regions_without_release,
            **{name: dict(told) for name, told in self.told.items()},
        }
        if self.tiers is not None:
            found["released_by_tier"] = self._by_tier()
        if self.sensitive:
            found["sensitive"] = {column: dict(figures) for column, figures in self.sensitive.items()}
            found["suppressed_sensitive"] = self.suppressed_sensitive
        if self.representability:
            found["representability"] = self.representability
        if self.requirement is not None:
            found["meets_requirement"] = self.requirement.met
            found["requirement"] = [dict(row) for row in self.requirement.criteria]
        return found

    def _by_tier(self) -> list[dict[str, Any]]:
        assert self.tiers is not None
        told = zip(self.tiers.titles, self.tiers.places, self.released_by_tier, strict=True)
        return [{"place": title, "places": number, "released_records": records} for title, number, records in told]

    def as_dict(self) -> dict[str, Any]:
        """The entry of ``solutions`` in ``run.json``."""
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


def _numbered_as_met(groups: NDArray[np.int32]) -> bytes:
    """The groups numbered in the order in which they occur."""
    _, first, members = np.unique(groups, return_index=True, return_inverse=True)
    order = np.empty(first.size, np.int32)
    order[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
    return bytes(order[members].tobytes())


@dataclass(frozen=True)
class Advice:
    """What could be done better than the chosen solution: ``sites`` to use instead, if a number of them is the answer.

    ``suppressed`` are the records that would be lost then.
    """

    text: str
    sites: int | None
    suppressed: int


@dataclass(frozen=True)
class Alternative:
    """What another aim of the allowed loss, or other tiers, would give with the same approaches.

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
    """All solutions of one run, with what is true of all of them.

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
    allowed_loss_percent: float = USUAL_LOSS_PERCENT
    advice: Advice | None = None

    def solution(self, id: int) -> Solution:
        """The solution with this id."""
        return next(solution for solution in self.solutions if solution.id == id)

    @property
    def chosen(self) -> Solution:
        """The solution at the approximated number of sites: what a release uses unless told otherwise."""
        return min(self.solutions, key=lambda solution: abs(solution.site_count - self.approximated_sites))

    @property
    def recommended(self) -> Solution | None:
        """The finest solution within the allowed loss; None if there is none."""
        return next((solution for solution in self.solutions if solution.recommended), None)

"""Input of approaches (`Context`), of measures (`AggregationOutcome`), and trials of a number of sites (`Trials`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import smallest_classes
from vbas_desktop.algorithms.suppression import ReleasedClasses
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.regions import CrosswalkPartition, Regions
from vbas_desktop.model.sensitive import SensitiveCounts
from vbas_desktop.model.tiers import Tiers


@dataclass(frozen=True, eq=False)
class Context:
    """The part of a problem that approaches may use: regions and counts after global suppression, no single record.

    regions: the r initial regions. counts: their records by class, without globally suppressed ones. sensitive: counts
    of the same records by sensitive value, because of which classes may be suppressed, too. weights: float64 (r,),
    weights of the initial regions in the middle of an aggregated region (None: all alike).
    category_penalties: ``[q][c]`` is the certainty penalty of category c of quasi-identifier q (empty: no category was
    recoded). given: the partition of the construction “Given”.

    Where aggregated regions must keep within boundaries, an approach sees the regions within one of them only.
    """

    regions: Regions
    counts: ClassCounts
    k: int
    random_seed: int = 0
    weights: NDArray[np.float64] | None = None
    sensitive: tuple[SensitiveCounts, ...] = ()
    category_penalties: tuple[NDArray[np.float64], ...] = ()
    given: CrosswalkPartition | None = None
    _memory: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def cached(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result of ``compute``, called once per context and key; for what no number of sites changes."""
        with self._lock:
            if key not in self._memory:
                self._memory[key] = compute()
            return self._memory[key]

    def __getstate__(self) -> dict[str, Any]:
        names = (
            "regions",
            "counts",
            "k",
            "random_seed",
            "weights",
            "sensitive",
            "category_penalties",
            "given",
        )
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _memory={}, _lock=threading.RLock())

    def subset(self, members: NDArray[np.intp]) -> Context:
        """Restrict the context to some initial regions, given by their ascending indices."""
        weights = None if self.weights is None else self.weights[members]
        regions, counts = self.regions.part(members), self.counts.select_regions(members)
        sensitive = tuple(each.with_cells(each.cells.select_regions(members)) for each in self.sensitive)
        given = None if self.given is None else self.given.part(members)
        return Context(
            regions, counts, self.k, self.random_seed, weights, sensitive, self.category_penalties, given
        )

    @property
    def points(self) -> NDArray[np.float64]:
        """Return the points of the initial regions: float64 (r, 2)."""
        return self.regions.points

    @cached_property
    def populations(self) -> NDArray[np.int64]:
        """Count the remaining records of each initial region: int64 (r,)."""
        return self.counts.region_totals

    @property
    def records(self) -> int:
        """Return n, the number of records that remain after global suppression."""
        return self.counts.records

    @cached_property
    def smallest_classes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the anonymity of each initial region (0 without records) and its number of classes of that size."""
        return smallest_classes(self.counts.table)

    def generator(self) -> np.random.Generator:
        """Create a generator with the run's seed; every call gives the same draws."""
        return np.random.default_rng(self.random_seed)


@dataclass(frozen=True, eq=False)
class AggregationOutcome:
    """An aggregation after local suppression: the input of measures.

    records, records_by_region, counts: all records of the file, those of each initial region, and by class, before any
    suppression. membership: int32 (r,), the aggregated region of each initial region, numbered from 0 without gaps.
    sites: float64 (aggregated regions, 2), None if the construction has no sites. release: the classes that remain.
    sensitive: figures of each sensitive column. suppressed_sensitive: records of classes of k or more that are
    suppressed because of their sensitive values.
    """

    context: Context
    records: int
    records_by_region: NDArray[np.int64]
    counts: ClassCounts
    membership: NDArray[np.int32]
    aggregated_regions: int
    sites: NDArray[np.float64] | None
    release: ReleasedClasses
    tiers: Tiers | None = None
    sensitive: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    suppressed_sensitive: int = 0

    @property
    def released(self) -> ClassCounts:
        """Return the classes that are released in the aggregated regions, one row for each region."""
        return self.release.classes[0]

    @property
    def released_by_tier(self) -> NDArray[np.int64]:
        """Count the released records by tier and initial region: int64 (tiers, r); one row without tiers."""
        return self.release.records

    @property
    def released_by_region(self) -> NDArray[np.int64]:
        """Count the released records of each initial region, over all tiers: int64 (r,)."""
        return np.asarray(self.released_by_tier.sum(axis=0))

    @property
    def released_records(self) -> int:
        """Count the released records."""
        return int(self.released_by_tier.sum())

    def places(self) -> Iterator[tuple[NDArray[np.int32], ClassCounts]]:
        """Yield for each tier the area of each initial region, and the classes that these areas release."""
        if self.tiers is None:
            yield self.membership, self.released
        else:
            yield from zip(self.tiers.memberships(self.membership), self.release.classes, strict=True)


class Trials(Protocol):
    """The chosen approaches tried out with numbers of sites, for approaches that decide by what it would cost.

    The same number is never computed twice, and results are used again for the solutions of the run. Long searches are
    left out of trials: ``is_simplified`` says that some were, ``count_refined_suppressed`` and
    ``compute_refined_penalty`` do them.
    """

    @property
    def records(self) -> int:
        """Return the number of records of the file, globally suppressed ones included."""

    @property
    def in_tiers(self) -> bool:
        """Tell whether classes that are too small in their region may be released in larger areas."""

    def count_suppressed(self, sites: int) -> int:
        """Count the records that 1 … r sites would suppress, globally and locally."""

    def compute_penalty(self, sites: int) -> float:
        """Compute the certainty penalty of the release with 1 … r sites, from 0 to 1."""

    @property
    def is_simplified(self) -> bool:
        """Tell whether trials leave out a long search that solutions do."""

    @property
    def expected_share(self) -> float:
        """Return the share of a trial's suppressed records that about remains after the long search, from 0 to 1."""

    def count_refined_suppressed(self, sites: int) -> int:
        """Count the records that 1 … r sites would suppress after the long search."""

    def compute_refined_penalty(self, sites: int) -> float:
        """Compute the certainty penalty after the long search, with 1 … r sites."""

"""Re-identification risk of a file by the usual attacker models, and among the population that it is a sample of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.problem import Population

THRESHOLDS: tuple[tuple[str, int], ...] = (("0.2", 5), ("0.09", 11), ("0.05", 20))
"""Common limits of the risk, and the class size of each: a record is above the limit if its class is smaller."""


@dataclass(frozen=True)
class ReidentificationRisk:
    """Risks between 0 and 1; None without records. The journalist's, who needs a population, is a `PopulationRisk`.

    Prosecutor: the attacker knows that the person is in the file, so a record's risk is 1 / class size.
    Marketer: the share of records that are recognised if every one is matched with somebody of the file at random.
    ``at_risk`` lists, for each of `THRESHOLDS`, the records whose prosecutor risk is above it.
    """

    records: int
    classes: int
    prosecutor_maximum: float | None
    prosecutor_average: float | None
    at_risk: tuple[int, ...]
    marketer: float | None


def measure_risk(sizes: NDArray[np.integer]) -> ReidentificationRisk:
    """Measure the risk of a file from its class sizes."""
    sizes = sizes[sizes > 0].astype(np.int64)
    records = int(sizes.sum())
    at_risk = tuple(int(sizes[sizes < limit].sum()) for _, limit in THRESHOLDS)
    if not records:
        return ReidentificationRisk(0, 0, None, None, at_risk, None)
    average = sizes.size / records
    return ReidentificationRisk(records, sizes.size, 1 / int(sizes.min()), average, at_risk, average)


BY_REGION_ONLY = "inhabitants are known by region, not by class"


@dataclass(frozen=True)
class PopulationRisk:
    """Risk of a release among the inhabitants.

    The journalist looks a person up among all inhabitants: the risk of a record is 1 / the inhabitants of its released
    region with its values. With a table of the population by region and class that is exact, and the fewest of such
    inhabitants are the k of the k-map. With inhabitants of regions alone it is *estimated*: a class has as large a
    share of the inhabitants as of the region's records. An estimate protects nobody, so no policy is held by it.
    ``reason`` says why there is no exact figure, ``no_estimate`` why there is no estimate.
    """

    origin: str
    inhabitants: float
    sampling_fraction: float | None
    smallest_region: float | None
    exact: bool = False
    k_map: int | None = None
    journalist_maximum: float | None = None
    journalist_average: float | None = None
    reason: str = ""
    no_estimate: str = ""

    def without_risk(self, reason: str) -> PopulationRisk:
        """Return the figures without a risk; ``reason`` says why."""
        return replace(
            self, journalist_maximum=None, journalist_average=None, k_map=None, no_estimate=reason
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data for run.json."""
        highest = self.journalist_maximum
        average = self.journalist_average
        return {
            "origin": self.origin,
            "inhabitants": self.inhabitants,
            "sampling_fraction": self.sampling_fraction,
            "smallest_region": self.smallest_region,
            "k_map": self.k_map,
            "journalist_maximum": highest if self.exact else None,
            "journalist_average": average if self.exact else None,
            "journalist_maximum_estimated": None if self.exact else highest,
            "journalist_average_estimated": None if self.exact else average,
            "not_exact_because": "; ".join(filter(None, (self.reason, self.no_estimate))),
            "not_estimated_because": "" if self.exact else self.no_estimate,
        }


@dataclass(frozen=True, eq=False)
class ReleasedTier:
    """Released classes of one tier: region, combination and number of records of each class.

    ``membership`` has the released region of each initial region; regions of tiers are numbered one after another.
    """

    membership: NDArray[np.integer]
    area: NDArray[np.integer]
    column: NDArray[np.integer]
    sizes: NDArray[np.int64]


def _compute_sampling_fraction(records: int, inhabitants: float) -> float | None:
    return records / inhabitants if inhabitants else None


def find_smallest_population(
    inhabitants: NDArray[np.float64], tiers: tuple[ReleasedTier, ...]
) -> float | None:
    """Find the fewest inhabitants of a released region with records; ``inhabitants`` are those of initial regions."""
    fewest = []
    for tier in tiers:
        used = np.unique(tier.area[tier.sizes > 0])
        if used.size:
            fewest.append(float(np.bincount(tier.membership, inhabitants)[used].min()))
    return min(fewest, default=None)


def estimate_population_risk(
    column: str,
    inhabitants: NDArray[np.float64],
    records: NDArray[np.int64],
    tiers: tuple[ReleasedTier, ...],
) -> PopulationRisk:
    """Estimate the risk from inhabitants by initial region; ``records`` are all records of the initial regions."""
    total = float(inhabitants.sum())
    risk = PopulationRisk(
        f"column “{column}” of the region file",
        total,
        _compute_sampling_fraction(int(records.sum()), total),
        find_smallest_population(inhabitants, tiers),
        reason=BY_REGION_ONLY,
    )
    if risk.smallest_region is None:
        return risk.without_risk("nothing is released")
    if len(tiers) > 1:
        return risk.without_risk("records are released in larger areas, too")
    (tier,) = tiers
    people_by_region = np.bincount(tier.membership, inhabitants)
    records_by_region = np.bincount(tier.membership, records)
    is_released = tier.sizes > 0
    sizes = tier.sizes[is_released]
    people = people_by_region[tier.area[is_released]]
    sampled = records_by_region[tier.area[is_released]]
    if (people < sampled).any():
        return risk.without_risk(
            "a region has more records than inhabitants, so the records are no sample of them"
        )
    estimated_people = sizes * (people / sampled)
    return replace(
        risk,
        journalist_maximum=float((1 / estimated_people).max()),
        journalist_average=float((sizes / estimated_people).sum() / sizes.sum()),
    )


def compute_population_risk(
    population: Population, name: str, records: int, tiers: tuple[ReleasedTier, ...]
) -> PopulationRisk:
    """Compute the exact risk from a table of the population by region and class."""
    total = float(population.by_region.sum())
    risk = PopulationRisk(
        f"table {name}", total, _compute_sampling_fraction(records, total),
        find_smallest_population(population.by_region.astype(np.float64), tiers), exact=True,
    )  # fmt: skip
    people, sizes = count_class_people(population, tiers)
    if not sizes.size:
        return risk.without_risk("nothing is released")
    if (people < sizes).any():
        return risk.without_risk(
            "a released class has more records than people in the table, so the records are no sample of them"
        )
    return replace(
        risk,
        k_map=int(people.min()),
        journalist_maximum=1 / int(people.min()),
        journalist_average=float((sizes / people).sum() / sizes.sum()),
    )


def count_class_people(
    population: Population, tiers: tuple[ReleasedTier, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the people of the population and the records of every released class."""
    columns = [population.column, *(tier.column for tier in tiers)]
    width = int(max(column.max(initial=-1) for column in columns)) + 1
    people = []
    sizes = []
    for tier in tiers:
        is_released = tier.sizes > 0
        released = tier.area[is_released].astype(np.int64) * width + tier.column[is_released]
        keys = tier.membership[population.region].astype(np.int64) * width + population.column
        distinct, inverse = np.unique(keys, return_inverse=True)
        totals = np.bincount(inverse.ravel(), population.people, minlength=distinct.size).astype(
            np.int64
        )
        # A sentinel behind the last class stands for classes without people.
        totals = np.append(totals, 0)
        position = np.searchsorted(distinct, released)
        is_missing = np.append(distinct, -1)[position] != released
        people.append(np.where(is_missing, 0, totals[position]))
        sizes.append(tier.sizes[is_released])
    return np.concatenate(people), np.concatenate(sizes)


def find_population_column(document: Mapping[str, Any]) -> str | None:
    """Find the column with the inhabitants in the options of a run document."""
    return (document.get("options") or {}).get("population_column")

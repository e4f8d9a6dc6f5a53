"""The risk that a record is recognised: within its file, by the usual models of an attacker, and among the people that
the records are a sample of (sampling fraction, k-map, the journalist's risk).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.problem import Population

THRESHOLDS: tuple[tuple[str, int], ...] = (("0.2", 5), ("0.09", 11), ("0.05", 20))
"""Usual limits of the risk, and the class size that each stands for: a record is above it if its class is smaller."""


@dataclass(frozen=True)
class Risk:
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


def risk_of(sizes: NDArray[np.integer]) -> Risk:
    """The risk of a file from its class sizes."""
    sizes = sizes[sizes > 0].astype(np.int64)
    records = int(sizes.sum())
    at_risk = tuple(int(sizes[sizes < limit].sum()) for _, limit in THRESHOLDS)
    if not records:
        return Risk(0, 0, None, None, at_risk, None)
    average = sizes.size / records
    return Risk(records, sizes.size, 1 / int(sizes.min()), average, at_risk, average)


BY_REGION_ONLY = "inhabitants are known by region, not by class"


@dataclass(frozen=True)
class PopulationRisk:
    """What the inhabitants say of a release.

    The journalist looks a person up among all inhabitants: the risk of a record is 1 / the inhabitants of its place
    with its values. With a table of the population by region and class that is exact, and the fewest of such
    inhabitants are the k of the k-map. With inhabitants of regions alone it is *estimated*: a class has as many, among
    the inhabitants, as it has among the region's records. An estimate protects nobody, so no policy is held by it.
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

    def unknown(self, reason: str) -> PopulationRisk:
        """The same without a risk, and why."""
        return replace(self, journalist_maximum=None, journalist_average=None, k_map=None, no_estimate=reason)

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for run.json."""
        highest, average = self.journalist_maximum, self.journalist_average
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
class Placed:
    """Released classes: the place and the class of each, and how many records it has.

    ``membership`` has the place of each initial region (of one tier; places of tiers are numbered one after another).
    """

    membership: NDArray[np.integer]
    place: NDArray[np.integer]
    column: NDArray[np.integer]
    sizes: NDArray[np.int64]


def _sampled(records: int, inhabitants: float) -> float | None:
    return records / inhabitants if inhabitants else None


def smallest_place(inhabitants: NDArray[np.float64], tiers: tuple[Placed, ...]) -> float | None:
    """The fewest inhabitants of a place that has released records; ``inhabitants`` are those of initial regions."""
    fewest = []
    for tier in tiers:
        used = np.unique(tier.place[tier.sizes > 0])
        if used.size:
            fewest.append(float(np.bincount(tier.membership, inhabitants)[used].min()))
    return min(fewest, default=None)


def estimated_risk(
    column: str, inhabitants: NDArray[np.float64], records: NDArray[np.int64], tiers: tuple[Placed, ...]
) -> PopulationRisk:
    """What inhabitants by initial region say; ``records`` (all of the file) are those of the initial regions."""
    total = float(inhabitants.sum())
    known = PopulationRisk(
        f"column “{column}” of the region file", total, _sampled(int(records.sum()), total),
        smallest_place(inhabitants, tiers), reason=BY_REGION_ONLY,
    )  # fmt: skip
    if known.smallest_region is None:
        return known.unknown("nothing is released")
    if len(tiers) > 1:
        return known.unknown("records are released in larger places, too")
    (tier,) = tiers
    people, sampled = (np.bincount(tier.membership, each) for each in (inhabitants, records))
    kept = tier.sizes > 0
    place, sizes = tier.place[kept], tier.sizes[kept]
    if (people[place] < sampled[place]).any():
        return known.unknown("a region has more records than inhabitants, so the records are no sample of them")
    likely = sizes * (people[place] / sampled[place])
    return replace(
        known,
        journalist_maximum=float((1 / likely).max()),
        journalist_average=float((sizes / likely).sum() / sizes.sum()),
    )


def exact_risk(population: Population, name: str, records: int, tiers: tuple[Placed, ...]) -> PopulationRisk:
    """What a table of the population says: the people of every released class are counted in its place."""
    total = float(population.by_region.sum())
    known = PopulationRisk(
        f"table {name}", total, _sampled(records, total),
        smallest_place(population.by_region.astype(np.float64), tiers), exact=True,
    )  # fmt: skip
    people, sizes = class_people(population, tiers)
    if not sizes.size:
        return known.unknown("nothing is released")
    if (people < sizes).any():
        return known.unknown(
            "a released class has more records than people in the table, so the records are no sample of them"
        )
    return replace(
        known,
        k_map=int(people.min()),
        journalist_maximum=1 / int(people.min()),
        journalist_average=float((sizes / people).sum() / sizes.sum()),
    )


def class_people(population: Population, tiers: tuple[Placed, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The people and the records of every released class."""
    width = int(max([population.column.max(initial=-1), *(tier.column.max(initial=-1) for tier in tiers)])) + 1
    people, sizes = [], []
    for tier in tiers:
        kept = tier.sizes > 0
        wanted = tier.place[kept].astype(np.int64) * width + tier.column[kept]
        keys = tier.membership[population.region].astype(np.int64) * width + population.column
        found, where = np.unique(keys, return_inverse=True)
        numbers = np.bincount(where.ravel(), population.people, minlength=found.size).astype(np.int64)
        spot = np.minimum(np.searchsorted(found, wanted), max(0, found.size - 1))
        there = found[spot] == wanted if found.size else np.zeros(wanted.size, np.bool_)
        people.append(np.where(there, numbers[spot] if found.size else 0, 0).astype(np.int64))
        sizes.append(tier.sizes[kept])
    return np.concatenate(people), np.concatenate(sizes)


def population_column(document: Mapping[str, Any]) -> str | None:
    """The column with the inhabitants, as the options of a run name it."""
    return (document.get("options") or {}).get("population_column")

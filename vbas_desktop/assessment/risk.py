"""The risk that a record of a file is recognised, by the usual three models of an attacker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.records import EquivalenceCounts

THRESHOLDS: tuple[tuple[str, int], ...] = (("0.2", 5), ("0.09", 11), ("0.05", 20))
"""Usual limits of the risk, and the class size that each stands for: a record is above it if its class is smaller."""


@dataclass(frozen=True)
class Risk:
    """Risks between 0 and 1; None where a model is not defined.

    Prosecutor: the attacker knows that the person is in the file, so a record's risk is 1 / class size.
    Journalist: the attacker does not know that, but can look the values up in a population: 1 / class size there.
    Marketer: the share of records that are recognised if every one is matched with somebody at random.
    ``at_risk`` lists, for each of `THRESHOLDS`, the records whose prosecutor risk is above it.
    """

    records: int
    classes: int
    prosecutor_maximum: float | None
    prosecutor_average: float | None
    at_risk: tuple[int, ...]
    marketer: float | None
    journalist_maximum: float | None = None
    journalist_average: float | None = None


def risk_of(sizes: NDArray[np.integer], population: NDArray[np.integer] | None = None) -> Risk:
    """The risk of a file from its class sizes; ``population`` has the size of the same classes in the population.

    Without a population the file itself is taken as the one that a marketer matches against, and the journalist's risk
    is not defined.
    """
    if population is not None and population.shape != sizes.shape:
        raise ValueError("sizes and population must have the same classes")
    present = sizes > 0
    sizes = sizes[present].astype(np.int64)
    records = int(sizes.sum())
    at_risk = tuple(int(sizes[sizes < limit].sum()) for _, limit in THRESHOLDS)
    if not records:
        return Risk(0, 0, None, None, at_risk, None)
    average = sizes.size / records
    if population is None:
        return Risk(records, sizes.size, 1 / int(sizes.min()), average, at_risk, average)
    people = population[present].astype(np.int64)
    if (people < sizes).any():
        raise ValueError("a class has more records in the file than people in the population")
    # Every record of a class has the same chance 1 / people, so classes weigh by their records.
    expected = float((sizes / people).sum() / records)
    return Risk(
        records,
        sizes.size,
        1 / int(sizes.min()),
        average,
        at_risk,
        marketer=expected,
        journalist_maximum=1 / int(people.min()),
        journalist_average=expected,
    )


def class_sizes(counts: EquivalenceCounts) -> NDArray[np.int64]:
    """The sizes of all non-empty classes of all regions."""
    return counts.rows[2]

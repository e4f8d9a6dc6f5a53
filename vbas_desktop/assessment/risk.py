"""The risk that a record of a file is recognised, by the usual models of an attacker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

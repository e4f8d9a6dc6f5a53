"""Which numbers may be told: none that is, or gives away by subtraction, a number of fewer than k records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

ENOUGH = 10
"""From so many times k records on, a rounded figure does not give away how a few of them were spread."""


def shown(records: int, k: int) -> int | None:
    """A number of records that may be told: 0 or at least k; None stands for "fewer than k"."""
    return records if records == 0 or records >= k else None


def may_tell(numbers: Iterable[int], k: int) -> bool:
    """Whether all of these may be told."""
    return all(shown(number, k) is not None for number in numbers)


def parts_shown(parts: Mapping[str, int], k: int) -> dict[str, int | None]:
    """The parts of a known total. What is hidden must not be what is missing to the total, so if the hidden ones are
    fewer than k together, the smallest of the others is hidden too.
    """
    told = {name: shown(records, k) for name, records in parts.items()}
    hidden = sum(records for name, records in parts.items() if told[name] is None)
    others = [name for name, records in told.items() if records]
    if 0 < hidden < k and others:
        told[min(others, key=lambda name: parts[name])] = None
    return told


def figure_shown(value: float | None, records: int, smallest_part: int, k: int) -> float | None:
    """A figure that depends on how records fall into parts, the smallest of which has so many records (0: no part).

    Exact if no part is below k; of many records rounded; else not told.
    """
    if value is None or records < k:
        return None
    if smallest_part == 0 or smallest_part >= k:
        return value
    return round(value, 2) if records >= ENOUGH * k else None


def share_at_least(missing: int, records: int, k: int) -> float:
    """A share of the records that is certainly there, too coarse to work out how many are missing."""
    most = (missing + k - 1) // k * k
    return math.floor(100 * max(0, records - most) / records) / 100 if records else 0.0

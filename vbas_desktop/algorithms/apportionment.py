"""Divide records among targets by shares: exact totals, spread evenly over the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def apportion(number: int, shares: Sequence[Fraction]) -> list[int]:
    """Divide a number by shares that add up to 1, by largest remainders; ties go to the share listed first."""
    quotas = [number * share for share in shares]
    parts = [int(quota) for quota in quotas]
    order = sorted(range(len(shares)), key=lambda place: (parts[place] - quotas[place], place))
    for place in order[: number - sum(parts)]:
        parts[place] += 1
    return parts


def spread(parts: Sequence[int]) -> NDArray[np.int32]:
    """List the targets of consecutive records such that each target gets its part, evenly spaced.

    Record i of the c records of a target stands at (2i + 1) / (2c) of the way; targets at the same point keep their
    order. So equal parts take turns. O(n log n) for n records.
    """
    target = np.repeat(np.arange(len(parts), dtype=np.int32), parts)
    numbers = [(2 * np.arange(part) + 1) / (2 * part) for part in parts if part]
    if not numbers:
        return target
    return target[np.argsort(np.concatenate(numbers), kind="stable")]


def split_rows(codes: NDArray[np.integer], split: Mapping[int, Sequence[Fraction]]) -> dict[int, NDArray[np.int32]]:
    """Choose a target for each record of the codes that are split; the records of a code keep the order of the rows.

    Returns for each code the numbers of the targets, one for each of its records.
    """
    totals = np.bincount(codes, minlength=max(split, default=-1) + 1)
    return {code: spread(apportion(int(totals[code]), shares)) for code, shares in split.items()}

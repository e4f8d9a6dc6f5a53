"""Test whether the order of released rows is at chance level: neither that of the input nor sorted by a column."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .coded_file import CodedFile, FileColumn
from .text_hashes import Hashes, mix

Sketch = NDArray[np.uint16]
_SKETCHES = 1 << 16
_DEVIATIONS = 8.0
"""Number of standard deviations that chance exceeds about once in 10**15 cases."""


def sketch(rows: Hashes) -> Sketch:
    """Reduce fingerprints of rows to 16 bits, which is enough to compare two orders."""
    return (mix(rows) & np.uint64(_SKETCHES - 1)).astype(np.uint16)


def is_beyond_chance(observed: int, expected: float, variance: float) -> bool:
    """Return whether a number of coincidences is too large for chance, also where few are expected (Bernstein)."""
    limit = _DEVIATIONS * float(np.sqrt(max(0.0, variance))) + _DEVIATIONS**2 / 1.5
    return observed - expected > limit


def follows_order(rows: Sketch, original: Sketch) -> bool:
    """Return whether rows stand where they stand in the original order, or in its reverse, more often than by chance.

    Both have the same rows. If n rows are in random order and f rows have each sketch, Σ f² / n of them are expected to
    stand in a place where the original has the same sketch.
    """
    number = rows.size
    if number < 2 or number != original.size:
        return False
    sizes = np.bincount(original, minlength=_SKETCHES).astype(np.float64)
    squares = float((sizes**2).sum())
    cubes = float((sizes**3).sum())
    expected = squares / number
    variance = (squares - 2 * cubes / number + (squares / number) ** 2) / (number - 1)
    return any(
        is_beyond_chance(int(np.count_nonzero(rows == other)), expected, variance)
        for other in (original, original[::-1])
    )


def is_sorted_by(file: CodedFile, column: FileColumn) -> bool:
    """Return whether neighbouring rows have the same value in a column more often than by chance."""
    number = file.rows
    if number < 4 or column.texts is None:
        return False
    pairs, triples, both = _pair_chances(column.frequencies.astype(np.longdouble), number)
    expected = (number - 1) * pairs
    variance = expected + 2 * (number - 2) * triples + (number - 2) * (number - 3) * both - expected**2
    observed = _count_equal_neighbours(column.codes(chunk) for chunk in range(len(file.sizes)))
    return is_beyond_chance(observed, float(expected), float(variance))


def _pair_chances(
    sizes: NDArray[np.longdouble], number: int
) -> tuple[np.longdouble, np.longdouble, np.longdouble]:
    """Return the chances that two rows, three rows, and two separate pairs of rows agree."""
    twos = sizes * (sizes - 1)
    threes = twos * (sizes - 2)
    fours = threes * (sizes - 3)
    ways = np.longdouble(number) * (number - 1)
    pairs = twos.sum() / ways
    triples = threes.sum() / (ways * (number - 2))
    both = (fours.sum() + twos.sum() ** 2 - (twos**2).sum()) / (ways * (number - 2) * (number - 3))
    return pairs, triples, both


def _count_equal_neighbours(chunks: Iterable[NDArray[np.integer]]) -> int:
    observed = 0
    last = None
    for codes in chunks:
        if not codes.size:
            continue
        observed += int(np.count_nonzero(codes[1:] == codes[:-1])) + int(
            last is not None and codes[0] == last
        )
        last = codes[-1]
    return observed

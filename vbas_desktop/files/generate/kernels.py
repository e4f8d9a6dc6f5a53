"""The two loops over records: drawing a category for each, and writing the bytes of each line."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def random_word(key: np.uint64, number: np.uint64) -> np.uint64:
    """The ``number``-th 64-bit word of the stream ``key`` (SplitMix64): any part can be drawn without the rest."""
    word = key + (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True)
def draw(
    key: np.uint64,
    start: int,
    context: NDArray[np.int32],
    limits: NDArray[np.uint32],
    out: NDArray[np.int32],
) -> None:
    """Draw ``out[i]`` with the distribution ``limits[context[i]]`` for the records from ``start`` on.

    ``limits`` holds the cumulated probabilities of all categories but the last, in units of 2⁻³¹.
    """
    inner = limits.shape[1]
    for i in range(out.size):
        value = np.uint32(random_word(key, np.uint64(start + i)) >> np.uint64(33))
        row = limits[context[i]]
        low, high = 0, inner
        while low < high:
            middle = (low + high) // 2
            if row[middle] <= value:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@njit(cache=True, nogil=True)
def render(
    codes: NDArray[np.int64],
    first_field: NDArray[np.int64],
    begins: NDArray[np.int64],
    pool: NDArray[np.uint8],
    out: NDArray[np.uint8],
) -> int:
    """Write all lines of a chunk into ``out`` and return their length.

    Column j of record i is the text ``first_field[j] + codes[j, i]`` of the pool; text t is
    ``pool[begins[t]:begins[t + 1]]`` and includes the comma or line end behind it. A column with
    ``first_field[j] < 0`` is a pattern, text ``-1 - first_field[j]``, whose signs # become the digits of the code.
    """
    at = 0
    for i in range(codes.shape[1]):
        for j in range(codes.shape[0]):
            if first_field[j] >= 0:
                text = first_field[j] + codes[j, i]
                for place in range(begins[text], begins[text + 1]):
                    out[at] = pool[place]
                    at += 1
            else:
                text = -1 - first_field[j]
                rest = codes[j, i]
                size = begins[text + 1] - begins[text]
                for back in range(size):
                    sign = pool[begins[text] + size - 1 - back]
                    if sign == 35:
                        sign = np.uint8(48 + rest % 10)
                        rest //= 10
                    out[at + size - 1 - back] = sign
                at += size
    return at

"""Sums of many kinds, few of which are met at a time: a bit for each that is met, so that these are listed in order.

``met`` has a bit for each kind, ``some_met`` one for each word of ``met``. Both are zero before and after.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from .compiled import lean_inner

_WORD = 64
_SIX, _LOW, _ONE, _NONE = np.uint64(6), np.uint64(63), np.uint64(1), np.uint64(0)


def nothing_met(kinds: int) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]:
    """The sums, ``met`` and ``some_met`` of so many kinds, all zero."""
    words = -(-kinds // _WORD)
    return np.zeros(kinds, np.int64), np.zeros(words, np.uint64), np.zeros(-(-words // _WORD), np.uint64)


@intrinsic  # type: ignore[misc]
def lowest_bit(context: Any, word: Any) -> Any:
    """The place of the lowest bit that is set in a word; 64 if none is."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@lean_inner
def note(kind: np.uint64, met: Any, some_met: Any) -> None:
    """Note that a kind is met."""
    word = kind >> _SIX
    met[word] |= _ONE << (kind & _LOW)
    some_met[word >> _SIX] |= _ONE << (word & _LOW)


@lean_inner
def list_met(sums: Any, met: Any, some_met: Any, least: int, to: np.uint64, columns: Any, values: Any) -> np.uint64:
    """List the kinds that were met and their sums from place ``to`` on, those below ``least`` left out; where it ends.

    The lists must have one place more than they get entries.
    """
    for outer in range(np.uint64(some_met.size)):
        words = some_met[outer]
        some_met[outer] = _NONE
        while words:
            word = (outer << _SIX) | lowest_bit(words)
            words &= words - _ONE
            bits = met[word]
            met[word] = _NONE
            while bits:
                kind = (word << _SIX) | lowest_bit(bits)
                bits &= bits - _ONE
                # Without a branch: what is not kept is overwritten by what follows.
                columns[to] = kind
                values[to] = sums[kind]
                to += np.uint64(sums[kind] >= least)
                sums[kind] = 0
    return to

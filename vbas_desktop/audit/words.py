"""Several bytes at a time, for the auditor's loops alone: the loader has its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled

WORD, LINE = 8, 64

_BYTE, _INDEX, _BITS = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_BYTES = ir.VectorType(_BYTE, LINE)


@intrinsic  # type: ignore[misc]
def word_at(context: Any, data: Any, place: Any) -> Any:
    """The eight bytes from ``data[place]`` on as one number, the first byte the lowest."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _loaded(target, builder, signature, arguments, _BITS)

    return types.uint64(data, types.intp), generate


@intrinsic  # type: ignore[misc]
def _marks_at(context: Any, data: Any, place: Any, mark: Any) -> Any:
    """Which of the 64 bytes from ``data[place]`` on are the mark: a bit for each."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        line = _loaded(target, builder, signature, arguments, _BYTES)
        one = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), arguments[2], _INDEX(0))
        marks = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, LINE), [0] * LINE))
        return builder.bitcast(builder.icmp_unsigned("==", line, marks), _BITS)

    return types.uint64(data, types.intp, types.uint8), generate


@intrinsic  # type: ignore[misc]
def _number(context: Any, bits: Any) -> Any:
    """How many bits there are."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[misc]
def _lowest(context: Any, bits: Any) -> Any:
    """The place of the lowest bit."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


def _loaded(target: Any, builder: Any, signature: Any, arguments: Any, kind: Any) -> Any:
    start = target.make_array(signature.args[0])(target, builder, arguments[0]).data
    return builder.load(builder.bitcast(builder.gep(start, [arguments[1]]), kind.as_pointer()), align=1)


@compiled
def list_borders(data: NDArray[np.uint8], mark: np.uint8, places: NDArray[np.int32]) -> tuple[int, int]:
    """Where the line feeds and marks are, in ascending order; returns their number, and that of the line feeds."""
    found, place, lines, feed = 0, 0, np.uint64(0), np.uint8(10)
    while place + LINE <= data.size:
        feeds = _marks_at(data, place, feed)
        lines += _number(feeds)
        bits = feeds | _marks_at(data, place, mark)
        while bits:
            places[found] = place + np.int64(_lowest(bits))
            found += 1
            bits &= bits - np.uint64(1)
        place += LINE
    for rest in range(place, data.size):
        if data[rest] == mark or data[rest] == feed:
            places[found] = rest
            found += 1
            lines += np.uint64(data[rest] == feed)
    return found, int(lines)

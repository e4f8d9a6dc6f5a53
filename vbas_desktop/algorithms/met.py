"""The position of the lowest bit of a word, as one machine instruction."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[misc]
def lowest_bit(context: Any, word: Any) -> Any:
    """The place of the lowest bit that is set in a word; 64 if none is."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate

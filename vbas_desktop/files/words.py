"""Eight bytes at a time: the two machine instructions that numba does not offer by itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

PADDING = 64
"""Bytes that must follow a text in memory, so that whole words can be loaded up to its end."""


@intrinsic  # type: ignore[misc]
def load_word(context: Any, text: Any, place: Any) -> Any:
    """The eight bytes from ``text[place]`` on as one number (the first byte is the lowest)."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[0])(target, builder, arguments[0])
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(address, align=1)

    return types.uint64(text, types.intp), generate


@intrinsic  # type: ignore[misc]
def lowest_bit(context: Any, word: Any) -> Any:
    """The place of the lowest bit that is set in a word that is not zero."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate

"""Many bytes at a time: the machine instructions that numba does not offer by itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

PADDING = 64
"""Bytes that must follow a text in memory, so that whole words and lines of 64 bytes can be loaded up to its end."""

_LINE = ir.VectorType(ir.IntType(8), 64)


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


@intrinsic  # type: ignore[misc]
def count_bits(context: Any, word: Any) -> Any:
    """How many bits of a word are set."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[misc]
def equal_bytes(context: Any, text: Any, place: Any, one: Any, other: Any) -> Any:
    """A bit for each of the 64 bytes from ``text[place]`` on: which equal one of two bytes, which equal the other."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[0])(target, builder, arguments[0])
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), _LINE.as_pointer())
        line = builder.load(address, align=1)
        ones, others = (builder.icmp_unsigned("==", line, _everywhere(builder, byte)) for byte in arguments[2:])
        bits = [builder.bitcast(found, ir.IntType(64)) for found in (builder.or_(ones, others), others)]
        return target.make_tuple(builder, signature.return_type, bits)

    return types.UniTuple(types.uint64, 2)(text, types.uintp, types.uint8, types.uint8), generate


def _everywhere(builder: Any, byte: Any) -> Any:
    """A line of 64 bytes that are all the same."""
    nothing, first = ir.Constant(_LINE, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
    return builder.shuffle_vector(builder.insert_element(nothing, byte, ir.IntType(32)(0)), nothing, first)

"""Many bytes at a time: the machine instructions that numba does not offer by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

PADDING = 64
"""Bytes that must follow a text in memory, so that whole words and lines of 64 bytes can be loaded up to its end."""

CELL = 32
"""How many bytes of a field are compared and hashed at once."""

CELL_MASKS = np.array([255] * CELL + [0] * CELL, np.uint8)
"""From place ``CELL - size`` on: a mask that keeps the first ``size`` bytes of a cell."""

_LINE = ir.VectorType(ir.IntType(8), 64)
_CELL = ir.VectorType(ir.IntType(64), CELL // 8)
_HALVES = ir.VectorType(ir.IntType(32), CELL // 4)
_KEYS = (0x2D358DCCAA6C78A5, 0x8BB84B93962EACC9, 0x4B33A62ED433D4A3, 0x4D5A2DA51DE1AA47)


@intrinsic  # type: ignore[misc]
def load_word(context: Any, text: Any, place: Any) -> Any:
    """The eight bytes from ``text[place]`` on as one number (the first byte is the lowest)."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[0])(target, builder, arguments[0])
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(address, align=1)

    return types.uint64(text, types.intp), generate


@intrinsic  # type: ignore[misc]
def store_word(context: Any, text: Any, place: Any, word: Any) -> Any:
    """Write a number to the eight bytes from ``text[place]`` on (the lowest byte first)."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = target.make_array(signature.args[0])(target, builder, arguments[0])
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
        builder.store(arguments[2], address, align=1)
        return target.get_dummy_value()

    return types.void(text, types.intp, types.uint64), generate


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
        line = _line_at(target, builder, signature, arguments)
        ones, others = (builder.icmp_unsigned("==", line, _everywhere(builder, byte)) for byte in arguments[2:])
        bits = [builder.bitcast(found, ir.IntType(64)) for found in (builder.or_(ones, others), others)]
        return target.make_tuple(builder, signature.return_type, bits)

    return types.UniTuple(types.uint64, 2)(text, types.uintp, types.uint8, types.uint8), generate


@intrinsic  # type: ignore[misc]
def odd_bytes(context: Any, text: Any, place: Any) -> Any:
    """A bit for each of the 64 bytes from ``text[place]`` on: which are zeros, quotes or returns."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        line = _line_at(target, builder, signature, arguments)
        found = [builder.icmp_unsigned("==", line, ir.Constant(_LINE, [byte] * 64)) for byte in b'\0"\r']
        return builder.bitcast(builder.or_(builder.or_(*found[:2]), found[2]), ir.IntType(64))

    return types.uint64(text, types.uintp), generate


@intrinsic  # type: ignore[misc]
def bytes_beyond_ascii(context: Any, text: Any, place: Any) -> Any:
    """A bit for each of the 64 bytes from ``text[place]`` on: which are beyond ASCII."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        line = _line_at(target, builder, signature, arguments)
        return builder.bitcast(builder.icmp_signed("<", line, ir.Constant(_LINE, [0] * 64)), ir.IntType(64))

    return types.uint64(text, types.uintp), generate


@intrinsic  # type: ignore[misc]
def hash_cell(context: Any, text: Any, place: Any, masks: Any, mask: Any) -> Any:
    """A number made of the bytes from ``text[place]`` on that the mask at ``masks[mask]`` keeps.

    The halves of each word, each with a key of its own added, are multiplied, and the products added up.
    """

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kept = _kept(target, builder, signature, arguments)
        keyed = builder.add(builder.bitcast(kept, _HALVES), builder.bitcast(ir.Constant(_CELL, _KEYS), _HALVES))
        words = builder.bitcast(keyed, _CELL)
        low = builder.and_(words, ir.Constant(_CELL, [(1 << 32) - 1] * 4))
        high = builder.lshr(words, ir.Constant(_CELL, [32] * 4))
        total = builder.mul(low, high)
        for order in ((2, 3, 0, 1), (1, 0, 3, 2)):
            turned = builder.shuffle_vector(total, total, ir.Constant(ir.VectorType(ir.IntType(32), 4), order))
            total = builder.add(total, turned)
        return builder.extract_element(total, ir.IntType(32)(0))

    return types.uint64(text, types.uint64, masks, types.uint64), generate


@intrinsic  # type: ignore[misc]
def is_cell(context: Any, text: Any, place: Any, masks: Any, mask: Any, cells: Any, cell: Any) -> Any:
    """Whether the bytes that a mask keeps, and zeros for the others, are the 32 bytes from ``cells[cell]`` on."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kept = _kept(target, builder, signature, arguments)
        same = builder.icmp_signed("==", kept, _cell_at(target, builder, signature.args[4], *arguments[4:]))
        return builder.icmp_unsigned("==", builder.bitcast(same, ir.IntType(4)), ir.IntType(4)(15))

    return types.boolean(text, types.uint64, masks, types.uint64, cells, types.uint64), generate


def _line_at(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = target.make_array(signature.args[0])(target, builder, arguments[0])
    return builder.load(builder.bitcast(builder.gep(array.data, [arguments[1]]), _LINE.as_pointer()), align=1)


def _kept(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """A cell of text with zeros where the mask has them."""
    cell, mask = (_cell_at(target, builder, signature.args[i], *arguments[i : i + 2]) for i in (0, 2))
    return builder.and_(cell, mask)


def _cell_at(target: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    data = target.make_array(kind)(target, builder, array).data
    return builder.load(builder.bitcast(builder.gep(data, [place]), _CELL.as_pointer()), align=1)


def _everywhere(builder: Any, byte: Any) -> Any:
    """A line of 64 bytes that are all the same."""
    nothing, first = ir.Constant(_LINE, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
    return builder.shuffle_vector(builder.insert_element(nothing, byte, ir.IntType(32)(0)), nothing, first)

"""Which records of the input were to be considered: read anew from the filter files and decided by other means."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .file_columns import CodedColumn, UnreadableFile


@dataclass(frozen=True)
class FilterClaim:
    """A filter that was applied: its file, the hash that the file had, and whether it lists required combinations."""

    path: str
    sha256: str
    is_required: bool


@dataclass(frozen=True)
class ReadFilter:
    """The combinations of a filter file, by the names of the columns."""

    columns: tuple[str, ...]
    combinations: frozenset[tuple[str, ...]]
    is_required: bool


def read_filters(claims: Sequence[FilterClaim]) -> tuple[ReadFilter, ...]:
    """Read the filter files again; `UnreadableFile` if one is not the file any more that was applied."""
    return tuple(_read(claim) for claim in claims)


def _read(claim: FilterClaim) -> ReadFilter:
    try:
        data = Path(claim.path).read_bytes()
    except OSError:
        raise UnreadableFile("a filter of records cannot be read any more") from None
    if hashlib.sha256(data).hexdigest() != claim.sha256:
        raise UnreadableFile("a filter of records was changed since it was applied")
    text = _decode(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    first = text.split("\n", 1)[0]
    # The first of those that occur most often, as for every small table.
    delimiter = sorted(",;\t", key=lambda sign: -first.count(sign))[0]
    names, *rows = (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    return ReadFilter(tuple(names), frozenset(map(tuple, rows)), claim.is_required)


def _decode(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def select_coded(filters: Sequence[ReadFilter], columns: Mapping[str, CodedColumn], rows: int) -> NDArray[np.bool_]:
    """Return which of the records are to be considered, from the texts of the columns."""
    considered = np.ones(rows, np.bool_)
    for one in filters:
        keys = np.zeros(rows, np.int64)
        wanted = dict.fromkeys(one.combinations, 0)
        for place, name in enumerate(one.columns):
            column = columns[name]
            code_of = {text: code for code, text in enumerate(column.texts)}
            # Numbers are made small again after each column, so that they never overflow.
            used, keys = np.unique(keys * len(code_of) + column.codes, return_inverse=True)
            number_of = {key: number for number, key in enumerate(used.tolist())}
            for combination, before in list(wanted.items()):
                code = code_of.get(combination[place])
                number = None if code is None else number_of.get(before * len(code_of) + code)
                if number is None:
                    del wanted[combination]
                else:
                    wanted[combination] = number
        found = np.isin(keys, list(wanted.values()))
        considered &= found if one.is_required else ~found
    return considered

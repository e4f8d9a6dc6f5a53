"""Decide which records of the input were to be considered: read the filter files anew, and apply them otherwise."""

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

from .coded_file import CodedFile, FileColumn
from .combinations import number_combinations
from .csv_stream import UnreadableFile


@dataclass(frozen=True)
class FilterClaim:
    """A filter that was applied: its file, the hash that the file had, and whether it lists required combinations."""

    path: str
    sha256: str
    is_required: bool


@dataclass(frozen=True)
class RecordFilter:
    """The combinations of a filter file, by the names of the columns."""

    columns: tuple[str, ...]
    combinations: frozenset[tuple[str, ...]]
    is_required: bool


def read_filters(claims: Sequence[FilterClaim]) -> tuple[RecordFilter, ...]:
    """Read the filter files again; `UnreadableFile` if one is not the file any more that was applied."""
    return tuple(_read(claim) for claim in claims)


def _read(claim: FilterClaim) -> RecordFilter:
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
    return RecordFilter(tuple(names), frozenset(map(tuple, rows)), claim.is_required)


def _decode(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def find_considered(
    filters: Sequence[RecordFilter], file: CodedFile, columns: Mapping[str, FileColumn]
) -> list[NDArray[np.bool_]]:
    """Return for each chunk of a file which of its records are to be considered."""
    considered = [np.ones(rows, np.bool_) for rows in file.sizes]
    for filter_ in filters:
        if any(name not in columns for name in filter_.columns):
            raise UnreadableFile("a filter of records names a column that the input does not have")
        used = [columns[name] for name in filter_.columns]
        combinations = number_combinations(file, used)
        texts = [
            [column.known_texts[code] for code in codes]
            for column, codes in zip(used, combinations.codes, strict=True)
        ]
        is_listed = np.array([row in filter_.combinations for row in zip(*texts, strict=True)], np.bool_)
        passes = is_listed if filter_.is_required else ~is_listed
        for number, mask in enumerate(considered):
            mask &= passes[combinations.column.codes(number)]
    return considered

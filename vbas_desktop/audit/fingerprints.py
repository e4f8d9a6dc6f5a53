"""Compute the fingerprints of the rows of a coded file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .coded_file import CodedFile
from .row_order import Sketch, sketch
from .text_hashes import FingerprintSum, Hashes, TextHasher


def hash_rows(file: CodedFile, hasher: TextHasher, columns: int) -> Iterator[Hashes]:
    """Yield the sums of the hashes of the values of each row, by the first columns, chunk by chunk."""
    used = list(enumerate(file.columns[:columns]))
    tables = [
        None if column.texts is None else hasher.in_column(at, hasher.hash(column.texts))
        for at, column in used
    ]
    for number, size in enumerate(file.sizes):
        rows = np.zeros(size, np.uint64)
        for (at, column), table in zip(used, tables, strict=True):
            if table is None:
                rows += hasher.in_column(at, column.get_hashes(number))
            else:
                rows += table[column.codes(number)]
        yield rows


@dataclass(frozen=True, eq=False)
class RowSummary:
    """The sum of the fingerprints of rows, their order, and, if they were wanted, the hashes of all rows."""

    total: FingerprintSum
    order: Sketch
    rows: Hashes


def summarise_rows(chunks: Iterable[Hashes], keep_rows: bool = False) -> RowSummary:
    """Add up rows, chunk by chunk."""
    total = FingerprintSum()
    order = [np.zeros(0, np.uint16)]
    row_hashes = [np.zeros(0, np.uint64)]
    for rows in chunks:
        total.add(rows)
        order.append(sketch(rows))
        if keep_rows:
            row_hashes.append(rows)
    return RowSummary(total, np.concatenate(order), np.concatenate(row_hashes))

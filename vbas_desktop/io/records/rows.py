"""Read the rows of loaded records: as text, for jobs that need whole rows or a column without codes, and as one hash.

The hash does not depend on the order of the rows, so that the same records are recognised in a file that was sorted or
saved otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import CodedRecords

_STAGE = "Reading records again"
_LANES = 2
"""64-bit sums that make up the hash."""


def read_row_texts(table: CodedRecords) -> Iterator[list[str]]:
    """Yield every considered record as the list of its fields, in the order of the file.

    Raises `InputError`, at the latest after the last row, if the file is not the one any more that was loaded.
    """
    for columns in _considered_columns(table, table.file_format.header):
        yield from map(list, zip(*columns, strict=True))


def read_column_texts(table: CodedRecords, name: str) -> NDArray[np.str_]:
    """Return the text of one column in every considered record."""
    codes, texts = read_coded_texts(table, name)
    return texts[codes]


def read_coded_texts(table: CodedRecords, name: str) -> tuple[NDArray[np.integer], NDArray[np.str_]]:
    """Return one column as a code of each record and the texts of the codes, whether or not it was coded on loading."""
    facts = table.facts(name)
    if facts.categories is not None:
        return table.codes(name), np.array(facts.categories.values, np.str_)
    read = [texts for (texts,) in _considered_columns(table, [name])]
    texts, codes = np.unique(
        np.array([text for part in read for text in part], np.str_), return_inverse=True
    )
    return codes, texts


def _considered_columns(table: CodedRecords, names: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield columns of the considered records, a batch at a time."""
    considered = table.considered
    done = 0
    for batch in table.read_batches(names, NO_PROGRESS, _STAGE):
        rows = slice(done, done + batch.num_rows)
        done += batch.num_rows
        chosen = batch if considered is None else batch.take(np.flatnonzero(considered[rows]))
        yield [column.to_pylist() for column in chosen.columns]


def hash_rows(table: CodedRecords) -> str:
    """Hash the rows by the values of all coded columns; empty if columns were not read, are on a server or not coded.

    Each distinct value is hashed once by BLAKE2b, together with the name of its column. The hash of a row is the sum
    of its values' hashes, mixed so that sums over rows depend on which values are together in a row. The sum over all
    rows does not depend on their order, and counts repeated rows. Two sums of 64 bits make a collision by accident
    impossible in practice. They do not withstand somebody who constructs one on purpose, which only the owner of the
    ledger could. Columns with too many values to be coded do not count: no comparison of releases uses them.

    It takes O(rows × coded columns) steps, about 0.4 s for a million rows of ten columns.
    """
    if table.source.elsewhere or len(table.columns) < len(table.file_format.header):
        return ""
    names = [facts.name for facts in table.columns if facts.categorical]
    if not names:
        return ""
    hashed = {name: _hash_values(table, name) for name in names}
    total = [0] * _LANES
    for codes in table.pieces(names, NO_PROGRESS, ""):
        for lane in range(_LANES):
            rows = np.zeros(len(next(iter(codes.values()))), np.uint64)
            for name in names:
                rows += hashed[name][lane][codes[name]]
            total[lane] += int(_mix(rows).sum(dtype=np.uint64))
    digest = hashlib.sha256(
        "\0".join(sorted(table.file_format.header)).encode("utf-8", "surrogateescape")
    )
    digest.update(f"\0{table.rows}\0".encode())
    for lane_total in total:
        digest.update((lane_total % (1 << 64)).to_bytes(8, "little"))
    return digest.hexdigest()


def _hash_values(table: CodedRecords, name: str) -> NDArray[np.uint64]:
    """Hash each value of a column to one number for each lane."""
    categories = table.facts(name).categories
    begun = hashlib.blake2b(name.encode("utf-8", "surrogateescape") + b"\0", digest_size=8 * _LANES)
    digests = []
    for value in () if categories is None else categories.values:
        digest = begun.copy()
        digest.update(value.encode("utf-8", "surrogateescape"))
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64).reshape(-1, _LANES).T.copy()


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each number (the finaliser of SplitMix64), in place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers ^= numbers >> np.uint64(shift)
        numbers *= np.uint64(factor)
    numbers ^= numbers >> np.uint64(31)
    return numbers

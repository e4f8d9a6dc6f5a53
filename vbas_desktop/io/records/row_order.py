"""Put released rows into a random order that comes from a secret.

Each record of the input has a key of 64 bits from a cryptographic stream; released rows are sorted by it. The order
does not depend on how many rows are sorted at a time, so it is the same in memory and on disk.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress

PIECE_ROWS = 1 << 20
"""Rows of a piece. SHAKE-256 cannot continue where a digest ended, so each piece has a digest of its own."""
RECORD_KEY_CHARACTERS = 16
INDEX_COLUMNS = ("record_key", "record", "row")
"""Columns of the index that leads from the key of a record to its row: for the organisation alone."""
HELD_BYTES = 64 << 20
"""Bytes of rows that are held in memory before they are divided into buckets on disk."""
BUCKET_BYTES = 32 << 20
"""The expected size of a bucket."""
LARGEST_BUCKET_BYTES = 64 << 20
"""A bucket with more bytes in the file is divided again before it is sorted."""

_KEY_BYTES = 8
_RECORD_KEY_BYTES = 10
_KEPT_PIECES = 4
_SORTED_AT_A_TIME = 256
_MOST_BUCKETS = 1 << 31
_BASE32 = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)


class _Stream:
    """Pseudo-random bytes for each record of an input, from a secret."""

    def __init__(self, secret: bytes, width: int) -> None:
        self._secret = secret
        self._width = width
        # Rows are asked for in ascending order, so few pieces are needed at a time.
        self._piece = lru_cache(_KEPT_PIECES)(self._make_piece)

    def _make_piece(self, number: int) -> NDArray[np.uint8]:
        digest = hashlib.shake_256(self._secret + number.to_bytes(8, "little")).digest(
            self._width * PIECE_ROWS
        )
        return np.frombuffer(digest, np.uint8).reshape(PIECE_ROWS, self._width)

    def read(self, rows: NDArray[np.integer]) -> NDArray[np.uint8]:
        """Return the bytes of these records, numbered from 0 and given in ascending order: a row for each."""
        stream_bytes = np.empty((rows.size, self._width), np.uint8)
        if not rows.size:
            return stream_bytes
        pieces = np.arange(int(rows[0]) // PIECE_ROWS, int(rows[-1]) // PIECE_ROWS + 2)
        borders = np.searchsorted(rows, pieces * PIECE_ROWS)
        for number, low, high in zip(pieces[:-1].tolist(), borders[:-1], borders[1:], strict=True):
            stream_bytes[low:high] = self._piece(number)[rows[low:high] - number * PIECE_ROWS]
        return stream_bytes


class RowKeys:
    """The keys by which the rows of an input are sorted, from the secret of a release."""

    def __init__(self, secret: bytes) -> None:
        self._stream = _Stream(secret, _KEY_BYTES)

    def compute(self, rows: NDArray[np.integer]) -> NDArray[np.uint64]:
        """Return the keys of these records, numbered from 0 and given in ascending order."""
        return self._stream.read(rows).view("<u8").ravel().astype(np.uint64, copy=False)


class RecordKeys:
    """Pseudonymous keys of the records of an input: 80 bits each, as 16 characters of base32.

    They come from a stream of their own, which begins with another domain string than that of the rows' order: neither
    reveals anything of the other. Equal keys among n records have a probability of n² / 2⁸¹, so that 10 million records
    have none in all but 4 of 10¹¹ releases; the verification of a release looks for them.
    """

    def __init__(self, secret: bytes) -> None:
        self._stream = _Stream(b"vbas record key" + secret, _RECORD_KEY_BYTES)

    def compute(self, rows: NDArray[np.integer]) -> NDArray[np.uint8]:
        """Return the keys of these records, numbered from 0 and ascending: a row of characters for each."""
        bits = np.unpackbits(self._stream.read(rows), axis=1)
        fives = bits.reshape(rows.size, RECORD_KEY_CHARACTERS, 5)
        return _BASE32[fives @ np.array([16, 8, 4, 2, 1], np.uint8)]


def format_keys(keys: NDArray[np.uint8]) -> Any:
    """Return keys of records, a row of characters for each, as an Arrow array of texts."""
    number, width = keys.shape
    offsets = np.arange(
        0, (number + 1) * width, width, dtype=np.int32 if number * width < 1 << 31 else np.int64
    )
    array_type = pa.StringArray if offsets.dtype == np.int32 else pa.LargeStringArray
    return array_type.from_buffers(
        number, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(keys))
    )


def write_key_index(
    path: Path, keys: NDArray[np.uint8], positions: NDArray[np.int64], rows: NDArray[np.int64]
) -> None:
    """Write ``record_key,record,row`` of every record, in the order of the keys.

    ``record`` is the number of the record in its file, counted from 1, so one more than its position; ``row`` the line
    on which it begins. ``keys`` has a line of characters for each record. Keys beyond the positions belong to made-up
    records, which have neither.
    """
    texts = keys.view(f"S{keys.shape[1]}").ravel()
    order = np.argsort(texts)
    is_made_up = np.arange(texts.size) >= positions.size
    padding = np.zeros(texts.size - positions.size, np.int64)
    records, lines = (
        pa.array(np.concatenate([numbers, padding])[order], pa.int64(), mask=is_made_up[order])
        for numbers in (positions + 1, rows)
    )
    columns = [format_keys(keys[order]), records, lines]
    index = pa.table(dict(zip(INDEX_COLUMNS, columns, strict=True)))
    with path.open("wb") as file:
        file.write(f"{','.join(INDEX_COLUMNS)}\n".encode())
        pa_csv.write_csv(index, file, pa_csv.WriteOptions(include_header=False, quoting_style="none"))


def sort_by_keys(keys: NDArray[np.uint64], progress: Progress, stage: str) -> NDArray[np.int64]:
    """Return the order of rows by their keys; rows with equal keys keep their order.

    The leading bits are sorted at once (numpy sorts 16 bits by counting), the rest in parts that fit into the
    processor's cache and between which the user can stop.
    """
    leading = (keys >> np.uint64(48)).astype(np.uint16)
    order = np.argsort(leading, kind="stable")
    ends = np.cumsum(np.bincount(leading, minlength=1 << 16))[_SORTED_AT_A_TIME - 1 :: _SORTED_AT_A_TIME]
    start = 0
    for end in ends.tolist():
        progress.update(stage, start / max(1, keys.size))
        part = order[start:end]
        order[start:end] = part[np.argsort(keys[part], kind="stable")]
        start = end
    return order


def keys_from_hashes(hashes: NDArray[np.uint64], secret: bytes) -> NDArray[np.uint64]:
    """Make keys from hashes of what rows hold, for engines that give their rows in no fixed order.

    Neither the order of the source nor that in which an engine hands rows out leaves a trace, and equal rows with the
    same secret come out in the same order from every engine.
    """
    first, second = np.frombuffer(secret[:16], "<u8").astype(np.uint64)
    with np.errstate(over="ignore"):
        return _mix(_mix(hashes + first) ^ second)


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix numbers so that every bit depends on all others (splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


@dataclass(frozen=True)
class _Piece:
    """Rows of one bucket that were written together: where they start in the file, and their bytes."""

    start: int
    size: int


class RowBuckets:
    """Sorts batches of rows by their keys; what does not fit into memory waits on disk in buckets of the leading bits.

    The rows wait in a temporary file without a name, which vanishes with the process. Their keys are the last column
    while they wait. What is held in memory is bounded in bytes, since few rows can have many.
    """

    def __init__(self, folder: Path, expected_bytes: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._number = max(1, -(-expected_bytes // BUCKET_BYTES))
        self._buckets: list[list[_Piece]] = [[] for _ in range(self._number)]
        self._held: list[Any] = []
        self._held_bytes = 0

    def add(self, batch: Any, keys: NDArray[np.uint64]) -> None:
        """Take the rows of an Arrow batch with their keys."""
        self._held.append(batch.append_column("", pa.array(keys)))
        self._held_bytes += batch.nbytes
        if self._held_bytes >= HELD_BYTES:
            self._divide(self._take_held(), self._number, 0, self._buckets)

    def _take_held(self) -> Any:
        table = pa.Table.from_batches(self._held)
        self._held = []
        self._held_bytes = 0
        return table

    def _divide(self, table: Any, number: int, first: int, buckets: list[list[_Piece]]) -> None:
        """Write rows to their buckets; ``buckets`` are those from ``first`` on where all keys have ``number``."""
        bucket = _find_buckets(_keys(table), number) - first
        arranged = table.take(pa.array(np.argsort(bucket, kind="stable")))
        bounds = np.concatenate(([0], np.cumsum(np.bincount(bucket, minlength=len(buckets))))).tolist()
        self._file.seek(0, os.SEEK_END)
        for low, high, pieces in zip(bounds[:-1], bounds[1:], buckets, strict=True):
            if high > low:
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, table.schema) as writer:
                    writer.write_table(arranged.slice(low, high - low))
                data = sink.getvalue()
                pieces.append(_Piece(self._file.tell(), data.size))
                self._file.write(data)

    def _read(self, piece: _Piece) -> Any:
        self._file.seek(piece.start)
        return pa.ipc.open_stream(pa.py_buffer(self._file.read(piece.size))).read_all()

    def _split(self, bucket: int) -> list[list[_Piece]]:
        """Divide a bucket so that its parts, one after the other, are small enough; usually it is the only part."""
        pieces = self._buckets[bucket]
        size = sum(piece.size for piece in pieces)
        number = min(-(-size // LARGEST_BUCKET_BYTES), _MOST_BUCKETS // self._number)
        if number <= 1:
            return [pieces]
        parts: list[list[_Piece]] = [[] for _ in range(number)]
        for piece in pieces:
            self._divide(self._read(piece), self._number * number, bucket * number, parts)
        return parts

    def read_sorted(self, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield all rows in the order of their keys, in Arrow tables of a bounded size."""
        held = self._take_held() if self._held else None
        if held is not None and not any(self._buckets):
            yield _sort(held)
            return
        if held is not None:
            self._divide(held, self._number, 0, self._buckets)
        for bucket in range(self._number):
            progress.update(stage, bucket / self._number)
            for part in self._split(bucket):
                if part:
                    yield _sort(pa.concat_tables([self._read(piece) for piece in part]))

    def close(self) -> None:
        """Close the temporary file, which removes it."""
        self._file.close()


def _find_buckets(keys: NDArray[np.uint64], number: int) -> NDArray[np.int64]:
    """Divide keys into buckets of about the same size by their leading bits: a larger key is in no smaller bucket."""
    return (((keys >> np.uint64(32)) * np.uint64(number)) >> np.uint64(32)).astype(np.int64)


def _keys(table: Any) -> NDArray[np.uint64]:
    return np.asarray(table.column(table.num_columns - 1))


def _sort(table: Any) -> Any:
    """Sort rows by their keys, and take the keys away."""
    order = np.argsort(_keys(table), kind="stable")
    return table.remove_column(table.num_columns - 1).take(pa.array(order)).combine_chunks()

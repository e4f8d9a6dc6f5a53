"""Batches of a Parquet file whose size in memory is bounded, whatever the file says about itself.

A value that is repeated takes hardly any room in the file, so that a few kilobytes can become gigabytes. The footer may
not tell (or lie), so what counts is what the headers of the pages say before decoding, and what was decoded.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as types

from vbas_desktop.model.findings import InputError, input_error

from .input_checks import check_expansion
from .parquet_pages import ColumnChunk, read_row_group

LONGEST_VALUE_BYTES = 16 << 20
"""As long as a row of a text file may be."""
LARGEST_PAGE_BYTES = 256 << 20
"""A page is decoded as a whole. Usual ones have about 1 MB."""
_BATCH_BYTES = 64 << 20
_FEWEST_ROWS = 16
_ROWS_OF_LISTS = 2048
_FIRST_ROW = 2
"""The row of the first record, as in text files, where the names are row 1."""


def read_bounded_batches(
    path: Path, most_rows: int, columns: Sequence[str] | None = None, as_dictionaries: Sequence[str] = ()
) -> Generator[Any]:
    """Yield the rows of a Parquet file as Arrow batches of at most ``most_rows`` rows, fewer where values are long.

    Columns of texts that are named in ``as_dictionaries`` come as dictionary arrays where they are stored like that.
    Raises `InputError` before the file unpacks to more than compressed files may or has a page of more than
    `LARGEST_PAGE_BYTES`, and as soon as it has a value of more than `LONGEST_VALUE_BYTES`. Errors of Arrow are the
    caller's.
    """
    names = None if columns is None else list(columns)
    size = path.stat().st_size
    unpacked = 0
    decoded = 0
    rows = 0
    with path.open("rb") as raw, pq.ParquetFile(path, pre_buffer=False) as file:
        for group in range(file.num_row_groups):
            chunks = list(read_row_group(raw, file.metadata, group, names))
            unpacked += sum(chunk.unpacked for chunk in chunks)
            check_expansion(path, unpacked, size)
            _refuse_large_pages(path, chunks)
            batch_rows = _count_rows_that_fit(path, group, names, chunks, most_rows)
            coded = [
                chunk.path
                for chunk in chunks
                if chunk.path in as_dictionaries and _has_usable_dictionary(chunk)
            ]
            with pq.ParquetFile(path, pre_buffer=False, read_dictionary=coded) as reader:
                for batch in reader.iter_batches(
                    batch_size=batch_rows, row_groups=[group], columns=names
                ):
                    for name, array in zip(batch.schema.names, batch.columns, strict=True):
                        decoded += _measure(path, name, array, rows)
                    check_expansion(path, decoded, size)
                    rows += batch.num_rows
                    yield batch


def _has_usable_dictionary(chunk: ColumnChunk) -> bool:
    return chunk.is_codable and chunk.dictionary_bytes > 0


def _refuse_large_pages(path: Path, chunks: Sequence[ColumnChunk]) -> None:
    for chunk in chunks:
        if chunk.largest_page > LARGEST_PAGE_BYTES:
            message = f"A page of the file unpacks to more than {LARGEST_PAGE_BYTES >> 20} MB."
            remedy = "Write the file with smaller pages, or without this column."
            raise input_error("large-page", message, remedy, file=path, column=chunk.path)


def _count_rows_that_fit(
    path: Path, group: int, names: list[str] | None, chunks: Sequence[ColumnChunk], most_rows: int
) -> int:
    """Find out how many rows of a row group make a batch of bounded size."""
    longest = _longest_in_dictionaries(path, group, names, chunks)
    plain = [chunk for chunk in chunks if not chunk.is_repeated]
    lists = [chunk for chunk in chunks if chunk.is_repeated]
    rows = most_rows
    while (
        rows > _FEWEST_ROWS
        and sum(chunk.bound_bytes(rows, longest[chunk.path]) for chunk in plain) > _BATCH_BYTES
    ):
        rows //= 2
    if lists:
        # Nothing tells which row a value of a list belongs to: one row may have all of them.
        in_lists = sum(chunk.bound_bytes(rows, longest[chunk.path]) for chunk in lists)
        check_expansion(path, in_lists, path.stat().st_size)
        if in_lists > _BATCH_BYTES:
            rows = min(rows, _ROWS_OF_LISTS)
    return max(1, rows)


def _longest_in_dictionaries(
    path: Path, group: int, names: list[str] | None, chunks: Sequence[ColumnChunk]
) -> Mapping[str, int]:
    """Measure the longest value in the dictionary of each column.

    The first row, with texts as codes, brings the dictionaries of all columns with it, and these are not repeated for
    every row.
    """
    longest = {chunk.path: chunk.dictionary_bytes for chunk in chunks}
    codable = [chunk.path for chunk in chunks if _has_usable_dictionary(chunk)]
    if not codable:
        return longest
    try:
        with pq.ParquetFile(path, pre_buffer=False, read_dictionary=codable) as coded:
            first = next(coded.iter_batches(batch_size=1, row_groups=[group], columns=names), None)
    except (pa.ArrowException, OSError):
        # Then the bytes of the whole dictionary bound its values.
        first = None
    for name, array in () if first is None else zip(first.schema.names, first.columns, strict=True):
        if name in longest and pa.types.is_dictionary(array.type):
            longest[name] = min(longest[name], _longest_value(path, name, array))
    return longest


def _longest_value(path: Path, column: str, array: Any) -> int:
    """Measure the longest text in the dictionary of a column of one row."""
    lengths = _text_lengths(array.dictionary)
    longest = int(0 if lengths is None else pc.max(lengths).as_py() or 0)
    if longest > LONGEST_VALUE_BYTES:
        raise _too_long(path, column)
    return longest


def _measure(path: Path, column: str, array: Any, rows: int) -> int:
    """Count the bytes of a column in a batch, those of a value as often as it occurs; ``rows`` were read before."""
    if types.is_dictionary(array.type):
        lengths = _text_lengths(array.dictionary)
        lengths = None if lengths is None else lengths.take(array.indices)
        decoded = int(array.indices.nbytes) + int(0 if lengths is None else pc.sum(lengths).as_py() or 0)
    else:
        decoded = int(array.nbytes)
        lengths = _text_lengths(array) if decoded > LONGEST_VALUE_BYTES else None
    if lengths is not None and decoded > LONGEST_VALUE_BYTES:
        first = pc.index(pc.greater(lengths, LONGEST_VALUE_BYTES), True).as_py()
        if first >= 0:
            raise _too_long(path, column, _FIRST_ROW + rows + first)
    return decoded


def _text_lengths(array: Any) -> Any:
    """Measure the bytes of every value of an Arrow array of texts or bytes; None for other types."""
    kind = array.type
    if types.is_string_view(kind) or types.is_binary_view(kind):
        array = array.cast(pa.large_binary())
    elif not (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    ):
        return None
    return pc.binary_length(array).cast(pa.int64())


def _too_long(path: Path, column: str, row: int | None = None) -> InputError:
    message = f"A value is longer than {LONGEST_VALUE_BYTES >> 20} MB."
    return input_error(
        "long-value", message, "Take it or its column out.", file=path, column=column, row=row
    )

"""Batches of a Parquet file whose size in memory is bounded, whatever the file says about itself.

A value that is repeated takes hardly any room in the file, so that a few kilobytes can become gigabytes. Metadata may
not tell (or lie), so what counts is what was decoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vbas_desktop.domain.errors import InputError, refusal

from .access import refuse_bomb

LONGEST_VALUE_BYTES = 16 << 20
"""As long as a row of a text file may be."""
_BATCH_BYTES = 64 << 20
_FEWEST_ROWS = 16
_ROWS_OF_UNKNOWN_LENGTH = 256
_ROWS_OF_LISTS = 2048
_PREFIXES = "DELTA_BYTE_ARRAY"
"""Values are stored as what differs from the value before: nothing tells how long they are."""
_LENGTHS_FIRST = "DELTA_LENGTH_BYTE_ARRAY"
_FIRST_ROW = 2
"""The row of the first record, as in text files, where the names are row 1."""


def bounded_batches(path: Path, most_rows: int, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield the rows of a Parquet file as Arrow batches of at most ``most_rows`` rows, fewer where values are long.

    Raises `InputError` as soon as the file has unpacked to more than compressed files may, or has a value of more than
    `LONGEST_VALUE_BYTES`. Errors of Arrow are the caller's.
    """
    import pyarrow.parquet as pq

    names = None if columns is None else list(columns)
    size = path.stat().st_size
    decoded = 0
    rows = 0
    with (
        pq.ParquetFile(path, pre_buffer=False) as file,
        pq.ParquetFile(path, pre_buffer=False, read_dictionary=_columns_with_codes(file)) as coded,
    ):
        for group in range(file.num_row_groups):
            batch_rows = min(most_rows, _count_rows_that_fit(path, coded, group, names))
            for batch in file.iter_batches(batch_size=batch_rows, row_groups=[group], columns=names):
                for name, array in zip(batch.schema.names, batch.columns, strict=True):
                    decoded += _measure(path, name, array, rows)
                refuse_bomb(path, decoded, size)
                rows += batch.num_rows
                yield batch


def _columns_with_codes(file: Any) -> list[str]:
    """List the columns of texts or bytes that Arrow can read as codes, by their paths."""
    schema = file.schema
    paths = []
    for number in range(len(schema)):
        encodings = {name for chunk in _chunks(file, number) for name in chunk.encodings}
        if schema.column(number).physical_type == "BYTE_ARRAY" and not encodings & {_PREFIXES, _LENGTHS_FIRST}:
            paths.append(schema.column(number).path)
    return paths


def _chunks(file: Any, column: int) -> Iterator[Any]:
    for group in range(file.num_row_groups):
        yield file.metadata.row_group(group).column(column)


def _count_rows_that_fit(path: Path, coded: Any, group: int, names: list[str] | None) -> int:
    """Find out how many rows of a row group make a batch of bounded size.

    The first row, with texts as codes, brings the dictionaries of all columns with it, and these are not repeated for
    every row.
    """
    import pyarrow as pa

    try:
        first = next(coded.iter_batches(batch_size=1, row_groups=[group], columns=names), None)
    except (pa.ArrowException, OSError):
        # Arrow cannot read every encoding as codes, and metadata may name another one than the column has.
        return _ROWS_OF_UNKNOWN_LENGTH
    if first is None:
        return _ROWS_OF_UNKNOWN_LENGTH
    row_bytes = sum(_longest_value(path, *named) for named in zip(first.schema.names, first.columns, strict=True))
    rows = max(_FEWEST_ROWS, _BATCH_BYTES // max(1, row_bytes))
    if any(pa.types.is_nested(field.type) for field in first.schema):
        rows = min(rows, _ROWS_OF_LISTS)
    metadata = coded.metadata.row_group(group)
    encodings = {name for number in range(metadata.num_columns) for name in metadata.column(number).encodings}
    return min(rows, _ROWS_OF_UNKNOWN_LENGTH) if _PREFIXES in encodings else rows


def _longest_value(path: Path, column: str, array: Any) -> int:
    """Measure the longest value that a column of one row, or its dictionary, has."""
    import pyarrow.compute as pc
    import pyarrow.types as types

    lengths = _text_lengths(array.dictionary) if types.is_dictionary(array.type) else None
    if lengths is None:
        return int(array.nbytes)
    longest = int(pc.max(lengths).as_py() or 0)
    if longest > LONGEST_VALUE_BYTES:
        raise _too_long(path, column)
    return longest + 4


def _measure(path: Path, column: str, array: Any, rows: int) -> int:
    """Count the bytes of a column in a batch, those of a value as often as it occurs; ``rows`` were read before."""
    import pyarrow.compute as pc
    import pyarrow.types as types

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
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = array.type
    if types.is_string_view(kind) or types.is_binary_view(kind):
        array = array.cast(pa.large_binary())
    elif not (
        types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    ):
        return None
    return pc.binary_length(array).cast(pa.int64())


def _too_long(path: Path, column: str, row: int | None = None) -> InputError:
    message = f"A value is longer than {LONGEST_VALUE_BYTES >> 20} MB."
    return refusal("long-value", message, "Take it or its column out.", file=path, column=column, row=row)

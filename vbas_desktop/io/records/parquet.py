"""Parquet files into coded columns: the same result as from text, with every value taken as its text.

Whole numbers have no decimal point, dates are ISO dates, nulls and not-a-numbers are missing.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.access import refuse_bomb
from vbas_desktop.io.dialect import check_column_number
from vbas_desktop.io.hashing import HashedFile
from vbas_desktop.io.parquet_batches import bounded_batches
from vbas_desktop.model.errors import Finding, InputError, Severity, refusal
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.source import Source

from .coding import DISTINCT_LIMIT
from .csv_batches import UnreadableRows
from .raw import RawColumn, RawRecords, code_type

_BATCH_ROWS = 1 << 17
_MAGIC = b"PAR1"
_STAGE = "Reading records"


def is_parquet(path: Path) -> bool:
    """Whether the file is named or begins like Parquet."""
    with path.open("rb") as file:
        return file.read(4) == _MAGIC or path.suffix.lower() in (".parquet", ".pq")


def scan_parquet(path: Path, progress: Progress) -> RawRecords:
    """Read all columns in batches; what cannot be a category (lists, structures) is left uncoded."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stop = threading.Event()
    with ThreadPoolExecutor(1, "hash") as pool:
        source = pool.submit(_hashed, path, stop)
        try:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                check_column_number(path, file.metadata.num_columns)
                refuse_bomb(path, _expanded(file.metadata), path.stat().st_size)
                columns, rows = _columns(path, file, progress)
        except (pa.ArrowException, OSError):
            stop.set()
            message = "The file is not a readable Parquet file."
            raise refusal("bad-parquet", message, "Get a fresh copy of the file.", file=path) from None
        except InputError as error:
            stop.set()
            raise InputError(replace(finding, file=str(path)) for finding in error.findings) from None
        except BaseException:
            stop.set()
            raise
        names = tuple(column.name for column in columns)
        findings = [column.uncoded(str(path)) for column in columns if not column.codable]
        return RawRecords(
            source.result(),
            Dialect("parquet", header=names),
            [column.raw() for column in columns],
            rows,
            _first(columns),
            2,
            findings,
        )


def parquet_rows(path: Path, names: Sequence[str]) -> Iterator[list[str]]:
    """The rows of some columns, every value as the text that loading takes it for; batches keep the memory small."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    binary: list[str] = []
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            binary += [name for name in names if is_binary(file.schema_arrow.field(name).type)]
            for batch in bounded_batches(path, _BATCH_ROWS // 8, names):
                columns = []
                for name in names:
                    indices, values = dictionary_of(batch.column(name))
                    columns.append(np.array(values, object)[indices].tolist())
                yield from map(list, zip(*columns, strict=True))
    except (pa.ArrowNotImplementedError, UnicodeDecodeError):
        message = "The file has columns of structured or binary values, which are not text."
        raise refusal("uncodable-column", message, "Take them out.", file=path) from None
    except (pa.ArrowException, OSError, KeyError) as error:
        if binary and isinstance(error, pa.ArrowInvalid):
            message = "The column holds binary values, which are not text."
            remedy = "Take it out, or write it as text."
            raise refusal("uncodable-column", message, remedy, file=path, column=binary[0]) from None
        message = "The file is not a readable Parquet file any more."
        raise refusal("bad-parquet", message, "Get a fresh copy of the file.", file=path) from None


def read_parquet_again(
    source: Source, dialect: Dialect, names: Sequence[str], typed: bool, progress: Progress, stage: str
) -> Generator[Any]:
    """Yield some columns of a file that was read before, as batches.

    Columns are strings, every value being the text that loading takes it for, or with ``typed`` what is stored.
    Raises `UnreadableRows` if the file has changed, at the latest after the last batch.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(source.path)
    with pq.ParquetFile(path, pre_buffer=False) as file:
        total = max(1, file.metadata.num_rows)
        if not set(names) <= set(file.schema_arrow.names):
            raise UnreadableRows
        binary = [name for name in names if is_binary(file.schema_arrow.field(name).type)]
    rows = 0
    left_out = int(dialect.category_line)
    try:
        for batch in bounded_batches(path, _BATCH_ROWS, names):
            progress.update(stage, rows / total)
            rows += batch.num_rows
            columns = [batch.column(name).slice(left_out) for name in names]
            left_out = 0
            arrays = columns if typed else [_to_strings(column) for column in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))
    except (pa.ArrowNotImplementedError, UnicodeDecodeError):
        message = "The file has columns of structured or binary values, which are not text."
        raise refusal("uncodable-column", message, "Take them out.", file=path) from None
    except pa.ArrowInvalid:
        if not binary:
            raise
        message = "The column holds binary values, which are not text."
        remedy = "Take it out, or write it as text."
        raise refusal("uncodable-column", message, remedy, file=path, column=binary[0]) from None
    if _hashed(path, threading.Event()).sha256 != source.sha256:
        raise UnreadableRows


def _to_strings(array: Any) -> Any:
    import pyarrow as pa

    indices, values = dictionary_of(array)
    return pa.array(values, pa.string()).take(pa.array(indices))


def first_parquet_record(path: Path) -> tuple[str, ...] | None:
    """Read the texts of the first row; None if there is none, or if a column holds what is no text."""
    import pyarrow as pa

    try:
        with closing(bounded_batches(path, 1)) as batches:
            batch = next(batches, None)
        if batch is None or not batch.num_rows:
            return None
        columns = [dictionary_of(column) for column in batch.columns]
    except (pa.ArrowException, OSError, UnicodeDecodeError, InputError):
        return None
    return tuple(values[int(indices[0])] for indices, values in columns)


def without_views(batch: Any) -> Any:
    """Turn columns of the type string_view or binary_view, which pyarrow cannot filter, into plain ones."""
    import pyarrow as pa

    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    columns = [column.cast(plain.get(column.type, column.type)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def write_parquet_texts(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write rows of texts as a Parquet file whose columns are all text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string()) for name in header])
    left = iter(rows)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while block := list(islice(left, _BATCH_ROWS // 8)):
            columns = [pa.array(column, pa.string()) for column in zip(*block, strict=True)]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def is_binary(kind: Any) -> bool:
    """Tell whether a column of this Arrow type holds bytes that need not be text."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


def _expanded(metadata: Any) -> int:
    """The bytes that a file has unpacked, at least one for every value: repeated ones take hardly any room in it."""
    unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    return max(int(unpacked), metadata.num_rows * metadata.num_columns)


def _columns(path: Path, file: Any, progress: Progress) -> tuple[list[_Column], int]:
    columns = [_Column(field.name, place, field.type) for place, field in enumerate(file.schema_arrow)]
    total, rows = file.metadata.num_rows, 0
    for batch in bounded_batches(path, _BATCH_ROWS):
        for column, array in zip(columns, batch.columns, strict=True):
            progress.update(_STAGE, rows / max(1, total))
            column.add(array)
        rows += batch.num_rows
    return columns, rows


def _first(columns: list[_Column]) -> tuple[str, ...] | None:
    firsts = [column.first for column in columns]
    return tuple(first for first in firsts if first is not None) if all(f is not None for f in firsts) else None


class _Column:
    """One column's dictionary and codes while its batches pass by."""

    def __init__(self, name: str, place: int, kind: Any) -> None:
        import pyarrow.types as types

        self.name, self.place = name, place
        self.codable = not (types.is_nested(kind) or is_binary(kind))
        self.first: str | None = None
        self._places: dict[str, int] = {}
        self._parts: list[NDArray[np.unsignedinteger]] | None = [] if self.codable else None
        self._missing = 0

    def add(self, array: Any) -> None:
        """Code one batch."""
        if self._parts is None:
            self._missing += array.null_count
            return
        try:
            indices, values = dictionary_of(array)
        except InputError as error:
            raise InputError(replace(finding, column=self.name) for finding in error.findings) from None
        except UnicodeDecodeError:
            remedy = "Write the file again with valid text, or without this column."
            raise refusal("bad-encoding", "The text is not valid UTF-8.", remedy, column=self.name) from None
        places = np.array([self._places.setdefault(value, len(self._places)) for value in values], np.int64)
        codes = places[indices]
        if self.first is None and codes.size:
            self.first = values[int(indices[0])]
        self._parts.append(codes.astype(code_type(len(self._places))))
        if len(self._places) > DISTINCT_LIMIT:
            missing = self._places.get("", -1)
            self._missing = sum(int(np.count_nonzero(part == missing)) for part in self._parts)
            self._parts = None

    def raw(self) -> RawColumn:
        """What was gathered."""
        values = list(self._places) if self._parts is not None else []
        return RawColumn(self.name, self.place, self._parts, values, len(self._places), self._missing)

    def uncoded(self, file: str) -> Finding:
        """The remark that the column is of a kind that cannot be coded."""
        message = "The column holds structured or binary values, which cannot be categories."
        remedy = "To use it, write it as text."
        return Finding("uncodable-column", message, remedy, Severity.HINT, file, column=self.name)


def dictionary_of(array: Any) -> tuple[NDArray[np.int64], list[str]]:
    """A batch as indices into its distinct values as text; missing is the empty text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    kept = array.dictionary
    try:
        texts = pc.cast(kept, pa.string()).to_pylist()
    except pa.ArrowInvalid:
        if getattr(kept.type, "tz", None):
            message = "A column of times has a time zone that is not known here."
            remedy = "Write the times in UTC, or with a time zone such as America/Halifax."
            raise refusal("unknown-time-zone", message, remedy) from None
        raise
    if pa.types.is_floating(kept.type):
        texts = [None if text == "nan" else text for text in texts]
    values = ["" if text is None else text for text in texts]
    indices = array.indices
    if indices.null_count:
        indices = pc.fill_null(indices, pa.scalar(len(values), indices.type))
        values.append("")
    return indices.to_numpy(zero_copy_only=False).astype(np.int64), values


def _hashed(path: Path, stop: threading.Event) -> Source:
    buffer = memoryview(bytearray(1 << 20))
    with path.open("rb", buffering=0) as raw:
        file = HashedFile(str(path), raw)
        while not stop.is_set() and file.readinto(buffer):
            pass
        return file.source()

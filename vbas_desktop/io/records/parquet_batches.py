"""Read columns of a Parquet file as Arrow batches, every value as its text.

Whole numbers have no decimal point, dates are ISO dates, nulls and not-a-numbers are missing.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vbas_desktop.background import in_background
from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import FileFormat, SourceFile

from ..bounded_parquet import read_bounded_batches
from ..delimited_text import check_column_count
from ..hashing import HashingReader, file_changed_finding, file_state
from ..input_checks import check_expansion
from .csv_batches import UnreadableRows

_BATCH_ROWS = 1 << 17
_MAGIC = b"PAR1"


def is_parquet(path: Path) -> bool:
    """Tell whether a file is named or begins like Parquet."""
    with path.open("rb") as file:
        return file.read(4) == _MAGIC or path.suffix.lower() in (".parquet", ".pq")


class ParquetReader:
    """Reads some columns of a Parquet file, which is hashed meanwhile.

    ``schema`` has the Arrow types of all columns. ``source`` is which file was read, after the last batch.
    Arrow opens the file for each part of it, so it must be the same one from the beginning to the end.
    """

    def __init__(self, path: Path) -> None:
        self._state = file_state(path.stat())
        with pq.ParquetFile(path, pre_buffer=False) as file:
            check_column_count(path, file.metadata.num_columns)
            check_expansion(path, _count_unpacked_bytes(file.metadata), path.stat().st_size)
            self.schema = file.schema_arrow
            self.total_rows: int = file.metadata.num_rows
        self._path = path

    def batches(self, names: Sequence[str], progress: Progress, stage: str) -> Generator[Any]:
        """Yield batches of the columns under these names; texts as dictionaries where the file has them.

        Raises `InputError` after the last batch if the file was changed meanwhile.
        """
        with in_background(partial(hash_file, self._path, stage), stage) as hashing:
            rows = 0
            texts = [name for name in names if _is_text(self.schema.field(name).type)]
            # Without names Arrow would read all columns.
            for batch in read_bounded_batches(self._path, _BATCH_ROWS, names, texts) if names else ():
                progress.update(stage, rows / max(1, self.total_rows))
                rows += batch.num_rows
                yield batch.select(list(names))
            self.source = hashing.result(progress)
        if not self._state == self.source.state == file_state(self._path.stat()):
            raise InputError(file_changed_finding(str(self._path)))


def hash_file(path: Path, stage: str, progress: Progress) -> SourceFile:
    """Read a file to its end, and return its size, times and SHA-256."""
    buffer = memoryview(bytearray(1 << 20))
    with path.open("rb", buffering=0) as raw:
        file = HashingReader(str(path), raw)
        while file.readinto(buffer):
            progress.update(stage)
        return file.source()


def read_parquet_again(
    source: SourceFile,
    file_format: FileFormat,
    names: Sequence[str],
    typed: bool,
    progress: Progress,
    stage: str,
) -> Generator[Any]:
    """Yield some columns of a file that was read before, as batches.

    Columns are strings, every value being the text that loading takes it for, or with ``typed`` what is stored.
    Raises `UnreadableRows` if the file has changed, at the latest after the last batch.
    """
    path = Path(source.path)
    reader = ParquetReader(path)
    if not set(names) <= set(reader.schema.names):
        raise UnreadableRows
    rows = 0
    left_out = int(file_format.category_line)
    try:
        for batch in read_bounded_batches(path, _BATCH_ROWS, names):
            progress.update(stage, rows / max(1, reader.total_rows))
            rows += batch.num_rows
            columns = [batch.column(name).slice(left_out) for name in names]
            left_out = 0
            arrays = (
                columns if typed else [encode_texts(column).dictionary_decode() for column in columns]
            )
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))
    except pa.ArrowNotImplementedError:
        message = "The file has columns of structured or binary values, which are not text."
        raise input_error("uncodable-column", message, "Take them out.", file=path) from None
    except pa.ArrowInvalid:
        binary = [name for name in names if is_binary(reader.schema.field(name).type)]
        if not binary:
            raise
        message = "The column holds binary values, which are not text."
        remedy = "Take it out, or write it as text."
        raise input_error("uncodable-column", message, remedy, file=path, column=binary[0]) from None
    if hash_file(path, stage, progress).sha256 != source.sha256:
        raise UnreadableRows


def first_parquet_record(path: Path) -> tuple[str, ...] | None:
    """Read the texts of the first row; None if there is none, or if a column holds what is no text."""
    try:
        with closing(read_bounded_batches(path, 1)) as batches:
            batch = next(batches, None)
        if batch is None or not batch.num_rows:
            return None
        columns = [dictionary_of(column) for column in batch.columns]
    except (pa.ArrowException, OSError, InputError):
        return None
    return tuple(values[int(indices[0])] for indices, values in columns)


def encode_texts(array: Any) -> Any:
    """Return an Arrow array as a dictionary array of strings; missing values are the empty text.

    Raises `InputError`, without file and column, for times of an unknown zone and text that is not UTF-8.
    """
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    values = array.dictionary
    try:
        texts = values.cast(pa.string())
    except pa.ArrowInvalid:
        if getattr(values.type, "tz", None):
            message = "A column of times has a time zone that is not known here."
            remedy = "Write the times in UTC, or with a time zone such as America/Halifax."
            raise input_error("unknown-time-zone", message, remedy) from None
        raise
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        remedy = "Write the file again with valid text, or without this column."
        raise input_error("bad-encoding", "The text is not valid UTF-8.", remedy) from None
    if pa.types.is_floating(values.type):
        texts = pc.if_else(pc.equal(texts, "nan"), "", texts)
    indices = array.indices
    if indices.null_count:
        indices = pc.fill_null(indices.cast(pa.int32()), len(texts))
        texts = pa.concat_arrays([texts, pa.array([""], pa.string())])
    return pa.DictionaryArray.from_arrays(indices, pc.fill_null(texts, ""))


def dictionary_of(array: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Return an Arrow array as indices into its distinct texts; missing values are the empty text."""
    encoded = encode_texts(array)
    return encoded.indices.to_numpy(zero_copy_only=False).astype(
        np.int64
    ), encoded.dictionary.to_pylist()


def is_codable(kind: Any) -> bool:
    """Tell whether values of an Arrow type have a text that can be a category."""
    return not (pa.types.is_nested(kind) or is_binary(kind))


def is_binary(kind: Any) -> bool:
    """Tell whether a column of this Arrow type holds bytes that need not be text."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = (
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_binary_view,
        pa.types.is_fixed_size_binary,
    )
    return any(test(kind) for test in tests)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind))


def _count_unpacked_bytes(metadata: Any) -> int:
    """Return the bytes that a file has unpacked, at least one for every value: repeated ones take hardly any room."""
    unpacked = sum(
        metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)
    )
    return max(int(unpacked), metadata.num_rows * metadata.num_columns)

"""Read a copy of a released file at its target back: it must have the same rows, and none of them alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vbas_desktop.io.databases.engine import RECORDS, DatabaseEngine, cast_to_type
from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.model.progress import Progress

from .coded_file import CodedFile, CsvForm, ReadOptions, read_arrays, read_csv
from .csv_stream import UnreadableFile
from .engine_recount import recount_records
from .fingerprints import hash_rows, summarise_rows
from .text_hashes import FingerprintSum, TextHasher

_STAGE = "Reading the copy back"
_ROWS = 1 << 17


@dataclass(frozen=True)
class Original:
    """The released file that a copy must equal: the region and the quasi-identifiers as it calls them, and k.

    ``delimiter`` and ``encoding`` are those of a CSV file.
    """

    file: Path
    columns: tuple[str, ...]
    k: int
    delimiter: str = ","
    encoding: str = "utf-8"


def check_copy(engine: DatabaseEngine, original: Original, progress: Progress) -> int:
    """Compare all records of an engine with the released file, and count them anew; returns their number.

    Raises `VerificationFailed` if a name or a row differs, or a combination occurs fewer than k times.
    """
    about = engine.description
    hasher = TextHasher()
    options = ReadOptions(
        range(len(about.header)), hasher, advance=lambda number: progress.update(_STAGE)
    )
    batches = engine.fetch_batches(f"SELECT * FROM {RECORDS}", about.schema, progress, _STAGE)
    copied = _add_up(read_arrays((batch.columns for batch in batches), options), hasher)
    try:
        names, file = _read_original(original, about.schema.types, options)
    except UnreadableFile:
        names = ()
        file = None
    if file is None or names != tuple(about.header) or not _add_up(file, hasher).equals(copied):
        raise VerificationFailed(
            "What was written to the target is not what was released. It was removed."
        )
    if original.columns:
        region, *others = original.columns
        if not recount_records(engine, others, region, progress).is_anonymous(original.k):
            raise VerificationFailed(
                "What was written to the target did not pass its recount. It was removed."
            )
    return about.rows


def _read_original(
    original: Original, types: Sequence[Any], options: ReadOptions
) -> tuple[tuple[str, ...], CodedFile | None]:
    """Return names and rows of the released file; None if it has another number of columns than the copy."""
    if original.file.suffix == ".csv":
        file = read_csv(
            original.file, CsvForm(len(types), original.delimiter, original.encoding), options
        )
        return file.names, file
    with pq.ParquetFile(original.file) as source:
        names = tuple(source.schema_arrow.names)
        return names, read_arrays(_typed_columns(source, types), options) if len(names) == len(
            types
        ) else None


def _typed_columns(source: pq.ParquetFile, types: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the columns of batches in the types of the copy, where that loses nothing."""
    for batch in source.iter_batches(batch_size=_ROWS):
        yield [cast_to_type(column, kind) for column, kind in zip(batch.columns, types, strict=True)]


def _add_up(file: CodedFile, hasher: TextHasher) -> FingerprintSum:
    checksum = summarise_rows(hash_rows(file, hasher, len(file.columns))).total
    file.store.close()
    return checksum

"""A copy of a released file somewhere else, read back there: the same rows, and none of them alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vbas_desktop.io.databases.engine import RECORDS, DatabaseEngine, typed_as
from vbas_desktop.model.errors import VerificationFailed
from vbas_desktop.model.progress import Progress

from .readback import Batch, hashed_batches, hashes_of, read_csv
from .source_records import recount_records
from .tally import fingerprints

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
    """Compare all that is at an engine with the released file, and count it anew; the number of rows.

    Raises `VerificationFailed` if a name or a row differs, or a combination occurs fewer than k times.
    """
    about = engine.description
    batches = engine.batches(f"SELECT * FROM {RECORDS}", about.schema, progress, _STAGE)
    copied = chain([_names(about.header)], hashed_batches(batches))
    if original.file.suffix == ".csv":
        recode = None if original.encoding == "utf-8" else original.encoding
        # The names are the first of the rows.
        expected = read_csv(original.file, original.delimiter, len(about.header), recode=recode)
    else:
        expected = _of_parquet(original.file, about.schema.types)
    if _sum(expected, progress) != _sum(copied, progress):
        raise VerificationFailed("What was written to the target is not what was released. It was removed.")
    if original.columns:
        region, *others = original.columns
        if not recount_records(engine, others, region, progress).is_anonymous(original.k):
            raise VerificationFailed("What was written to the target did not pass its recount. It was removed.")
    return about.rows


def _names(header: Iterable[str]) -> Batch:
    return np.stack([hashes_of(pa.array([name.encode()], pa.binary())) for name in header])


def _of_parquet(file: Path, types: Sequence[Any]) -> Iterator[Batch]:
    """The names and the rows of a Parquet file, its values in the types of the copy where that loses nothing."""
    with pq.ParquetFile(file) as source:
        names = source.schema_arrow.names
        yield _names(names)
        if len(names) == len(types):
            yield from hashed_batches(_typed(batch, types) for batch in source.iter_batches(batch_size=_ROWS))


def _typed(batch: Any, types: Sequence[Any]) -> Any:
    columns = [typed_as(column, kind) for column, kind in zip(batch.columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=[str(place) for place in range(len(columns))])


def _sum(batches: Iterable[Batch], progress: Progress) -> tuple[int, int]:
    """The number of rows, and the sum of their fingerprints: the same for the same rows in whatever order."""
    rows, total = 0, 0
    for batch in batches:
        progress.update(_STAGE)
        each = fingerprints(batch, range(len(batch)))
        rows += each.size
        total = (total + int(each.sum(dtype=np.uint64))) % (1 << 64)
    return rows, total

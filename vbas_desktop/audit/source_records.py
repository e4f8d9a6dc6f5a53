"""Records behind an address, read again for the auditor by a query of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.sources.engine import RECORDS, Engine

from .readback import as_text
from .recount import Recount


def every_record(engine: Engine) -> Iterator[Any]:
    """All records with all columns, in whatever order. Stops are heard where the batches are counted."""
    return engine.batches(f"SELECT * FROM {RECORDS}", engine.description.schema, Silent(), "Reading the release back")


def recount_records(
    engine: Engine, quasi_identifiers: Sequence[str], region_column: str, progress: Progress
) -> Recount:
    """Count the records of each region and combination of quasi-identifiers by one query of the auditor's own.

    Values that have the same text, such as an empty text and no value at all, are one value.
    """
    header = engine.description.header
    columns = [region_column, *dict.fromkeys(quasi_identifiers)]
    _refuse_unknown(engine, [name for name in columns if name not in header])
    places = [header.index(name) for name in columns]
    listed = ", ".join(f"c{place}" for place in places)
    fields = [engine.description.schema.field(place) for place in places]
    query = f"SELECT {listed}, count(*) AS n FROM {RECORDS} GROUP BY {listed}"
    found = engine.fetch(query, pa.schema([*fields, pa.field("n", pa.int64())]), progress, "Recounting classes")
    numbers = np.asarray(found.column(len(places)), np.int64)
    codes = [pc.dictionary_encode(_text(found.column(number))) for number in range(len(places))]
    keys = np.stack([np.asarray(column.indices) for column in codes], axis=1) if numbers.size else np.zeros((0, 1))
    _, where = np.unique(keys, axis=0, return_inverse=True)
    sizes = np.bincount(where.ravel(), numbers).astype(np.int64)
    vector = Counter(sizes.tolist())
    fewest = int(np.bincount(keys[:, 0], numbers).min()) if numbers.size else None
    return Recount(int(numbers.sum()), len(codes[0].dictionary), int(sizes.size), dict(vector), smallest_region=fewest)


def _text(column: Any) -> Any:
    return as_text(column.combine_chunks())


def _refuse_unknown(engine: Engine, unknown: Sequence[str]) -> None:
    if unknown:
        file = str(engine.address)
        listed = ", ".join(engine.description.header[:20])
        findings = [
            Finding("unknown-column", f"There is no column “{name}”.", f"The columns are: {listed}.", file=file)
            for name in unknown
        ]
        raise InputError(findings)

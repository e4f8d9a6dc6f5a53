"""Records behind an address, read again for the auditor by a query of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vbas_desktop.io.databases.engine import RECORDS, DatabaseEngine, changed
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.names import list_first_line
from vbas_desktop.model.progress import Progress, Silent

from .classes import summed
from .criteria import judged
from .readback import as_text
from .recount import Recount, spread_of


def every_record(engine: DatabaseEngine) -> Iterator[Any]:
    """All records with all columns, in whatever order. Stops are heard where the batches are counted."""
    return engine.batches(f"SELECT * FROM {RECORDS}", engine.description.schema, Silent(), "Reading the release back")


def recount_records(
    engine: DatabaseEngine,
    quasi_identifiers: Sequence[str],
    region_column: str,
    progress: Progress,
    sensitive: Sequence[Sensitive] = (),
) -> Recount:
    """Count the records of each region and combination of quasi-identifiers by queries of the auditor's own.

    One query counts the classes, one more for each sensitive column the values in them. Values that have the same text,
    such as an empty text and no value at all, are one value.
    """
    columns = [region_column, *dict.fromkeys(quasi_identifiers)]
    wanted = [*columns, *(each.column for each in sensitive)]
    _refuse_unknown(engine, [name for name in wanted if name not in engine.description.header])
    with engine.steady(progress):
        places, sizes, texts = _cells(engine, columns, progress)
        found = []
        for each in sensitive:
            cells, numbers, values = _cells(engine, [*columns, each.column], progress)
            if int(numbers.sum()) != int(sizes.sum()):
                raise changed(engine.address)
            spread = spread_of(cells, numbers, values[-1], each)
            found.append(judged(each.column, spread, each.criteria))
    engine.refuse_changed()
    fewest = int(np.bincount(places[0], sizes).min()) if sizes.size else None
    vector = dict(Counter(sizes.tolist()))
    return Recount(int(sizes.sum()), len(texts[0]), int(sizes.size), vector, tuple(found), fewest)


def _cells(
    engine: DatabaseEngine, columns: Sequence[str], progress: Progress
) -> tuple[list[NDArray[np.int32]], NDArray[np.int64], list[list[str]]]:
    """Which combinations of values occur, in the order of their codes; how often; and the texts of each column."""
    schema, places = engine.description.schema, [engine.description.header.index(name) for name in columns]
    listed = ", ".join(f"c{place}" for place in places)
    query = f"SELECT {listed}, count(*) AS n FROM {RECORDS} GROUP BY {listed}"
    types = pa.schema([*(schema.field(place) for place in places), pa.field("n", pa.int64())])
    found = engine.fetch(query, types, progress, "Recounting classes")
    numbers = np.asarray(found.column(len(places)), np.int64)
    coded = [pc.dictionary_encode(as_text(found.column(number).combine_chunks())) for number in range(len(places))]
    codes, sizes = summed([np.asarray(column.indices, np.int32) for column in coded], numbers)
    texts = [[value.decode("utf-8", "replace") for value in column.dictionary.to_pylist()] for column in coded]
    return codes, sizes, texts


def _refuse_unknown(engine: DatabaseEngine, unknown: Sequence[str]) -> None:
    if unknown:
        file = str(engine.address)
        listed = list_first_line(engine.description.header)
        findings = [Finding("unknown-column", f"There is no column “{name}”.", listed, file=file) for name in unknown]
        raise InputError(findings)

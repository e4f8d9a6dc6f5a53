"""Count the classes of the records that an engine holds, by queries of the auditor's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vbas_desktop.io.databases.engine import RECORDS, DatabaseEngine, records_changed
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import list_first_line

from .coded_file import as_text
from .combinations import Ints, PairCounts, number_rows
from .recount import STAGE, Recount, evaluate_values, summarise_classes


def recount_records(
    engine: DatabaseEngine,
    quasi_identifiers: Sequence[str],
    region_column: str,
    progress: Progress,
    sensitive: Sequence[SensitiveColumn] = (),
) -> Recount:
    """Count the records of each region and combination of quasi-identifiers by queries of the auditor's own.

    One query counts the classes, one more for each sensitive column the values in them. Values that have the same text,
    such as an empty text and no value at all, are one value.
    """
    columns = [region_column, *dict.fromkeys(quasi_identifiers)]
    columns_needed = [*columns, *(chosen.column for chosen in sensitive)]
    _refuse_unknown(engine, [name for name in columns_needed if name not in engine.description.header])
    with engine.snapshot(progress):
        codes, counts, _ = _fetch_cells(engine, columns, progress)
        classes = number_rows(codes, counts.size)
        sizes = np.bincount(classes, counts).astype(np.int64)
        results = []
        for chosen in sensitive:
            cells, numbers, texts = _fetch_cells(engine, [*columns, chosen.column], progress)
            if int(numbers.sum()) != int(sizes.sum()):
                raise records_changed(engine.address)
            group = number_rows(cells[:-1], numbers.size)
            results.append(
                evaluate_values(PairCounts(group, cells[-1], numbers), sizes.size, texts, chosen)
            )
    engine.check_unchanged()
    return summarise_classes(sizes, np.bincount(codes[0], counts).astype(np.int64), results)


def _fetch_cells(
    engine: DatabaseEngine, columns: Sequence[str], progress: Progress
) -> tuple[list[Ints], Ints, list[str]]:
    """Return which combinations of values occur, as codes; how often; and the texts of the last column."""
    schema = engine.description.schema
    positions = [engine.description.header.index(name) for name in columns]
    listed = ", ".join(f"c{position}" for position in positions)
    query = f"SELECT {listed}, count(*) AS n FROM {RECORDS} GROUP BY {listed}"
    types = pa.schema([*(schema.field(position) for position in positions), pa.field("n", pa.int64())])
    results = engine.fetch(query, types, progress, STAGE)
    coded = [
        pc.dictionary_encode(as_text(results.column(at).combine_chunks()))
        for at in range(len(positions))
    ]
    codes = [column.indices.to_numpy().astype(np.int64) for column in coded]
    return codes, np.asarray(results.column(len(positions)), np.int64), coded[-1].dictionary.to_pylist()


def _refuse_unknown(engine: DatabaseEngine, unknown: Sequence[str]) -> None:
    if unknown:
        file = str(engine.address)
        listed = list_first_line(engine.description.header)
        findings = [
            Finding("unknown-column", f"There is no column “{name}”.", listed, file=file)
            for name in unknown
        ]
        raise InputError(findings)

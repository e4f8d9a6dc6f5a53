"""Codes the rows that an engine gives, for what needs every record and not only counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vbas_desktop.io.records.coding import Codes, pack_codes
from vbas_desktop.io.records.table import CodedTable
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts

from .engine import DatabaseEngine, changed
from .facts import codable, describe_records, make_facts, number_texts

_STAGE = "Reading the records"


def code_records(engine: DatabaseEngine, progress: Progress, columns: Collection[str] | None = None) -> CodedTable:
    """Read the rows of an open engine and code their columns.

    The records are in the order of their values: engines have none, and the same records give the same table on all.
    """
    header = engine.description.header
    places = [place for place, name in enumerate(header) if columns is None or name in columns]
    schema = engine.description.schema
    readable = [place for place in places if codable(schema.field(place).type)]
    rows = _read_texts(engine, readable, progress) if readable else {}
    facts: dict[int, ColumnFacts] = {}
    ranks: dict[int, NDArray[np.int64]] = {}
    for place, (indices, texts) in rows.items():
        frequencies = np.bincount(indices, minlength=len(texts)).astype(np.int64)
        facts[place], code_of = make_facts(engine, place, texts.to_pylist(), frequencies)
        if facts[place].categories is None:
            code_of = _rank(texts)
        ranks[place] = code_of[indices]
    order = np.lexsort(list(reversed(ranks.values()))) if ranks else np.empty(0, np.int64)
    codes: dict[str, Codes] = {}
    uncoded: dict[str, Any] = {}
    for place, (indices, texts) in rows.items():
        if facts[place].categories is None:
            uncoded[header[place]] = pa.DictionaryArray.from_arrays(pa.array(indices[order], pa.int32()), texts)
        else:
            codes[header[place]] = pack_codes(ranks[place][order], facts[place].distinct)
    listed = [
        facts.get(place) or ColumnFacts(header[place], 0, engine.missing(place, progress), categorical=False)
        for place in places
    ]
    source, dialect, findings = describe_records(engine, listed)
    return CodedTable(source, engine.description.rows, dialect, tuple(listed), findings, codes, texts=uncoded)


def _read_texts(
    engine: DatabaseEngine, places: Sequence[int], progress: Progress
) -> Mapping[int, tuple[NDArray[np.int32], Any]]:
    """Read columns: for each, the index of every record into the distinct texts, and these as an Arrow array."""
    parts: dict[int, list[Any]] = {place: [] for place in places}
    done = 0
    for batch in engine.read_rows(places, progress, _STAGE):
        progress.update(_STAGE, done / max(1, engine.description.rows))
        done += batch.num_rows
        for place, column in zip(places, batch.columns, strict=True):
            indices, texts = number_texts(engine, place, column)
            values = pa.array(texts, pa.string())
            parts[place].append(pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), values))
    if done != engine.description.rows:
        raise changed(engine.address)
    found = {}
    for place in places:
        unified = pa.chunked_array(parts.pop(place), pa.dictionary(pa.int32(), pa.string())).unify_dictionaries()
        chunks = [np.asarray(chunk.indices, np.int32) for chunk in unified.chunks]
        texts = unified.chunk(0).dictionary if unified.num_chunks else pa.array([], pa.string())
        found[place] = (np.concatenate([*chunks, np.empty(0, np.int32)]), texts)
    return found


def _rank(texts: Any) -> NDArray[np.int64]:
    """Return the position of each text among all of them in ascending order."""
    rank = np.empty(len(texts), np.int64)
    rank[np.asarray(pc.sort_indices(texts))] = np.arange(len(texts))
    return rank

"""Codes the rows that an engine gives, for what needs every record and not only counts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from vbas_desktop.io.records.coding import Codes, ColumnCoder, code_batches
from vbas_desktop.io.records.limits import USUAL_LIMITS
from vbas_desktop.io.records.table import CodedTable
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import ColumnFacts

from .engine import DatabaseEngine, changed
from .facts import codable, describe_records, encode_column, has_too_many_values

_STAGE = "Reading the records"


def code_records(engine: DatabaseEngine, progress: Progress, columns: Collection[str] | None = None) -> CodedTable:
    """Read the rows of an open engine and code their columns.

    The records are in the order of their values: engines have none, and the same records give the same table on all.
    Columns with too many values for categories keep their texts, since nothing is read again.
    """
    about = engine.description
    places = [place for place, name in enumerate(about.header) if columns is None or name in columns]
    coded = _code_columns(engine, [place for place in places if codable(about.schema.field(place).type)], progress)
    order = np.lexsort([codes for _, codes in reversed(coded.values())]) if coded else np.empty(0, np.int64)
    listed: list[ColumnFacts] = []
    kept: dict[str, Codes] = {}
    texts: dict[str, Any] = {}
    for place in places:
        name = about.header[place]
        if place not in coded:
            listed.append(ColumnFacts(name, 0, engine.missing(place, progress), categorical=False))
            continue
        facts, codes = coded[place]
        assert facts.categories is not None
        if has_too_many_values(facts, about.rows):
            values = pa.array(facts.categories.values, pa.string())
            texts[name] = pa.DictionaryArray.from_arrays(pa.array(codes[order]), values)
            facts = replace(facts, categorical=False, categories=None, frequencies=None)
        else:
            kept[name] = codes[order]
        listed.append(facts)
    source, dialect, findings = describe_records(engine, listed)
    return CodedTable(source, about.rows, dialect, tuple(listed), findings, kept, texts=texts)


def _code_columns(
    engine: DatabaseEngine, places: list[int], progress: Progress
) -> dict[int, tuple[ColumnFacts, Codes]]:
    """Code columns of all rows, however many values they have, in the order in which the engine gives the rows."""
    if not places:
        return {}
    rows, declared = engine.description.rows, engine.category_numbers
    coders = [ColumnCoder(partial(encode_column, engine, place), None) for place in places]
    batches = engine.read_rows(places, progress, _STAGE)
    if code_batches(batches, dict(enumerate(coders)), USUAL_LIMITS.threads) != rows:
        raise changed(engine.address)
    found = {}
    for place, coder in zip(places, coders, strict=True):
        number = None if declared is None else declared[place]
        facts, codes = coder.finish(engine.description.header[place], rows, "utf-8", number, 0)
        assert codes is not None
        found[place] = (facts, codes)
    return found

"""Values of loaded records as text, for jobs that need whole rows or a column that is not coded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import SILENT
from vbas_desktop.model.records import RecordTable

_STAGE = "Reading records again"


def row_texts(table: RecordTable) -> Iterator[list[str]]:
    """Yield every considered record as the list of its fields, in the order of the file.

    Raises `InputError`, at the latest after the last row, if the file is not the one any more that was loaded.
    """
    for columns in _considered_columns(table, table.dialect.header):
        yield from map(list, zip(*columns, strict=True))


def column_texts(table: RecordTable, name: str) -> NDArray[np.str_]:
    """Return the text of one column in every considered record."""
    codes, texts = coded_texts(table, name)
    return texts[codes]


def coded_texts(table: RecordTable, name: str) -> tuple[NDArray[np.integer], NDArray[np.str_]]:
    """Return one column as a code of each record and the texts of the codes, whether or not it was coded on loading."""
    facts = table.facts(name)
    if facts.categories is not None:
        return table.codes(name), np.array(facts.categories.values, np.str_)
    read = [texts for (texts,) in _considered_columns(table, [name])]
    texts, codes = np.unique(np.array([text for part in read for text in part], np.str_), return_inverse=True)
    return codes, texts


def _considered_columns(table: RecordTable, names: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield columns of the considered records, a batch at a time."""
    considered = table.considered
    done = 0
    for batch in table.read_batches(names, SILENT, _STAGE):
        rows = slice(done, done + batch.num_rows)
        done += batch.num_rows
        chosen = batch if considered is None else batch.take(np.flatnonzero(considered[rows]))
        yield [column.to_pylist() for column in chosen.columns]

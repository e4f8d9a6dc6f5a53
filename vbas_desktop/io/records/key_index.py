"""The index that leads from the key of a record to its row: for the organisation alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from .row_order import key_texts

INDEX_COLUMNS = ("record_key", "record", "row")


def write_key_index(path: Path, keys: NDArray[np.uint8], positions: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Write ``record_key,record,row`` of every record, in the order of the keys.

    ``record`` is the number of the record in its file, counted from 1, so one more than its position; ``row`` the line
    on which it begins. ``keys`` has a line of characters for each record. Keys beyond the positions belong to made-up
    records, which have neither.
    """
    texts = keys.view(f"S{keys.shape[1]}").ravel()
    order = np.argsort(texts)
    is_made_up = np.arange(texts.size) >= positions.size
    padding = np.zeros(texts.size - positions.size, np.int64)
    records, lines = (
        pa.array(np.concatenate([numbers, padding])[order], pa.int64(), mask=is_made_up[order])
        for numbers in (positions + 1, rows)
    )
    columns = [key_texts(keys[order]), records, lines]
    listed = pa.table(dict(zip(INDEX_COLUMNS, columns, strict=True)))
    with path.open("wb") as file:
        file.write(f"{','.join(INDEX_COLUMNS)}\n".encode())
        pa_csv.write_csv(listed, file, pa_csv.WriteOptions(include_header=False, quoting_style="none"))

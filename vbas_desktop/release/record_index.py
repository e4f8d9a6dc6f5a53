"""The index that leads from the released key of a record to its row: for the organisation alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from vbas_desktop.domain.progress import Progress
from vbas_desktop.files.records.table import RecordTable
from vbas_desktop.io.records.row_order import RecordKeys
from vbas_desktop.settings.release import ReleaseOptions

from .notation import find_released_records
from .plan import Plan
from .records.shuffle import order_key

RECORD_INDEX = "record_index.csv"


def write_record_index(path: Path, plan: Plan, table: RecordTable, options: ReleaseOptions, progress: Progress) -> None:
    """Write ``record_key,record,row`` of every released record, in the order of the keys.

    ``record`` is the number of the record in its file, counted from 1; ``row`` the line on which it begins.
    """
    released = np.flatnonzero(find_released_records(plan, table, progress))
    positions = released if table.positions is None else table.positions[released]
    keys = RecordKeys(order_key(plan, table, options)).of_rows(positions)
    texts = keys.view(f"S{keys.shape[1]}").ravel()
    order = np.argsort(texts)
    listed = pa.table(
        {
            "record_key": pa.array(texts[order].astype(str), pa.string()),
            "record": positions[order] + 1,
            "row": table.row_numbers(positions)[order],
        }
    )
    with path.open("wb") as file:
        file.write(f"{','.join(listed.column_names)}\n".encode())
        pa_csv.write_csv(listed, file, pa_csv.WriteOptions(include_header=False, quoting_style="none"))

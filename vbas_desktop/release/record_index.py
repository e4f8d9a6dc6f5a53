"""The index that leads from the released key of a record to its row: for the organisation alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vbas_desktop.io.records.key_index import write_key_index
from vbas_desktop.io.records.row_order import RecordKeys
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.settings.release import ReleaseOptions

from .notation import find_released_records
from .plan import Plan
from .records.shuffle import order_key

RECORD_INDEX = "record_index.csv"


def write_record_index(path: Path, plan: Plan, table: RecordTable, options: ReleaseOptions, progress: Progress) -> None:
    """Write ``record_key,record,row`` of every released record, in the order of the keys."""
    released = np.flatnonzero(find_released_records(plan, table, progress))
    positions = released if table.positions is None else table.positions[released]
    keys = RecordKeys(order_key(plan, table, options)).of_rows(positions)
    write_key_index(path, keys, positions, table.row_numbers(positions))

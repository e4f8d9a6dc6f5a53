"""Loads the records behind an address into codes, for what needs every record and not only counts."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from vbas_desktop.io.records.table import CodedTable, load_records
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.settings.reading import RecordOptions

from .address import Address, record_place
from .coding import code_records
from .table import open_engine


def load_records_at(
    place: str | Path,
    options: RecordOptions | None = None,
    progress: Progress | None = None,
    columns: Collection[str] | None = None,
) -> CodedTable:
    """Load the records of a file or behind an address into codes; ``columns`` are those needed (None: all).

    Records behind an address are in the order of their values, so the same records give the same table on every
    engine. They have no row numbers, and the texts of columns without categories are kept, since nothing is read again.
    """
    found = record_place(place)
    if isinstance(found, Path):
        return load_records(found, options, progress, columns)
    return load_address_records(found, options or RecordOptions(), progress or Silent(), columns)


def load_address_records(
    address: Address, options: RecordOptions, progress: Progress, columns: Collection[str] | None = None
) -> CodedTable:
    """Load the records behind an address into codes."""
    engine = open_engine(address, options, progress)
    try:
        with engine.steady(progress):
            table = code_records(engine, progress, columns)
        engine.refuse_changed()
        return table
    finally:
        engine.close()


def read_column_names(place: str | Path, options: RecordOptions, progress: Progress) -> tuple[str, ...]:
    """Read the names of the columns of a record file or behind an address."""
    found = record_place(place)
    if isinstance(found, Path):
        return load_records(found, options, progress, frozenset()).dialect.header
    engine = open_engine(found, options, progress)
    try:
        return engine.description.header
    finally:
        engine.close()

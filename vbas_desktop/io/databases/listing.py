"""Lists the tables that an address without one leads to."""

from __future__ import annotations

from vbas_desktop.model.errors import InputError
from vbas_desktop.model.progress import Progress

from .address import DATABASES, Address, Kind, record_place


def has_tables(text: str) -> bool:
    """Tell whether a text is the address of a database, of which a table can be chosen."""
    try:
        place = record_place(text)
    except InputError:
        return False
    if not isinstance(place, Address):
        return False
    return place.kind is Kind.POSTGRESQL or (place.kind is Kind.DUCKDB and place.place.lower().endswith(DATABASES))


def tables_of(text: str, progress: Progress, password: str | None = None) -> list[str]:
    """List the tables and views, as schema.table.

    A password that works is kept in memory for the connections after it.
    """
    place = record_place(text)
    assert isinstance(place, Address)
    if place.kind is Kind.POSTGRESQL:
        from .postgresql_connection import remember
        from .postgresql_engine import server_tables

        found = server_tables(place, progress, password)
        if password is not None:
            remember(place, password)
        return found
    from .duckdb_engine import tables_in_file

    return tables_in_file(place)


def with_table(text: str, table: str) -> str:
    """Return the address of one of the tables."""
    return f"{text.partition('#')[0]}#{table}"

"""Lists the tables that an address without one leads to.

Apart from `address`, since the auditor reads addresses but no records.
"""

from __future__ import annotations

from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Progress

from .address import DATABASES, Address, EngineKind, parse_address


def names_database(text: str) -> bool:
    """Tell whether a text is the address of a database, of which a table can be chosen."""
    try:
        address = parse_address(text)
    except InputError:
        return False
    if not isinstance(address, Address):
        return False
    is_file = address.kind is EngineKind.DUCKDB and address.location.lower().endswith(DATABASES)
    return is_file or address.kind is EngineKind.POSTGRESQL


def list_tables(text: str, progress: Progress, password: str | None = None) -> list[str]:
    """List the tables and views of a database, as schema.table.

    A password that works is kept in memory for the connections after it.
    """
    address = parse_address(text)
    assert isinstance(address, Address)
    if address.kind is EngineKind.POSTGRESQL:
        from .postgresql_connection import remember_password
        from .postgresql_engine import list_server_tables

        tables = list_server_tables(address, progress, password)
        if password is not None:
            remember_password(address, password)
        return tables
    from .duckdb_engine import list_file_tables

    return list_file_tables(address)


def table_address(text: str, table: str) -> str:
    """Return the address of one of the tables of a database."""
    return f"{text.partition('#')[0]}#{table}"

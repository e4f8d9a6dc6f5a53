"""A table of a DuckDB file as target of a release: staged, read back, and only then given its name."""

from __future__ import annotations

import getpass
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vbas_desktop.background import run_cancellable
from vbas_desktop.model.findings import input_error
from vbas_desktop.model.progress import Progress

from ..locks import LockHeldError, exclusive_lock
from ..output import check_writable, staged_file
from .address import Address, EngineKind
from .duckdb_engine import attach_file, open_database, quote_text
from .engine import quote_name
from .targets import MARK, STAGE, STAGING, ReleaseTarget, split_table_name, target_in_use


@dataclass(frozen=True)
class DuckDBTarget(ReleaseTarget):
    """A table of a DuckDB file, which is made if it is not there."""

    address: Address

    @property
    def _path(self) -> Path:
        return Path(self.address.location)

    def check(self, progress: Progress) -> None:
        """Refuse a table that is no earlier release, and a file that cannot be opened."""
        split_table_name(self.address)
        check_writable(self._path)
        # The engine is needed in any case: without it, the wait for the release would be in vain.
        open_database(self.address).close()
        if self._path.exists():
            with _connect(self.address, writing=False) as connection:
                self._check_target(connection)

    @contextmanager
    def stage(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage the table in the file, or in a new file beside its path."""
        schema, name = split_table_name(self.address)
        _refuse_equal_names(self.address, file)
        if not self._path.exists():
            with staged_file(self._path) as new_file:
                address = Address(
                    str(self.address), EngineKind.DUCKDB, str(new_file), self.address.table
                )
                with _connect(address, writing=True) as connection:
                    if schema != "main":
                        connection.execute(f"CREATE SCHEMA house.{quote_name(schema)}")
                    _create_table(connection, _qualified_name(schema, name), file, MARK, progress)
                yield address
            return
        with _database_lock(self.address):
            staged = f"{STAGING}{secrets.token_hex(8)}"
            with _connect(self.address, writing=True) as connection:
                self._check_target(connection)
                _remove_leftovers(connection)
                _create_table(connection, _qualified_name(schema, staged), file, _owner(), progress)
            try:
                yield Address(
                    str(self.address), EngineKind.DUCKDB, self.address.location, f"{schema}.{staged}"
                )
                with _connect(self.address, writing=True) as connection:
                    self._publish(connection, schema, staged, name)
            except BaseException:
                with _connect(self.address, writing=True) as connection:
                    connection.execute(f"DROP TABLE IF EXISTS {_qualified_name(schema, staged)}")
                raise

    def _publish(self, connection: Any, schema: str, staged: str, name: str) -> None:
        connection.execute("BEGIN")
        self._check_target(connection)
        connection.execute(f"DROP TABLE IF EXISTS {_qualified_name(schema, name)}")
        connection.execute(f"ALTER TABLE {_qualified_name(schema, staged)} RENAME TO {quote_name(name)}")
        connection.execute(f"COMMENT ON TABLE {_qualified_name(schema, name)} IS {quote_text(MARK)}")
        connection.execute("COMMIT")

    def _check_target(self, connection: Any) -> None:
        """Refuse a schema that is not there, and a table or view that is no release."""
        schema, name = split_table_name(self.address)
        schemas = "SELECT 1 FROM duckdb_schemas() WHERE database_name = 'house' AND schema_name = ?"
        if connection.execute(schemas, [schema]).fetchone() is None:
            message = f"The file has no schema “{schema}”."
            raise input_error("no-such-table", message, "Make it, or use main.", file=self.address)
        query = (
            "SELECT comment FROM duckdb_tables() WHERE database_name = 'house' AND schema_name = $1 AND "
            "lower(table_name) = lower($2) UNION ALL SELECT 'a view' FROM duckdb_views() "
            "WHERE database_name = 'house' AND schema_name = $1 AND lower(view_name) = lower($2)"
        )
        existing = connection.execute(query, [schema, name]).fetchone()
        if existing is not None and existing[0] != MARK:
            raise target_in_use(str(self.address))


def _qualified_name(schema: str, name: str) -> str:
    return f"house.{quote_name(schema)}.{quote_name(name)}"


def _owner() -> str:
    """Return the comment of a staged table, by which only its owner removes it."""
    try:
        user = getpass.getuser()
    except OSError:
        user = str(os.getuid())
    return f"unfinished release of vbas-desktop by {user}"


def _create_table(connection: Any, table: str, file: Path, comment: str, progress: Progress) -> None:
    def copy_rows() -> None:
        # In one step, so that there is never a staged table without its owner's mark.
        connection.execute("BEGIN")
        connection.execute(
            f"CREATE TABLE {table} AS SELECT * FROM read_parquet({quote_text(str(file))})"
        )
        connection.execute(f"COMMENT ON TABLE {table} IS {quote_text(comment)}")
        connection.execute("COMMIT")

    run_cancellable(copy_rows, progress, STAGE, cancel=connection.interrupt)


def _remove_leftovers(connection: Any) -> None:
    """Drop the staged tables of this user: whoever is at work holds the lock, so nobody is at work on them."""
    query = (
        "SELECT schema_name, table_name FROM duckdb_tables() "
        "WHERE database_name = 'house' AND starts_with(table_name, ?) AND comment = ?"
    )
    for schema, name in connection.execute(query, [STAGING, _owner()]).fetchall():
        connection.execute(f"DROP TABLE {_qualified_name(schema, name)}")


def _refuse_equal_names(address: Address, file: Path) -> None:
    """Refuse columns whose names differ in case alone, which DuckDB does not distinguish."""
    seen_names: set[str] = set()
    for name in pq.read_schema(file).names:
        if name.lower() in seen_names:
            message = "Columns whose names differ in case alone cannot be in a table of DuckDB."
            raise input_error(
                "no-fit", message, "Give it another name (--rename).", file=address, column=name
            )
        seen_names.add(name.lower())


@contextmanager
def _database_lock(address: Address) -> Iterator[None]:
    """Lock the file: one release at a time is put into it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive_lock(Path(os.path.realpath(address.location)), wait=False))
        except LockHeldError:
            message = "Another program puts a release into this database just now."
            raise input_error("busy", message, "Try again when it is done.", file=address) from None
        yield


@contextmanager
def _connect(address: Address, writing: bool) -> Iterator[Any]:
    """Connect to the file for as long as the block lasts: between two of them others may read it."""
    import duckdb

    with closing(open_database(address)) as connection:
        attach_file(connection, address.location, writing)
        try:
            yield connection
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            message = f"DuckDB could not write this table ({type(error).__name__})."
            raise input_error("engine", message, "Choose another table.", file=address) from None

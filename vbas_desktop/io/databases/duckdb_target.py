"""Puts a released file into a table of a DuckDB file: staged, read back, and only then given its name."""

from __future__ import annotations

import getpass
import os
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vbas_desktop.io.exchange import lock_folder
from vbas_desktop.io.output import staged_file
from vbas_desktop.io.writable import check_writable
from vbas_desktop.model.errors import refusal
from vbas_desktop.model.progress import Progress

from .address import Address, Kind
from .duckdb_engine import attach, connect, text_literal
from .engine import quoted, watched
from .targets import MARK, STAGE, STAGING, Target, table_parts, taken


@dataclass(frozen=True)
class DuckDBTable(Target):
    """A table of a DuckDB file, which is made if it is not there."""

    address: Address

    @property
    def _path(self) -> Path:
        return Path(self.address.place)

    def check(self, progress: Progress) -> None:
        """Refuse a table that is no earlier release, and a file that cannot be opened."""
        table_parts(self.address)
        check_writable(self._path)
        # The engine is needed in any case: without it, the wait for the release would be in vain.
        connect(self.address).close()
        if self._path.exists():
            with _attached(self.address, writing=False) as connection:
                self._refuse_other(connection)

    @contextmanager
    def staged(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage the table in the file, or in a new file beside its place."""
        schema, name = table_parts(self.address)
        _refuse_twins(self.address, file)
        if not self._path.exists():
            with staged_file(self._path) as made:
                address = Address(str(self.address), Kind.DUCKDB, str(made), self.address.table)
                with _attached(address, writing=True) as connection:
                    if schema != "main":
                        connection.execute(f"CREATE SCHEMA house.{quoted(schema)}")
                    _make(connection, _full(schema, name), file, MARK, progress)
                yield address
            return
        with _alone(self.address):
            staged = f"{STAGING}{secrets.token_hex(8)}"
            with _attached(self.address, writing=True) as connection:
                self._refuse_other(connection)
                _remove_leftovers(connection)
                _make(connection, _full(schema, staged), file, _owner(), progress)
            try:
                yield Address(str(self.address), Kind.DUCKDB, self.address.place, f"{schema}.{staged}")
                with _attached(self.address, writing=True) as connection:
                    self._put_in_place(connection, schema, staged, name)
            except BaseException:
                with _attached(self.address, writing=True) as connection:
                    connection.execute(f"DROP TABLE IF EXISTS {_full(schema, staged)}")
                raise

    def _put_in_place(self, connection: Any, schema: str, staged: str, name: str) -> None:
        connection.execute("BEGIN")
        self._refuse_other(connection)
        connection.execute(f"DROP TABLE IF EXISTS {_full(schema, name)}")
        connection.execute(f"ALTER TABLE {_full(schema, staged)} RENAME TO {quoted(name)}")
        connection.execute(f"COMMENT ON TABLE {_full(schema, name)} IS {text_literal(MARK)}")
        connection.execute("COMMIT")

    def _refuse_other(self, connection: Any) -> None:
        """Refuse a schema that is not there, and a table or view that is no release."""
        schema, name = table_parts(self.address)
        schemas = "SELECT 1 FROM duckdb_schemas() WHERE database_name = 'house' AND schema_name = ?"
        if connection.execute(schemas, [schema]).fetchone() is None:
            message = f"The file has no schema “{schema}”."
            raise refusal("no-such-table", message, "Make it, or use main.", file=self.address)
        query = (
            "SELECT comment FROM duckdb_tables() WHERE database_name = 'house' AND schema_name = $1 AND "
            "lower(table_name) = lower($2) UNION ALL SELECT 'a view' FROM duckdb_views() "
            "WHERE database_name = 'house' AND schema_name = $1 AND lower(view_name) = lower($2)"
        )
        found = connection.execute(query, [schema, name]).fetchone()
        if found is not None and found[0] != MARK:
            raise taken(str(self.address))


def _full(schema: str, name: str) -> str:
    return f"house.{quoted(schema)}.{quoted(name)}"


def _owner() -> str:
    """Return the comment of a staged table, by which only its owner removes it."""
    try:
        user = getpass.getuser()
    except OSError:
        user = str(os.getuid())
    return f"unfinished release of vbas-desktop by {user}"


def _make(connection: Any, table: str, file: Path, comment: str, progress: Progress) -> None:
    def job() -> None:
        # In one step, so that there is never a staged table that does not tell whose it is.
        connection.execute("BEGIN")
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM read_parquet({text_literal(str(file))})")
        connection.execute(f"COMMENT ON TABLE {table} IS {text_literal(comment)}")
        connection.execute("COMMIT")

    watched(job, connection.interrupt, progress, STAGE)


def _remove_leftovers(connection: Any) -> None:
    """Drop the staged tables of this user: whoever is at work holds the lock, so nobody is at work on them."""
    query = (
        "SELECT schema_name, table_name FROM duckdb_tables() "
        "WHERE database_name = 'house' AND starts_with(table_name, ?) AND comment = ?"
    )
    for schema, name in connection.execute(query, [STAGING, _owner()]).fetchall():
        connection.execute(f"DROP TABLE {_full(schema, name)}")


def _refuse_twins(address: Address, file: Path) -> None:
    """DuckDB does not tell names apart that differ in case alone."""
    met: set[str] = set()
    for name in pq.read_schema(file).names:
        if name.lower() in met:
            message = "Columns whose names differ in case alone cannot be in a table of DuckDB."
            raise refusal("no-fit", message, "Give it another name (--rename).", file=address, column=name)
        met.add(name.lower())


@contextmanager
def _alone(address: Address) -> Iterator[None]:
    """Hold the file's folder: one release at a time is put into its databases. A killed process holds nothing."""
    with lock_folder(Path(os.path.realpath(Path(address.place).absolute().parent))) as alone:
        if not alone:
            message = "Another program puts a release into a database of this folder just now."
            raise refusal("busy", message, "Try again when it is done.", file=address)
        yield


@contextmanager
def _attached(address: Address, writing: bool) -> Iterator[Any]:
    """Connect to the file for as long as the block lasts: between two of them others may read it."""
    import duckdb

    with closing(connect(address)) as connection:
        attach(connection, address.place, writing)
        try:
            yield connection
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            message = f"DuckDB could not write this table ({type(error).__name__})."
            raise refusal("engine", message, "Choose another place.", file=address) from None

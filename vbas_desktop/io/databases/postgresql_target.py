"""A table of a PostgreSQL server as target of a release: staged, read back, and only then given its name."""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from vbas_desktop.background import run_cancellable
from vbas_desktop.model.findings import input_error
from vbas_desktop.model.progress import Progress

from ..output import target_changed
from .address import Address
from .engine import quote_name
from .postgresql_connection import explain_server_errors, open_connection
from .targets import MARK, STAGE, STAGING, ReleaseTarget, split_table_name, target_in_use

T = TypeVar("T")

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class PostgreSQLTarget(ReleaseTarget):
    """A table of a server. Until it has its name nothing with that name is touched."""

    address: Address

    def check(self, progress: Progress) -> None:
        """Refuse a target that is no table name, or that names a table which is no earlier release."""
        split_table_name(self.address)
        with (
            closing(open_connection(self.address, progress)) as connection,
            explain_server_errors(self.address),
        ):
            self._check_target(connection)

    @contextmanager
    def stage(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage a table of its own beside it, in the same schema."""
        schema, _ = split_table_name(self.address)
        with closing(open_connection(self.address, progress)) as connection:
            key = secrets.randbits(31)
            plain = f"{STAGING}{key}"
            staged = f"{quote_name(schema)}.{quote_name(plain)}"

            def run(work: Callable[[], T]) -> T:
                with self._explain_errors():
                    return run_cancellable(work, progress, STAGE, cancel=connection.cancel)

            def copy_rows() -> int | None:
                replaced = self._check_target(connection)
                _remove_leftovers(connection, schema)
                # Held as long as this process lives: so others know that the staged table is not left over.
                connection.execute("SELECT pg_advisory_lock(%s, %s)", (_STAGED_LOCKS, key))
                _create_table(connection, staged, file)
                return replaced

            try:
                replaced = run(copy_rows)
                yield Address(
                    str(self.address), self.address.kind, self.address.location, f"{schema}.{plain}"
                )
                run(lambda: self._publish(connection, staged, replaced))
            except BaseException:
                _drop_table(connection, staged)
                raise

    def _publish(self, connection: Any, staged: str, replaced: int | None) -> None:
        """Give the staged table its name; of two clients with one target, the first to get here wins."""
        schema, name = split_table_name(self.address)
        with connection.transaction():
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_NAME_LOCKS, f"{schema}.{name}")
            )
            existing = self._check_target(connection)
            if existing is not None and existing != replaced:
                raise target_changed(self.address)
            connection.execute(f"DROP TABLE IF EXISTS {quote_name(schema)}.{quote_name(name)}")
            connection.execute(f"COMMENT ON TABLE {staged} IS '{MARK}'")
            connection.execute(f"ALTER TABLE {staged} RENAME TO {quote_name(name)}")

    def _check_target(self, connection: Any) -> int | None:
        """Return the oid of the earlier release with this name; None if there is none.

        Raises `InputError` if no table can be made there, or if the name is that of a table which is no release.
        """
        schema, _ = split_table_name(self.address)
        query = "SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = %s"
        allowed = connection.execute(query, (schema,)).fetchone()
        if allowed is None:
            message = f"The database has no schema “{schema}”."
            raise input_error(
                "no-such-table", message, "Make it, or name another one.", file=self.address
            )
        if not allowed[0]:
            message = f"You may not make tables in the schema “{schema}”."
            raise input_error(
                "not-writable",
                message,
                "Ask for the permission, or name another schema.",
                file=self.address,
            )
        query = (
            "SELECT c.relkind::text, obj_description(c.oid, 'pg_class'), c.oid FROM pg_class c JOIN pg_namespace n "
            "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s"
        )
        existing = connection.execute(query, split_table_name(self.address)).fetchone()
        if existing is None:
            return None
        relation_kind, comment, oid = existing
        if relation_kind != "r" or comment != MARK:
            raise target_in_use(str(self.address))
        return int(oid)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            with explain_server_errors(self.address):
                yield
        except pa.ArrowException:
            message = "A released column has a type that the server has no equal for."
            raise input_error("no-fit", message, "Leave the column out.", file=self.address) from None


_STAGED_LOCKS = 0x76626173
_NAME_LOCKS = _STAGED_LOCKS + 1
"""Classes of advisory locks: of staged tables, and of names that a table is about to get."""
_SERVER_TYPES = {
    "int8": "smallint", "int16": "smallint", "int32": "integer", "int64": "bigint", "uint8": "smallint",
    "uint16": "integer",
    "uint32": "bigint", "float": "real", "double": "double precision", "bool": "boolean", "date32[day]": "date",
}  # fmt: skip


def _server_type(field: Any) -> str:
    if pa.types.is_decimal(field.type):
        return f"numeric({field.type.precision},{field.type.scale})"
    if pa.types.is_timestamp(field.type):
        return "timestamp with time zone" if field.type.tz else "timestamp"
    return _SERVER_TYPES.get(str(field.type), "text")


def _create_table(connection: Any, table: str, file: Path) -> None:
    """Make a table with the rows of a Parquet file."""
    with pq.ParquetFile(file) as source:
        columns = ", ".join(
            f"{quote_name(field.name)} {_server_type(field)}" for field in source.schema_arrow
        )
        connection.execute(f"CREATE TABLE {table} ({columns})")
        options = arrow_csv.WriteOptions(include_header=False)
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
            for batch in source.iter_batches(batch_size=_BATCH_ROWS):
                sink = io.BytesIO()
                arrow_csv.write_csv(pa.Table.from_batches([batch]), sink, options)
                copy.write(sink.getvalue())


def _remove_leftovers(connection: Any, schema: str) -> None:
    """Drop staged tables of this user whose process is gone: it would still hold their lock."""
    query = "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tableowner = current_user AND tablename LIKE %s"
    for (table,) in connection.execute(query, (schema, STAGING.replace("_", r"\_") + "%")).fetchall():
        key = table.removeprefix(STAGING)
        if (
            key.isdigit()
            and int(key) < 1 << 31
            and connection.execute(
                "SELECT pg_try_advisory_lock(%s, %s)", (_STAGED_LOCKS, int(key))
            ).fetchone()[0]
        ):
            _drop_table(connection, f"{quote_name(schema)}.{quote_name(table)}")
            connection.execute("SELECT pg_advisory_unlock(%s, %s)", (_STAGED_LOCKS, int(key)))


def _drop_table(connection: Any, table: str) -> None:
    """Drop a table if the server still answers; else the next release to this schema does."""
    import psycopg

    with suppress(psycopg.OperationalError):
        connection.execute(f"DROP TABLE IF EXISTS {table}")

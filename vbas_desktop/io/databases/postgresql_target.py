"""Puts a released file into a table of a PostgreSQL server: staged, read back, and only then given its name."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from vbas_desktop.io.output import target_changed
from vbas_desktop.model.errors import refusal
from vbas_desktop.model.progress import Progress

from .address import Address
from .engine import quoted, watched
from .postgresql_connection import connected, told
from .targets import MARK, STAGE, STAGING, Target, table_parts, taken

T = TypeVar("T")

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class PostgreSQLTable(Target):
    """A table of a server. Until it has its name nothing with that name is touched."""

    address: Address

    def check(self, progress: Progress) -> None:
        """Refuse a target that is no table name, or that names a table which is no earlier release."""
        table_parts(self.address)
        with closing(connected(self.address, progress)) as connection:
            _told(self.address, lambda: self._refuse_other(connection))

    @contextmanager
    def staged(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage a table of its own beside it, in the same schema."""
        schema, _ = table_parts(self.address)
        with closing(connected(self.address, progress)) as connection:
            key = secrets.randbits(31)
            plain = f"{STAGING}{key}"
            staged = f"{quoted(schema)}.{quoted(plain)}"

            def work(job: Callable[[], T]) -> T:
                return _told(self.address, lambda: watched(job, connection.cancel, progress, STAGE))

            def copy() -> int | None:
                before = self._refuse_other(connection)
                _remove_leftovers(connection, schema)
                # Held as long as this process lives: it tells others that the staged table is not left over.
                connection.execute("SELECT pg_advisory_lock(%s, %s)", (_FAMILY, key))
                _copied(connection, staged, file)
                return before

            try:
                before = work(copy)
                yield Address(str(self.address), self.address.kind, self.address.place, f"{schema}.{plain}")
                work(lambda: self._put_in_place(connection, staged, before))
            except BaseException:
                _dropped(connection, staged)
                raise

    def _put_in_place(self, connection: Any, staged: str, before: int | None) -> None:
        """Give the staged table its name; of two clients with one target, the first to get here wins."""
        schema, name = table_parts(self.address)
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_NAMES, f"{schema}.{name}"))
            now = self._refuse_other(connection)
            if now is not None and now != before:
                raise target_changed(self.address)
            connection.execute(f"DROP TABLE IF EXISTS {quoted(schema)}.{quoted(name)}")
            connection.execute(f"COMMENT ON TABLE {staged} IS '{MARK}'")
            connection.execute(f"ALTER TABLE {staged} RENAME TO {quoted(name)}")

    def _refuse_other(self, connection: Any) -> int | None:
        """Refuse a place where no table can be made, or a table that is no release; return the oid of one that is."""
        schema, _ = table_parts(self.address)
        query = "SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = %s"
        allowed = connection.execute(query, (schema,)).fetchone()
        if allowed is None:
            message = f"The database has no schema “{schema}”."
            raise refusal("no-such-table", message, "Make it, or name another one.", file=self.address)
        if not allowed[0]:
            message = f"You may not make tables in the schema “{schema}”."
            raise refusal("not-writable", message, "Ask for the permission, or name another schema.", file=self.address)
        query = (
            "SELECT c.relkind::text, obj_description(c.oid, 'pg_class'), c.oid FROM pg_class c JOIN pg_namespace n "
            "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s"
        )
        found = connection.execute(query, table_parts(self.address)).fetchone()
        if found is not None and (found[0] != "r" or found[1] != MARK):
            raise taken(str(self.address))
        return None if found is None else int(found[2])


_FAMILY = 0x76626173
_NAMES = _FAMILY + 1
"""The families of advisory locks: of staged tables, and of names that a table is about to get."""
_KINDS = {
    "int8": "smallint", "int16": "smallint", "int32": "integer", "int64": "bigint", "uint8": "smallint",
    "uint16": "integer",
    "uint32": "bigint", "float": "real", "double": "double precision", "bool": "boolean", "date32[day]": "date",
}  # fmt: skip


def _kind(field: Any) -> str:
    if pa.types.is_decimal(field.type):
        return f"numeric({field.type.precision},{field.type.scale})"
    if pa.types.is_timestamp(field.type):
        return "timestamp with time zone" if field.type.tz else "timestamp"
    return _KINDS.get(str(field.type), "text")


def _copied(connection: Any, staged: str, file: Path) -> None:
    import io

    with pq.ParquetFile(file) as source:
        columns = ", ".join(f"{quoted(field.name)} {_kind(field)}" for field in source.schema_arrow)
        connection.execute(f"CREATE TABLE {staged} ({columns})")
        options = arrow_csv.WriteOptions(include_header=False)
        with connection.cursor() as cursor, cursor.copy(f"COPY {staged} FROM STDIN (FORMAT csv)") as copy:
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
            and connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (_FAMILY, int(key))).fetchone()[0]
        ):
            _dropped(connection, f"{quoted(schema)}.{quoted(table)}")
            connection.execute("SELECT pg_advisory_unlock(%s, %s)", (_FAMILY, int(key)))


def _dropped(connection: Any, table: str) -> None:
    """Drop a table, if the server still answers; else the next one who comes does."""
    import psycopg

    with suppress(psycopg.OperationalError):
        connection.execute(f"DROP TABLE IF EXISTS {table}")


def _told(target: Address, job: Callable[[], T]) -> T:
    import psycopg

    try:
        return job()
    except psycopg.Error as error:
        raise told(error, target) from None
    except pa.ArrowException:
        message = "A released column has a type that the server has no equal for."
        raise refusal("no-fit", message, "Leave the column out.", file=target) from None

"""A released file as a table of a PostgreSQL server: staged, recounted there, and only then given its name."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vbas_desktop.domain.errors import Finding, InputError, VerificationFailed
from vbas_desktop.domain.progress import Progress

from .address import Address
from .engine import watched
from .postgres_connection import connected, told

STAGING = "vbas_staging_"
MARK = "release of vbas-desktop"
"""What the comment of a table says that may be replaced by another release."""
_STAGE = "Handing the release to the server"
_BATCH_ROWS = 1 << 16


def check_table(target: Address, progress: Progress) -> None:
    """Refuse a target that is no table name, or that names a table which is no earlier release."""
    schema, name = _parts(target)
    with _session(target, progress) as connection:
        _refuse_other(connection, target, schema, name)


def release_table(target: Address, file: Path, columns: Sequence[str], k: int, progress: Progress) -> int:
    """Copy a verified Parquet file into a new table and give it its name; the number of its rows.

    ``columns`` are the region and the quasi-identifiers, as the file calls them.
    Until then nothing with that name is touched. What an earlier process of the same user left unfinished is removed.
    """
    schema, name = _parts(target)
    with _session(target, progress) as connection:
        key = secrets.randbits(31)
        staged = f"{_quoted(schema)}.{_quoted(f'{STAGING}{key}')}"

        def job() -> int:
            _remove_leftovers(connection, schema)
            # Held as long as this process lives: it tells others that the staged table is not left over.
            connection.execute("SELECT pg_advisory_lock(%s, %s)", (_FAMILY, key))
            try:
                rows = _copied(connection, staged, file)
                _recount(connection, staged, columns, k, rows)
                _put_in_place(connection, target, staged, schema, name)
            except BaseException:
                _dropped(connection, staged)
                raise
            return rows

        return _told(target, lambda: watched(job, connection.cancel, progress, _STAGE))


_FAMILY = 0x76626173
_KINDS = {
    "int8": "smallint", "int16": "smallint", "int32": "integer", "int64": "bigint", "uint8": "smallint",
    "uint16": "integer",
    "uint32": "bigint", "float": "real", "double": "double precision", "bool": "boolean", "date32[day]": "date",
}  # fmt: skip


def _kind(field: Any) -> str:
    import pyarrow as pa

    if pa.types.is_decimal(field.type):
        return f"numeric({field.type.precision},{field.type.scale})"
    if pa.types.is_timestamp(field.type):
        return "timestamp with time zone" if field.type.tz else "timestamp"
    return _KINDS.get(str(field.type), "text")


def _copied(connection: Any, staged: str, file: Path) -> int:
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv as arrow_csv

    with pq.ParquetFile(file) as source:
        columns = ", ".join(f"{_quoted(field.name)} {_kind(field)}" for field in source.schema_arrow)
        connection.execute(f"CREATE TABLE {staged} ({columns})")
        options = arrow_csv.WriteOptions(include_header=False)
        with connection.cursor() as cursor, cursor.copy(f"COPY {staged} FROM STDIN (FORMAT csv)") as copy:
            for batch in source.iter_batches(batch_size=_BATCH_ROWS):
                sink = io.BytesIO()
                arrow_csv.write_csv(pa.Table.from_batches([batch]), sink, options)
                copy.write(sink.getvalue())
        return int(source.metadata.num_rows)


def _recount(connection: Any, staged: str, columns: Sequence[str], k: int, rows: int) -> None:
    """The table must have every row, and every combination at least k times; counted by the server from the table."""
    keys = ", ".join(f"coalesce({_quoted(name)}::text, '')" for name in columns)
    query = (
        "SELECT coalesce(sum(n), 0), count(*) FILTER (WHERE n < %s) FROM "
        f"(SELECT count(*) AS n FROM {staged} GROUP BY {keys or '()'}) AS classes"
    )
    found, small = connection.execute(query, (k,)).fetchone()
    if int(found) != rows or small:
        raise VerificationFailed("The table on the server did not pass its recount. It was removed.")


def _put_in_place(connection: Any, target: Address, staged: str, schema: str, name: str) -> None:
    full = f"{_quoted(schema)}.{_quoted(name)}"
    with connection.transaction():
        _refuse_other(connection, target, schema, name)
        connection.execute(f"DROP TABLE IF EXISTS {full}")
        connection.execute(f"COMMENT ON TABLE {staged} IS '{MARK}'")
        connection.execute(f"ALTER TABLE {staged} RENAME TO {_quoted(name)}")


def _refuse_other(connection: Any, target: Address, schema: str, name: str) -> None:
    query = (
        "SELECT c.relkind::text, obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s"
    )
    found = connection.execute(query, (schema, name)).fetchone()
    if found is not None and (found[0] != "r" or found[1] != MARK):
        message = "The target is a table that is no earlier release, so it is left alone."
        raise InputError(Finding("target-taken", message, "Choose another name.", file=str(target)))


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
            _dropped(connection, f"{_quoted(schema)}.{_quoted(table)}")
            connection.execute("SELECT pg_advisory_unlock(%s, %s)", (_FAMILY, int(key)))


def _dropped(connection: Any, table: str) -> None:
    if not connection.closed:
        connection.execute(f"DROP TABLE IF EXISTS {table}")


@contextmanager
def _session(target: Address, progress: Progress) -> Iterator[Any]:
    connection = connected(target, progress)
    try:
        yield connection
    finally:
        connection.close()


def _told(target: Address, job: Any) -> Any:
    import psycopg

    try:
        return job()
    except psycopg.Error as error:
        raise told(error, target) from None


def _parts(target: Address) -> tuple[str, str]:
    schema, mark, name = target.table.partition(".")
    if not (schema and mark and name):
        message = "The target names no schema and table."
        raise InputError(Finding("bad-address", message, "Write schema.table behind #.", file=str(target)))
    return schema, name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

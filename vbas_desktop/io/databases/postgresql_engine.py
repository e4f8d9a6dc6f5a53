"""Reads a table or view of a PostgreSQL server, counted and joined there, under one snapshot where that matters."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import csv as arrow_csv

from vbas_desktop.model.errors import InputError, refusal
from vbas_desktop.model.progress import Progress

from .address import Address
from .engine import RECORDS, DatabaseEngine, Description, no_fit, quoted, watched, watched_batches
from .postgresql_connection import Pieces, connected, told

T = TypeVar("T")

_STAGE = "Asking the server"
_BLOCK_BYTES = 8 << 20
_SHOWN = 10


class PostgreSQLEngine(DatabaseEngine):
    """One connection, closed with the table. Passwords come from PGPASSFILE, PGPASSWORD or the terminal."""

    is_nan = "{} = 'NaN'"
    as_text = "{}::text"

    def __init__(self, address: Address, progress: Progress, password: str | None = None) -> None:
        self.address = address
        self._connection = connected(address, progress, password)
        # Whoever forgets the table lets go of the connection.
        self._close = weakref.finalize(self, self._connection.close)
        self._lock = threading.Lock()
        self._active: Iterator[Any] | None = None
        try:
            self._schema, self._table, columns = self._found(progress)
            self._columns = columns
            with self.steady(progress):
                rows = self._number("count(*)", "", progress)
                size = self._rows("SELECT pg_total_relation_size(%s::regclass)", (self._name,), progress)[0][0]
            types = [(f"c{place}", arrow_type(kind, shape)) for place, (_, kind, shape) in enumerate(columns)]
            header = tuple(name for name, _, _ in columns)
            self.description = Description(header, pa.schema(types), rows, int(size or 0), "")
        except BaseException:
            self._close()
            raise

    @property
    def _name(self) -> str:
        return f"{quoted(self._schema)}.{quoted(self._table)}"

    def _found(self, progress: Progress) -> tuple[str, str, list[tuple[str, str, str]]]:
        """Find schema, name and columns of the table that the address names."""
        listed = self._rows(_TABLES, (), progress)
        wanted = self.address.table
        found = [(schema, name) for schema, name in listed if wanted in (f"{schema}.{name}", name)]
        exact = [each for each in found if f"{each[0]}.{each[1]}" == wanted or each[0] == "public"]
        found = exact or found
        if len(found) != 1:
            shown = ", ".join(f"{schema}.{name}" for schema, name in listed[:_SHOWN]) or "none"
            message = (
                f"The database has no table “{wanted}” that you may see." if wanted else "The address names no table."
            )
            remedy = f"Write schema.table behind #. Tables: {shown}{' …' if len(listed) > _SHOWN else ''}."
            raise refusal("no-such-table", message, remedy, file=self.address)
        schema, table = found[0]
        columns = self._rows(_COLUMNS, (f"{quoted(schema)}.{quoted(table)}",), progress)
        return schema, table, [(name, kind, shape) for name, kind, shape in columns]

    def _rows(self, query: str, values: Sequence[Any], progress: Progress) -> list[tuple[Any, ...]]:
        """Return a small result as Python values."""

        def job() -> list[tuple[Any, ...]]:
            with self._connection.cursor() as cursor:
                cursor.execute(query, values or None)
                return list(cursor.fetchall()) if cursor.description else []

        return self._watched(job, progress, _STAGE)

    def _watched(self, job: Callable[[], T], progress: Progress, stage: str) -> T:
        import psycopg

        self._let_go()

        def locked() -> T:
            with self._lock:
                try:
                    return job()
                except psycopg.Error as error:
                    raise told(error, self.address) from None

        return watched(locked, self._cancel, progress, stage)

    def _cancel(self) -> None:
        import psycopg

        try:
            self._connection.cancel_safe(timeout=10)
        except psycopg.Error:
            # A server that cannot be told ends the query when the connection is closed.
            self._connection.close()

    def _whole(self, query: str) -> str:
        """Return the query with the records, whose columns are numbered, before it."""
        columns = ", ".join(
            f"{_text_of(name, kind)} AS c{place}" for place, (name, kind, _) in enumerate(self._columns)
        )
        return f"WITH {RECORDS} AS NOT MATERIALIZED (SELECT {columns} FROM {self._name}) {query}"

    def fetch(self, query: str, types: Any, progress: Progress, stage: str) -> Any:
        """Return all of a result."""
        batches = list(self.batches(query, types, progress, stage))
        if batches:
            return pa.Table.from_batches(batches)
        return types.empty_table() if types is not None else pa.table({"n": [0]})

    def batches(self, query: str, types: Any, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield a result in batches from the server's own CSV, which keeps empty texts and missing values apart."""
        import psycopg

        types = types if types is not None else pa.schema([("n", pa.int64())])

        def stream() -> Iterator[Any]:
            with self._lock:
                try:
                    with (
                        self._connection.cursor() as cursor,
                        cursor.copy(f"COPY ({self._whole(query)}) TO STDOUT (FORMAT csv)") as copy,
                    ):
                        pieces = Pieces(copy)
                        if pieces.is_empty():
                            return
                        for batch in arrow_csv.open_csv(
                            pa.PythonFile(pieces, "r"),
                            arrow_csv.ReadOptions(block_size=_BLOCK_BYTES, column_names=types.names, use_threads=False),
                            arrow_csv.ParseOptions(newlines_in_values=True),
                            arrow_csv.ConvertOptions(
                                column_types=_plain(types),
                                null_values=[""],
                                strings_can_be_null=True,
                                quoted_strings_can_be_null=False,
                                true_values=["t"],
                                false_values=["f"],
                            ),
                        ):
                            columns = [
                                column.cast(each.type) for column, each in zip(batch.columns, types, strict=True)
                            ]
                            yield pa.RecordBatch.from_arrays(columns, names=types.names)
                except psycopg.Error as error:
                    raise told(error, self.address) from None
                except pa.ArrowInvalid:
                    raise InputError(no_fit(self.address)) from None

        self._let_go()
        self._active = results = stream()
        yield from watched_batches(lambda: results, self._cancel, progress, stage)

    def _let_go(self) -> None:
        """End a result that nobody reads any more: the connection has one at a time."""
        active, self._active = self._active, None
        if active is not None:
            active.close()  # type: ignore[attr-defined]

    def values(self, column: int, most: int, progress: Progress) -> tuple[Any, Any, Any] | None:
        """Return the values of a column with their numbers; the server gets them back as the text that it gave."""
        name, kind = f"c{column}", self.description.schema.field(column).type
        # The statistics of the server spare a count that would be in vain; without any, the count is tried.
        guess = self._rows(_DISTINCT, (self._schema, self._table, self._columns[column][0]), progress)
        guessed = float(guess[0][0]) if guess else 0.0
        if (guessed if guessed >= 0 else -guessed * self.description.rows) > 3 * most:
            return None
        grouped = f"SELECT {name}::text AS key, {name}, count(*) AS n FROM {RECORDS} GROUP BY {name}"
        query = f"{grouped} LIMIT {most + 1}"
        types = pa.schema([("key", pa.string()), (name, kind), ("n", pa.int64())])
        found = self.fetch(query, types, progress, _STAGE)
        if found.num_rows > most:
            return None
        return tuple(found.column(place).combine_chunks() for place in range(3))  # type: ignore[return-value]

    def upload(self, name: str, columns: Mapping[str, Any], keys: Mapping[str, int], progress: Progress) -> None:
        """Make a temporary table, which the server drops with the connection."""
        kinds = {"int32": "integer", "int64": "bigint", "string": "text"}
        declared = ", ".join(
            f"{each} {self._key_type(keys[each]) if each in keys else kinds[str(column.type)]}"
            for each, column in columns.items()
        )
        table = pa.table({each: _as_csv(column) for each, column in columns.items()})
        sink = pa.BufferOutputStream()
        arrow_csv.write_csv(table, sink, arrow_csv.WriteOptions(include_header=False, quoting_style="needed"))

        def job() -> None:
            with self._connection.cursor() as cursor:
                cursor.execute(f"DROP TABLE IF EXISTS pg_temp.{name}")
                cursor.execute(f"CREATE TEMPORARY TABLE {name} ({declared})")
                if table.num_rows:
                    with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
                        copy.write(sink.getvalue().to_pybytes())
                cursor.execute(f"ANALYZE {name}")

        self._watched(job, progress, _STAGE)

    def _key_type(self, column: int) -> str:
        kind = self._columns[column][1]
        return "text" if kind.startswith(_FILLED) else kind

    def content_hash(self, outputs: Sequence[str]) -> str:
        """Hash a row to 64 bits."""
        return f"hashtextextended(ROW({', '.join(outputs)})::text, 0)"

    @contextmanager
    def steady(self, progress: Progress) -> Iterator[None]:
        """Give all queries inside one snapshot; what others change meanwhile is not seen."""
        if self._connection.info.transaction_status != 0:
            yield
            return
        self._let_go()
        self._rows("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", (), progress)
        try:
            yield
        finally:
            self._end()

    def _end(self) -> None:
        import psycopg

        self._let_go()
        try:
            self._connection.rollback()
        except psycopg.Error:
            self._connection.close()

    def close(self) -> None:
        """Let go of the connection; the server drops the temporary tables."""
        self._close()


_TABLES = """
SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname NOT LIKE 'pg_toast%%' AND n.nspname NOT LIKE 'pg_temp%%' AND has_schema_privilege(n.oid, 'USAGE')
ORDER BY 1, 2""".replace("%%", "%")
_COLUMNS = """
SELECT a.attname,
  CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END,
  CASE WHEN t.typcategory IN ('A', 'G') OR t.typtype IN ('c', 'r', 'm') OR t.typname IN ('bytea', 'json', 'xml')
       THEN 'opaque' ELSE '' END
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_DISTINCT = "SELECT n_distinct FROM pg_stats WHERE schemaname = %s AND tablename = %s AND attname = %s"


def server_tables(address: Address, progress: Progress, password: str | None = None) -> list[str]:
    """List the tables and views that an address without a table leads to, as schema.table."""
    with closing(connected(address, progress, password)) as connection:
        return [f"{schema}.{name}" for schema, name in connection.execute(_TABLES).fetchall()]


_FILLED = ("character(", "bpchar")


def _text_of(name: str, kind: str) -> str:
    """Write the expression of a column, without blanks that only fill a fixed width."""
    return f"{quoted(name)}::text" if kind.startswith(_FILLED) else quoted(name)


_WHOLE = {"smallint": "int16", "integer": "int32", "bigint": "int64", "real": "float32", "double precision": "float64"}
_MOST_DIGITS = 38


def arrow_type(kind: str, shape: str) -> Any:
    """Return the Arrow type of a type of the server; what has no equal is text."""
    if shape == "opaque":
        return pa.binary()
    if kind in _WHOLE:
        return pa.type_for_alias(_WHOLE[kind])
    if kind.startswith("numeric("):
        digits, _, places = kind[len("numeric(") : -1].partition(",")
        if int(digits) <= _MOST_DIGITS and 0 <= int(places or 0) <= int(digits):
            return pa.decimal128(int(digits), int(places or 0))
    if kind == "boolean":
        return pa.bool_()
    if kind == "date":
        return pa.date32()
    if kind.startswith("timestamp"):
        return pa.timestamp("us", "UTC" if kind.endswith("with time zone") else None)
    return pa.string()


def _plain(types: Any) -> dict[str, Any]:
    """Return the types as which fields are read: numbers without a sign and with many digits as text first."""
    return {
        field.name: pa.string() if field.type == pa.binary() or pa.types.is_floating(field.type) else field.type
        for field in types
    }


def _as_csv(column: Any) -> Any:
    """Return a column as the server's CSV takes it."""
    return column if pa.types.is_integer(column.type) else column.cast(pa.string())

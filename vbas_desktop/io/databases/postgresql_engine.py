"""The PostgreSQL engine: counts and joins a table or view on its server, in one transaction where that matters."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import csv as arrow_csv

from vbas_desktop.background import iterate_cancellable, run_cancellable
from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.progress import Progress

from .address import Address
from .engine import RECORDS, DatabaseEngine, RecordDescription, quote_name, values_do_not_fit
from .postgresql_connection import CopyStream, explain_server_errors, open_connection

T = TypeVar("T")

_STAGE = "Asking the server"
_BLOCK_BYTES = 8 << 20
_LISTED_TABLES = 10


class PostgreSQLEngine(DatabaseEngine):
    """One connection, closed with the table. Passwords come from PGPASSFILE, PGPASSWORD or the terminal."""

    nan_test = "{} = 'NaN'"
    text_expression = "{}::text"

    def __init__(self, address: Address, progress: Progress, password: str | None = None) -> None:
        self.address = address
        self._connection = open_connection(address, progress, password)
        # The connection goes with the engine, even if nobody closes it.
        self._close = weakref.finalize(self, self._connection.close)
        self._lock = threading.Lock()
        self._active: Iterator[Any] | None = None
        try:
            self._schema, self._table, self._columns = self._find_table(progress)
            with self.snapshot(progress):
                rows = self._fetch_number("count(*)", "", progress)
                size = self._fetch_rows(
                    "SELECT pg_total_relation_size(%s::regclass)", (self._qualified_name,), progress
                )[0][0]
            types = [
                (f"c{number}", arrow_type(server_type, shape))
                for number, (_, server_type, shape) in enumerate(self._columns)
            ]
            header = tuple(name for name, _, _ in self._columns)
            self.description = RecordDescription(header, pa.schema(types), rows, int(size or 0), "")
        except BaseException:
            self._close()
            raise

    @property
    def _qualified_name(self) -> str:
        return f"{quote_name(self._schema)}.{quote_name(self._table)}"

    def _find_table(self, progress: Progress) -> tuple[str, str, list[tuple[str, str, str]]]:
        """Find schema, name and columns of the table that the address names."""
        tables = self._fetch_rows(_TABLES, (), progress)
        requested = self.address.table
        matching = [(schema, name) for schema, name in tables if requested in (f"{schema}.{name}", name)]
        exact = [
            (schema, name)
            for schema, name in matching
            if f"{schema}.{name}" == requested or schema == "public"
        ]
        matching = exact or matching
        if len(matching) != 1:
            listed = ", ".join(f"{schema}.{name}" for schema, name in tables[:_LISTED_TABLES]) or "none"
            message = "The address names no table."
            if requested:
                message = f"The database has no table “{requested}” that you may see."
            remedy = f"Write schema.table behind #. Tables: {listed}{' …' if len(tables) > _LISTED_TABLES else ''}."
            raise input_error("no-such-table", message, remedy, file=self.address)
        schema, table = matching[0]
        columns = self._fetch_rows(_COLUMNS, (f"{quote_name(schema)}.{quote_name(table)}",), progress)
        return schema, table, [(name, server_type, shape) for name, server_type, shape in columns]

    def _fetch_rows(
        self, query: str, values: Sequence[Any], progress: Progress
    ) -> list[tuple[Any, ...]]:
        """Return a small result as Python values."""

        def fetch_all() -> list[tuple[Any, ...]]:
            with self._connection.cursor() as cursor:
                cursor.execute(query, values or None)
                return list(cursor.fetchall()) if cursor.description else []

        return self._run_cancellable(fetch_all, progress, _STAGE)

    def _run_cancellable(self, work: Callable[[], T], progress: Progress, stage: str) -> T:
        self._close_result()

        def run_locked() -> T:
            with self._lock, explain_server_errors(self.address):
                return work()

        return run_cancellable(run_locked, progress, stage, cancel=self._cancel)

    def _cancel(self) -> None:
        import psycopg

        try:
            self._connection.cancel_safe(timeout=10)
        except psycopg.Error:
            # A server that cannot be told ends the query when the connection is closed.
            self._connection.close()

    def _with_records(self, query: str) -> str:
        """Return the query with the records, whose columns are numbered, before it."""
        columns = ", ".join(
            f"{_column_expression(name, server_type)} AS c{number}"
            for number, (name, server_type, _) in enumerate(self._columns)
        )
        return (
            f"WITH {RECORDS} AS NOT MATERIALIZED (SELECT {columns} FROM {self._qualified_name}) {query}"
        )

    def fetch(self, query: str, types: Any, progress: Progress, stage: str) -> Any:
        """Return all of a result."""
        batches = list(self.fetch_batches(query, types, progress, stage))
        if batches:
            return pa.Table.from_batches(batches)
        return types.empty_table() if types is not None else pa.table({"n": [0]})

    def fetch_batches(self, query: str, types: Any, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield a result in batches from the server's own CSV, which keeps empty texts and missing values apart."""
        types = types if types is not None else pa.schema([("n", pa.int64())])
        copy_query = f"COPY ({self._with_records(query)}) TO STDOUT (FORMAT csv)"

        def read_batches() -> Iterator[Any]:
            with (
                self._lock,
                explain_server_errors(self.address),
                self._connection.cursor() as cursor,
                cursor.copy(copy_query) as copy,
            ):
                try:
                    yield from _parse_csv(CopyStream(copy), types)
                except pa.ArrowInvalid:
                    raise InputError(values_do_not_fit(self.address)) from None

        self._close_result()
        self._active = results = read_batches()
        yield from iterate_cancellable(lambda: results, progress, stage, cancel=self._cancel)

    def _close_result(self) -> None:
        """Close a result that nobody reads any more: the connection has one at a time."""
        active = self._active
        self._active = None
        if active is not None:
            active.close()  # type: ignore[attr-defined]

    def fetch_values(self, column: int, limit: int, progress: Progress) -> tuple[Any, Any, Any] | None:
        """Count the records with each value of a column; the server gets values back as the text that it gave."""
        name = f"c{column}"
        column_type = self.description.schema.field(column).type
        # The statistics of the server spare a count that would be in vain; without any, the count is tried.
        statistics = self._fetch_rows(
            _DISTINCT, (self._schema, self._table, self._columns[column][0]), progress
        )
        estimate = float(statistics[0][0]) if statistics else 0.0
        if (estimate if estimate >= 0 else -estimate * self.description.rows) > 3 * limit:
            return None
        grouped = f"SELECT {name}::text AS key, {name}, count(*) AS n FROM {RECORDS} GROUP BY {name}"
        query = f"{grouped} LIMIT {limit + 1}"
        types = pa.schema([("key", pa.string()), (name, column_type), ("n", pa.int64())])
        counted = self.fetch(query, types, progress, _STAGE)
        if counted.num_rows > limit:
            return None
        keys, values, numbers = (column.combine_chunks() for column in counted.columns)
        return keys, values, numbers

    def upload(
        self, name: str, columns: Mapping[str, Any], keys: Mapping[str, int], progress: Progress
    ) -> None:
        """Make a temporary table, which the server drops with the connection."""
        types = {"int32": "integer", "int64": "bigint", "string": "text"}
        declared = ", ".join(
            f"{column_name} {self._key_type(keys[column_name]) if column_name in keys else types[str(column.type)]}"
            for column_name, column in columns.items()
        )
        table = pa.table({column_name: _as_csv(column) for column_name, column in columns.items()})
        sink = pa.BufferOutputStream()
        arrow_csv.write_csv(
            table, sink, arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
        )

        def create_table() -> None:
            with self._connection.cursor() as cursor:
                cursor.execute(f"DROP TABLE IF EXISTS pg_temp.{name}")
                cursor.execute(f"CREATE TEMPORARY TABLE {name} ({declared})")
                if table.num_rows:
                    with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
                        copy.write(sink.getvalue().to_pybytes())
                cursor.execute(f"ANALYZE {name}")

        self._run_cancellable(create_table, progress, _STAGE)

    def _key_type(self, column: int) -> str:
        server_type = self._columns[column][1]
        return "text" if server_type.startswith(_PADDED_TYPES) else server_type

    def row_hash_expression(self, outputs: Sequence[str]) -> str:
        """Hash a row to 64 bits."""
        return f"hashtextextended(ROW({', '.join(outputs)})::text, 0)"

    @contextmanager
    def snapshot(self, progress: Progress) -> Iterator[None]:
        """Give all queries inside one transaction, which does not see what others change meanwhile."""
        if self._connection.info.transaction_status != 0:
            yield
            return
        self._close_result()
        self._fetch_rows("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", (), progress)
        try:
            yield
        finally:
            self._end_transaction()

    def _end_transaction(self) -> None:
        import psycopg

        self._close_result()
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


def list_server_tables(address: Address, progress: Progress, password: str | None = None) -> list[str]:
    """List the tables and views that an address without a table leads to, as schema.table."""
    with closing(open_connection(address, progress, password)) as connection:
        return [f"{schema}.{name}" for schema, name in connection.execute(_TABLES).fetchall()]


_PADDED_TYPES = ("character(", "bpchar")


def _column_expression(name: str, server_type: str) -> str:
    """Write the expression of a column, without blanks that only fill a fixed width."""
    return f"{quote_name(name)}::text" if server_type.startswith(_PADDED_TYPES) else quote_name(name)


_ARROW_NUMBERS = {
    "smallint": "int16",
    "integer": "int32",
    "bigint": "int64",
    "real": "float32",
    "double precision": "float64",
}
_MAX_DIGITS = 38


def arrow_type(server_type: str, shape: str) -> Any:
    """Return the Arrow type for a type of the server; one without an equal is read as text."""
    if shape == "opaque":
        return pa.binary()
    if server_type in _ARROW_NUMBERS:
        return pa.type_for_alias(_ARROW_NUMBERS[server_type])
    if server_type.startswith("numeric("):
        digits, _, scale = server_type[len("numeric(") : -1].partition(",")
        if int(digits) <= _MAX_DIGITS and 0 <= int(scale or 0) <= int(digits):
            return pa.decimal128(int(digits), int(scale or 0))
    if server_type == "boolean":
        return pa.bool_()
    if server_type == "date":
        return pa.date32()
    if server_type.startswith("timestamp"):
        return pa.timestamp("us", "UTC" if server_type.endswith("with time zone") else None)
    return pa.string()


def _parse_csv(stream: CopyStream, types: Any) -> Iterator[Any]:
    """Parse the CSV of a COPY into Arrow batches of these types."""
    if stream.is_empty():
        return
    batches = arrow_csv.open_csv(
        pa.PythonFile(stream, "r"),
        arrow_csv.ReadOptions(block_size=_BLOCK_BYTES, column_names=types.names, use_threads=False),
        arrow_csv.ParseOptions(newlines_in_values=True),
        arrow_csv.ConvertOptions(
            column_types=_csv_types(types),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )
    for batch in batches:
        columns = [column.cast(field.type) for column, field in zip(batch.columns, types, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, names=types.names)


def _csv_types(types: Any) -> dict[str, Any]:
    """Return the types as which fields are read: numbers without a sign and with many digits as text first."""
    return {
        field.name: pa.string()
        if field.type == pa.binary() or pa.types.is_floating(field.type)
        else field.type
        for field in types
    }


def _as_csv(column: Any) -> Any:
    """Return a column as the server's CSV takes it."""
    return column if pa.types.is_integer(column.type) else column.cast(pa.string())

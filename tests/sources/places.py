"""The same records in every kind of place."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def in_folder(table: pa.Table, folder: Path) -> str:
    """Two Parquet files."""
    folder.mkdir()
    half = table.num_rows // 2
    pq.write_table(table.slice(0, half), folder / "a.parquet")
    pq.write_table(table.slice(half), folder / "b.parquet")
    return str(folder)


def in_pattern(table: pa.Table, folder: Path) -> str:
    """The same under a pattern, beside a file that does not belong to it."""
    in_folder(table, folder)
    (folder / "note.csv").write_text("not,these\n1,2\n", encoding="utf-8")
    return f"{folder}{os.sep}*.parquet"


def in_database(table: pa.Table, folder: Path) -> str:
    """A table of a DuckDB file."""
    import duckdb

    folder.mkdir()
    path = folder / "house.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("incoming", table)
        connection.execute(
            'CREATE SCHEMA "odd schema"; CREATE TABLE "odd schema"."the ""table""" AS SELECT * FROM incoming'
        )
    return f'{path}#odd schema.the "table"'


def in_text_files(table: pa.Table, folder: Path) -> str:
    """Two CSV files in which everything is text."""
    folder.mkdir()
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    half = len(rows) // 2
    for name, part in (("a.csv", rows[:half]), ("b.csv", rows[half:])):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(table.column_names)
            writer.writerows(["" if value is None else value for value in row] for row in part)
    return str(folder)


PLACES = {"folder": in_folder, "pattern": in_pattern, "database": in_database}


_KINDS = {
    "int64": "bigint",
    "string": "text",
    "double": "double precision",
    "decimal128(8, 2)": "numeric(8,2)",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "bool": "boolean",
}


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def in_server(table: pa.Table, server, name: str) -> str:
    """A table of a PostgreSQL server, in a schema with an odd name."""
    columns = ", ".join(f"{quoted(each.name)} {_KINDS[str(each.type)]}" for each in table.schema)
    full = f'"odd ""schema"""."{name}"'
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute('CREATE SCHEMA IF NOT EXISTS "odd ""schema"""')
        cursor.execute(f"DROP TABLE IF EXISTS {full}")
        cursor.execute(f"CREATE TABLE {full} ({columns})")
        with cursor.copy(f"COPY {full} FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
    return server.address(f'odd "schema".{name}')

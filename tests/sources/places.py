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

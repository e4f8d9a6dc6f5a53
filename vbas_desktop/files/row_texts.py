"""The rows of a loaded record file once more, as text: for jobs that need whole rows or a column that is not coded."""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError

from .dialect import Dialect
from .parquet import parquet_rows
from .records import RecordTable


def row_texts(table: RecordTable) -> Iterator[list[str]]:
    """Every record as the list of its fields, in file order, without names and category numbers.

    Raises `InputError` if the file is not the file any more that was loaded (told after the last row).
    """
    return _checked(table, _rows(table, table.dialect.header), len(table.dialect.header))


def _rows(table: RecordTable, names: Sequence[str]) -> Iterator[list[str]]:
    """The rows after header and category numbers; of a Parquet file only these columns, of text all of them."""
    dialect, path = table.dialect, Path(table.source.path)
    if dialect.format == "parquet":
        rows = parquet_rows(path, names)
        if dialect.category_line:
            next(rows, None)
        yield from rows
        return
    with _text(path, dialect) as stream:
        reader = csv.reader(stream, delimiter=dialect.delimiter or ",")
        filled = (row for row in reader if row)
        for _ in range(2 if dialect.category_line else 1):
            next(filled, None)
        yield from filled


def _checked(table: RecordTable, rows: Iterator[list[str]], width: int) -> Iterator[list[str]]:
    path, number = Path(table.source.path), 0
    for row in rows:
        number += 1
        if len(row) != width or number > table.rows:
            raise _changed(path)
        yield row
    with path.open("rb") as file:
        same = hashlib.file_digest(file, "sha256").hexdigest() == table.source.sha256
    if number != table.rows or not same:
        raise _changed(path)


def column_texts(table: RecordTable, name: str) -> NDArray[np.str_]:
    """The text of one column in every record; read from the file again where the column has too many values to code."""
    facts = table.facts(name)
    if facts.categories is not None:
        return np.array(facts.categories.values)[table.codes(name)]
    if table.dialect.format == "parquet":
        return np.array([row[0] for row in _checked(table, _rows(table, [name]), 1)], np.str_)
    place = table.dialect.header.index(name)
    return np.array([row[place] for row in row_texts(table)], np.str_)


def coded_texts(table: RecordTable, name: str) -> tuple[NDArray[np.integer], NDArray[np.str_]]:
    """One column as a code of each record and the texts the codes stand for, whether or not it was coded on loading."""
    facts = table.facts(name)
    if facts.categories is not None:
        return table.codes(name), np.array(facts.categories.values, np.str_)
    texts, codes = np.unique(column_texts(table, name), return_inverse=True)
    return codes, texts


def _text(path: Path, dialect: Dialect) -> IO[str]:
    encoding = dialect.encoding or "utf-8"
    if dialect.bom:  # The mark is no part of the first name.
        encoding = {"utf-8": "utf-8-sig", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}.get(encoding, encoding)
    if dialect.compressed:
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def _changed(path: Path) -> InputError:
    message = "The file is not the one that was loaded: its rows changed."
    return InputError(Finding("input-changed", message, "Load it again.", file=str(path)))

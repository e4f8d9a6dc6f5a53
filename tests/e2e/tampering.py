"""Releases to tamper with, and ways to do it: functions of the text lines of a file, or of a Parquet table."""

from __future__ import annotations

import csv
import gzip
import io
import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from vbas_desktop.audit.claim import ReleaseClaim
from vbas_desktop.audit.verification import Verification, verify_release
from vbas_desktop.cli.main import main
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.releases import audited_records

END = "\r\n"
GRID = 4


@dataclass(frozen=True)
class Release:
    """A release in a folder, with all that is claimed of it."""

    folder: Path
    problem: Any
    file_format: Any
    claim: ReleaseClaim

    def copy(self, target: Path) -> Release:
        """Copy the folder, so that it can be changed."""
        shutil.copytree(self.folder, target)
        return self._move(target)

    def _move(self, target: Path) -> Release:
        claim = self.claim
        moved = {
            name: None if path is None else target / path.parent.name / path.name
            for name in ("file", "crosswalk", "record_index", "class_counts")
            for path in [getattr(claim, name)]
        }
        return Release(target, self.problem, self.file_format, replace(claim, **moved))

    def verify(self, **changed: Any) -> None:
        """Verify the files as they are now; raises `VerificationFailed`."""
        verify_release(self.problem, self.file_format, replace(self.claim, **changed), NO_PROGRESS)


def make_release(folder: Path, *options: str, records: str = "records.csv", sites: str = "5") -> Release:
    """Release the records in a folder by a command, and keep what the verification was told."""
    told = []

    class Listening(Verification):
        def __init__(self, problem: Any, file_format: Any, claim: ReleaseClaim) -> None:
            told.append((problem, file_format, claim))
            super().__init__(problem, file_format, claim)

    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "-k",
        "5",
        "--sites",
        sites,
        "--no-pdf",
    ]
    allowed = [
        "--allow-column",
        "note,code,amount,flag,illness",
        "--no-pair-tests",
        "--quiet",
        "--exceed-loss",
    ]
    out = folder / "out"
    command = [
        "run",
        str(folder / records),
        str(folder / "regions.csv"),
        *chosen,
        *allowed,
        "--out",
        str(out),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audited_records, "Verification", Listening)
        assert main([*command, *options]) == 0
    ((problem, file_format, claim),) = told
    return Release(out, problem, file_format, claim)._move(out)


NAMES = ["note", "age", "sex", "region", "code", "amount", "flag", "illness"]


def draw_rows(number: int = 900) -> list[list[str]]:
    """Draw records with quotes, delimiters, line breaks, formulas, leading zeros and blanks in their values."""
    draw = random.Random(7)
    notes = ["plain", "Größe", "a;b", 'say "so"', "two\r\nlines", "=1+1", "x y", "", "'quoted", "-5"]
    rows = []
    for _ in range(number):
        age = draw.choices(["10", "20", "30", "90"], [40, 30, 28, 2])[0]
        row = [draw.choice(notes), age, draw.choice("fm"), f"r{draw.randrange(GRID * GRID)}"]
        row += [
            draw.choice(["007", "012", "100"]),
            draw.choice(["1.5", "2", "3.25"]),
            draw.choice(["TRUE", "FALSE", ""]),
        ]
        rows.append([*row, draw.choice(["flu", "cold", "none", "cough"])])
    return rows


def write_input(folder: Path, ids: Sequence[str] = ()) -> Path:
    """Write records and regions; the records as CSV with a byte-order mark and CR LF, and as Parquet."""
    folder.mkdir(parents=True)
    rows = draw_rows()
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator=END).writerows([NAMES, *rows])
    (folder / "records.csv").write_bytes(text.getvalue().encode("utf-8-sig"))
    columns = {name: pa.array(values) for name, *values in zip(NAMES, *rows, strict=True)}
    columns["amount"] = columns["amount"].cast(pa.float64())
    columns["code"] = columns["code"].cast(pa.int64())
    pq.write_table(pa.table(columns), folder / "records.parquet")
    places = [
        f"r{number},{number % GRID},{number // GRID},{number % 2}" for number in range(GRID * GRID)
    ]
    (folder / "regions.csv").write_text("\n".join(["id,x,y,side", *places]) + "\n")
    return folder


# Ways to change a text file: functions of the rows as lists of fields, of its lines, or of its bytes.

Rows = list[list[str]]


def change_rows(
    change: Callable[[Rows], Any], file: str = "release/anonymized.csv"
) -> Callable[[Release], None]:
    """Change the parsed rows, and write them in the form that the file has."""

    def tamper(release: Release) -> None:
        path = release.folder / file
        is_released = file == "release/anonymized.csv"
        delimiter = release.claim.delimiter if is_released else ","
        data = path.read_bytes()
        end = END if b"\r\n" in data.split(b"\n", 1)[0] + b"\n" else "\n"
        mark = "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))
        before = [list(row) for row in rows]
        rows = change(rows) or rows
        assert rows != before
        text = io.StringIO(newline="")
        # Python leaves a return alone where lines end with a line feed, which no value here has.
        csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
        path.write_bytes(text.getvalue().encode(mark))

    return tamper


def change_bytes(
    change: Callable[[bytes], bytes], file: str = "release/anonymized.csv"
) -> Callable[[Release], None]:
    """Change the bytes of a file."""

    def tamper(release: Release) -> None:
        path = release.folder / file
        data = path.read_bytes()
        changed = change(data)
        assert changed != data
        path.write_bytes(changed)

    return tamper


def change_table(change: Callable[[Any], Any]) -> Callable[[Release], None]:
    """Change the table of a Parquet file."""

    def tamper(release: Release) -> None:
        path = release.folder / "release" / "anonymized.parquet"
        table = pq.read_table(path)
        changed = change(table)
        assert not changed.equals(table)
        pq.write_table(changed, path)

    return tamper


def set_field(
    name: str, change: Callable[[str], str], which: Callable[[str], bool] = bool
) -> Callable[[Rows], None]:
    """Change the value of a column in the first row in which ``which`` holds of it."""

    def apply(rows: Rows) -> None:
        at = rows[0].index(name)
        row = next(row for row in rows[1:] if which(row[at]) and change(row[at]) != row[at])
        row[at] = change(row[at])

    return apply


def exchange(name: str) -> Callable[[Rows], None]:
    """Exchange the values that two rows have in a column, which differ in another column too."""

    def apply(rows: Rows) -> None:
        at = rows[0].index(name)
        first = rows[1]
        others = (
            row
            for row in rows[2:]
            if row[at] != first[at] and row[:at] + row[at + 1 :] != first[:at] + first[at + 1 :]
        )
        other = next(others)
        first[at], other[at] = other[at], first[at]

    return apply


def classes_of(rows: Rows, names: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Count the rows by their values in some columns."""
    places = [rows[0].index(name) for name in names]
    return Counter(tuple(row[place] for place in places) for row in rows[1:])


def replace_value(table: Any, column: str, row: int, value: Any) -> Any:
    """Put one value into a Parquet table."""
    at = table.column_names.index(column)
    values = table.column(column).to_pylist()
    values[row] = value
    return table.set_column(
        at, table.schema.field(column), pa.array(values, table.schema.field(column).type)
    )


def sort_table(table: Any, column: str) -> Any:
    """Sort a Parquet table by a column."""
    return table.take(pc.sort_indices(table, sort_keys=[(column, "ascending")]))


def compress(data: bytes) -> bytes:
    """Compress a file as it is."""
    return gzip.compress(data, mtime=0)

"""A row of category numbers before the records of one file; tables and several files have none."""

from __future__ import annotations

import csv
import gzip
import json

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.opening import open_engine
from vbas_desktop.io.databases.table import open_database_table
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.reading import RecordReading

HEADER = ["age", "sex", "region", "note"]
NUMBERS = ["2", "2", "16", "3"]
RECORDS = 800


@pytest.fixture(autouse=True)
def usual_memory(monkeypatch, few_threads):
    """Compressed text needs as much as DuckDB is given by default."""
    monkeypatch.delenv("VBAS_DUCKDB_MEMORY")


def records() -> list[list[str]]:
    draw = np.random.default_rng(1)
    return [
        [draw.choice(["young", "old"]), draw.choice(["f", "m"]), f"r{draw.integers(16)}", note]
        for note in draw.choice(["a", "b", "c"], RECORDS)
    ]


def text_of(rows, header=HEADER, line_end="\n") -> str:
    quoted = [[f'"{field}"' if "\n" in field else field for field in row] for row in [header, *rows]]
    return "".join(",".join(row) + line_end for row in quoted)


def write_csv(path, rows):
    path.write_text(text_of(rows))


def write_csv_of_windows(path, rows):
    path.write_bytes(text_of(rows, line_end="\r\n").encode("utf-8-sig"))


def write_csv_with_blank_lines(path, rows):
    path.write_text(text_of(rows).replace("\n", "\n\n", 2))


def write_csv_with_broken_name(path, rows):
    path.write_text(text_of(rows, ["age", "sex", "region", "note\nof the doctor"]))


def write_compressed(path, rows):
    path.write_bytes(gzip.compress(text_of(rows).encode()))


def write_parquet(path, rows):
    pq.write_table(
        pa.table(list(map(pa.array, zip(*rows, strict=True))), names=HEADER), path, row_group_size=300
    )


FILES = [
    ("a.csv", write_csv),
    ("a.csv", write_csv_of_windows),
    ("a.csv", write_csv_with_blank_lines),
    ("a.csv", write_csv_with_broken_name),
    ("a.csv.gz", write_compressed),
    ("a.parquet", write_parquet),
]


def loaded(place, choice):
    return open_database_table(parse_address(str(place)), RecordReading(category_counts=choice))


@pytest.mark.parametrize(("name", "write"), FILES)
@pytest.mark.parametrize("choice", ["auto", "yes"])
def test_the_first_row_of_one_file_may_hold_category_numbers(tmp_path, name, write, choice):
    write(tmp_path / name, [NUMBERS, *records()])
    table = loaded(f"duckdb:{tmp_path / name}", choice)
    assert table.rows == RECORDS
    assert table.file_format.category_line
    assert [facts.categories.declared for facts in table.columns] == [2, 2, 16, 3]
    assert table.columns[3].categories.values == ("a", "b", "c")
    assert [finding.code for finding in table.findings] == ["category-line"] * (choice == "auto")
    table.close()


@pytest.mark.parametrize(("name", "write"), FILES)
def test_the_first_row_is_a_record_if_it_looks_like_one_or_the_user_says_so(tmp_path, name, write):
    write(tmp_path / name, [["2", "2", "r1", "3"], *records()])
    assert loaded(f"duckdb:{tmp_path / name}", "auto").rows == RECORDS + 1
    write(tmp_path / name, [NUMBERS, *records()])
    assert loaded(f"duckdb:{tmp_path / name}", "no").rows == RECORDS + 1


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_release_and_a_recount_leave_it_out(tmp_path, capsys, name):
    (write_csv if name == "a.csv" else write_parquet)(tmp_path / name, [NUMBERS, *records()])
    regions = tmp_path / "regions.csv"
    regions.write_text(
        "id,x,y\n" + "".join(f"r{number},{number % 4},{number // 4}\n" for number in range(16))
    )
    roles = ["--region-column", "region", "--quasi-identifiers", "age,sex", "-k", "3", "--quiet"]
    sites = [
        "--site-number",
        "fixed",
        "--sites",
        "4",
        "--range-reach",
        "0",
        "--no-pdf",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["run", f"duckdb:{tmp_path / name}", str(regions), *roles, *sites]) == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["problem"]["records"] == RECORDS
    with (tmp_path / "out" / "release" / "anonymized.csv").open(newline="") as file:
        assert {row["note"] for row in csv.DictReader(file)} == {"a", "b", "c"}
    capsys.readouterr()
    main(["verify", f"duckdb:{tmp_path / name}", *roles])
    assert json.loads(capsys.readouterr().out)["records"] == RECORDS


def test_a_column_with_more_values_than_the_row_says_is_reported(tmp_path):
    write_parquet(tmp_path / "a.parquet", [["2", "2", "16", "2"], *records()])
    found = loaded(f"duckdb:{tmp_path / 'a.parquet'}", "yes").findings
    assert [(finding.code, finding.column) for finding in found] == [("category-line-exceeded", "note")]


def test_a_first_row_that_holds_no_numbers_is_refused_if_it_must(tmp_path):
    write_parquet(tmp_path / "a.parquet", records())
    with pytest.raises(InputError) as caught:
        loaded(f"duckdb:{tmp_path / 'a.parquet'}", "yes")
    assert {(finding.code, finding.row) for finding in caught.value.findings} == {("category-line", 2)}


def test_several_files_and_tables_have_no_second_line(tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    for name in ("a.parquet", "b.parquet"):
        write_parquet(folder / name, [NUMBERS, *records()])
    with duckdb.connect(str(tmp_path / "house.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT '2' AS age, '2' AS region")
    places = [folder, folder / "*.parquet", f"{tmp_path / 'house.duckdb'}#visits"]
    others = ["postgresql://ann@127.0.0.1:1/health#visits", f"spark-local:{folder}"]
    for place in [*places, *others]:
        with pytest.raises(InputError, match="have no second line with category numbers"):
            open_engine(parse_address(str(place)), RecordReading(category_counts="yes"), NO_PROGRESS)
    assert loaded(folder, "auto").rows == 2 * (RECORDS + 1)

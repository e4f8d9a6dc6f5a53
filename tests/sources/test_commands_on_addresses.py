"""Commands that need every record give the same on an address as on a file of the same records, on every engine."""

from __future__ import annotations

import csv
import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from places import in_database, in_folder, in_server
from servers import PASSWORD

from vbas_desktop.cli.main import main
from vbas_desktop.io.databases.loading import load_records_at
from vbas_desktop.settings.reading import RecordReading

NAMES = ("key", 'it\'s "sex"; DROP TABLE x; --', "Größe %s \\ `t`", "select", "note")
HOSTILE = ["a'b", 'a"b', "a;b", "a\\b", "%s %d", "ä漢🙂", "`x`", "${y}", "--", "", None]


def records(number: int = 600, seed: int = 1) -> pa.Table:
    """Records in the order of their keys; names and values that would break pasted SQL."""
    draw = np.random.default_rng(seed)
    values = [
        [f"k{row:05d}" for row in range(number)],
        [HOSTILE[place] for place in draw.integers(0, len(HOSTILE), number)],
        [HOSTILE[place] for place in draw.integers(0, 4, number)],
        draw.integers(0, 5, number).tolist(),
        [f"n{place}" for place in draw.integers(0, 3, number)],
    ]
    types = [pa.string(), pa.string(), pa.string(), pa.int64(), pa.string()]
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(values, types, strict=True)], names=list(NAMES)
    )


def in_csv(table: pa.Table, path: Path) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        writer.writerows(["" if value is None else value for value in row] for row in rows)
    return str(path)


@pytest.fixture(scope="module", params=["folder", "database", "postgresql", "spark"])
def engine(request):
    """Say how to put a table behind an address, by folder and name."""
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PGPASSWORD", PASSWORD)
            yield lambda table, folder, name: in_server(table, server, f"{folder.name}_{name}")
    elif request.param == "spark":
        master = request.getfixturevalue("spark")
        yield lambda table, folder, name: f"{master}{in_folder(table, folder / name)}"
    else:
        make = in_folder if request.param == "folder" else in_database
        yield lambda table, folder, name: make(table, folder / name)


@pytest.fixture
def put(engine, tmp_path):
    """Put a table somewhere under a name, and name the place."""
    return lambda table, name: engine(table, tmp_path, name)


def printed(*arguments) -> dict:
    with redirect_stdout(StringIO()) as said:
        assert main([*map(str, arguments), "--json", "--quiet"]) == 0
    return json.loads(said.getvalue())


pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.timeout(600)]
READING = ("--category-counts", "no")
SEARCH = ("-k", "4", "--show-values", *READING, "--columns", "select,note")


def test_risky_combinations_are_those_of_the_file(put, tmp_path):
    table = records()
    place = put(table, "here")
    file = in_csv(table, tmp_path / "records.csv")
    quoted = '"{}","{}",select,note'.format(*(name.replace('"', '""') for name in NAMES[1:3]))
    options = ("-k", "4", "--show-values", *READING, "--columns", quoted)
    expected = printed("risky", file, *options)
    assert expected["number"] > 0
    assert printed("risky", place, *options) == expected


def test_the_coarsened_file_is_that_of_the_file(put, tmp_path):
    table = records()
    place = put(table, "here")
    file = in_csv(table, tmp_path / "records.csv")
    written = []
    for number, name in enumerate((file, place)):
        folder = tmp_path / f"out{number}"
        printed("risky", name, *SEARCH, "--apply", "--suppress", "0.1", "--out", folder)
        with (folder / "anonymized.csv").open(encoding="utf-8", newline="") as lines:
            written.append(sorted(csv.reader(lines)))
    assert written[0] == written[1]
    assert len(written[0]) > 500


def test_representability_is_that_of_the_files(put, tmp_path):
    before = records()
    after = before.set_column(4, NAMES[4], pa.array(["*"] * before.num_rows)).slice(0, 550)
    files = [
        in_csv(table, tmp_path / f"{name}.csv") for table, name in ((before, "before"), (after, "after"))
    ]
    places = [put(before, "before"), put(after, "after")]
    options = ("--key", "key", "--quasi-identifiers", "select,note", "-k", "3", *READING)
    options = (*options, "--anonymised-category-counts", "no")
    expected, found = (printed("representability", *pair, *options) for pair in (files, places))
    assert expected["overall"]["deleted_records"] == 50
    assert found == expected


def test_appointments_are_those_of_the_file(put, tmp_path):
    table = records(60)
    place = put(table, "people")
    file = in_csv(table, tmp_path / "people.csv")
    (tmp_path / "slots.csv").write_text(
        "centre,time,capacity\n" + "".join(f"c,{i},8\n" for i in range(10))
    )
    options = (
        tmp_path / "slots.csv",
        "--quasi-identifiers",
        "select,note",
        "--id-column",
        "key",
        *READING,
    )
    for number, name in enumerate((file, place)):
        printed("appointments", name, *options, "--out", tmp_path / f"plan{number}")
    for name in ("appointments.csv", "plan.csv"):
        assert (tmp_path / "plan0" / name).read_text() == (tmp_path / "plan1" / name).read_text()


def test_the_loaded_table_has_the_facts_and_codes_of_the_file(put, tmp_path):
    table = records()
    options = RecordReading(category_counts="no")
    file = load_records_at(in_csv(table, tmp_path / "records.csv"), options)
    loaded = load_records_at(put(table, "here"), options)
    assert loaded.rows == file.rows
    for name in NAMES:
        expected, found = file.facts(name), loaded.facts(name)
        assert found.categories.values == expected.categories.values
        assert found.frequencies.tolist() == expected.frequencies.tolist()
        assert loaded.codes(name).tolist() == file.codes(name).tolist()


def test_the_same_rows_come_in_the_same_order_however_they_are_stored(tmp_path):
    table = records()
    shuffled = table.take(np.random.default_rng(3).permutation(table.num_rows))
    options = RecordReading(category_counts="no")
    one, other = (
        load_records_at(in_folder(each, tmp_path / f"{i}"), options)
        for i, each in enumerate((table, shuffled))
    )
    for name in NAMES:
        assert one.codes(name).tolist() == other.codes(name).tolist()


def test_many_ids_keep_their_texts(tmp_path):
    ids = [f"p{row:06d}" for row in range(60_000)]
    table = pa.table({"id": ids[::-1], "sex": ["f", "m"] * 30_000})
    loaded = load_records_at(in_folder(table, tmp_path / "people"))
    assert not loaded.facts("id").categorical
    (tmp_path / "slots.csv").write_text(
        "centre,time,capacity\n" + "".join(f"c,{i},30000\n" for i in range(3))
    )
    places = (tmp_path / "people", tmp_path / "slots.csv")
    printed(
        "appointments",
        *places,
        "--quasi-identifiers",
        "sex",
        "--id-column",
        "id",
        "--out",
        tmp_path / "plan",
    )
    written = (tmp_path / "plan" / "appointments.csv").read_text().splitlines()[1:]
    assert [line.partition(",")[0] for line in written] == ids


def test_what_needs_row_numbers_is_refused(tmp_path):
    place = in_folder(records(), tmp_path / "here")
    (tmp_path / "slots.csv").write_text("centre,time,capacity\nc,1,1000\n")
    people = ["appointments", place, str(tmp_path / "slots.csv"), "--quasi-identifiers", "select"]
    with redirect_stderr(StringIO()) as said:
        assert main([*people, "--out", str(tmp_path / "plan"), "--quiet"]) == 1
        assert main(["risky", place, "--scores", str(tmp_path / "scores.csv"), "--quiet"]) == 2
    assert "no row numbers" in said.getvalue()
    assert not (tmp_path / "plan").exists()
    assert not (tmp_path / "scores.csv").exists()


def test_repeated_keys_and_people_are_told_without_row_numbers(tmp_path):
    table = pa.concat_tables([records(20), records(20)])
    place = in_folder(table, tmp_path / "here")
    (tmp_path / "slots.csv").write_text("centre,time,capacity\nc,1,1000\n")
    people = ["appointments", place, str(tmp_path / "slots.csv"), "--quasi-identifiers", "select"]
    with redirect_stderr(StringIO()) as said:
        assert main([*people, "--id-column", "key", "--quiet"]) == 1
        assert (
            main(
                [
                    "representability",
                    place,
                    place,
                    "--key",
                    "key",
                    "--quasi-identifiers",
                    "select",
                    "--quiet",
                ]
            )
            == 1
        )
    assert "20 people are listed more than once." in said.getvalue()
    assert "20 keys occur more than once." in said.getvalue()

"""What can go wrong with datasets and DuckDB files is told in words; stops reach the engine; nothing stays behind."""

from __future__ import annotations

import json
import os

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from making import REGIONS, regions_file

from vbas_desktop.cli.main import main
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.listing import list_tables
from vbas_desktop.io.databases.table import open_database_table
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled
from vbas_desktop.settings.reading import RecordReading


def table(number: int = 600) -> pa.Table:
    return pa.table(
        {
            "place": [REGIONS[i % 6] for i in range(number)],
            "age": [i % 3 for i in range(number)],
            "number": list(range(number)),
        }
    )


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "visits"
    made.mkdir()
    pq.write_table(table(), made / "a.parquet")
    return made


def codes(place, options=None) -> list[str]:
    with pytest.raises(InputError) as caught:
        open_database_table(parse_address(str(place)), options or RecordReading())
    return [finding.code for finding in caught.value.findings]


def arguments(place, tmp_path, *more: str) -> list[str]:
    return [
        "run", str(place), str(regions_file(tmp_path)), "--region-column", "place", "--quasi-identifiers", "age",
        "-k", "5", "--site-number", "fixed", "--sites", "2", "--range-reach", "0", "--no-pdf", *more,
    ]  # fmt: skip


def test_an_empty_folder(tmp_path):
    assert codes(tmp_path) == ["no-such-file"]


def test_files_of_two_kinds(folder):
    (folder / "b.csv").write_text("place,age,number\nr1,1,1\n", encoding="utf-8")
    assert codes(folder) == ["mixed-files"]


def test_files_with_other_columns(folder):
    pq.write_table(table().rename_columns(["place", "years", "number"]), folder / "b.parquet")
    assert codes(folder) == ["columns-differ"]


def test_a_damaged_file(folder):
    (folder / "b.parquet").write_bytes(b"PAR1 and nothing else")
    assert codes(folder) == ["bad-parquet"]


def test_text_with_a_row_that_is_too_short(tmp_path):
    (tmp_path / "a.csv").write_text("place,age\nr1,1\nr1\n", encoding="utf-8")
    assert codes(tmp_path) == ["bad-row"]


def test_no_records(tmp_path):
    pq.write_table(table(0), tmp_path / "a.parquet")
    assert codes(tmp_path) == ["no-records"]


def test_a_database_without_that_table_lists_those_it_has(tmp_path):
    file = tmp_path / "house.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 1 AS a")
    assert codes(f"{file}#main.visit") == ["no-such-table"]
    assert list_tables(str(file), NO_PROGRESS) == ["main.visits"]


def test_columns_that_name_persons_stop_the_release(folder, tmp_path, capsys):
    assert main(arguments(folder, tmp_path, "--out", str(tmp_path / "out"))) == 1
    assert "column “number”" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_is_repeated_byte_for_byte_also_from_a_copy(folder, tmp_path):
    out, again = tmp_path / "out", tmp_path / "again"
    assert main(arguments(folder, tmp_path, "--identifiers", "number", "--out", str(out))) == 0
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    for number, start in enumerate((0, 250)):
        pq.write_table(table().slice(start, 250 if not start else None), copy / f"{number}.parquet")
    assert main(["export", str(out), "--records", str(copy), "--out", str(again)]) == 0
    one, other = (each / "release" / "anonymized.csv" for each in (out, again))
    assert one.read_bytes() == other.read_bytes()


def test_other_records_are_not_taken_for_those_of_the_run(folder, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(arguments(folder, tmp_path, "--identifiers", "number", "--out", str(out))) == 0
    pq.write_table(table(601), folder / "a.parquet")
    assert main(["export", str(out), "--records", str(folder), "--out", str(tmp_path / "again")]) == 1
    assert "its content differs" in capsys.readouterr().err


def test_a_file_that_changes_before_the_release_stops_it(folder, tmp_path, monkeypatch, capsys):
    from vbas_desktop.app import release

    released = release.release_solution

    def meddled(request, progress):
        os.utime(folder / "a.parquet", ns=(1, 1))
        return released(request, progress)

    monkeypatch.setattr("vbas_desktop.app.release.release_solution", meddled)
    assert (
        main(arguments(folder, tmp_path, "--identifiers", "number", "--out", str(tmp_path / "out"))) == 1
    )
    assert "The records were changed while they were worked on." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_that_changes_while_it_is_released_stops_the_release(
    folder, tmp_path, monkeypatch, capsys
):
    from vbas_desktop.releases.database_records import ReleaseQuery

    uploaded = ReleaseQuery.upload

    def meddled(self, progress):
        os.utime(folder / "a.parquet", ns=(1, 1))
        return uploaded(self, progress)

    monkeypatch.setattr(ReleaseQuery, "upload", meddled)
    assert (
        main(arguments(folder, tmp_path, "--identifiers", "number", "--out", str(tmp_path / "out"))) == 1
    )
    assert "The records were changed while they were worked on." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_types_that_only_duckdb_has(tmp_path):
    file = tmp_path / "house.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE odd AS SELECT 170141183460469231731687303715884105727::HUGEINT AS a, "
            "'6f9619ff-8b86-d011-b42d-00c04fc964ff'::UUID AS b, 'x'::ENUM ('x', 'y') AS c, TIME '10:11:12' AS d, "
            "INTERVAL 3 DAY AS e, [1, 2] AS f, 'a'::BLOB AS g, TIMESTAMPTZ '2020-01-01 00:00:00+00' AS h"
        )
    found = open_database_table(parse_address(f"{file}#main.odd"), RecordReading())
    values = {each.name: each.categories and each.categories.values for each in found.columns}
    found.close()
    assert values["b"] == ("6f9619ff-8b86-d011-b42d-00c04fc964ff",)
    assert values["c"] == ("x",)
    assert values["d"] == ("10:11:12.000000",)
    assert values["a"] == ("170141183460469231731687303715884105727",)
    assert values["e"] is values["f"] is values["g"] is None


def test_dates_outside_the_calendar_are_told(tmp_path):
    file = tmp_path / "house.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE odd AS SELECT 'infinity'::DATE AS day")
    assert codes(f"{file}#main.odd") == ["no-fit"]


def test_compare_and_search_count_at_the_address(folder, tmp_path):
    columns = ["--region-column", "place", "--quasi-identifiers", "age", "-k", "5", "--quiet"]
    regions = str(regions_file(tmp_path))
    compared = ["--site-location", "density,random", "--out", str(tmp_path / "compared")]
    assert main(["compare", str(folder), regions, *columns, *compared]) == 0
    assert main(["search", str(folder), regions, *columns, "--out", str(tmp_path / "found")]) == 0


def test_verify_a_pattern(folder, capsys):
    assert (
        main(
            [
                "verify",
                f"{folder}/*.parquet",
                "--region-column",
                "place",
                "--quasi-identifiers",
                "age",
                "-k",
                "101",
            ]
        )
        == 3
    )
    assert json.loads(capsys.readouterr().out)["anonymity"] == 100


class Soon:
    """Progress that wants to stop at the third look."""

    looks = 0

    def update(self, stage, fraction=None) -> None:
        self.looks += 1
        if self.looks > 2:
            raise Cancelled


def test_a_stop_interrupts_the_query(folder):
    found = open_database_table(parse_address(str(folder)), RecordReading(), columns=("age",))
    long = "SELECT count(*) AS n FROM range(100000000) a, range(100000000) b WHERE hash(a.range, b.range) = 7"
    with pytest.raises(Cancelled):
        found.engine.fetch(long, None, Soon(), "Waiting")
    assert found.engine.fetch("SELECT 1 AS n", None, NO_PROGRESS, "Asking").column(0)[0].as_py() == 1
    found.close()


def test_duckdb_fetches_nothing_and_writes_nothing(folder):
    found = open_database_table(parse_address(str(folder)), RecordReading(), columns=("age",))
    names = (
        "autoinstall_known_extensions",
        "autoload_known_extensions",
        "allow_community_extensions",
        "temp_directory",
    )
    query = f"SELECT name, value FROM duckdb_settings() WHERE name IN {names}"
    kept = dict(
        zip(
            *(column.to_pylist() for column in found.engine.fetch(query, None, NO_PROGRESS, "").columns),
            strict=True,
        )
    )
    assert kept == {**dict.fromkeys(names[:3], "false"), "temp_directory": ""}
    found.close()


def test_too_little_memory_is_told(folder, monkeypatch):
    monkeypatch.setenv("VBAS_DUCKDB_MEMORY", "a lot")
    assert codes(folder) == ["bad-option"]


def run_of_view(tmp_path, view: str, capsys) -> tuple[int, str]:
    """Run on a view of a DuckDB file that was made elsewhere, and return the exit code and what was printed."""
    path = tmp_path / "foreign.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 'r1' AS place, 1 AS age")
        connection.execute(f"CREATE VIEW hostile AS {view}")
    code = main(arguments(f"{path}#main.hostile", tmp_path))
    output = capsys.readouterr()
    return code, output.out + output.err


@pytest.mark.parametrize(
    "function", ["read_text('{}')", "read_csv('{}', header=false)", "read_blob('{}')"]
)
def test_a_view_cannot_read_other_files_of_the_user(tmp_path, capsys, function):
    secret = tmp_path / "diary.csv"
    secret.write_text("very private\n", encoding="utf-8")
    view = f"SELECT 'r1' AS place, 1 AS age, t.* FROM {function.format(secret)} AS t"
    code, output = run_of_view(tmp_path, view, capsys)
    assert code == 1
    assert "reads other files" in output
    assert "very private" not in output


def test_a_view_of_tables_in_the_same_file_is_read(tmp_path, capsys):
    code, output = run_of_view(
        tmp_path, "SELECT 'r1' AS place, i % 2 AS age FROM range(20) AS t(i)", capsys
    )
    assert code == 0, output


@pytest.mark.parametrize("name", ["[_a]*.parquet", "a?.parquet", "**.parquet"])
def test_a_file_name_with_special_characters_is_that_file_and_no_other(tmp_path, capsys, name):
    folder = tmp_path / "visits"
    folder.mkdir()
    pq.write_table(table(60), folder / name)
    pq.write_table(table(600), folder / "ab.parquet")
    pq.write_table(table(600), folder / "_.parquet")
    assert main(arguments(f"duckdb:{folder / name}", tmp_path, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["problem"]["records"] == 60


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path, folder, capsys):
    elsewhere = tmp_path / "elsewhere.parquet"
    pq.write_table(table(), elsewhere)
    (folder / "b.parquet").symlink_to(elsewhere)
    assert codes(folder) == ["link-outside"]
    assert codes(folder / "*.parquet") == ["link-outside"]
    (folder / "b.parquet").unlink()
    (folder / "b.parquet").symlink_to(folder / "a.parquet")
    assert main(arguments(folder, tmp_path, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["problem"]["records"] == 1200

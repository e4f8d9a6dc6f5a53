"""A release put into another place: there when it was read back, and nothing there otherwise."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from making import regions_file, tables
from places import in_folder
from servers import PASSWORD
from test_datasets import table

from vbas_desktop.audit.copies import Original, check_copy
from vbas_desktop.cli.main import main
from vbas_desktop.io.databases.opening import open_engine
from vbas_desktop.io.databases.targets import FOLDER_MARK, MARK, STAGING, parse_target
from vbas_desktop.model.findings import InputError, VerificationFailed
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.reading import RecordReading

RUN = [
    "--region-column", "place", "--quasi-identifiers", "age", "-k", "5", "--identifiers", "number",
    "--site-number", "fixed", "--sites", "2", "--range-reach", "0", "--no-pdf", "--quiet",
]  # fmt: skip


def run(tmp_path, target, *more, format="parquet", out="out") -> int:
    if not (tmp_path / "visits").exists():
        in_folder(table(), tmp_path / "visits")
    files = [str(tmp_path / "visits"), str(regions_file(tmp_path))]
    given = ["--format", format, "--out", str(tmp_path / out), "--target", str(target), *more]
    return main(["run", *files, *RUN, *given])


def rows_at(address) -> list[tuple]:
    """All rows that an engine reads at an address."""
    engine = open_engine(address, RecordReading(category_counts="no"), NO_PROGRESS)
    try:
        found = engine.fetch("SELECT * FROM vbas_records", engine.description.schema, NO_PROGRESS, "")
        return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True), key=repr)
    finally:
        engine.close()


def released(tmp_path, out="out") -> list[tuple]:
    found = pq.read_table(tmp_path / out / "release" / "anonymized.parquet")
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True), key=repr)


def there(text: str):
    from vbas_desktop.io.databases.address import Address, EngineKind, parse_address

    place = parse_address(text)
    return place if isinstance(place, Address) else Address(text, EngineKind.DUCKDB, text)


TARGETS = ["given.parquet", "given", "house.duckdb#main.given", "old.duckdb#main.given"]


@pytest.fixture(params=TARGETS)
def target(request, tmp_path):
    """A target of each kind; one of them in a DuckDB file that holds other tables."""
    with duckdb.connect(str(tmp_path / "old.duckdb")) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 7 AS a")
    yield f"{tmp_path}/{request.param}"
    with duckdb.connect(str(tmp_path / "old.duckdb")) as connection:
        assert connection.execute("FROM mine").fetchall() == [(7,)]
        left = connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE starts_with(table_name, 'vbas_')"
        )
        assert left.fetchone() == (0,)


def test_a_release_is_put_into_the_target_and_replaced_by_the_next(target, tmp_path):
    assert run(tmp_path, target) == 0
    assert rows_at(there(target)) == released(tmp_path)
    records = ["--records", str(tmp_path / "visits")]
    assert (
        main(
            [
                "export",
                str(tmp_path / "out"),
                *records,
                "--out",
                str(tmp_path / "again"),
                "--target",
                target,
            ]
        )
        == 0
    )
    assert rows_at(there(target)) == released(tmp_path, "again")
    hidden = [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert hidden == []


def test_a_csv_file_goes_into_a_folder_as_it_is(tmp_path):
    assert run(tmp_path, tmp_path / "given", format="csv") == 0
    copy = (tmp_path / "given" / "part-00000.csv").read_bytes()
    assert copy == (tmp_path / "out" / "release" / "anonymized.csv").read_bytes()
    assert sorted(path.name for path in (tmp_path / "given").iterdir()) == [
        FOLDER_MARK,
        "part-00000.csv",
    ]


def test_a_large_release_has_several_files(tmp_path, monkeypatch):
    monkeypatch.setattr("vbas_desktop.io.databases.targets._PART_ROWS", 250)
    monkeypatch.setattr("vbas_desktop.io.databases.targets._BATCH_ROWS", 100)
    assert run(tmp_path, tmp_path / "given") == 0
    assert [pq.read_metadata(path).num_rows for path in sorted((tmp_path / "given").glob("part-*"))] == [
        200,
        200,
        200,
    ]
    assert rows_at(there(str(tmp_path / "given"))) == released(tmp_path)


def test_what_is_no_release_is_left_alone(tmp_path, capsys):
    pq.write_table(table(), tmp_path / "mine.parquet")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("mine", encoding="utf-8")
    with duckdb.connect(str(tmp_path / "house.duckdb")) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 7 AS a; CREATE VIEW seen AS SELECT 8 AS a")
    for name in ("mine.parquet", "mine", "house.duckdb#main.mine", "house.duckdb#main.Seen"):
        assert run(tmp_path, tmp_path / name) == 1
        assert "left alone" in capsys.readouterr().err
    assert pq.read_table(tmp_path / "mine.parquet") == table()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "format", "told"),
    [
        ("given.csv", "csv", "This cannot be a target."),
        ("given/*.parquet", "parquet", "This cannot be a target."),
        ("house.duckdb", "parquet", "This cannot be a target."),
        ("house.duckdb#given", "parquet", "names no schema and table"),
        ("house.duckdb#main.given", "csv", "takes no CSV file"),
        ("given.parquet", "csv", "takes no CSV file"),
    ],
)
def test_what_cannot_be_a_target_is_told_before_anything_is_done(name, format, told, tmp_path, capsys):
    assert run(tmp_path, tmp_path / name, format=format) == 1
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_file_that_the_records_are_in_is_no_target(tmp_path, capsys):
    with duckdb.connect(str(tmp_path / "house.duckdb")) as connection:
        connection.register("incoming", table())
        connection.execute("CREATE TABLE visits AS SELECT * FROM incoming")
    files = [f"{tmp_path}/house.duckdb#main.visits", str(regions_file(tmp_path))]
    given = [
        "--format",
        "parquet",
        "--out",
        str(tmp_path / "out"),
        "--target",
        f"{tmp_path}/house.duckdb#main.given",
    ]
    assert main(["run", *files, *RUN, *given]) == 1
    assert "an input" in capsys.readouterr().err


def test_a_schema_that_is_not_there_is_told_and_the_release_is_kept(tmp_path, capsys):
    with duckdb.connect(str(tmp_path / "house.duckdb")) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 7 AS a")
    assert run(tmp_path, tmp_path / "house.duckdb#lake.given") == 1
    assert "no schema “lake”" in capsys.readouterr().err


@pytest.mark.xdist_group("postgresql")
def test_a_schema_that_a_server_lacks_or_forbids_is_told_before_anything_is_computed(
    server, password, tmp_path, capsys
):
    assert run(tmp_path, server.address("nowhere.given")) == 1
    assert (
        "The database has no schema “nowhere”. Make it, or name another one." in capsys.readouterr().err
    )
    server.run("CREATE SCHEMA IF NOT EXISTS closed", "DROP ROLE IF EXISTS guest")
    server.run(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'", "GRANT USAGE ON SCHEMA closed TO guest")
    assert run(tmp_path, server.address("closed.given", user="guest")) == 1
    assert "You may not make tables in the schema “closed”." in capsys.readouterr().err
    server.run("DROP SCHEMA closed", "DROP ROLE guest")
    assert not (tmp_path / "out").exists()


def test_a_target_that_fails_in_the_end_leaves_the_release(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "vbas_desktop.io.databases.targets.FolderTarget.check", lambda self, progress: None
    )
    (tmp_path / "given").write_text("a file", encoding="utf-8")
    assert run(tmp_path, tmp_path / "given") == 1
    assert f"The release itself is complete: {tmp_path / 'out'}." in capsys.readouterr().err
    assert (tmp_path / "out" / "release" / "anonymized.parquet").exists()


@contextmanager
def staged(text: str, file: Path):
    """A file at its staging place, and an engine that reads it."""
    with parse_target(text).stage(file, NO_PROGRESS) as address:
        engine = open_engine(
            address, RecordReading(delimiter=",", encoding="utf-8", category_counts="no"), NO_PROGRESS
        )
        try:
            yield engine
        finally:
            engine.close()


def refused_copies(text: str, tmp_path: Path) -> None:
    """Nothing is put in place that is not what was released, or not anonymous."""
    one, other, names = (tmp_path / f"{name}.parquet" for name in ("one", "other", "names"))
    pq.write_table(pa.table({"r": ["x", "x", "y"], "a": [1, 1, 2]}), one)
    pq.write_table(pa.table({"r": ["x", "x", "y"], "a": [1, 1, 3]}), other)
    pq.write_table(pa.table({"r": ["x", "x", "y"], "b": [1, 1, 2]}), names)
    for original in (
        Original(other, ("r", "a"), 1),
        Original(names, ("r",), 1),
        Original(one, ("r", "a"), 2),
    ):
        with pytest.raises(VerificationFailed), staged(text, one) as engine:
            check_copy(engine, original, NO_PROGRESS)
    with staged(text, one) as engine:
        assert check_copy(engine, Original(one, ("r", "a"), 1), NO_PROGRESS) == 3


def test_what_is_not_what_was_released_is_not_put_in_place(target, tmp_path):
    refused_copies(target, tmp_path)
    assert rows_at(there(target)) == [("x", 1), ("x", 1), ("y", 2)]


@pytest.mark.xdist_group("postgresql")
def test_nor_on_a_server(server, password, tmp_path):
    server.run("DROP TABLE IF EXISTS copied")
    refused_copies(server.address("public.copied"), tmp_path)
    assert sorted(server.rows("SELECT r, a FROM copied")) == [("x", 1), ("x", 1), ("y", 2)]
    assert server.rows(f"SELECT tablename FROM pg_tables WHERE tablename LIKE '{STAGING}%'") == []
    assert server.rows("SELECT obj_description('copied'::regclass)") == [(MARK,)]


def test_names_that_differ_in_case_alone_are_told(tmp_path):
    pq.write_table(pa.table({"Region": ["x"], "region": ["x"]}), tmp_path / "twins.parquet")
    with (
        pytest.raises(InputError, match="differ in case alone"),
        staged(f"{tmp_path}/a.duckdb#main.t", tmp_path / "twins.parquet"),
    ):
        pass
    assert not (tmp_path / "a.duckdb").exists()


def plain(made: pa.Table) -> pa.Table:
    """The same with names that DuckDB can tell apart."""
    return made.rename_columns([*made.column_names[:1], "other", *made.column_names[2:]])


def copied(made: pa.Table, folder: Path, text: str) -> None:
    file = folder / "made.parquet"
    pq.write_table(made, file)
    with staged(text, file) as engine:
        assert check_copy(engine, Original(file, (), 1), NO_PROGRESS) == made.num_rows


EXAMPLES = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@EXAMPLES
@given(made=tables())
def test_rows_of_every_type_arrive(made, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for name in ("given.parquet", "given", "new.duckdb#main.given"):
        copied(plain(made), folder, f"{folder}/{name}")


@pytest.mark.xdist_group("postgresql")
@EXAMPLES
@given(made=tables())
def test_rows_of_every_type_arrive_at_a_server(made, server, password, tmp_path_factory):
    copied(made, tmp_path_factory.mktemp("made"), server.address("public.every_type"))


@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_spark_reads_a_folder_back_and_has_no_tables_that_last(spark, tmp_path, capsys):
    assert run(tmp_path, f"{spark}{tmp_path}/given") == 0
    assert rows_at(there(f"{spark}{tmp_path}/given")) == released(tmp_path)
    refused_copies(f"{spark}{tmp_path}/given", tmp_path)
    assert run(tmp_path, f"{spark}#default.given") == 1
    assert "keeps tables no longer than a session" in capsys.readouterr().err
    assert run(tmp_path, f"{spark}/no/such/place/given", out="none") == 1
    assert "not on this machine" in capsys.readouterr().err


def test_a_csv_release_of_a_utf_16_file_is_copied_to_a_folder(tmp_path):
    rows = [f"r{number % 4},{number % 3},é{number % 5}" for number in range(240)]
    records = tmp_path / "records.csv"
    records.write_text("\n".join(["place,age,note", *rows, ""]), encoding="utf-16")
    regions = tmp_path / "regions.csv"
    regions.write_text("id,x,y\nr0,0,0\nr1,1,0\nr2,0,1\nr3,1,1\n", encoding="utf-8")
    chosen = [
        "--region-column",
        "place",
        "--quasi-identifiers",
        "age",
        "--sites",
        "2",
        "--no-pdf",
        "--quiet",
    ]
    places = ["--out", str(tmp_path / "out"), "--target", str(tmp_path / "given")]
    assert main(["run", str(records), str(regions), *chosen, *places]) == 0
    (copied,) = (tmp_path / "given").glob("*.csv")
    assert copied.read_bytes() == (tmp_path / "out" / "release" / "anonymized.csv").read_bytes()

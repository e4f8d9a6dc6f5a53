"""What used to be called unforeseen, or something else than it is, is told in plain words."""

import encodings.aliases
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io.records.file_format import ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.reading import RecordReading

COUNT = ["--quasi-identifiers", "age", "-k", "1", "--quiet"]


@pytest.fixture
def records(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("region,age\n" + "1,30\n2,31\n" * 20)
    return path


def test_every_encoding_is_taken_or_refused_in_words(records, capsys):
    for name in sorted(
        {
            *encodings.aliases.aliases.values(),
            "undefined",
            "idna",
            "punycode",
            "no-such",
            "",
            "utf-8-sig",
        }
    ):
        for command in (["outliers", *COUNT], ["verify", *COUNT, "--region-column", "region"]):
            code = main([command[0], str(records), *command[1:], "--encoding", name])
            said = capsys.readouterr().err
            assert code in (0, 1), name
            assert "unforeseen" not in said, (name, command)
            assert bool(said) == bool(code), (name, said)


def test_a_long_row_is_called_long(tmp_path):
    limits = ReadLimits(longest_row=1 << 20, block_bytes=1 << 19)
    path = tmp_path / "long.csv"
    path.write_bytes(b"region,age\n1,30\n2," + b"x" * (3 << 20) + b"\n")
    with pytest.raises(InputError, match="row 3: The row is longer than 1 MB"):
        load_records(path, RecordReading(delimiter=","), limits=limits)
    path.write_bytes(b"region,age\n1,30\n2," + b'"' + b"x" * (3 << 20) + b"\n")
    with pytest.raises(
        InputError, match="row 3: A quoted field that begins in this row is never closed"
    ):
        load_records(path, RecordReading(delimiter=","), limits=limits)


def test_a_very_long_name_is_a_name(tmp_path):
    path = tmp_path / "name.csv"
    for name in ("n" * 200_000, '"' + "n," * 100_000 + '"'):
        path.write_text(f"region,{name}\n1,30\n2,31\n")
        assert load_records(path, RecordReading(delimiter=",", category_counts="no")).file_format.header[
            1
        ] == name.strip('"')


RUN = ["--region-column", "region", "--quasi-identifiers", "age", "-k", "1"]


@pytest.fixture
def regions(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text("id,x,y\n1,0,0\n2,1,1\n")
    return path


def refused(capsys, *command):
    """Run a command that must be refused before it computes anything, and give what it says."""
    assert main([str(word) for word in command]) in (1, 2)
    told = capsys.readouterr().err.splitlines()
    assert [
        line
        for line in told
        if not line.startswith(("error:", "Looking", "Reading", "Ordering", "Starting"))
    ] == []
    return told[-1]


def test_a_line_end_of_three_characters_is_named(records, capsys):
    records.write_bytes(records.read_bytes().replace(b"\n", b"\r\r\n"))
    said = refused(capsys, "outliers", records, *COUNT)
    assert said.endswith(
        "row 1: Lines end with CR CR LF. Save the file with ordinary line ends (LF or CRLF)."
    )


@pytest.mark.parametrize("name", ["", "  "])
def test_a_column_of_class_sizes_needs_a_name(records, regions, tmp_path, capsys, name):
    said = refused(
        capsys, "run", records, regions, *RUN, "--out", tmp_path / "out", "--class-size", name
    )
    assert "has no name. Write a name behind --class-size, or nothing." in said


def test_the_form_of_benign_values_is_told(records, regions, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", str(records), str(regions), *RUN, "--sensitive", "age", "--benign", "none"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "--benign: “none” is not understood; write it as COLUMN=VALUE" in said


def test_a_database_in_use_is_told_from_a_damaged_one(records, regions, tmp_path, capsys):
    duckdb = pytest.importorskip("duckdb")
    database = tmp_path / "records.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"CREATE TABLE visits AS SELECT * FROM read_csv('{records}', all_varchar = true)"
        )
    sound = database.read_bytes()
    using = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", using, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        told = refused(capsys, "run", f"{database}#visits", regions, *RUN)
        other.stdin.close()
    assert told.endswith("Another program uses this database. Close that program, and try again.")
    database.write_bytes(sound[:4200] + bytes(7000) + sound[11200:])
    told = refused(capsys, "run", f"{database}#visits", regions, *RUN)
    assert told.endswith("The database is damaged. Get a fresh copy of the file.")
    database.write_text("name,age\n" * 2000)
    told = refused(capsys, "run", f"{database}#visits", regions, *RUN)
    assert told.endswith("This is not a DuckDB file. Choose another file.")


TARGETS = ["out.parquet", "folder", "file.duckdb#main.release"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_that_is_read_only_is_refused_before_anything_is_computed(
    records, regions, tmp_path, capsys, monkeypatch, target
):
    locked = tmp_path / "locked"
    locked.mkdir()
    allowed = os.access
    # Whoever runs the tests may be allowed everything, so the system's answer is made up.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != locked and allowed(path, mode))
    more = ["--format", "parquet", "--out", tmp_path / "out", "--target", locked / target]
    said = refused(capsys, "run", records, regions, *RUN, *more)
    assert "Writing is not allowed in the folder “locked”" in said
    said = refused(capsys, "run", records, regions, *RUN, "--out", locked / "deep" / "out")
    assert "Writing is not allowed in the folder “locked”" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_whose_package_is_missing_is_refused_before_anything_is_computed(
    records, regions, tmp_path, capsys, monkeypatch, target
):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    more = ["--format", "parquet", "--out", tmp_path / "out", "--target", tmp_path / target]
    said = refused(capsys, "run", records, regions, *RUN, *more)
    assert "need the package duckdb, which is not installed." in said
    assert not (tmp_path / "out").exists()


def test_a_schema_that_is_missing_is_refused_before_anything_is_computed(
    records, regions, tmp_path, capsys
):
    duckdb = pytest.importorskip("duckdb")
    database = tmp_path / "other.duckdb"
    duckdb.connect(str(database)).close()
    more = ["--format", "parquet", "--out", tmp_path / "out", "--target", f"{database}#nowhere.release"]
    said = refused(capsys, "run", records, regions, *RUN, *more)
    assert said.endswith("The file has no schema “nowhere”. Make it, or use main.")


def test_an_unknown_time_zone_is_told_with_its_column(regions, tmp_path, capsys):
    pytest.importorskip("duckdb")
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "times.parquet"
    times = pa.array(range(40), pa.timestamp("s", "Mars/Phobos"))
    pq.write_table(pa.table({"region": ["1", "2"] * 20, "age": ["30", "31"] * 20, "seen": times}), path)
    for place in (path, f"duckdb:{path}"):
        said = refused(capsys, "run", place, regions, *RUN, "--out", tmp_path / "out")
        assert (
            "column “seen”: A column of times has a time zone that is not known here. Write the times in UTC"
            in said
        )
    assert main(["verify", str(path), *RUN, "--quiet"]) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("command", ["outliers", "verify", "regions", "risky", "slots", "run.json"])
def test_a_pipe_is_refused_at_once(records, tmp_path, capsys, command):
    pipe = tmp_path / ("run.json" if command == "run.json" else "pipe")
    os.mkfifo(pipe)
    commands = {
        "outliers": ["outliers", str(pipe), *COUNT],
        "verify": ["verify", str(pipe), *COUNT, "--region-column", "region"],
        "regions": ["run", str(records), str(pipe), "--region-column", "region", *COUNT],
        "risky": ["risky", str(pipe)],
        "slots": ["appointments", str(records), str(pipe), "--quasi-identifiers", "age"],
        "run.json": ["export", str(tmp_path), "--solution", "1", "--out", str(tmp_path / "out")],
    }
    assert main(commands[command]) == 1
    assert "This is a pipe or a device, not a file." in capsys.readouterr().err


def test_standard_input_is_refused_unless_it_is_a_file(records):
    command = [sys.executable, "-m", "vbas_desktop.cli", "outliers", "/dev/stdin", *COUNT]
    piped = subprocess.run(
        command, input=records.read_text(), capture_output=True, text=True, timeout=240
    )
    assert (piped.returncode, "pipe or a device" in piped.stderr) == (1, True)


@pytest.mark.parametrize("form", [["--out", ""], ["--out="]])
@pytest.mark.parametrize("command", ["outliers", "risky", "run"])
def test_an_empty_target_is_wrong_usage(records, capsys, command, form):
    more = {
        "outliers": COUNT,
        "risky": ["--apply"],
        "run": [str(records), "--region-column", "region", *COUNT],
    }
    assert main([command, str(records), *more[command], *form]) == 2
    assert "--out is empty" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_standard_output_is_blamed_itself(records, tmp_path):
    target = tmp_path / "out.csv"
    command = [sys.executable, "-m", "vbas_desktop.cli", "outliers", str(records), *COUNT]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output: No space left on device.")
    assert "Exception ignored" not in done.stderr
    assert not target.exists()


def test_too_little_memory_is_called_so(records, capsys, monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr("vbas_desktop.app.outliers.load_records", fails)
    assert main(["outliers", str(records), *COUNT]) == 1
    assert "There is not enough memory for this." in capsys.readouterr().err


@pytest.mark.parametrize("size", ["1e-300", "1e-120"])
def test_places_that_cannot_be_told_apart_are_refused(records, tmp_path, capsys, size):
    regions = tmp_path / "regions.csv"
    regions.write_text(f"id,x,y\n1,{size},{size}\n2,2{size[1:]},3{size[1:]}\n")
    more = ["--region-column", "region", *COUNT, "--coordinates", "planar", "--sites", "1"]
    assert main(["run", str(records), str(regions), *more]) == 1
    assert "no distance can be computed" in capsys.readouterr().err

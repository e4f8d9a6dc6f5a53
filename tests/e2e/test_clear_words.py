"""What used to be called unforeseen, or something else than it is, is told in plain words."""

import encodings.aliases
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.domain.errors import InputError
from vbas_desktop.files.records import delimited
from vbas_desktop.files.records.table import RecordOptions, load_records

COUNT = ["--quasi-identifiers", "age", "-k", "1", "--quiet"]


@pytest.fixture
def records(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("region,age\n" + "1,30\n2,31\n" * 20)
    return path


def test_every_encoding_is_taken_or_refused_in_words(records, capsys):
    for name in sorted(
        {*encodings.aliases.aliases.values(), "undefined", "idna", "punycode", "no-such", "", "utf-8-sig"}
    ):
        for command in (["outliers", *COUNT], ["verify", *COUNT, "--region-column", "region"]):
            code = main([command[0], str(records), *command[1:], "--encoding", name])
            said = capsys.readouterr().err
            assert code in (0, 1), name
            assert "unforeseen" not in said, (name, command)
            assert bool(said) == bool(code), (name, said)


def test_a_long_row_is_called_long(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "LONGEST_ROW_BYTES", 1 << 20)
    path = tmp_path / "long.csv"
    path.write_bytes(b"region,age\n1,30\n2," + b"x" * (3 << 20) + b"\n")
    with pytest.raises(InputError, match="row 3: The row is longer than 1 MB"):
        load_records(path, RecordOptions(","))
    path.write_bytes(b"region,age\n1,30\n2," + b'"' + b"x" * (3 << 20) + b"\n")
    with pytest.raises(InputError, match="row 3: A quoted field that begins in this row is never closed"):
        load_records(path, RecordOptions(","))


def test_a_very_long_name_is_a_name(tmp_path):
    path = tmp_path / "name.csv"
    for name in ("n" * 200_000, '"' + "n," * 100_000 + '"'):
        path.write_text(f"region,{name}\n1,30\n2,31\n")
        assert load_records(path, RecordOptions(",", category_counts="no")).dialect.header[1] == name.strip('"')


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
    piped = subprocess.run(command, input=records.read_text(), capture_output=True, text=True, timeout=60)
    assert (piped.returncode, "pipe or a device" in piped.stderr) == (1, True)


@pytest.mark.parametrize("form", [["--out", ""], ["--out="]])
@pytest.mark.parametrize("command", ["outliers", "risky", "run"])
def test_an_empty_target_is_wrong_usage(records, capsys, command, form):
    more = {"outliers": COUNT, "risky": ["--apply"], "run": [str(records), "--region-column", "region", *COUNT]}
    assert main([command, str(records), *more[command], *form]) == 2
    assert "--out names no place" in capsys.readouterr().err


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

    monkeypatch.setattr("vbas_desktop.jobs.any_file.load_records", fails)
    assert main(["outliers", str(records), *COUNT]) == 1
    assert "There is not enough memory for this." in capsys.readouterr().err


@pytest.mark.parametrize("size", ["1e-300", "1e-120"])
def test_places_that_cannot_be_told_apart_are_refused(records, tmp_path, capsys, size):
    regions = tmp_path / "regions.csv"
    regions.write_text(f"id,x,y\n1,{size},{size}\n2,2{size[1:]},3{size[1:]}\n")
    more = ["--region-column", "region", *COUNT, "--coordinates", "planar", "--sites", "1"]
    assert main(["run", str(records), str(regions), *more]) == 1
    assert "no distance can be computed" in capsys.readouterr().err

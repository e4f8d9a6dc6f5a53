"""No command gives a verdict on records that were rewritten while they were read."""

import os

import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io import hashing
from vbas_desktop.io.records.file_format import TextStream
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError

COMMANDS = {
    "outliers": ["outliers", "RECORDS", "--quasi-identifiers", "age", "-k", "2"],
    "risky": ["risky", "RECORDS", "--columns", "age,gender", "-k", "2"],
    "risky --apply": ["risky", "RECORDS", "--columns", "age,gender", "-k", "2", "--apply"],
    "representability": [
        "representability",
        "RECORDS",
        "RECORDS",
        "--key",
        "key",
        "--quasi-identifiers",
        "age",
    ],
    "appointments": ["appointments", "RECORDS", "SLOTS", "--quasi-identifiers", "age"],
    "reproduce-thesis": [
        "reproduce-thesis",
        "--like",
        "eastern",
        "--records",
        "RECORDS",
        "--regions",
        "REGIONS",
    ],
}


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    sizes = ["--records", "300", "--regions", "12"]
    assert main(["generate", "--like", "eastern", *sizes, "--out", str(folder), "--quiet"]) == 0
    first, *rows = (folder / "records.csv").read_text().splitlines()
    keyed = [f"{number},{row}" for number, row in enumerate(rows, 300)]
    (folder / "records.csv").write_text("\n".join([f"key,{first}", *keyed, ""]))
    (folder / "slots.csv").write_text("centre,time,capacity\nA,8,999\n")
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_records_that_change_while_they_are_read_give_no_result(data, capsys, monkeypatch, name):
    told_source = hashing.HashingReader.source

    def changed_after(self):
        source = told_source(self)
        with (data / "records.csv").open("r+b") as file:
            file.seek(-8, os.SEEK_END)
            file.write(b"~")
        os.utime(data / "records.csv", ns=(1, 1))
        return source

    monkeypatch.setattr(hashing.HashingReader, "source", changed_after)
    places = {word: str(data / f"{word.lower()}.csv") for word in ("RECORDS", "REGIONS", "SLOTS")}
    command = [places.get(word, word) for word in COMMANDS[name]]
    target = data / "out"
    command += ["--out", str(target)] if name == "reproduce-thesis" else []
    capsys.readouterr()
    assert main([*command, "--quiet"]) == 1
    told = capsys.readouterr()
    assert "changed while it was read" in told.err
    assert told.out == ""
    assert not target.exists()


def test_a_small_file_that_is_rewritten_between_two_blocks_is_refused(data, monkeypatch):
    path, read = data / "records.csv", TextStream.read
    content = path.read_bytes()

    def rewriting(self, size):
        block = read(self, size)
        if path.read_bytes() == content:
            path.write_bytes(content.replace(b"1", b"2"))
            os.utime(path, ns=(1, 1))
        return block

    monkeypatch.setattr(TextStream, "read", rewriting)
    with pytest.raises(InputError, match="changed while it was read"):
        load_records(path)

"""A release is on the disk before it replaces an earlier one, and its name before the earlier one is removed."""

import os
import shutil
import sys

import pytest

from vbas_desktop.cli.main import main
from vbas_desktop.io import output


@pytest.mark.skipif(sys.platform == "win32", reason="folders are synchronised on Unix")
def test_every_file_and_folder_of_a_release_is_synchronised_before_the_exchange(tmp_path, monkeypatch):
    rows = "".join(f"{number % 3},r{number % 4}\n" for number in range(400))
    (tmp_path / "records.csv").write_text(f"age,region\n{rows}")
    (tmp_path / "regions.csv").write_text("id,x,y\nr0,0,0\nr1,1,0\nr2,0,1\nr3,1,1\n")
    command = [
        "run",
        str(tmp_path / "records.csv"),
        str(tmp_path / "regions.csv"),
        "--region-column",
        "region",
    ]
    command += ["--quasi-identifiers", "age", "-k", "3", "--quiet", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    old = (tmp_path / "out").stat().st_ino
    events = []
    sync, exchange, remove = os.fsync, output.replace_target, shutil.rmtree

    def synchronise(handle):
        events.append(os.fstat(handle).st_ino)
        sync(handle)

    def replace_target(*arguments):
        replaced = exchange(*arguments)
        events.append("exchange")
        return replaced

    def remove_tree(path, *arguments, **more):
        if os.path.exists(path) and os.stat(path).st_ino == old:
            events.append("remove")
        remove(path, *arguments, **more)

    monkeypatch.setattr(os, "fsync", synchronise)
    monkeypatch.setattr(output, "replace_target", replace_target)
    monkeypatch.setattr(shutil, "rmtree", remove_tree)
    assert main(command) == 0
    released = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert len(released) > 10
    exchanged = events.index("exchange")
    missing = [path.name for path in released if path.stat().st_ino not in events[:exchanged]]
    assert missing == []
    assert events[exchanged:] == ["exchange", tmp_path.stat().st_ino, "remove"]

"""Spark's folder on this machine has a name that nobody can make first, and goes with the process."""

import os
import stat
import tempfile

import pytest

from vbas_desktop.io.databases.spark_engine import _make_scratch_folder

DEAD = 4_194_304
"""A number that no process has: the largest of Linux is one less."""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_folder_that_somebody_made_first_is_not_used(temporary):
    guessed = temporary / f"vbas-spark-{os.getpid()}"
    guessed.mkdir(0o777)
    made = [_make_scratch_folder(), _make_scratch_folder()]
    assert len({guessed, *made}) == 3
    assert {folder.parent for folder in made} == {temporary}
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in made} == {0o700}


def test_only_own_folders_of_killed_processes_are_removed(temporary, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    (target / "kept.txt").write_text("kept")
    left = temporary / f"vbas-spark-{DEAD}-abc"
    left.mkdir()
    link = temporary / f"vbas-spark-{DEAD}-link"
    link.symlink_to(target)
    made = _make_scratch_folder()
    assert {path.name for path in temporary.iterdir()} == {link.name, made.name}
    assert (target / "kept.txt").read_text() == "kept"

"""Spark's folder on this machine has a name that nobody can make first, and goes with the process."""

import stat
import tempfile

import pytest

from vbas_desktop.io.databases.spark_engine import ScratchFolder


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_folder_that_somebody_made_first_is_not_used(temporary):
    guessed = temporary / "vbas-spark-guessed"
    guessed.mkdir(0o777)
    folders = [ScratchFolder(), ScratchFolder()]
    made = [folder.path for folder in folders]
    assert guessed not in made
    assert len(set(made)) == 2
    assert {folder.parent for folder in made} == {temporary}
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in made} == {0o700}


def test_only_own_folders_of_killed_processes_are_removed(temporary, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    (target / "kept.txt").write_text("kept")
    left = temporary / f"vbas-spark-{8 * 'a0'}"
    left.mkdir()
    link = temporary / f"vbas-spark-{8 * 'b1'}"
    link.symlink_to(target)
    other = temporary / "vbas-spark-settings"
    other.mkdir()
    first = ScratchFolder()
    second = ScratchFolder()
    kept = {link, other, first.path, second.path}
    assert set(temporary.iterdir()) == kept
    first.remove()
    assert not first.path.exists()
    assert (target / "kept.txt").read_text() == "kept"

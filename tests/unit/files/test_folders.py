"""Folders appear whole or not at all, and never in the place of what is not ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vbas_desktop.domain.errors import InputError
from vbas_desktop.files import folders
from vbas_desktop.files.folders import MARK, filled_folder, new_file, new_folder, remove_leftovers

NAMES = ("one", "two")


def write(target, text, name="one"):
    with new_folder(target, NAMES) as folder:
        (folder / name).write_text(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_takes_its_place_only_when_complete(tmp_path):
    target = tmp_path / "out"
    with new_folder(target, NAMES) as folder:
        (folder / "one").write_text("1")
        assert not target.exists()
    with pytest.raises(ZeroDivisionError), new_folder(target, NAMES) as folder:
        (folder / "two").write_text(str(1 // 0))
    assert (target / "one").read_text() == "1"
    write(target, "2", "two")
    assert names(target) == ["two"]
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize(
    "found", [("precious",), ("one", "precious"), ("two",)], ids=["foreign", "foreign beside ours", "not known by run"]
)
def test_a_folder_that_holds_something_else_is_not_replaced(tmp_path, found):
    for name in found:
        (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="not an earlier result"), new_folder(tmp_path, NAMES):
        raise AssertionError("nothing may be written")
    assert names(tmp_path) == sorted(found)


def test_an_empty_folder_is_taken_and_a_file_is_not(tmp_path):
    (tmp_path / "out").mkdir()
    write(tmp_path / "out", "1")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        write(tmp_path / "file", "1")
    with pytest.raises(InputError, match="below a file"):
        write(tmp_path / "file" / "out", "1")
    assert names(tmp_path) == ["file", "out"]


def test_behind_a_link_the_folder_that_it_names_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "far").mkdir()
    write(tmp_path / "far" / "real", "old")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "real")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "real" / "one").read_text() == "new"
    assert names(tmp_path) == ["far", "link"]
    assert names(tmp_path / "far") == ["real"]


def test_files_are_put_into_a_folder_that_is_there_one_by_one(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("mine")
    (tmp_path / "out" / "one").write_text("old")
    with filled_folder(tmp_path / "out") as folder:
        (folder / "one").write_text("new")
        assert (tmp_path / "out" / "one").read_text() == "old"
    assert (tmp_path / "out" / "one").read_text() == "new"
    assert names(tmp_path / "out") == ["one", "precious"]
    assert names(tmp_path) == ["out"]


def test_a_folder_another_process_is_writing_is_left_alone(tmp_path):
    with new_folder(tmp_path / "out", NAMES) as first:
        (first / "one").write_text("first")
        write(tmp_path / "out", "second")
        write(tmp_path / "other", "beside")
        assert first.exists()
        assert (tmp_path / "out" / "one").read_text() == "second"
    assert (tmp_path / "out" / "one").read_text() == "first"
    assert names(tmp_path) == ["other", "out"]


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be made to vanish")
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_beside_it(tmp_path):
    script = f"""
import os
from pathlib import Path
from vbas_desktop.files.folders import new_folder
with new_folder(Path({str(tmp_path / "out")!r}), ("one",)) as folder:
    (folder / "one").write_text("half")
    os._exit(9)
"""
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3], check=False)
    (left,) = tmp_path.iterdir()
    assert MARK in left.name
    write(tmp_path / "elsewhere", "1")
    assert names(tmp_path) == ["elsewhere"]


def test_where_folders_cannot_be_swapped_in_one_step_the_result_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_exchange", lambda one, other: False)
    for text in ("old", "new"):
        write(tmp_path / "out", text)
    assert (tmp_path / "out" / "one").read_text() == "new"
    assert names(tmp_path) == ["out"]


def test_a_swap_in_two_steps_that_fails_at_the_second_brings_the_old_one_back(tmp_path, monkeypatch):
    write(tmp_path / "out", "old")
    monkeypatch.setattr(folders, "_exchange", lambda one, other: False)
    rename, calls = os.rename, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == 3:  # the hidden folder gets its name, the old one goes aside, the new one …
            raise OSError("no")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(OSError, match="no"):
        write(tmp_path / "out", "new")
    assert (tmp_path / "out" / "one").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_what_was_set_aside_by_a_killed_process_comes_back(tmp_path):
    aside = tmp_path / f".out{MARK}77-00ff-old"
    aside.mkdir()
    (aside / "one").write_text("old")
    remove_leftovers(tmp_path)
    assert (tmp_path / "out" / "one").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_file_takes_its_place_only_when_complete(tmp_path):
    target = tmp_path / "out.csv"
    for text in ("old", "new"):
        with new_file(target) as path:
            path.write_text(text)
    with pytest.raises(ZeroDivisionError), new_file(target) as path:
        path.write_text(str(1 // 0))
    assert target.read_text() == "new"
    with pytest.raises(InputError, match="is a folder"), new_file(tmp_path):
        raise AssertionError("nothing may be written")
    assert names(tmp_path) == ["out.csv"]

"""Folders appear whole or not at all, and never in the place of what is not ours."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from vbas_desktop.io import exchange, output
from vbas_desktop.io.output import (
    check_target,
    check_writable,
    remove_leftovers,
    staged_file,
    staged_folder,
)
from vbas_desktop.model.findings import InputError

NAMES = ("one", "two")


def write(target, text, name="one", meanwhile=lambda: None):
    with staged_folder(target, NAMES) as folder:
        (folder / name).write_text(text)
        meanwhile()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no mode bits there")
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o002])
@pytest.mark.parametrize("shared", [0o2000, 0o0000])
def test_a_result_has_the_mode_bits_of_a_new_folder(tmp_path, mask, shared):
    parent = tmp_path / "shared"
    parent.mkdir()
    parent.chmod(0o700 | shared)
    before = os.umask(mask)
    try:
        write(parent / "out", "1")
        (parent / "other").mkdir()
    finally:
        os.umask(before)
    modes = {stat.S_IMODE((parent / name).stat().st_mode) for name in ("out", "other")}
    # On Linux a new folder inherits the bit that gives its files to the group of the folder around it.
    assert modes == {0o777 & ~mask | (shared if sys.platform == "linux" else 0)}


def test_a_folder_takes_its_place_only_when_complete(tmp_path):
    target = tmp_path / "out"
    with staged_folder(target, NAMES) as folder:
        (folder / "one").write_text("1")
        assert not target.exists()
    with pytest.raises(ZeroDivisionError), staged_folder(target, NAMES) as folder:
        (folder / "two").write_text(str(1 // 0))
    assert (target / "one").read_text() == "1"
    write(target, "2", "two")
    assert names(target) == ["two"]
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize(
    "found",
    [("precious",), ("one", "precious"), ("two",)],
    ids=["foreign", "foreign beside ours", "not known by run"],
)
def test_a_folder_that_holds_something_else_is_not_replaced(tmp_path, found):
    for name in found:
        (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="not an earlier result"), staged_folder(tmp_path, NAMES):
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


def test_a_folder_another_process_is_writing_is_left_alone(tmp_path):
    with staged_folder(tmp_path / "out", NAMES) as first:
        (first / "one").write_text("first")
        write(tmp_path / "other", "beside")
        assert first.exists()
    assert (tmp_path / "out" / "one").read_text() == "first"
    assert names(tmp_path) == ["other", "out"]


@pytest.mark.parametrize("in_one_step", [True, False])
@pytest.mark.parametrize("old", [True, False])
def test_of_two_that_write_to_one_target_the_first_to_end_stays(tmp_path, monkeypatch, in_one_step, old):
    if old:
        write(tmp_path / "out", "old")
    if not in_one_step:
        monkeypatch.setattr(exchange, "exchange", lambda one, other: False)
    with pytest.raises(InputError, match="appeared at the target while"):
        write(tmp_path / "out", "first", meanwhile=lambda: write(tmp_path / "out", "second"))
    assert (tmp_path / "out" / "one").read_text() == "second"
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("in_one_step", [True, False])
@pytest.mark.parametrize("late", ["precious", "two", "deep/precious"])
@pytest.mark.parametrize("old", [True, False])
def test_what_somebody_puts_into_the_target_meanwhile_is_not_lost(
    tmp_path, monkeypatch, in_one_step, late, old
):
    if not in_one_step:
        monkeypatch.setattr(exchange, "exchange", lambda one, other: False)
    target = tmp_path / "out"
    if old:
        write(target, "old")

    def put():
        (target / late).parent.mkdir(parents=True, exist_ok=True)
        (target / late).write_text("mine")

    with pytest.raises(InputError, match="appeared at the target while"):
        write(target, "new", meanwhile=put)
    assert (target / late).read_text() == "mine"
    assert not old or (target / "one").read_text() == "old"
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("in_one_step", [True, False])
def test_what_is_put_there_at_the_very_moment_of_the_swap_is_not_lost(
    tmp_path, monkeypatch, in_one_step
):
    target, looks = tmp_path / "out", []
    write(target, "old")
    if not in_one_step:
        monkeypatch.setattr(exchange, "exchange", lambda one, other: False)
    look = exchange.take_snapshot

    def slipping_in(path):
        found = look(path)
        looks.append(path)
        if len(looks) == 1:  # just after the last look at what has the target's name
            (target / "precious").write_text("mine")
        return found

    monkeypatch.setattr(exchange, "take_snapshot", slipping_in)
    with pytest.raises(InputError, match="appeared at the target while"):
        write(target, "new")
    assert len(looks) == 2
    assert (target / "precious").read_text() == "mine"
    assert (target / "one").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_file_of_the_old_result_that_was_changed_meanwhile_is_not_lost(tmp_path):
    target = tmp_path / "out"
    write(target, "old")
    with pytest.raises(InputError, match="appeared at the target while"):
        write(target, "new", meanwhile=lambda: (target / "one").write_text("corrected by hand"))
    assert (target / "one").read_text() == "corrected by hand"


def test_names_may_be_paths_so_that_what_lies_deeper_is_known_too(tmp_path):
    known = ("one", "in/two")
    for text in ("old", "new"):
        with staged_folder(tmp_path / "out", known) as folder:
            (folder / "one").write_text(text)
            (folder / "in").mkdir()
            (folder / "in" / "two").write_text(text)
    (tmp_path / "out" / "in" / "precious").write_text("mine")
    with (
        pytest.raises(InputError, match="not an earlier result"),
        staged_folder(tmp_path / "out", known),
    ):
        raise AssertionError("nothing may be written")
    assert (tmp_path / "out" / "in" / "precious").read_text() == "mine"


@pytest.fixture
def open_folder():
    """A folder that every user may write to."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="users and rights of Unix")
@pytest.mark.parametrize("protected", ["out", "out/in"])
def test_a_write_protected_result_is_refused_before_anything_is_written(open_folder, protected):
    def attempt():
        with staged_folder(open_folder / "out", ("one", "in/two")) as folder:
            (folder / "one").write_text("1")
            (folder / "in").mkdir()
            (folder / "in" / "two").write_text("2")

    assert as_nobody(attempt) == "done"
    os.chmod(open_folder / protected, 0o555)
    said = as_nobody(attempt)
    assert "write-protected" in said
    assert f"“{Path(protected).name}”" in said
    assert names(open_folder) == ["out"]
    assert (open_folder / "out" / "in" / "two").read_text() == "2"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="users and rights of Unix")
def test_a_result_protected_while_it_is_replaced_is_removed_or_told_of(open_folder):
    def attempt():
        with staged_folder(open_folder / "out", ("one", "in/two")) as folder:
            (folder / "one").write_text("1")
            (folder / "in").mkdir()
            (folder / "in" / "two").write_text("2")
            if (open_folder / "out").exists():
                os.chmod(open_folder / "out" / "in", 0o555)

    assert [as_nobody(attempt) for _ in range(2)] == ["done", "done"]
    assert names(open_folder) == ["out"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="users and rights of Unix")
def test_an_old_result_that_cannot_be_removed_is_told_of(open_folder):
    """Its files belong to somebody else, in a folder where only owners may remove."""
    write(open_folder / "out", "old")
    os.chmod(open_folder / "out", 0o1777)
    said = as_nobody(lambda: write(open_folder / "out", "new"))
    if os.geteuid() == 0:
        (hidden,) = (name for name in names(open_folder) if name != "out")
        assert "could not be removed" in said
        assert hidden in said
        assert (open_folder / hidden / "new" / "one").read_text() == "old"
        shutil.rmtree(open_folder / hidden)
    assert (open_folder / "out" / "one").read_text() == "new"
    assert names(open_folder) == ["out"]


def as_nobody(attempt):
    """What comes of an attempt by a user without special rights (ourselves, unless we are root)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            attempt()
            text = "done"
        except BaseException as error:  # noqa: BLE001 (the parent judges)
            text = str(error)
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as stream:
        return stream.read()


def test_a_name_too_long_for_a_hidden_one_beside_it_is_refused_and_leaves_nothing(tmp_path):
    for length in (211, 230, 255, 300):
        with pytest.raises(InputError, match=f"too long: {length} bytes"):
            write(tmp_path / ("n" * length), "1")
    assert names(tmp_path) == []
    write(tmp_path / ("n" * 210), "1")
    write(tmp_path / ("n" * 210), "2")
    assert names(tmp_path) == ["n" * 210]


def test_a_staging_folder_is_removed_unless_it_is_locked_or_has_another_name(tmp_path):
    with staged_folder(tmp_path / "other", NAMES) as locked:
        (locked / "one").write_text("1")
        (tmp_path / ".out.vbas-0123456789abcdef").mkdir()
        (tmp_path / ".out.vbas-notes").mkdir()
        write(tmp_path / "out", "1")
        assert names(tmp_path) == [".other.vbas-" + locked.parent.name[-16:], ".out.vbas-notes", "out"]


def test_a_staging_folder_that_was_removed_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    mkdir = Path.mkdir
    made = []

    def vanishing(path, *arguments, **options):
        mkdir(path, *arguments, **options)
        if ".vbas-" in path.name:
            made.append(path)
            if len(made) == 1:
                path.rmdir()

    monkeypatch.setattr(Path, "mkdir", vanishing)
    write(tmp_path / "out", "1")
    assert len(made) == 2
    assert (tmp_path / "out" / "one").read_text() == "1"
    assert names(tmp_path) == ["out"]


def test_where_the_disk_has_no_locks_results_are_written_and_no_leftover_is_touched(
    tmp_path, monkeypatch
):
    def refuse(lock, **options):
        raise OSError(errno.ENOLCK, "No locks available")

    left = tmp_path / ".out.vbas-0123456789abcdef"
    left.mkdir()
    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    write(tmp_path / "out", "1")
    assert names(tmp_path) == [left.name, "out"]


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be made to vanish")
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_beside_it(tmp_path):
    script = f"""
import os
from pathlib import Path
from vbas_desktop.io.output import staged_folder
with staged_folder(Path({str(tmp_path / "out")!r}), ("one",)) as folder:
    (folder / "one").write_text("half")
    os._exit(9)
"""
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.vbas-")
    write(tmp_path / "elsewhere", "1")
    assert names(tmp_path) == ["elsewhere"]


def test_where_folders_cannot_be_swapped_in_one_step_the_result_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(exchange, "exchange", lambda one, other: False)
    for text in ("old", "new"):
        write(tmp_path / "out", text)
    assert (tmp_path / "out" / "one").read_text() == "new"
    assert names(tmp_path) == ["out"]


def test_a_swap_in_two_steps_that_fails_at_the_second_brings_the_old_one_back(tmp_path, monkeypatch):
    write(tmp_path / "out", "old")
    monkeypatch.setattr(exchange, "exchange", lambda one, other: False)
    rename, calls = os.rename, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == 2:  # the old one goes aside, the new one …
            raise OSError("no")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(OSError, match="no"):
        write(tmp_path / "out", "new")
    assert (tmp_path / "out" / "one").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_what_was_set_aside_by_a_killed_process_comes_back(tmp_path):
    aside = tmp_path / ".out.vbas-0123456789abcdef" / "old"
    aside.mkdir(parents=True)
    (aside / "one").write_text("old")
    remove_leftovers(tmp_path)
    assert (tmp_path / "out" / "one").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_file_takes_its_place_only_when_complete(tmp_path):
    target = tmp_path / "out.csv"
    for text in ("old", "new"):
        with staged_file(target) as path:
            path.write_text(text)
    with pytest.raises(ZeroDivisionError), staged_file(target) as path:
        path.write_text(str(1 // 0))
    assert target.read_text() == "new"
    with pytest.raises(InputError, match="is a folder"), staged_file(tmp_path):
        raise AssertionError("nothing may be written")
    assert names(tmp_path) == ["out.csv"]


def test_a_name_may_stand_for_several_files_and_everything_else_is_foreign(tmp_path):
    owned = ("one", "in/[0-9]*.csv")
    (tmp_path / "out" / "in").mkdir(parents=True)
    (tmp_path / "out" / "one").touch()
    for name in ("1.csv", "22.csv"):
        (tmp_path / "out" / "in" / name).touch()
    check_target(tmp_path / "out", owned)
    (tmp_path / "out" / "in" / "mine.csv").touch()
    with pytest.raises(InputError, match=r"not an earlier result of this kind \(“in/mine.csv”\)"):
        check_target(tmp_path / "out", owned)


def test_a_foreign_folder_is_known_by_its_first_entry(tmp_path, monkeypatch):
    """The root of a disk has millions of entries; one is enough to tell that it is no result."""
    for number in range(50):
        (tmp_path / f"folder-{number}").mkdir()
    visited = []
    walk = os.walk

    def counting(top, *arguments, **more):
        for place, folders, files in walk(top, *arguments, **more):
            visited.append(place)
            yield place, folders, files

    monkeypatch.setattr(os, "walk", counting)
    with pytest.raises(InputError, match="not an earlier result"):
        check_target(tmp_path, NAMES)
    assert visited == [str(tmp_path)]


def test_what_a_killed_process_left_of_a_text_file_is_no_foreign_file(tmp_path):
    (tmp_path / ".0123456789abcdef.part").touch()
    check_target(tmp_path, NAMES)
    (tmp_path / ".mine.part").touch()
    with pytest.raises(InputError, match="not an earlier result"):
        check_target(tmp_path, NAMES)


@pytest.mark.parametrize("spelling", ["as it is", "relative", "with dots", "symbolic link", "hard link"])
def test_an_input_is_no_target_however_it_is_spelt(tmp_path, monkeypatch, spelling):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "records.csv"
    source.write_text("mine")
    (tmp_path / "in").mkdir()
    (tmp_path / "link").symlink_to(source)
    os.link(source, tmp_path / "hard")
    targets = {
        "as it is": source,
        "relative": Path("records.csv"),
        "with dots": tmp_path / "in" / ".." / "records.csv",
        "symbolic link": tmp_path / "link",
        "hard link": tmp_path / "hard",
    }
    with pytest.raises(InputError, match=r"is an input \(“records.csv”\)"):
        check_target(targets[spelling], inputs=[source], replace=True)
    assert source.read_text() == "mine"


def test_a_folder_that_holds_an_input_or_lies_in_one_is_no_target(tmp_path):
    write(tmp_path / "out", "1")
    check_target(tmp_path / "out", NAMES)
    with pytest.raises(InputError, match="holds an input"):
        check_target(tmp_path / "out", NAMES, [tmp_path / "out" / "one"])
    with pytest.raises(InputError, match="lies in a folder that is an input"):
        check_target(tmp_path / "out" / "deep" / "new", NAMES, [tmp_path / "out"])


def test_a_file_is_replaced_only_if_that_is_allowed(tmp_path):
    target = tmp_path / "scores.csv"
    check_target(target)
    target.touch()
    with pytest.raises(InputError, match=r"already.*--replace"):
        check_target(target)
    check_target(target, replace=True)


def test_what_is_no_file_is_never_replaced_by_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for target, what in (
        (tmp_path, "is a folder"),
        (tmp_path / "pipe", "is a device or a pipe"),
        (Path("/dev/null"), "device"),
    ):
        with pytest.raises(InputError, match=what):
            check_target(target, replace=True)


@pytest.mark.skipif(sys.platform == "win32", reason="folders are synchronised on Unix")
@pytest.mark.parametrize("in_one_step", [True, False])
def test_everything_is_on_the_disk_before_the_exchange_and_the_exchange_before_the_old_goes(
    tmp_path, monkeypatch, in_one_step
):
    target = tmp_path / "out"
    write(target, "old")
    events = events_of(monkeypatch, in_one_step)
    with staged_folder(target, ("one", "in/two")) as folder:
        (folder / "one").write_text("1")
        (folder / "in").mkdir()
        (folder / "in" / "two").write_text("2")
        inodes = {name: (folder / name).stat().st_ino for name in ("one", "in/two", "in", ".")}
    exchanged, removed = events.index("exchange"), events.index("remove")
    assert {*inodes.values()} <= {*events[:exchanged]}
    assert events.index(inodes["in/two"]) < events.index(inodes["in"]) < events.index(inodes["."])
    assert events[exchanged + 1 : removed] == [tmp_path.stat().st_ino]


def events_of(monkeypatch, in_one_step=True):
    """The numbers of the files that are synchronised from now on, and when folders are exchanged and removed."""
    events = []
    sync, swap, put, remove = os.fsync, exchange.exchange, exchange.replace_target, shutil.rmtree

    def synchronise(handle):
        events.append(os.fstat(handle).st_ino)
        sync(handle)

    def replace_target(partial, target, before):
        old = put(partial, target, before)
        events.append("exchange")
        return old

    def remove_tree(path, *arguments, **more):
        if os.path.exists(path):
            events.append("remove")
        remove(path, *arguments, **more)

    monkeypatch.setattr(os, "fsync", synchronise)
    monkeypatch.setattr(output, "replace_target", replace_target)
    monkeypatch.setattr(shutil, "rmtree", remove_tree)
    monkeypatch.setattr(exchange, "exchange", swap if in_one_step else lambda one, other: False)
    return events


@pytest.mark.parametrize("allowed", [0, os.W_OK, os.X_OK, os.W_OK | os.X_OK])
def test_a_folder_must_be_one_that_may_be_written_to_and_entered(tmp_path, monkeypatch, allowed):
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & ~allowed)
    if allowed == os.W_OK | os.X_OK:
        check_writable(tmp_path / "out")
        return
    with pytest.raises(InputError, match="Writing is not allowed in the folder"):
        check_writable(tmp_path / "out")

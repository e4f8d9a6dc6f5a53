"""What cannot be stopped half way keeps nobody waiting who wants to stop."""

from __future__ import annotations

import os
import threading

import pytest

from vbas_desktop.model.progress import Cancelled, Silent
from vbas_desktop.release.patience import Beside, Saving, patiently


class Stopped:
    """Progress of a job that is stopped at once."""

    def update(self, stage: str, fraction: float | None = None) -> None:
        raise Cancelled


def test_the_answer_of_the_job_is_handed_on():
    assert patiently(lambda: 6 * 7, Silent(), "Computing", 0.5) == 42


def test_what_the_job_raises_is_raised():
    def job():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        patiently(job, Silent(), "Computing", 0.5)


def test_a_stop_does_not_wait_for_the_job():
    go_on, ended = threading.Event(), threading.Event()

    def job():
        go_on.wait(20)
        ended.set()

    with pytest.raises(Cancelled):
        patiently(job, Stopped(), "Computing", 0.5)
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(20)


def test_a_stop_while_the_disk_is_busy_leaves_no_open_file(tmp_path, monkeypatch):
    go_on, waiting, seen = threading.Event(), threading.Event(), []

    def slow_disk(handle):
        waiting.set()
        go_on.wait(20)
        seen.append((handle, os.fstat(handle).st_size))

    monkeypatch.setattr(os, "fsync", slow_disk)
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.write(b"x")
        with pytest.raises(Cancelled):
            Saving(file).finish(Stopped(), 1.0)
        assert waiting.wait(20)
    path.unlink()
    (writer,) = [thread for thread in threading.enumerate() if thread.name == "vbas-release"]
    go_on.set()
    writer.join(20)
    ((handle, size),) = seen
    assert size == 1, "the copy was open after the file was closed and removed"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)


def test_what_is_done_beside_writes_nothing_once_the_block_was_left(tmp_path):
    begun, go_on, ended, seen = threading.Event(), threading.Event(), threading.Event(), []

    def job(save):
        save(tmp_path / "before", b"x")
        begun.set()
        go_on.wait(20)
        try:
            save(tmp_path / "after", b"x")
        except Cancelled:
            seen.append("refused")
        ended.set()

    with Beside(job) as beside:
        assert begun.wait(20)
    go_on.set()
    assert ended.wait(20)
    assert seen == ["refused"]
    assert [path.name for path in tmp_path.iterdir()] == ["before"]
    with pytest.raises(Cancelled):
        beside.result(Stopped(), "Computing", 0.5)


def test_what_is_done_beside_is_handed_on(tmp_path):
    with Beside(lambda save: save(tmp_path / "file", b"x") or 42) as beside:
        assert beside.result(Silent(), "Computing", 0.5) == 42
    assert (tmp_path / "file").read_bytes() == b"x"

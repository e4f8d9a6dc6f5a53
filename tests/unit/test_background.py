"""Work in other threads: its result, errors and progress reach whoever waits, and a stop reaches the work."""

import os
import threading
from functools import partial

import pytest

from vbas_desktop.background import in_background, iterate_cancellable, run_cancellable
from vbas_desktop.io.output import synchronise_file
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled


class RecordedProgress:
    """Progress that is updated by one thread only; ``stops``: it raises `Cancelled`."""

    def __init__(self, stops=False):
        self.updates = []
        self.stops = stops
        self.thread = threading.get_ident()

    def update(self, stage, fraction=None):
        assert threading.get_ident() == self.thread
        self.updates.append((stage, fraction))
        if self.stops:
            raise Cancelled


def work_until_stopped(ended, progress):
    try:
        while True:
            progress.update("Reading")
    except Cancelled:
        ended.set()
        raise


def test_the_result_is_returned_and_the_stage_is_reported():
    progress = RecordedProgress()
    assert run_cancellable(lambda: 6 * 7, progress, "Computing", fraction=0.5) == 42
    assert progress.updates[0] == ("Computing", 0.5)


def test_an_error_of_the_work_is_raised():
    with pytest.raises(ZeroDivisionError):
        run_cancellable(lambda: 1 // 0, NO_PROGRESS, "Computing")


def test_a_stop_does_not_wait_for_work_that_cannot_be_cancelled():
    go_on = threading.Event()
    ended = threading.Event()

    def work():
        go_on.wait(20)
        ended.set()

    with pytest.raises(Cancelled):
        run_cancellable(work, RecordedProgress(stops=True), "Computing")
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(20)


def test_a_stop_cancels_the_work_and_waits_for_its_end():
    cancelled = threading.Event()
    ended = threading.Event()

    def work():
        assert cancelled.wait(20)
        ended.set()

    with pytest.raises(Cancelled):
        run_cancellable(work, RecordedProgress(stops=True), "Computing", cancel=cancelled.set)
    assert ended.is_set()


def test_what_is_done_already_is_not_cancelled():
    class LateStop(RecordedProgress):
        def update(self, stage, fraction=None):
            assert done.wait(20)
            super().update(stage, fraction)

    done = threading.Event()
    cancelled = threading.Event()
    # The event is set by the work's last step; give the thread time to hand over its result.
    with pytest.raises(ValueError, match="wrong"):
        run_cancellable(partial(_fail_after, done), LateStop(), "Computing", cancel=cancelled.set)
    assert not cancelled.is_set()


def _fail_after(done):
    done.set()
    raise ValueError("wrong")


def test_items_are_made_one_by_one_in_other_threads():
    threads = set()

    def items():
        for number in range(3):
            threads.add(threading.get_ident())
            yield number

    assert list(iterate_cancellable(items, NO_PROGRESS, "Reading", cancel=lambda: None)) == [0, 1, 2]
    assert threading.get_ident() not in threads


def test_a_stop_between_items_cancels_the_work():
    cancelled = threading.Event()

    def items():
        yield 1
        assert cancelled.wait(20)

    progress = RecordedProgress()
    iterator = iterate_cancellable(items, progress, "Reading", cancel=cancelled.set)
    assert next(iterator) == 1
    progress.stops = True
    with pytest.raises(Cancelled):
        next(iterator)
    assert cancelled.is_set()


def test_progress_of_background_work_is_reported_by_who_waits():
    go_on = threading.Event()

    def work(progress):
        progress.update("Reading", 0.5)
        assert go_on.wait(10)
        return 7

    class ReleasingProgress(RecordedProgress):
        def update(self, stage, fraction=None):
            super().update(stage, fraction)
            if fraction is not None:
                go_on.set()

    progress = ReleasingProgress()
    with in_background(work) as background:
        assert background.result(progress) == 7
    assert progress.updates[-1] == ("Reading", 0.5)


def test_an_error_of_background_work_is_raised_where_the_result_is_asked_for():
    def work(progress):
        raise ValueError("wrong")

    with in_background(work) as background, pytest.raises(ValueError, match="wrong"):
        background.result(NO_PROGRESS)


def test_a_stop_while_waiting_ends_background_work():
    ended = threading.Event()
    with pytest.raises(Cancelled), in_background(partial(work_until_stopped, ended)) as background:
        background.result(RecordedProgress(stops=True))
    assert ended.is_set()


def test_leaving_the_block_without_the_result_ends_background_work():
    ended = threading.Event()
    with pytest.raises(KeyError), in_background(partial(work_until_stopped, ended)):
        raise KeyError
    assert ended.is_set()


def test_nobody_waits_for_abandoned_work_and_it_is_stopped():
    go_on = threading.Event()
    ended = threading.Event()

    def work(progress):
        go_on.wait(20)
        work_until_stopped(ended, progress)

    with in_background(work, abandon=True):
        pass
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(20)


def test_a_stop_while_the_disk_is_busy_leaves_no_open_file(tmp_path, monkeypatch):
    go_on = threading.Event()
    waiting = threading.Event()
    handles = []

    def slow_disk(handle):
        waiting.set()
        go_on.wait(20)
        handles.append((handle, os.fstat(handle).st_size))

    monkeypatch.setattr(os, "fsync", slow_disk)
    path = tmp_path / "large"
    path.write_bytes(b"x")
    with in_background(lambda _: synchronise_file(path), abandon=True) as background:
        assert waiting.wait(20)
        with pytest.raises(Cancelled):
            background.result(RecordedProgress(stops=True))
    path.unlink()
    (writer,) = [thread for thread in threading.enumerate() if thread.name == "vbas-background"]
    go_on.set()
    writer.join(20)
    ((handle, size),) = handles
    assert size == 1, "the file was open after it was removed"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)

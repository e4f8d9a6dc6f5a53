"""The worker: results, items and failures arrive in the window's thread; a stop is quick."""

from __future__ import annotations

import threading
import time

import pytest

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.ui.core.worker import Worker
from vbas_desktop.ui.presentation.messages import describe_finding


@pytest.fixture
def worker(qapp):
    worker = Worker()
    yield worker
    worker.shut_down()
    worker.deleteLater()


def endless(progress):
    while True:
        progress.update("Turning", 0.5)
        time.sleep(0.001)


def test_the_result_arrives_in_the_window_thread(worker, qtbot):
    seen = []
    with qtbot.waitSignal(worker.job_ended):
        worker.start(
            "Adding", lambda progress: 1 + 1, lambda result: seen.append((result, threading.get_ident()))
        )
    assert seen == [(2, threading.get_ident())]
    assert not worker.busy


def test_items_arrive_in_order_before_the_result(worker, qtbot):
    seen = []

    def job(progress):
        for item in range(5):
            progress.emit_item(item)
        return "done"

    with qtbot.waitSignal(worker.job_ended):
        worker.start("Streaming", job, seen.append, seen.extend)
    assert seen == [0, 1, 2, 3, 4, "done"]


def test_a_stopped_job_gives_no_result_and_frees_the_runner(worker, qtbot):
    seen, aborted = [], []
    with qtbot.waitSignal(worker.progressed):
        worker.start("Turning", endless, seen.append, on_abort=lambda: aborted.append(True))
    with qtbot.waitSignal(worker.job_stopped) as stopped:
        worker.stop()
    assert stopped.args == ["Turning"]
    assert (seen, aborted, worker.busy) == ([], [True], False)


def test_a_second_job_is_refused_while_one_is_running(worker, qtbot):
    worker.start("Turning", endless)
    with qtbot.waitSignal(worker.job_refused) as refused:
        assert not worker.start("Another", endless)
    assert refused.args == ["Turning"]


def test_progress_is_throttled_to_twenty_updates_a_second(worker, qtbot):
    seen = []

    def job(progress):
        began = time.monotonic()
        for step in range(20_000):
            progress.update("Counting", step / 20_000)
        return time.monotonic() - began

    worker.progressed.connect(lambda stage, fraction: seen.append(fraction))
    took = []
    with qtbot.waitSignal(worker.job_ended):
        worker.start("Counting", job, took.append)
    assert 1 <= len(seen) <= took[0] / 0.05 + 1


def test_wrong_input_is_told_in_its_own_words(worker, qtbot):
    def job(progress):
        raise InputError(Finding("empty", "The file is empty.", "Choose another file.", file="a.csv"))

    with qtbot.waitSignal(worker.job_failed) as failed:
        worker.start("Loading a.csv", job)
    failure = failed.args[0]
    assert failure.message == "a.csv: The file is empty. Choose another file."
    assert (failure.findings[0].code, failure.details) == ("empty", "")


def test_an_unforeseen_error_keeps_its_traceback_in_the_details_without_its_text(worker, qtbot):
    def job(progress):
        raise ValueError("Jane Doe, tract 17")

    with qtbot.waitSignal(worker.job_failed) as failed:
        worker.start("Counting", job)
    failure = failed.args[0]
    assert failure.message.startswith("Something unexpected happened (ValueError).")
    assert "in job" in failure.details
    assert "Jane" not in failure.message + failure.details.replace(
        'raise ValueError("Jane Doe, tract 17")', ""
    )
    with qtbot.waitSignal(worker.job_ended):
        assert worker.start("Next", lambda progress: None)


def test_a_missing_file_is_named(worker, qtbot, tmp_path):
    with qtbot.waitSignal(worker.job_failed) as failed:
        worker.start("Loading", lambda progress: (tmp_path / "gone.csv").read_text())
    assert failed.args[0].message == "gone.csv: There is no such file or folder. Check the path."


def test_shutting_down_stops_the_thread_and_silences_it(worker, qtbot):
    seen = []
    with qtbot.waitSignal(worker.progressed):
        worker.start("Turning", endless, seen.append)
    worker.shut_down()
    assert not worker.busy
    assert seen == []


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("/data/house/visits.csv", "visits.csv"),
        ("C:\\house\\visits.csv", "visits.csv"),
        (
            "postgresql://ann@db.house/health#given.visits",
            "postgresql://ann@db.house/health#given.visits",
        ),
    ],
)
def test_a_file_is_told_by_its_name_and_an_address_whole(file, told):
    assert describe_finding(Finding("taken", "It is taken.", "Choose another.", file=file)) == (
        f"{told}: It is taken. Choose another."
    )
    assert describe_finding(Finding("taken", "It is taken.")) == "It is taken."

"""The runner: results, items and failures arrive in the window's thread; a stop is quick."""

from __future__ import annotations

import threading
import time

import pytest

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.ui.worker import JobRunner, in_window_words


@pytest.fixture
def runner(qapp):
    runner = JobRunner()
    yield runner
    runner.shut_down()
    runner.deleteLater()


def endless(progress):
    while True:
        progress.update("Turning", 0.5)
        time.sleep(0.001)


def test_the_result_arrives_in_the_window_thread(runner, qtbot):
    seen = []
    with qtbot.waitSignal(runner.job_ended):
        runner.start("Adding", lambda progress: 1 + 1, lambda result: seen.append((result, threading.get_ident())))
    assert seen == [(2, threading.get_ident())]
    assert not runner.busy


def test_items_arrive_in_order_before_the_result(runner, qtbot):
    seen = []

    def job(progress):
        for item in range(5):
            progress.hand_out(item)
        return "done"

    with qtbot.waitSignal(runner.job_ended):
        runner.start("Streaming", job, seen.append, seen.append)
    assert seen == [0, 1, 2, 3, 4, "done"]


def test_a_stopped_job_gives_no_result_and_frees_the_runner(runner, qtbot):
    seen, aborted = [], []
    with qtbot.waitSignal(runner.progressed):
        runner.start("Turning", endless, seen.append, on_abort=lambda: aborted.append(True))
    with qtbot.waitSignal(runner.job_stopped) as stopped:
        runner.stop()
    assert stopped.args == ["Turning"]
    assert (seen, aborted, runner.busy) == ([], [True], False)


def test_a_second_job_is_refused_while_one_is_running(runner, qtbot):
    runner.start("Turning", endless)
    with qtbot.waitSignal(runner.job_refused) as refused:
        assert not runner.start("Another", endless)
    assert refused.args == ["Turning"]


def test_progress_is_throttled_to_twenty_updates_a_second(runner, qtbot):
    seen = []

    def job(progress):
        began = time.monotonic()
        for step in range(20_000):
            progress.update("Counting", step / 20_000)
        return time.monotonic() - began

    runner.progressed.connect(lambda stage, fraction: seen.append(fraction))
    took = []
    with qtbot.waitSignal(runner.job_ended):
        runner.start("Counting", job, took.append)
    assert 1 <= len(seen) <= took[0] / 0.05 + 1


def test_wrong_input_is_told_in_its_own_words(runner, qtbot):
    def job(progress):
        raise InputError(Finding("empty", "The file is empty.", "Choose another file.", file="a.csv"))

    with qtbot.waitSignal(runner.job_failed) as failed:
        runner.start("Loading a.csv", job)
    failure = failed.args[0]
    assert failure.message == "a.csv: The file is empty. Choose another file."
    assert (failure.findings[0].code, failure.details) == ("empty", "")


def test_an_unforeseen_error_keeps_its_traceback_in_the_details_without_its_text(runner, qtbot):
    def job(progress):
        raise ValueError("Jane Doe, tract 17")

    with qtbot.waitSignal(runner.job_failed) as failed:
        runner.start("Counting", job)
    failure = failed.args[0]
    assert failure.message.startswith("Something unforeseen happened (ValueError).")
    assert "in job" in failure.details
    assert "Jane" not in failure.message + failure.details.replace('raise ValueError("Jane Doe, tract 17")', "")
    with qtbot.waitSignal(runner.job_ended):
        assert runner.start("Next", lambda progress: None)


def test_a_missing_file_is_named(runner, qtbot, tmp_path):
    with qtbot.waitSignal(runner.job_failed) as failed:
        runner.start("Loading", lambda progress: (tmp_path / "gone.csv").read_text())
    assert failed.args[0].message == "gone.csv: There is no such file or folder. Check the path."


def test_shutting_down_stops_the_thread_and_silences_it(runner, qtbot):
    seen = []
    with qtbot.waitSignal(runner.progressed):
        runner.start("Turning", endless, seen.append)
    runner.shut_down()
    assert not runner.busy
    assert seen == []


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("/data/house/visits.csv", "visits.csv"),
        ("C:\\house\\visits.csv", "visits.csv"),
        ("postgresql://ann@db.house/health#given.visits", "postgresql://ann@db.house/health#given.visits"),
    ],
)
def test_a_file_is_told_by_its_name_and_an_address_whole(file, told):
    assert in_window_words(Finding("taken", "It is taken.", "Choose another.", file=file)) == (
        f"{told}: It is taken. Choose another."
    )
    assert in_window_words(Finding("taken", "It is taken.")) == "It is taken."

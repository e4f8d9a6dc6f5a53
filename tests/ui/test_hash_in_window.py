"""A large record file's hash is made behind everything else: the window goes on, and its thread never asks for it."""

from __future__ import annotations

import threading

import pytest
from made_up_data import write_data

from vbas_desktop.domain.source import Digest
from vbas_desktop.files import hashing, stream
from vbas_desktop.session.project import read_project

LONG = 60_000


@pytest.fixture
def held_back(monkeypatch):
    """Hashing waits until it is let go; the window's thread must not ask for a hash meanwhile."""
    go, hashed, text = threading.Event(), hashing._Behind._hashed, Digest.__str__

    def ask(self):
        assert self.known or threading.current_thread() is not threading.main_thread()
        return text(self)

    monkeypatch.setattr(stream, "BEHIND_FROM", 0)
    monkeypatch.setattr(hashing._Behind, "_hashed", lambda self: hashed(self) if go.wait(60) else "")
    monkeypatch.setattr(Digest, "__str__", ask)
    yield go
    go.set()


def test_the_window_runs_saves_stops_and_opens_other_files_before_the_hash_is_there(
    held_back, loaded_window, tmp_path, qtbot
):
    session, projects, runner = loaded_window.session, loaded_window.projects, loaded_window.runner
    assert not session.table.source.digest.known
    session.change_fields(k=session.choices.k + 1)
    projects._on_autosave()
    assert projects.save_runner.busy
    stages = []
    runner.progressed.connect(lambda stage, fraction: stages.append(stage))
    loaded_window.controller.run()
    qtbot.waitUntil(lambda: "Hashing the records" in stages, timeout=LONG)
    assert session.entries
    # The copy that waits for the hash makes way for what the user wants to save, which waits in its thread.
    projects.save_to(tmp_path / "study.vbas")
    assert projects.save_runner.title == "Saving study.vbas"
    with qtbot.waitSignal(runner.job_stopped, timeout=LONG):
        loaded_window.controller.stop()
    assert {entry.run.outdated for entry in session.entries} == {False}
    others = write_data(tmp_path / "others")
    with qtbot.waitSignal(runner.job_ended, timeout=LONG):
        loaded_window.controller.load(*others)
    assert session.records_path == others[0]
    assert session.entries == ()
    assert session.problem is None
    assert not session.table.source.digest.known
    with qtbot.waitSignal(projects.save_runner.job_ended, timeout=LONG):
        held_back.set()
    # What was saved is the project of the files before.
    assert session.project_path is None
    assert len(read_project(tmp_path / "study.vbas").records.sha256) == 64


def test_what_is_changed_while_a_project_waits_for_the_hash_is_still_to_be_saved(
    held_back, loaded_window, tmp_path, qtbot
):
    session, path = loaded_window.session, tmp_path / "study.vbas"
    loaded_window.projects.save_to(path)
    session.change_fields(k=session.choices.k + 1)
    with qtbot.waitSignal(loaded_window.model.saved, timeout=LONG):
        held_back.set()
    assert (session.project_path, session.modified) == (path, True)
    with qtbot.waitSignal(loaded_window.model.saved, timeout=LONG):
        loaded_window.projects.save_to(path)
    assert (session.project_path, session.modified) == (path, False)
    assert read_project(path).choices.k == session.choices.k


def test_a_window_that_is_closed_does_not_wait_for_a_hash(held_back, loaded_window):
    loaded_window.session.change_fields(k=loaded_window.session.choices.k + 1)
    loaded_window.projects._on_autosave()
    assert loaded_window.projects.save_runner.busy
    loaded_window.close()
    assert not loaded_window.projects.save_runner.busy
    assert not loaded_window.session.table.source.digest.known


def test_results_of_a_file_that_changed_meanwhile_stay_as_outdated_when_it_is_loaded_again(
    held_back, loaded_window, data, qtbot, monkeypatch
):
    from vbas_desktop.ui import controller

    told = []
    monkeypatch.setattr(controller, "show_failure", lambda window, failure: told.append(failure))
    session, runner = loaded_window.session, loaded_window.runner
    data[0].write_bytes(data[0].read_bytes()[:-1])
    with qtbot.waitSignal(runner.job_ended, timeout=LONG):
        loaded_window.controller.run()
        held_back.set()
    assert [finding.code for finding in told[0].findings] == ["input-changed"]
    assert session.entries
    with qtbot.waitSignal(runner.job_ended, timeout=LONG):
        loaded_window.controller.reload()
    assert {entry.run.outdated for entry in session.entries} == {True}
    assert session.problem is None

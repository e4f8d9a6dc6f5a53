"""A session whose record file is not hashed yet: the window never waits, and nothing is taken for known."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace

import pytest
from made_up_sessions import open_data, run

from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.progress import Cancelled
from vbas_desktop.engine.run import run as run_engine
from vbas_desktop.files import hashing, stream
from vbas_desktop.release import ReleaseOptions
from vbas_desktop.session.opening import OpenProjectOrder
from vbas_desktop.session.project import read_project
from vbas_desktop.session.recovery import Recovery


@pytest.fixture
def held_back(monkeypatch):
    """Hashing waits until it is let go."""
    go = threading.Event()
    hashed = hashing._Behind._hashed
    monkeypatch.setattr(stream, "BEHIND_FROM", 0)
    monkeypatch.setattr(hashing._Behind, "_hashed", lambda self: hashed(self) if go.wait(60) else "")
    yield go
    go.set()


def test_choosing_counting_and_ordering_do_not_wait_for_the_hash(data, held_back):
    session = open_data(*data)
    order = session.order_run()
    problem = order.count()
    session.accept_problem(order.key, problem)
    assert session.problem is problem
    session.begin_counted(order.run_id, problem)
    assert not session.table.source.digest.known
    held_back.set()
    result = order.execute()
    assert session.table.source.digest.known
    session.finish_run(order.run_id, result)


def test_a_project_that_is_saved_meanwhile_has_the_hash(data, held_back, tmp_path):
    session = open_data(*data)
    state = session.snapshot()
    held_back.set()
    state.write(tmp_path / "study.vbas")
    assert read_project(tmp_path / "study.vbas").records.sha256 == hashlib.sha256(data[0].read_bytes()).hexdigest()


def test_a_run_on_records_that_changed_while_they_were_read_fails_with_a_word(data, held_back):
    session = open_data(*data)
    order = session.order_run()
    with data[0].open("r+b") as file:
        file.seek(100)
        file.write(b"9")
    held_back.set()
    with pytest.raises(InputError, match="changed while it was read"):
        order.execute()


def test_reading_again_with_results_in_the_list_ends_when_they_can_be_compared(data, held_back):
    held_back.set()
    session = open_data(*data)
    run(session)
    held_back.clear()
    stages = []

    class LetGo:
        def update(self, stage, fraction=None):
            stages.append(stage)
            if stage == "Hashing the records":
                held_back.set()

    loaded = session.order_load(*data).execute(LetGo())
    assert "Hashing the records" in stages
    session.accept_data(loaded, fresh=False)
    assert not session.entries[0].run.outdated
    with data[0].open("a") as file:
        file.write("P99999,1,1,1,R001\n")
    session.accept_data(session.order_load(*data).execute(), fresh=False)
    assert session.entries[0].run.outdated


def with_solutions(session):
    """A run that was stopped before its end: it has solutions, and nobody waited for the hash."""
    order = session.order_run()
    problem = order.count()
    session.begin_counted(order.run_id, problem)
    run_engine(order.request(problem), on_solution=lambda solution: session.add_solution(order.run_id, solution))
    session.close_run(order.run_id)
    return session


class Stages:
    """Keeps the stages; stops, or does something else, when hashes are waited for."""

    def __init__(self, on_hashing):
        self._on_hashing = on_hashing

    def update(self, stage, fraction=None):
        if stage == "Hashing the records":
            self._on_hashing()


def stop():
    raise Cancelled


def change_one_byte(path):
    before = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(len(before) - 2)
        file.write(b"8" if before[-2:-1] == b"9" else b"9")


def test_results_of_records_that_changed_while_they_were_read_are_outdated_after_reading_again(data, held_back):
    session = with_solutions(open_data(*data))
    change_one_byte(data[0])
    held_back.set()
    session.accept_data(session.order_load(*data).execute(), fresh=False)
    assert {entry.run.outdated for entry in session.entries} == {True}
    assert session.problem is None


def test_results_of_records_that_changed_while_they_were_read_can_be_saved(data, held_back, tmp_path):
    session = with_solutions(open_data(*data))
    change_one_byte(data[0])
    held_back.set()
    path = tmp_path / "study.vbas"
    session.snapshot().write(path)
    assert read_project(path).records.sha256 == ""
    assert {entry.run.records_digest for entry in read_project(path).entries} == {None}
    session.accept_data(session.order_load(*data).execute(), fresh=False)
    session.snapshot().write(path)
    opened = OpenProjectOrder(path).execute()
    assert len(opened.entries) == len(session.entries)
    assert {entry.run.outdated for entry in opened.entries} == {True}


def test_reading_again_waits_for_the_hash_of_earlier_results_in_the_order_and_not_in_the_session(data, held_back):
    session = with_solutions(open_data(*data))
    earlier = session.table.source.digest
    order = session.order_load(*data)
    with pytest.raises(Cancelled):
        order.execute(Stages(stop))
    loaded = order.execute(Stages(held_back.set))
    assert earlier.known
    session.accept_data(loaded, fresh=False)
    assert {entry.run.outdated for entry in session.entries} == {False}


def test_the_session_takes_what_is_not_known_yet_for_different_instead_of_waiting(data, held_back):
    session = with_solutions(open_data(*data))
    session.accept_data(replace(session.order_load(*data), identify=False).execute(), fresh=False)
    assert {entry.run.outdated for entry in session.entries} == {True}
    assert not session.table.source.digest.known


def test_saving_and_releasing_can_be_stopped_while_the_hash_is_on_its_way(data, held_back, tmp_path):
    session = with_solutions(open_data(*data))
    path = tmp_path / "study.vbas"
    with pytest.raises(Cancelled):
        session.snapshot().write(path, Stages(stop))
    with pytest.raises(Cancelled):
        Recovery(tmp_path).write(session.snapshot(), Stages(stop))
    order = session.order_release(session.entries[0], ReleaseOptions(), tmp_path / "out")
    with pytest.raises(Cancelled):
        order.execute(Stages(stop))
    assert list(tmp_path.glob("*.vbas")) == []
    assert not (tmp_path / "out").exists()

"""A session whose record file is not hashed yet: the window never waits, and nothing is taken for known."""

from __future__ import annotations

import hashlib
import threading

import pytest
from made_up_sessions import open_data, run

from vbas_desktop.domain.errors import InputError
from vbas_desktop.files import hashing, stream
from vbas_desktop.session.project import read_project


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

"""Coding in two threads: whatever goes wrong in one of them, the other does not wait for ever."""

from __future__ import annotations

import threading

import pytest

from vbas_desktop.io.records import coding, delimited, pipeline, stream
from vbas_desktop.io.records.table import load_records


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "BLOCK_BYTES", 256)
    monkeypatch.setattr(stream, "_OPENING_BYTES", 16)
    monkeypatch.setattr(delimited, "SAMPLE_BYTES", 16)
    path = tmp_path / "records.csv"
    path.write_text("a,b,c\n" + "".join(f"{i % 7},{i % 5},x\n" for i in range(2000)))
    # What is made ready once must not get the failures that are meant for the reading.
    assert load_records(path).rows == 2000
    return path


def threads_of_reading():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(("coding", "read-ahead"))]


@pytest.mark.parametrize("failing", [1, 2, 3, 10, 100, 130])
@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt])
def test_a_failure_while_coding_ends_the_reading(records, monkeypatch, failing, kind):
    add, calls = coding.ColumnCoder.add, iter(range(1, 10**6))

    def fail(self, fields):
        if next(calls) == failing:
            raise kind
        add(self, fields)

    monkeypatch.setattr(coding.ColumnCoder, "add", fail)
    with pytest.raises(kind):
        load_records(records)
    assert threads_of_reading() == []


def test_an_interruption_between_taking_a_column_and_coding_it_ends_the_reading(records, monkeypatch):
    share, taken = pipeline._Work.share, threading.Event()

    def interrupt(self):
        if threading.current_thread() is threading.main_thread():
            assert next(self._left, None) is not None
            taken.set()
            raise KeyboardInterrupt
        assert taken.wait(60)
        share(self)

    monkeypatch.setattr(pipeline._Work, "share", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_records(records)
    assert threads_of_reading() == []

"""A record file's hash: the same whether it is made in passing or behind the reading, and never that of other bytes."""

from __future__ import annotations

import gzip
import hashlib
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.progress import Cancelled, Silent
from vbas_desktop.domain.source import Digest, wait_for_all
from vbas_desktop.files import hashing, stream
from vbas_desktop.files.hashing import BLOCK_BYTES, Imprint
from vbas_desktop.files.records import load_records

ROW = b"1,some text\n"


@pytest.fixture
def behind(monkeypatch):
    """Files of every size are hashed behind the reading."""
    monkeypatch.setattr(stream, "BEHIND_FROM", 0)


@pytest.fixture
def held_back(behind, monkeypatch):
    """Hashing behind waits until it is let go."""
    go = threading.Event()
    hashed = hashing._Behind._hashed

    def wait_first(self):
        assert go.wait(60)
        return hashed(self)

    monkeypatch.setattr(hashing._Behind, "_hashed", wait_first)
    yield go
    go.set()


def write(path, rows):
    path.write_bytes(b"a,b\n" + ROW * rows)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("rows", [1, 1000, 2 * BLOCK_BYTES // len(ROW), 200_000])
def test_both_ways_give_the_hash_of_the_file(tmp_path, monkeypatch, rows):
    path = tmp_path / "records.csv"
    sha256 = write(path, rows)
    for first, last in ((0, 1 << 40), (1 << 40, 1 << 41)):
        monkeypatch.setattr(stream, "BEHIND_FROM", first)
        monkeypatch.setattr(stream, "BEHIND_TO", last)
        source = load_records(path).source
        assert (source.path, source.size_bytes, source.sha256) == (str(path), path.stat().st_size, sha256)


def test_a_compressed_file_is_hashed_as_it_lies_there(tmp_path, behind):
    path = tmp_path / "records.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + ROW * 5000))
    source = load_records(path).source
    assert source.digest.known
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_records_are_there_before_their_hash(tmp_path, held_back):
    path = tmp_path / "records.csv"
    sha256 = write(path, 10)
    table = load_records(path)
    assert table.rows == 10
    assert not table.source.digest.known
    assert repr(table.source.digest) == "Digest(on its way)"
    held_back.set()
    assert table.source.sha256 == sha256
    assert table.source.digest.known


def test_who_waits_for_the_hash_can_stop(tmp_path, held_back):
    path = tmp_path / "records.csv"
    write(path, 10)
    table = load_records(path)

    class Impatient:
        looks = 0

        def update(self, stage, fraction=None):
            self.looks += 1
            if self.looks == 3:
                raise Cancelled

    with pytest.raises(Cancelled):
        table.source.digest.wait(Impatient())
    held_back.set()
    table.source.digest.wait(Silent())
    assert table.source.digest.known


@pytest.mark.parametrize("change", ["one byte", "longer", "shorter", "emptied"])
def test_a_file_that_changed_after_its_records_were_read_has_no_hash(tmp_path, held_back, change):
    path = tmp_path / "records.csv"
    write(path, 10)
    table = load_records(path)
    with path.open("r+b") as file:
        if change == "one byte":
            file.seek(50)
            file.write(b"X")
        elif change == "longer":
            file.seek(0, 2)
            file.write(ROW)
        else:
            file.truncate(20 if change == "shorter" else 0)
    held_back.set()
    for ask in (lambda: table.source.sha256, lambda: table.source.digest.wait(Silent())):
        with pytest.raises(InputError) as refused:
            ask()
        assert [finding.code for finding in refused.value.findings] == ["input-changed"]
        assert refused.value.findings[0].file == str(path)


def test_a_file_that_was_replaced_or_deleted_still_has_the_hash_of_what_was_read(tmp_path, held_back):
    path = tmp_path / "records.csv"
    sha256 = write(path, 10)
    replaced = load_records(path)
    other = tmp_path / "other.csv"
    write(other, 20)
    other.replace(path)
    deleted = load_records(path)
    sha256_of_other = hashlib.sha256(path.read_bytes()).hexdigest()
    path.unlink()
    held_back.set()
    assert replaced.source.sha256 == sha256
    assert deleted.source.sha256 == sha256_of_other


def test_nobody_hashes_for_a_table_that_is_gone(tmp_path, behind, monkeypatch):
    path = tmp_path / "records.csv"
    write(path, 10)
    made = []
    start = hashing._Behind.start
    monkeypatch.setattr(hashing._Behind, "start", lambda self: made.append(self) or start(self))
    table = load_records(path)
    assert not made[0]._stop.is_set()
    del table
    assert made[0]._stop.is_set()


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=200), place=st.integers(0, 199), bits=st.integers(1, 255))
def test_every_changed_byte_changes_the_imprint(data, place, bits):
    changed = bytearray(data)
    if data:
        changed[place % len(data)] ^= bits
    one, other = Imprint(), Imprint()
    one.update(memoryview(data))
    other.update(memoryview(changed))
    assert (one == other) is (not data)
    again = Imprint()
    again.update(memoryview(np.frombuffer(data, np.uint8)))
    assert one == again


@pytest.mark.parametrize("first", [0, 1 << 40])
def test_a_file_that_grows_after_its_end_was_read_is_refused(tmp_path, monkeypatch, first):
    monkeypatch.setattr(stream, "BEHIND_FROM", first)
    path = tmp_path / "records.csv"
    write(path, 10)
    source = stream.ByteStream.source

    def grown(self):
        with path.open("ab") as file:
            file.write(ROW)
        return source(self)

    monkeypatch.setattr(stream.ByteStream, "source", grown)
    with pytest.raises(InputError) as refused:
        load_records(path)
    assert [finding.code for finding in refused.value.findings] == ["input-changed"]


def test_who_waits_is_told_whatever_ends_the_hashing(tmp_path, behind, monkeypatch):
    def fail(self):
        raise MemoryError

    monkeypatch.setattr(hashing._Behind, "_hashed", fail)
    path = tmp_path / "records.csv"
    write(path, 10)
    with pytest.raises(MemoryError):
        load_records(path).source.digest.wait(Silent())


def test_a_hash_that_there_is_not_is_like_no_other_and_nothing_fails_by_comparing(tmp_path, held_back):
    path = tmp_path / "records.csv"
    sha256 = write(path, 10)
    digest = load_records(path).source.digest
    assert digest.settled is None
    path.write_bytes(b"")
    held_back.set()
    wait_for_all([digest, Digest(sha256)], Silent())
    assert digest.known
    assert digest.settled is None
    assert digest == digest
    assert digest != Digest(sha256)
    assert Digest(sha256) == Digest(sha256)
    assert repr(digest) == "Digest(None)"

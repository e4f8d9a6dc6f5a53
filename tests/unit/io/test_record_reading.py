"""How records are read: exactly, with progress, stoppable, and without leaving anything behind."""

import hashlib
import random
import threading

import pytest

from vbas_desktop.io.records import coding, delimited, stream
from vbas_desktop.io.records.table import RecordOptions, load_records
from vbas_desktop.model.progress import Cancelled

MULTIPLIER, WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1


def mixed(key, word):
    key = ((key ^ word) * MULTIPLIER) & WORD
    return key ^ (key >> 29)


def hashed(value):
    """What the dictionary keeps of a text that is too long to be its own key."""
    key = (int.from_bytes(value[-8:], "little") + len(value)) & WORD
    for start in range(0, len(value) - 8, 8):
        key = mixed(key, int.from_bytes(value[start : start + 8], "little"))
    return key


def values_with_one_hash(number):
    """Different texts of 24 and 32 bytes that the dictionary's hash cannot tell apart."""
    generator, forbidden = random.Random(5), set(b'\x00\n\r",')
    values = []
    while len(values) < number:
        before, last = (bytes(generator.choices(range(97, 123), k=size)) for size in (8 * (1 + len(values) % 2), 8))
        key = (int.from_bytes(last, "little") + len(before) + 16) & WORD
        for start in range(0, len(before), 8):
            key = mixed(key, int.from_bytes(before[start : start + 8], "little"))
        fitting = (key ^ int.from_bytes(b"abcdefgh", "little")).to_bytes(8, "little")
        if not forbidden & set(fitting):
            values.append(before + fitting + last)
    return values


def test_values_with_the_same_hash_stay_apart(tmp_path):
    values = values_with_one_hash(50)
    assert len({hashed(value) for value in values}) == 1
    assert {len(value) for value in values} == {24, 32}
    assert len(set(values)) == 50
    path = tmp_path / "records.csv"
    path.write_bytes(b"a,b\n" + b"".join(value + b",1\n" for value in values * 3))
    table = load_records(path, RecordOptions(encoding="latin-1"))
    facts = table.facts("a")
    assert facts.distinct == 50
    assert facts.frequencies.tolist() == [3] * 50
    assert [facts.categories.values[code] for code in table.codes("a")] == [v.decode("latin-1") for v in values * 3]


@pytest.mark.parametrize("values", [256, 257, 65_536, 65_537])
def test_codes_stay_right_when_a_column_outgrows_its_type_on_the_way(tmp_path, monkeypatch, values):
    monkeypatch.setattr(delimited, "SAMPLE_BYTES", 64)
    monkeypatch.setattr(stream, "BLOCK_BYTES", 1 << 12 if values < 1000 else 1 << 18)
    generator = random.Random(values)
    rows = [generator.randrange(5) for _ in range(3_000)] + list(range(values))
    rows += [generator.randrange(values) for _ in range(values)]
    path = tmp_path / "records.csv"
    path.write_text("a,b\n" + "".join(f"a value of 17 b{i:05d},{i}\n" for i in rows))
    table = load_records(path)
    for name, text in (("a", "a value of 17 b{:05d}"), ("b", "{}")):
        known = table.facts(name).categories.values
        assert [known[code] for code in table.codes(name).tolist()] == [text.format(i) for i in rows]


class Listener:
    """Notes every update and stops the work after some of them."""

    def __init__(self, stop_after=None):
        self.updates, self.stop_after = [], stop_after

    def update(self, stage, fraction=None):
        self.updates.append((stage, fraction))
        if self.stop_after is not None and len(self.updates) > self.stop_after:
            raise Cancelled


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("age,sex,region\n" + "".join(f"{i % 90},{'FM'[i % 2]},r{i % 500}\n" for i in range(500_000)))
    return path


def test_progress_grows_and_is_told_for_every_block(large):
    listener = Listener()
    load_records(large, progress=listener)
    fractions = [fraction for stage, fraction in listener.updates if stage == "Reading records"]
    assert len(fractions) > large.stat().st_size / (1 << 20)
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] == 1.0


@pytest.mark.parametrize("stop_after", [0, 3, "all but one"])
def test_stopping_leaves_no_thread_behind(large, stop_after):
    if stop_after == "all but one":
        listener = Listener()
        load_records(large, progress=listener)
        assert listener.updates[-1][0] == "Ordering categories"
        stop_after = len(listener.updates) - 1
    before = threading.active_count()
    with pytest.raises(Cancelled):
        load_records(large, progress=Listener(stop_after))
    assert threading.active_count() == before


def test_the_hash_is_that_of_the_whole_file(large):
    source = load_records(large).source
    assert source.sha256 == hashlib.sha256(large.read_bytes()).hexdigest()
    assert source.size_bytes == large.stat().st_size
    assert source.path == str(large)


def test_the_same_file_gives_the_same_codes(large):
    one, two = load_records(large), load_records(large)
    for facts in one.columns:
        assert (one.codes(facts.name) == two.codes(facts.name)).all()
        assert facts.categories == two.facts(facts.name).categories


def test_too_many_values_are_given_up_but_empty_fields_still_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(coding, "DISTINCT_LIMIT", 10)
    monkeypatch.setattr(delimited, "SAMPLE_BYTES", 64)
    path = tmp_path / "records.csv"
    path.write_text("a,b,c\r\n" + "".join(f"{i % 2},{i},{'' if i % 5 == 0 else i}\r\n" for i in range(200_000)))
    table = load_records(path)
    assert [facts.categorical for facts in table.columns] == [True, False, False]
    assert 10 < table.facts("b").distinct < 200_000
    assert table.facts("c").missing == 40_000
    assert table.facts("b").missing == 0

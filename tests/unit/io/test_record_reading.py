"""How records are read: exactly, with progress, stoppable, and without leaving anything behind."""

import hashlib
import random
import threading

import pytest

from vbas_desktop.io.records.file_format import ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.progress import Cancelled


@pytest.mark.parametrize("values", [256, 257, 65_536, 65_537])
def test_codes_stay_right_when_a_column_outgrows_its_type_on_the_way(tmp_path, values):
    generator = random.Random(values)
    rows = [generator.randrange(5) for _ in range(3_000)] + list(range(values))
    rows += [generator.randrange(values) for _ in range(values)]
    path = tmp_path / "records.csv"
    path.write_text("a,b\n" + "".join(f"a value of 17 b{i:05d},{i}\n" for i in rows))
    table = load_records(path, limits=ReadLimits(block_bytes=1 << 12 if values < 1000 else 1 << 18))
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
    path.write_text(
        "age,sex,region\n" + "".join(f"{i % 90},{'FM'[i % 2]},r{i % 500}\n" for i in range(500_000))
    )
    return path


def test_progress_grows_and_is_told_for_every_block(large):
    listener = Listener()
    load_records(large, progress=listener, limits=ReadLimits(block_bytes=1 << 18))
    fractions = [fraction for stage, fraction in listener.updates if stage == "Reading records"]
    assert len(fractions) > large.stat().st_size / (1 << 18)
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] == 1.0


@pytest.mark.parametrize("stop_after", [0, 3, "all but one"])
def test_stopping_leaves_no_thread_behind(large, stop_after):
    if stop_after == "all but one":
        listener = Listener()
        load_records(large, progress=listener, limits=ReadLimits(block_bytes=1 << 18))
        assert listener.updates[-1][0] == "Ordering categories"
        stop_after = len(listener.updates) - 1
    before = threading.active_count()
    with pytest.raises(Cancelled):
        load_records(large, progress=Listener(stop_after), limits=ReadLimits(block_bytes=1 << 18))
    assert threading.active_count() == before


def test_the_hash_is_that_of_the_whole_file(large):
    source = load_records(large).source
    assert source.sha256 == hashlib.sha256(large.read_bytes()).hexdigest()
    assert source.size_bytes == large.stat().st_size
    assert source.path == str(large)


def test_one_thread_and_two_give_the_same_codes(large):
    one = load_records(large, limits=ReadLimits(threads=1, block_bytes=1 << 17))
    two = load_records(large, limits=ReadLimits(threads=2))
    for facts in one.columns:
        assert (one.codes(facts.name) == two.codes(facts.name)).all()
        assert facts.categories == two.facts(facts.name).categories


def test_too_many_values_are_given_up_but_empty_fields_still_counted(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text(
        "a,b,c\r\n" + "".join(f"{i % 2},{i},{'' if i % 5 == 0 else i}\r\n" for i in range(200_000))
    )
    table = load_records(path, limits=ReadLimits(distinct=10, block_bytes=1 << 16))
    assert [facts.categorical for facts in table.columns] == [True, False, False]
    assert 10 < table.facts("b").distinct < 200_000
    assert table.facts("c").missing == 40_000
    assert table.facts("b").missing == 0

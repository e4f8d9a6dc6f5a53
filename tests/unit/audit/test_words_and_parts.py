"""Many bytes at a time, and files in parts: what comes out is what one byte after the other gives."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.audit.blocks import Table, blocks_of, borders_in, is_even
from vbas_desktop.audit.readback import hashes_of, plain_parts, read_csv
from vbas_desktop.audit.tally import Tally, combine, fingerprints, hash_fields, hash_rows
from vbas_desktop.audit.words import list_borders


def array(data):
    return np.frombuffer(data + b"\0", np.uint8)[: len(data)]


@settings(deadline=None)
@given(st.lists(st.sampled_from([b",", b"\n", b"a", b"-" * 63, b";"]), max_size=200).map(b"".join))
def test_borders_are_the_line_feeds_and_delimiters(data):
    places = np.empty(len(data), np.int32)
    found, lines = list_borders(array(data), ord(","), places)
    assert lines == data.count(b"\n")
    assert places[:found].tolist() == [place for place, byte in enumerate(data) if byte in b",\n"]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=20), min_size=1, max_size=30))
def test_a_hash_depends_on_the_bytes_of_the_field_alone(values):
    before = np.cumsum([0, *map(len, values)])
    places = np.asarray(before, np.int32)
    hashes, alone = np.empty(len(values), np.uint64), np.empty(len(values), np.uint64)
    hash_fields(np.frombuffer(b"".join(values) + b"?", np.uint8), places[:-1], places[1:], hashes)
    for i, value in enumerate(values):
        # Alone, the field ends where the data end: there it is read byte by byte.
        ends = np.array([len(value)], np.int32)
        hash_fields(np.frombuffer(value or b"?", np.uint8), np.zeros(1, np.int32), ends, alone[i : i + 1])
    assert hashes.tolist() == alone.tolist()
    assert len(set(hashes.tolist())) == len(set(values))


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([b"", b"a", b"bc", b"d" * 9, b"12345678"]), min_size=3, max_size=3), min_size=1)
)
def test_all_fields_of_even_rows_have_the_hashes_that_they_have_alone(rows):
    data = array(b"".join(b",".join(row) + b"\n" for row in rows))
    borders, lines = borders_in(data, Table(",", 3, range(3), 0))
    assert is_even(data, borders, lines, 3)
    assert not is_even(data, borders, lines, 2)
    hashes = np.empty((3, len(rows)), np.uint64)
    hash_rows(data, borders, hashes)
    for line, values in zip(hashes, zip(*rows, strict=True), strict=True):
        assert line.tolist() == hashes_of(pa.array(values, pa.binary())).tolist()


@settings(deadline=None)
@given(st.integers(1, 3000), st.permutations(range(4)))
def test_fingerprints_take_one_column_after_the_other(rows, places):
    columns = np.random.default_rng(rows).integers(0, 1 << 63, (4, rows)).astype(np.uint64)
    found = np.zeros(rows, np.uint64)
    for place in places:
        combine(found, columns[place])
    assert fingerprints(columns, places).tolist() == found.tolist()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["", "a", "bc", "d" * 9, "12345678"]), min_size=3, max_size=3), max_size=40),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 5),
)
def test_parts_of_a_file_hold_its_rows_once(tmp_path_factory, rows, newline, number):
    path = tmp_path_factory.mktemp("parts") / "file.csv"
    path.write_text("".join(",".join(row) + newline for row in [["x", "y", "z"], *rows]), newline="")

    def read(parts):
        batches = [batch for part in parts for batch in read_csv(path, ",", 3, part=part)]
        return [np.concatenate([batch[column] for batch in batches]).tolist() for column in range(3)]

    parts = plain_parts(path, number)
    assert read(parts) == read([None])
    assert [part.low for part in parts] == [0, *(part.high for part in parts[:-1])]


@pytest.mark.parametrize("text", ['a,b\n"1",2\n', "a,b\n1\r1,2\n", "a,b\n1,\0\n"])
def test_a_file_whose_rows_may_end_elsewhere_is_not_divided(tmp_path, text):
    (tmp_path / "file.csv").write_text(text, newline="")
    assert plain_parts(tmp_path / "file.csv", 2) == [None]


@pytest.mark.parametrize("text", ["a,b\n\n1,2\n", "1,2\r\n3,4\n", "1,2\n3\n4,5\n", "1,2,3\n\n", "1\n,2\n", "1,2\n,\n"])
def test_uneven_rows_are_cut_like_even_ones(tmp_path, text):
    (tmp_path / "file.csv").write_text(text, newline="")
    table = Table(",", 2, [0, 1], 0)
    with (tmp_path / "file.csv").open("rb") as file:
        blocks = [
            [
                [each.data[low:high].tobytes().decode() for low, high in zip(each.starts, each.ends, strict=True)]
                for each in block
            ]
            for block in blocks_of(file, table)
        ]
    cut = [list(row) for block in blocks for row in zip(*block, strict=True)]
    rows = [line.split(",") for line in text.replace("\r\n", "\n").split("\n") if line]
    assert cut == [row for row in rows if len(row) == 2]
    assert table.ragged == sum(len(row) != 2 for row in rows)


@given(st.lists(st.integers(0, 9000), max_size=9000), st.integers(0, 9000))
@settings(max_examples=30, deadline=None)
def test_tallies_taken_together_count_as_one(keys, cut):
    keys = np.array(keys, np.uint64)
    rows = np.stack((keys * np.uint64(3) + np.uint64(1), keys ^ np.uint64(5)))
    notes = keys[None, :] + np.uint64(7)
    whole, one, other = (Tally(2, 1) for _ in range(3))
    whole.add(keys, rows, notes)
    one.add(keys[:cut], *(np.ascontiguousarray(each[:, :cut]) for each in (rows, notes)))
    other.add(keys[cut:], *(np.ascontiguousarray(each[:, cut:]) for each in (rows, notes)))
    one.absorb(other)
    for left, right in zip(one.classes(), whole.classes(), strict=True):
        assert left.tolist() == right.tolist()
    one.add(keys, rows, notes)
    assert one.classes()[1].tolist() == (2 * whole.classes()[1]).tolist()

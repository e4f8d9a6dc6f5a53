"""Every step of verification against the plainest way of doing it."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.audit import blocks as recount_blocks
from vbas_desktop.audit import classes as recount_classes
from vbas_desktop.audit import values as recount_values
from vbas_desktop.audit.blocks import Fields, Table, blocks_of
from vbas_desktop.audit.classes import Classes
from vbas_desktop.audit.recount import recount
from vbas_desktop.audit.values import Values
from vbas_desktop.model.errors import InputError

quick = settings(max_examples=60, deadline=None)
plain_words = st.sampled_from(["", "1", "01", "a", "é", "日本", "r1", " ", "a long value of a class", "1.5"])
words = st.one_of(plain_words, st.sampled_from(["a,b", 'q"', "line\nbreak", "line\r\nbreak", ";"]))


@st.composite
def files(draw):
    """A table, and its bytes in a dialect of its own."""
    width = draw(st.integers(2, 6))
    value = draw(st.sampled_from([plain_words, words]))
    rows = draw(st.lists(st.tuples(*[value] * width), max_size=40))
    names = [f"c{place}" for place in range(width)]
    text = io.StringIO()
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"]))
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=ending)
    writer.writerows([names, *rows])
    data = (ending * draw(st.integers(0, 2)) + text.getvalue()).encode()
    data = data if draw(st.booleans()) else data.removesuffix(ending.encode())
    return names, rows, draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + data


@settings(max_examples=150, deadline=None)
@given(
    files(),
    st.data(),
    st.sampled_from([40, 77, 1 << 19]),
    st.sampled_from([1, 5, 1 << 21]),
    st.sampled_from([1, 1 << 6, 1 << 63]),
    st.booleans(),
)
def test_any_dialect_block_and_width_of_classes_gives_what_a_plain_counter_gives(
    tmp_path_factory, file, data, block, pending, widest, compressed
):
    names, rows, content = file
    chosen = data.draw(st.permutations(names))[: data.draw(st.integers(2, len(names)))]
    category_line = data.draw(st.booleans())
    path = tmp_path_factory.mktemp("recount") / "file.csv"
    path.write_bytes(gzip.compress(content) if compressed else content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recount_blocks, "BLOCK_BYTES", block)
        patch.setattr(recount_classes, "PENDING_RECORDS", pending)
        patch.setattr(recount_classes, "WIDEST", widest)
        found = recount(path, chosen[1:], chosen[0], category_line=category_line)
    places = [names.index(name) for name in chosen]
    expected = Counter(tuple(row[place] for place in places) for row in rows[1 if category_line else 0 :])
    assert found.vector == Counter(expected.values())
    assert (found.records, found.classes) == (expected.total(), len(expected))
    assert found.regions == len({row[0] for row in expected})


@quick
@given(st.lists(st.lists(plain_words, max_size=4), max_size=30), st.sampled_from([8, 64, 1 << 19]))
def test_rows_of_another_width_are_counted_and_the_first_is_named(tmp_path_factory, rows, block):
    lines = ["a,b", *(",".join(row) for row in rows)]
    path = tmp_path_factory.mktemp("recount") / "file.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    wrong = [number for number, line in enumerate(lines, 1) if line and line.count(",") != 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recount_blocks, "BLOCK_BYTES", block)
        if not wrong:
            assert recount(path, ["a"], "b").records == sum(bool(line) for line in lines[1:])
            return
        with pytest.raises(InputError) as refusal:
            recount(path, ["a"], "b")
    (finding,) = refusal.value.findings
    assert (finding.code, finding.row) == ("ragged-row", wrong[0])
    assert finding.message.startswith(f"{len(wrong)} row")


def test_rows_of_another_width_are_found_behind_quotes_too(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text('a,b\n1,2\n"1",2\n1\n"1",2,3\n')
    with pytest.raises(InputError) as refusal:
        recount(path, ["a"], "b")
    assert (refusal.value.findings[0].row, refusal.value.findings[0].message[:11]) == (4, "2 rows have")


@pytest.mark.parametrize("quote_at", [0, 1, 50, 99])
def test_quotes_may_begin_anywhere(tmp_path, monkeypatch, quote_at):
    monkeypatch.setattr(recount_blocks, "BLOCK_BYTES", 64)
    rows = [f"{i % 4},r{i % 3},note" for i in range(100)]
    rows[quote_at] = rows[quote_at].replace("note", '"two\nlines, one ""note"""')
    path = tmp_path / "file.csv"
    path.write_text("\n".join(["a,b,c", *rows]))
    expected = Counter((i % 4, i % 3) for i in range(100))
    assert recount(path, ["a"], "b").vector == Counter(expected.values())


@pytest.mark.parametrize("text", ["a,b\r1,2\r1,2\r", "a,b\n1,2\n1,2\r3,4\n"])
def test_lone_returns_are_left_to_arrow_which_ends_rows_there(tmp_path, text):
    path = tmp_path / "file.csv"
    path.write_bytes(text.encode())
    assert recount(path, ["a"], "b").records == text.count(",") - 1


@pytest.mark.parametrize("category_line", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("block", [100, 1 << 19])
@pytest.mark.parametrize("open_row", ['"1,r,note', '1,"r,note', '1,r,"note', '"1,r,note\n1,r,note', '1,r,"'])
def test_a_quote_that_is_not_closed_cannot_swallow_records(tmp_path, monkeypatch, category_line, rows, block, open_row):
    monkeypatch.setattr(recount_blocks, "BLOCK_BYTES", block)
    monkeypatch.setattr(recount_blocks, "ARROW_BLOCK_BYTES", block)
    path = tmp_path / "file.csv"
    path.write_text("a,b,c\n" + "1,r,note\n" * rows + open_row)
    with pytest.raises(InputError) as refusal:
        recount(path, ["a"], "b", category_line=category_line)
    assert refusal.value.findings[0].code == "not-text"


def test_a_quote_that_is_not_closed_in_the_names_is_refused(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text('a,b,"c\n1,r,note\n')
    with pytest.raises(InputError, match="cannot be read as delimited text"):
        recount(path, ["a"], "b")


@pytest.mark.parametrize("text", ['"a",b', '"a",b\n', '"a",b\r\n2,2', '"a",b\n2,2\n\n'])
def test_a_file_of_names_and_category_line_alone_has_no_records(tmp_path, text):
    path = tmp_path / "file.csv"
    path.write_text(text)
    assert recount(path, ["a"], "b", category_line=True).records == 0


@pytest.mark.parametrize("text", ["a,b\n1,2\n\0,2\n", '"a",b\n1,2\n\0,2\n3,4\n'])
def test_what_is_no_text_is_refused(tmp_path, text):
    path = tmp_path / "file.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="cannot be read as delimited text"):
        recount(path, ["a"], "b", category_line=True)


def test_a_row_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(recount_blocks, "BLOCK_BYTES", 64)
    monkeypatch.setattr(recount_blocks, "LONGEST_ROW_BYTES", 1000)
    path = tmp_path / "file.csv"
    path.write_text("a,b\n" + "x" * 5000)
    with pytest.raises(InputError, match="cannot be read as delimited text"):
        recount(path, ["a"], "b")


@pytest.mark.parametrize("delimiter", ["ab", "§", '"', "\n"])
def test_what_cannot_part_fields_is_refused(tmp_path, delimiter):
    path = tmp_path / "file.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="cannot be a delimiter"):
        recount(path, ["a"], "b", delimiter=delimiter)


def test_a_used_column_in_another_encoding_than_said_is_refused(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes("a,b,note\né,r,\n".encode("latin-1"))
    with pytest.raises(InputError, match="cannot be read as delimited text"):
        recount(path, ["a"], "b", encoding="utf-8")
    assert recount(path, ["note"], "b", encoding="utf-8").records == 1


@quick
@given(st.lists(st.lists(st.binary(max_size=20), max_size=50), max_size=6), st.sampled_from([2, 256]))
def test_values_are_numbered_in_the_order_in_which_they_come(blocks, slots):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recount_values, "_FIRST_SLOTS", slots)
        patch.setattr(recount_values, "_FIRST_BYTES", slots)
        values = Values()
    numbers: dict[bytes, int] = {}
    for block in blocks:
        ends = np.cumsum([len(value) for value in block], dtype=np.int32)
        starts = np.append(np.int32(0), ends[:-1]) if block else ends
        fields = Fields(np.frombuffer(b"".join(block) or b"\0", np.uint8), starts, ends)
        assert values.codes(fields).tolist() == [numbers.setdefault(value, len(numbers)) for value in block]
    assert values.number == len(numbers)


def test_numbers_that_count_up_spread_over_the_slots():
    """Region ids are often numbered; a hash that crowds them would make verification endless."""
    texts = [f"{92_000_000 + i}".encode() for i in range(60_000)]
    places = [
        int(recount_values.hash_bytes(np.frombuffer(text, np.uint8), np.uint64(0), np.uint64(8))) % (1 << 16)
        for text in texts
    ]
    assert max(Counter(places).values()) < 12


@quick
@given(
    st.lists(st.lists(st.tuples(*[st.integers(0, 9)] * 3), max_size=30), max_size=5),
    st.sampled_from([1, 7, 1 << 21]),
    st.sampled_from([1, 1 << 5, 1 << 63]),
)
def test_classes_add_up_like_a_counter(blocks, pending, widest):
    expected: Counter[tuple[int, ...]] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recount_classes, "PENDING_RECORDS", pending)
        patch.setattr(recount_classes, "WIDEST", widest)
        classes = Classes(3)
        for block in blocks:
            expected.update(block)
            columns = np.array(block, np.int32).reshape(len(block), 3).T
            numbers = [1 + max((row[place] for row in expected), default=0) for place in range(3)]
            classes.add(list(columns), numbers)
        assert sorted(classes.sizes().tolist()) == sorted(expected.values())


def test_ten_columns_of_a_thousand_values_are_too_many_for_one_number_and_counted_all_the_same(tmp_path):
    rows = [[str((row * (place + 3)) % 1009) for place in range(10)] for row in range(2018)]
    path = tmp_path / "file.csv"
    path.write_text("\n".join(",".join(row) for row in [[f"c{place}" for place in range(10)], *rows]))
    assert recount(path, [f"c{place}" for place in range(1, 10)], "c0").vector == {2: 1009}


@pytest.mark.parametrize("quote", ["", '"'])
def test_names_and_category_line_may_be_longer_than_a_block(tmp_path, quote):
    names = [f"{'column ' * 60}{place}" for place in range(9_000)]
    row = ",".join(f"{quote}{'x' * 400}{quote}" for _ in names)
    path = tmp_path / "file.csv"
    path.write_text("\n".join([",".join(f"{quote}{name}{quote}" for name in names), row, row]))
    assert path.stat().st_size > 3 * recount_blocks.BLOCK_BYTES
    assert recount(path, names[:1], names[-1], category_line=True).vector == {1: 1}


def test_blocks_tell_of_the_wanted_columns_alone():
    table = Table(";", 3, [2, 0], skipped=1)
    texts: list[list[bytes]] = [[], []]
    for block in blocks_of(io.BytesIO(b"a;b;c\r\n1;22;333\r\n\r\n;;x"), table):
        for column, fields in zip(texts, block, strict=True):
            column += [bytes(fields.data[a:b]) for a, b in zip(fields.starts, fields.ends, strict=True)]
    assert texts == [[b"333", b"x"], [b"1", b""]]

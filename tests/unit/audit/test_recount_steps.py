"""Every step of verification against the plainest way of doing it."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.audit import coded_file, combinations, csv_stream
from vbas_desktop.audit.recount import recount
from vbas_desktop.audit.text_form import StatedForm
from vbas_desktop.model.findings import InputError

quick = settings(max_examples=60, deadline=None)
plain_words = st.sampled_from(
    ["", "1", "01", "a", "é", "日本", "r1", " ", "a long value of a class", "1.5"]
)
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
    st.sampled_from([1, 5, 1 << 17]),
    st.sampled_from([0, 1 << 22]),
    st.sampled_from([1 << 12, 1 << 62]),
    st.booleans(),
)
def test_any_dialect_block_and_width_of_classes_gives_what_a_plain_counter_gives(
    tmp_path_factory, file, data, block, pending, few, most, compressed
):
    names, rows, content = file
    chosen = data.draw(st.permutations(names))[: data.draw(st.integers(2, len(names)))]
    category_line = data.draw(st.booleans())
    path = tmp_path_factory.mktemp("recount") / "file.csv"
    path.write_bytes(gzip.compress(content) if compressed else content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_stream, "PIECE_BYTES", block)
        patch.setattr(csv_stream, "HEAD_BYTES", block)
        patch.setattr(coded_file, "CHUNK_ROWS", pending)
        patch.setattr(combinations, "PENDING_KEYS", pending)
        patch.setattr(combinations, "FEW_KEYS", few)
        patch.setattr(combinations, "KEYS_PER_ROW", few)
        patch.setattr(combinations, "MOST_KEYS", most)
        found = recount(path, chosen[1:], chosen[0], StatedForm(category_line=category_line))
    places = [names.index(name) for name in chosen]
    expected = Counter(
        tuple(row[place] for place in places) for row in rows[1 if category_line else 0 :]
    )
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
        patch.setattr(csv_stream, "PIECE_BYTES", block)
        patch.setattr(csv_stream, "HEAD_BYTES", block)
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
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", 64)
    rows = [f"{i % 4},r{i % 3},note" for i in range(100)]
    rows[quote_at] = rows[quote_at].replace("note", '"two\nlines, one ""note"""')
    path = tmp_path / "file.csv"
    path.write_text("\n".join(["a,b,c", *rows]))
    expected = Counter((i % 4, i % 3) for i in range(100))
    assert recount(path, ["a"], "b").vector == Counter(expected.values())


@pytest.mark.parametrize("text", ["a,b\r1,2\r1,2\r", "a,b\n1,2\n1,2\r3,4\n"])
def test_lone_returns_are_end_rows(tmp_path, text):
    path = tmp_path / "file.csv"
    path.write_bytes(text.encode())
    assert recount(path, ["a"], "b").records == text.count(",") - 1


@pytest.mark.parametrize("category_line", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("block", [100, 1 << 19])
@pytest.mark.parametrize(
    "open_row", ['"1,r,note', '1,"r,note', '1,r,"note', '"1,r,note\n1,r,note', '1,r,"']
)
def test_a_quote_that_is_not_closed_cannot_swallow_records(
    tmp_path, monkeypatch, category_line, rows, block, open_row
):
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", block)
    path = tmp_path / "file.csv"
    path.write_text("a,b,c\n" + "1,r,note\n" * rows + open_row)
    with pytest.raises(InputError) as refusal:
        recount(path, ["a"], "b", StatedForm(category_line=category_line))
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
    assert recount(path, ["a"], "b", StatedForm(category_line=True)).records == 0


@pytest.mark.parametrize("text", ["a,b\n1,2\n\0,2\n", '"a",b\n1,2\n\0,2\n3,4\n'])
def test_what_is_no_text_is_refused(tmp_path, text):
    path = tmp_path / "file.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="cannot be read as delimited text"):
        recount(path, ["a"], "b", StatedForm(category_line=True))


def test_a_row_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", 64)
    monkeypatch.setattr(csv_stream, "HEAD_BYTES", 64)
    monkeypatch.setattr(csv_stream, "LONGEST_ROW_BYTES", 1000)
    path = tmp_path / "file.csv"
    path.write_text("a,b\n" + "x" * 5000)
    with pytest.raises(InputError, match="cannot be read as delimited text"):
        recount(path, ["a"], "b")


@pytest.mark.parametrize("delimiter", ["ab", "§", '"', "\n"])
def test_what_cannot_part_fields_is_refused(tmp_path, delimiter):
    path = tmp_path / "file.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="cannot be a delimiter"):
        recount(path, ["a"], "b", StatedForm(delimiter=delimiter))


def test_a_used_column_in_another_encoding_than_said_is_refused(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes("a,b,note\né,r,\n".encode("latin-1"))
    with pytest.raises(InputError, match="cannot be read as delimited text"):
        recount(path, ["a"], "b", StatedForm(encoding="utf-8"))
    assert recount(path, ["note"], "b", StatedForm(encoding="utf-8")).records == 1


def test_ten_columns_of_a_thousand_values_are_too_many_for_one_number_and_counted_all_the_same(tmp_path):
    rows = [[str((row * (place + 3)) % 1009) for place in range(10)] for row in range(2018)]
    path = tmp_path / "file.csv"
    path.write_text("\n".join(",".join(row) for row in [[f"c{place}" for place in range(10)], *rows]))
    assert recount(path, [f"c{place}" for place in range(1, 10)], "c0").vector == {2: 1009}


@pytest.mark.parametrize("quote", ["", '"'])
def test_names_and_category_line_may_be_longer_than_a_block(tmp_path, quote):
    names = [f"{'column ' * 600}{number}" for number in range(900)]
    row = ",".join(f"{quote}{'x' * 4_000}{quote}" for _ in names)
    path = tmp_path / "file.csv"
    path.write_text("\n".join([",".join(f"{quote}{name}{quote}" for name in names), row, row]))
    assert path.stat().st_size > 3 * csv_stream.HEAD_BYTES
    assert recount(path, names[:1], names[-1], StatedForm(category_line=True)).vector == {1: 1}


@pytest.mark.parametrize("above", [b"", b"\n\n"])
def test_line_2_without_any_value_is_a_line_but_an_empty_line_is_none(tmp_path, above):
    path = tmp_path / "file.csv"
    path.write_bytes(b"c0,c1\n" + above + b",\na,b\n,\n")
    found = recount(path, ["c1"], "c0", StatedForm(category_line=True))
    assert (found.records, found.vector) == (2, {1: 2})

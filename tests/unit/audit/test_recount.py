"""Verification reads a file back with a parser and a counter of its own."""

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


def written(tmp_path, content, name="release.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_the_smallest_class_is_the_anonymity(tmp_path):
    path = written(tmp_path, "age,sex,region\n1,F,a\n1,F,a\n1,M,a\n1,M,a\n1,M,a\n1,F,b\n1,F,b\n")
    found = recount(path, ["age", "sex"], "region")
    assert (found.records, found.regions, found.classes, found.anonymity) == (7, 2, 3, 2)
    assert found.vector == {2: 2, 3: 1}
    assert [found.violating_records(k) for k in (1, 2, 3, 4)] == [0, 0, 4, 7]
    assert [found.violating_classes(k) for k in (1, 2, 3, 4)] == [0, 0, 2, 3]
    assert found.is_anonymous(2)
    assert not found.is_anonymous(3)


def test_the_same_values_in_two_regions_are_two_classes(tmp_path):
    assert recount(written(tmp_path, "a,region\nx,1\nx,2\n"), ["a"], "region").anonymity == 1


def test_a_file_without_records_violates_nothing(tmp_path):
    found = recount(written(tmp_path, "a,region\n"), ["a"], "region")
    assert (found.records, found.anonymity, found.violating_records(5)) == (0, None, 0)


def test_a_category_line_is_left_out_when_told(tmp_path):
    path = written(tmp_path, "a,region\n2,1\nx,r\nx,r\n")
    assert recount(path, ["a"], "region", StatedForm(category_line=True)).anonymity == 2
    assert recount(path, ["a"], "region").anonymity == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("compressed", [False, True])
def test_any_usual_way_of_writing_is_understood(tmp_path, delimiter, encoding, compressed):
    rows = [["größe", "region"], ["é", "x"], ["é", "x"], ["", "x"], ["", "x"]]
    data = "".join(delimiter.join(row) + "\r\n" for row in rows).encode(encoding)
    path = written(tmp_path, gzip.compress(data) if compressed else data)
    said = "latin-1" if encoding == "latin-1" else None
    found = recount(path, ["größe"], "region", StatedForm(encoding=said))
    assert (found.records, found.anonymity, found.classes) == (4, 2, 2)


def test_latin_1_in_the_records_is_found_out(tmp_path):
    path = written(tmp_path, "a,region\né,x\né,x\n".encode("latin-1"))
    assert recount(path, ["a"], "region").anonymity == 2


def test_latin_1_in_the_names_is_found_out(tmp_path):
    path = written(tmp_path, "âge;Région\né;x\né;x\n".encode("latin-1"))
    assert recount(path, ["âge"], "Région").anonymity == 2


def test_names_in_utf_8_are_read_although_a_column_that_does_not_matter_is_not(tmp_path):
    path = written(tmp_path, "âge,Région,note\n".encode() + "1,x,\n1,x,é\n".encode("latin-1"))
    assert recount(path, ["âge"], "Région").anonymity == 2


def test_names_that_are_not_in_the_given_encoding_are_told(tmp_path):
    path = written(tmp_path, "âge,Région\n1,x\n".encode("latin-1"))
    with pytest.raises(InputError) as caught:
        recount(path, ["âge"], "Région", StatedForm(encoding="utf-8"))
    assert [finding.code for finding in caught.value.findings] == ["not-text"]


def test_values_that_only_look_alike_are_different_classes(tmp_path):
    path = written(tmp_path, "a,region\n1,x\n01,x\n1.0,x\n NA,x\nNA,x\n")
    assert recount(path, ["a"], "region").classes == 5


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("a,region\nx,1,2\n", "ragged-row"),
        ("b,region\nx,1\n", "unknown-column"),
        ("a,a,region\nx,y,1\n", "duplicate-name"),
        ("", "empty-file"),
        (b"\x1f\x8b damaged", "not-text"),
    ],
)
def test_a_file_that_cannot_be_counted_is_refused_without_quoting_it(tmp_path, content, code):
    with pytest.raises(InputError) as caught:
        recount(written(tmp_path, content), ["a"], "region")
    assert [finding.code for finding in caught.value.findings] == [code]
    assert "x,1" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.csv: There is no such file"):
        recount(tmp_path / "absent.csv", ["a"], "region")


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(*[st.sampled_from(["", "1", "01", "a,b", 'q"', "é", "line\nbreak"])] * 3), max_size=60
    ),
    block=st.sampled_from([64, 200, 1 << 20]),
)
def test_it_agrees_with_a_counter_over_the_csv_module(tmp_path_factory, rows, block):
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([("a", "b", "region"), *rows])
    path = written(tmp_path_factory.mktemp("recount"), text.getvalue())
    expected = Counter(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_stream, "PIECE_BYTES", block)
        patch.setattr(csv_stream, "HEAD_BYTES", block)
        patch.setattr(coded_file, "CHUNK_ROWS", 1 + block % 8)
        patch.setattr(combinations, "PENDING_KEYS", block % 8)
        found = recount(path, ["a", "b"], "region")
    assert found.vector == Counter(expected.values())
    assert found.records == len(rows)
    assert found.regions == len({row[2] for row in rows})


def test_a_file_without_names_does_not_show_its_first_record(tmp_path):
    with pytest.raises(InputError) as caught:
        recount(written(tmp_path, "41,F,r1\n41,M,r2\n"), ["age"], "region")
    assert "Does line 1 hold the names" in str(caught.value)
    assert "41" not in str(caught.value).replace(str(tmp_path), "")


def test_a_compressed_file_that_ends_early_is_unreadable(tmp_path):
    whole = gzip.compress(("age,region\n" + "".join(f"{n},{n}\n" for n in range(3000))).encode())
    with pytest.raises(InputError, match="cannot be read"):
        recount(written(tmp_path, whole[:-3000], "release.csv.gz"), ["age"], "region")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
@pytest.mark.parametrize("size", range(100, 120))
def test_line_breaks_in_quotes_survive_the_borders_of_pieces(tmp_path, monkeypatch, encoding, size):
    path = written(tmp_path, ("a,region\r\n" + '"é\r\né\r\n",x\r\n' * 60).encode(encoding))
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", size)
    monkeypatch.setattr(csv_stream, "HEAD_BYTES", size)
    assert recount(path, ["a"], "region", StatedForm(encoding=encoding)).vector == {60: 1}

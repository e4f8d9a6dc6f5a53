"""Record files become coded columns: what every later choice stands on."""

import gzip
from collections import Counter

import numpy as np
import pytest

from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.reading import RecordReading


def written(tmp_path, content, name="records.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def texts(table, column):
    values = table.facts(column).categories.values
    return [values[code] for code in table.codes(column)]


def test_categories_are_the_text_of_the_file_in_class_order(tmp_path):
    table = load_records(written(tmp_path, "age,sex,region\n10,F,01\n9,M,1\n10,,NA\n"))
    assert table.rows == 3
    assert table.facts("age").categories.values == ("9", "10")
    assert table.facts("sex").categories.values == ("", "F", "M")
    assert table.facts("region").categories.values == ("01", "1", "NA")
    assert texts(table, "sex") == ["F", "M", ""]
    assert table.facts("sex").missing == 1
    assert table.facts("sex").frequencies.tolist() == [1, 1, 1]


@pytest.mark.parametrize("delimiter", [" ", "x", "y", "~"])
def test_any_character_may_be_the_delimiter_if_it_is_named(tmp_path, delimiter):
    content = f"a{delimiter}b\n1{delimiter}2\n".encode()
    table = load_records(written(tmp_path, content), RecordReading(delimiter=delimiter))
    assert table.file_format.header == ("a", "b")
    assert (texts(table, "a"), texts(table, "b")) == (["1"], ["2"])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("compressed", [False, True])
def test_the_way_a_file_is_written_does_not_change_what_it_says(
    tmp_path, delimiter, line_end, encoding, compressed
):
    rows = [["größe", "region"], ["klein", "Zürich"], ["", "Genève"], ["klein", "Genève"]]
    data = "".join(delimiter.join(row) + line_end for row in rows).encode(encoding)
    table = load_records(written(tmp_path, gzip.compress(data) if compressed else data, "records.txt"))
    assert table.file_format.header == ("größe", "region")
    assert texts(table, "größe") == ["klein", "", "klein"]
    assert texts(table, "region") == ["Zürich", "Genève", "Genève"]
    assert table.file_format.delimiter == delimiter
    assert table.file_format.compressed is compressed
    assert table.file_format.bom is (encoding in ("utf-8-sig", "utf-16"))


def test_quoted_fields_may_hold_delimiters_quotes_and_line_breaks(tmp_path):
    content = 'a,region\n"x, ""y""\nz",1\n"",2\n"b",3\n'
    table = load_records(written(tmp_path, content), RecordReading(category_counts="no"))
    assert texts(table, "a") == ['x, "y"\nz', "", "b"]
    assert [table.row_number(i) for i in range(3)] == [2, 4, 5]


def test_codes_are_as_small_as_they_can_be_and_read_only(tmp_path):
    rows = "".join(f"{i % 256},{i % 257},{i}\n" for i in range(70_000))
    table = load_records(written(tmp_path, "a,b,c\n" + rows))
    assert table.codes("a").dtype == np.uint8
    assert table.codes("b").dtype == np.uint16
    assert not table.facts("c").categorical
    assert table.facts("c").distinct == 70_000
    assert Counter(texts(table, "b")) == Counter(str(i % 257) for i in range(70_000))
    with pytest.raises(ValueError, match="read-only"):
        table.codes("a")[0] = 1
    with pytest.raises(InputError, match="70,000 or more different values: too many for categories"):
        table.codes("c")

"""Parquet gives the same table as text."""

import datetime
import decimal
import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError


def texts(table, column):
    values = table.facts(column).categories.values
    return [values[code] for code in table.codes(column)]


def test_every_kind_of_value_becomes_its_text(tmp_path):
    path = tmp_path / "records.parquet"
    columns = {
        "region": pa.array([46010069, 46010070, 46010069]),
        "age": pa.array([1.0, None, float("nan")]),
        "sex": pa.array(["F", None, "M"]).dictionary_encode(),
        "born": pa.array([datetime.date(2001, 2, 3), None, datetime.date(1999, 12, 31)]),
        "paid": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.00")]),
        "alive": pa.array([True, False, True]),
        "notes": pa.array([["a"], [], None]),
    }
    pq.write_table(pa.table(columns), path)
    table = load_records(path)
    assert table.file_format.format == "parquet"
    assert table.rows == 3
    assert texts(table, "region") == ["46010069", "46010070", "46010069"]
    assert texts(table, "age") == ["1", "", ""]
    assert texts(table, "sex") == ["F", "", "M"]
    assert texts(table, "born") == ["2001-02-03", "", "1999-12-31"]
    assert texts(table, "paid") == ["1.50", "", "2.00"]
    assert texts(table, "alive") == ["true", "false", "true"]
    assert not table.facts("notes").categorical
    assert [finding.code for finding in table.findings] == ["uncodable-column"]
    with pytest.raises(InputError, match="structured or binary values, which cannot be categories"):
        table.codes("notes")
    assert table.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.source.size_bytes == path.stat().st_size


@pytest.mark.parametrize("odd", [["a"], b"1"], ids=["nested", "binary"])
def test_a_first_record_with_one_odd_column_is_no_line_of_category_numbers(tmp_path, odd):
    path = tmp_path / "records.parquet"
    ages, sexes = ["2", *"xy" * 1000], ["2", *"FM" * 1000]
    plain = pa.table({"age": ages, "sex": sexes})
    pq.write_table(plain.add_column(1, "odd", [[odd] * 2001]), path)
    table = load_records(path)
    assert (table.rows, table.file_format.category_line) == (2001, False)
    assert texts(table, "age") == ages
    assert texts(table, "sex") == sexes
    # Without the odd column the same line has the numbers of the categories.
    pq.write_table(plain, path)
    table = load_records(path)
    assert (table.rows, table.file_format.category_line) == (2000, True)


def test_batches_with_different_dictionaries_agree(tmp_path):
    path = tmp_path / "records.parquet"
    expected = [str(i % 300) for i in range(300_000)]
    pq.write_table(pa.table({"a": expected, "b": ["x"] * 300_000}), path, row_group_size=70_000)
    table = load_records(path)
    assert texts(table, "a") == expected


@pytest.mark.parametrize("content", [b"PAR1 and then nothing", b"not parquet at all", b""])
def test_a_damaged_file_is_refused(tmp_path, content):
    path = tmp_path / "records.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a readable Parquet file"):
        load_records(path)


def test_a_file_that_was_made_to_fill_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "records.parquet"
    columns = {"age": pa.array(["5"] * 100_000), "region": pa.array(["a"] * 100_000)}
    pq.write_table(pa.table(columns), path, compression="zstd")
    load_records(path)
    monkeypatch.setattr("vbas_desktop.io.input_checks.EXPANDED_FREELY", 1 << 10)
    monkeypatch.setattr("vbas_desktop.io.input_checks.LARGEST_EXPANSION", 20)
    assert 20 * path.stat().st_size < 200_000, "two hundred thousand values"
    with pytest.raises(InputError, match="unpacks to more than 20 times its size"):
        load_records(path)

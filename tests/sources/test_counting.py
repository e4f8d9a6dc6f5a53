"""Counts are the same whether memory is short or not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_datasets import table

from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.engine import OUT_OF_MEMORY
from vbas_desktop.io.databases.table import DatabaseTable, open_database_table, run_in_parts
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import CodeMap
from vbas_desktop.settings.reading import RecordReading


def opened(folder) -> DatabaseTable:
    return open_database_table(parse_address(str(folder)), RecordReading())


def asked(table: DatabaseTable) -> list[int]:
    """Gets the number of parts whenever they are asked for."""
    numbers, parts = [], table.engine.split_records

    def noting(column: int, number: int):
        numbers.append(number)
        return parts(column, number)

    table.engine.split_records = noting
    return numbers


def test_short_memory_changes_no_count(tmp_path, monkeypatch):
    number, draw = 400_000, np.random.default_rng(5)
    names = pa.array([None, *(f"r{place}" for place in range(3000))])
    many = {
        "region": names.take(pa.array(draw.integers(0, 3001, number))),
        "one": draw.integers(0, 100, number),
        "other": draw.integers(0, 40, number),
    }
    (tmp_path / "visits").mkdir()
    pq.write_table(pa.table(many), tmp_path / "visits" / "a.parquet")
    counts = {}
    for memory in ("512MB", "24MB"):
        monkeypatch.setenv("VBAS_DUCKDB_MEMORY", memory)
        found = opened(tmp_path / "visits")
        numbers = asked(found)
        region = np.arange(found.facts("region").distinct, dtype=np.int32)
        # Some of the regions are not known; the missing one is.
        region[7::50] = -1
        others = [
            CodeMap(name, np.arange(each, dtype=np.int32), each)
            for name, each in (("one", 100), ("other", 40))
        ]
        counts[memory] = found.count(CodeMap("region", region, region.size), others, NO_PROGRESS)
        found.close()
        assert (len(numbers) > 1) == (memory == "24MB")
    (plenty, unknown), (short, unknown_then) = counts.values()
    assert unknown == unknown_then > 0
    assert plenty.records + unknown == number
    assert plenty.equals(short)


def refusal(code: str) -> InputError:
    return InputError(Finding(code, "It cannot be done.", "Do something else."))


@pytest.mark.parametrize(("code", "expected"), [(OUT_OF_MEMORY, [1, 4, 16, 64]), ("unreadable", [1])])
def test_what_smaller_parts_do_not_help_is_told(code, expected, tmp_path):
    (tmp_path / "visits").mkdir()
    pq.write_table(table(), tmp_path / "visits" / "a.parquet")
    found = opened(tmp_path / "visits")
    numbers = asked(found)

    def fail(name: str) -> None:
        raise refusal(code)

    with pytest.raises(InputError) as caught:
        run_in_parts(found.engine, 0, fail)
    found.close()
    assert [finding.code for finding in caught.value.findings] == [code]
    assert numbers == expected

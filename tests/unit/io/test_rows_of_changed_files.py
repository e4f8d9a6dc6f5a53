"""Rows are only read from the file that was loaded."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.records.rows import read_row_texts
from vbas_desktop.model.findings import InputError


def test_rows_of_a_file_that_was_replaced_by_one_of_the_same_size_are_refused(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("age,region\n1,a\n2,b\n")
    table = load_records(path)
    assert list(read_row_texts(table)) == [["1", "a"], ["2", "b"]]
    path.write_text("age,region\n2,b\n1,a\n")
    with pytest.raises(InputError, match="changed"):
        list(read_row_texts(table))


class ActOnce:
    """Progress during which something happens, at the first update."""

    def __init__(self, act):
        self._act = act

    def update(self, stage, fraction=None):
        act, self._act = self._act, None
        if act is not None:
            act()


def write_row_groups(path, value):
    pq.write_table(pa.table({"age": [value] * 40, "region": ["a", "b"] * 20}), path, row_group_size=4)


@pytest.mark.parametrize("in_place", [False, True])
def test_a_parquet_file_that_becomes_another_between_row_groups_is_refused(tmp_path, in_place):
    path = tmp_path / "records.parquet"
    other = tmp_path / "other.parquet"
    write_row_groups(path, "young")
    write_row_groups(other, "older")
    os.utime(path, (0, 0))

    def change():
        if in_place:
            path.write_bytes(other.read_bytes())
        else:
            os.replace(other, path)

    with pytest.raises(InputError, match="changed while it was read"):
        load_records(path, progress=ActOnce(change))


def test_a_text_file_that_is_replaced_after_its_second_line_was_judged_is_refused(tmp_path):
    path = tmp_path / "records.csv"
    other = tmp_path / "other.csv"
    path.write_text("age,region\n2,2\n" + "x,a\ny,b\n" * 200)
    other.write_text("age,region\n2,2\n" + "2,2\n3,2\n" * 200)
    with pytest.raises(InputError, match="changed while it was read"):
        load_records(path, progress=ActOnce(lambda: os.replace(other, path)))

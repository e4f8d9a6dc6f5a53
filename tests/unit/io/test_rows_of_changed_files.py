"""Rows are only read from the file that was loaded."""

import pytest

from vbas_desktop.io.records.row_texts import row_texts
from vbas_desktop.io.records.table import load_records
from vbas_desktop.model.errors import InputError


def test_rows_of_a_file_that_was_replaced_by_one_of_the_same_size_are_refused(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("age,region\n1,a\n2,b\n")
    table = load_records(path)
    assert list(row_texts(table)) == [["1", "a"], ["2", "b"]]
    path.write_text("age,region\n2,b\n1,a\n")
    with pytest.raises(InputError, match="changed"):
        list(row_texts(table))

"""The auditor reads every value as the text that stands in the file, however long the file is."""

import numpy as np

from vbas_desktop.audit.file_columns import CHUNK_ROWS, read_csv


def test_numbers_stay_apart_by_their_notation_in_every_chunk(tmp_path):
    # No value after the first chunk is anything but a number.
    codes = ["007", "7", "7.0", "1e3", "1000"] * (CHUNK_ROWS * 2 // 5 + 1)
    amounts = ["9"] * CHUNK_ROWS + ["9", "9.5"] * (len(codes) - CHUNK_ROWS)
    path = tmp_path / "records.csv"
    rows = [f"{code},{amount}\n" for code, amount in zip(codes, amounts, strict=False)]
    path.write_text("code,amount\n" + "".join(rows))
    names, columns = read_csv(path, [0, 1], 2, ",", "utf-8", lambda: None)
    assert names == ["code", "amount"]
    for column, values in zip(columns, (codes, amounts[: len(codes)]), strict=True):
        assert sorted(column.texts) == sorted(set(values))
        assert (np.array(column.texts)[column.codes] == np.array(values)).all()


def test_truth_values_and_blanks_are_texts_too(tmp_path):
    values = ["TRUE", "true", "True", "NA", "nan", "", "None"]
    path = tmp_path / "records.csv"
    path.write_text("value,other\n" + "".join(f"{value},x\n" for value in values * 3))
    _, (column,) = read_csv(path, [0], 2, ",", "utf-8", lambda: None)
    assert [column.texts[code] for code in column.codes] == values * 3


def test_a_return_inside_a_line_is_part_of_a_value(tmp_path):
    path = tmp_path / "records.csv"
    path.write_bytes(b"value,other\na\rb,x\nc,y\n")
    _, columns = read_csv(path, [0, 1], 2, ",", "utf-8", lambda: None)
    assert [[column.texts[code] for code in column.codes] for column in columns] == [["a\rb", "c"], ["x", "y"]]

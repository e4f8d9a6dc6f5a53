"""`vbas outliers` verifies what it wrote: damaged files, indices and lists are noticed."""

import pytest
from outliers_command import DATA

from vbas_desktop.analysis.outliers import added_columns
from vbas_desktop.cli.main import main
from vbas_desktop.io.records import row_order
from vbas_desktop.io.records.row_order import RecordKeys


@pytest.mark.parametrize("damage", ["swapped", "short", "twice", "elsewhere", "made up"])
def test_an_index_that_does_not_lead_back_is_not_verified(tmp_path, monkeypatch, capsys, damage):
    written = row_order.write_key_index

    def write_damaged(path, *more):
        written(path, *more)
        head, one, two, *rest = path.read_text().splitlines()
        if damage == "swapped":
            one, two = (f"{a.split(',')[0]},{b.split(',', 1)[1]}" for a, b in ((one, two), (two, one)))
        elif damage == "twice":
            two = f"{one.split(',')[0]},{two.split(',', 1)[1]}"
        elif damage == "elsewhere":
            one = f"{one.split(',')[0]},100000,100001"
        elif damage == "made up":
            one = f"{one.split(',')[0]},,"
        path.write_text("\n".join([head, one, *([] if damage == "short" else [two]), *rest]) + "\n")

    monkeypatch.setattr(added_columns, "write_key_index", write_damaged)
    assert fails_verification(tmp_path, "--record-key", "key")
    assert "key" in capsys.readouterr().err


def fails_verification(folder, *more):
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--handle", "merge", "--quiet"]
    code = main(["outliers", str(DATA / "C2.csv"), *common, "--out", str(folder / "out.csv"), *more])
    return code == 3 and list(folder.iterdir()) == []


@pytest.mark.parametrize("damage", ["equal", "lower case"])
def test_keys_of_another_form_or_twice_are_not_verified(tmp_path, monkeypatch, damage):
    compute = RecordKeys.compute

    def make_damaged(self, rows):
        keys = compute(self, rows).copy()
        if damage == "equal":
            keys[1] = keys[0]
        else:
            keys[0, 0] = ord("a")
        return keys

    monkeypatch.setattr(RecordKeys, "compute", make_damaged)
    assert fails_verification(tmp_path, "--record-key", "key")


@pytest.mark.parametrize("damage", ["mean", "category", "count", "plain"])
def test_another_value_or_number_is_not_verified(tmp_path, monkeypatch, damage):
    if damage == "mean":
        monkeypatch.setattr(added_columns, "format_mean", lambda values: "40")
    elif damage == "category":
        monkeypatch.setattr(
            added_columns, "find_most_frequent", lambda values: min(text for text, _ in values)
        )
    elif damage == "count":
        counts = added_columns.AggregatedColumns.write_counts

        def write_damaged(self, path):
            counts(self, path)
            path.write_text(path.read_text().replace(",3\n", ",4\n", 1))

        monkeypatch.setattr(added_columns.AggregatedColumns, "write_counts", write_damaged)
    else:
        monkeypatch.setattr(added_columns.AggregatedColumns, "aggregate", lambda self, row: row)
    assert fails_verification(tmp_path, "--aggregate", "Value,PSA")


def test_a_row_that_was_written_into_another_large_class_is_not_verified(tmp_path, monkeypatch):
    header = (DATA / "C2.csv").read_text().splitlines()[0].split(",")
    places = [header.index("Hh"), header.index("Job")]
    last: list[list[str]] = []

    def write_the_class_of_the_last_row(self, row):
        values = [row[place] for place in places]
        if not last:
            last.append(values)
        elif len(last) == 1 and values != last[0]:
            for place, value in zip(places, last[0], strict=True):
                row[place] = value
            last.append(values)
        return row

    monkeypatch.setattr(added_columns.AggregatedColumns, "aggregate", write_the_class_of_the_last_row)
    target = tmp_path / "out.csv"
    command = [
        "outliers",
        str(DATA / "C2.csv"),
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "2",
        "--handle",
        "merge",
    ]
    # With this seed the row comes from a class of more than k records, so that no class becomes too small.
    assert main([*command, "--quiet", "--shuffle-seed", "1", "--out", str(target)]) == 3
    assert list(tmp_path.iterdir()) == []
    assert last[1] != ["4", "Retired"]

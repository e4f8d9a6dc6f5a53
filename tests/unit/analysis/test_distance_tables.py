"""Given distances of categories: what is read, and what is wrong with a table."""

import pytest

from vbas_desktop.analysis.outliers.treatments import MergeOutliers, TreatmentContext
from vbas_desktop.analysis.representability.distances import (
    ClassDistance,
    check_values_listed,
    read_distance_table,
    read_distance_tables,
)
from vbas_desktop.analysis.representability.record_classes import RecordClasses
from vbas_desktop.model.findings import InputError

JOBS = ";Self;Employee;House\nSelf;0;1;4\nEmployee;1;0;2\nHouse;4;2;0\n"


def test_distances_are_divided_by_the_largest_one(tmp_path):
    (tmp_path / "Job.csv").write_text(JOBS)
    table = read_distance_table(tmp_path / "Job.csv")
    assert (table.column, table.values) == ("Job", ("Self", "Employee", "House"))
    assert table.distances.tolist() == [[0.0, 0.25, 1.0], [0.25, 0.0, 0.5], [1.0, 0.5, 0.0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "There is no table of distances"),
        (";a;b\na;0;1\nb;2;0\n", "row 2: The values of rows 2 and 3 have two distances: 1 and 2"),
        (";a;b\na;0;-1\nb;-1;0\n", "row 2: The distance in field 3 is negative"),
        (";a;b\na;0;1\nb;;0\n", "row 3: The distance in field 2 is missing"),
        (";a;b\na;0;1\nb;1\n", "row 3: The distance in field 3 is missing"),
        (";a;b\na;0;1\n", "The value in field 3 of the first line has a column but no row"),
        (";a;b\na;1;1\nb;1;0\n", "row 2: The distance in field 2 is not 0"),
        (";a;b\na;0;1\nb;1;0\nc;1;1\n", "row 4: The value of this row is unknown"),
        (";a;b\na;0;near\nb;1;0\n", "row 2: The distance in field 3 is not a number"),
        (";a;a\na;0;0\n", "row 1: Fields 2 and 3 name the same value"),
        (";a;b\na;0;1\na;0;1\nb;1;0\n", "row 3: The value of this row has two rows"),
        (";a;b\na;0;1;5\nb;1;0\n", "row 2: The row has 3 distances instead of 2"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_place(tmp_path, text, said):
    (tmp_path / "Job.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_distance_table(tmp_path / "Job.csv")


def test_every_mistake_is_told_at_once(tmp_path):
    (tmp_path / "Job.csv").write_text(";a;b\na;1;-1\nb;;0\n")
    with pytest.raises(InputError) as caught:
        read_distance_table(tmp_path / "Job.csv")
    assert len(caught.value.findings) == 3


def test_values_of_the_records_that_a_table_lacks_are_counted_not_named(tmp_path):
    (tmp_path / "Job.csv").write_text(JOBS)
    classes = RecordClasses.of_labels(["Job"], [("Self",), ("Astronaut",)])
    with pytest.raises(InputError, match="1 value of the records is not in the table") as caught:
        check_values_listed(classes, read_distance_tables(tmp_path, ["Job"]))
    assert "Astronaut" not in str(caught.value)


def test_a_folder_without_any_table_is_refused(tmp_path):
    assert read_distance_tables(None, ["Job"]) == {}
    with pytest.raises(InputError, match=r"no table of distances for any quasi-identifier.*Job\.csv"):
        read_distance_tables(tmp_path, ["Job"])


def test_a_small_class_is_merged_with_the_one_that_the_table_calls_nearest(tmp_path):
    (tmp_path / "Job.csv").write_text(JOBS)
    rows = [("Self",)] * 3 + [("House",)] * 5 + [("Employee",)]
    classes = RecordClasses.of_labels(["Job"], rows)
    plain, given = (
        ClassDistance.of_classes(classes, tables=t)
        for t in ({}, read_distance_tables(tmp_path, ["Job"]))
    )
    assert MergeOutliers().treat(TreatmentContext(classes, 3, {}, plain)).labels == (
        ("Self",),
        ("House",),
        ("House",),
    )
    assert MergeOutliers().treat(TreatmentContext(classes, 3, {}, given)).labels == (
        ("Self",),
        ("House",),
        ("Self",),
    )
    assert [plain.describe_column(0), given.describe_column(0)] == ["matching", "given table"]

"""Line 2: a record or the numbers of response categories? Nothing is decided that is not certain."""

import pytest

from vbas_desktop.io.records.file_format import USUAL_LIMITS, ReadLimits
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError, Severity
from vbas_desktop.settings.reading import RecordReading


def loaded(tmp_path, line_2, records, choice="auto", names="age,sex,region", limits=USUAL_LIMITS):
    path = tmp_path / "records.csv"
    path.write_text(f"{names}\n{line_2}\n" + "".join(f"{record}\n" for record in records))
    return load_records(path, RecordReading(category_counts=choice), limits=limits)


def remarks(table):
    return [(finding.code, finding.severity) for finding in table.findings]


TEXT = [f"{age},{sex},r{region}" for age in ("young", "old") for sex in "FM" for region in range(30)]
CODES = [f"{1 + i % 22},{1 + i % 2},{1 + i % 500}" for i in range(5000)]


def test_numbers_above_text_are_category_numbers(tmp_path):
    table = loaded(tmp_path, "2,2,30", TEXT)
    assert table.file_format.category_line
    assert table.rows == 120
    assert table.facts("sex").categories.values == ("F", "M")
    assert [facts.categories.declared for facts in table.columns] == [2, 2, 30]
    assert remarks(table) == [("category-line", Severity.HINT)]
    assert "taken for the numbers of response categories" in table.findings[0].message
    assert table.row_number(0) == 3


def test_numbers_that_no_record_would_show_together_are_category_numbers(tmp_path):
    table = loaded(tmp_path, "22,2,500", CODES)
    assert table.file_format.category_line
    assert table.rows == 5000
    assert table.facts("age").frequencies.sum() == 5000


def test_a_record_with_a_code_below_the_number_of_values_is_a_record(tmp_path):
    table = loaded(tmp_path, "21,2,500", CODES)
    assert not table.file_format.category_line
    assert table.rows == 5001
    assert remarks(table) == []


def test_a_record_that_could_be_category_numbers_stays_a_record_with_a_warning(tmp_path):
    records = [f"{1 + i % 3},{1 + i % 2},{1 + i % 4}" for i in range(40)]
    table = loaded(tmp_path, "3,2,4", records)
    assert table.rows == 41
    assert remarks(table) == [("category-line", Severity.WARNING)]
    assert "--category-counts yes" in table.findings[0].remedy
    assert loaded(tmp_path, "3,2,4", records, "yes").rows == 40
    assert loaded(tmp_path, "3,2,4", records, "no").findings == ()


def test_large_numbers_alone_do_not_make_a_category_line(tmp_path):
    records = [f"{938000 + 7 * i},{1 + i % 2},{46010069 + i % 9}" for i in range(500)]
    table = loaded(tmp_path, "937000,2,46010070", records)
    assert table.rows == 501
    assert remarks(table) == [("category-line", Severity.WARNING)]


def test_a_category_line_that_a_column_exceeds_is_not_passed_over_in_silence(tmp_path):
    table = loaded(tmp_path, "2,2,29", TEXT)
    assert table.rows == 121
    assert remarks(table) == [("category-line", Severity.WARNING)]
    assert "a column has more values than it says" in table.findings[0].message


@pytest.mark.parametrize(
    "line_2", ["22,F,500", "22,,500", "0,2,500", "022,2,500", "22,2.0,500", "-22,2,500"]
)
def test_anything_but_positive_integers_is_a_record(tmp_path, line_2):
    table = loaded(tmp_path, line_2, CODES)
    assert table.rows == 5001
    assert remarks(table) == []


def test_forced_numbers_that_are_exceeded_give_a_warning_per_column(tmp_path):
    table = loaded(tmp_path, "1,2,29", TEXT, "yes")
    assert table.rows == 120
    assert remarks(table) == [("category-line-exceeded", Severity.WARNING)] * 2
    assert str(table.findings[0]).endswith(
        "row 2, column “age”: There are 2 values, but the category line says 1; the values present count. "
        "Correct the category line or the values."
    )
    assert [facts.categories.number for facts in table.columns] == [2, 2, 30]


def test_missing_values_do_not_exceed_the_category_line(tmp_path):
    table = loaded(tmp_path, "2,2,30", [*TEXT, ",F,r1"])
    assert table.file_format.category_line
    assert table.facts("age").categories.number == 3


def test_forcing_a_line_that_holds_no_numbers_is_refused(tmp_path):
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, "young,F,30", TEXT, "yes")
    assert [(f.code, f.row, f.column) for f in caught.value.findings] == [
        ("category-line", 2, "age"),
        ("category-line", 2, "sex"),
    ]
    with pytest.raises(InputError, match="a number of categories for each column"):
        loaded(tmp_path, "", [], "yes")


def test_a_file_of_names_and_category_numbers_has_no_records(tmp_path):
    with pytest.raises(InputError, match="column names but no records"):
        loaded(tmp_path, "2,2,30", [], "yes")


def test_a_number_left_out_is_no_missing_value_in_a_column_with_too_many_values(tmp_path):
    rows = [f"{i % 22},{i if i % 5 else ''},r" for i in range(100)]
    table = loaded(tmp_path, "22,,3", rows, "yes", limits=ReadLimits(distinct=10))
    assert not table.facts("sex").categorical
    assert table.facts("sex").missing == 20


def test_a_second_line_that_the_first_block_cuts_is_judged_as_a_whole(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a,b,region\n2,3,2\n" + "x,u,r1\ny,v,r2\nx,w,r1\n" * 20)
    whole = load_records(path)
    assert whole.file_format.category_line
    for size in range(20, 40):
        table = load_records(path, limits=ReadLimits(block_bytes=size))
        assert (table.rows, table.file_format) == (whole.rows, whole.file_format)
        assert [table.facts(name).categories for name in "ab"] == [
            whole.facts(name).categories for name in "ab"
        ]

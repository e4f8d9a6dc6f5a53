"""Quasi-identifiers with categories that differ only by blanks: `vbas run` says so, and --generalise joins them."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.cli.main import main
from vbas_desktop.model.value_notation import count_joinable, join_groups, without_blanks

ODD = ["f ", " f", "\xa0f", "f\u200b", "\tf"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    rows = [["30", "fm"[number % 2], f"r{number % 16}"] for number in range(480)]
    for number, value in enumerate(ODD):
        rows[2 * number][1] = value
    with (tmp_path / "records.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["age", "sex", "region"], *rows])
    text = "id,x,y\n" + "".join(f"r{number},{number % 4},{number // 4}\n" for number in range(16))
    (tmp_path / "regions.csv").write_text(text)
    monkeypatch.chdir(tmp_path)


def release(*more):
    words = [
        "run",
        "records.csv",
        "regions.csv",
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
    ]
    sites = [
        "-k",
        "5",
        "--site-number",
        "fixed",
        "--sites",
        "4",
        "--range-reach",
        "0",
        "--no-pdf",
        "--out",
        "out",
    ]
    return main([*words, *sites, *more])


def test_the_column_the_number_and_the_rows_are_named_but_no_value(files, capsys):
    assert release() == 0
    told = capsys.readouterr().err
    assert (
        "records.csv, column “sex”: 5 categories differ from others only by blanks or invisible characters around them "
        "(first in rows 2, 4, 6, 8, 10) and count separately. To join them, name a file with the columns "
        "column,value,group by --generalise FILE" in told
    )
    assert not any(f"“{value}”" in told for value in ODD)


def test_the_named_way_joins_them(files, capsys):
    with open("groups.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["column", "value", "group"], *(["sex", value, "f"] for value in ODD)]
        )
    assert release("--generalise", "groups.csv") == 0
    assert "only by blanks" not in capsys.readouterr().err
    with open("out/release/anonymized.csv", encoding="utf-8", newline="") as file:
        assert [row["sex"] for row in csv.DictReader(file)].count("f") == 240


def test_blanks_alone_are_a_missing_value(files, capsys):
    with open("records.csv", "a", encoding="utf-8") as file:
        file.write("30, ,r1\n" * 6 + "30,,r1\n" * 6)
    assert release() == 0
    assert "6 categories differ" in capsys.readouterr().err


TEXTS = st.lists(st.text(st.sampled_from("ab \t\xa0\u200b"), max_size=4), unique=True, max_size=8)


@given(
    TEXTS,
    st.dictionaries(st.text(st.sampled_from("ab "), max_size=3), st.sampled_from(["a", "a ", "b", "x"])),
)
def test_joining_leaves_nothing_to_join_and_no_two_categories_with_another_text(values, groups):
    joined = join_groups(values, groups)
    assert count_joinable(values, joined) == 0
    for value in values:
        assert without_blanks(joined[value]) == without_blanks(groups.get(value, value))
    alike = {without_blanks(groups.get(value, value)) for value in values}
    assert len(set(joined.values())) == len(alike)

"""A hierarchy without a row for every value of its column is refused wherever one is read."""

from __future__ import annotations

import pytest

from vbas_desktop import api
from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import InputError

SAID = "column “age”: The hierarchy has no row for 2 values of the records (first in rows 3, 5, 7, 9, 11 …)."
REMEDY = "Add a row value;level1;level2 for each of them."


@pytest.fixture
def files(tmp_path):
    """Records whose ages are 31, middle-aged, 52 and empty, and two regions."""
    ages = ("31", "middle-aged", "52", "")
    rows = [f"P{at},{ages[at % 4]},{at // 4 % 2 + 1},R{at % 2}" for at in range(80)]
    (tmp_path / "records.csv").write_text("person,age,sex,region\n" + "\n".join(rows) + "\n")
    (tmp_path / "regions.csv").write_text("id,x,y\nR0,0,0\nR1,5,5\n")
    levels = tmp_path / "levels"
    levels.mkdir()
    (levels / "age.csv").write_text("31;30-39;*\n52;50-59;*\n99;90-99;*\n")
    return tmp_path


def commands(folder):
    records, regions, age = (
        str(folder / name) for name in ("records.csv", "regions.csv", "levels/age.csv")
    )
    plain = ["--region-column", "region", "--identifiers", "person", "-k", "2"]
    pair = ["--quasi-identifiers", "age,sex", "--hierarchies", str(folder / "levels"), "-k", "2"]
    out = ["--out", str(folder / "out")]
    names = ["--quasi-identifiers", "age,sex"]
    return {
        "run": ["run", records, regions, *plain, *names, "--generalise", f"age={age}:1", *out],
        "compare": ["compare", records, regions, *plain, *names, "--generalise", f"age={age}", *out],
        "search": ["search", records, regions, *plain, *names, "--ladder", f"age={age}", *out],
        "outliers": [
            "outliers",
            records,
            *pair,
            "--handle",
            "generalise",
            "--out",
            str(folder / "out.csv"),
        ],
        "representability": ["representability", records, records, *pair, "--key", "person"],
    }


@pytest.mark.parametrize("command", ["run", "compare", "search", "outliers", "representability"])
def test_every_command_refuses_it_and_names_rows_only(files, capsys, command):
    before = {path.name for path in files.iterdir()}
    assert main(commands(files)[command]) == 1
    said = capsys.readouterr().err
    assert SAID in said
    assert f"{REMEDY} Empty fields need one, too: ;level1;level2." in said
    assert "middle-aged" not in said
    assert {path.name for path in files.iterdir()} == before


@pytest.mark.parametrize("command", ["run", "search", "outliers", "representability"])
def test_a_complete_one_is_accepted(files, capsys, command):
    with (files / "levels" / "age.csv").open("a") as file:
        file.write("middle-aged;40-49;*\n;none;*\n")
    assert main(commands(files)[command]) == 0
    assert "hierarchy" not in capsys.readouterr().err


def test_python_refuses_it_too(files):
    chosen = {"region_column": "region", "quasi_identifiers": ["age", "sex"], "identifiers": ["person"]}
    with pytest.raises(InputError) as refused:
        api.read(
            files / "records.csv",
            files / "regions.csv",
            groups=f"age={files / 'levels' / 'age.csv'}",
            **chosen,
        )
    assert "no row for 2 values" in str(refused.value)


def test_the_row_to_add_has_the_delimiter_of_the_file(files, capsys):
    (files / "levels" / "age.csv").write_text("31,30-39\n52,50-59\n,none\n")
    assert main(commands(files)["run"]) == 1
    said = capsys.readouterr().err
    assert "no row for 1 value of the records (first in rows 3, 7, 11, 15, 19 …)." in said
    assert "Add a row value,level1 for each of them." in said
    assert "Empty fields" not in said


def test_a_hierarchy_of_groups_lists_the_groups_not_the_values(files):
    (files / "groups.csv").write_text(
        "column,value,group\nage,31,young\nage,middle-aged,young\nage,52,old\nage,,none\n"
    )
    (files / "levels" / "age.csv").write_text("young;all\nold;all\nnone;all\n")
    first, *rest = commands(files)["run"]
    assert main([first, *rest[:2], "--generalise", str(files / "groups.csv"), *rest[2:]]) == 0


def test_a_file_of_groups_need_not_list_every_value(files):
    (files / "groups.csv").write_text("column,value,group\nage,31,young\n")
    command = commands(files)["run"]
    at = command.index("--generalise")
    command[at + 1] = str(files / "groups.csv")
    assert main(command) == 0

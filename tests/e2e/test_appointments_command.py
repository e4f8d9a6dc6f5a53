"""`vbas appointments` from files to files."""

import csv
import json

import pytest

from vbas_desktop.cli.main import main

ROWS = [
    "8mN",
    "1mS",
    "1fS",
    "9fN",
    "8mN",
    "1fS",
    "1fS",
    "1mS",
    "1fS",
    "9fN",
    "1mS",
    "1fS",
    "8mN",
    "8mN",
    "1mS",
]
PEOPLE = "id,zip,gender,area\n" + "".join(
    f"p{n},{row[0]},{row[1]},{row[2]}\n" for n, row in enumerate(ROWS)
)
SLOTS = "centre,time,capacity,region\nA,9,4,N\nA,13,2,N\nB,9,4,S\nB,13,3,S\nC,13,2,S\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "slots.csv").write_text(SLOTS)
    return [str(tmp_path / "people.csv"), str(tmp_path / "slots.csv")]


def appointments(files, *options):
    return main(["appointments", *files, "--quasi-identifiers", "zip,gender", "--quiet", *options])


def test_a_plan_is_written_with_everybody_in_it(files, tmp_path, capsys):
    out = tmp_path / "plan"
    assert (
        appointments(files, "--id-column", "id", "--planner", "optimal", "--out", str(out), "--json")
        == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((out / "plan.json").read_text())
    assert printed["vector"] == [0, 2, 1, 2]
    assert printed["vector_before"] == [0, 1, 0, 2, 1]
    assert (printed["people"], printed["seats"], printed["k"], printed["proof"]) == (
        15,
        15,
        2,
        "optimal",
    )
    assert printed["improvement_exact"] is True
    with (out / "appointments.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["id"] for row in rows] == [f"p{n}" for n in range(15)]
    with (out / "plan.csv").open() as stream:
        assert sum(int(row["people"]) for row in csv.DictReader(stream)) == 15


def test_someone_who_cannot_attend_gets_a_list(files, tmp_path, capsys):
    with open(files[1], "a") as stream:
        stream.write("D,9,3,N\n")
    out = tmp_path / "plan"
    assert appointments(files, "--id-column", "id", "--out", str(out)) == 0
    capsys.readouterr()
    assert appointments(files, "--id-column", "id", "--plan", str(out), "--cannot-attend", "p4") == 0
    assert "anonymity vector" in capsys.readouterr().out
    assert appointments(files, "--id-column", "id", "--plan", str(out), "--cannot-attend", "nobody") == 1


def test_formulas_are_escaped_and_a_plan_with_them_is_read_again(tmp_path, capsys):
    people, slots, out = tmp_path / "people.csv", tmp_path / "slots.csv", tmp_path / "plan"
    people.write_text("=id,zip\n=1+1,=2\np1,'=2\np2,'=2\n-4,=2\n")
    slots.write_text("centre,time,capacity\n@A,9,2\n'@A,9,2\n@A,13,1\n")
    command = [
        "appointments",
        str(people),
        str(slots),
        "--quasi-identifiers",
        "zip",
        "--id-column",
        "=id",
        "--quiet",
    ]
    assert main([*command, "--out", str(out)]) == 0
    with (out / "appointments.csv").open() as stream:
        header, *rows = csv.reader(stream)
    assert header == ["'=id", "centre", "time"]
    assert [row[0] for row in rows] == ["'=1+1", "p1", "p2", "-4"]
    assert {row[1] for row in rows} == {"'@A"}
    with (out / "plan.csv").open() as stream:
        written = list(csv.reader(stream))
    assert {row[0] for row in written[1:]} == {"'=2", "''=2"}
    assert {row[1] for row in written[1:]} == {"'@A", "''@A"}
    capsys.readouterr()
    assert main([*command, "--plan", str(out), "--cannot-attend", "p1"]) == 0
    assert "anonymity vector" in capsys.readouterr().out


def test_a_table_of_classes_can_be_planned(tmp_path, capsys):
    (tmp_path / "classes.csv").write_text("zip,n\na,4\nb,4\nc,5\nd,2\n")
    (tmp_path / "slots.csv").write_text(SLOTS)
    files = [str(tmp_path / "classes.csv"), str(tmp_path / "slots.csv")]
    options = ["--quasi-identifiers", "zip", "--count-column", "n", "--json", "--quiet"]
    assert main(["appointments", *files, *options]) == 0
    assert json.loads(capsys.readouterr().out)["vector"] == [0, 2, 1, 2]


@pytest.mark.parametrize(
    ("planner", "fill", "vector"),
    [
        ("heuristic", "closest", [0, 2, 1, 2]),
        ("heuristic", "listing", [0, 2, 1, 2]),
        ("heuristic", "largest", [2, 3, 1, 1]),
        ("better", "largest", [0, 4, 1, 1]),
    ],
)
def test_the_heuristic_splits_classes_as_it_is_told(files, planner, fill, vector, capsys):
    assert appointments(files, "--planner", planner, "--set", f"heuristic.fill={fill}", "--json") == 0
    assert json.loads(capsys.readouterr().out)["vector"] == vector


@pytest.mark.parametrize(
    ("assignment", "code", "said"),
    [
        ("heuristic.fill=most", 1, "closest, listing"),
        ("heuristic.size=3", 1, "no option “size”"),
        ("hurry.fill=closest", 1, "no planner “hurry”"),
        ("better.time_limit=3", 2, "the planner heuristic does not use it"),
        ("fill", 2, "APPROACH.PARAMETER=VALUE"),
    ],
)
def test_parameters_that_do_not_exist_are_refused(files, assignment, code, said, capsys):
    assert appointments(files, "--set", assignment) == code
    assert said in capsys.readouterr().err


def test_people_stay_in_their_region(files, tmp_path):
    out = tmp_path / "plan"
    assert appointments(files, "--region-column", "area", "--same-region", "--out", str(out)) == 0
    with (out / "plan.csv").open() as stream:
        homes = {(row["area"], row["centre"]) for row in csv.DictReader(stream)}
    assert homes == {("N", "A"), ("S", "B"), ("S", "C")}


def test_people_stay_within_a_distance_of_their_region(files, tmp_path):
    (tmp_path / "regions.csv").write_text("id,x,y\nN,0,0\nS,100000,0\n")
    with open(files[1], "w") as stream:
        stream.write("centre,time,capacity,x,y\nA,9,6,3000,4000\nB,9,9,100000,0\n")
    near = ["--region-column", "area", "--regions", str(tmp_path / "regions.csv"), "--within-km"]
    assert appointments(files, *near, "5", "--out", str(tmp_path / "plan")) == 0
    assert appointments(files, *near, "4.9") == 1


@pytest.mark.parametrize(
    ("slots", "said"),
    [
        ("centre,time,capacity\nA,9,4\n", "11 seats are missing"),
        ("centre,time,capacity\nA,9,-4\n", "row 2, column “capacity”: The capacity is negative."),
        ("centre,time,capacity\nA,9,many\n", "The capacity is no whole number."),
        ("centre,time,capacity\nA,9,9\nA,9,9\n", "row 3: The same centre and time were listed before."),
        ("centre,capacity\nA,9\n", "There is no column “time”."),
        ("centre,time,capacity\nA,9\n", "The row has 2 fields instead of 3."),
        ("centre,time,capacity\n", "The file has no slots."),
    ],
)
def test_bad_slots_are_named(files, slots, said, capsys):
    with open(files[1], "w") as stream:
        stream.write(slots)
    assert appointments(files) == 1
    assert said in capsys.readouterr().err


def test_people_listed_twice_are_refused_by_row(files, capsys):
    with open(files[0], "a") as stream:
        stream.write("p0,8,m,N\n")
    assert appointments(files, "--id-column", "id") == 1
    message = capsys.readouterr().err
    assert "listed more than once (rows 2, 17 …)" in message
    assert "p0" not in message


def test_a_region_without_slots_is_counted(files, capsys):
    with open(files[1], "w") as stream:
        stream.write("centre,time,capacity,region\nA,9,20,N\n")
    assert appointments(files, "--region-column", "area", "--same-region") == 1
    assert "9 people of 2 classes may use no slot at all" in capsys.readouterr().err


@pytest.fixture
def mixed(tmp_path):
    """34 people from here and two each of three other countries, and two slots of 20."""
    countries = ["here"] * 34 + [name for name in ("a", "b", "c") for _ in range(2)]
    rows = [f"p{number},{country},{number % 2}" for number, country in enumerate(countries)]
    (tmp_path / "people.csv").write_text("id,country,sex\n" + "\n".join(rows) + "\n")
    (tmp_path / "slots.csv").write_text("centre,time,capacity\nA,9,20\nB,9,20\n")
    return [str(tmp_path / "people.csv"), str(tmp_path / "slots.csv")]


def plan_mixed(mixed, *options):
    columns = ["--quasi-identifiers", "country,sex", "--group-column", "country", "--majority", "here"]
    return main(["appointments", *mixed, *columns, "--quiet", *options])


@pytest.mark.parametrize("planner", ["heuristic", "better", "optimal", "random"])
def test_other_groups_than_the_majority_are_few_and_several_in_every_slot(
    mixed, planner, tmp_path, capsys
):
    out = tmp_path / "plan"
    assert plan_mixed(mixed, "--planner", planner, "--out", str(out), "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["slots_with_other_groups"], facts["largest_other_share"]) == (2, 0.15)
    with (out / "plan.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    for centre in ("A", "B"):
        here = [(row["country"], int(row["people"])) for row in rows if row["centre"] == centre]
        others = [each for each in here if each[0] != "here"]
        assert sum(number for _, number in others) == 3
        assert sum(number for _, number in here) == 20
        assert {country for country, _ in others} == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["--max-share", "0.1"],
            1,
            "With at most 10 % of a slot for all groups but the majority together, 2 people",
        ),
        (["--min-groups", "4"], 1, "There are only 3 other groups than the majority, but at least 4"),
        (["--max-share", "0"], 1, "A share is above 0"),
    ],
)
def test_limits_that_cannot_be_kept_are_told_with_the_reason(mixed, options, code, said, capsys):
    assert plan_mixed(mixed, *options) == code
    assert said in capsys.readouterr().err


def test_a_majority_needs_a_group_column_and_somebody_in_it(mixed, capsys):
    columns = ["appointments", *mixed, "--quasi-identifiers", "country,sex", "--quiet", "--majority"]
    assert main([*columns, "here"]) == 2
    assert "--majority goes with --group-column" in capsys.readouterr().err
    assert main([*columns, "secret", "--group-column", "country"]) == 1
    said = capsys.readouterr().err
    assert "Nobody has the value that is named as the majority." in said
    assert "secret" not in said


def test_without_a_majority_limits_on_groups_stay_those_of_each_group(mixed, capsys):
    options = [
        "appointments",
        *mixed,
        "--quasi-identifiers",
        "country,sex",
        "--group-column",
        "country",
        "--quiet",
    ]
    assert main([*options, "--min-groups", "2"]) == 1
    assert "cannot keep limits on groups" in capsys.readouterr().err
    assert main([*options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["largest_other_share"] is None

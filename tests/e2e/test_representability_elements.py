"""Elements of the vector that describe columns and distances: names, orders, levels, aims, reasons, own words."""

import csv
import json
from pathlib import Path

import pytest

from vbas_desktop.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "parv"
HOUSEHOLD = Path(__file__).parents[2] / "docs" / "examples" / "household"
LEVELS = ["--hierarchies", HOUSEHOLD / "levels"]


def run(*options, k=3):
    common = ["--key", "Key", "--quasi-identifiers", "Hh,Job", "-k", str(k), "--quiet"]
    return main(["representability", *map(str, options), *common])


def vector(capsys, original, released, *options, k=3):
    assert run(original, released, "--json", *options, k=k) == 0
    return json.loads(capsys.readouterr().out)


def changed(path, target, column, change):
    """Write a copy of a table with other values in a column."""
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row[column] = change(row[column])
    with target.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return target


NAMES = {"House": "Housewife", "Self": "Self-employed"}


@pytest.mark.parametrize("number", [2, 3])
def test_values_that_are_only_renamed_are_on_level_0(capsys, tmp_path, number):
    # The new names of source 002, scenario 1 (exm-1-3); suppressed values stay suppressed.
    released = changed(
        DATA / f"C{number}.csv", tmp_path / "new.csv", "Job", lambda job: NAMES.get(job, job)
    )
    plain = vector(capsys, DATA / "C2.csv", DATA / f"C{number}.csv", *LEVELS)
    renamed = vector(capsys, DATA / "C2.csv", released, *LEVELS)
    assert renamed["coding"]["Job"].pop("renamed") is True
    assert plain["coding"]["Job"].pop("renamed") is False
    for element in ("overall", "coding", "general"):
        assert renamed[element] == plain[element]


def test_exchanged_codes_are_renamed_values(capsys, tmp_path):
    swapped = {"House": "Self", "Self": "House"}
    released = changed(DATA / "C2.csv", tmp_path / "new.csv", "Job", lambda job: swapped.get(job, job))
    found = vector(capsys, DATA / "C2.csv", released, *LEVELS)
    assert found["overall"]["precision"] == 1.0
    assert found["general"]["approaches"] == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda job: {"House": "At home", "Retired": "At home"}.get(job, job),  # two values share a name
        lambda job: "Employee" if job == "Self" else job,  # the name of another value
    ],
)
def test_values_that_share_a_name_or_take_another_ones_are_replaced(capsys, tmp_path, change):
    found = vector(
        capsys, DATA / "C2.csv", changed(DATA / "C2.csv", tmp_path / "new.csv", "Job", change)
    )
    assert found["coding"]["Job"]["renamed"] is False
    assert "replaced" in found["coding"]["Job"]["records_by_level"]
    assert found["overall"]["precision"] < 1.0


def test_a_column_of_single_values_is_not_taken_for_renamed(capsys, tmp_path):
    (tmp_path / "one.csv").write_text("Key,Hh,Job\n" + "".join(f"{n},{n * 7},x\n" for n in range(9)))
    (tmp_path / "two.csv").write_text("Key,Hh,Job\n" + "".join(f"{n},{n * 7 + 1},x\n" for n in range(9)))
    found = vector(capsys, tmp_path / "one.csv", tmp_path / "two.csv")
    assert found["coding"]["Hh"]["records_by_level"] == {"replaced": 9}


def test_every_class_has_its_part_of_davies_bouldin(capsys):
    found = vector(capsys, DATA / "C2.csv", DATA / "C3.csv", *LEVELS, k=1)
    parts = [row["davies_bouldin"] for row in found["per_class"]]
    assert len(parts) == 5
    assert sum(parts) / 5 == pytest.approx(found["overall"]["davies_bouldin"])


def test_a_part_of_davies_bouldin_is_withheld_where_few_records_of_either_class_would_follow(capsys):
    # All ratios of C3 are reached with a class that holds one or two records of an original class.
    found = vector(capsys, DATA / "C2.csv", DATA / "C3.csv", *LEVELS, k=3)
    assert [row["davies_bouldin"] for row in found["per_class"]] == [None] * 5


def test_an_order_makes_distances_by_rank(capsys):
    order = "--ordinal", "Job=Retired/House/Employee/Self"
    by_rank = vector(capsys, DATA / "C2.csv", DATA / "C4.csv", *LEVELS, *order)
    assert by_rank["coding"]["Job"]["distance"] == "by rank"
    assert (
        next(row["type"] for row in by_rank["attributes"] if row["name"] == "Job") == "ordinal category"
    )
    plain = vector(capsys, DATA / "C2.csv", DATA / "C4.csv", *LEVELS)
    assert by_rank["overall"]["davies_bouldin"] != plain["overall"]["davies_bouldin"]
    assert by_rank["overall"]["jaccard"] == plain["overall"]["jaccard"]


def test_an_order_equals_a_table_of_the_same_distances(capsys, tmp_path):
    jobs = ["Retired", "House", "Employee", "Self"]
    lines = [f"{one};" + ";".join(str(abs(i - j)) for j in range(4)) for i, one in enumerate(jobs)]
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "Job.csv").write_text("\n".join([";" + ";".join(jobs), *lines]) + "\n")
    order = "--ordinal", f"Job={'/'.join(jobs)}"
    found = [
        vector(capsys, DATA / "C2.csv", DATA / "C4.csv", *LEVELS, *more)["overall"]
        for more in (order, ("--distances", tmp_path / "near"))
    ]
    assert found[0] == found[1]


def test_the_order_comes_from_the_hierarchy_or_from_numbers(capsys):
    # The lines of the hierarchy list 1 to 10, of which the file has 2 to 7: ranks differ by the same steps.
    listed = vector(capsys, DATA / "C2.csv", DATA / "C3.csv", *LEVELS, "--ordinal", "Hh")["overall"]
    numbers = vector(capsys, DATA / "C2.csv", DATA / "C3.csv", "--ordinal", "Hh")["coding"]["Hh"]
    assert listed["davies_bouldin_worst"] is not None
    assert numbers["distance"] == "by rank"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ordinal", "Job"], "The order of the values is not known"),
        (["--ordinal", "Job=Self/House"], "2 values of the records are not in the order of the column"),
        (["--ordinal", "Job=Self/Self/House"], "each named once"),
        (["--ordinal", "Value"], "not among the quasi-identifiers"),
        (
            ["--distances", HOUSEHOLD / "distances", "--ordinal", "Job=a/b"],
            "has a table of distances already",
        ),
        (["--aim", "Nobody=x"], "There is no column “Nobody”"),
        (["--aim", "Job"], "“Job” gives no aim"),
        (["--meaning", "Job="], "“Job=” gives no meaning"),
    ],
)
def test_wrong_orders_and_words_are_refused(capsys, options, said):
    assert run(DATA / "C2.csv", DATA / "C4.csv", *options) == 1
    told = capsys.readouterr().err
    assert said in told
    assert "Retired" not in told


def test_normalised_levels_change_the_distances_but_not_the_precision(capsys):
    # Hh has three levels below suppression, Job one: level 1 counts 0 and a suppressed job |2 − 1| / |3 − 1| = 0.5.
    plain = vector(capsys, DATA / "C2.csv", DATA / "C3.csv", *LEVELS, k=1)
    found = vector(capsys, DATA / "C2.csv", DATA / "C3.csv", *LEVELS, "--normalise-levels", k=1)
    assert found["overall"]["precision"] == plain["overall"]["precision"] == 0.8375
    assert found["weights"]["levels_normalised"] is True
    assert plain["weights"]["levels_normalised"] is False
    # Only the class of suppressed jobs has a width: two records are at distance 1/3 from the shares, one at 2/3.
    width = ((2 * (0.5 * 0.5 / 3) ** 2 + (0.5 * 0.5 * 2 / 3) ** 2) / 3) ** 0.5
    centres = {"Employee": 33 / 11, "House": 52 / 14, "Retired": 20 / 6, "Self": 4.5}
    sizes = {row["class"]["Job"]: row["davies_bouldin"] for row in found["per_class"]}
    shares = {"House": 2 / 3, "Employee": 1 / 3}
    for job, centre in centres.items():
        apart = 0.5 * abs(19 / 3 - centre) / 5 + 0.5 * (1 - shares.get(job, 0))
        assert sizes[job] == pytest.approx(width / apart)


@pytest.fixture
def without_columns(tmp_path):
    """C3 without Illness and Value."""
    with (DATA / "C3.csv").open(newline="") as stream:
        rows = [
            {name: row[name] for name in ("Key", "Hh", "Job", "PSA")} for row in csv.DictReader(stream)
        ]
    with (tmp_path / "short.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path / "short.csv"


WORDS = [
    *("--reason", "Value=confidential", "--reason", "Job=possible confounder"),
    *("--aim", "Value=state of health", "--aim", "Hh=size of the household"),
    *("--meaning", "Hh=People in the household; both ends of an interval belong to it"),
]


def test_columns_are_described_by_type_range_aim_and_reason(capsys, without_columns):
    found = vector(capsys, DATA / "C2.csv", without_columns, *LEVELS, *WORDS)
    rows = {row["name"]: row for row in found["attributes"]}
    # Hh has 2 to 5 in at least three records; 6 occurs twice, 7 once. Every test value occurs in at most five records.
    assert rows["Hh"] == {
        "name": "Hh",
        "use": "quasi-identifier",
        "type": "discrete number",
        "range": {"from": 2, "to": 5},
        "aim": "size of the household",
        "reason": "",
    }
    assert (rows["Job"]["type"], rows["Job"]["range"]) == ("nominal category", {"categories": 4})
    assert rows["Job"]["reason"] == "possible confounder"
    assert (rows["Value"]["use"], rows["Value"]["aim"]) == ("excluded", "state of health")
    assert rows["Value"]["reason"] == "confidential"
    assert (rows["Illness"]["use"], rows["Illness"]["reason"]) == (
        "excluded",
        "not in the released file",
    )
    assert found["excluded_attributes"] == {
        "Illness": "not in the released file",
        "Value": "confidential",
    }
    assert found["coding"]["Hh"]["description"].startswith("People in the household")


def test_a_range_tells_no_value_of_fewer_than_k_records(capsys, without_columns):
    with (DATA / "C2.csv").open(newline="") as stream:
        values = [row["Value"] for row in csv.DictReader(stream)]
    for k in (1, 2, 3, 4, 5, 6):
        held = sorted(int(value) for value in set(values) if values.count(value) >= k)
        found = vector(capsys, DATA / "C2.csv", without_columns, *LEVELS, k=k)
        row = next(row for row in found["attributes"] if row["name"] == "Value")
        assert row["range"] == ({"from": held[0], "to": held[-1]} if held else None)
        assert row["type"] == "discrete number"


def test_the_page_and_the_terminal_show_all_of_it(capsys, without_columns, tmp_path):
    assert run(DATA / "C2.csv", without_columns, *LEVELS, *WORDS, "--out", tmp_path / "out") == 0
    printed = capsys.readouterr().out
    assert "hubert                                  0.5096" in printed
    assert "entropy loss                            0.3907" in printed
    page = (tmp_path / "out" / "representability.html").read_text(encoding="utf-8")
    for words in (
        "Columns in detail",
        "state of health",
        "possible confounder",
        "2 to 5",
        "People in the household",
        "0.5096",
        "0.3907",
    ):
        assert words in page

"""Names that a terminal would obey are shown escaped; names that a spreadsheet would run are defused or warned of."""

import csv
import json
import re

import numpy as np
import pytest

from vbas_desktop.cli.main import main

TITLE = "\x1b]0;title\x07"
CLEAR = "\x1b[2J"
TURNED = "\u202egpj"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

POLICY = f"""format = 1
id = "ours"
name = "Ours {TURNED}\\u001b[2J\\u007f"
authority = "\\u001b]0;title\\u0007"
citation = "law {TURNED}"
date = "2024-05-31"
source = "What it asks for {TURNED}."

[[criteria]]
question = "Agreed {TURNED}?"
"""


def write_table(name, rows):
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write_files(age, sex, region, mark):
    """Write records with these names of columns, and regions and categories that begin with a mark."""
    rng = np.random.default_rng(0)
    ids = [f"{mark}r{number}" for number in range(12)]
    rows = [[f"p{i}", f"{mark}{i % 3}", "fm"[i % 2], ids[int(rng.integers(12))]] for i in range(600)]
    write_table("records.csv", [["who", age, sex, region], *rows])
    places = [
        [each, f"{i % 4}", f"{i // 4}", f"{mark}north" if i < 6 else "south"]
        for i, each in enumerate(ids)
    ]
    write_table("regions.csv", [["id", "x", "y", "county"], *places])


def run(capfd, *command, code=0):
    assert main(list(command)) == code, capfd.readouterr().err
    return capfd.readouterr()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def test_no_command_prints_what_a_terminal_would_obey(here, capfd):
    age, sex, region = f"age{TITLE}", f"sex{CLEAR}{TURNED}", f"place{TURNED}"
    write_files(age, sex, region, CLEAR)
    (here / "policy\u202e.toml").write_text(POLICY, encoding="utf-8")
    count = ["--quasi-identifiers", f"{quoted(age)},{quoted(sex)}", "-k", "3"]
    both = ["records.csv", "regions.csv", "--region-column", region, "--identifiers", "who", *count]
    said = [
        run(capfd, "run", *both, "--out", f"run{TURNED}"),
        run(capfd, "run", *both, "--json"),
        run(capfd, "search", *both, "--out", "found"),
        run(
            capfd,
            "compare",
            "records.csv",
            "regions.csv",
            "--region-column",
            region,
            "--identifiers",
            "who",
            *count,
        ),
        run(capfd, "outliers", "records.csv", *count),
        run(
            capfd,
            "risky",
            "records.csv",
            "--columns",
            f"{quoted(age)},{quoted(sex)}",
            "--show-values",
            "-k",
            "300",
        ),
        run(capfd, "policies", "show", "policy\u202e.toml"),
        run(capfd, "policies", "show", "policy\u202e.toml", "--json"),
        run(capfd, "run", *both[:3], f"no{TITLE}", *both[4:], code=1),
    ]
    for each in said:
        assert not OBEYED.search(each.out + each.err), ascii(each.out + each.err)
    assert "\\u001b[2J\\u202egpj" in said[2].out
    assert "no\\u001b]0;title\\u0007" in said[-1].err


def test_json_says_the_same_with_escapes(here, capfd):
    (here / "policy.toml").write_text(POLICY, encoding="utf-8")
    told = json.loads(run(capfd, "policies", "show", "policy.toml", "--json").out)
    assert told["name"] == f"Ours {TURNED}\x1b[2J\x7f"


def test_internal_tables_have_no_formulas_and_files_that_are_read_back_are_warned_of(here, capfd):
    write_files("=age", "@sex", "place", "=")
    count = ["--quasi-identifiers", "=age,@sex", "-k", "3"]
    both = ["records.csv", "regions.csv", "--region-column", "place", "--identifiers", "who", *count]
    write_table(
        "ladder.csv", [["column", "value", "group"], ["@sex", "f", "+all"], ["@sex", "m", "+all"]]
    )
    found = run(capfd, "search", *both, "--ladder", "ladder.csv", "--pin", "@sex=1", "--out", "found")
    assert [name for name in read_table("found/search.csv")[0] if name.startswith(("=", "@"))] == []
    assert "'=age_level" in read_table("found/search.csv")[0]
    assert "warning: found/groups/*.csv: 4 cells start like a formula" in found.err
    assert "the program reads the file again" in found.err
    groups = read_table(min((here / "found/groups").glob("*.csv")))
    assert groups[1:] == [["@sex", "f", "+all"], ["@sex", "m", "+all"]]
    run(capfd, "compare", *both, "--out", "compared")
    rows = read_table("compared/comparison.csv")
    assert {row[rows[0].index("quasi_identifiers")] for row in rows[1:]} == {"'=age, @sex"}


@pytest.mark.parametrize("escape", [False, True])
def test_the_warning_covers_header_ids_and_names(here, capfd, escape):
    write_files("=age", "@sex", "place", "=")
    write_table(
        "groups.csv", [["column", "value", "group"], ["=age", "=0", "+low"], ["=age", "=1", "+low"]]
    )
    options = ["--escape-formulas"] if escape else []
    said = run(
        capfd,
        *("run", "records.csv", "regions.csv", "--region-column", "place", "--identifiers", "who"),
        *("--quasi-identifiers", "=age,@sex", "-k", "3", "--generalise", "groups.csv"),
        *("--name-column", "county", "--out", "out", *options),
    ).err
    expected = {
        "release/anonymized.csv: 2 names of columns start": not escape,
        "release/crosswalk.csv: 12 ids of regions start": not escape,
        "release/aggregated_regions.csv: ": not escape,
        "internal/generalise.csv: 6 cells start": True,
    }
    assert {text: f"warning: {text}" in said for text in expected} == expected, said
    internal = read_table("out/internal/aggregated_regions.csv")
    names = {row[internal[0].index("name")].partition(" ")[0] for row in internal[1:]}
    assert "'=north" in names
    assert "=north" not in names
    assert read_table("out/internal/generalise.csv")[1:] == [
        ["=age", "=0", "+low"],
        ["=age", "=1", "+low"],
    ]
    page = (here / "out/release/report.html").read_text(encoding="utf-8")
    assert ("Some cells start like a formula" in page) != escape

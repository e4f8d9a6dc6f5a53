"""No command overwrites what it reads, nor anything that is not an earlier result of its own."""

import argparse
import csv
import importlib
import json
import random
import re
import shutil
from pathlib import Path

import pytest

from vbas_desktop.app.inputs import INPUTS
from vbas_desktop.cli.arguments import OptionParser
from vbas_desktop.cli.main import COMMANDS, main

TWO = [
    "{records}",
    "{regions}",
    "--region-column",
    "region",
    "--quasi-identifiers",
    "age,sex",
    "--identifiers",
    "id",
]
RUN = [
    "run",
    *TWO,
    "--sites",
    "5",
    "--range-reach",
    "0",
    "--no-pdf",
    "--generalise",
    "{groups}",
    "--population",
]
RUN += [
    "{population}",
    "--policy",
    "{policy}",
    "--requirement",
    "{requirement}",
    "--checklist",
    "{checklist}",
]
EXPORT = ["export", "{earlier}", "--records", "{records}", "--regions", "{regions}"]
ANY = ["{records}", "--quasi-identifiers", "age,sex", "-k", "3", "--hierarchies", "{hierarchies}"]
RISKY = ["risky", "{records}", "--columns", "age,sex", "-k", "3", "--domain-rules", "{rules}"]

OUTPUTS = {
    "run --out": [*RUN, "--out"],
    "run --target": [*RUN, "--out", "{house}/second", "--format", "parquet", "--target"],
    "export --out": [*EXPORT, "--out"],
    "export --target": [*EXPORT, "--out", "{house}/second", "--format", "parquet", "--target"],
    "search --out": ["search", *TWO, "--ladder", "{groups}", "--out"],
    "compare --out": ["compare", *TWO, "--sites", "5", "--range-reach", "0", "--generalise", "{groups}", "--out"],
    "reproduce-thesis --out": [
        "reproduce-thesis", "--like", "pei", "--share", "0.02", "--records", "{records}", "--regions", "{regions}",
        "--generalise", "{groups}", "--out",
    ],
    "policies template --out": ["policies", "template", "{policy}", "--out"],
    "generate --out": ["generate", "--like", "pei", "--records", "200", "--regions", "{regions}", "--out"],
    "representability --out": ["representability", "{records}", *ANY, "--key", "id", "--out"],
    "outliers --out": ["outliers", *ANY, "--out"],
    "risky --out": [*RISKY, "--apply", "--out"],
    "risky --scores": [*RISKY, "--scores"],
    "appointments --out": ["appointments", "{people}", "{slots}", "--quasi-identifiers", "age", "--out"],
}  # fmt: skip
"""How each output option is used; what it names comes last."""
FILES = ("policies template --out", "outliers --out", "risky --scores")
FOLDERS = [case for case in OUTPUTS if case not in FILES]
UNREAD = ("policies template --out", "generate --out")
"""These read no records."""

NOT_PATHS = {
    *(
        "NAME",
        "N",
        "N,N",
        "A,B",
        "CHAR",
        "COLUMN",
        "[COLUMN=]CRITERION",
        "COLUMN=VALUE,…",
        "none|auto|COLUMN,…",
    ),
    *(
        "K",
        "K,K",
        "X",
        "S",
        "REASON",
        "PERCENT",
        "OLD=NEW",
        "HEX",
        "COLUMN=A/B/C",
        "TEXT",
        "SHARE",
        "NAMES",
        "M",
        "ID",
    ),
    *("G", "DATE", "D", "COLUMN[=LEVEL]", "COLUMN[=A/B/C]", "COLUMN=TEXT", "COLUMN=N", "A=W,B=W"),
    *("VALUE", "EXPRESSION", "FIRST-LAST", "below:N|all"),
}
"""What stands for a value that is no path; an option with any other word must be known as input or as output."""
READ_AT_ONCE = {"alone", "shuffle_seed"}
"""Their files are read when they are named; what follows knows only what is in them."""


def actions(parser, name):
    """Every option and argument of a command, and of its actions."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub, inner in action.choices.items():
                yield from actions(inner, f"{name} {sub}")
        elif action.nargs != 0 and not action.choices:
            yield name, action


def named_paths():
    """(command, option, its name) of all that name a file, a folder or an address."""
    for name in COMMANDS:
        parser = OptionParser()
        importlib.import_module(f"vbas_desktop.cli.{name.replace('-', '_')}").configure(parser)
        for command, action in actions(parser, name):
            is_path = action.metavar not in NOT_PATHS if action.metavar else action.type is Path
            if is_path:
                yield command, (action.option_strings or [""])[-1], action.dest


def test_every_option_that_names_a_path_is_known_as_input_or_as_output():
    outputs = {
        f"{command} {option}"
        for command, option, dest in named_paths()
        if dest not in INPUTS | READ_AT_ONCE
    }
    assert outputs == {*OUTPUTS}, (
        "a new one needs a case here, and its command has to ask `check_target`"
    )


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """One small file of every kind, and an earlier run."""
    folder, draw = tmp_path_factory.mktemp("stock"), random.Random(3)
    rows = [["id", "age", "sex", "region", "marital_status", "housing"]]
    rows += [
        [number, draw.choice("123"), draw.choice("mf"), f"r{draw.randrange(9)}", "x", "y"]
        for number in range(600)
    ]
    tables = {
        "records": rows,
        "regions": [["id", "x", "y"], *([f"r{number}", number % 3, number // 3] for number in range(9))],
        "groups": [
            ["column", "value", "group"],
            ["age", "1", "low"],
            ["age", "2", "low"],
            ["age", "3", "3"],
        ],
        "population": [["region", "age", "sex", "population"]]
        + [[f"r{number}", age, sex, 90] for number in range(9) for age in "123" for sex in "mf"],
        "people": [["age"], *([number % 4] for number in range(20))],
        "slots": [["centre", "time", "capacity"], ["A", "9", "30"]],
        "rules": [["feature", "type", "option"]],
    }
    for name, content in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows(content)
    (folder / "hierarchies").mkdir()
    (folder / "hierarchies" / "age.csv").write_text("1;low\n2;low\n3;high\n")
    (folder / "requirement.json").write_text(json.dumps({"format_version": 1}))
    (folder / "checklist.json").write_text(
        json.dumps({"choices": [], "points": [], "signed_by": "", "signed_on": ""})
    )
    assert main(["policies", "template", "--out", str(folder / "policy.toml")]) == 0
    assert main([*filled(RUN, folder), "--out", str(folder / "earlier"), "--quiet"]) == 0
    return folder


@pytest.fixture
def house(stock, tmp_path):
    shutil.copytree(stock, tmp_path / "house")
    return tmp_path / "house"


def filled(words, house):
    names = {path.stem: str(path) for path in house.iterdir()}
    return [word.format(house=house, **names) for word in words]


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def attempt(case, house, target, *more):
    return main([*filled(OUTPUTS[case], house), str(target), *more])


@pytest.mark.parametrize("case", OUTPUTS)
def test_no_input_is_ever_replaced(case, house, capsys):
    before = contents(house)
    allowing = ["--replace"] if case in FILES else []
    for name in dict.fromkeys(
        word[1:-1] for word in OUTPUTS[case] if word.startswith("{") and "/" not in word
    ):
        source = next(path for path in house.iterdir() if path.stem == name)
        if source.is_dir():
            source = next(path for path in source.iterdir() if path.name in ("run.json", "age.csv"))
        link = house / "link"
        link.symlink_to(source)
        for target in (source, link):
            assert attempt(case, house, target, *allowing) == 1, (name, target)
            # A CSV file is no target of records anyway.
            why = "cannot be a target|an input" if "--target" in case else "is an input"
            assert re.search(why, capsys.readouterr().err), (name, target)
        link.unlink()
    assert contents(house) == before


def need_engine(case):
    """Copies at a target are read back by DuckDB, which `make setup-sources` installs."""
    if case.endswith("--target"):
        pytest.importorskip("duckdb")


@pytest.mark.parametrize("case", FOLDERS)
def test_a_folder_with_somebody_elses_file_is_refused_before_anything_is_read(case, house, capsys):
    need_engine(case)
    (house / "mine").mkdir()
    (house / "mine" / "notes.txt").write_text("mine")
    if case not in UNREAD:
        (house / "records.csv").write_bytes(b"")
    before = contents(house)
    assert attempt(case, house, house / "mine") == 1
    assert "not an earlier result of this kind (“notes.txt”)" in capsys.readouterr().err
    assert contents(house) == before


@pytest.mark.parametrize("case", FILES)
def test_a_file_is_replaced_only_when_asked_for_and_refused_before_anything_is_read(case, house, capsys):
    target = house / "mine.csv"
    target.write_text("mine")
    records = (house / "records.csv").read_bytes()
    if case not in UNREAD:
        (house / "records.csv").write_bytes(b"")
    assert attempt(case, house, target) == 1
    assert "There is a file with this name already" in capsys.readouterr().err
    assert target.read_text() == "mine"
    (house / "records.csv").write_bytes(records)
    assert attempt(case, house, target, "--replace") == 0
    assert target.read_text() != "mine"


@pytest.mark.parametrize("case", FOLDERS)
def test_a_repeated_command_replaces_its_earlier_result(case, house):
    need_engine(case)
    words = [*filled(OUTPUTS[case], house), str(house / "new")]
    if case == "reproduce-thesis --out":
        words = [
            "reproduce-thesis",
            "--like",
            "pei",
            "--share",
            "0.02",
            "--quiet",
            "--out",
            str(house / "new"),
        ]
    assert main(words) == 0
    assert main(words) == 0
    assert not [path.name for path in house.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("run --out", "internal/notes.txt"),
        ("search --out", "groups/mine.csv"),
        ("compare --out", "charts/mine.svg"),
        ("risky --out", "internal/notes.txt"),
        ("generate --out", "notes.txt"),
    ],
)
def test_a_file_put_into_an_earlier_result_keeps_it_from_being_replaced(case, name, house, capsys):
    assert attempt(case, house, house / "new") == 0
    (house / "new" / name).write_text("mine")
    capsys.readouterr()
    assert attempt(case, house, house / "new") == 1
    assert f"(“{name}”)" in capsys.readouterr().err
    assert (house / "new" / name).read_text() == "mine"


def test_the_nodes_of_a_search_are_private_and_nothing_else_may_be_among_them(house, capsys):
    nodes = house / "new.nodes"
    nodes.mkdir(mode=0o755)
    (nodes / "notes.txt").write_text("mine")
    assert attempt("search --out", house, house / "new") == 1
    assert "new.nodes" in capsys.readouterr().err
    assert (nodes / "notes.txt").read_text() == "mine"
    (nodes / "notes.txt").unlink()
    assert attempt("search --out", house, house / "new") == 0
    assert nodes.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in nodes.iterdir()} == {0o600}


def test_a_release_is_not_written_over_the_release_that_it_is_made_from(house, capsys):
    released = house / "earlier" / "release"
    before = contents(house)
    words = [
        "run",
        str(released / "anonymized.csv"),
        str(released / "aggregated_regions.csv"),
        "--region-column",
    ]
    words += ["region", "--quasi-identifiers", "age", "--out", str(house / "earlier")]
    assert main(words) == 1
    assert "holds an input" in capsys.readouterr().err
    assert contents(house) == before


def test_which_rows_were_made_up_is_not_written_over_another_file(house, capsys):
    other = house / "new.made-up-rows.csv"
    other.write_text("mine")
    assert attempt("outliers --out", house, house / "new.csv", "--handle", "fabricate") == 1
    assert "There is a file with this name already" in capsys.readouterr().err
    assert other.read_text() == "mine"
    assert not (house / "new.csv").exists()


def test_a_misspelt_identifier_is_refused_where_columns_are_coarsened(house, capsys):
    assert attempt("risky --out", house, house / "new", "--identifiers", "idd") == 1
    assert "Did you mean “id”?" in capsys.readouterr().err
    assert not (house / "new").exists()


def test_space_is_looked_at_before_records_are_generated(tmp_path, capsys):
    words = ["generate", "--like", "pei", "--out", str(tmp_path / "new"), "--records"]
    for number in (99_999_999_999_999, 10**30):
        assert main([*words, str(number)]) == 1
        said = capsys.readouterr().err
        assert "GB are needed" in said
        assert "Free some space" in said
    assert list(tmp_path.iterdir()) == []

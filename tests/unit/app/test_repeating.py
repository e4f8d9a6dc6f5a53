"""The command in the internal report is run, and what it gives is compared byte for byte."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from option_values import other_value

from vbas_desktop.analysis.representability.requirement import Requirement
from vbas_desktop.app.release import release_solution
from vbas_desktop.app.run import run_configuration
from vbas_desktop.cli.main import main
from vbas_desktop.io.documents.policies import load_policy_text
from vbas_desktop.model.records import Role
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.requests import open_files

AGE, SEX, ILLNESS, REGION = "-n", 'sex, "at birth"', "a=b; c", "--tract"
GROUPS = {"1": "1-3", "2": "1-3", "3": "1-3", "4": "4, or more"}
NEED = '{"format_version": 1, "title": "Cohort", "overall": {"jaccard": {"min": 0.0001}}}'
SECRET = ["--shuffle-seed", "abc123"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two files with names, of columns and of a file, that a command line can stumble over."""
    here = tmp_path / "here"
    here.mkdir()
    rng = np.random.default_rng(4)
    lines = [
        f"R{i},{x:.1f},{y:.1f},{'AB'[int(x > 50)]},{int(20 * y)},{'yes' if i == 7 else ''},{'SN'[i % 2]}"
        for i, (x, y) in enumerate(rng.random((12, 2)) * 100)
    ]
    (here / "regions.csv").write_text(
        'id,x,y,"county, or so",people,prison,half\n' + "\n".join(lines) + "\n"
    )
    head = ["person", AGE, '"sex, ""at birth"""', ILLNESS, REGION]
    values = rng.integers([1, 1, 1, 0], [5, 3, 4, 12], (600, 4))
    rows = [
        f"P{i},{age},{sex},{illness},R{where}" for i, (age, sex, illness, where) in enumerate(values)
    ]
    (here / "-records.csv").write_text(",".join(head) + "\n" + "\n".join(rows) + "\n")
    group_lines = [f'{AGE},{value},"{group}"' for value, group in GROUPS.items()]
    (here / "groups of mine.csv").write_text("column,value,group\n" + "\n".join(group_lines) + "\n")
    (here / "need.json").write_text(NEED)
    (here / "lake.geojson").write_text(LAKE)
    (here / "codes.csv").write_text(f"column,value,label\n{AGE},1,young\n")
    (here / "only these.csv").write_text(f"{AGE}\n1\n2\n3\n")
    (here / "not these.csv").write_text(f'{AGE},"{ILLNESS}"\n1,2\n')
    merged = [f"R{i},A{i % 4}" for i in range(12)]
    (here / "codes of then.csv").write_text(
        "initial_region,aggregated_region\n" + "\n".join(merged) + "\n"
    )
    by_hand = [f"R{i},{'west' if i in (2, 5, 11) else f'part {i % 3}'}" for i in reversed(range(12))]
    (here / "by hand.csv").write_text("initial_region,aggregated_region\n" + "\n".join(by_hand) + "\n")
    mapped = [f"R{i},R{(i + step) % 12}" for i in range(12) for step in range(1 + i % 3)]
    (here / "map of ids.csv").write_text("from,to\n" + "\n".join(mapped) + "\n")
    (here / "our rule.toml").write_text(load_policy_text("class-11"), encoding="utf-8")
    people = [f"R{i},{age},{sex},99" for i in range(12) for age in range(1, 5) for sex in (1, 2)]
    (here / "all people.csv").write_text(
        "\n".join([f'region,{AGE},"sex, ""at birth""",people', *people]) + "\n"
    )
    monkeypatch.chdir(here)
    return here


def command_of(release: Path) -> list[str]:
    page = (release / "internal" / "report.html").read_text(encoding="utf-8")
    (found,) = re.findall(r"<pre[^>]*>(vbas run .*?)</pre>", page, flags=re.DOTALL)
    return shlex.split(html.unescape(found))[1:]


def contents(release: Path) -> dict[str, bytes]:
    """All files; of run.json what does not depend on where the files lie, how many threads there were and how fast."""
    files = {
        str(path.relative_to(release)): path.read_bytes()
        for path in release.rglob("*")
        if path.is_file()
    }
    document = json.loads(files.pop("run.json"))
    for one in (document, *document["solutions"]):
        one.pop("seconds")
        one.get("measures", {}).pop("seconds", None)
    document.pop("total_seconds")
    for name in ("records", "regions"):
        document["options"].pop(name)
        document["inputs"][name].pop("path")
    document["options"].pop("workers")
    return {**files, "run.json": json.dumps(document).encode()}


def repeated(release: Path, folder: Path, monkeypatch) -> Path:
    """The release again, made by its command in a folder that holds the two files and what the release kept for it."""
    there = folder.parent / "there"
    there.mkdir()
    for path in (
        folder / "-records.csv",
        folder / "regions.csv",
        folder / "lake.geojson",
        folder / "codes.csv",
        folder / "only these.csv",
        folder / "not these.csv",
        folder / "codes of then.csv",
        folder / "by hand.csv",
        folder / "map of ids.csv",
        folder / "our rule.toml",
        folder / "all people.csv",
        *release.glob("internal/*.csv"),
    ):
        shutil.copy(path, there)
    for path in (*release.glob("internal/*.json"), *release.glob("internal/*.txt")):
        shutil.copy(path, there)
    command = command_of(release)
    monkeypatch.chdir(there)
    assert main([*command, "--quiet"]) == 0
    return there / "release-again"


LAKE = json.dumps(
    {"type": "Polygon", "coordinates": [[[30, 30], [70, 30], [70, 70], [30, 70], [30, 30]]]}
)
BASE = ["run", "./-records.csv", "regions.csv", f"--region-column={REGION}", "--identifiers", "person"]
QUASI = '--quasi-identifiers=-n,"sex, ""at birth"""'
VARIANTS = {
    "usual": ["-k", "3", *SECRET],
    "groups": ["--generalise", "groups of mine.csv", "--sites", "5", *SECRET],
    "requirement": ["--requirement", "need.json", "--sites", "4", *SECRET],
    "loss": ["-k", "8", "--sites", "5", "--allowed-loss", "1", "--exceed-loss", *SECRET],
    "reading": [
        "--delimiter", "comma", "--encoding", "utf-8", "--category-counts", "no", "--id-column", "id", "--x-column",
        "x", "--y-column", "y", "--coordinates", "planar", "--regions-delimiter", "comma", "--regions-encoding",
        "utf-8", "--regions-decimal", "point", "--unknown-regions", "suppress", *SECRET,
    ],
    "run": [
        "--no-global-suppression", "--range-step", "12.5", "--range-reach", "1", "--pareto",
        "suppressed_records,precision_loss", "--random-seed", "7", "--workers", "1", "--site-number", "fixed",
        "--sites", "6", "--site-location", "adc", "--adc-seeding", "balanced-density", "--set",
        "balanced-density.variant=paper", "--allowed-loss", "2.5", *SECRET,
    ],
    "release": [
        f'--columns=--tract,"sex, ""at birth""",{AGE},"a=b; c"', f'--rename="{ILLNESS}"=ill=ness', "--rename",
        "--tract=the area", "--class-size", "size, of class", "--record-key",
        "key, of record", "--release-delimiter", "tab", "--escape-formulas",
        "--policy", "class-5", "--geometry", "gpkg,geojson", "--no-pdf", "--name-column", "county, or so",
        "--allow-column", f'"{ILLNESS}"', *SECRET,
    ],
    "obstacles": [
        "--construction", "obstacles", "--obstacles", "lake.geojson", "--codebook", "codes.csv", "--sites", "5",
        *SECRET,
    ],
    "filters": [
        "--keep-records", "only these.csv", "--drop-records", "not these.csv", "--sites", "5", *SECRET,
    ],
    "judged": ["--policy", "our rule.toml", "--population", "all people.csv", "--sites", "4", *SECRET],
    "coarsen": [
        "--construction", "coarsen", "--coarsen-from", "codes of then.csv", "--sites", "3", *SECRET,
    ],
    "given": [
        "--construction", "given", "--set", "given.file=by hand.csv", "--set", "given.origin=edited from #3",
        "--allowed-loss", "2", *SECRET,
    ],
    "cells": ["--shapes", "cells", "--confirm-sites", "--sites", "5", *SECRET],
    "region map": ["--region-map", "map of ids.csv", "--sites", "4", *SECRET],
    "limits": [
        '--within="county, or so"', "--alone", "R1,R2", "--alone-column", "prison", "--min-records", "60",
        "--max-records", "200", "--population-column", "people", "--min-population", "900", "--max-population", "4000",
        "--centre-weights", "people", "--sites", "6", *SECRET,
    ],
    "tiers": ["--tiers", "auto", "--tier-factor", "3", "--sites", "12", "--range-reach", "0", "--no-pdf", *SECRET],
    "tiers of a column": [
        "--tiers", "half", "--name-column", "id", "--sites", "12", "--range-reach", "0", "--no-pdf", *SECRET,
    ],
    "sensitive": [
        "--sensitive", ILLNESS, "--benign", f'"{ILLNESS}"=3,"2"', "--criterion", "distinct:3", "--criterion",
        f'"{ILLNESS}"=share:60', "--sites", "4", *SECRET,
    ],
    "words": [
        "--reason", "person=identifies, of course", "--aim", f'"{ILLNESS}"=what is = studied', "--meaning",
        f"{AGE}=completed years", "--no-pdf", "--sites", "4", *SECRET,
    ],
    "plain order": ["--no-shuffle", "--no-pdf", "--no-pair-tests", "--allow-column", f'"{ILLNESS}"'],
    "aggregated": ["--aggregate", f'"{ILLNESS}"', "--aggregate-classes", "all", "--sites", "4", *SECRET],
    "keys in plain order": ["--no-shuffle", "--record-key", "key", "--no-pdf", "--sites", "4", *SECRET],
    "parquet": ["--format", "parquet", "--shuffle", "--pdf", *SECRET],
}  # fmt: skip


def words_of_other_options() -> list[str]:
    """Give every option that no variant gives, such as a new one, another value than its default."""
    given = {word.partition("=")[0] for words in (BASE, [QUASI], *VARIANTS.values()) for word in words}
    given |= {word.replace("--no-", "--") for word in given}
    # Only a GeoPackage has layers; its own test is in test_settings.
    given.add("--layer")
    options = [option for group in (RunSettings, ReleaseOptions) for option in group.options()]
    untried = [option for option in options if option.flag not in given]
    return [word for option in untried for word in option.to_argv(option.read(other_value(option)))]


VARIANTS["other options"] = ["--sites", "6", *words_of_other_options(), *SECRET]


@pytest.mark.parametrize("name", VARIANTS)
def test_the_command_of_a_run_gives_the_same_bytes(name, folder, monkeypatch, capsys):
    assert main([*BASE, QUASI, *VARIANTS[name], "--out", "out", "--quiet"]) == 0
    again = repeated(folder / "out", folder, monkeypatch)
    assert contents(again) == contents(folder / "out")


def session_of(folder: Path) -> AppState:
    session = AppState()
    session.accept_data(
        open_files(session.request_load(folder / "-records.csv", folder / "regions.csv"))
    )
    choices = session.choices
    for column, role in {
        "person": Role.IDENTIFIER, AGE: Role.QUASI_IDENTIFIER, SEX: Role.QUASI_IDENTIFIER, ILLNESS: Role.AS_IS,
        REGION: Role.REGION,
    }.items():  # fmt: skip
        choices = choices.with_role(column, role)
    session.change(choices.replaced(k=3, range_reach=1, random_seed=2))
    return session


def run_and_release(session: AppState, target: Path, **options) -> None:
    task = session.request_run()
    outcome = run_configuration(
        task.request,
        on_problem=lambda problem: session.begin_counted(task.run_id, problem),
        on_solution=lambda solution: session.add_solutions(task.run_id, [solution]),
    )
    session.finish_run(task.run_id, outcome.result)
    chosen = ReleaseOptions(identifiers=("person",), pdf=False, shuffle_seed="5ec", **options)
    release_solution(session.request_release(session.entries[0], chosen, target))


def test_the_command_of_a_release_from_the_window_gives_the_same_bytes(folder, monkeypatch, capsys):
    session = session_of(folder)
    choices = session.choices.with_grouping(AGE, GROUPS).with_approach("site_number", "fixed")
    choices = choices.with_parameter("site_number", "fixed", "sites", 5).with_approach(
        "site_location", "adc"
    )
    seeding = {"name": "balanced-density", "variant": "paper"}
    session.change(
        choices.with_parameter("site_location", "adc", "seeding", seeding).with_allowed_loss(3.0)
    )
    session.require(Requirement(title="Cohort", overall={"jaccard": {"min": 0.0001}}))
    session.set_policy_notes(
        session.policy.with_note("dpm-5", "kept").with_signature("A. Custodian", "2024-05-01")
    )
    run_and_release(
        session, folder / "out", renames={ILLNESS: "x=y"}, class_size="n", release_delimiter="\t"
    )
    again = repeated(folder / "out", folder, monkeypatch)
    assert contents(again) == contents(folder / "out")
    assert {"internal/generalise.csv", "internal/requirement.json", "internal/checklist.json"} <= set(
        contents(again)
    )


def test_window_and_command_tell_the_same_command(folder, capsys):
    run_and_release(session_of(folder), folder / "window")
    words = ["-k", "3", "--range-reach", "1", "--random-seed", "2", "--no-pdf", "--shuffle-seed", "5ec"]
    assert main([*BASE, QUASI, *words, "--solution", "1", "--out", "command", "--quiet"]) == 0
    assert command_of(folder / "window") == command_of(folder / "command")
    ours, theirs = contents(folder / "window"), contents(folder / "command")
    assert {name for name in ours if ours[name] != theirs[name]} <= {"run.json"}


def test_an_exported_release_keeps_its_warnings_and_its_command(folder, monkeypatch, capsys):
    (folder / "need.json").write_text(NEED.replace("0.0001", "0.9999"))
    groups = ["--generalise", "groups of mine.csv", "--requirement", "need.json"]
    assert main([*BASE, QUASI, "-k", "3", *groups, *SECRET, "--out", "out", "--quiet"]) == 0
    before = json.loads((folder / "out" / "run.json").read_text())
    assert main(["export", "out", "--out", "exported", "--quiet"]) == 0
    assert contents(folder / "exported") == contents(folder / "out")
    assert json.loads((folder / "exported" / "run.json").read_text())["warnings"] == before["warnings"]
    assert (
        main(["export", "out", "--solution", "1", "--shuffle-seed", "77", "--out", "other", "--quiet"])
        == 0
    )
    other = json.loads((folder / "other" / "run.json").read_text())
    assert other["requirement_check"] == other["solutions"][0]["requirement"]
    again = repeated(folder / "other", folder, monkeypatch)
    assert contents(again) == contents(folder / "other")

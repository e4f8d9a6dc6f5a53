"""The page on the sources is what the stored results give, and says so when it is not."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from tests.source_tables.__main__ import main
from tests.source_tables.compute import THESIS_FILES
from tests.source_tables.page import PAGE

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(DOCS / "tables", tmp_path / "tables")
    shutil.copy(DOCS / PAGE, tmp_path / PAGE)
    return tmp_path


def test_page_is_in_step_with_the_stored_results(folder):
    assert main([str(folder), "--check"]) == 0


@pytest.mark.parametrize("edited", [PAGE, "tables/thesis-tables-13-18.csv", "tables/parv.json"])
def test_change_of_a_figure_is_noticed_and_mended(folder, capsys, edited):
    file = folder / edited
    old = {PAGE: "13.2 %", "tables/parv.json": "0.8375"}.get(edited)
    text = file.read_text(encoding="utf-8")
    if old is None:
        rows = text.splitlines()
        rows = [rows[0], *(row.replace(",yes,", ",no,9", 1) for row in rows[1:])]
        text = "\n".join(rows) + "\n"
    else:
        assert old in text
        text = text.replace(old, "0.1234")
    file.write_text(text, encoding="utf-8")
    assert main([str(folder), "--check"]) == 1
    assert "Out of step" in capsys.readouterr().err
    assert main([str(folder), "--page"]) == 0
    assert main([str(folder), "--check"]) == 0


def test_stored_tables_have_every_row_of_the_thesis():
    for like, rows, published in (("eastern", 540, 380), ("western", 540, 300), ("pei", 54, 54)):
        with (DOCS / "tables" / THESIS_FILES[like]).open(encoding="utf-8", newline="") as stream:
            stored = list(csv.DictReader(stream))
        assert len(stored) == rows
        assert sum(row["sites_published"] != "" for row in stored) == published
        by_formula = [row for row in stored if row.get("site_number") in ("anonymity", "maxcombs")]
        assert {row["sites_equal"] for row in by_formula if row["sites_published"]} <= {"yes"}


def test_unknown_parts_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(tmp_path), "northern"])
    assert "unknown parts: northern" in capsys.readouterr().err


def test_options_commands_and_modules_that_the_page_names_exist():
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    commands = (DOCS / "commands.md").read_text(encoding="utf-8")
    named = [row.strip("|").split("|") for row in page.splitlines() if row.count("|") == 5]
    options = {option for _, command, _, _ in named for option in re.findall(r"--[a-z][a-z-]*", command)}
    assert len(options) > 20
    assert {option for option in options if f"`{option}" not in commands} == set()
    called = {name for _, command, _, _ in named for name in re.findall(r"`vbas ([a-z-]+)", command)}
    assert {name for name in called if f"## vbas {name}\n" not in commands} == set()
    paths = {
        path
        for _, _, _, code in named
        for path in re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py)?)`", code)
    }
    package = DOCS.parent / "vbas_desktop"
    assert len(paths) > 20
    assert {
        path for path in paths if not (package / path).exists() and not (DOCS.parent / path).exists()
    } == set()

"""What `make mutants` is told of the program is true of the program as it is."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "mutants"


@pytest.fixture
def planting(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("planting")
    for name in ("planting", "targets"):
        sys.modules.pop(name, None)


def test_every_harmless_mutant_can_still_be_planted(planting):
    document = tomllib.loads((FOLDER / "harmless.toml").read_text(encoding="utf-8"))
    listed = {(entry["file"], entry["statement"], entry["mutated"]) for entry in document["mutant"]}
    possible = {
        mutant.line_of_code
        for path in {file for file, *_ in listed}
        for mutant in planting.find_mutants(path)
    }
    assert listed - possible == set()


def test_every_pattern_of_what_protects_people_finds_modules(planting):
    targets = importlib.import_module("targets")
    assert targets.list_patterns_without_modules() == []

"""`make test-fast` runs what tests/fast.txt names: every package, and everything that guards a release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = (ROOT / "tests" / "fast.txt").read_text(encoding="utf-8").splitlines()

GUARDS = {
    "counts": "algorithms/test_contingency",
    "suppression": "algorithms/test_suppression",
    "suppression in tiers": "algorithms/test_tier_suppression",
    "refused rows": "io/test_refused_rows",
    "refused texts": "io/test_nasty_texts",
    "written rows": "io/test_row_writers",
    "complete output": "io/test_output",
    "disclosure checks": "releases/test_disclosure",
    "released classes": "releases/test_nothing_below_k",
    "row order": "releases/test_row_order",
    "ledger": "releases/test_ledger_same_records",
    "independence of the auditor": "audit/test_independence",
    "recount": "audit/test_recount",
    "verification": "audit/test_verification",
    "options": "settings/test_every_option",
    "imports": "test_imports",
}


def test_every_name_in_the_list_exists_and_stands_there_once():
    assert sorted(set(NAMES)) == NAMES
    for name in NAMES:
        file, _, test = name.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert f"\ndef {test.partition('[')[0] or 'test_'}" in text, name


@pytest.mark.parametrize("guard", GUARDS)
def test_what_guards_a_release_is_in_the_list(guard):
    assert f"tests/unit/{GUARDS[guard]}.py" in {name.partition("::")[0] for name in NAMES}


def test_every_package_that_has_tests_contributes_some():
    packages = {path.parent.name for path in (ROOT / "tests" / "unit").glob("*/test_*.py")}
    named = {
        Path(name.partition("::")[0]).parent.name for name in NAMES if name.startswith("tests/unit/")
    }
    assert packages <= named


def test_tampered_files_and_a_release_from_beginning_to_end_are_in_the_list():
    assert {"tests/e2e/test_tampered_releases.py", "tests/e2e/test_release_commands.py"} <= set(NAMES)


def test_pytest_takes_its_tests_from_the_list(tmp_path):
    (tmp_path / "test_listed.py").write_text("def test_listed(): pass\n")
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    (tmp_path / "fast.txt").write_text("test_listed.py\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "@fast.txt",
    ]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert listed.stdout.splitlines()[0] == "test_listed.py::test_listed"
    assert "test_other" not in listed.stdout

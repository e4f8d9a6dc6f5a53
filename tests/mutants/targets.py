"""List the modules that protect people: those in which mutants are planted."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"
TEST_FOLDERS = ("tests/unit", "tests/approaches", "tests/e2e")

_PATTERNS = (
    "algorithms/diversity.py",
    "algorithms/aggregation.py",
    "algorithms/kernels/diversity.py",
    "algorithms/kernels/partition_state.py",
    "algorithms/composite_keys.py",
    "algorithms/suppression.py",
    "algorithms/tier_suppression.py",
    "analysis/outliers/*.py",
    "analysis/representability/*.py",
    "audit/*.py",
    "engine/validation.py",
    "engine/loss.py",
    "engine/outcome.py",
    "io/*.py",
    "algorithms/contingency.py",
    "engine/problem.py",
    "engine/sensitive_columns.py",
    "io/records/*.py",
    "releases/*.py",
    "releases/ledger/*.py",
    "releases/reports/choices.py",
    "releases/reports/protection.py",
    "releases/reports/recipient.py",
    "releases/reports/regions.py",
)
_LEFT_OUT = {
    "audit/copies.py": "needs real engines (make test-sources)",
    "io/signals.py": "ends the program on a signal",
    "releases/database_records.py": "needs real engines (make test-sources)",
}


def list_targets() -> list[str]:
    """List the modules as paths relative to the root of the project, sorted."""
    package = ROOT / "vbas_desktop"
    found = {
        path.relative_to(package).as_posix() for pattern in _PATTERNS for path in package.glob(pattern)
    }
    return sorted(f"vbas_desktop/{path}" for path in found - set(_LEFT_OUT))


def list_patterns_without_modules() -> list[str]:
    """List what names no module any more: it was moved, and nobody would plant mutants in it."""
    package = ROOT / "vbas_desktop"
    left_out = [path for path in _LEFT_OUT if not (package / path).exists()]
    return [pattern for pattern in _PATTERNS if not any(package.glob(pattern))] + left_out


def list_test_files() -> list[str]:
    """List the files of tests that may notice a mutant, as paths relative to the root of the project."""
    return sorted(
        path.relative_to(ROOT).as_posix()
        for folder in TEST_FOLDERS
        for path in (ROOT / folder).rglob("test_*.py")
    )

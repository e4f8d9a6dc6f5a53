"""Plant faults in the code that protects people, one at a time, and report which of them no test notices.

``make mutants`` draws 250 mutants (``--seed`` draws others) and runs for each the tests that execute its line, quickest
first, until one fails. The first run records which tests execute which lines. Everything is kept in build/mutants, so
that a run that was stopped continues, and later ones repeat only what changes in modules or tests may have changed.
Survivors that harmless.toml lists with a reason do not count. CONTRIBUTING.md says what to do about the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from coverage_map import CoverageMap, Tests, record_all
from planting import Mutant, sample
from pytest_runs import TIMED_OUT, import_libraries, replace_source, run_in_child, run_pytest
from targets import BUILD, ROOT, list_targets

_RESULTS = BUILD / "results"
_HARMLESS = Path(__file__).parent / "harmless.toml"
_USAGE_ERROR = 4
_KILLED = ("killed", "timed out")


@dataclass(frozen=True)
class Result:
    """What became of a mutant: killed, timed out, survived, untested or error; and the test that noticed it."""

    outcome: str
    test: str
    seconds: float
    module: str
    tests: str

    @property
    def is_killed(self) -> bool:
        """Whether a test noticed the mutant, or did not end any more."""
        return self.outcome in _KILLED


class FirstFailure:
    """Plug-in: notes the first test that fails."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the name of a failed test."""
        if report.failed and not self._path.exists():
            self._path.write_text(report.nodeid)


class Laboratory:
    """Tries mutants and keeps the results; each worker has its own temporary files."""

    def __init__(self, coverage: CoverageMap, budget: float, worker: int) -> None:
        self._coverage = coverage
        self._budget = budget
        self._folder = BUILD / f"worker-{worker}"
        self._folder.mkdir(parents=True, exist_ok=True)

    def try_mutant(self, mutant: Mutant) -> Result:
        """Return the kept result if nothing has changed since, else run the tests."""
        module = hashlib.sha256((ROOT / mutant.path).read_bytes()).hexdigest()
        lines = range(mutant.line, mutant.last_line + 1)
        every = self._coverage.find_tests(mutant.path, lines, at_import=not mutant.function)
        tests = every.take(self._budget)
        kept = read_result(mutant)
        if kept is not None and (
            (kept.is_killed and kept.module == module)
            or (kept.module, kept.tests) == (module, tests.digest)
        ):
            return kept
        started = time.monotonic()
        # What noticed it before will most likely notice it again.
        earlier = [kept.test] if kept is not None and kept.test in every.names else []
        outcome, test = self._run(mutant, tests, earlier)
        result = Result(outcome, test, round(time.monotonic() - started, 1), module, tests.digest)
        _RESULTS.mkdir(parents=True, exist_ok=True)
        _result_path(mutant).write_text(json.dumps(asdict(result) | {"key": mutant.key}))
        return result

    def _run(self, mutant: Mutant, tests: Tests, earlier: list[str]) -> tuple[str, str]:
        names = [*earlier, *(name for name in tests.names if name not in earlier)]
        if not names:
            return "untested", ""
        failure = self._folder / "failure"
        failure.unlink(missing_ok=True)
        source = mutant.plant()
        log = self._folder / "log"

        def work() -> int:
            replace_source(ROOT / mutant.path, source)
            return run_pytest(
                names, self._folder / "temporary", [FirstFailure(failure)], "-x", "--tb=line"
            )

        code = run_in_child(work, log, seconds=60 + 10 * sum(tests.seconds))
        test = failure.read_text() if failure.exists() else ""
        if code == TIMED_OUT:
            return "timed out", test
        if code == 0:
            return "survived", ""
        said = log.read_text(errors="replace")
        is_unknown_test = (
            code == _USAGE_ERROR and "not found:" in said and "ERROR collecting" not in said
        )
        return "error" if is_unknown_test else "killed", test


def read_result(mutant: Mutant) -> Result | None:
    """Read the kept result of a mutant."""
    path = _result_path(mutant)
    if not path.exists():
        return None
    document = json.loads(path.read_text())
    document.pop("key")
    return Result(**document)


def _result_path(mutant: Mutant) -> Path:
    return _RESULTS / f"{hashlib.sha256(mutant.key.encode()).hexdigest()[:24]}.json"


def read_harmless() -> dict[tuple[str, str, str], str]:
    """Read the mutants that change nothing that matters, with the reasons."""
    document: dict[str, Any] = tomllib.loads(_HARMLESS.read_text(encoding="utf-8"))
    return {
        (entry["file"], entry["statement"], entry["mutated"]): entry["reason"]
        for entry in document["mutant"]
    }


def report(mutants: list[Mutant]) -> None:
    """Print the score of those that were tried, per part of the program and in total, and the survivors."""
    harmless = read_harmless()
    killed: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    survivors = []
    left_out = 0
    for mutant in mutants:
        result = read_result(mutant)
        part = "/".join(mutant.path.split("/")[1:3]).removesuffix(".py")
        if mutant.line_of_code in harmless:
            left_out += 1
            continue
        if result is None:
            continue
        counted[part] += 1
        killed[part] += result.is_killed
        if not result.is_killed:
            survivors.append((mutant, result))
    for part in sorted(counted):
        show(f"  {part:<40} {killed[part]:>4} of {counted[part]}")
    total = counted.total()
    show(
        f"Killed {killed.total()} of {total} mutants ({killed.total() / max(1, total):.1%}); {left_out} are harmless."
    )
    for mutant, result in sorted(survivors, key=lambda pair: (pair[0].path, pair[0].line)):
        show(f"\n{mutant.path}:{mutant.line} {result.outcome} (in {mutant.function or 'the module'})")
        show(f"  {mutant.statement}\n  → {mutant.mutated}")


def show(text: str) -> None:
    """Print a line at once, also into a file."""
    print(text, flush=True)  # noqa: T201


def _try_all(mutants: list[Mutant], options: argparse.Namespace) -> None:
    """Try the mutants on several processes."""
    coverage = CoverageMap()
    workers = []
    for worker in range(options.jobs):
        child = os.fork()
        if child:
            workers.append(child)
            continue
        try:
            laboratory = Laboratory(coverage, options.budget, worker)
            for mutant in mutants[worker :: options.jobs]:
                result = laboratory.try_mutant(mutant)
                show(
                    f"  {result.outcome:<9} {result.seconds:>6} s  {mutant.path}:{mutant.line}  {mutant.mutated}"
                )
        except BaseException:  # noqa: BLE001 (the parent sees the exit code)
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    if any(os.waitpid(worker, 0)[1] for worker in workers):
        raise SystemExit("A worker failed.")


def main() -> None:
    """Record, draw, try and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=34, help="another seed draws other mutants")
    parser.add_argument("--number", type=int, default=250, help="how many mutants")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests per mutant")
    parser.add_argument(
        "--only", default="", help="mutants of the sample whose path has this text in it"
    )
    parser.add_argument("--untried", action="store_true", help="only mutants that have no result yet")
    parser.add_argument("--report", action="store_true", help="print the kept results, and try nothing")
    options = parser.parse_args()
    mutants = sample(list_targets(), options.number, options.seed)
    mutants = [mutant for mutant in mutants if options.only in mutant.path]
    if not options.report:
        import_libraries()
        record_all()
        untried = [mutant for mutant in mutants if read_result(mutant) is None]
        harmless = read_harmless()
        tried = [
            mutant
            for mutant in (untried if options.untried else mutants)
            if mutant.line_of_code not in harmless
        ]
        _try_all(tried, options)
    report(mutants)


if __name__ == "__main__":
    main()

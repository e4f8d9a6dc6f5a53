"""Record which tests execute which lines of the modules that protect people.

Every file of tests is run once with a trace function, and again only after it has changed. Lines of a module that has
changed since are found again by comparing the sources.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, takewhile
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from pytest_runs import run_in_child, run_pytest
from targets import BUILD, ROOT, list_targets, list_test_files

_RECORDS = BUILD / "tests"
_SOURCES = BUILD / "sources"
_LONGEST_SECONDS = 1800
_MOST_TESTS = 400
_CALLS_WITHOUT_NEWS = 50
"""A function is not traced any more in a test after so many calls in a row without a new line."""


class Recorder:
    """Plug-in: notes the lines that each test executes, and how long it takes."""

    def __init__(self, targets: list[str]) -> None:
        self._files = {str(ROOT / path): path for path in targets}
        self._lines: dict[str, set[int]] = defaultdict(set)
        self._calls: dict[CodeType, int] = defaultdict(int)
        self.tests: dict[str, dict[str, Any]] = {}

    def start(self) -> None:
        """Trace this thread and all that are started from now on."""
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Gather the lines of one test, with its fixtures."""
        self._lines.clear()
        self._calls.clear()
        sys.settrace(self._trace)
        started = time.perf_counter()
        result = yield
        seconds = time.perf_counter() - started
        test = self.tests.setdefault(item.nodeid, {"passed": True})
        test["seconds"] = round(seconds, 3)
        test["lines"] = {path: sorted(lines) for path, lines in self._lines.items() if lines}
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note tests that fail or are skipped: they cannot notice a mutant."""
        test = self.tests.setdefault(report.nodeid, {"passed": True})
        test["passed"] = test["passed"] and report.passed

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        path = self._files.get(code.co_filename)
        if path is None or self._calls[code] > _CALLS_WITHOUT_NEWS:
            return None
        self._calls[code] += 1
        lines = self._lines[path]

        def trace_lines(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line" and frame.f_lineno not in lines:
                lines.add(frame.f_lineno)
                self._calls[code] = 0
            return trace_lines

        return trace_lines


def record_all() -> None:
    """Record the files of tests that are new or have changed."""
    _RECORDS.mkdir(parents=True, exist_ok=True)
    for path in list_test_files():
        if not _is_recorded(path):
            started = time.monotonic()
            code = run_in_child(
                lambda path=path: _record(path), BUILD / "recording.log", _LONGEST_SECONDS
            )
            ending = "" if code == 0 else f", code {code}"
            print(f"  {path}: {time.monotonic() - started:.0f} s{ending}", flush=True)  # noqa: T201
            if code:
                (BUILD / f"failed-{Path(path).stem}.log").write_bytes(
                    (BUILD / "recording.log").read_bytes()
                )


@dataclass(frozen=True)
class Tests:
    """Tests in the order in which they are run, with their seconds and the digests of their files."""

    names: tuple[str, ...]
    seconds: tuple[float, ...]
    digests: tuple[str, ...]

    def take(self, budget: float) -> Tests:
        """Take the first tests that together need at most so many seconds, and at least one."""
        within = len(list(takewhile(lambda total: total <= budget, accumulate(self.seconds))))
        number = min(max(1, within), _MOST_TESTS)
        return Tests(self.names[:number], self.seconds[:number], self.digests[:number])

    @property
    def digest(self) -> str:
        """A digest of the tests as they were when they were recorded."""
        return hashlib.sha256("\n".join((*self.names, *self.digests)).encode()).hexdigest()


class CoverageMap:
    """Finds the tests that execute a line."""

    def __init__(self) -> None:
        self._by_line: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._by_file: dict[str, set[str]] = defaultdict(set)
        self._seconds: dict[str, float] = {}
        self._digests: dict[str, str] = {}
        self._shifts: dict[tuple[str, str], dict[int, range]] = {}
        for path in list_test_files():
            record = _record_path(path)
            if record.exists():
                document = json.loads(record.read_text())
                self._digests[path] = document["digest"]
                self._add(document)

    def find_tests(self, path: str, lines: range, *, at_import: bool) -> Tests:
        """Find the tests that execute one of some lines; of lines run at import, those that use the module at all.

        The quickest come first.
        """
        if at_import:
            names = self._by_file[path]
        else:
            names = {name for line in lines for name in self._by_line.get((path, line), ())}
        by_time = sorted(names, key=lambda name: (self._seconds[name], name))
        # The quickest test of each file comes first: different files test different things.
        first = dict.fromkeys(name.split("::")[0] for name in by_time)
        quickest = {
            file: next(name for name in by_time if name.startswith(f"{file}::")) for file in first
        }
        ordered = sorted(by_time, key=lambda name: quickest[name.split("::")[0]] != name)
        return Tests(
            tuple(ordered),
            tuple(self._seconds[name] for name in ordered),
            tuple(self._digests[name.split("::")[0]] for name in ordered),
        )

    def _add(self, record: dict[str, Any]) -> None:
        for name, test in record["tests"].items():
            if not test["passed"]:
                continue
            self._seconds[name] = test["seconds"]
            for path, lines in test["lines"].items():
                shifted = self._shift(path, record["sources"][path])
                self._by_file[path].add(name)
                for line in lines:
                    for now in shifted[line]:
                        self._by_line[path, now].add(name)

    def _shift(self, path: str, digest: str) -> dict[int, range]:
        """Map the lines of the recorded source to those of the present one, changed lines to all that replace them."""
        if (path, digest) not in self._shifts:
            old = (_SOURCES / digest).read_text().splitlines()
            file = ROOT / path
            new = file.read_text().splitlines() if file.exists() else []
            shifts: dict[int, range] = {}
            for change in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
                tag, start, end, new_start, new_end = change
                for line in range(start, end):
                    same = new_start + line - start
                    found = range(same, same + 1) if tag == "equal" else range(new_start, new_end)
                    shifts[line + 1] = range(found.start + 1, found.stop + 1)
            self._shifts[path, digest] = shifts
        return self._shifts[path, digest]


def _record_path(path: str) -> Path:
    return _RECORDS / (path.replace("/", ".") + ".json")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_recorded(path: str) -> bool:
    record = _record_path(path)
    return record.exists() and json.loads(record.read_text())["digest"] == _digest(ROOT / path)


def _record(path: str) -> int:
    """Run a file of tests under the recorder and keep what it found."""
    targets = list_targets()
    digest = _digest(ROOT / path)
    sources = {}
    _SOURCES.mkdir(parents=True, exist_ok=True)
    for target in targets:
        sources[target] = _digest(ROOT / target)
        kept = _SOURCES / sources[target]
        if not kept.exists():
            kept.write_bytes((ROOT / target).read_bytes())
    recorder = Recorder(targets)
    recorder.start()
    run_pytest([path], BUILD / "temporary", [recorder])
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    used = {name for test in recorder.tests.values() for name in test.get("lines", ())}
    document = {
        "digest": digest,
        "sources": {name: sources[name] for name in sorted(used)},
        "tests": recorder.tests,
    }
    _record_path(path).write_text(json.dumps(document))
    return 0

"""The harness of `make bench`: data made once outside the repository, contenders raced in one run, tables of ratios.

A benchmark is a file ``bench_<what>.py`` with ordinary test functions (``make test`` collects ``test_*.py`` only)::

    def load(path):                     # a module-level function; what it returns must be small
        return build_counts(path).records

    def test_loading_against_pandas(bench_data, race):
        data = bench_data("western")
        race(
            "Loading 9.65 M records",
            {"vbas": partial(load, data.records), "pandas.read_csv": partial(read_with_pandas, data.records)},
            reference="pandas.read_csv",
            reach={"vbas": "<= 0.5"},
        )

Every contender has a process of its own; they take turns, so that a busy machine slows all of them alike. The first
turn warms up; the least time of the others counts. Peak memory is that process's own, libraries included.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from made_data import ROOT, BenchData, made, markdown

TABLES = pytest.StashKey[list[str]]()


@dataclass(frozen=True)
class Measured:
    """The least wall and processor time of a contender, its peak memory, and what its function returned."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    result: Any


def pytest_configure(config):
    config.stash[TABLES] = []


def pytest_terminal_summary(terminalreporter, config):
    """Print all tables at the end and keep them in build/bench.md."""
    tables = config.stash[TABLES]
    if not tables:
        return
    text = "\n\n".join(tables)
    target = ROOT / "build" / "bench.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(text + "\n", encoding="utf-8")
    terminalreporter.write_line(f"\n{text}\n\nKept in {target.relative_to(ROOT)}.")


@pytest.fixture(scope="session")
def bench_data() -> Callable[..., BenchData]:
    """``bench_data(like, *options)``: the data set of ``vbas generate --like … options``, made at first use.

    ``VBAS_BENCH_EASTERN`` and ``VBAS_BENCH_WESTERN`` name folders with other data of the same columns.
    """
    return made


@pytest.fixture
def race(request) -> Callable[..., dict[str, Measured]]:
    """``race(title, contenders, reference=…, repeats=3, reach={})``: measure in turns, add a table, hand back."""

    def run(
        title: str,
        contenders: Mapping[str, Callable[[], Any]],
        *,
        reference: str,
        repeats: int = 3,
        reach: Mapping[str, str] | None = None,
    ) -> dict[str, Measured]:
        measured = race_in_turns(contenders, repeats)
        request.config.stash[TABLES].append(ratio_table(title, measured, reference, reach or {}))
        return measured

    return run


@pytest.fixture
def bench_table(request) -> Callable[..., None]:
    """``bench_table(title, header, rows)``: add a table of other figures (quality, sizes) to the output."""

    def add(title: str, header: list[str], rows: list[list[str]]) -> None:
        request.config.stash[TABLES].append(markdown(title, header, rows))

    return add


def race_in_turns(contenders: Mapping[str, Callable[[], Any]], repeats: int = 3) -> dict[str, Measured]:
    """Measure picklable calls (`functools.partial` of module-level functions), each in a fresh process of its own."""
    spawn = multiprocessing.get_context("spawn")
    pipes, processes = {}, []
    try:
        for name, call in contenders.items():
            here, there = spawn.Pipe()
            process = spawn.Process(target=_contend, args=(there, call), daemon=True)
            process.start()
            there.close()
            pipes[name] = here
            processes.append(process)
        turns: dict[str, list[Measured]] = {name: [] for name in contenders}
        for _ in range(repeats + 1):
            for name, pipe in pipes.items():
                turns[name].append(_one_turn(name, pipe))
        return {name: _best(measured) for name, measured in turns.items()}
    finally:
        for pipe in pipes.values():
            pipe.close()
        for process in processes:
            process.join(timeout=10)
            process.kill()


def ratio_table(
    title: str, measured: Mapping[str, Measured], reference: str, reach: Mapping[str, str]
) -> str:
    """The table of one race: seconds, ratio to the reference, peak memory and what was to be reached."""
    base = measured[reference].seconds
    rows = [
        [
            name,
            f"{one.seconds:.3f}",
            f"{one.cpu_seconds:.3f}",
            f"{one.seconds / base:.2f}",
            f"{one.peak_mb:,.0f}",
            reach.get(name, ""),
        ]
        for name, one in measured.items()
    ]
    return markdown(
        title, ["", "seconds", "CPU s", f"ratio to {reference}", "peak MB", "to reach"], rows
    )


def _one_turn(name: str, pipe) -> Measured:
    try:
        pipe.send("go")
        return pipe.recv()
    except (EOFError, BrokenPipeError):
        pytest.fail(f"“{name}” broke off; its traceback is in the output above", pytrace=False)


def _contend(pipe, call: Callable[[], Any]) -> None:
    while True:
        try:
            pipe.recv()
        except EOFError:
            return
        cpu, start = _cpu_seconds(), time.perf_counter()
        result = call()
        seconds, cpu = time.perf_counter() - start, _cpu_seconds() - cpu
        pipe.send(Measured(seconds, cpu, resident_mb("VmHWM"), result))


def _best(turns: list[Measured]) -> Measured:
    counted = turns[1:] or turns
    return Measured(
        min(turn.seconds for turn in counted),
        min(turn.cpu_seconds for turn in counted),
        max(turn.peak_mb for turn in turns),
        turns[-1].result,
    )


def _cpu_seconds() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def resident_mb(line_name: str) -> float:
    """This process's memory: ``VmRSS`` now, ``VmHWM`` at most so far."""
    # VmHWM and not ru_maxrss: the latter is inherited from the process that started this one.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{line_name}:"):
            return int(line.split()[1]) / 1024
    return float("nan")

"""Whole commands at 9.65 million records, against plain pandas scripts that do the same work unverified.

Every contender is a process of its own, start-up included; they take turns. The pair and triple tests of the written
file are off. ``VBAS_BENCH_OTHER`` names another checkout with its own environment: its ``vbas`` then takes part too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from made_data import ROOT, BenchData

COLUMNS = ("age", "gender")
K = 5
REPEATS = 2

READ_AND_COUNT = """
import sys, pandas
records, columns = sys.argv[1], ["region", *sys.argv[2].split(",")]
table = pandas.read_csv(records, usecols=columns, skiprows={skipped})
print(len(table.groupby(columns).size()))
"""
LOAD_AND_COUNT = """
import sys
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
records, columns, regions = sys.argv[1], sys.argv[2].split(","), sys.argv[3]
table = load_records(records, columns={{"region", *columns}})
problem = build_problem(table, load_regions(regions), region_column="region", quasi_identifiers=columns, k=5)
print(problem.counts.records)
"""
# Reads the crosswalk of a release, so that both merge the same regions.
RELEASE_WITH_PANDAS = """
import sys, pandas
records, columns, crosswalk, out = sys.argv[1], sys.argv[2].split(","), sys.argv[3], sys.argv[4]
places = pandas.read_csv(crosswalk, dtype=str)
merged = dict(zip(places.iloc[:, 0], places.iloc[:, 1]))
table = pandas.read_csv(records, dtype=str, skiprows={skipped})
table["region"] = table["region"].map(merged)
size = table.groupby(["region", *columns])["region"].transform("size")
table[size >= {k}].sample(frac=1, random_state=1).to_csv(out, index=False)
"""


@dataclass(frozen=True)
class Usage:
    """The least wall and CPU seconds of a command, and its peak memory in MB."""

    seconds: float
    cpu_seconds: float
    peak_mb: float


def run_once(command: list[str]) -> Usage:
    """Run a command and measure it, its own children included."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, errors[-2000:]
    return Usage(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def run_in_turns(commands: dict[str, list[str]], outputs: dict[str, Path]) -> dict[str, Usage]:
    """Run every command ``REPEATS`` times in turns; the folder or file that it writes is removed before each run."""
    measured: dict[str, list[Usage]] = {name: [] for name in commands}
    for _ in range(REPEATS):
        for name, command in commands.items():
            if name in outputs:
                _remove(outputs[name])
            measured[name].append(run_once(command))
    return {
        name: Usage(
            min(one.seconds for one in usages),
            min(one.cpu_seconds for one in usages),
            max(one.peak_mb for one in usages),
        )
        for name, usages in measured.items()
    }


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.fixture
def western(bench_data) -> BenchData:
    return bench_data("western")


@pytest.fixture(scope="session")
def parquet(bench_data, tmp_path_factory) -> Path:
    """The same records as Parquet, every value as text."""
    import pandas as pd

    data = bench_data("western")
    path = tmp_path_factory.mktemp("parquet") / "records.parquet"
    records = pd.read_csv(
        data.records, dtype=str, skiprows=[1] if has_category_counts(data.records) else None
    )
    records.to_parquet(path, index=False)
    return path


def has_category_counts(records: Path) -> bool:
    """Tell whether line 2 holds numbers of categories: all are then at least 2, and the region's is the largest."""
    with records.open(encoding="utf-8") as file:
        header = file.readline().strip().split(",")
        second = file.readline().strip().split(",")
    values = dict(zip(header, second, strict=True))
    return values.get("gender", "").isdigit() and int(values["region"]) < 100_000


def vbas(checkout: Path, data: BenchData, records: Path, *options: str) -> list[str]:
    """Return the command of one run."""
    required = ["--region-column", "region", "--quasi-identifiers", ",".join(COLUMNS), "-k", str(K)]
    return [
        str(checkout / ".venv/bin/vbas"),
        "run",
        str(records),
        str(data.regions),
        *required,
        "--quiet",
        *options,
    ]


def other_checkouts() -> dict[str, Path]:
    """Return the checkout that ``VBAS_BENCH_OTHER`` names, if any."""
    other = os.environ.get("VBAS_BENCH_OTHER")
    return {"other checkout": Path(other)} if other else {}


def add_table(
    bench_table, title: str, measured: dict[str, Usage], reference: str, reach: dict[str, str]
) -> None:
    base = measured[reference]
    rows = [
        [
            name,
            f"{usage.seconds:.1f}",
            f"{usage.cpu_seconds:.1f}",
            f"{usage.seconds / base.seconds:.2f}",
            f"{usage.cpu_seconds / base.cpu_seconds:.2f}",
            f"{usage.peak_mb:,.0f}",
            reach.get(name, ""),
        ]
        for name, usage in measured.items()
    ]
    header = ["", "seconds", "CPU s", f"ratio to {reference}", "ratio of CPU", "peak MB", "to reach"]
    bench_table(title, header, rows)


def test_load_and_run(western, bench_table):
    skipped = [1] if has_category_counts(western.records) else None
    columns = ",".join(COLUMNS)
    count = [
        sys.executable,
        "-c",
        LOAD_AND_COUNT.format(),
        str(western.records),
        columns,
        str(western.regions),
    ]
    commands = {
        "pandas: read, count": [
            sys.executable,
            "-c",
            READ_AND_COUNT.format(skipped=skipped),
            str(western.records),
            columns,
        ],
        "load and count": count,
        "vbas run": vbas(ROOT, western, western.records),
    }
    for name, checkout in other_checkouts().items():
        commands[name] = vbas(checkout, western, western.records)
    reach = {"load and count": "<= 0.6 and 0.6", "vbas run": "<= 1.1 and 1.4"}
    add_table(bench_table, "Load, count, run", run_in_turns(commands, {}), "pandas: read, count", reach)


def test_release(western, parquet, bench_table, tmp_path):
    skipped = [1] if has_category_counts(western.records) else None
    outputs = {name: tmp_path / name for name in ("csv", "parquet", "pandas", "other checkout")}
    first = vbas(ROOT, western, western.records, "--no-pair-tests", "--out", str(tmp_path / "first"))
    run_once(first)
    crosswalk = str(tmp_path / "first" / "release" / "crosswalk.csv")
    script = RELEASE_WITH_PANDAS.format(skipped=skipped, k=K)
    columns = ",".join(COLUMNS)
    commands = {
        "pandas": [
            sys.executable,
            "-c",
            script,
            str(western.records),
            columns,
            crosswalk,
            str(outputs["pandas"]),
        ],
        "csv": vbas(ROOT, western, western.records, "--no-pair-tests", "--out", str(outputs["csv"])),
        "parquet": vbas(ROOT, western, parquet, "--no-pair-tests", "--out", str(outputs["parquet"])),
    }
    for name, checkout in other_checkouts().items():
        commands[name] = vbas(checkout, western, western.records, "--out", str(outputs[name]))
    measured = run_in_turns(commands, outputs)
    reach = {"csv": "<= 0.6, 1,500 MB", "parquet": "<= csv"}
    add_table(
        bench_table,
        "Verified release with reports, against an unverified script",
        measured,
        "pandas",
        reach,
    )


def test_sample(bench_table, tmp_path):
    sample = ROOT / "sample_data"
    outputs = {"with --out": tmp_path / "own", "other checkout, with --out": tmp_path / "other"}
    commands = {}
    for name, checkout in {
        "": ROOT,
        **{f"{name}, ": path for name, path in other_checkouts().items()},
    }.items():
        required = ["--region-column", "tract", "--quasi-identifiers", "age,sex,marital_status"]
        required += ["--identifiers", "health_number", "--quiet"]
        program = [
            str(checkout / ".venv/bin/vbas"),
            "run",
            str(sample / "records.csv"),
            str(sample / "regions.geojson"),
        ]
        commands[f"{name}without --out"] = [*program, *required]
        commands[f"{name}with --out"] = [*program, *required, "--out", str(outputs[f"{name}with --out"])]
    measured = run_in_turns(commands, outputs)
    add_table(bench_table, "The sample", measured, "without --out", {})

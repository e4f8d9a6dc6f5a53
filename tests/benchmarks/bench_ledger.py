"""The check of a release against five earlier ones, beside the time that loading its records takes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import RecordTable
from vbas_desktop.releases.ledger import (
    Ledger,
    LedgerEntry,
    ReleaseCandidate,
    check_candidate,
    entry_from_plan,
)
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

COLUMNS = (("age", "gender"), ("age", "marital"))
HEADER = ["", "loading, CPU s", "check, CPU s", "check / loading"]


def entry(problem: Problem, table: RecordTable, sites: int, key: bytes) -> LedgerEntry:
    """The release of one partition with all columns."""
    request = Request(
        problem,
        create_approach("site_number", "fixed", {"sites": sites}),
        create_approach("site_location", "density"),
        create_approach("construction", "voronoi"),
        settings=RunSettings(range_reach=0),
    )
    return entry_from_plan(
        build_plan(problem, run(request).chosen), table, ReleaseOptions(), key, "bench"
    )


def measured(records: Path, regions_path: Path) -> list[str]:
    """One row: the processor time of loading, and of the check against five releases of two sets of columns."""
    started = time.process_time()
    table = load_records(records)
    loading = time.process_time() - started
    regions = load_regions(regions_path)
    ledger = Ledger()
    problems = [
        build_problem(table, regions, region_column="region", quasi_identifiers=columns, k=5)
        for columns in COLUMNS
    ]
    numbers = np.linspace(len(regions) // 40, len(regions) // 10, 6).astype(int).tolist()
    for place, sites in enumerate(numbers[:5]):
        ledger, _ = ledger.add(entry(problems[place % 2], table, sites, ledger.key))
    new = entry(problems[0], table, numbers[5], ledger.key)
    started = time.process_time()
    verdict = check_candidate(ledger, ReleaseCandidate(new, table, regions, problems[0]), "bench")
    checking = time.process_time() - started
    assert len(verdict.comparisons) == 5
    return [f"{table.rows:,} records", f"{loading:.2f}", f"{checking:.2f}", f"{checking / loading:.2f}"]


@pytest.mark.parametrize("name", ["eastern", "western"])
def test_the_check_beside_loading(bench_data, bench_table, name):
    data = bench_data(name)
    bench_table(
        f"Ledger check against five releases, {name}-like",
        HEADER,
        [measured(data.records, data.regions)],
    )

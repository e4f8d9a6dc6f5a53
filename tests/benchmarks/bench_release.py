"""Writing and verifying a release, against `pandas.read_csv` of the whole record file."""

from __future__ import annotations

import shutil
import tempfile
from functools import lru_cache, partial
from pathlib import Path

import pytest

COLUMNS = ("age", "gender")


@lru_cache
def _solved(records: Path, regions: Path):
    """What is there before a release begins; the memory that this took at its peak is forgotten afterwards."""
    from vbas_desktop.approaches.registry import create_approach
    from vbas_desktop.engine.problem import build_problem
    from vbas_desktop.engine.request import Request
    from vbas_desktop.engine.run import run
    from vbas_desktop.io.records.loading import load_records
    from vbas_desktop.io.regions.reader import load_regions
    from vbas_desktop.settings.run import RunSettings

    table = load_records(records)
    problem = build_problem(
        table, load_regions(regions), region_column="region", quasi_identifiers=COLUMNS, k=5
    )
    approaches = [
        create_approach("site_number", "maxcombs"),
        create_approach("site_location", "balanced-density"),
        create_approach("construction", "voronoi"),
    ]
    result = run(Request(problem, *approaches, settings=RunSettings(range_reach=0)))
    Path("/proc/self/clear_refs").write_text("5")
    return table, problem, result


def release(records: Path, regions: Path, shuffle: bool) -> int:
    """The anonymised file with everything that goes with it, verified and in place."""
    from vbas_desktop.releases.write import WriteRequest, write_release
    from vbas_desktop.settings.release import ReleaseOptions

    table, problem, result = _solved(records, regions)
    folder = Path(tempfile.mkdtemp(dir=records.parent))
    try:
        options = ReleaseOptions(shuffle=shuffle, pdf=False)
        return write_release(
            WriteRequest(problem, table, result, result.chosen, options, folder / "out")
        ).records_released
    finally:
        shutil.rmtree(folder)


def columns_tested(records: Path, regions: Path) -> int:
    """The three tests of all columns that are neither the region nor a quasi-identifier."""
    from vbas_desktop.model.progress import NO_PROGRESS
    from vbas_desktop.releases.disclosure_checks import find_disclosive_columns
    from vbas_desktop.releases.plan import build_plan
    from vbas_desktop.releases.records import find_released_records

    table, problem, result = _solved(records, regions)
    others = [name for name in table.file_format.header if name not in ("region", *COLUMNS)]
    released = find_released_records(build_plan(problem, result.chosen), table, NO_PROGRESS)
    return len(find_disclosive_columns(released, others, NO_PROGRESS))


def load(records: Path) -> int:
    """All columns of the file, coded."""
    from vbas_desktop.io.records.loading import load_records

    return load_records(records).rows


def read_with_pandas(records: Path) -> int:
    """The whole file, as a researcher would open it."""
    import pandas

    return len(pandas.read_csv(records))


def read_with_one_thread(records: Path) -> int:
    """The same by one thread: large files are read by several from pandas 3.1 on."""
    import pandas

    with pandas.option_context("mode.max_threads", 1):
        return len(pandas.read_csv(records))


@pytest.mark.parametrize("like", ["eastern", "western"])
def test_release_against_reading(bench_data, race, like):
    data = bench_data(like)
    measured = race(
        f"Release of {like}, {data.records.stat().st_size / 1e6:,.0f} MB: written, read back, verified",
        {
            "vbas": partial(release, data.records, data.regions, True),
            "vbas --no-shuffle": partial(release, data.records, data.regions, False),
            "pandas.read_csv": partial(read_with_pandas, data.records),
            "pandas.read_csv, one thread": partial(read_with_one_thread, data.records),
        },
        reference="pandas.read_csv",
        reach={"vbas": "<= 2", "vbas --no-shuffle": "<= 2"},
    )
    assert measured["vbas"].result > 0.9 * measured["pandas.read_csv"].result
    assert measured["vbas"].peak_mb < 1000


@pytest.mark.parametrize("like", ["eastern", "western"])
def test_columns_against_loading(bench_data, race, like):
    data = bench_data(like)
    measured = race(
        f"Tests of the released columns of {like}",
        {
            "tests": partial(columns_tested, data.records, data.regions),
            "loading": partial(load, data.records),
        },
        reference="loading",
        reach={"tests": "<= 0.5"},
    )
    assert measured["tests"].result == 0

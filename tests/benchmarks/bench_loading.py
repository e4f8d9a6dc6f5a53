"""From a record file to counts, against reading its bytes and against `pandas.read_csv` of the same columns."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path

import pytest

TWO = ("age", "gender")
THREE = ("age", "gender", "income")
REGION = "region"


def read_bytes(path: Path) -> int:
    """The least that any reader must do."""
    size = 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(1 << 20):
            size += len(block)
    return size


def read_with_pandas(path: Path, columns: tuple[str, ...]) -> int:
    """The columns that the counts need, and no counting."""
    import pandas

    return len(pandas.read_csv(path, usecols=[*columns, REGION]))


@lru_cache
def _regions(path: Path):
    from vbas_desktop.io.regions.reader import load_regions

    return load_regions(path)


def count(records: Path, regions: Path, columns: tuple[str, ...]) -> int:
    """The columns that the counts need, coded and counted by region and class."""
    from vbas_desktop.engine.problem import build_problem
    from vbas_desktop.io.records.loading import load_records

    table = load_records(records, columns={*columns, REGION})
    problem = build_problem(
        table, _regions(regions), region_column=REGION, quasi_identifiers=columns, k=5
    )
    return problem.counts.records


def count_among_all(records: Path, regions: Path, columns: tuple[str, ...]) -> int:
    """All columns coded, the chosen ones counted by region and class."""
    from vbas_desktop.engine.problem import build_problem
    from vbas_desktop.io.records.loading import load_records

    table = load_records(records)
    problem = build_problem(
        table, _regions(regions), region_column=REGION, quasi_identifiers=columns, k=5
    )
    return problem.counts.records


def recount(records: Path, columns: tuple[str, ...]) -> int:
    """Verification of a file of this size."""
    from vbas_desktop.audit.recount import recount
    from vbas_desktop.audit.text_form import StatedForm

    return recount(records, columns, REGION, StatedForm(category_line=True)).records


@pytest.mark.parametrize("labels", ["codes", "text"])
@pytest.mark.parametrize(("like", "peak_mb"), [("eastern", 600), ("western", 1500)])
def test_file_to_counts(bench_data, race, like, peak_mb, labels):
    data = bench_data(like, "--labels", labels)
    megabytes = data.records.stat().st_size / 1e6
    for columns in (TWO, THREE):
        measured = race(
            f"File to counts: {like}, {labels}, {megabytes:,.0f} MB, {len(columns)} quasi-identifiers",
            {
                "vbas": partial(count, data.records, data.regions, columns),
                "vbas, all columns": partial(count_among_all, data.records, data.regions, columns),
                "pandas.read_csv": partial(read_with_pandas, data.records, columns),
                "reading bytes": partial(read_bytes, data.records),
                "vbas verify": partial(recount, data.records, columns),
            },
            reference="pandas.read_csv",
            reach={"vbas": "<= 0.7"},
        )
        assert measured["vbas"].result >= measured["pandas.read_csv"].result - 1
        assert measured["vbas"].peak_mb < peak_mb

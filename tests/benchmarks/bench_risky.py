"""Risky combinations against `pandas.read_csv` of the same file: the first risky size, and all minimal combinations."""

from __future__ import annotations

import ctypes
import gc
import os
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pytest

K = 3
CATEGORIES = (90, 2, 40, 12, 8, 5, 2, 2, 3, 25)
"""Age, sex, district and the like: ten columns of a health survey."""


def survey(records: int) -> Path:
    """A CSV of so many records, made at first use; frequent and rare values in every column."""
    home = Path(os.environ.get("VBAS_BENCH_DIR") or Path.home() / ".cache" / "vbas-bench")
    path = home / f"survey-{records}.csv"
    if not path.exists():
        import pandas

        generator = np.random.default_rng(0)
        columns = {
            f"c{place}": generator.choice(
                number, records, p=(shares := 0.93 ** np.arange(number)) / shares.sum()
            )
            for place, number in enumerate(CATEGORIES)
        }
        home.mkdir(parents=True, exist_ok=True)
        pandas.DataFrame(columns).to_csv(path.with_suffix(".part"), index=False)
        path.with_suffix(".part").rename(path)
    return path


def read_with_pandas(path: Path) -> int:
    """What everybody has to do before anything else."""
    import pandas

    return len(pandas.read_csv(path))


@lru_cache
def _loaded(path: Path):
    from vbas_desktop.io.records.loading import load_records

    return load_records(path)


def first_size(path: Path) -> tuple[int, int]:
    """The first size that has risky combinations, from loaded codes."""
    from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
    from vbas_desktop.analysis.minimal_uniques.search import find_minimal_uniques

    table = DistinctRows.from_records(_loaded(path), [f"c{place}" for place in range(len(CATEGORIES))])
    search = find_minimal_uniques(table, K, first_level_only=True)
    return search.levels[-1].size, search.number


def all_sizes(path: Path) -> tuple[int, bool, float]:
    """All minimal risky combinations of all sizes, from loaded codes; and the MB that this takes at most."""
    from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
    from vbas_desktop.analysis.minimal_uniques.search import find_minimal_uniques

    find_minimal_uniques(
        DistinctRows.from_rows(["a", "b"], [["1", "2"], ["1", "3"], ["2", "2"]]), K
    )  # compiled loops are in memory then
    records = _loaded(path)
    before = _peak_from_now_on()
    table = DistinctRows.from_records(records, [f"c{place}" for place in range(len(CATEGORIES))])
    search = find_minimal_uniques(table, K)
    return search.number, search.complete, _memory_mb("VmHWM") - before


def _peak_from_now_on() -> float:
    """Forget the peak of this process so far, which loading made; hands back what it holds now."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # or the search would fill what loading left behind, unseen
    Path("/proc/self/clear_refs").write_text("5")
    return _memory_mb("VmRSS")


def _memory_mb(what: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 * 1.024 for line in lines if line.startswith(f"{what}:"))


def allowed_mb(records: int) -> float:
    """Three times the table as 64-bit numbers."""
    return 8 * 3 * records * len(CATEGORIES) / 1e6


def test_first_risky_size_of_a_million_records(race):
    path = survey(1_000_000)
    measured = race(
        "First risky size: 1 M records, 10 columns",
        {"vbas": partial(first_size, path), "pandas.read_csv": partial(read_with_pandas, path)},
        reference="pandas.read_csv",
        reach={"vbas": "<= 2"},
    )
    assert measured["vbas"].result[1] > 0


def test_all_minimal_combinations_of_a_hundred_thousand_records(race):
    path = survey(100_000)
    measured = race(
        "All minimal risky combinations: 100,000 records, 10 columns",
        {"vbas": partial(all_sizes, path), "pandas.read_csv": partial(read_with_pandas, path)},
        reference="pandas.read_csv",
        reach={"vbas": "<= 30"},
    )
    assert measured["vbas"].result[1]


@pytest.mark.parametrize("records", [100_000, 1_000_000])
def test_memory_of_all_minimal_combinations(records, race, bench_table):
    measured = race(
        f"All minimal risky combinations once, file and programs loaded in passing: {records:,} records, 10 columns",
        {"vbas": partial(all_sizes, survey(records))},
        reference="vbas",
        repeats=0,  # memory that is used again would hide what a search takes
    )
    number, complete, used_mb = measured["vbas"].result
    assert complete
    bench_table(
        f"Memory of that search beyond the loaded file: {records:,} records, 10 columns",
        ["", "combinations", "MB", "to reach"],
        [["vbas", f"{number:,}", f"{used_mb:.1f}", f"<= {allowed_mb(records):.0f}"]],
    )

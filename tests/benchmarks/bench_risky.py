"""Risky combinations against `pandas.read_csv` of the same file: the first risky size, and all minimal combinations."""

from __future__ import annotations

import os
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

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
            f"c{place}": generator.choice(number, records, p=(shares := 0.93 ** np.arange(number)) / shares.sum())
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
    from vbas_desktop.files.records import load_records

    return load_records(path)


def first_size(path: Path) -> tuple[int, int]:
    """The first size that has risky combinations, from loaded codes."""
    from vbas_desktop.assessment.risky.mining import mine
    from vbas_desktop.assessment.risky.table import Table

    table = Table.of_records(_loaded(path), [f"c{place}" for place in range(len(CATEGORIES))])
    search = mine(table, K, first_level_only=True)
    return search.levels[-1].size, search.number


def all_sizes(path: Path) -> tuple[int, bool]:
    """All minimal risky combinations of all sizes, from loaded codes."""
    from vbas_desktop.assessment.risky.mining import mine
    from vbas_desktop.assessment.risky.table import Table

    table = Table.of_records(_loaded(path), [f"c{place}" for place in range(len(CATEGORIES))])
    search = mine(table, K)
    return search.number, search.complete


def load_only(path: Path) -> int:
    """What the process weighs before the search, compiled loops included."""
    from vbas_desktop.assessment.risky.mining import mine
    from vbas_desktop.assessment.risky.table import Table

    mine(Table.of_rows(["a", "b"], [["1", "2"], ["1", "3"], ["2", "2"]]), K)
    return _loaded(path).rows


def test_first_risky_size_of_a_million_records(race):
    path = survey(1_000_000)
    measured = race(
        "First risky size: 1 M records, 10 columns",
        {"vbas": partial(first_size, path), "pandas.read_csv": partial(read_with_pandas, path)},
        reference="pandas.read_csv",
        reach={"vbas": "<= 2"},
    )
    assert measured["vbas"].result[1] > 0


def test_all_minimal_combinations_of_a_hundred_thousand_records(race, bench_table):
    path = survey(100_000)
    measured = race(
        "All minimal risky combinations: 100,000 records, 10 columns",
        {
            "vbas": partial(all_sizes, path),
            "pandas.read_csv": partial(read_with_pandas, path),
            "vbas, loading only": partial(load_only, path),
        },
        reference="pandas.read_csv",
        reach={"vbas": "<= 30"},
    )
    assert measured["vbas"].result[1]
    used = measured["vbas"].peak_mb - measured["vbas, loading only"].peak_mb
    allowed = 8 * 3 * 100_000 * len(CATEGORIES) / 2**20
    bench_table(
        "Memory of that search beyond the loaded file",
        ["combinations", "MB", "to reach"],
        [[f"{measured['vbas'].result[0]:,}", f"{used:.0f}", f"<= {allowed:.0f}"]],
    )

"""The representability vector of a solution against loading its record file, and the memory that it takes."""

from __future__ import annotations

import tracemalloc
from functools import cache, partial
from pathlib import Path

import pytest

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.geographic_representability import measure_geographic_representability
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.run import RunSettings

SCENARIOS = {"44 classes": ("age", "gender"), "924 classes": ("age", "gender", "income")}


def loaded(records: Path, regions: Path, columns: tuple[str, ...]) -> Problem:
    """From two files to counts."""
    table = load_records(records)
    return build_problem(
        table, load_regions(regions), region_column="region", quasi_identifiers=columns, k=5
    )


def loading(records: Path, regions: Path, columns: tuple[str, ...]) -> int:
    """What the vector is compared with."""
    return loaded(records, regions, columns).records


@cache
def _solved(records: Path, regions: Path, columns: tuple[str, ...]) -> tuple[Problem, Solution]:
    problem = loaded(records, regions, columns)
    chosen = (
        create_approach("site_number", "maxcombs"),
        create_approach("site_location", "balanced-density"),
        create_approach("construction", "voronoi"),
    )
    return problem, run(Request(problem, *chosen, settings=RunSettings(range_reach=0))).solutions[0]


def vector(records: Path, regions: Path, columns: tuple[str, ...]) -> float | None:
    """The whole vector of one solution; the warm-up turn loads the file, the measured ones do not."""
    return measure_geographic_representability(*_solved(records, regions, columns)).table.jaccard


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_vector_takes_a_quarter_of_loading_at_most(bench_data, race, scenario):
    data, columns = bench_data("western"), SCENARIOS[scenario]
    contenders = {
        "loading": partial(loading, data.records, data.regions, columns),
        "vector": partial(vector, data.records, data.regions, columns),
    }
    title = f"Representability, Western-like, {scenario}"
    race(title, contenders, reference="loading", repeats=2, reach={"vector": "<= 0.25"})


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_memory_of_the_vector_depends_on_the_counts_alone(bench_data, bench_table, scenario):
    data, columns = bench_data("western"), SCENARIOS[scenario]
    problem, solution = _solved(data.records, data.regions, columns)
    counts = problem.counts
    size = counts.nbytes
    measure_geographic_representability(problem, solution)
    tracemalloc.start()
    measure_geographic_representability(problem, solution)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    rows = [[scenario, f"{problem.records:,}", f"{size / 1e6:.1f}", f"{peak / 1e6:.1f}"]]
    bench_table(
        "Memory of the representability vector", ["", "records", "counts MB", "beyond them MB"], rows
    )

"""What unreleased cells tell an adversary who knows how the regions were made: the table of docs/refinement.md.

A cell is a class of an aggregated region; it is not released if it has fewer than k records. The adversary knows the
population of the regions and the share of each class, so that he expects a size of every cell, and for cells of about
the same expected size he knows exactly how often each count from 0 to k − 1 occurs. He guesses the most frequent one.
"""

from __future__ import annotations

import numpy as np
import pytest
from bench_engine import SCENARIOS, loaded

from vbas_desktop.algorithms.grouping import aggregate
from vbas_desktop.approaches.registry import make
from vbas_desktop.domain.problem import Problem, Request
from vbas_desktop.engine.run import run

CASES = (("44 classes", 1500), ("924 classes", 350))
PARTITIONS = (
    ("balanced-density", "none"),
    ("adc", "none"),
    ("refine-sites", "none"),
    ("balanced-density", "boundaries"),
)
HEADER = ["", "unreleased cells", "records in them", "empty %", "guessed %", "guessed % of those with records"]
_BINS = 20


@pytest.mark.parametrize(("scenario", "sites"), CASES)
def test_what_an_informed_adversary_guesses(bench_data, bench_table, scenario, sites):
    data = bench_data("eastern")
    problem = loaded(data.records, data.regions, *SCENARIOS[scenario])
    rows = [
        [f"{location} · {refinement}", *told(problem, sites, location, refinement)]
        for location, refinement in PARTITIONS
    ]
    bench_table(
        f"Guesses at unreleased cells, eastern-like, {scenario}, {sites:,} sites, k = {problem.k}", HEADER, rows
    )


def told(problem: Problem, sites: int, location: str, refinement: str) -> list[str]:
    """One row: the cells that are not released, and how many of them are guessed."""
    request = Request(
        problem,
        make("site_number", "fixed", {"sites": sites}),
        make("site_location", location),
        make("construction", "voronoi"),
        range_reach=0,
        refinement=make("refinement", refinement),
    )
    solution = run(request).chosen
    counts = aggregate(problem.counts, solution.membership, solution.aggregated_regions)
    indptr, columns, values = counts.rows
    cells = np.zeros((solution.aggregated_regions, counts.classes.size), np.int64)
    cells[np.repeat(np.arange(solution.aggregated_regions), np.diff(indptr)), columns] = values
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=0) / cells.sum())
    small = cells < problem.k
    size, hoped = cells[small], expected[small]
    bins = np.searchsorted(np.quantile(hoped, np.linspace(0, 1, _BINS + 1)[1:-1]), hoped)
    table = np.zeros((_BINS, problem.k), np.int64)
    np.add.at(table, (bins, size), 1)
    right = size == table.argmax(axis=1)[bins]
    held = size > 0
    shares = [f"{100 * value:.0f}" for value in ((~held).mean(), right.mean(), right[held].mean())]
    return [f"{size.size:,}", f"{int(size.sum()):,}", *shares]

"""What the rows of `make bench-tables` are measured with: problems, runs, the rules of others, guesses at cells."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from bench_engine import SCENARIOS, loaded
from made_data import made
from peers import skater_by_classes

from vbas_desktop.algorithms.aggregation import aggregate
from vbas_desktop.approaches.registry import create_approach, list_approaches
from vbas_desktop.engine.outcome import build_context, suppress_partition
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.problem import Problem
from vbas_desktop.settings.run import RunSettings

Row = dict[str, Any]
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
FOUR = ("age", "gender", "income", "education")
SKATER_REGIONS = 1000
"""By many features skater takes too long on more initial regions."""

_BINS = 20


@lru_cache(1)
def problem_of(like: str, scenario: str) -> Problem:
    """From two files to counts; what is compiled for such counts is compiled before anything is measured."""
    if like == "sample":
        columns = ("age", "sex", "marital_status")
        table, regions = load_records(SAMPLE / "records.csv"), load_regions(SAMPLE / "regions.geojson")
        problem = build_problem(table, regions, region_column="tract", quasi_identifiers=columns, k=5)
    else:
        data = made(like)
        columns, generalised = SCENARIOS.get(scenario, (FOUR, False))
        problem = loaded(data.records, data.regions, columns, generalised)
    for location in ("refine-sites", "adc"):
        _solve(problem, 30, location, "boundaries", {}, {"effort": 1})
    return problem


def by_approach(
    problem: Problem, sites: int, location: str, refinement: str, values: Mapping[str, Any]
) -> Row:
    """All measures of one combination."""
    start = time.process_time()
    solution = _solve(problem, sites, location, refinement, values)
    taken = time.process_time() - start
    return {**solution.measures, "regions": solution.aggregated_regions, "cpu": taken}


def thesis_with_regions_of_both(problem: Problem, sites: int) -> Row:
    """ADC with the thesis' objective at the number of sites that leaves it as many regions as both objectives have."""
    wanted = _solve(problem, sites, "adc", "none", {"objective": "both"}).aggregated_regions
    given = wanted
    while (row := by_approach(problem, given, "adc", "none", {}))["regions"] < wanted:
        given += 1
    return row


def by_rule(problem: Problem, sites: int, rule) -> Row | None:
    """The same by the rule of another program; None where that is not installed or would take too long."""
    if rule is skater_by_classes and len(problem.regions) > SKATER_REGIONS:
        return None
    start = time.process_time()
    owner = rule(problem, sites)
    taken = time.process_time() - start
    if owner is None:
        return None
    context, _ = build_context(problem)
    points, number = context.points, np.bincount(owner)
    middles = np.column_stack([np.bincount(owner, points[:, axis]) / number for axis in (0, 1)])
    outcome = suppress_partition(problem, context, owner, middles)
    measures = {name: kind().rate(outcome) for name, kind in list_approaches("rating").items()}
    return {**measures, "regions": number.size, "cpu": taken}


def memory(
    problem: Problem, sites: int, location: str, refinement: str, values: Mapping[str, Any]
) -> Row:
    """Bytes of the counts, and the most that a run takes beside them."""
    counts = problem.counts
    size = counts.nbytes
    tracemalloc.start()
    _solve(problem, sites, location, refinement, values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"counts": size, "beside": peak}


def at_one_percent(problem: Problem, location: str, refinement: str) -> Row:
    """The most sites that lose at most one percent of the records."""
    start = time.process_time()
    solution = _solve(problem, None, location, refinement, {})
    taken = time.process_time() - start
    lost = solution.measures["suppressed_records"] / problem.records
    return {
        "sites": solution.site_count,
        "regions": solution.aggregated_regions,
        "lost": lost,
        "cpu": taken,
    }


def guesses(problem: Problem, sites: int, location: str, refinement: str) -> Row:
    """What unreleased cells tell an adversary who knows how the regions were made.

    A cell is a class of an aggregated region; it is not released if it has fewer than k records. The adversary knows
    the population of the regions and the share of each class, so that he expects a size of every cell, and for cells of
    about the same expected size he knows exactly how often each count from 0 to k − 1 occurs. He guesses the most
    frequent one.
    """
    solution = _solve(problem, sites, location, refinement, {})
    counts = aggregate(problem.counts, solution.membership, solution.aggregated_regions)
    indptr, columns, values = counts.table.indptr, counts.table.indices, counts.table.data
    cells = np.zeros((solution.aggregated_regions, counts.n_combinations), np.int64)
    cells[np.repeat(np.arange(solution.aggregated_regions), np.diff(indptr)), columns] = values
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=0) / cells.sum())
    small = cells < problem.k
    size, hoped = cells[small], expected[small]
    bins = np.searchsorted(np.quantile(hoped, np.linspace(0, 1, _BINS + 1)[1:-1]), hoped)
    table = np.zeros((_BINS, problem.k), np.int64)
    np.add.at(table, (bins, size), 1)
    right = size == table.argmax(axis=1)[bins]
    held = size > 0
    shares = {"empty": (~held).mean(), "right": right.mean(), "right_with_records": right[held].mean()}
    return {
        "cells": size.size,
        "records": int(size.sum()),
        **{name: float(value) for name, value in shares.items()},
    }


def _solve(
    problem: Problem,
    sites: int | None,
    location: str,
    refinement: str,
    values: Mapping[str, Any],
    refining: Mapping[str, Any] | None = None,
):
    number = (
        create_approach("site_number", "limit")
        if sites is None
        else create_approach("site_number", "fixed", {"sites": sites})
    )
    located, refined = (
        create_approach("site_location", location, values),
        create_approach("refinement", refinement, refining or {}),
    )
    voronoi = create_approach("construction", "voronoi")
    return run(
        Request(
            problem,
            number,
            located,
            voronoi,
            settings=RunSettings(range_reach=0, workers=1),
            refinement=refined,
        )
    ).solutions[0]

"""All approaches at equal numbers of sites: suppressed records, measures, pieces, CPU, beside the rules of others."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from bench_engine import SCENARIOS, loaded
from peers import gat, metis, skater_by_classes, skater_by_place

from vbas_desktop.approaches.registry import approaches, make
from vbas_desktop.domain.problem import Problem, Request
from vbas_desktop.engine.outcome import outcome_of, situation_of
from vbas_desktop.engine.run import run
from vbas_desktop.files.counting.problem import build_problem
from vbas_desktop.files.records.table import load_records
from vbas_desktop.files.regions.read import load_regions

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
CASES = {
    "eastern": (("44 classes", 1500), ("924 classes", 350), ("924 classes", 100)),
    "western": (("44 classes", 6000), ("924 classes", 1400)),
    "hetero": (("44 classes", 1500), ("924 classes", 350)),
    "structured": (("132 classes", 800), ("924 classes", 350)),
    "sample": (("age, sex, marital_status", 100),),
}
"""Data sets with numbers of sites. "hetero" and "structured" are as Eastern-like, but regions differ, or children are
never married and have no degree; they are looked at if VBAS_BENCH_HETERO and VBAS_BENCH_STRUCTURED name folders."""

MADE_ELSEWHERE = ("hetero", "structured")
KNOWN = [like for like in CASES if like not in MADE_ELSEWHERE or os.environ.get(f"VBAS_BENCH_{like.upper()}")]
MEMORY = {
    "eastern": (("44 classes", 1500), ("924 classes", 350), ("13,860 classes", 40)),
    "western": (("924 classes", 1400),),
}
FOUR = ("age", "gender", "income", "education")
PEERS = {
    "smallest with the nearest (GAT)": gat,
    "METIS": metis,
    "GeoDa skater, by place": skater_by_place,
    "GeoDa skater, by shares of categories": skater_by_classes,
}
SKATER_REGIONS = 1000
"""By many features skater takes too long on more initial regions."""

MEASURES = (
    "average_distance",
    "alternative_average_distance",
    "precision_loss",
    "discernibility",
    "non_uniform_entropy",
    "average_anonymity_deviation",
)
HEADER = ["", "S", "ratio", *(name.replace("_", " ") for name in MEASURES), "in pieces", "regions", "CPU s"]


@pytest.mark.parametrize(("like", "scenario", "sites"), [(like, *case) for like in KNOWN for case in CASES[like]])
def test_suppressed_records_at_equal_numbers_of_sites(bench_data, bench_table, like, scenario, sites):
    problem = _problem(bench_data, like, scenario)
    _solve(problem, 50, "refine-sites", "boundaries")
    rows, base = [], None
    for title, location, refinement, values in _contenders():
        start = time.process_time()
        solution = _solve(problem, sites, location, refinement, values)
        taken = time.process_time() - start
        base = base or solution.measures
        rows.append([title, *_row(solution.measures, base, solution.aggregated_regions, f"{taken:.1f}")])
    for name, rule in PEERS.items():
        start = time.process_time()
        few = len(problem.regions) <= SKATER_REGIONS
        owner = rule(problem, sites) if few or rule is not skater_by_classes else None
        taken = f"{time.process_time() - start:.1f}"
        if owner is not None:
            rows.append([name, *_row(_rated(problem, owner), base, len(set(owner.tolist())), taken)])
    bench_table(f"{like}-like, {scenario}, {sites:,} sites, k = {problem.k}", HEADER, rows)


def _problem(bench_data, like: str, scenario: str) -> Problem:
    if like == "sample":
        table, regions = load_records(SAMPLE / "records.csv"), load_regions(SAMPLE / "regions.geojson")
        return build_problem(
            table, regions, region_column="tract", quasi_identifiers=("age", "sex", "marital_status"), k=5
        )
    data = bench_data(like)
    columns, generalised = SCENARIOS.get(scenario, (FOUR, False))
    return loaded(data.records, data.regions, columns, generalised)


def _contenders():
    """Every location approach; ADC with its other objective; the refinements after the two that are worth it."""
    for location in approaches("site_location"):
        yield location, location, "none", {}
    yield "adc, objective suppression", "adc", "none", {"objective": "suppression"}
    for location in ("balanced-density", "refine-sites"):
        for refinement in approaches("refinement"):
            if refinement != "none":
                yield f"{location} · {refinement}", location, refinement, {}


def test_adc_with_both_objectives_at_the_same_number_of_regions(bench_data, bench_table):
    """The objective of the thesis leaves sites without regions; the other one is given as many sites as it has left."""
    problem, rows = _problem(bench_data, "eastern", "924 classes"), []
    base = _solve(problem, 350, "adc", "none")
    rows.append(["thesis", *_row(base.measures, base.measures, base.aggregated_regions, "")])
    sites = base.aggregated_regions
    while _solve(problem, sites, "balanced-density", "none").aggregated_regions < base.aggregated_regions:
        sites += 1
    for uneven, refinement in ((0, "none"), (15, "none"), (25, "none"), (0, "boundaries"), (5, "boundaries")):
        start = time.process_time()
        values = {"objective": "suppression", "uneven_percent": uneven}
        solution = _solve(problem, sites, "adc", refinement, values)
        taken, title = time.process_time() - start, f"suppression, uneven {uneven} % · {refinement}"
        rows.append([title, *_row(solution.measures, base.measures, solution.aggregated_regions, f"{taken:.1f}")])
    bench_table(f"ADC, eastern-like, 924 classes, {base.aggregated_regions} regions", HEADER, rows)


@pytest.mark.parametrize("like", MEMORY)
def test_memory_of_a_search_beside_the_counts(bench_data, bench_table, like):
    rows = []
    for scenario, sites in MEMORY[like]:
        problem = _problem(bench_data, like, scenario)
        counts = problem.counts
        size = counts.dense.nbytes if counts.dense is not None else sum(array.nbytes for array in counts.rows)
        for title, location, refinement, values in (
            ("refine-sites", "refine-sites", "none", {}),
            ("adc", "adc", "none", {}),
            ("adc, objective suppression", "adc", "none", {"objective": "suppression"}),
            ("boundaries", "balanced-density", "boundaries", {}),
        ):
            _solve(problem, 30, location, refinement, values)
            tracemalloc.start()
            _solve(problem, sites, location, refinement, values)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            told = [f"{size / 1e6:.1f}", f"{1 + peak / size:.2f}", "<= 3"]
            rows.append([f"{scenario}, {sites:,} sites · {title}", *told])
    bench_table(f"Memory of counts and a search / counts, {like}-like", ["", "counts MB", "ratio", "to reach"], rows)


@pytest.mark.parametrize(("like", "scenario"), [("eastern", "44 classes"), ("eastern", "924 classes")])
def test_how_many_regions_one_percent_of_loss_allows(bench_data, bench_table, like, scenario):
    problem = _problem(bench_data, like, scenario)
    rows = []
    for title, location, refinement in (
        ("balanced density", "balanced-density", "none"),
        ("refine-sites", "refine-sites", "none"),
        ("boundaries", "balanced-density", "boundaries"),
    ):
        start = time.process_time()
        solution = _solve(problem, 0, location, refinement, {}, make("site_number", "limit"))
        taken = time.process_time() - start
        lost = f"{100 * solution.measures['suppressed_records'] / problem.records:.3f}"
        rows.append([title, f"{solution.site_count:,}", f"{solution.aggregated_regions:,}", lost, f"{taken:.1f}"])
    header = ["", "sites", "regions", "suppressed %", "CPU s"]
    bench_table(f"Regions at 1 % of loss, {like}-like, {scenario}", header, rows)


def _solve(problem: Problem, sites: int, location: str, refinement: str, values=None, number=None):
    number, voronoi = number or make("site_number", "fixed", {"sites": sites}), make("construction", "voronoi")
    refined = make("refinement", refinement)
    located = make("site_location", location, values or {})
    return run(Request(problem, number, located, voronoi, range_reach=0, workers=1, refinement=refined)).solutions[0]


def _row(measures, base, regions: int, taken: str) -> list[str]:
    ratios = [f"{measures[name] / base[name]:.3f}" if base[name] and measures[name] else "–" for name in MEASURES]
    lost = measures["suppressed_records"]
    share = f"{lost / max(1, base['suppressed_records']):.3f}"
    return [f"{lost:,}", share, *ratios, str(measures["regions_in_pieces"]), f"{regions:,}", taken]


def _rated(problem: Problem, owner: np.ndarray) -> dict:
    situation, _ = situation_of(problem)
    points, number = situation.points, np.bincount(owner)
    middles = np.column_stack([np.bincount(owner, points[:, axis]) / number for axis in (0, 1)])
    outcome = outcome_of(problem, situation, owner, middles)
    return {name: kind().rate(outcome) for name, kind in approaches("rating").items()}

"""What tiers save: information on place within an allowed loss, in one partition and in tiers, and what they cost."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.run import RunSettings

COLUMNS = (("age", "gender"), ("age", "gender", "income"), ("age", "gender", "income", "education"))


def solved(problem: Problem, number: str, tiers: str, **given: float) -> tuple[Solution, float]:
    """The solution of one combination at its own number of sites, and the CPU seconds that it took."""
    started = time.process_time()
    parameters = {
        "limit": {"allowed_loss_percent": given.get("loss", 1.0)},
        "fixed": {"sites": given.get("sites", 1)},
    }
    found = run(
        Request(
            problem, create_approach("site_number", number, parameters[number]),
            create_approach("site_location", "balanced-density"), create_approach("construction", "voronoi"),
            tiers=create_approach("tiers", tiers, {"factor": 16} if tiers == "auto" else {}),
            settings=RunSettings(range_reach=0),
        )
    )  # fmt: skip
    return found.solutions[0], time.process_time() - started


def line(problem: Problem, what: str, solution: Solution, seconds: float) -> list[str]:
    """One row of the table."""
    lost = 100 * solution.suppressed_records / problem.records
    place = 100 * (1 - solution.measures["place_information_loss"])
    own = solution.released_by_tier[0] if solution.tiers is not None else solution.released_records
    sites, kept = solution.aggregated_regions, 100 * own / problem.records
    return [what, f"{sites:,}", f"{lost:.2f} %", f"{place:.1f} %", f"{kept:.1f} %", f"{seconds:.2f}"]


def peak(problem: Problem, tiers: str) -> int:
    """The most that a run with every region by itself holds beyond the counts."""
    tracemalloc.start()
    solved(problem, "fixed", tiers, sites=len(problem.regions))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("columns", COLUMNS, ids=" ".join)
def test_place_kept_within_the_allowed_loss(columns, bench_data, bench_table):
    data = bench_data("eastern")
    table, regions = load_records(data.records), load_regions(data.regions)
    problem = build_problem(table, regions, region_column="region", quasi_identifiers=columns, k=5)
    every = len(regions)
    rows = [
        line(problem, what, *solved(problem, number, tiers, **given))
        for what, number, tiers, given in (
            ("one partition, limit 1 %", "limit", "none", {"loss": 1.0}),
            ("tiers, limit 1 %", "limit", "auto", {"loss": 1.0}),
            ("one partition, nothing merged", "fixed", "none", {"sites": every}),
            ("tiers, nothing merged", "fixed", "auto", {"sites": every}),
        )
    ]
    held = problem.counts.nbytes
    small = build_problem(table, regions, region_column="region", quasi_identifiers=("gender",), k=5)
    for tiers in ("none", "auto"):
        most, fixed = peak(problem, tiers), peak(small, tiers)
        words = f"{1 + most / held:.2f} × of {held / 1e6:.1f} MB; beyond them with two classes {fixed / 1e6:.1f} MB"
        rows.append([f"memory with the counts (<= 3), tiers {tiers}", "", "", "", words, ""])
        assert most - fixed <= 2 * held
        assert most <= 2 * held or problem.counts.max_combinations < 900
    header = ["", "sites", "lost", "place kept", "keep their aggregated region", "CPU s"]
    bench_table(f"Tiers, {problem.counts.max_combinations:,} classes", header, rows)

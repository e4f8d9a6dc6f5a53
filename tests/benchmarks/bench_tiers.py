"""What tiers save: information on place within an allowed loss, in one partition and in tiers, and what they cost.

    python tests/benchmarks/bench_tiers.py RECORDS REGIONS [--loss 1] [--factor 16]

The files are those of docs/tiers.md: 2.4 million records in 4,426 regions, with the columns age, gender, income and
education. Prints the table of that page. Memory is what a run holds beyond the counts, by tracemalloc.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from pathlib import Path

from vbas_desktop.approaches.registry import make
from vbas_desktop.domain.problem import Problem, Request
from vbas_desktop.domain.solution import Solution
from vbas_desktop.engine.run import run
from vbas_desktop.files.counting.problem import build_problem
from vbas_desktop.files.records.table import load_records
from vbas_desktop.files.regions.read import load_regions

COLUMNS = (("age", "gender"), ("age", "gender", "income"), ("age", "gender", "income", "education"))


def solved(problem: Problem, number: str, tiers: str, **given: float) -> tuple[Solution, float]:
    """The solution of one combination at its own number of sites, and the CPU seconds that it took."""
    started = time.process_time()
    parameters = {"limit": {"allowed_loss_percent": given.get("loss", 1.0)}, "fixed": {"sites": given.get("sites", 1)}}
    found = run(
        Request(
            problem, make("site_number", number, parameters[number]), make("site_location", "balanced-density"),
            make("construction", "voronoi"),
            tiers=make("tiers", tiers, {"factor": given.get("factor", 16)} if tiers == "auto" else {}), range_reach=0,
        )
    )  # fmt: skip
    return found.solutions[0], time.process_time() - started


def line(problem: Problem, what: str, solution: Solution, seconds: float) -> str:
    """One row of the table."""
    lost = 100 * solution.suppressed_records / problem.records
    place = 100 * (1 - solution.measures["place_information_loss"])
    own = solution.released_by_tier[0] if solution.tiers is not None else solution.released_records
    sites, kept = solution.aggregated_regions, 100 * own / problem.records
    return f"| {what} | {sites:,} | {lost:.2f} % | {place:.1f} % | {kept:.1f} % | {seconds:.2f} |"


def counts_bytes(problem: Problem) -> int:
    """What the counts themselves take."""
    counts = problem.counts
    return counts.dense.nbytes if counts.dense is not None else sum(each.nbytes for each in counts.rows)


def peak(problem: Problem, tiers: str, factor: float) -> int:
    """The most that a run with every region by itself holds beyond the counts."""
    tracemalloc.start()
    solved(problem, "fixed", tiers, sites=len(problem.regions), factor=factor)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("regions", type=Path)
    parser.add_argument("--loss", type=float, default=1.0)
    parser.add_argument("--factor", type=int, default=16)
    options = parser.parse_args()
    table, regions = load_records(options.records), load_regions(options.regions)
    for columns in COLUMNS:
        problem = build_problem(table, regions, region_column="region", quasi_identifiers=columns, k=5)
        say(f"\n{problem.counts.equivalence_classes:,} classes\n")
        say("| | sites | lost | place kept | keep their aggregated region | CPU s |")
        say("| --- | --: | --: | --: | --: | --: |")
        every = len(regions)
        for what, number, tiers, given in (
            (f"one partition, limit {options.loss:g} %", "limit", "none", {"loss": options.loss}),
            (f"tiers, limit {options.loss:g} %", "limit", "auto", {"loss": options.loss}),
            ("one partition, nothing merged", "fixed", "none", {"sites": every}),
            ("tiers, nothing merged", "fixed", "auto", {"sites": every}),
        ):
            say(line(problem, what, *solved(problem, number, tiers, factor=options.factor, **given)))
        held = counts_bytes(problem)
        more = " and ".join(
            f"{peak(problem, each, options.factor) / held:.2f} × with {each}" for each in ("none", "auto")
        )
        say(f"\ncounts take {held / 1e6:.1f} MB; a run holds so much more at most: {more}")


if __name__ == "__main__":
    main()

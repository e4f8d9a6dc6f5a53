"""ADC: processor time on every published scenario against loading its file, and against the literal algorithm."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
import pytest
from literal_adc_at_size import LiteralAdc, LiteralAdcAtSize

from vbas_desktop.approaches.interface import Context
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.outcome import build_context
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import Grouping

SCENARIOS = {
    "age, gender": (("age", "gender"), False),
    "age, gender, generalised": (("age", "gender"), True),
    "age, marital": (("age", "marital"), False),
    "age, marital, generalised": (("age", "marital"), True),
    "age, gender, income": (("age", "gender", "income"), False),
    "age, gender, income, generalised": (("age", "gender", "income"), True),
}
NUMBERS = ("anonymity", "maxcombs", "entropy")
LITERAL_TRIES = 300


def load(data, columns: tuple[str, ...], generalised: bool) -> Problem:
    """From two files to counts."""
    groupings = ()
    if generalised:
        with (Path(data.records).parent / "generalise.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        groups = {
            name: {row["value"]: row["group"] for row in rows if row["column"] == name}
            for name in columns
        }
        groupings = tuple(Grouping(name, values) for name, values in groups.items() if values)
    table, regions = load_records(data.records), load_regions(data.regions)
    return build_problem(
        table, regions, region_column="region", quasi_identifiers=columns, k=5, groupings=groupings
    )


def measured(call, repeats: int = 3):
    """The least processor time of some calls, all threads together, and what the last one returned."""
    seconds, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def number_of_sites(context: Context, number: str, model: str) -> int:
    """The approximated number."""
    return create_approach(
        "site_number", number, {} if number == "anonymity" else {"model": model}
    ).approximate(context)


@pytest.mark.parametrize("like", ["eastern", "western"])
def test_every_published_scenario_takes_less_than_loading(bench_data, bench_table, like):
    data, adc, rows = bench_data(like), create_approach("site_location", "adc"), []
    for scenario, (columns, generalised) in SCENARIOS.items():
        loading, problem = measured(lambda: load(data, columns, generalised), 2)  # noqa: B023
        context, _ = build_context(problem, True, 0)
        for number in NUMBERS:
            sites = number_of_sites(context, number, like)
            # A fresh context each time: nothing that an earlier run computed is used.
            seconds, found = measured(lambda: adc.cluster(_fresh(context), sites, NO_PROGRESS))  # noqa: B023
            most = 5 if number == "entropy" and context.counts.max_combinations == 924 else 1
            rows.append(
                [
                    f"{scenario} · {number}",
                    f"{context.counts.max_combinations:,}",
                    f"{sites:,}",
                    f"{loading:.2f}",
                    f"{seconds:.3f}",
                    f"{seconds / loading:.2f}",
                    f"<= {most}",
                    f"{found.moves:,}",
                    f"{found.tries:,}",
                    f"{found.trials:,}",
                    f"{found.anonymity}",
                    f"{np.unique(found.owner).size:,}",
                ]
            )
    header = ["", "classes", "sites", "loading CPU s", "ADC CPU s", "ratio", "to reach"]
    header += ["moves", "literal tries", "computed", "α", "regions"]
    bench_table(f"ADC, {like}-like, balanced-density seeding", header, rows)


def _fresh(context: Context) -> Context:
    return Context(context.regions, context.counts, context.k, context.random_seed)


@pytest.mark.parametrize("scenario", ["age, gender", "age, marital", "age, gender, income, generalised"])
def test_against_the_literal_algorithm(bench_data, bench_table, scenario):
    columns, generalised = SCENARIOS[scenario]
    context, _ = build_context(load(bench_data("eastern"), columns, generalised), True, 0)
    adc, rows = create_approach("site_location", "adc"), []
    for number in NUMBERS:
        sites = number_of_sites(context, number, "eastern")
        seconds, found = measured(lambda: adc.cluster(_fresh(context), sites, NO_PROGRESS))  # noqa: B023
        literal = LiteralAdcAtSize(context.points, _matrix(context), context.k)
        seeds = adc.seeding.locate(context, sites, NO_PROGRESS)
        literal_seconds, run = measured(lambda: literal.run(seeds, LITERAL_TRIES), 1)  # noqa: B023
        moves = list(
            zip(
                found.moved_site.tolist(),
                found.moved_class.tolist(),
                map(tuple, found.moved_to),
                strict=True,
            )
        )
        assert moves[: len(run.moves)] == run.moves
        whole = literal_seconds / run.tries * found.tries
        rows.append(
            [
                number,
                f"{sites:,}",
                f"{found.tries:,}",
                f"{run.tries:,}",
                f"{whole:,.2f}",
                f"{seconds:.3f}",
                f"{whole / seconds:,.0f}",
            ]
        )
    header = ["", "sites", "literal tries", "timed", "literal CPU s", "ADC CPU s", "times faster"]
    bench_table(f"ADC against the literal algorithm, eastern-like, {scenario}", header, rows)


def test_against_the_whole_literal_algorithm(bench_data, bench_table):
    """The shape of Table 7 at the MaxCombs number, from the first try to the last: nothing is extrapolated."""
    context, _ = build_context(load(bench_data("eastern"), *SCENARIOS["age, gender"]), True, 0)
    adc, sites = create_approach("site_location", "adc"), number_of_sites(context, "maxcombs", "eastern")
    seconds, found = measured(lambda: adc.cluster(_fresh(context), sites, NO_PROGRESS), 10)
    seeds, rows = adc.seeding.locate(context, sites, NO_PROGRESS), []
    for name, kind in (("literal", LiteralAdc), ("literal, vectorised", LiteralAdcAtSize)):
        literal = kind(context.points, _matrix(context), context.k)
        literal_seconds, run = measured(lambda: literal.run(seeds), 1)  # noqa: B023
        assert run.tries == found.tries
        assert run.moves == list(
            zip(
                found.moved_site.tolist(),
                found.moved_class.tolist(),
                map(tuple, found.moved_to),
                strict=True,
            )
        )
        most = ">= 500" if kind is LiteralAdc else ""
        ratio = f"{literal_seconds / seconds:,.0f}"
        rows.append([name, f"{run.tries:,}", f"{literal_seconds:,.3f}", f"{seconds:.4f}", ratio, most])
    header = ["", "tries", "its CPU s", "ADC CPU s", "times faster", "to reach"]
    bench_table(f"ADC against the whole literal algorithm, eastern-like, {sites:,} sites", header, rows)


def _matrix(context: Context) -> np.ndarray:
    indptr, columns, values = (
        context.counts.table.indptr,
        context.counts.table.indices,
        context.counts.table.data,
    )
    matrix = np.zeros((indptr.size - 1, context.counts.n_combinations), np.int64)
    matrix[np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), columns] = values
    return matrix

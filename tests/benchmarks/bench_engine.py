"""The stages after loading: against loading the file, in memory, and against the claims that were published."""

from __future__ import annotations

import csv
import time
import tracemalloc
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import pytest

from tests.problem_making import change_request
from vbas_desktop.approaches.registry import create_approach, list_approaches
from vbas_desktop.engine.parallel import choose_worker_count
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Grouping, RecordTable

SCENARIOS = {
    "22 classes": (("age", "gender"), True),
    "44 classes": (("age", "gender"), False),
    "66 classes": (("age", "marital"), True),
    "132 classes": (("age", "marital"), False),
    "154 classes": (("age", "gender", "income"), True),
    "924 classes": (("age", "gender", "income"), False),
}
NUMBERS = ("anonymity", "maxcombs", "entropy")
LOCATIONS = ("anonymity", "density", "balanced-density", "adc")
FALLING = ("average_distance", "precision_loss", "discernibility", "non_uniform_entropy")


def loaded(records: Path, regions: Path, columns: tuple[str, ...], generalised: bool = False) -> Problem:
    """From two files to counts."""
    return _counted(load_records(records), records, regions, columns, generalised)


def _counted(
    table: RecordTable, records: Path, regions: Path, columns: tuple[str, ...], generalised: bool
) -> Problem:
    groupings = _groupings(records.parent / "generalise.csv", columns) if generalised else ()
    return build_problem(
        table,
        load_regions(regions),
        region_column="region",
        quasi_identifiers=columns,
        k=5,
        groupings=groupings,
    )


def _groupings(path: Path, columns: tuple[str, ...]) -> tuple[Grouping, ...]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    chosen = {
        name: {row["value"]: row["group"] for row in rows if row["column"] == name} for name in columns
    }
    return tuple(Grouping(name, groups) for name, groups in chosen.items() if groups)


@cache
def _kept(*arguments) -> Problem:
    return loaded(*arguments)


def _request(problem: Problem, number: str, location: str, model: str, **changes) -> Request:
    values = {} if number == "anonymity" else {"model": model}
    chosen = create_approach("site_number", number, values)
    request = Request(
        problem,
        chosen,
        create_approach("site_location", location),
        create_approach("construction", "voronoi"),
    )
    return change_request(request, **changes)


def loading(records: Path, regions: Path, columns: tuple[str, ...]) -> int:
    """What the stages are compared with."""
    return loaded(records, regions, columns).records


def stages(records: Path, regions: Path, columns: tuple[str, ...], number: str, location: str) -> int:
    """The five site numbers of one combination; the warm-up turn loads the file, the measured ones do not."""
    problem = _kept(records, regions, columns)
    return len(run(_request(problem, number, location, "western")).solutions)


@pytest.mark.parametrize("scenario", ["44 classes", "132 classes", "924 classes"])
def test_the_stages_take_less_time_than_loading(bench_data, race, scenario):
    data, (columns, _) = bench_data("western"), SCENARIOS[scenario]
    contenders = {"loading": partial(loading, data.records, data.regions, columns)}
    for number in NUMBERS:
        for location in ("balanced-density", "density", "anonymity"):
            call = partial(stages, data.records, data.regions, columns, number, location)
            contenders[f"{number} · {location}"] = call
    reach = {name: "< 1" for name in contenders if name != "loading"}
    race(
        f"Western-like, {scenario}, five site numbers",
        contenders,
        reference="loading",
        repeats=2,
        reach=reach,
    )


@pytest.mark.parametrize("like", ["eastern", "western"])
def test_memory_after_loading_is_at_most_three_times_the_counts(bench_data, bench_table, like):
    data, rows = bench_data(like), []
    table = load_records(data.records)
    for scenario, (columns, generalised) in SCENARIOS.items():
        problem = _counted(table, data.records, data.regions, columns, generalised)
        counts = problem.counts
        size = counts.nbytes
        for location in LOCATIONS:
            ratios = [
                f"{1 + _peak(_request(problem, number, location, like)) / size:.2f}"
                for number in NUMBERS
            ]
            rows.append([f"{scenario} · {location}", f"{size / 1e6:.1f}", *ratios, "<= 3"])
    header = ["", "counts MB", *NUMBERS, "to reach"]
    bench_table(f"Memory of counts and stages / counts, {like}-like, five site numbers", header, rows)


def _peak(request: Request) -> int:
    """The most that the stages allocate at a time."""
    # A run of one number first: importing and compiling is not what is measured.
    run(
        change_request(
            request, range_reach=0, site_number=create_approach("site_number", "fixed", {"sites": 2})
        )
    )
    tracemalloc.start()
    run(request)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("like", ["eastern", "western"])
def test_two_threads_against_one(bench_data, bench_table, like):
    data, rows = bench_data(like), []
    table = load_records(data.records)
    for scenario in ("44 classes", "132 classes", "924 classes"):
        problem = _counted(table, data.records, data.regions, *SCENARIOS[scenario])
        for location in LOCATIONS:
            for number in NUMBERS:
                request = _request(problem, number, location, like)
                seconds = {1: [], 2: []}
                for _ in range(3):
                    for workers, taken in seconds.items():
                        start = time.perf_counter()
                        run(change_request(request, workers=workers))
                        taken.append(time.perf_counter() - start)
                one, two = min(seconds[1]), min(seconds[2])
                chosen = choose_worker_count(0, 5, problem.counts)
                rows.append(
                    [
                        f"{scenario} · {location} · {number}",
                        f"{one:.3f}",
                        f"{two:.3f}",
                        f"{two / one:.2f}",
                        str(chosen),
                    ]
                )
    header = ["", "one thread s", "two threads s", "ratio", "threads chosen"]
    bench_table(f"Threads for five site numbers, {like}-like", header, rows)


def test_the_published_claims_on_eastern_like_data(bench_data, bench_table):
    data = bench_data("eastern")
    table = load_records(data.records)
    found = {}
    for scenario, (columns, generalised) in SCENARIOS.items():
        problem = _counted(table, data.records, data.regions, columns, generalised)
        for number in NUMBERS:
            for location in (name for name in LOCATIONS if name in list_approaches("site_location")):
                result = run(_request(problem, number, location, "eastern"))
                found[scenario, number, location] = [solution.measures for solution in result.solutions]
                found[scenario, number] = result.approximated_sites
    bench_table("Published claims on Eastern-like data", ["claim", "holds"], _claims(found))


def _claims(found: dict) -> list[list[str]]:
    rows = [
        [
            f"{measure} lower with balanced density than with density",
            _share(found, measure, "balanced-density", "density"),
        ]
        for measure in ("discernibility", "non_uniform_entropy", "average_distance")
    ]
    for other in ("anonymity", "density"):
        share = _share(found, "suppressed_records", "balanced-density", other)
        rows.append([f"suppression lower with balanced density than with {other}", share])
    if "adc" in list_approaches("site_location"):
        rows += [
            [
                "ADC does not raise suppression",
                _share(found, "suppressed_records", "adc", "balanced-density", True),
            ],
            [
                "sum of suppressed records, ADC / balanced density",
                _ratio(found, "adc", "balanced-density"),
            ],
            [
                "ADC raises precision loss",
                _share(found, "precision_loss", "balanced-density", "adc", True),
            ],
        ]
    rows.append(
        [
            "suppression rises with the number of sites",
            _with_sites(found, "suppressed_records", rising=True),
        ]
    )
    rows += [
        [f"{name} falls with the number of sites", _with_sites(found, name, rising=False)]
        for name in FALLING
    ]
    fewer = [found[scenario, "maxcombs"] < found[scenario, "entropy"] for scenario in SCENARIOS]
    rows.append(["maxcombs' number is below entropy's", f"{sum(fewer)} of {len(fewer)}"])
    sums = [
        sum(
            found[scenario, number, "balanced-density"][2]["suppressed_records"]
            for scenario in SCENARIOS
        )
        for number in ("maxcombs", "entropy")
    ]
    rows.append(
        ["suppressed records, maxcombs / entropy (balanced density)", f"{sums[0] / sums[1]:.0%}"]
    )
    return rows


def _share(found: dict, measure: str, low: str, high: str, equal: bool = False) -> str:
    pairs = [
        (a[measure], b[measure])
        for scenario in SCENARIOS
        for number in NUMBERS
        for a, b in zip(found[scenario, number, low], found[scenario, number, high], strict=True)
    ]
    holds = sum(a <= b if equal else a < b for a, b in pairs)
    return f"{holds / len(pairs):.0%} of {len(pairs)}"


def _ratio(found: dict, one: str, other: str) -> str:
    sums = [
        sum(
            measures["suppressed_records"]
            for key, rows in found.items()
            if key[2:] == (name,)
            for measures in rows
        )
        for name in (one, other)
    ]
    return f"{sums[0] / sums[1]:.2f}"


def _with_sites(found: dict, measure: str, rising: bool) -> str:
    steps = [
        (a[measure], b[measure])
        for key, rows in found.items()
        if len(key) == 3
        for a, b in pairwise(rows)
    ]
    holds = sum(a < b if rising else a > b for a, b in steps)
    return f"{holds / len(steps):.0%} of {len(steps)}"

"""Comparisons: what is run, what is shared, what is kept, and what a kill leaves."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from comparison_making import compare_files, loaded, plan_of

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.comparison import run as comparing
from vbas_desktop.engine.comparison.plan import Scenario, label_approaches
from vbas_desktop.engine.comparison.run import count_scenarios, estimate_work
from vbas_desktop.engine.comparison.summary import list_solution_rows
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.result_cache import MemoryCache
from vbas_desktop.engine.run import run
from vbas_desktop.io.documents.result_cache import open_run_cache
from vbas_desktop.model.progress import Cancelled
from vbas_desktop.releases.comparison import write_comparison
from vbas_desktop.releases.reports.charts import choose_colours


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def test_a_plan_makes_every_combination_in_every_scenario():
    plan = plan_of(ks=(3, 5))
    assert len(plan.scenarios) == 8
    assert plan.scenarios[0] == Scenario(("age",), False, 3)
    assert [one.title for one in plan.combinations[:4]] == [
        "Fixed number (sites 6) · Density grid · Voronoi",
        "Fixed number (sites 6) · ADC from Density grid · Voronoi",
        "Fixed number (sites 9) · Density grid · Voronoi",
        "Fixed number (sites 9) · ADC from Density grid · Voronoi",
    ]
    assert len(plan.combinations) == 32
    assert plan.most_aggregations == 96


def test_a_set_without_groups_is_not_taken_twice():
    plan = plan_of(quasi_identifier_sets=(("sex",), ("age",)))
    assert plan.scenarios == (
        Scenario(("sex",), False, 3),
        Scenario(("age",), False, 3),
        Scenario(("age",), True, 3),
    )


def test_an_approach_that_is_listed_twice_is_run_once():
    density = create_approach("site_location", "density")
    assert label_approaches([density, density]) == [("Density grid", density)]


def test_what_starts_from_another_approach_has_a_light_shade_of_its_colour():
    assert choose_colours(["A", "B", "ADC from B", "ADC from C"]) == {
        "A": "#4477aa",
        "B": "#cc6677",
        "ADC from B": "#e6b2bb",
        "ADC from C": "#ddaa33",
    }


def test_each_combination_gives_what_a_run_of_its_own_gives(tmp_path):
    table, regions = loaded(tmp_path)
    plan = plan_of()
    comparison = compare_files(plan, table, regions, MemoryCache())
    assert [one.combination for one in comparison.finished] == list(plan.combinations)
    for one in comparison.finished:
        scenario = one.combination.scenario
        problem = build_problem(
            table,
            regions,
            region_column="region",
            quasi_identifiers=scenario.quasi_identifiers,
            k=3,
            groupings=plan.groupings if scenario.generalised else (),
        )
        alone = run(plan.request(one.combination, problem))
        for mine, its in zip(one.result.solutions, alone.solutions, strict=True):
            assert (mine.owner == its.owner).all()
            assert {**mine.measures, "seconds": 0} == {**its.measures, "seconds": 0}


def test_counts_are_shared_by_scenarios_that_differ_in_k_alone(tmp_path):
    table, regions = loaded(tmp_path)
    problems = count_scenarios(plan_of(ks=(3, 5)), table, regions)
    assert len(problems) == 8
    assert len({id(problem.counts) for problem in problems.values()}) == 4
    assert [problem.k for problem in problems.values()] == [3, 5] * 4


def test_the_pareto_mark_is_over_all_combinations_of_a_scenario(tmp_path):
    comparison = compare_files(plan_of(), *loaded(tmp_path), MemoryCache())
    names = comparison.pareto_measures
    for one, solution in comparison.solutions:
        rivals = [
            [other.measures[name] for name in names]
            for another, other in comparison.solutions
            if another.combination.scenario == one.combination.scenario
        ]
        mine = [solution.measures[name] for name in names]
        beaten = any(all(a <= b for a, b in zip(r, mine, strict=True)) and r != mine for r in rivals)
        assert solution.pareto is not beaten


def test_what_is_kept_is_not_run_again_and_gives_the_same_bytes(tmp_path, monkeypatch):
    table, regions = loaded(tmp_path / "data")
    store = open_run_cache(tmp_path / "kept")
    write_comparison(compare_files(plan_of(), table, regions, store), tmp_path / "one")
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    assert len(before) == 16
    monkeypatch.setattr(comparing, "run", None)
    write_comparison(compare_files(plan_of(), table, regions, store), tmp_path / "two")
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before
    for path in sorted((tmp_path / "one").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_another_setting_is_another_combination(tmp_path):
    table, regions = loaded(tmp_path / "data")
    store = open_run_cache(tmp_path / "kept")
    compare_files(plan_of(), table, regions, store)
    others = ({"random_seed": 1}, {"range_reach": 0}, {"global_suppression": False}, {"min_records": 40})
    for change in ({"ks": (4,)}, *others):
        plan = plan_of(**change)
        assert not any(estimate_work(plan, count_scenarios(plan, table, regions), store).cached)
    plan = plan_of(ks=(3, 4))
    assert sum(estimate_work(plan, count_scenarios(plan, table, regions), store).cached) == 16


def test_a_damaged_file_is_computed_again(tmp_path):
    table, regions = loaded(tmp_path / "data")
    store = open_run_cache(tmp_path / "kept")
    first = list_solution_rows(compare_files(plan_of(), table, regions, store))
    for path, text in zip(
        sorted(store.folder.iterdir()), ("", "{}", "[1]", '{"settings": 1}'), strict=False
    ):
        path.write_text(text)
    assert without_seconds(
        list_solution_rows(compare_files(plan_of(), table, regions, store))
    ) == without_seconds(first)


def test_a_stop_keeps_what_is_finished(tmp_path):
    table, regions = loaded(tmp_path / "data")
    store = open_run_cache(tmp_path / "kept")

    class StopAfterFive:
        def update(self, stage, fraction=None):
            if store.folder.is_dir() and len(list(store.folder.glob("*.json"))) >= 5:
                raise Cancelled

    with pytest.raises(Cancelled):
        compare_files(plan_of(), table, regions, store, StopAfterFive())
    kept = len(list(store.folder.glob("*.json")))
    assert 5 <= kept < 16
    plan = plan_of()
    prepared = estimate_work(plan, count_scenarios(plan, table, regions), store)
    assert sum(prepared.cached) == kept
    assert sum(prepared.aggregations) == 48


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from comparison_making import plan_of, compare_files
from vbas_desktop.io.documents.result_cache import DiskCache, open_run_cache
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
folder = Path({folder!r})
store = open_run_cache(folder / "kept")
whole_put = DiskCache.put
def put(self, settings, result):
    if len(list(self.folder.glob("*.json"))) >= 6:
        # A half-written file beside its place, as a kill in the middle of writing leaves it.
        (self.folder / ".half.part").write_text('{{"settings": ')
        os.kill(os.getpid(), signal.SIGKILL)
    return whole_put(self, settings, result)
DiskCache.put = put
compare_files(plan_of(), load_records(folder / "records.csv"), load_regions(folder / "regions.csv"), store)
"""


def test_a_killed_comparison_goes_on_where_it_was_and_ends_the_same(tmp_path):
    table, regions = loaded(tmp_path)
    here = Path(__file__).parent
    script = KILLED.format(tests=str(here), folder=str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": str(here.parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    store = open_run_cache(tmp_path / "kept")
    left = {path.name: path.read_bytes() for path in store.folder.glob("*.json")}
    assert 6 <= len(left) < 16
    resumed = compare_files(plan_of(), table, regions, store)
    after = {path.name: path.read_bytes() for path in store.folder.glob("*.json")}
    assert len(after) == 16
    assert {name: after[name] for name in left} == left
    undisturbed = compare_files(plan_of(), table, regions, MemoryCache())
    assert without_seconds(list_solution_rows(resumed)) == without_seconds(
        list_solution_rows(undisturbed)
    )
    write_comparison(resumed, tmp_path / "one")
    write_comparison(compare_files(plan_of(), table, regions, store), tmp_path / "two")
    for path in sorted((tmp_path / "one").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()

"""Groups of categories in a state, and comparisons of many combinations in it."""

import csv
from dataclasses import replace

import pytest
from made_up_sessions import open_data, run

from vbas_desktop.app.compare import compare_combinations, estimate_comparison
from vbas_desktop.app.release import release_solution
from vbas_desktop.cli.main import main
from vbas_desktop.engine.comparison.summary import describe_estimate, describe_plan
from vbas_desktop.io.documents.result_cache import DiskCache
from vbas_desktop.model.records import Role
from vbas_desktop.model.text import format_duration
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.comparing import (
    ComparisonForm,
    reason_not_to_compare,
    request_comparison,
    ticked_plan,
)
from vbas_desktop.ui.state.estimate import estimate
from vbas_desktop.ui.state.opening import OpenProjectRequest, open_project
from vbas_desktop.ui.state.requests import open_files

AGES = {"1": "1-3", "2": "1-3", "3": "1-3", "4": "4-7", "5": "4-7", "6": "4-7", "7": "4-7"}
TICKED = ComparisonForm(
    {
        "site_number": ("fixed",),
        "site_location": ("density", "adc"),
        "construction": ("voronoi",),
        "refinement": ("none",),
        "tiers": ("none",),
    },
    seedings=("density", "random"),
    ks=(3, 5),
    quasi_identifier_sets=(("age", "sex"),),
    generalised="both",
)


@pytest.fixture
def grouped(state):
    """A state in which ages are taken together and six sites are fixed."""
    choices = state.choices.with_role("age", Role.QUASI_IDENTIFIER).with_role(
        "sex", Role.QUASI_IDENTIFIER
    )
    choices = choices.with_approach("site_number", "fixed").with_parameter(
        "site_number", "fixed", "sites", 6
    )
    state.change(choices.replaced(range_reach=1))
    state.change(state.choices.with_grouping("age", AGES))
    return state


def test_groups_count_in_the_look_ahead_and_can_be_taken_back(grouped):
    assert (
        estimate(grouped.request_estimate()).in_words
        == "2 × 2 = 4 classes; 2,000 records; approximated 6 sites"
    )
    grouped.undo()
    assert grouped.choices.groupings == {}
    assert estimate(grouped.request_estimate()).in_words.startswith("7 × 2 = 14 classes")
    grouped.redo()
    assert grouped.choices.groupings == {"age": AGES}


def test_groups_that_change_nothing_are_not_kept(grouped):
    assert grouped.choices.with_grouping("age", {"1": "1", "2": "2"}).groupings == {}
    assert grouped.choices.with_grouping("sex", {"1": "all", "2": "2"}).groupings["sex"] == {"1": "all"}


def test_counts_of_other_groups_are_not_taken_for_the_same(grouped):
    run(grouped)
    ungrouped = grouped.choices.replaced(groupings={})
    grouped.change(ungrouped)
    assert grouped.problem is None
    grouped.change(ungrouped.replaced(groupings={"illness": {"1": "x"}}))
    assert grouped.problem_key.groupings == ()


def test_groups_of_other_files_are_forgotten(grouped, tmp_path):
    from made_up_sessions import write_data

    grouped.accept_data(open_files(grouped.request_load(*write_data(tmp_path / "other"))))
    assert grouped.choices.groupings == {}


def test_a_project_keeps_groups_and_counts_with_them_again(grouped, tmp_path):
    run(grouped)
    path = tmp_path / "saved.vbas"
    grouped.snapshot().write(path)
    opened = AppState()
    opened.accept_project(open_project(OpenProjectRequest(path)))
    assert opened.choices.groupings == {"age": AGES}
    before, after = grouped.entries[0], opened.entries[0]
    assert after.run.key == before.run.key
    assert after.run.key.names_in_words == "age (grouped), sex"
    assert after.problem.categories[0].values == ("1-3", "4-7")


def test_a_release_from_the_session_holds_the_groups_and_can_be_repeated(grouped, tmp_path):
    run(grouped)
    target = tmp_path / "out"
    release_solution(
        grouped.request_release(
            grouped.entries[0], ReleaseOptions(pdf=False, identifiers=("person",)), target
        )
    )

    def ages(folder):
        with (folder / "release" / "anonymized.csv").open(newline="") as stream:
            return {row["age"] for row in csv.DictReader(stream)}

    assert ages(target) == {"1-3", "4-7"}
    assert main(["export", str(target), "--out", str(tmp_path / "again"), "--quiet"]) == 0
    assert ages(tmp_path / "again") == {"1-3", "4-7"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ks": ()}, "Enter at least one k"),
        ({"quasi_identifier_sets": ()}, "Enter at least one set"),
        ({"quasi_identifier_sets": (("height",),)}, "There is no column “height”."),
        ({"quasi_identifier_sets": (("tract",),)}, "names the region"),
        ({"approaches": {}}, "Tick at least one approach for site number"),
        (
            {"approaches": {**TICKED.approaches, "site_location": ("adc",)}, "seedings": ()},
            "ADC can start from",
        ),
        ({}, None),
    ],
)
def test_what_is_missing_for_a_comparison_is_said(grouped, change, reason):
    said = reason_not_to_compare(replace(TICKED, **change), grouped)
    assert said is None if reason is None else reason in said


def test_a_comparison_lands_in_the_results_once(grouped, tmp_path, monkeypatch):
    plan = ticked_plan(TICKED, grouped)
    assert describe_plan(plan) == "12 combinations in 4 scenarios make at most 36 aggregations."
    requested = request_comparison(TICKED, grouped, tmp_path / "out")
    assert describe_estimate(estimate_comparison(requested.request)).startswith(
        "12 combinations in 4 scenarios make 36 aggregations. About"
    )
    for _ in range(2):
        compared = compare_combinations(
            requested.request,
            on_finished=lambda one: grouped.add_complete([(requested.run_of(one), one.result)]),
        )
    assert len(compared.comparison.finished) == 12
    assert len(grouped.entries) == 36
    with monkeypatch.context() as stopped:
        stopped.setattr(DiskCache, "clear", lambda cache: None)
        compare_combinations(requested.request)
    assert describe_estimate(estimate_comparison(requested.request)).endswith(
        "All of them are finished already."
    )
    kinds = {
        (e.run.key.k, e.run.key.names_in_words, e.solution.approaches.get("adc_seeding"))
        for e in grouped.entries
    }
    assert len(kinds) == 2 * 2 * 3
    entry = next(
        e for e in grouped.entries if e.run.key.groupings and e.solution.approaches.get("adc_seeding")
    )
    alone = open_data(grouped.records_path, grouped.regions_path)
    alone.change(entry.run.choices.replaced(roles=grouped.choices.roles))
    run(alone)
    same = next(e for e in alone.entries if e.solution.site_count == entry.solution.site_count)
    assert (same.solution.owner == entry.solution.owner).all()
    assert (tmp_path / "out" / "comparison.csv").is_file()


def test_times_are_told_no_more_exactly_than_they_are_known():
    assert [format_duration(s) for s in (0.2, 12.4, 300, 9000)] == [
        "a second",
        "12 seconds",
        "5 minutes",
        "2.5 hours",
    ]

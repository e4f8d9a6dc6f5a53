"""The documented example: 600 clients, ten columns, k = 3, both strategies; and the session work behind the page."""

from pathlib import Path

import pytest

from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
from vbas_desktop.analysis.minimal_uniques.recoding import measure_detail
from vbas_desktop.analysis.minimal_uniques.recoding_loop import RecodingPlan, RecodingSession
from vbas_desktop.analysis.minimal_uniques.rules import DomainRule
from vbas_desktop.analysis.minimal_uniques.search import _ColumnSetCounter, find_minimal_uniques
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.ui.state.risky import RiskySetup, run, search, step

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "clients.csv"


@pytest.fixture(scope="module")
def clients():
    return load_records(EXAMPLE)


@pytest.fixture(scope="module")
def columns(clients):
    return tuple(name for name in clients.file_format.header if name != "ID")


def test_the_minimal_combinations_are_those_of_the_document(clients, columns):
    table = DistinctRows.from_records(clients, columns)
    found = find_minimal_uniques(table, 3)
    assert [level.number for level in found.levels] == [0, 7, 96, 328, 430, 219, 102, 26, 1, 0]
    assert int(table.weights[found.scores > 0].sum()) == 319
    assert table.anonymity == 1


@pytest.mark.parametrize(
    ("strategy", "steps", "anonymity", "loss"),
    [("gentle", 9, 3, 0.5654), ("cover", 3, 5, 0.6), ("paper", 2, 600, 1.0)],
)
def test_all_strategies_end_as_documented(clients, columns, strategy, steps, anonymity, loss):
    session = RecodingSession.create(
        RecodingPlan(3, strategy), DistinctRows.from_records(clients, columns)
    )
    session.run()
    assert len(session.steps) == steps
    assert session.state.table.anonymity == anonymity
    detail = measure_detail(session.start.table, session.state.table)
    assert round(detail.information_loss, 4) == loss


@pytest.mark.parametrize(
    ("kind", "threshold", "left", "exempted"),
    [
        ("greater", 300, 555, 654),
        ("greater", 654, 1209, 0),
        ("less", 1000, 555, 654),
        ("less", 654, 1209, 0),
    ],
)
def test_thresholds_compare_the_654_combinations_with_gender(
    clients, columns, kind, threshold, left, exempted
):
    plan = RecodingPlan(3, domain_rules=(DomainRule("gender", kind, threshold),))
    session = RecodingSession.create(plan, DistinctRows.from_records(clients, columns))
    search = session.search(NO_PROGRESS, first_level_only=False)
    assert search.thresholds.appearances[columns.index("Gender")] == 654
    assert (search.number, search.exempted) == (left, exempted)


def test_the_domain_rules_of_table_1_leave_gender_alone_while_it_is_in_more_than_7_combinations(
    clients, columns
):
    rules = (
        DomainRule("PostalCode", "candidate", 1),
        DomainRule("PostalCode", "candidate", 3),
        DomainRule("Gender", "greater", 7),
        DomainRule("ALL", "candidate", 4),
    )
    gender = columns.index("Gender")
    session = RecodingSession.create(
        RecodingPlan(3, "paper", domain_rules=rules), DistinctRows.from_records(clients, columns)
    )
    emptied = []
    for expected in (654, 1):
        search = session.search(NO_PROGRESS, first_level_only=False)
        assert search.thresholds.appearances[gender] == expected
        found = [each.columns for level in search.levels for each in level.combinations]
        assert all(gender not in each for each in found) == (expected > 7)
        assert all(len(each) != 4 for each in found)
        assert session.step()
        emptied.append({change.column for change in session.steps[-1].changes})
    assert emptied[0] == {
        "Age",
        "Region",
        "Income",
        "Health Coverage",
        "Current Client",
        "SIN Available",
    }
    assert emptied[1] == {"Gender", "Married", "First Visit", "Long Term Client"}
    assert not session.step()


def test_few_records_go_before_anything_is_grouped_and_values_are_grouped_before_a_column_is_emptied(
    clients, columns
):
    session = RecodingSession.create(
        RecodingPlan(3, suppression_share=0.05), DistinctRows.from_records(clients, columns)
    )
    session.run()
    words = [step.changes[0].description for step in session.steps]
    neighbour = "the rarest value joined with its neighbour"
    assert words[:4] == ["the 2 rarest values joined"] * 2 + [neighbour] * 2
    assert words[4:] == ["emptied"] * 4 + ["records suppressed"], (
        "as soon as all that stand out are few enough"
    )
    assert all(len(step.changes) == 1 for step in session.steps)
    assert session.state.suppressed == 17 <= 0.05 * 600
    most = RecodingSession.create(
        RecodingPlan(3, suppression_share=0.6), DistinctRows.from_records(clients, columns)
    )
    most.run()
    assert [change.description for step in most.steps for change in step.changes] == [
        "records suppressed"
    ]


def test_values_that_begin_with_numbers_are_joined_with_their_neighbours():
    rows = [["0-14"]] * 2 + [["15-24"]] * 5 + [["25-64"]] * 9 + [["65+"]] * 3
    session = RecodingSession.create(RecodingPlan(4), DistinctRows.from_rows(["age"], rows))
    session.run()
    assert session.state.table.values == (("0-14 or 15-24", "25-64 or 65+"),)


def test_steps_after_a_search_are_those_without_one(clients, columns):
    setup = RiskySetup(clients, columns, 3)
    handed_out = []
    searched = run(setup, search(setup, None, NO_PROGRESS), NO_PROGRESS, handed_out.append)
    unsearched = run(setup, None, NO_PROGRESS, lambda state: None)
    assert [one.changes for one in searched.session.steps] == [
        one.changes for one in unsearched.session.steps
    ]
    assert [len(state.session.steps) for state in handed_out] == list(range(1, 10))
    assert searched.is_finished


def test_undo_brings_back_the_state_and_its_list(clients, columns):
    setup = RiskySetup(clients, columns, 3)
    start = search(setup, None, NO_PROGRESS)
    back = step(setup, start, NO_PROGRESS).without_last_step()
    assert back.listing is start.listing
    assert back.state is start.state


def test_the_compiled_search_finds_what_the_general_one_does(clients, columns, monkeypatch):
    table = DistinctRows.from_records(clients, columns[:7])
    compiled = find_minimal_uniques(table, 3)
    monkeypatch.setattr(_ColumnSetCounter, "fits", lambda self, columns: False)
    general = find_minimal_uniques(table, 3)
    assert general.scores.tolist() == compiled.scores.tolist()
    for one, other in zip(compiled.levels, general.levels, strict=True):
        found = [
            {each.columns: sorted(each.counts.tolist()) for each in level.combinations}
            for level in (one, other)
        ]
        assert found[0] == found[1]

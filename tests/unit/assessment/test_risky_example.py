"""The documented example: 600 clients, ten columns, k = 3, both strategies; and the session work behind the page."""

from pathlib import Path

import pytest

from vbas_desktop.assessment.risky.detail import measure_detail
from vbas_desktop.assessment.risky.loop import Coarsener, Plan
from vbas_desktop.assessment.risky.mining import _Scratch, mine
from vbas_desktop.assessment.risky.rules import DomainRule
from vbas_desktop.assessment.risky.table import Table
from vbas_desktop.io.records.table import load_records
from vbas_desktop.model.progress import Silent
from vbas_desktop.session.risky import RiskySetup, run, search, step

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "clients.csv"


@pytest.fixture(scope="module")
def clients():
    return load_records(EXAMPLE)


@pytest.fixture(scope="module")
def columns(clients):
    return tuple(name for name in clients.dialect.header if name != "ID")


def test_the_minimal_combinations_are_those_of_the_document(clients, columns):
    table = Table.of_records(clients, columns)
    found = mine(table, 3)
    assert [level.number for level in found.levels] == [0, 7, 96, 328, 430, 219, 102, 26, 1, 0]
    assert int(table.weights[found.scores > 0].sum()) == 319
    assert table.anonymity == 1


@pytest.mark.parametrize(
    ("strategy", "steps", "anonymity", "loss"),
    [("gentle", 9, 3, 0.5654), ("cover", 3, 5, 0.6), ("paper", 2, 600, 1.0)],
)
def test_all_strategies_end_as_documented(clients, columns, strategy, steps, anonymity, loss):
    coarsener = Coarsener.of(Plan(3, strategy), Table.of_records(clients, columns))
    coarsener.run()
    assert len(coarsener.steps) == steps
    assert coarsener.state.table.anonymity == anonymity
    detail = measure_detail(coarsener.start.table, coarsener.state.table)
    assert round(detail.information_loss, 4) == loss


@pytest.mark.parametrize(
    ("kind", "threshold", "left", "exempted"),
    [("greater", 300, 555, 654), ("greater", 654, 1209, 0), ("less", 1000, 555, 654), ("less", 654, 1209, 0)],
)
def test_thresholds_compare_the_654_combinations_with_gender(clients, columns, kind, threshold, left, exempted):
    plan = Plan(3, domain_rules=(DomainRule("gender", kind, threshold),))
    coarsener = Coarsener.of(plan, Table.of_records(clients, columns))
    search = coarsener.search(Silent(), first_level_only=False)
    assert search.thresholds.appearances[columns.index("Gender")] == 654
    assert (search.number, search.exempted) == (left, exempted)


def test_the_domain_rules_of_table_1_leave_gender_alone_while_it_is_in_more_than_7_combinations(clients, columns):
    rules = (
        DomainRule("PostalCode", "candidate", 1),
        DomainRule("PostalCode", "candidate", 3),
        DomainRule("Gender", "greater", 7),
        DomainRule("ALL", "candidate", 4),
    )
    gender = columns.index("Gender")
    coarsener = Coarsener.of(Plan(3, "paper", domain_rules=rules), Table.of_records(clients, columns))
    emptied = []
    for expected in (654, 1):
        search = coarsener.search(Silent(), first_level_only=False)
        assert search.thresholds.appearances[gender] == expected
        found = [each.columns for level in search.levels for each in level.found]
        assert all(gender not in each for each in found) == (expected > 7)
        assert all(len(each) != 4 for each in found)
        assert coarsener.step()
        emptied.append({change.column for change in coarsener.steps[-1].changes})
    assert emptied[0] == {"Age", "Region", "Income", "Health Coverage", "Current Client", "SIN Available"}
    assert emptied[1] == {"Gender", "Married", "First Visit", "Long Term Client"}
    assert not coarsener.step()


def test_few_records_go_before_anything_is_grouped_and_values_are_grouped_before_a_column_is_emptied(clients, columns):
    coarsener = Coarsener.of(Plan(3, suppression_share=0.05), Table.of_records(clients, columns))
    coarsener.run()
    words = [step.changes[0].words for step in coarsener.steps]
    neighbour = "the rarest value joined with its neighbour"
    assert words[:4] == ["the 2 rarest values joined"] * 2 + [neighbour] * 2
    assert words[4:] == ["emptied"] * 4 + ["records suppressed"], "as soon as all that stand out are few enough"
    assert all(len(step.changes) == 1 for step in coarsener.steps)
    assert coarsener.state.suppressed == 17 <= 0.05 * 600
    most = Coarsener.of(Plan(3, suppression_share=0.6), Table.of_records(clients, columns))
    most.run()
    assert [change.words for step in most.steps for change in step.changes] == ["records suppressed"]


def test_values_that_begin_with_numbers_are_joined_with_their_neighbours():
    rows = [["0-14"]] * 2 + [["15-24"]] * 5 + [["25-64"]] * 9 + [["65+"]] * 3
    coarsener = Coarsener.of(Plan(4), Table.of_rows(["age"], rows))
    coarsener.run()
    assert coarsener.state.table.values == (("0-14 or 15-24", "25-64 or 65+"),)


def test_steps_after_a_search_are_those_without_one(clients, columns):
    setup = RiskySetup(clients, columns, 3)
    handed_out = []
    searched = run(setup, search(setup, None, Silent()), Silent(), handed_out.append)
    unsearched = run(setup, None, Silent(), lambda work: None)
    assert [one.changes for one in searched.coarsener.steps] == [one.changes for one in unsearched.coarsener.steps]
    assert [len(work.coarsener.steps) for work in handed_out] == list(range(1, 10))
    assert searched.finished


def test_undo_brings_back_the_state_and_its_list(clients, columns):
    setup = RiskySetup(clients, columns, 3)
    start = search(setup, None, Silent())
    back = step(setup, start, Silent()).undone()
    assert back.listing is start.listing
    assert back.state is start.state


def test_the_compiled_search_finds_what_the_general_one_does(clients, columns, monkeypatch):
    table = Table.of_records(clients, columns[:7])
    compiled = mine(table, 3)
    monkeypatch.setattr(_Scratch, "fits", lambda self, columns: False)
    general = mine(table, 3)
    assert general.scores.tolist() == compiled.scores.tolist()
    for one, other in zip(compiled.levels, general.levels, strict=True):
        found = [{each.columns: sorted(each.counts.tolist()) for each in level.found} for level in (one, other)]
        assert found[0] == found[1]

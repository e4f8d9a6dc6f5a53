"""Releases in tiers of two years: what is found safe tells of nobody where they are, or that they came or went."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.releases.test_ledger_tiers import FINE, KEY, Places, entry_of, outcomes_of
from vbas_desktop.releases.ledger.entry import LedgerEntry, ReleasedRows, RowColumn, hash_values
from vbas_desktop.releases.ledger.population_changes import ChangeComparison, PopulationChange

K = 2
HALVES = Places(FINE[:4], ((0, 0, 1, 1),))
WHOLE, PLAIN = Places(FINE[:4], ()), Places(FINE[:4])


def outcomes_by_person(places: Places, people: dict[int, int]):
    """Where every person (number → region) is listed, by the rule: a place (tier, number) or None."""
    table = Counter(people.values())
    listed = outcomes_of(places, [table[region] for region in range(4)], K)
    return {person: listed[region] for person, region in people.items()}


def released(places: Places, people: dict[int, int]) -> LedgerEntry:
    """The entry of a release in which everybody can be told by a further column."""
    table = Counter(people.values())
    entry = entry_of(places, [table[region] for region in range(4)], K)
    starts = np.concatenate(([0], np.cumsum(entry.regions_by_tier)))
    cell = {int(place): number for number, place in enumerate(entry.classes.regions)}
    there = {
        person: outcome
        for person, outcome in outcomes_by_person(places, people).items()
        if outcome is not None
    }
    cells = [cell[int(starts[tier]) + number] for tier, number in there.values()]
    values = hash_values(KEY, "name", map(str, there))
    columns = {"name": RowColumn(values, np.arange(values.size, dtype=np.int32))}
    return replace(
        entry, rows=ReleasedRows(np.array(cells, np.int32), np.ones(len(cells), np.int32), columns)
    )


def compared(new: LedgerEntry, old: LedgerEntry) -> PopulationChange:
    """The two releases, by all rows."""
    return ChangeComparison(new, new.rows, K, KEY, {}).compare(old)


def told(before: dict, after: dict, k: int) -> bool:
    """Whether linked rows tell of somebody a smaller place than one release does, or of too few that they changed."""
    both = {outcome for outcome in before.values() if outcome} & {
        outcome for outcome in after.values() if outcome
    }
    if any(
        before[each] and after[each] and before[each] != after[each]
        for each in before.keys() & after.keys()
    ):
        return True
    for cell in both:
        was, now = (
            {each for each, outcome in outcomes.items() if outcome == cell}
            for outcomes in (before, after)
        )
        if 0 < len(now - was) < k or 0 < len(was - now) < k:
            return True
        # Those who stayed are told apart from those who went.
        if was - now and 0 < len(was & now) < k:
            return True
    return False


@settings(max_examples=150, deadline=None)
@given(
    homes=st.lists(st.integers(0, 3), min_size=2, max_size=14),
    gone=st.sets(st.integers(0, 13), max_size=4),
    came=st.lists(st.integers(0, 3), max_size=4),
    case=st.sampled_from(
        [(HALVES, HALVES), (WHOLE, WHOLE), (PLAIN, HALVES), (HALVES, PLAIN), (PLAIN, PLAIN)]
    ),
)
def test_what_is_found_safe_tells_nothing_by_linked_rows(homes, gone, came, case):
    before = dict(enumerate(homes))
    after = {person: home for person, home in before.items() if person not in gone}
    after |= {100 + number: home for number, home in enumerate(came)}
    old, new = released(case[0], before), released(case[1], after)
    found = compared(new, old)
    assert not found.reason
    outcomes = outcomes_by_person(case[0], before), outcomes_by_person(case[1], after)
    if told(*outcomes, K):
        assert found.people
    if not found.reveals_location:
        # Then it is as exact as without tiers.
        both = set(filter(None, outcomes[0].values())) & set(filter(None, outcomes[1].values()))
        assert bool(found.people) == told(*outcomes, K)
        assert found.people <= sum(outcome in both for each in outcomes for outcome in each.values())


def test_who_goes_up_because_somebody_left_is_told_and_refused():
    before = dict(enumerate([0, 0, 1, 2]))
    after = {person: home for person, home in before.items() if person}
    old, new = released(WHOLE, before), released(WHOLE, after)
    assert outcomes_by_person(WHOLE, before)[1] == (0, 0)
    assert outcomes_by_person(WHOLE, after)[1] == (1, 0)
    found = compared(new, old)
    assert (found.reveals_location, found.people, found.classes) == (True, 2, 1)
    assert not compared(old, old).people


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        (Places(FINE[:4], ((0, 1, 0, 1),)), "the larger areas differ"),
        (WHOLE, "the larger areas differ"),
        (Places((0, 0, 1, 2), ()), "regions were joined"),
    ],
)
def test_other_larger_places_are_refused_in_words(places, reason):
    people = dict(enumerate([0, 0, 0, 1, 1, 2, 2, 3, 3]))
    old, new = released(HALVES, people), released(places, people)
    assert reason in compared(new, old).reason


def test_without_rows_tiers_are_not_compared():
    people = dict(enumerate([0, 0, 0, 1, 1, 2, 2, 3, 3]))
    old = released(HALVES, people)
    assert "rows have to be compared" in ChangeComparison(old, None, K, KEY, {}).compare(old).reason
    assert not compared(old, old).reason

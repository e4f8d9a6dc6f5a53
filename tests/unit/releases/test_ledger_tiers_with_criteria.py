"""Releases in tiers under criteria for sensitive values beside others: what is found safe is attacked."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.releases.test_ledger_tiers import FINE, Places, attack, verdict

K, REGIONS, VALUES = 2, 4, 2


def all_of_one_value(values) -> bool:
    return sum(count > 0 for count in values) == 1


def joined(parts):
    return tuple(map(sum, zip(*parts, strict=True)))


@lru_cache(None)
def nodes_of(places: Places):
    """The places around each region, the regions of each aggregated region, and the children of each larger area."""
    chains = places.chains
    inside, children = defaultdict(list), [defaultdict(set) for _ in chains[0][1:]]
    for region, chain in enumerate(chains):
        inside[chain[0]].append(region)
        for tier, found in enumerate(children):
            found[chain[tier + 1]].add(chain[tier])
    return chains, inside, children


@lru_cache(None)
def outcomes_of(places: Places, table, k=K):
    """The place that the records of each region are released in, or None: by size, rooms and two different values.

    ``table`` has, for each region, the records by value. One partition (no tiers) has criteria as well.
    """
    chains, inside, tiers = nodes_of(places)
    rest = {node: joined(table[region] for region in regions) for node, regions in inside.items()}
    room, released = dict.fromkeys(rest, k - 1), set()
    for node, values in rest.items():
        if sum(values) >= k and not all_of_one_value(values):
            released.add(node)
            rest[node], room[node] = (0,) * VALUES, 0
    for children in tiers:
        for node, below in children.items():
            total, rooms = joined(rest[child] for child in below), [room[child] for child in below]
            allowed = sum(rooms) - max(rooms)
            rest[node], room[node] = total, sum(rooms) if allowed < k else k - 1
            if k <= sum(total) <= allowed and not all_of_one_value(total):
                released.add(node)
                rest[node], room[node] = (0,) * VALUES, 0
    return [next((node for node in chain if node in released), None) for chain in chains]


def seen_by_linking(releases, table, k=K):
    """How many people of which value have which outcomes; those whom nobody sees are left out."""
    groups = defaultdict(int)
    for region, outcome in enumerate(
        zip(*(outcomes_of(places, table, k) for places in releases), strict=True)
    ):
        if any(outcome):
            for value, count in enumerate(table[region]):
                groups[outcome, value] += count
    return frozenset(each for each in groups.items() if each[1])


CASES = [
    (Places(FINE[:4]), Places(FINE[:4], ())),
    (Places((0, 0, 1, 1)), Places(FINE[:4], ((0, 0, 1, 1),))),
    (Places((0, 0, 0, 0)), Places(FINE[:4], ())),
    (Places(FINE[:4], ()), Places((0, 0, 1, 2), ())),
    (Places(FINE[:4], ()), Places(FINE[:4], ())),
]
TABLES = [
    tuple(zip(whole[:REGIONS], whole[REGIONS:], strict=True))
    for whole in itertools.product(range(3), repeat=8)
]


def counted(case, table):
    outcomes = [outcomes_of(places, table) for places in case]
    return verdict(case, [sum(values) for values in table], K, outcomes)


@pytest.mark.parametrize("case", CASES[1:4])
def test_nothing_is_proved_by_releases_that_are_found_safe(case):
    broken = attack(case, TABLES, K, outcomes_of, seen_by_linking)
    safe = barred = 0
    # Tables on the rim of what is enumerated would look more certain than they are.
    inner = [table for table in TABLES if sum(map(sum, table)) <= 6 and max(map(sum, table)) <= 3]
    for place in np.random.default_rng(5).permutation(len(inner))[:60]:
        table = inner[place]
        people, shown = counted(case, table)
        seen = seen_by_linking(case, table)
        if not people and not shown and seen:
            safe += 1
            barred += any(sum(values) >= K and all_of_one_value(values) for values in table)
            assert seen not in broken, table
    assert safe
    assert barred or case[0].membership != case[1].membership


@settings(max_examples=50, deadline=None)
@given(
    table=st.tuples(*[st.tuples(*[st.integers(0, 4)] * VALUES)] * REGIONS),
    case=st.sampled_from(CASES),
)
def test_people_are_singled_out_just_where_their_outcomes_are_shared_by_too_few(table, case):
    groups = Counter()
    for values, outcome in zip(
        table, zip(*(outcomes_of(places, table) for places in case), strict=True), strict=True
    ):
        groups[outcome] += sum(values) if any(each is not None for each in outcome) else 0
    before = Counter()
    for values, outcome in zip(table, outcomes_of(case[0], table), strict=True):
        before[outcome] += sum(values)
    small = {outcome: size for outcome, size in groups.items() if size < K}
    exposed = sum(size for (old, _), size in small.items() if old is None or before[old] >= K)
    assert counted(case, table)[0] == exposed


def test_the_same_regions_in_tiers_with_and_without_criteria_are_not_taken_for_the_same_release():
    """Both list nothing in the regions themselves; only without criteria the larger area lists them."""
    table = ((1, 0), (1, 0), (1, 0), (0, 0))
    places = Places(FINE[:4], ())
    numbers = [sum(values) for values in table]
    by_size = [(1, 0)] * 4
    assert outcomes_of(places, table) == [None] * 4
    assert verdict((places, places), numbers, K, (by_size, by_size)) == (0, 0)
    assert verdict((places, places), numbers, K, (by_size, outcomes_of(places, table)))[1] > 0

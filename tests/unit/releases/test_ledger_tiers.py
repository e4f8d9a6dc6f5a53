"""Releases in tiers beside others: what is found safe is attacked with all tables that there are."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import pytest

from vbas_desktop.audit.tiers import recounted_tiers
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.releases.ledger.cross_release_groups import (
    JointCounts,
    ListedClasses,
    find_exposed_groups,
    find_outcome,
    find_released_classes,
    reproduces_release,
)
from vbas_desktop.releases.ledger.entry import LedgerEntry, ReleasedClasses, hash_regions, hash_values
from vbas_desktop.releases.ledger.joint_inference import count_revealed_groups, find_occupied_cells
from vbas_desktop.releases.ledger.joint_releases import can_be_derived

KEY = b"a key of a test."


@dataclass(frozen=True)
class Places:
    """Aggregated regions and the larger areas above them, without the whole area; no ``parents``: one partition."""

    membership: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...] | None = None

    @property
    def chains(self) -> list[list[tuple[int, int]]]:
        """The places (tier, number) around each initial region, smallest first."""
        found = []
        for place in self.membership:
            chain = [(0, place)]
            for tier, parent in enumerate([] if self.parents is None else [*self.parents, None], 1):
                place = 0 if parent is None else parent[place]
                chain.append((tier, place))
            found.append(chain)
        return found


def outcomes_of(places: Places, table, k):
    """What becomes of the records of each region: the place that they are released in, or None. By the definition."""
    rest, room, released = {}, {}, set()
    chains = places.chains
    for chain, count in zip(chains, table, strict=True):
        rest[chain[0]] = rest.get(chain[0], 0) + count
    for node in list(rest):
        room[node] = k - 1
        if rest[node] >= k:
            released.add(node)
            rest[node] = room[node] = 0
    for tier in range(1, len(chains[0])):
        children = defaultdict(set)
        for chain in chains:
            children[chain[tier]].add(chain[tier - 1])
        for node, inside in children.items():
            total, rooms = sum(rest[child] for child in inside), [room[child] for child in inside]
            allowed = sum(rooms) - max(rooms)
            rest[node], room[node] = total, sum(rooms) if allowed < k else k - 1
            if k <= total <= allowed:
                released.add(node)
                rest[node] = room[node] = 0
    return [next((node for node in chain if node in released), None) for chain in chains]


def seen_by_linking(releases, table, k):
    """How many people have which outcomes; those whom nobody sees are left out."""
    outcomes = zip(*(outcomes_of(places, table, k) for places in releases), strict=True)
    groups = Counter()
    for outcome, count in zip(outcomes, table, strict=True):
        if count and any(each is not None for each in outcome):
            groups[outcome] += count
    return frozenset(groups.items())


def entry_of(places: Places, table, k, outcomes=None) -> LedgerEntry:
    numbers = np.array(places.membership, np.int32)
    parents = [] if places.parents is None else [*places.parents]
    if places.parents is not None:
        last = max(parents[-1]) + 1 if parents else int(numbers.max()) + 1
        parents.append((0,) * last)
    sizes = [int(numbers.max()) + 1, *(max(parent) + 1 for parent in parents)]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    cells = Counter()
    for outcome, count in zip(outcomes or outcomes_of(places, table, k), table, strict=True):
        if outcome is not None and count:
            cells[int(starts[outcome[0]]) + outcome[1]] += count
    kind = hash_values(KEY, "age", ["a"])[0]
    return LedgerEntry(
        1, "x", "2026-01-01", "s", "r", "region", ("age",), k, ("region", "age"),
        hash_regions(KEY, map(str, range(len(table)))), numbers,
        ReleasedClasses(
            np.array(list(cells), np.int32), np.full(len(cells), kind, np.uint64),
            np.array(list(cells.values()), np.int32),
        ),
        parents=tuple(np.array(parent, np.int32) for parent in parents),
    )  # fmt: skip


def listed_of(places: Places, outcomes) -> ListedClasses:
    """The cells of aggregated regions that are listed, and in which tier."""
    tier = {
        own: outcome[0]
        for own, outcome in zip(places.membership, outcomes, strict=True)
        if outcome is not None
    }
    kind = np.repeat(hash_values(KEY, "age", ["a"]), len(tier))
    return ListedClasses(np.array(list(tier), np.int32), kind, np.array(list(tier.values()), np.uint8))


def verdict(releases, table, k, outcomes=None):
    """People, and groups that show what is not listed, as the check counts them for the second beside the first.

    ``outcomes`` are those of the regions in both, where more than numbers of records decided about them.
    """
    matrix = np.array(table, np.int64)[:, None]
    cells = JointCounts(
        hash_regions(KEY, map(str, range(len(table)))), ("age",), (hash_values(KEY, "age", ["a"]),),
        ClassCounts.from_matrix((1,), np.arange(1), matrix),
    )  # fmt: skip
    given = outcomes or (None, None)
    listed = [
        None if each is None else listed_of(own, each) for own, each in zip(releases, given, strict=True)
    ]
    earlier, new = entries = [
        entry_of(own, table, k, each) for own, each in zip(releases, given, strict=True)
    ]
    small, places = cells.merge([entry.find_aggregated_regions(cells.regions) for entry in entries])
    theirs, mine = (
        find_outcome(entry, small, place, find_released_classes(entry, small, place, known))
        for entry, place, known in zip(entries, places, listed, strict=True)
    )
    for entry, outcomes in zip(entries, (theirs, mine), strict=True):
        assert reproduces_release(entry, small, outcomes)
    counts = small.sizes
    people = find_exposed_groups(mine, [theirs], counts, k).people
    if can_be_derived(new, mine, earlier, theirs) or can_be_derived(earlier, theirs, new, mine):
        return people, 0
    return people, count_revealed_groups(mine, theirs, counts) + count_revealed_groups(
        theirs, mine, counts
    )


def attack(releases, tables, k, outcomes_of=outcomes_of, seen_by_linking=seen_by_linking):
    """What the releases and linked rows prove of some table: a place that is told apart has 1 … k − 1, or of a cell
    that one release does not list, that it is not empty. Tables may count values; what is proved are numbers."""
    alike = defaultdict(list)
    for table in tables:
        alike[seen_by_linking(releases, table, k)].append(table)
    together = list(zip(*(places.membership for places in releases), strict=True))
    broken = set()
    for seen, possible in alike.items():
        array = np.array(possible).reshape(len(possible), len(together), -1).sum(axis=2)
        for own in set(together):
            values = set(
                array[:, [i for i, each in enumerate(together) if each == own]].sum(axis=1).tolist()
            )
            if min(values) >= 1 and max(values) < k:
                broken.add(seen)
        for places in releases:
            outcomes = outcomes_of(places, possible[0], k)
            for place in set(places.membership):
                inside = [i for i, each in enumerate(places.membership) if each == place]
                if outcomes[inside[0]] != (0, place) and array[:, inside].sum(axis=1).min() > 0:
                    broken.add(seen)
    return broken


FINE = (0, 1, 2, 3, 4)
CASES = [
    (Places(FINE), Places(FINE, ())),
    (Places(FINE, ()), Places(FINE, ((0, 0, 0, 1, 1),))),
    (Places((0, 0, 0, 1, 1)), Places(FINE, ((0, 0, 0, 1, 1),))),
    (Places((0, 0, 0, 0, 0)), Places(FINE, ())),
    (Places((0, 1, 1, 1, 1), ()), Places(FINE, ((0, 1, 1, 1, 1),))),
    (Places((0, 0, 1, 2, 3), ()), Places((0, 1, 1, 2, 3), ())),
    (Places((0, 0, 0, 0, 1)), Places(FINE, ((0, 0, 0, 0, 1),))),
]


@pytest.mark.parametrize(("one", "two"), CASES)
def test_nothing_is_proved_by_releases_that_are_found_safe(one, two):
    k = 2
    # Records of listed places may be anywhere in them, so tables go beyond what is asked about.
    tables = list(itertools.product(range(5), repeat=5))
    broken = attack((one, two), tables, k)
    draw, safe = np.random.default_rng(7), 0
    for table in draw.permutation([table for table in tables if max(table) < 4 and sum(table) < 9])[
        :80
    ].tolist():
        people, shown = verdict((one, two), table, k)
        groups = dict(seen_by_linking((one, two), table, k))
        assert (people > 0) == any(size < k for size in groups.values())
        if not people and not shown:
            safe += len(groups) > 0
            assert frozenset(groups.items()) not in broken, table
    assert safe


def test_what_can_be_worked_out_from_the_other_is_safe_and_what_cannot_need_not_be():
    table = (1, 1, 1, 0, 3)
    assert verdict((Places(FINE), Places(FINE, ())), table, 2) == (0, 0)
    assert verdict((Places(FINE, ()), Places(FINE)), table, 2) == (0, 0)
    assert verdict((Places(FINE, ()), Places(FINE, ())), table, 2) == (0, 0)
    # The first lists all three in the whole area, the second in a smaller place: where they are not is told anew.
    assert verdict((Places(FINE, ()), Places(FINE, ((0, 0, 0, 0, 1),))), table, 2)[1] > 0


def test_a_coarser_release_that_lists_a_rest_singles_it_out():
    # Regions 0 to 3 have one record each, of which 4 are listed in their place; with 1 in region 4, the second listed
    # in the whole area, the place of the fifth is told by the first release.
    table = (2, 2, 0, 0, 1)
    one, two = Places((0, 0, 0, 0, 0)), Places(FINE, ())
    assert outcomes_of(two, table, 2) == [(0, 0), (0, 1), None, None, None]
    assert verdict((one, two), table, 2)[0] == 1


def test_the_rule_of_the_ledger_is_that_of_the_auditor():
    draw = np.random.default_rng(3)
    places = Places((0, 1, 2, 3, 4, 5, 6), ((0, 0, 0, 1, 1, 1, 2), (0, 0, 1)))
    parents = [np.array(parent) for parent in (*places.parents, (0, 0))]
    for _ in range(200):
        table = draw.integers(0, 5, 7)
        outcomes = outcomes_of(places, table.tolist(), 3)
        tier, last = recounted_tiers(np.arange(7), np.zeros(7, np.int64), table, parents, 3)
        assert [last + 1 if outcome is None else outcome[0] for outcome in outcomes] == tier.tolist()


def shown_regions(releases, table, k):
    """Return the regions whose records several releases together show in places where one does not list them."""
    matrix = np.array(table, np.int64)[:, None]
    cells = JointCounts(
        hash_regions(KEY, map(str, range(len(table)))), ("age",), (hash_values(KEY, "age", ["a"]),),
        ClassCounts.from_matrix((1,), np.arange(1), matrix),
    )  # fmt: skip
    entries = [entry_of(own, table, k) for own in releases]
    outcomes = [
        find_outcome(entry, cells, entry.find_aggregated_regions(cells.regions)) for entry in entries
    ]
    return np.flatnonzero(find_occupied_cells(outcomes, cells.sizes)).tolist()


@pytest.mark.parametrize(
    ("others", "table", "shown"),
    [
        # The whole area lists 12 in the first four regions; the other two releases together tell 3 in each.
        (((0, 0, 1, 1, 2), (0, 1, 0, 1, 2)), (3, 3, 3, 3, 9), [0, 1, 2, 3]),
        # All twelve together fit into any three of the four regions.
        (((0, 0, 0, 0, 1), (0, 0, 0, 0, 1)), (3, 3, 3, 3, 9), []),
        # One of the others does not list them either: what is open in two releases counts as shown.
        (((0, 0, 0, 0, 1), (0, 1, 2, 3, 4)), (3, 3, 3, 3, 9), [0, 1, 2, 3]),
        # Eighteen do not fit into any four of five regions, so the whole area does not list them. The others list 16,
        # more than fit into three of four regions; the last two records are nowhere.
        (((0, 0, 0, 0, 1), (0, 0, 0, 0, 1)), (4, 4, 4, 4, 2), [0, 1, 2, 3]),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_release_in_tiers_beside_two_others(others, table, shown, place):
    releases = [Places(membership) for membership in others]
    releases.insert(place, Places((0, 1, 2, 3, 4), ()))
    assert shown_regions(releases, table, 5) == shown

"""Releases in tiers: the smallest safe place, by an independent reading of the rule and by all an attacker may try."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vbas_desktop.algorithms import suppression, tier_suppression
from vbas_desktop.algorithms.suppression import Aggregation, count_released, suppress_locally
from vbas_desktop.algorithms.tier_suppression import find_release_tiers
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers


def tiers_from(*parents):
    """Tiers from lists of parents; the whole area is added."""
    arrays = [np.array(parent, np.int32) for parent in parents]
    arrays.append(np.zeros(max(parents[-1]) + 1 if parents else 1, np.int32))
    return Tiers(tuple(arrays), ("",) * (len(arrays) + 1), (None,) * (len(arrays) + 1))


def flat(places):
    """All places directly below the whole area."""
    return Tiers((np.zeros(places, np.int32),), ("", ""), (None, None))


def counts_of(matrix):
    matrix = np.array(matrix, np.int64)
    return ClassCounts.from_matrix((matrix.shape[1],), np.arange(matrix.shape[1]), matrix)


def release_of(tiers, column, k, spare_largest=True):
    """What a recipient sees of one class: (tier, place) → records. Written from the definition, place by place.

    Without ``spare_largest`` it is a rule that only asks whether the sum is possible: not what the program does.
    """
    seen, rest, room = {}, list(column), [k - 1] * len(column)
    for place, count in enumerate(column):
        if count >= k:
            seen[0, place], rest[place], room[place] = count, 0, 0
    for tier, parent in enumerate(tiers.parents, start=1):
        above_rest, above_room = [], []
        for place in range(tiers.n_areas[tier]):
            children = [child for child in range(len(parent)) if parent[child] == place]
            total = sum(rest[child] for child in children)
            rooms = [room[child] for child in children]
            most = sum(rooms) - (max(rooms) if spare_largest else 0)
            if k <= total <= most:
                seen[tier, place] = total
                above_rest.append(0)
                above_room.append(0)
            else:
                above_rest.append(total)
                above_room.append(sum(rooms) if most < k else k - 1)
        rest, room = above_rest, above_room
    return seen


def found_release(tiers, matrix, k):
    """The same for all classes by the program: (tier, place, class) → records."""
    counts = counts_of(matrix)
    membership = np.arange(tiers.n_areas[0], dtype=np.int32)
    released = suppress_locally(Aggregation(counts, k, membership, tiers.n_areas[0], tiers)).released
    return {
        (tier, int(place), int(column)): int(matrix[place, column])
        for tier, matrix in enumerate(each.table.toarray() for each in released)
        for place, column in np.argwhere(matrix)
    }


@st.composite
def hierarchies(draw, most=14):
    """Tiers of any shape in which every parent has a child."""
    places = draw(st.integers(1, most))
    parents = []
    for _ in range(draw(st.integers(0, 3))):
        above = draw(st.integers(1, places))
        rest = draw(
            st.lists(st.integers(0, above - 1), min_size=places - above, max_size=places - above)
        )
        parents.append(draw(st.permutations([*range(above), *rest])))
        places = above
    return tiers_from(*parents) if parents else flat(places)


@settings(max_examples=150, deadline=None)
@given(tiers=hierarchies(), k=st.integers(1, 5), data=st.data())
def test_the_release_is_the_one_of_the_definition(tiers, k, data):
    cells = st.lists(st.integers(0, k + 2), min_size=3, max_size=3)
    matrix = data.draw(st.lists(cells, min_size=tiers.n_areas[0], max_size=tiers.n_areas[0]))
    expected = {
        (tier, place, c): records
        for c in range(3)
        for (tier, place), records in release_of(tiers, [row[c] for row in matrix], k).items()
    }
    assert found_release(tiers, matrix, k) == expected


@settings(max_examples=60, deadline=None)
@given(tiers=hierarchies(), k=st.integers(1, 5), data=st.data())
def test_some_classes_at_a_time_release_what_all_do(tiers, k, data):
    shape = (tiers.n_areas[0], data.draw(st.integers(1, 9)))
    counts = counts_of(data.draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 6))))
    membership = np.arange(tiers.n_areas[0], dtype=np.int32)
    merged = Aggregation(counts, k, membership, tiers.n_areas[0], tiers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suppression, "_CLASSES_PER_COUNT", 4)
        patch.setattr(tier_suppression, "_CLASSES_PER_BLOCK", 3)
        totals = count_released(merged)
    expected = [each.region_totals.tolist() for each in suppress_locally(merged).released]
    assert [each.tolist() for each in totals] == expected


@settings(max_examples=100, deadline=None)
@given(tiers=hierarchies(), k=st.integers(2, 5), data=st.data())
def test_every_released_class_has_k_records_and_each_record_has_one_place_around_it(tiers, k, data):
    cells = st.lists(st.integers(0, k + 2), min_size=2, max_size=2)
    matrix = np.array(data.draw(st.lists(cells, min_size=tiers.n_areas[0], max_size=tiers.n_areas[0])))
    counts = counts_of(matrix)
    tier_of = find_release_tiers(counts, tiers, k)
    released = found_release(tiers, matrix, k)
    assert all(records >= k for records in released.values())
    indptr, columns, values = counts.table.indptr, counts.table.indices, counts.table.data
    places = np.repeat(np.arange(counts.n_regions), np.diff(indptr))
    summed = {}
    for place, column, value, tier in zip(places, columns, values, tier_of, strict=True):
        # What alone would be suppressed is never released lower down, and what is large enough always in its own place.
        assert (tier == 0) == (value >= k)
        if tier != NOT_RELEASED:
            key = int(tier), int(tiers.ancestors[tier][place]), int(column)
            summed[key] = summed.get(key, 0) + int(value)
    assert summed == released


SHAPES = [
    ("three places", flat(3), (2, 3, 4)),
    ("four places", flat(4), (2, 3, 4)),
    ("five places", flat(5), (2, 3)),
    ("two and two", tiers_from([0, 0, 1, 1]), (2, 3, 4)),
    ("three and one", tiers_from([0, 0, 0, 1]), (2, 3, 4)),
    ("three and two", tiers_from([0, 0, 0, 1, 1]), (2, 3)),
    ("three and three", tiers_from([0, 0, 0, 1, 1, 1]), (2, 3)),
    ("pairs of pairs", tiers_from([0, 0, 1, 1, 2, 2], [0, 0, 1]), (2, 3)),
    ("a chain", tiers_from([0, 0, 1, 2], [0, 0, 1]), (2, 3, 4)),
    ("one, two, three", tiers_from([0, 1, 1, 2, 2, 2]), (2, 3)),
    ("three tiers of pairs", tiers_from([0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 1]), (2,)),
]


@pytest.mark.parametrize(("tiers", "k"), [(tiers, k) for _, tiers, ks in SHAPES for k in ks])
def test_whoever_knows_the_rule_and_the_release_excludes_nothing_of_0_to_k_minus_1(tiers, k):
    releases, excluded = attack(tiers, k)
    assert releases > 1
    assert excluded == []


def test_a_rule_that_only_asks_for_k_records_falls_to_that_attack():
    releases, excluded = attack(flat(3), 3, spare_largest=False)
    assert releases > 1
    # A sum of 6 = 2 + 2 + 2 tells everything; a sum of 5 tells that no place has none.
    assert ((((1, 0), 6),), (0, 0), {2}) in excluded
    assert ((((1, 0), 5),), (0, 0), {1, 2}) in excluded


def attack(tiers, k, **rule):
    """All tables there are, grouped by what they release: of which missing cells something of 0 … k − 1 is excluded."""
    possible = {}
    for column in product(range(k + 1), repeat=tiers.n_areas[0]):
        release = release_of(tiers, column, k, **rule)
        cells = possible.setdefault(tuple(sorted(release.items())), {})
        for cell, value in missing_cells(tiers, column, release):
            cells.setdefault(cell, set()).add(value)
    excluded = [
        (release, cell, values)
        for release, cells in possible.items()
        for cell, values in cells.items()
        if not set(range(k)) <= values
    ]
    return len(possible), excluded


def missing_cells(tiers, column, release):
    """What each place does not release, neither itself nor in a place inside it, if anything is open there."""
    for tier, ancestors in enumerate(tiers.ancestors):
        for place in range(tiers.n_areas[tier]):
            inside = [leaf for leaf in range(len(column)) if ancestors[leaf] == place]
            open_leaves = [
                leaf
                for leaf in inside
                if not any(
                    (lower, int(tiers.ancestors[lower][leaf])) in release for lower in range(tier + 1)
                )
            ]
            if open_leaves:
                yield (tier, place), sum(column[leaf] for leaf in open_leaves)


def test_a_sum_is_released_only_if_any_child_could_have_nothing():
    # Three places, k = 3: 2 + 2 + 1 = 5 > 2 · 2, so a release of 5 would prove that nobody has none.
    assert release_of(flat(3), (2, 2, 1), 3) == {}
    assert release_of(flat(3), (2, 2, 0), 3) == {(1, 0): 4}
    assert found_release(flat(3), [[2, 2], [2, 2], [1, 0]], 3) == {(1, 0, 1): 4}


def test_two_pairs_without_a_release_of_their_own_have_room_for_one_together():
    # In each pair nothing can be released (k = 3: 3 > 2), so each may hold up to 4; together 3 or 4 are safe, 5 is not.
    pairs = tiers_from([0, 0, 1, 1])
    assert release_of(pairs, (2, 1, 0, 0), 3) == {(2, 0): 3}
    assert release_of(pairs, (2, 2, 0, 0), 3) == {(2, 0): 4}
    assert release_of(pairs, (2, 2, 1, 0), 3) == {}
    assert found_release(pairs, [[2], [1], [0], [0]], 3) == {(2, 0, 0): 3}


def test_an_empty_file_and_a_single_place_release_nothing_more():
    assert found_release(flat(1), [[4, 0]], 5) == {}
    assert found_release(flat(1), [[5, 0]], 5) == {(0, 0, 0): 5}
    assert find_release_tiers(counts_of([[0, 0], [0, 0]]), flat(2), 5).size == 0

"""Several releases of the same records: what the check finds safe is attacked with linear programming."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.releases.ledger.cross_release_groups import (
    JointCounts,
    find_exposed_groups,
    find_outcome,
)
from vbas_desktop.releases.ledger.entry import LedgerEntry, ReleasedClasses, hash_regions, hash_values
from vbas_desktop.releases.ledger.joint_inference import count_revealed_groups, find_occupied_cells
from vbas_desktop.releases.ledger.joint_releases import has_same_partition

KEY = b"a key of a test."
COLUMNS = ("age", "sex")
NUMBERS = (2, 2)


def count_cells(table: np.ndarray) -> JointCounts:
    """Counts by region, age and sex."""
    regions = table.shape[0]
    counts = ClassCounts.from_matrix(NUMBERS, np.arange(4), table.reshape(regions, 4).astype(np.int64))
    values = tuple(hash_values(KEY, name, ["a", "b"]) for name in COLUMNS)
    return JointCounts(hash_regions(KEY, map(str, range(regions))), COLUMNS, values, counts)


def released(
    table: np.ndarray, membership: tuple[int, ...], names: tuple[str, ...], k: int
) -> LedgerEntry:
    """The release of these counts in these regions with some of the columns as quasi-identifiers."""
    gone = tuple(1 + place for place, name in enumerate(COLUMNS) if name not in names)
    seen = table.sum(axis=gone)
    hashed = [hash_values(KEY, name, ["a", "b"]) for name in names]
    cells = []
    for place in sorted(set(membership)):
        total = seen[[i for i, own in enumerate(membership) if own == place]].sum(axis=0)
        for codes in itertools.product(range(2), repeat=len(names)):
            if total[codes] >= k:
                with np.errstate(over="ignore"):
                    kind = sum(
                        (each[code] for each, code in zip(hashed, codes, strict=True)), np.uint64(0)
                    )
                cells.append((place, kind, int(total[codes])))
    place, kind, number = zip(*cells, strict=True) if cells else ((), (), ())
    return LedgerEntry(
        1, "x", "2026-01-01", "s", "r", "region", names, k, ("region", *names),
        hash_regions(KEY, map(str, range(len(membership)))), np.array(membership, np.int32),
        ReleasedClasses(np.array(place, np.int32), np.array(kind, np.uint64), np.array(number, np.int32)),
    )  # fmt: skip


def verdict(table, releases) -> tuple[int, int]:
    """People and shown cells, as the check counts them for the last release beside the others."""
    cells = count_cells(table)
    places = [entry.find_aggregated_regions(cells.regions) for entry in releases]
    small, few = cells.merge(places)
    outcomes = [find_outcome(entry, small, place) for entry, place in zip(releases, few, strict=True)]
    counts = small.sizes
    found = find_exposed_groups(outcomes[-1], outcomes[:-1], counts, releases[-1].k)
    shown = sum(
        count_revealed_groups(outcomes[-1], each, counts)
        + count_revealed_groups(each, outcomes[-1], counts)
        for each in outcomes[:-1]
    )
    same = any(has_same_partition(releases[-1], each) for each in releases[:-1])
    return found.people, 0 if same else shown


def constraints_of(table, releases):
    """All that the recipient of the releases knows of the number of people of every region, age and sex."""
    rows, low, high = [], [], []
    for entry in releases:
        gone = [place for place, name in enumerate(COLUMNS) if name not in entry.quasi_identifiers]
        for place in sorted(set(entry.membership.tolist())):
            for codes in itertools.product(range(2), repeat=len(entry.quasi_identifiers)):
                mask = np.zeros(table.shape, bool)
                where: list = [entry.membership == place, slice(None), slice(None)]
                given = iter(codes)
                for q in range(2):
                    if q not in gone:
                        where[1 + q] = next(given)
                mask[tuple(where)] = True
                number = int(table[mask].sum())
                rows.append(mask.ravel().astype(float))
                low.append(number if number >= entry.k else 0)
                high.append(number if number >= entry.k else entry.k - 1)
    return LinearConstraint(np.array(rows), low, high)


def places_of(releases) -> list[np.ndarray]:
    """The regions of every place of a release, and those that all partitions together tell apart."""
    own = set(zip(*(entry.membership.tolist() for entry in releases), strict=True))
    cut = [
        np.all([entry.membership == p for entry, p in zip(releases, each, strict=True)], axis=0)
        for each in own
    ]
    return cut + [
        entry.membership == place for entry in releases for place in set(entry.membership.tolist())
    ]


def singled_out(table, releases) -> bool:
    """Whether a place of a release, or a part of it, with some values, is proved to hold 1 to k − 1 people."""
    known, size, k = constraints_of(table, releases), table.size, releases[-1].k

    def extreme(mask, sign):
        found = milp(sign * mask, constraints=known, integrality=np.ones(size), bounds=Bounds(0, np.inf))
        assert found.success
        return round(sign * found.fun)

    for here in places_of(releases):
        for age, sex in itertools.product((0, 1, slice(None)), repeat=2):
            mask = np.zeros(table.shape)
            mask[here, age, sex] = 1
            mask = mask.ravel()
            if not 0 < mask @ table.ravel() < k:
                # The truth is among the possible numbers.
                continue
            if extreme(mask, 1) >= 1 and extreme(mask, -1) < k:
                return True
    return False


def linked(table, releases) -> bool:
    """Whether fewer than k people, who are released at least once, have the same outcome in all releases."""
    outcomes: dict[tuple, int] = {}
    for region, age, sex in np.ndindex(*table.shape):
        outcome = []
        for entry in releases:
            codes = {"age": age, "sex": sex}
            where: list = [entry.membership == entry.membership[region], slice(None), slice(None)]
            for q, name in enumerate(COLUMNS):
                if name in entry.quasi_identifiers:
                    where[1 + q] = codes[name]
            own = (int(entry.membership[region]), *(codes[name] for name in entry.quasi_identifiers))
            outcome.append(own if table[tuple(where)].sum() >= entry.k else None)
        if any(each is not None for each in outcome):
            outcomes[tuple(outcome)] = outcomes.get(tuple(outcome), 0) + int(table[region, age, sex])
    return any(0 < number < releases[-1].k for number in outcomes.values())


def shown_regions(table, releases) -> list[int]:
    """Return the regions whose first class all releases together show in cells which one of them lacks."""
    cells = count_cells(table)
    outcomes = [
        find_outcome(entry, cells, entry.find_aggregated_regions(cells.regions)) for entry in releases
    ]
    region = cells.cell_rows
    return sorted(set(region[find_occupied_cells(outcomes, cells.sizes)].tolist()))


def shown_by_all(table, releases) -> bool:
    """Whether all releases together show a cell which one of them lacks."""
    cells = count_cells(table)
    small, places = cells.merge([entry.find_aggregated_regions(cells.regions) for entry in releases])
    outcomes = [find_outcome(entry, small, place) for entry, place in zip(releases, places, strict=True)]
    return bool(find_occupied_cells(outcomes, small.sizes).any())


def random_case(seed: int):
    generator = np.random.default_rng(seed)
    regions = 4
    table = generator.integers(0, 7, (regions, 2, 2)) * generator.integers(0, 2, (regions, 2, 2))
    k = int(generator.integers(2, 5))
    releases = []
    for _ in range(2):
        membership = np.unique(generator.integers(0, 3, regions), return_inverse=True)[1]
        names = (("age",), ("sex",), ("age", "sex"))[generator.integers(3)]
        releases.append(released(table, tuple(membership.tolist()), names, k))
    return table, releases


def test_no_attack_succeeds_on_releases_that_are_found_safe():
    safe = attacked = 0
    for seed in range(250):
        table, releases = random_case(seed)
        people, shown = verdict(table, releases)
        assert (people > 0) == linked(table, releases)
        succeeds = singled_out(table, releases) if (not people and not shown) or seed < 40 else False
        attacked += succeeds
        if not people and not shown:
            safe += 1
            assert not succeeds, seed
    assert safe > 30
    assert attacked > 5


def test_the_same_release_again_and_its_columns_alone_single_nobody_out():
    for seed in range(50):
        table, releases = random_case(seed)
        assert verdict(table, [releases[0], releases[0]]) == (0, 0)


def test_differencing_of_nested_regions_is_found():
    # Regions 0 and 1 together have 11 people of a kind, region 1 alone 9: two people live in region 0.
    table = np.zeros((2, 2, 2), int)
    table[0, 0, 0], table[1, 0, 0] = 2, 9
    both = released(table, (0, 0), COLUMNS, 5)
    alone = released(table, (0, 1), COLUMNS, 5)
    assert verdict(table, [both, alone]) == (2, 1)
    assert singled_out(table, [both, alone])


def test_three_releases_are_judged_together():
    # Any two of the three partitions leave five people together, all three single regions out.
    table = np.zeros((8, 2, 2), int)
    table[:, 0, 0] = 3
    partitions = [tuple((region >> bit) & 1 for region in range(8)) for bit in range(3)]
    releases = [released(table, membership, COLUMNS, 5) for membership in partitions]
    assert verdict(table, releases[:2]) == (0, 0)
    assert verdict(table, releases) == (24, 0)


def test_three_releases_show_together_what_no_two_of_them_show():
    # Five people live in the whole area. The second release lacks them in all of its three parts, the third in all of
    # its three. If the part of the first two regions were empty, all five would be in one part of the third release.
    table = np.zeros((4, 2, 2), int)
    table[:, 0, 0] = 2, 1, 1, 1
    releases = [
        released(table, parts, COLUMNS, 5) for parts in ((0, 0, 0, 0), (0, 0, 1, 2), (0, 1, 2, 2))
    ]
    for pair in itertools.permutations(releases, 2):
        assert verdict(table, pair) == (0, 0)
        assert not shown_by_all(table, pair)
        assert not singled_out(table, pair)
    assert verdict(table, releases) == (0, 0), (
        "the groups are large enough: two at a time, nothing is found"
    )
    assert singled_out(table, releases)
    assert shown_by_all(table, releases)
    # A sixth region with room for them in both partitions leaves everything open again.
    roomy = np.zeros((6, 2, 2), int)
    roomy[:, 0, 0] = 2, 1, 1, 1, 1, 1
    parts = ((0,) * 6, (0, 0, 1, 2, 3, 4), (0, 1, 2, 2, 3, 4))
    releases = [released(roomy, each, COLUMNS, 6) for each in parts]
    assert not singled_out(roomy, releases)
    assert not shown_by_all(roomy, releases)


@pytest.mark.parametrize("first", [(0, 0, 1, 2), (1, 1, 0, 2), (2, 2, 1, 0)])
@pytest.mark.parametrize("second", [(0, 1, 2, 2), (1, 0, 2, 2), (2, 1, 0, 0)])
def test_what_is_shown_does_not_depend_on_how_places_are_numbered(first, second):
    # As above: neither the first two regions nor the last two can be empty, but any single region can.
    table = np.zeros((4, 2, 2), int)
    table[:, 0, 0] = 2, 1, 1, 1
    releases = [released(table, parts, COLUMNS, 5) for parts in ((0, 0, 0, 0), first, second)]
    assert shown_regions(table, releases) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("k", "people", "partitions"),
    [
        (6, (2, 1, 2, 2), ((1, 1, 2, 0), (0, 0, 0, 0), (0, 2, 2, 1))),
        (6, (1, 3, 1, 2), ((0, 2, 1, 0), (0, 0, 0, 0), (1, 1, 2, 0))),
        (6, (1, 1, 3, 2), ((1, 1, 0, 2), (0, 2, 1, 2), (0, 0, 0, 0))),
        (5, (2, 3, 0, 1, 1), ((2, 1, 1, 0, 2), (2, 0, 0, 1, 1), (0, 0, 0, 0, 0))),
        (6, (2, 2, 1, 1, 2), ((0, 0, 0, 0, 0), (1, 2, 0, 0, 0), (1, 2, 1, 2, 0))),
        (6, (2, 1, 2, 3, 0), ((0, 0, 0, 0, 0), (0, 1, 1, 2, 1), (0, 0, 1, 2, 0))),
        (6, (1, 0, 2, 3, 1), ((0, 0, 0, 0, 0), (0, 2, 2, 1, 2), (2, 2, 1, 1, 0))),
        (6, (1, 2, 1, 1, 3, 1), ((2, 1, 1, 0, 2, 1), (3, 0, 1, 1, 2, 0), (0, 0, 0, 0, 0, 0))),
        (6, (2, 2, 1, 2, 2, 2), ((0, 0, 0, 0, 0, 0), (2, 2, 3, 1, 1, 0), (1, 2, 0, 0, 2, 3))),
    ],
)
def test_three_releases_that_leave_hardly_any_room_but_prove_nothing_are_accepted(k, people, partitions):
    table = np.zeros((len(people), 2, 2), int)
    table[:, 0, 0] = people
    releases = [released(table, parts, COLUMNS, k) for parts in partitions]
    assert not singled_out(table, releases)
    assert shown_regions(table, releases) == []


def test_no_attack_succeeds_on_three_releases_that_are_found_safe():
    safe = refused = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        regions, k = int(draw.integers(4, 7)), int(draw.integers(3, 7))
        table = draw.integers(0, 4, (regions, 2, 2))
        table[:, 1, :] = 0
        partitions = [draw.integers(0, draw.integers(1, 5), regions) for _ in range(3)]
        names = [(("age",), ("sex",), COLUMNS)[draw.integers(3)] for _ in range(3)]
        releases = [
            released(table, tuple(np.unique(each, return_inverse=True)[1].tolist()), name, k)
            for each, name in zip(partitions, names, strict=True)
        ]
        if verdict(table, releases[:2]) != (0, 0) or verdict(table, releases) != (0, 0):
            continue
        if shown_by_all(table, releases):
            refused += 1
            continue
        safe += 1
        assert not singled_out(table, releases), seed
    assert safe > 15
    assert refused < safe / 2


def test_those_who_are_exposed_already_are_not_counted_again():
    table = np.zeros((2, 2, 2), int)
    table[0, 0, 0], table[1, 0, 0] = 2, 9
    both, alone = released(table, (0, 0), COLUMNS, 5), released(table, (0, 1), COLUMNS, 5)
    assert verdict(table, [both, alone, alone]) == (0, 0)


@pytest.mark.parametrize(("rest", "shown"), [(8, 2), (4, 0)])
def test_missing_cells_must_leave_room(rest, shown):
    # Together they have 10 + rest, of which the finer release has 10: the rest is in regions 1 to 3, at most 4 in each.
    table = np.zeros((4, 2, 2), int)
    table[0, 0, 0] = 10
    table[1:3, 0, 0] = rest // 2
    coarse, fine = released(table, (0, 0, 0, 0), COLUMNS, 5), released(table, (0, 1, 2, 3), COLUMNS, 5)
    people, cells = verdict(table, [fine, coarse])
    assert (people > 0) == (rest < 5)
    assert bool(cells) == bool(shown)


@pytest.mark.parametrize(
    ("other", "same"),
    [((0, 1, 2), True), ((2, 1, 0), True), ((1, 2, 0), True), ((0, 0, 1), False), ((0, 1, 1), False)],
)
def test_the_same_cells_are_recognised_however_their_places_are_numbered(other, same):
    table = np.full((3, 2, 2), 9)
    small = count_cells(table)
    one, two = (released(table, parts, COLUMNS, 5) for parts in ((0, 1, 2), other))
    mine, theirs = (
        find_outcome(entry, small, entry.find_aggregated_regions(small.regions)) for entry in (one, two)
    )
    assert mine.has_same_own_classes(theirs) is same
    assert theirs.has_same_own_classes(mine) is same

"""The quick comparison of several releases against one that looks at every record by itself."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.releases.ledger.cross_release_groups import JointCounts, find_outcome
from vbas_desktop.releases.ledger.entry import LedgerEntry, ReleasedClasses, hash_regions, hash_values
from vbas_desktop.releases.ledger.joint_inference import count_revealed_groups
from vbas_desktop.releases.ledger.joint_releases import JointReleases

KEY = b"a key of a test."
COLUMNS = ("age", "sex", "work")
NUMBERS = (3, 2, 2)


def hashed(name: str) -> np.ndarray:
    return hash_values(KEY, name, [str(code) for code in range(NUMBERS[COLUMNS.index(name)])])


def count_cells(table: np.ndarray) -> JointCounts:
    """Counts by region, age, sex and work."""
    size = int(np.prod(NUMBERS))
    counts = ClassCounts.from_matrix(NUMBERS, np.arange(size), table.reshape(-1, size))
    return JointCounts(
        hash_regions(KEY, map(str, range(len(table)))), COLUMNS, tuple(map(hashed, COLUMNS)), counts
    )


def released(
    table: np.ndarray, membership: np.ndarray, names: tuple[str, ...], k: int, hidden: int
) -> LedgerEntry:
    """A release with some quasi-identifiers, the last ``hidden`` of which are not among the released columns."""
    shown = names[: len(names) - hidden]
    cells: Counter[tuple[int, np.uint64]] = Counter()
    for place, codes, number in cells_of(table, membership, names):
        if number >= k:
            with np.errstate(over="ignore"):
                kind = sum(
                    (hashed(name)[code] for name, code in zip(shown, codes, strict=False)), np.uint64(0)
                )
            cells[place, kind] += number
    place, kind, number = (
        zip(*((*cell, number) for cell, number in cells.items()), strict=True) if cells else [()] * 3
    )
    return LedgerEntry(
        1, "x", "", "s", "r", "region", names, k, ("region", *shown),
        hash_regions(KEY, map(str, range(len(table)))), membership.astype(np.int32),
        ReleasedClasses(np.array(place, np.int32), np.array(kind, np.uint64), np.array(number, np.int32)),
    )  # fmt: skip


def cells_of(table: np.ndarray, membership: np.ndarray, names: tuple[str, ...]):
    """Place, values and number of records of every cell."""
    gone = tuple(1 + q for q, name in enumerate(COLUMNS) if name not in names)
    for place in range(int(membership.max()) + 1):
        total = table[membership == place].sum(axis=(0, *gone))
        for codes in itertools.product(*(range(NUMBERS[COLUMNS.index(name)]) for name in names)):
            yield place, codes, int(total[codes])


def outcomes_by_cell(table: np.ndarray, entry: LedgerEntry) -> dict:
    """The place and values that the records of each region and class are released with, or none."""
    names = entry.quasi_identifiers
    large = {
        (place, own)
        for place, own, number in cells_of(table, entry.membership, names)
        if number >= entry.k
    }
    found = {}
    for region, *codes in np.argwhere(table).tolist():
        own = int(entry.membership[region]), tuple(codes[COLUMNS.index(name)] for name in names)
        found[region, *codes] = own if own in large else None
    return found


def exposed(table: np.ndarray, releases: list[LedgerEntry]) -> tuple[int, int]:
    """People and groups that the first release singles out beside the others, record by record."""
    after, before = Counter(), Counter()
    by_release = [outcomes_by_cell(table, entry) for entry in releases]
    for cell in by_release[0]:
        own = tuple(each[cell] for each in by_release)
        after[own] += int(table[cell])
        before[own[1:]] += int(table[cell])
    k = releases[0].k
    found = [
        number
        for own, number in after.items()
        if number < k and any(own) and (before[own[1:]] >= k or not any(own[1:]))
    ]
    return sum(found), len(found)


@st.composite
def cases(draw):
    regions, generator = draw(st.integers(2, 6)), np.random.default_rng(draw(st.integers(0, 1 << 30)))
    k = draw(st.integers(2, 5))
    table = generator.integers(0, draw(st.integers(2, 9)), (regions, *NUMBERS))
    table *= generator.random(table.shape) < draw(st.sampled_from([0.3, 1.0]))
    # Sometimes nested, or the same one again: then there are releases that are safe.
    first = np.unique(generator.integers(0, regions, regions), return_inverse=True)[1]
    releases = []
    for _ in range(draw(st.integers(2, 4))):
        coarser = np.unique(generator.integers(0, 3, regions), return_inverse=True)[1]
        membership = draw(
            st.sampled_from([first, np.unique(coarser[first], return_inverse=True)[1], coarser])
        )
        names = draw(st.sampled_from([("age",), ("age", "sex"), ("age", "work"), COLUMNS]))
        releases.append(released(table, membership, names, k, draw(st.integers(0, len(names) - 1))))
    return table, releases


@settings(deadline=None)
@given(case=cases())
def test_comparing_is_exact_in_pairs_and_together(case):
    table, releases = case
    fine = count_cells(table)
    every = JointReleases.build(fine, releases, [None] * len(releases))
    found = every.find_exposure(releases[0].k)
    assert (found.people, found.groups) == exposed(table, releases)
    mine = find_outcome(releases[0], fine, releases[0].find_aggregated_regions(fine.regions))
    for number, entry in enumerate(releases[1:], 1):
        pair = every.select_pair(0, number)
        alone = pair.find_exposure(releases[0].k)
        assert (alone.people, alone.groups) == exposed(table, [releases[0], entry])
        theirs = find_outcome(entry, fine, entry.find_aggregated_regions(fine.regions))
        slow = (
            count_revealed_groups(mine, theirs, fine.sizes),
            count_revealed_groups(theirs, mine, fine.sizes),
        )
        assert pair.count_revealed() == sum(slow)
        assert pair.reproduces(0)
        assert pair.reproduces(1)

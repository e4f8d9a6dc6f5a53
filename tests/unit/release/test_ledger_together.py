"""The quick comparison of several releases against one that looks at every record by itself."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.release.ledger.entry import Cells, Entry
from vbas_desktop.release.ledger.fates import Atoms, fates_in, places_in
from vbas_desktop.release.ledger.joint import shown_cells
from vbas_desktop.release.ledger.keyed import region_hashes, value_hashes
from vbas_desktop.release.ledger.same_records import _Together

KEY = b"a key of a test."
COLUMNS = ("age", "sex", "work")
NUMBERS = (3, 2, 2)


def hashed(name: str) -> np.ndarray:
    return value_hashes(KEY, name, [str(code) for code in range(NUMBERS[COLUMNS.index(name)])])


def atoms_of(table: np.ndarray) -> Atoms:
    """Counts by region, age, sex and work."""
    size = int(np.prod(NUMBERS))
    counts = ClassCounts.from_matrix(NUMBERS, np.arange(size), table.reshape(-1, size))
    return Atoms(region_hashes(KEY, map(str, range(len(table)))), COLUMNS, tuple(map(hashed, COLUMNS)), counts)


def released(table: np.ndarray, membership: np.ndarray, names: tuple[str, ...], k: int, hidden: int) -> Entry:
    """A release with some quasi-identifiers, the last ``hidden`` of which are not among the released columns."""
    shown = names[: len(names) - hidden]
    cells: Counter[tuple[int, np.uint64]] = Counter()
    for place, codes, number in cells_of(table, membership, names):
        if number >= k:
            with np.errstate(over="ignore"):
                kind = sum((hashed(name)[code] for name, code in zip(shown, codes, strict=False)), np.uint64(0))
            cells[place, kind] += number
    place, kind, number = zip(*((*cell, number) for cell, number in cells.items()), strict=True) if cells else [()] * 3
    return Entry(
        1, "x", "", "s", "r", "region", names, k, ("region", *shown),
        region_hashes(KEY, map(str, range(len(table)))), membership.astype(np.int32),
        Cells(np.array(place, np.int32), np.array(kind, np.uint64), np.array(number, np.int32)),
    )  # fmt: skip


def cells_of(table: np.ndarray, membership: np.ndarray, names: tuple[str, ...]):
    """Place, values and number of records of every cell."""
    gone = tuple(1 + q for q, name in enumerate(COLUMNS) if name not in names)
    for place in range(int(membership.max()) + 1):
        total = table[membership == place].sum(axis=(0, *gone))
        for codes in itertools.product(*(range(NUMBERS[COLUMNS.index(name)]) for name in names)):
            yield place, codes, int(total[codes])


def fates_by_record(table: np.ndarray, entry: Entry) -> dict:
    """The place and values that the records of each region and class are released with, or none."""
    names = entry.quasi_identifiers
    large = {(place, own) for place, own, number in cells_of(table, entry.membership, names) if number >= entry.k}
    found = {}
    for region, *codes in np.argwhere(table).tolist():
        own = int(entry.membership[region]), tuple(codes[COLUMNS.index(name)] for name in names)
        found[region, *codes] = own if own in large else None
    return found


def exposed(table: np.ndarray, releases: list[Entry]) -> tuple[int, int]:
    """People and groups that the first release singles out beside the others, record by record."""
    after, before = Counter(), Counter()
    by_release = [fates_by_record(table, entry) for entry in releases]
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
        membership = draw(st.sampled_from([first, np.unique(coarser[first], return_inverse=True)[1], coarser]))
        names = draw(st.sampled_from([("age",), ("age", "sex"), ("age", "work"), COLUMNS]))
        releases.append(released(table, membership, names, k, draw(st.integers(0, len(names) - 1))))
    return table, releases


@settings(deadline=None)
@given(case=cases())
def test_comparing_is_exact_in_pairs_and_together(case):
    table, releases = case
    fine = atoms_of(table)
    every = _Together.of(fine, releases, [None] * len(releases))
    found = every.exposed(releases[0].k)
    assert (found.people, found.groups) == exposed(table, releases)
    mine = fates_in(releases[0], fine, places_in(releases[0], fine.regions))
    for number, entry in enumerate(releases[1:], 1):
        pair = every.of_two(0, number)
        alone = pair.exposed(releases[0].k)
        assert (alone.people, alone.groups) == exposed(table, [releases[0], entry])
        theirs = fates_in(entry, fine, places_in(entry, fine.regions))
        slow = shown_cells(mine, theirs, fine.records), shown_cells(theirs, mine, fine.records)
        assert pair.shown() == sum(slow)
        assert pair.whole(0)
        assert pair.whole(1)

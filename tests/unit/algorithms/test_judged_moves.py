"""What a moved region changes in the records to be suppressed, with criteria for sensitive values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sensitive_making import counts_of, sensitive_of
from tests.unit.algorithms.test_diversity import CRITERIA
from vbas_desktop.algorithms.annealing import (
    AnnealingOptions,
    BoundaryGuard,
    SiteGuard,
    move_boundaries,
    move_sites,
    typical_change,
)
from vbas_desktop.algorithms.kernels import diversity as diversity_kernel
from vbas_desktop.algorithms.kernels import partition_state as partitions
from vbas_desktop.algorithms.kernels.jit import kernel
from vbas_desktop.algorithms.kernels.partition_moves import change_of_suppressed, move_region
from vbas_desktop.algorithms.kernels.partition_state import (
    AnnealingData,
    PartitionState,
    Total,
    build_partition_state,
    fill_table,
)
from vbas_desktop.algorithms.suppression import Aggregation, suppress_locally

POINTS = np.array([(x, y) for y in range(3) for x in range(3)], float)
PAIRS = np.array(
    [(i, j) for i in range(9) for j in range(i + 1, 9) if abs(POINTS[i] - POINTS[j]).sum() == 1],
    np.int32,
)
OF_ITS_OWN = [text for text in CRITERIA if "closeness" not in text]


@kernel
def moved(p: PartitionState, i: int, to: int) -> int:
    change = change_of_suppressed(p, i, to)
    move_region(p, i, to)
    return change


def suppressed(rows, sensitive, owner, k) -> int:
    used, membership = np.unique(owner, return_inverse=True)
    counts = counts_of(rows, 9, 3)
    found = suppress_locally(
        Aggregation(counts, k, membership.astype(np.int32), used.size, None, [sensitive])
    )
    return len(rows) - found.records


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=90
    ),
    criteria=st.lists(st.sampled_from(OF_ITS_OWN), min_size=1, max_size=2, unique=True),
    benign=st.sets(st.integers(0, 3), max_size=1),
    moves=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 2)), max_size=12),
    k=st.integers(1, 5),
    table=st.booleans(),
)
def test_the_records_to_be_suppressed_are_known_after_every_move(
    rows, criteria, benign, moves, k, table
):
    sensitive = sensitive_of(rows, 9, 3, 4, criteria, sorted(benign))
    owner = np.arange(9, dtype=np.int32) % 3
    with pytest.MonkeyPatch.context() as patch:
        # A table of pairs instead of a matrix.
        patch.setattr(partitions, "_FULL_BYTES", 0 if table else 2**24)
        p = build_partition_state(
            AnnealingData(counts_of(rows, 9, 3), POINTS, PAIRS, k, [sensitive]), owner, POINTS[:3]
        )
    assert p.totals[Total.SUPPRESSED] == suppressed(rows, sensitive, p.owner, k)
    for region, to in moves:
        if p.owner[region] == to:
            continue
        before = int(p.totals[Total.SUPPRESSED])
        change = moved(p, region, to)
        assert p.totals[Total.SUPPRESSED] == before + change == suppressed(rows, sensitive, p.owner, k)
    fill_table(p)
    assert p.totals[Total.SUPPRESSED] == suppressed(rows, sensitive, p.owner, k)


def crowd(seed: int = 3) -> list[tuple[int, int, int]]:
    draw = np.random.default_rng(seed)
    where = draw.integers(0, 9, 240)
    # Every second region has mostly one value of its own, so that it needs others.
    value = np.where(draw.random(240) < 0.8, where % 2 * 2, draw.integers(0, 4, 240))
    return [tuple(map(int, row)) for row in zip(where, draw.integers(0, 3, 240), value, strict=True)]


@pytest.mark.parametrize("move", ["boundaries", "sites"])
def test_moving_suppresses_fewer_records_and_says_how_many(move):
    rows, k = crowd(), 4
    sensitive = sensitive_of(rows, 9, 3, 4, ["share:60"])
    owner = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2], np.int32)
    p = build_partition_state(
        AnnealingData(counts_of(rows, 9, 3), POINTS, PAIRS, k, [sensitive]), owner, POINTS[[1, 4, 7]]
    )
    if move == "boundaries":
        found = move_boundaries(p, AnnealingOptions(3000, 0, 0.0), BoundaryGuard(10**9, 1e9))
    else:
        found = move_sites(p, AnnealingOptions(600, 0, 0.0), SiteGuard(10.0, 10.0))
    assert found.suppressed_before == suppressed(rows, sensitive, owner, k)
    assert found.suppressed == suppressed(rows, sensitive, found.owner, k)
    # Sites may have no move here that the guard of populations allows.
    assert found.suppressed < found.suppressed_before + (move == "sites")


def test_too_many_values_are_judged_by_k_alone(monkeypatch):
    rows = crowd()
    sensitive = sensitive_of(rows, 9, 3, 4, ["share:60"])
    monkeypatch.setattr(diversity_kernel, "MOST_BYTES", 10)
    owner = np.arange(9, dtype=np.int32) % 3
    p = build_partition_state(
        AnnealingData(counts_of(rows, 9, 3), POINTS, PAIRS, 4, [sensitive]), owner, POINTS[:3]
    )
    plain = build_partition_state(
        AnnealingData(counts_of(rows, 9, 3), POINTS, PAIRS, 4), owner, POINTS[:3]
    )
    assert p.diversity.rules.size == p.diversity.table.size == 0
    assert p.totals.tolist() == plain.totals.tolist()
    assert typical_change(p, np.array([1], np.uint64), 50) == typical_change(
        plain, np.array([1], np.uint64), 50
    )

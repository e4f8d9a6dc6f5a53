"""Counts that come from an engine are those of the records one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vbas_desktop.io.databases.counting import counts_of

CELLS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(1, 9)), max_size=30)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cells=CELLS)
def test_parts_of_a_class_are_added_up(cells):
    expected = np.zeros((5, 6), np.int64)
    for area, kind, size in cells:
        expected[area, kind] += size
    area, classes, sizes = (np.array([cell[i] for cell in cells], np.int64) for i in range(3))
    found = counts_of(area, classes, sizes, 5, (2, 3))
    assert found.combinations.tolist() == np.flatnonzero(expected.any(axis=0)).tolist()
    assert found.table.toarray().tolist() == expected[:, found.combinations].tolist()
    assert found.table.has_canonical_format
    assert found.n_categories == (2, 3)

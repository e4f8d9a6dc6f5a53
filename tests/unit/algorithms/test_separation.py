"""The largest (S_i + S_j)/D_ij of each group, equal to trying every pair."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms import validity_indices as indices
from vbas_desktop.algorithms.validity_indices import compute_largest_ratios, count_coinciding_pairs


def literal(centres, spread):
    best, same = [], 0
    for i in range(len(centres)):
        far = [float(np.hypot(*(centres[i] - centres[j]))) for j in range(len(centres))]
        same += sum(far[j] == 0 for j in range(i))
        ratios = [(spread[i] + spread[j]) / far[j] for j in range(len(centres)) if far[j] > 0]
        best.append(max(ratios, default=-np.inf))
    return best, same


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.booleans(), st.booleans())
def test_the_ratios_are_those_of_every_pair(seed, number, on_a_grid, few_are_wide):
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 4, (number, 2)).astype(float) if on_a_grid else rng.random((number, 2))
    spread = np.where(rng.random(number) < 0.1, 50.0, 0.0) if few_are_wide else rng.random(number)
    best, same = literal(centres, spread)
    np.testing.assert_allclose(compute_largest_ratios(centres, spread), best, rtol=1e-12)
    assert count_coinciding_pairs(centres) == same


def test_small_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    centres, spread = rng.random((300, 2)), rng.random(300) ** 8
    whole = compute_largest_ratios(centres, spread)
    monkeypatch.setattr(indices, "_CELLS", 700)
    np.testing.assert_array_equal(compute_largest_ratios(centres, spread), whole)


def test_one_group_has_no_other():
    assert compute_largest_ratios(np.zeros((1, 2)), np.ones(1)).tolist() == [-np.inf]
    assert count_coinciding_pairs(np.zeros((0, 2))) == 0

"""Anonymity vectors: order, index and improvement, against enumeration and known numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.appointments.anonymity_vector import (
    AnonymityVector,
    compute_improvement,
    compute_indices,
    count_partitions,
    estimate_log_partitions,
)


def all_partitions(n, largest=None):
    if n == 0:
        yield ()
        return
    for part in range(min(n, largest or n), 0, -1):
        for rest in all_partitions(n - part, part):
            yield (part, *rest)


def test_the_number_of_partitions_is_exact_for_small_and_large_numbers():
    assert [count_partitions(n) for n in range(11)] == [1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42]
    assert count_partitions(5000) == (
        169820168825442121851975101689306431361757683049829233322203824652329144349  # published value
    )


@pytest.mark.parametrize("people", [2001, 5000, 20_000])
def test_the_logarithm_of_the_number_of_partitions_is_estimated_to_12_digits(people):
    assert estimate_log_partitions(people) == pytest.approx(
        math.log(count_partitions(people)), rel=1e-13, abs=1e-12
    )


@pytest.mark.parametrize("people", range(1, 15))
def test_the_index_counts_the_worse_vectors(people):
    ranked = sorted((AnonymityVector.of_sizes(sizes) for sizes in all_partitions(people)), reverse=True)
    assert compute_indices(*ranked) == tuple(range(len(ranked)))


@pytest.mark.parametrize("people", [40, 300, 2000])
def test_the_ends_of_the_order(people):
    assert compute_indices(AnonymityVector.of_counts([people])) == (0,)
    assert compute_indices(AnonymityVector.of_sizes([people])) == (count_partitions(people) - 1,)


def test_four_tables_of_equal_k_rise_in_anonymity():
    vectors = [
        AnonymityVector.of_counts(counts)
        for counts in ([3, 0, 0, 0, 1], [2, 0, 0, 0, 0, 1], [1, 1, 0, 0, 1], [1, 0, 1, 1, 0, 0])
    ]
    assert {vector.k for vector in vectors} == {1}
    assert sorted(vectors, reverse=True) == vectors
    assert vectors[3].counts == (1, 0, 1, 1)
    assert list(compute_indices(*vectors)) == sorted(compute_indices(*vectors))


def test_vectors_of_different_people_are_not_ranked_together():
    with pytest.raises(ValueError, match="different numbers of people"):
        compute_indices(AnonymityVector.of_sizes([2]), AnonymityVector.of_sizes([3]))


def test_improvement_is_zero_where_the_base_could_not_be_worse():
    single = AnonymityVector.of_counts([5])
    assert compute_improvement(single, single, single).value == 0.0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2100, 4000))
def test_the_approximation_stays_within_its_stated_error(seed, people):
    rng = np.random.default_rng(seed)
    classes = rng.multinomial(people, rng.dirichlet(np.ones(40)))
    base = AnonymityVector.of_sizes(classes)
    split = [
        AnonymityVector.of_sizes([rng.multinomial(c, np.ones(n) / n) for c in classes]) for n in (3, 6)
    ]
    exact = compute_improvement(*split, base)
    rough = compute_improvement(*split, base, exact_limit=10)
    assert exact.exact
    assert not rough.exact
    assert abs(exact.value - rough.value) <= rough.error + 1e-12
    assert rough.error <= 1e-5

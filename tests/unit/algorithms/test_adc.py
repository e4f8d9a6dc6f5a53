"""ADC by differences does what the literal algorithm does, accepted move by accepted move."""

from collections.abc import Iterator

import numpy as np
import pytest
from adc_instances import KINDS, Instance, instance, places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from literal_adc import exact_star, literal_adc

from vbas_desktop.algorithms import adc, adc_state
from vbas_desktop.algorithms.adc import Clustering, cluster
from vbas_desktop.algorithms.adc_star import sites_in_blocks, star_of, two_nearest
from vbas_desktop.domain.progress import Cancelled
from vbas_desktop.domain.records import EquivalenceCounts


def clustered(problem: Instance, progress=None) -> Clustering:
    width = problem.counts.shape[1]
    counts = EquivalenceCounts.from_dense((width,), np.arange(width, dtype=np.int64), problem.counts.copy())
    return cluster(problem.points, counts, problem.sites, problem.k, progress)


def moves_of(result: Clustering) -> list[tuple[int, int, tuple[float, float]]]:
    return [
        (int(site), int(column), (float(x), float(y)))
        for site, column, (x, y) in zip(result.moved_site, result.moved_class, result.moved_to, strict=True)
    ]


def compare(problem: Instance) -> int:
    result = clustered(problem)
    literal = literal_adc(problem.points, problem.counts, problem.sites, problem.k)
    assert moves_of(result) == literal.moves
    assert result.sites.tolist() == literal.sites.tolist()
    assert result.owner.tolist() == literal.owner.tolist()
    assert result.anonymity == literal.anonymity
    assert result.tries == literal.tries
    assert all(before < after for before, after in zip(literal.values, literal.values[1:], strict=False))
    return result.moves


@st.composite
def instances(draw) -> Instance:
    r = draw(st.integers(1, 80))
    return instance(
        kind=draw(st.sampled_from(KINDS)),
        r=r,
        s=draw(st.integers(1, min(r, 20))),
        classes=draw(st.integers(1, 10)),
        k=draw(st.integers(2, 20)),
        seed=draw(st.integers(0, 2**32)),
        scale=draw(st.sampled_from([1.0, 0.1, 1e5])),
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(instances())
def test_the_accepted_moves_are_those_of_the_literal_algorithm(problem):
    compare(problem)

"""The nearest site, ties to the lower index, equal to comparing every point with every site."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vbas_desktop.algorithms.nearest_site import find_nearest_sites, squared_distances
from vbas_desktop.model.progress import Cancelled


def literal(points, sites):
    return [int(np.argmin([squared_distances(point, site) for site in sites])) for point in points]


grid = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 25), st.just(2)), elements=st.sampled_from([0, 1, 2, 3, 4, 2.5])
)
plane = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 25), st.just(2)),
    elements=st.floats(-1e6, 1e6).map(lambda number: round(number, 2)),
)


@settings(max_examples=150, deadline=None)
@given(points=st.one_of(grid, plane), sites=st.one_of(grid, plane))
def test_every_point_goes_to_the_lowest_of_its_nearest_sites(points, sites):
    assert find_nearest_sites(points, sites).tolist() == literal(points, sites)


def test_a_point_in_the_middle_of_many_cocircular_sites_goes_to_the_first():
    sites = np.array(
        [[3, 4], [4, 3], [5, 0], [-3, 4], [-5, 0], [0, -5], [4, -3], [0, 5], [-4, -3]], float
    )
    for shift in range(len(sites)):
        assert find_nearest_sites(np.zeros((1, 2)), np.roll(sites, shift, axis=0)).tolist() == [0]


def test_sites_at_the_same_place_count_as_the_first_of_them():
    sites = np.array([[1, 1], [0, 0], [1, 1], [0, 0]], float)
    assert find_nearest_sites(np.array([[0, 0.1], [1, 1]]), sites).tolist() == [1, 0]


def test_differences_below_the_rounding_of_the_tree_are_decided_by_the_shared_arithmetic():
    generator = np.random.default_rng(3)
    angles = generator.uniform(0, 2 * np.pi, 64)
    sites = np.column_stack((np.cos(angles), np.sin(angles))) * 1000
    points = generator.normal(0, 1e-13, (50, 2))
    assert find_nearest_sites(points, sites).tolist() == literal(points, sites)


def test_a_stop_is_obeyed():
    class Stop:
        def update(self, stage, fraction=None):
            raise Cancelled

    with pytest.raises(Cancelled):
        find_nearest_sites(np.zeros((3, 2)), np.zeros((2, 2)), Stop())

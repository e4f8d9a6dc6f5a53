"""Points at one place, and polygons made into a coverage."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import box

from vbas_desktop.algorithms.nearest_site import group_coincident_points, unique_pairs
from vbas_desktop.algorithms.polygons import clean_coverage, dissolve, make_shape_array

rows = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=60)


@given(rows)
@settings(max_examples=60, deadline=None)
def test_places_are_numbered_as_sorting_the_rows_would(points):
    array = np.array(points, float)
    _, first, number = np.unique(array, axis=0, return_index=True, return_inverse=True)
    places, place = group_coincident_points(array)
    assert places.tolist() == first.tolist()
    assert place.tolist() == number.ravel().tolist()


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=60))
@settings(max_examples=60, deadline=None)
def test_distinct_pairs_are_those_of_sorted_rows(pairs):
    array = np.array(pairs, np.int32).reshape(-1, 2)
    assert unique_pairs(array[:, 0], array[:, 1]).tolist() == sorted(map(list, set(pairs)))


def test_a_valid_coverage_is_left_alone():
    polygons = make_shape_array([box(0, 0, 1, 1), box(1, 0, 2, 1)])
    cleaned, valid = clean_coverage(polygons)
    assert valid
    assert cleaned is polygons


def test_overlaps_are_given_to_one_side_and_missing_polygons_stay_missing():
    polygons = np.array([box(0, 0, 1.2, 1), None, box(1, 0, 2, 1)], object)
    cleaned, valid = clean_coverage(polygons)
    assert valid
    assert cleaned[1] is None
    assert shapely.area(cleaned[[0, 2]]).sum() == pytest.approx(2)


def test_merging_gives_the_same_area_both_ways():
    polygons = make_shape_array([box(x, y, x + 1, y + 1) for x in range(4) for y in range(3)])
    assert dissolve(polygons, True).equals(dissolve(polygons, False))

"""Connected parts, against scipy's and by hand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from vbas_desktop.algorithms.region_graph import label_components


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(0, 90))
def test_parts_and_their_numbers_are_scipys(seed, nodes, edges):
    one, other = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    graph = coo_array((np.ones(edges, np.int8), (one, other)), shape=(nodes, nodes))
    expected = connected_components(graph, directed=False)
    number, part = label_components((one, other), nodes)
    assert number == expected[0]
    assert part.tolist() == expected[1].tolist()
    assert part.dtype == np.int32


def test_a_long_way_in_any_order_is_one_part():
    way = np.random.default_rng(3).permutation(5000)
    number, part = label_components((way[:-1], way[1:]), 5001)
    assert number == 2
    assert part.tolist() == [0] * 5000 + [1]


def test_no_nodes_have_no_parts():
    none = np.zeros(0, np.int64)
    number, part = label_components((none, none), 0)
    assert (number, part.size) == (0, 0)

"""Names of aggregated regions: after their members, never after counts of records."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from vbas_desktop.algorithms.region_codes import list_member_names, make_region_names
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions

PLANE = CoordinateSystem(CoordinateKind.PLANAR)


def regions_of(points, polygons=None, names=None, **columns):
    ids = tuple(f"r{number}" for number in range(len(points)))
    shapes = None if polygons is None else np.array(polygons, object)
    return Regions(
        ids, np.array(points, float), PLANE, shapes, names=names, columns={"id": ids, **columns}
    )


def test_the_largest_member_names_a_region_of_polygons():
    boxes = [shapely.box(0, 0, 1, 1), shapely.box(1, 0, 4, 1), shapely.box(4, 0, 6, 1)]
    regions = regions_of(
        [(0.5, 0.5), (2.5, 0.5), (5, 0.5)], boxes, names=("Homer", "Cortland", "Virgil")
    )
    assert make_region_names(regions, np.array([0, 0, 0])) == ("Cortland + 2",)
    assert make_region_names(regions, np.array([0, 1, 0])) == ("Virgil + 1", "Cortland")


def test_of_points_it_is_the_one_in_the_middle_then_the_first_by_id():
    regions = regions_of([(0, 0), (4, 0), (10, 0)])
    assert make_region_names(regions, np.array([0, 0, 0])) == ("r1 + 2",)
    assert make_region_names(regions, np.array([0, 0, 1])) == ("r0 + 1", "r2")


def test_a_column_names_by_what_most_members_have():
    points = [(0, 0), (1, 0), (2, 0), (3, 0), (9, 9)]
    regions = regions_of(points, county=("Tioga", "Broome", "Tioga", "", "  Essex \n county"))
    assert make_region_names(regions, np.array([0, 0, 0, 0, 1]), "county") == (
        "Tioga + 3",
        "Essex county",
    )
    assert list_member_names(regions, "county")[3] == "r3"


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="no column “town”") as refused:
        make_region_names(regions_of([(0, 0)]), np.array([0]), "town")
    assert "“id”" in refused.value.findings[0].remedy


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.integers(-9, 9)), min_size=1, max_size=12
    ),
    st.randoms(use_true_random=False),
)
def test_names_are_those_of_a_plain_count_whatever_the_order_of_the_file(members, chance):
    numbers = {
        number: place for place, number in enumerate(sorted({number for number, _, _ in members}))
    }
    rows = [
        (f"r{place}", numbers[number], letter, x) for place, (number, letter, x) in enumerate(members)
    ]

    def named(rows):
        ids, owner, letters, places = zip(*rows, strict=True)
        points = np.array([(x, 0) for x in places], float)
        regions = Regions(ids, points, PLANE, columns={"letter": letters})
        return make_region_names(regions, np.array(owner), "letter")

    names = named(rows)
    for number in numbers.values():
        own = Counter(letter for _, owner, letter, _ in rows if owner == number)
        value, _, more = names[number].partition(" + ")
        assert own[value] == max(own.values())
        assert int(more or 0) == own.total() - 1
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert named(shuffled) == names

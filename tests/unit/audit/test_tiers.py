"""The auditor's own way of finding the tiers agrees with the one that decided them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms.tier_suppression import find_release_tiers
from vbas_desktop.audit.tiers import recounted_tiers
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.tiers import NOT_RELEASED, Tiers


@st.composite
def hierarchies(draw):
    places, parents = draw(st.integers(1, 20)), []
    for _ in range(draw(st.integers(0, 3))):
        above = draw(st.integers(1, places))
        rest = draw(
            st.lists(st.integers(0, above - 1), min_size=places - above, max_size=places - above)
        )
        parents.append(np.array(draw(st.permutations([*range(above), *rest])), np.int32))
        places = above
    parents.append(np.zeros(places, np.int32))
    return Tiers(tuple(parents), ("",) * (len(parents) + 1), (None,) * (len(parents) + 1))


@settings(max_examples=300, deadline=None)
@given(tiers=hierarchies(), k=st.integers(1, 5), data=st.data())
def test_both_ways_give_the_same_tiers(tiers, k, data):
    cells = st.lists(st.sampled_from([0, 0, 0, 1, 2, 3, 4, 6]), min_size=4, max_size=4)
    matrix = np.array(
        data.draw(st.lists(cells, min_size=tiers.n_areas[0], max_size=tiers.n_areas[0])), np.int64
    )
    counts = ClassCounts.from_matrix((4,), np.arange(4), matrix)
    indptr, columns, values = counts.table.indptr, counts.table.indices, counts.table.data
    place = np.repeat(np.arange(counts.n_regions), np.diff(indptr))
    parents = [parent.astype(np.int64) for parent in tiers.parents]
    found, last = recounted_tiers(place, columns.astype(np.int64), values, parents, k)
    assert last == len(tiers) - 1
    decided = find_release_tiers(counts, tiers, k).astype(np.int64)
    assert np.where(found > last, NOT_RELEASED, found).tolist() == decided.tolist()


def test_both_ways_give_the_same_tiers_for_classes_that_many_places_lack():
    for seed in range(400):
        draw = np.random.default_rng(seed)
        middle = int(draw.integers(2, 5))
        places = middle * int(draw.integers(3, 6))
        parents = (np.arange(places, dtype=np.int32) % middle, np.zeros(middle, np.int32))
        tiers = Tiers(parents, ("",) * 3, (None,) * 3)
        k = int(draw.integers(2, 8))
        matrix = draw.integers(1, k + 2, (places, 4)) * (draw.random((places, 4)) < 0.25)
        counts = ClassCounts.from_matrix((4,), np.arange(4), matrix)
        indptr, columns, values = counts.table.indptr, counts.table.indices, counts.table.data
        place = np.repeat(np.arange(counts.n_regions), np.diff(indptr))
        own = [parent.astype(np.int64) for parent in parents]
        found, last = recounted_tiers(place, columns.astype(np.int64), values, own, k)
        decided = find_release_tiers(counts, tiers, k).astype(np.int64)
        assert np.where(found > last, NOT_RELEASED, found).tolist() == decided.tolist(), seed

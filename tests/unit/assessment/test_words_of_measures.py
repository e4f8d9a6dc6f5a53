"""How measures are read."""

import pytest

from vbas_desktop.assessment.representability.words import reading


def test_a_measure_is_explained_if_it_has_a_value():
    assert reading("jaccard", 0.5) == "Of 100 pairs of records that are alike before or after, 50 are alike both times."
    assert "geometric mean" in reading("fowlkes_mallows", 0.5)


@pytest.mark.parametrize("name", ["jaccard", "fowlkes_mallows", "precision"])
def test_nothing_is_said_of_a_measure_without_a_value(name):
    assert reading(name, None) == ""

"""How measures are read."""

import pytest

from vbas_desktop.analysis.representability.elements import explain_measure


def test_a_measure_is_explained_if_it_has_a_value():
    assert (
        explain_measure("jaccard", 0.5)
        == "Of 100 pairs of records that are alike before or after, 50 are alike both times."
    )
    assert "geometric mean" in explain_measure("fowlkes_mallows", 0.5)


@pytest.mark.parametrize("name", ["jaccard", "fowlkes_mallows", "precision"])
def test_nothing_is_said_of_a_measure_without_a_value(name):
    assert explain_measure(name, None) == ""

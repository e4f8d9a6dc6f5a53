"""Every approach in the registry, built in or not, passes the public checks; and the checks notice broken ones."""

from dataclasses import replace

import numpy as np
import pytest

from vbas_desktop.approaches.interface import (
    Metadata,
    Refinement,
    RefinementResult,
    SiteLocation,
    option,
)
from vbas_desktop.approaches.registry import COMPONENTS, create_approach, list_approaches
from vbas_desktop.approaches.testing import check_approach, list_checks

REQUIRED = {"columns": {"columns": "side"}, "given": {"file": "sides.csv"}}
"""Values of the parameters that have no default that could be right."""

APPROACHES = [
    create_approach(component, name, REQUIRED.get(name))
    for component in COMPONENTS
    for name in list_approaches(component)
]
CHECKS = [
    pytest.param(approach, check, id=f"{approach.metadata.name}-{check.__name__}")
    for approach in APPROACHES
    for check in list_checks(approach)
]


@pytest.mark.parametrize(("approach", "check"), CHECKS)
def test_approach_conforms(approach, check):
    check(approach)


@pytest.mark.parametrize("approach", APPROACHES, ids=lambda approach: approach.metadata.name)
def test_settings_recreate_an_approach_by_its_name(approach):
    again = create_approach(approach.component, approach.metadata.name, approach.settings())
    assert again == approach
    assert list_approaches(approach.component)[approach.metadata.name].component == approach.component


METADATA = Metadata("corner", "Corner", "Puts all sites into a corner.", "0", "O(1)", "Never.")


class Corner(SiteLocation):
    """All sites in a corner."""

    metadata = METADATA
    shift: float = option(0.0, label="Shift", help="How far from the corner.", ge=0.0, le=1.0)

    def locate(self, context, sites, progress):
        progress.update("Placing")
        return np.full((sites, 2), self.shift)


def test_an_approach_of_a_plug_in_can_be_checked():
    check_approach(Corner())


class Drawing(Corner):
    """Sites that nobody can find again."""

    def locate(self, context, sites, progress):
        progress.update("Placing")
        return np.random.default_rng().random((sites, 2))


class Silent(Corner):
    """Sites without a word about progress."""

    def locate(self, context, sites, progress):
        return np.zeros((sites, 2))


def broken(**changes):
    """Make a corner with changes that one rule forbids."""
    return type("Broken", (Corner,), {"__doc__": "Broken on purpose.", **changes})()


@pytest.mark.parametrize(
    ("approach", "rule"),
    [
        (broken(metadata=replace(METADATA, name="Two words")), "has a name for scripts"),
        (broken(metadata=replace(METADATA, summary="One. Two.")), "has a summary of one sentence"),
        (
            broken(metadata=replace(METADATA, when="")),
            "has title, summary, formula, complexity and when",
        ),
        (broken(__doc__=""), "has a docstring"),
        (broken(component="colour"), "belongs to a component"),
        (
            broken(locate=lambda self, context, sites, progress: np.zeros((1, 2))),
            "returns as many sites as requested",
        ),
        (
            broken(locate=lambda self, context, sites, progress: np.full((sites, 2), np.nan)),
            "returns finite",
        ),
        (Drawing(), "is deterministic"),
        (Silent(), "calls progress.update"),
        (broken(settings=lambda self: {"shift": 0.5}), "can be created from its settings"),
        (broken(from_texts=classmethod(lambda cls, values: cls())), "refuses the value"),
    ],
)
def test_a_broken_approach_is_named_with_the_rule(approach, rule):
    with pytest.raises(AssertionError, match=rule):
        check_approach(approach)


def test_a_refinement_that_loses_a_region_is_noticed():
    class Merging(Refinement):
        """Merges everything."""

        metadata = replace(METADATA, name="merging")

        def refine(self, context, owner, sites, progress):
            return RefinementResult(np.zeros_like(owner), sites)

    with pytest.raises(AssertionError, match=r"“merging” .* keeps every aggregated region .*2 sites"):
        check_approach(Merging())

"""What is true of every approach in the registry, built in or not: tests made from the declarations."""

import pickle
import re

import numpy as np
import pytest

from tests.problem_making import situation_for
from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.approaches.base import Approach
from vbas_desktop.approaches.registry import COMPONENTS, approaches, make
from vbas_desktop.engine.checks import check_tiers
from vbas_desktop.engine.outcome import outcome_of
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.progress import Cancelled, Silent

EVERY = [(component, name) for component in COMPONENTS for name in approaches(component)]
PARAMETERS = [
    (component, name, declared)
    for component, name in EVERY
    for declared in approaches(component)[name].parameters()
    if declared.kind != "approach"
]
GRID = [(x, y) for y in range(4) for x in range(5)]


def mixed(number):
    """Counts with rare classes and every third region empty."""
    return [[0, 0, 0] if i % 3 == 2 else [1 + i % 5, i % 2, 7] for i in range(number)]


SHAPES = {
    "one region": ([(3, 4)], [[5, 1]]),
    "one record": ([(0, 0), (1, 1), (2, 0)], [[0], [1], [0]]),
    "collinear points": ([(x, 2 * x) for x in range(9)], mixed(9)),
    "duplicate points": ([(0, 0), (0, 0), (1, 1), (1, 1), (1, 1)], mixed(5)),
    "all points equal": ([(2, 2)] * 6, mixed(6)),
    "empty regions": (GRID, mixed(20)),
    "cocircular points": (GRID, [[3, 1, 2]] * 20),
    "no records left": (GRID, [[0, 0]] * 20),
}


REQUIRED = {"columns": {"columns": "side"}}
"""Values of the parameters that have no default that could be right."""


class Stop:
    """Stops at the first chance."""

    def update(self, stage, fraction=None):
        raise Cancelled


class Growing:
    """Trials in which each site more loses one record more."""

    in_tiers = False
    is_simplified = False

    def __init__(self, situation):
        self.records = situation.records

    def suppressed(self, sites):
        return sites

    def penalty(self, sites):
        return 1 / sites


def answer(approach, situation, sites, progress):
    """What the approach decides, as plain data."""
    if approach.component == "site_number":
        return approach.approximate(situation), approach.decide(situation, Growing(situation))
    if approach.component == "site_location":
        places = approach.locate(situation, sites, progress)
        assert places.shape == (sites, 2)
        assert np.isfinite(places).all()
        return places.tolist()
    places = situation.points[:sites].copy()
    if approach.component == "construction":
        owner = approach.construct(situation, places, progress)
        assert owner.shape == (len(situation.regions),)
        most = sites if approach.needs_sites else len(situation.regions)
        assert ((owner >= 0) & (owner < most)).all()
        return owner.tolist()
    owner = (np.arange(len(situation.regions)) % sites).astype(np.int32)
    if approach.component == "refinement":
        refined = approach.refine(situation, owner, places, progress)
        assert set(refined.owner.tolist()) == set(owner.tolist())
        assert refined.sites.shape == (sites, 2)
        without = approach.refine(situation, owner, None, progress)
        assert without.sites is None
        assert set(without.owner.tolist()) == set(owner.tolist())
        return refined.owner.tolist(), refined.sites.tolist()
    if approach.component == "tiers":
        membership = dense_membership(owner)[0]
        arranged = approach.arrange(situation, membership, progress)
        if arranged is None:
            return None
        checked = check_tiers(arranged, int(membership.max()) + 1, approach)
        return checked.titles, checked.names, [parent.tolist() for parent in checked.parents]
    problem = type("Records", (), {"records": situation.records, "counts": situation.counts})
    return approach.rate(outcome_of(problem, situation, owner, places))


@pytest.mark.parametrize(("component", "name"), EVERY)
def test_it_is_described(component, name):
    kind = approaches(component)[name]
    card = kind.card
    assert kind.component == component
    assert card.name == name
    assert re.fullmatch(r"[a-z][a-z0-9_-]*", name)
    assert kind.__doc__
    assert not kind.__doc__.startswith(f"{kind.__name__}(")
    for text in (card.title, card.summary, card.formula, card.complexity, card.when):
        assert text.strip() == text != ""
    assert card.summary.endswith(".")
    assert ". " not in card.summary
    for declared in kind.parameters():
        assert declared.label
        assert declared.help


@pytest.mark.parametrize(("component", "name", "declared"), PARAMETERS, ids=lambda value: getattr(value, "name", value))
def test_it_rejects_what_is_out_of_bounds(component, name, declared):
    bad = ["no such choice"] if declared.choices or declared.kind is bool else []
    if declared.kind in (int, float):
        assert declared.low is not None, "a number needs bounds"
        assert declared.high is not None, "a number needs bounds"
        bad += [declared.low - 1, declared.high * 2 + 1, "many", float("nan"), float("inf"), None]
    assert bad or declared.kind is str
    for value in bad:
        with pytest.raises(InputError, match=re.escape(declared.label)):
            make(component, name, {declared.name: value})
    with pytest.raises(InputError, match="has no parameter"):
        make(component, name, {"no_such_parameter": 1})


@pytest.mark.parametrize(("component", "name"), EVERY)
def test_its_settings_make_it_again(component, name):
    approach = make(component, name)
    assert make(component, name, approach.settings()) == approach
    assert isinstance(approach, Approach)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("component", "name"), EVERY)
def test_it_works_on_awkward_data_with_few_and_many_sites(component, name, shape):
    points, matrix = SHAPES[shape]
    for sites in {1, 2, len(points)} - ({2} if len(points) == 1 else set()):
        answer(make(component, name, REQUIRED.get(name)), situation_for(points, matrix, k=3), sites, Silent())


@pytest.mark.parametrize(("component", "name"), EVERY)
def test_the_same_seed_gives_the_same_answer_after_pickling_too(component, name):
    approach = make(component, name, REQUIRED.get(name))
    copy = pickle.loads(pickle.dumps(approach))
    assert copy == approach
    situation = situation_for(GRID, mixed(20), k=3, random_seed=7)
    first = answer(approach, situation, 6, Silent())
    assert answer(approach, situation, 6, Silent()) == first
    assert answer(copy, pickle.loads(pickle.dumps(situation)), 6, Silent()) == first


@pytest.mark.parametrize(
    ("component", "name"), [each for each in EVERY if each[0] in ("site_location", "construction", "refinement")]
)
def test_it_obeys_a_stop(component, name):
    with pytest.raises(Cancelled):
        answer(make(component, name), situation_for(GRID, mixed(20), k=3), 6, Stop())

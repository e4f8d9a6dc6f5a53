"""Trials that a look ahead and its run share: nothing is made twice, and nothing depends on what was tried before."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import problem_of, problems
from vbas_desktop.approaches.base import Refined
from vbas_desktop.approaches.registry import make
from vbas_desktop.engine.advice import KeptTrials, advice_on
from vbas_desktop.engine.partitions import decide_sites
from vbas_desktop.engine.run import run
from vbas_desktop.model.problem import Request
from vbas_desktop.model.progress import Cancelled, Silent

TOWN = problem_of([(i % 5, i // 5) for i in range(20)], [[9, 1 + i % 4, i % 3] for i in range(20)], k=4)


def limit(percent):
    return make("site_number", "limit", {"allowed_loss_percent": percent})


def request_of(problem, number, location="balanced-density", **more):
    located = make("site_location", location) if isinstance(location, str) else location
    return Request(problem, number, located, make("construction", "voronoi"), **more)


def told(result):
    """All of a result that is not a time."""
    solutions = [
        (each.id, each.site_count, each.owner.tolist(), {**each.measures, "seconds": 0}, each.pareto, each.recommended)
        for each in result.solutions
    ]
    return solutions, result.findings, result.approximated_sites, result.globally_suppressed_records


class Counting(type(make("site_location", "density"))):
    """Remembers the numbers of sites that it was asked for."""

    placed: ClassVar[list[int]] = []

    def locate(self, situation, sites, progress):
        self.placed.append(sites)
        return super().locate(situation, sites, progress)


@pytest.fixture
def placed():
    Counting.placed.clear()
    return Counting.placed


def test_the_run_tries_nothing_that_the_look_ahead_tried(placed):
    kept, request = KeptTrials(), request_of(TOWN, limit(5.0), Counting(), range_reach=0)
    sites, _ = decide_sites(kept.partitions(request), Silent())
    ahead = list(placed)
    assert len(ahead) > 1
    assert run(request, kept=kept).approximated_sites == sites
    assert placed == ahead


def test_advice_begins_with_what_the_run_made(placed):
    kept, request = KeptTrials(), request_of(TOWN, make("site_number", "fixed", {"sites": 2}), Counting())
    result = run(request, kept=kept)
    assert advice_on(request, result, result.chosen, kept=kept) == advice_on(request, result, result.chosen)
    again = KeptTrials()
    placed.clear()
    run(request, kept=again)
    advice_on(request, result, result.chosen, kept=again)
    assert len(placed) == len(set(placed))


@settings(max_examples=25, deadline=None)
@given(problems(most_regions=14), st.lists(st.sampled_from([0.0, 5.0, 20.0, 100.0]), max_size=3), st.integers(2, 4))
def test_a_result_does_not_depend_on_what_was_tried_before(problem, before, seed):
    kept = KeptTrials()
    for percent in before:
        decide_sites(kept.partitions(request_of(problem, limit(percent), random_seed=seed)), Silent())
    request = request_of(problem, limit(10.0), random_seed=seed)
    partitions = kept.partitions(request)
    assert dict(partitions.tried) == {}
    assert told(run(request, kept=kept)) == told(run(request))


@pytest.mark.parametrize(
    "change",
    [{"location": "density"}, {"random_seed": 1}, {"global_suppression": False}, {"tiers": make("tiers", "auto")}],
)
def test_other_settings_share_nothing(change):
    kept = KeptTrials()
    decide_sites(kept.partitions(request_of(TOWN, limit(5.0))), Silent())
    other = request_of(TOWN, limit(5.0), **change)
    assert told(run(other, kept=kept)) == told(run(other))
    assert kept.partitions(request_of(TOWN, limit(5.0))).known is not kept.partitions(other).known


def test_what_was_stopped_half_way_is_made_again():
    kept, stops = KeptTrials(), [True]

    class Stopped(type(make("refinement", "none"))):
        def refine(self, situation, owner, sites, progress):
            return Refined(np.zeros_like(owner) if stops else owner, sites, {}, stopped=bool(stops))

    class Stopping:
        def update(self, stage, fraction=None):
            if stage == "Stopping":
                raise Cancelled

    request = request_of(TOWN, make("site_number", "fixed", {"sites": 1}), refinement=Stopped(), range_reach=0)
    with pytest.raises(Cancelled):
        run(request, Stopping(), kept=kept)
    stops.clear()
    result = run(request, kept=kept)
    assert kept.partitions(request).stopped is False
    assert told(result) == told(run(request))

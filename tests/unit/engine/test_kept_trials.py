"""Trials that a look ahead and its run share: nothing is made twice, and nothing depends on what was tried before."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import change_request, problem_of, problems
from vbas_desktop.approaches.interface import RefinementResult
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.partitions import TrialCache
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.engine.site_search import advise, choose_site_count
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled

TOWN = problem_of([(i % 5, i // 5) for i in range(20)], [[9, 1 + i % 4, i % 3] for i in range(20)], k=4)


def limit(percent):
    return create_approach("site_number", "limit", {"allowed_loss_percent": percent})


def request_of(problem, number, location="balanced-density", **more):
    located = create_approach("site_location", location) if isinstance(location, str) else location
    request = Request(problem, number, located, create_approach("construction", "voronoi"))
    return change_request(request, **more)


def told(result):
    """All of a result that is not a time."""
    solutions = [
        (
            each.id,
            each.site_count,
            each.owner.tolist(),
            {**each.measures, "seconds": 0},
            each.pareto,
            each.recommended,
        )
        for each in result.solutions
    ]
    return solutions, result.findings, result.approximated_sites, result.globally_suppressed_records


class Counting(type(create_approach("site_location", "density"))):
    """Remembers the numbers of sites that it was asked for."""

    placed: ClassVar[list[int]] = []

    def locate(self, context, sites, progress):
        self.placed.append(sites)
        return super().locate(context, sites, progress)


@pytest.fixture
def placed():
    Counting.placed.clear()
    return Counting.placed


def test_the_run_tries_nothing_that_the_look_ahead_tried(placed):
    kept, request = TrialCache(), request_of(TOWN, limit(5.0), Counting(), range_reach=0)
    sites, _ = choose_site_count(kept.partitions(request), NO_PROGRESS)
    ahead = list(placed)
    assert len(ahead) > 1
    assert run(request, trials=kept).approximated_sites == sites
    assert placed == ahead


def test_advice_begins_with_what_the_run_made(placed):
    kept, request = (
        TrialCache(),
        request_of(TOWN, create_approach("site_number", "fixed", {"sites": 2}), Counting()),
    )
    result = run(request, trials=kept)
    assert advise(request, result, result.chosen, trials=kept) == advise(request, result, result.chosen)
    again = TrialCache()
    placed.clear()
    run(request, trials=again)
    advise(request, result, result.chosen, trials=again)
    assert len(placed) == len(set(placed))


@settings(max_examples=25, deadline=None)
@given(
    problems(most_regions=14),
    st.lists(st.sampled_from([0.0, 5.0, 20.0, 100.0]), max_size=3),
    st.integers(2, 4),
)
def test_a_result_does_not_depend_on_what_was_tried_before(problem, before, seed):
    kept = TrialCache()
    for percent in before:
        choose_site_count(
            kept.partitions(request_of(problem, limit(percent), random_seed=seed)), NO_PROGRESS
        )
    request = request_of(problem, limit(10.0), random_seed=seed)
    partitions = kept.partitions(request)
    assert dict(partitions.tried) == {}
    assert told(run(request, trials=kept)) == told(run(request))


@pytest.mark.parametrize(
    "change",
    [
        {"location": "density"},
        {"random_seed": 1},
        {"global_suppression": False},
        {"tiers": create_approach("tiers", "auto")},
    ],
)
def test_other_settings_share_nothing(change):
    kept = TrialCache()
    choose_site_count(kept.partitions(request_of(TOWN, limit(5.0))), NO_PROGRESS)
    other = request_of(TOWN, limit(5.0), **change)
    assert told(run(other, trials=kept)) == told(run(other))
    assert kept.partitions(request_of(TOWN, limit(5.0))).cache is not kept.partitions(other).cache


def test_what_was_stopped_half_way_is_made_again():
    kept, stops = TrialCache(), [True]

    class Stopped(type(create_approach("refinement", "none"))):
        def refine(self, context, owner, sites, progress):
            return RefinementResult(
                np.zeros_like(owner) if stops else owner, sites, {}, stopped=bool(stops)
            )

    class Stopping:
        def update(self, stage, fraction=None):
            if stage == "Stopping":
                raise Cancelled

    request = request_of(
        TOWN, create_approach("site_number", "fixed", {"sites": 1}), refinement=Stopped(), range_reach=0
    )
    with pytest.raises(Cancelled):
        run(request, Stopping(), trials=kept)
    stops.clear()
    result = run(request, trials=kept)
    assert kept.partitions(request).stopped is False
    assert told(result) == told(run(request))

"""Refinements in a run: what solutions keep of them, stops, threads, broken ones."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.problem_making import problem_of
from vbas_desktop.approaches.base import Card, Refined, Refinement
from vbas_desktop.approaches.registry import make
from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.problem import Request
from vbas_desktop.domain.progress import Cancelled
from vbas_desktop.engine.run import run
from vbas_desktop.files.solutions import solution_from_json, solution_to_json


def grid_problem(side=9, classes=25):
    generator = np.random.default_rng(5)
    points = [(x + y / 20, y) for y in range(side) for x in range(side)]
    return problem_of(points, generator.poisson(1.0, (side * side, classes)), k=5)


def request_of(refinement, sites=9, **changes):
    number, location = make("site_number", "fixed", {"sites": sites}), make("site_location", "balanced-density")
    voronoi = make("construction", "voronoi")
    return Request(grid_problem(), number, location, voronoi, range_reach=0, refinement=refinement, **changes)


def test_boundaries_suppress_less_and_tell_how_the_regions_were_before():
    (plain,) = run(request_of(None)).solutions
    (refined,) = run(request_of(make("refinement", "boundaries"))).solutions
    told = refined.told["boundaries"]
    assert told["suppressed_before"] == plain.suppressed_local
    assert told["suppressed_after"] == refined.suppressed_local < 0.8 * plain.suppressed_local
    middle = "alternative_average_distance"
    assert refined.measures[middle] <= 1.05 * plain.measures[middle] + 1e-9
    assert refined.measures["regions_in_pieces"] == 0
    assert refined.unrefined.owner.tolist() == plain.owner.tolist()
    assert refined.unrefined.sites.tolist() == plain.sites.tolist()
    assert told["moved_regions"] == np.count_nonzero(refined.owner != plain.owner) > 0
    assert refined.aggregated_regions == plain.aggregated_regions
    assert refined.approaches["refinement"] == "boundaries"
    assert refined.parameters["refinement"] == {"effort": 1000, "weight": 0.1, "longer_percent": 5.0}
    assert not told["stopped"]


def test_none_is_the_same_as_no_refinement():
    (plain,) = run(request_of(None)).solutions
    (none,) = run(request_of(make("refinement", "none"))).solutions
    assert none.owner.tolist() == plain.owner.tolist()
    assert none.unrefined is None
    assert plain.approaches["refinement"] == none.approaches["refinement"] == "none"


def test_one_thread_and_two_give_the_same_solutions():
    request = replace(request_of(make("refinement", "boundaries", {"effort": 50})), range_reach=2, random_seed=3)
    one, two = (run(replace(request, workers=workers)).solutions for workers in (1, 2))
    assert len(one) == 5
    for a, b in zip(one, two, strict=True):
        assert a.owner.tolist() == b.owner.tolist()
        assert a.sites.tolist() == b.sites.tolist()


@dataclass
class StopWhileRefining:
    """Stops, and stays stopped, once boundaries were looked at so often."""

    left: int

    def update(self, stage, fraction=None):
        if stage.startswith("Moving boundaries"):
            self.left -= 1
        if self.left <= 0:
            raise Cancelled


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_keeps_the_best_of_the_solution_under_way_and_ends_the_run(workers):
    request = replace(request_of(make("refinement", "boundaries")), range_reach=1, workers=workers)
    kept = []
    with pytest.raises(Cancelled):
        run(request, StopWhileRefining(150), kept.append)
    assert 1 <= len(kept) <= workers
    for solution in kept:
        told = solution.told["boundaries"]
        assert told["stopped"]
        assert solution.suppressed_local == told["suppressed_after"] <= told["suppressed_before"]
        assert solution.measures["suppressed_records"] == solution.suppressed_global + solution.suppressed_local


def test_a_run_of_one_solution_that_was_stopped_is_a_stopped_run():
    kept = []
    with pytest.raises(Cancelled):
        run(request_of(make("refinement", "boundaries")), StopWhileRefining(20), kept.append)
    assert len(kept) == 1


def test_what_was_before_is_kept_in_projects_and_may_be_missing():
    (refined,) = run(request_of(make("refinement", "boundaries", {"effort": 20}))).solutions
    data = solution_to_json(refined)
    again = solution_from_json(data)
    assert again.unrefined.owner.tolist() == refined.unrefined.owner.tolist()
    assert again.unrefined.sites.tolist() == refined.unrefined.sites.tolist()
    assert again.told == refined.told
    del data["unrefined"]
    assert solution_from_json(data).unrefined is None


class Dissolving(Refinement):
    card = Card("dissolving", "Dissolving", "Leaves one region only.")

    def refine(self, situation, owner, sites, progress):
        return Refined(np.zeros_like(owner), sites)


def test_a_refinement_that_dissolves_regions_is_named():
    with pytest.raises(InputError, match="“Dissolving” did not keep every aggregated region"):
        run(request_of(Dissolving()))


def test_the_largest_number_within_the_loss_is_found_with_the_refinement():
    limit = make("site_number", "limit", {"allowed_loss_percent": 5.0})
    numbers = {}
    for name in ("none", "boundaries"):
        result = run(replace(request_of(make("refinement", name)), site_number=limit))
        numbers[name] = result.approximated_sites
        assert result.chosen.suppressed_records <= 0.05 * grid_problem().records
    assert numbers["boundaries"] > numbers["none"]

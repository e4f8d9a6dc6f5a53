"""Refinements in a run: what solutions keep of them, stops, threads, broken ones."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.problem_making import change_request, problem_of
from vbas_desktop.approaches.interface import Metadata, Refinement, RefinementResult
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine import partitions
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.documents.solutions import solution_from_json, solution_to_json
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Cancelled


def grid_problem(side=9, classes=25):
    generator = np.random.default_rng(5)
    points = [(x + y / 20, y) for y in range(side) for x in range(side)]
    return problem_of(points, generator.poisson(1.0, (side * side, classes)), k=5)


def request_of(refinement, sites=9, **changes):
    number, location = (
        create_approach("site_number", "fixed", {"sites": sites}),
        create_approach("site_location", "balanced-density"),
    )
    voronoi = create_approach("construction", "voronoi")
    request = Request(grid_problem(), number, location, voronoi, refinement=refinement)
    return change_request(request, range_reach=0, **changes)


def test_boundaries_suppress_less_and_tell_how_the_regions_were_before():
    (plain,) = run(request_of(None)).solutions
    (refined,) = run(request_of(create_approach("refinement", "boundaries"))).solutions
    told = refined.diagnostics["boundaries"]
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
    (none,) = run(request_of(create_approach("refinement", "none"))).solutions
    assert none.owner.tolist() == plain.owner.tolist()
    assert none.unrefined is None
    assert plain.approaches["refinement"] == none.approaches["refinement"] == "none"


MOVED = {"boundaries": "Moving boundaries", "refine-sites": "Moving sites", "adc": "Moving sites"}


def searching(name, **changes):
    """A request with one of the searches by annealing."""
    if name == "boundaries":
        return request_of(create_approach("refinement", name), **changes)
    values = {} if name == "refine-sites" else {"objective": "suppression", "change_percent": 20.0}
    return replace(
        request_of(None, **changes), site_location=create_approach("site_location", name, values)
    )


@pytest.mark.parametrize("name", MOVED)
def test_one_thread_and_two_give_the_same_solutions(name):
    request = change_request(searching(name), range_reach=2, random_seed=3)
    one, two = (run(change_request(request, workers=workers)).solutions for workers in (1, 2))
    assert len(one) == 5
    for a, b in zip(one, two, strict=True):
        assert a.owner.tolist() == b.owner.tolist()
        assert a.sites.tolist() == b.sites.tolist()
        assert a.diagnostics == b.diagnostics
    other = run(change_request(request, random_seed=4)).solutions
    assert [a.owner.tolist() for a in one] != [b.owner.tolist() for b in other]


@dataclass
class StopWhileRefining:
    """Stops, and stays stopped, once a search was looked at so often."""

    left: int
    stage: str = MOVED["boundaries"]

    def update(self, stage, fraction=None):
        if stage.startswith(self.stage):
            self.left -= 1
        if self.left <= 0:
            raise Cancelled


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", MOVED)
def test_a_stop_keeps_the_best_of_the_solution_under_way_and_ends_the_run(name, workers):
    request = change_request(searching(name), range_reach=1, workers=workers)
    kept = []
    with pytest.raises(Cancelled):
        run(request, StopWhileRefining(150, MOVED[name]), kept.append)
    assert 1 <= len(kept) <= workers
    for solution in kept:
        told = solution.diagnostics[name]
        assert told["stopped"]
        assert solution.suppressed_local == told["suppressed_after"] <= told["suppressed_before"]
        assert (
            solution.measures["suppressed_records"]
            == solution.suppressed_global + solution.suppressed_local
        )
    # The workers share the looks: if one of them takes them all, the other is stopped before its first try.
    assert sum(solution.diagnostics[name]["tries"] for solution in kept) > 0


@pytest.mark.parametrize("name", MOVED)
def test_a_stop_before_the_first_try_keeps_the_solution_that_the_search_starts_from(name):
    (start,) = run(request_of(None)).solutions
    kept = []
    with pytest.raises(Cancelled):
        run(searching(name, workers=1), StopWhileRefining(1, MOVED[name]), kept.append)
    (solution,) = kept
    told = solution.diagnostics[name]
    assert (told["tries"], told["moves"], told["stopped"]) == (0, 0, True)
    assert (
        told["suppressed_before"]
        == told["suppressed_after"]
        == solution.suppressed_local
        == start.suppressed_local
    )
    assert solution.owner.tolist() == start.owner.tolist()
    assert solution.unrefined is None


def test_adc_finds_the_number_of_sites_that_the_allowed_loss_permits():
    (plain,) = run(request_of(None)).solutions
    found = {}
    for allowed in (0.2, 20.0):
        values = {"objective": "suppression", "change_percent": 40.0, "allowed_loss_percent": allowed}
        (found[allowed],) = run(
            replace(request_of(None), site_location=create_approach("site_location", "adc", values))
        ).solutions
        solution, told = found[allowed], found[allowed].diagnostics["adc"]
        assert told["sites_before"] == solution.site_count == 9
        assert told["sites_after"] == len(solution.sites) == solution.aggregated_regions
        assert solution.suppressed_local == told["suppressed_after"]
    records = grid_problem().records
    assert found[20.0].aggregated_regions == 12
    assert found[20.0].suppressed_local <= 0.2 * records
    assert 6 <= found[0.2].aggregated_regions < 9
    assert found[0.2].suppressed_local < plain.suppressed_local
    again = solution_from_json(solution_to_json(found[0.2]))
    assert again.sites.tolist() == found[0.2].sites.tolist()


def test_adc_with_both_objectives_begins_where_the_thesis_ends_and_may_leave_sites_without_regions():
    populations = grid_problem().counts.region_totals
    found = {}
    for objective in ("thesis", "both"):
        # Density makes uneven regions: the same sum of squares then allows fewer, even ones.
        values = {"objective": objective, "seeding": create_approach("site_location", "density")}
        location = create_approach("site_location", "adc", values)
        request = change_request(request_of(None), site_location=location, range_reach=1)
        one, two = (run(change_request(request, workers=workers)).solutions for workers in (1, 2))
        assert [a.owner.tolist() for a in one] == [b.owner.tolist() for b in two]
        assert [a.diagnostics for a in one] == [b.diagnostics for b in two]
        found[objective] = one
    fewer = 0
    for thesis, both in zip(found["thesis"], found["both"], strict=True):
        told = both.diagnostics["adc"]["further"]
        assert told["suppressed_before"] == thesis.suppressed_local
        assert told["suppressed_after"] == both.suppressed_local < thesis.suppressed_local
        assert told["sites_before"] == both.site_count == thesis.site_count
        assert (
            told["sites_after"]
            == len(both.sites)
            == both.aggregated_regions
            <= thesis.aggregated_regions
        )
        squares = [(np.bincount(solution.owner, populations) ** 2).sum() for solution in (thesis, both)]
        assert squares[1] <= squares[0]
        fewer += both.aggregated_regions < thesis.aggregated_regions
        assert thesis.diagnostics["adc"].items() <= both.diagnostics["adc"].items()
    assert fewer


def test_what_starts_from_sites_whose_number_changes_may_change_it_too():
    values = {"objective": "suppression", "change_percent": 40.0, "allowed_loss_percent": 20.0}
    seeding = create_approach("site_location", "adc", values)
    location = create_approach("site_location", "centroidal", {"seeding": seeding})
    (solution,) = run(replace(request_of(None), site_location=location)).solutions
    assert location.changes_number
    assert len(solution.sites) == 12


def test_a_run_of_one_solution_that_was_stopped_is_a_stopped_run():
    kept = []
    with pytest.raises(Cancelled):
        run(request_of(create_approach("refinement", "boundaries")), StopWhileRefining(20), kept.append)
    assert len(kept) == 1


def test_what_was_before_is_kept_in_projects_and_may_be_missing():
    (refined,) = run(request_of(create_approach("refinement", "boundaries", {"effort": 20}))).solutions
    data = solution_to_json(refined)
    again = solution_from_json(data)
    assert again.unrefined.owner.tolist() == refined.unrefined.owner.tolist()
    assert again.unrefined.sites.tolist() == refined.unrefined.sites.tolist()
    assert again.diagnostics == refined.diagnostics
    del data["unrefined"]
    assert solution_from_json(data).unrefined is None


class Dissolving(Refinement):
    metadata = Metadata("dissolving", "Dissolving", "Leaves one region only.")

    def refine(self, context, owner, sites, progress):
        return RefinementResult(np.zeros_like(owner), sites)


def test_a_refinement_that_dissolves_regions_is_named():
    with pytest.raises(InputError, match="“Dissolving” did not keep every aggregated region"):
        run(request_of(Dissolving()))


def test_the_largest_number_within_the_loss_is_found_with_the_refinement():
    limit = create_approach("site_number", "limit", {"allowed_loss_percent": 5.0})
    numbers = {}
    for name in ("none", "boundaries"):
        result = run(replace(request_of(create_approach("refinement", name)), site_number=limit))
        numbers[name] = result.approximated_sites
        assert result.chosen.suppressed_records <= 0.05 * grid_problem().records
    assert numbers["boundaries"] > numbers["none"]


def within_sides(name, **changes):
    """The same search within boundaries, of which there are three."""
    request = change_request(searching(name, **changes), within=("side",), workers=1)
    regions = request.problem.regions
    sides = tuple(f"s{number % 3}" for number in range(len(regions)))
    return replace(
        request, problem=replace(request.problem, regions=replace(regions, labels={"side": sides}))
    )


@pytest.mark.parametrize("name", MOVED)
def test_a_stop_within_one_boundary_keeps_a_whole_solution(name):
    request = change_request(within_sides(name, sites=9), range_reach=1)
    whole, kept = run(request).solutions, []
    with pytest.raises(Cancelled):
        run(request, StopWhileRefining(40, MOVED[name]), kept.append)
    assert 1 <= len(kept) < len(whole)
    *finished, last = kept
    for mine, theirs in zip(finished, whole, strict=False):
        assert mine.owner.tolist() == theirs.owner.tolist()
        assert mine.diagnostics == theirs.diagnostics
    assert last.diagnostics[name]["stopped"]
    assert last.diagnostics[name] != whole[len(finished)].diagnostics[name]
    sides = np.array(request.problem.regions.labels["side"])
    assert all(
        len(set(sides[last.membership == group])) == 1 for group in range(last.aggregated_regions)
    )
    assert sum(last.diagnostics["limits"]["part_sites"]) == len(last.sites)
    assert last.released_records + last.suppressed_records == request.problem.records
    matrix = request.problem.counts.table.toarray()
    counts = np.zeros((last.aggregated_regions, matrix.shape[1]), np.int64)
    np.add.at(counts, last.membership, matrix)
    assert last.released_records == counts[counts >= request.problem.k].sum()


def test_what_cannot_be_completed_in_time_is_not_kept_half(monkeypatch):
    monkeypatch.setattr(partitions, "_GRACE_SECONDS", -1.0)
    kept = []
    with pytest.raises(Cancelled):
        run(within_sides("boundaries"), StopWhileRefining(3), kept.append)
    assert kept == []


@pytest.mark.parametrize(("left", "finished"), [(2, 0), (4, 1), (5, 2)])
def test_a_stop_before_any_search_keeps_what_is_finished_and_nothing_else(left, finished):
    request = change_request(within_sides("boundaries"), refinement=None, range_reach=2)
    whole, kept = run(request).solutions, []
    with pytest.raises(Cancelled):
        run(request, StopWhileRefining(left, "Merging regions"), kept.append)
    assert [each.owner.tolist() for each in kept] == [each.owner.tolist() for each in whole[: len(kept)]]
    # Three parts are merged for the first number of sites; the next number changes one of them.
    assert len(kept) == finished

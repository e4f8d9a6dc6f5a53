"""The allowed loss with searches that refine a partition: few passes, and never more loss than is allowed."""

from pathlib import Path

import pytest

from tests.problem_making import change_request
from vbas_desktop.algorithms.site_counts import MAX_PASSES, max_suppressed, search_largest_within
from vbas_desktop.approaches.refinement.boundaries import BoundariesRefinement
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.approaches.site_location.refine_sites import RefineSitesSiteLocation
from vbas_desktop.engine.outcome import build_context
from vbas_desktop.engine.partitions import PartitionBuilder
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.progress import NO_PROGRESS

SAMPLE = Path(__file__).parents[3] / "sample_data"


@pytest.fixture(scope="module")
def problem():
    table = load_records(SAMPLE / "records.csv")
    regions = load_regions(SAMPLE / "regions.geojson")
    columns = ("age", "sex", "marital_status")
    return build_problem(table, regions, region_column="tract", quasi_identifiers=columns, k=5)


def request_of(problem, name, aim="finest", **more):
    location = create_approach("site_location", name if name == "refine-sites" else "balanced-density")
    refinement = create_approach("refinement", name) if name == "boundaries" else None
    number = create_approach("site_number", "limit", {"aim": aim})
    construction = create_approach("construction", "voronoi")
    request = Request(problem, number, location, construction, refinement=refinement)
    return change_request(request, range_reach=0, **more)


@pytest.fixture
def passes(monkeypatch):
    """The numbers of sites that were refined."""
    refined = []
    locate, refine = RefineSitesSiteLocation.locate_with_diagnostics, BoundariesRefinement.refine

    def locating(self, context, sites, progress):
        refined.append(sites)
        return locate(self, context, sites, progress)

    def refining(self, context, owner, sites, progress):
        refined.append(len(sites))
        return refine(self, context, owner, sites, progress)

    monkeypatch.setattr(RefineSitesSiteLocation, "locate_with_diagnostics", locating)
    monkeypatch.setattr(BoundariesRefinement, "refine", refining)
    return refined


@pytest.mark.parametrize("name", ["refine-sites", "boundaries"])
def test_three_refinements_find_what_refining_every_trial_finds(problem, passes, name):
    request, allowed = request_of(problem, name), max_suppressed(problem.records, 1.0)
    (solution,) = run(request).solutions
    assert len(passes) == len(set(passes)) <= MAX_PASSES
    assert solution.site_count in passes
    assert solution.suppressed_records <= allowed
    every = PartitionBuilder(request, build_context(problem)[0])
    best = search_largest_within(
        lambda sites: every.count_suppressed(sites, NO_PROGRESS), allowed, len(problem.regions), 50
    )
    assert solution.site_count == pytest.approx(best, rel=0.05)
    unrefined = PartitionBuilder(request, build_context(problem)[0]).trials
    assert solution.site_count > search_largest_within(
        lambda sites: unrefined.count_suppressed(sites, NO_PROGRESS), allowed, len(problem.regions), 50
    )


@pytest.mark.parametrize("name", ["refine-sites", "boundaries"])
def test_the_aim_of_the_least_loss_counts_what_refinement_saves(problem, passes, name):
    (finest,) = run(request_of(problem, name)).solutions
    passes.clear()
    (least,) = run(request_of(problem, name, "least-loss")).solutions
    assert len(passes) == len(set(passes)) <= MAX_PASSES
    assert least.suppressed_records <= max_suppressed(problem.records, 1.0)
    assert least.measures["certainty_penalty"] < finest.measures["certainty_penalty"]


def test_an_approach_that_starts_from_a_search_is_tried_without_it():
    refined = create_approach("site_location", "refine-sites", {"seeding": "density"})
    assert refined.without_search == create_approach("site_location", "density")
    within = create_approach("site_location", "centroidal", {"seeding": refined})
    assert within.without_search == create_approach(
        "site_location", "centroidal", {"seeding": "density"}
    )
    plain = create_approach("site_location", "centroidal")
    assert plain.without_search is plain
    contiguous = create_approach("refinement", "contiguous")
    assert contiguous.without_search is contiguous

"""The allowed loss with searches that refine a partition: few passes, and never more loss than is allowed."""

from pathlib import Path

import pytest

from vbas_desktop.algorithms.site_numbers import MOST_PASSES, allowed_records, largest_within
from vbas_desktop.approaches.refinement.boundaries import BoundariesRefinement
from vbas_desktop.approaches.registry import make
from vbas_desktop.approaches.site_location.refine_sites import RefineSitesSiteLocation
from vbas_desktop.engine.outcome import situation_of
from vbas_desktop.engine.partitions import Partitions
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.table import load_records
from vbas_desktop.io.regions.read import load_regions
from vbas_desktop.model.problem import Request
from vbas_desktop.model.progress import SILENT

SAMPLE = Path(__file__).parents[3] / "sample_data"


@pytest.fixture(scope="module")
def problem():
    table = load_records(SAMPLE / "records.csv")
    regions = load_regions(SAMPLE / "regions.geojson")
    columns = ("age", "sex", "marital_status")
    return build_problem(table, regions, region_column="tract", quasi_identifiers=columns, k=5)


def request_of(problem, name, aim="finest", **more):
    location = make("site_location", name if name == "refine-sites" else "balanced-density")
    refinement = make("refinement", name) if name == "boundaries" else None
    number = make("site_number", "limit", {"aim": aim})
    construction = make("construction", "voronoi")
    return Request(problem, number, location, construction, refinement=refinement, range_reach=0, **more)


@pytest.fixture
def passes(monkeypatch):
    """The numbers of sites that were refined."""
    refined = []
    locate, refine = RefineSitesSiteLocation.locate_and_tell, BoundariesRefinement.refine

    def locating(self, situation, sites, progress):
        refined.append(sites)
        return locate(self, situation, sites, progress)

    def refining(self, situation, owner, sites, progress):
        refined.append(len(sites))
        return refine(self, situation, owner, sites, progress)

    monkeypatch.setattr(RefineSitesSiteLocation, "locate_and_tell", locating)
    monkeypatch.setattr(BoundariesRefinement, "refine", refining)
    return refined


@pytest.mark.parametrize("name", ["refine-sites", "boundaries"])
def test_three_refinements_find_what_refining_every_trial_finds(problem, passes, name):
    request, allowed = request_of(problem, name), allowed_records(problem.records, 1.0)
    (solution,) = run(request).solutions
    assert len(passes) == len(set(passes)) <= MOST_PASSES
    assert solution.site_count in passes
    assert solution.suppressed_records <= allowed
    every = Partitions(request, situation_of(problem)[0])
    best = largest_within(lambda sites: every.suppressed(sites, SILENT), allowed, len(problem.regions), 50)
    assert solution.site_count == pytest.approx(best, rel=0.05)
    unrefined = Partitions(request, situation_of(problem)[0]).trials
    assert solution.site_count > largest_within(
        lambda sites: unrefined.suppressed(sites, SILENT), allowed, len(problem.regions), 50
    )


@pytest.mark.parametrize("name", ["refine-sites", "boundaries"])
def test_the_aim_of_the_least_loss_counts_what_refinement_saves(problem, passes, name):
    (finest,) = run(request_of(problem, name)).solutions
    passes.clear()
    (least,) = run(request_of(problem, name, "least-loss")).solutions
    assert len(passes) == len(set(passes)) <= MOST_PASSES
    assert least.suppressed_records <= allowed_records(problem.records, 1.0)
    assert least.measures["certainty_penalty"] < finest.measures["certainty_penalty"]


def test_an_approach_that_starts_from_a_search_is_tried_without_it():
    refined = make("site_location", "refine-sites", {"seeding": "density"})
    assert refined.without_search == make("site_location", "density")
    within = make("site_location", "centroidal", {"seeding": refined})
    assert within.without_search == make("site_location", "centroidal", {"seeding": "density"})
    plain = make("site_location", "centroidal")
    assert plain.without_search is plain
    contiguous = make("refinement", "contiguous")
    assert contiguous.without_search is contiguous

"""What a refinement handed over between aggregated regions, against counting everything anew."""

from dataclasses import replace

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.problem_making import problem_of
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.region_table import RegionTransfer, describe_transfers, list_transfers
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.settings.run import RunSettings


def refined(seed, refinement="boundaries"):
    generator = np.random.default_rng(seed)
    points = [(x + y / 20, y) for y in range(7) for x in range(7)]
    problem = problem_of(points, generator.poisson(1.0, (49, 15)), k=5)
    number, location = (
        create_approach("site_number", "fixed", {"sites": 6}),
        create_approach("site_location", "balanced-density"),
    )
    request = Request(
        problem,
        number,
        location,
        create_approach("construction", "voronoi"),
        settings=RunSettings(range_reach=0),
    )
    values = {"effort": 60} if refinement == "boundaries" else {}
    return problem, run(
        replace(request, refinement=create_approach("refinement", refinement, values))
    ).solutions[0]


def suppressed(problem, owner):
    sizes = np.zeros((owner.max() + 1, problem.counts.n_combinations), int)
    for group, row in zip(owner, problem.counts.table.toarray(), strict=True):
        sizes[group] += row
    return int(sizes[sizes < problem.k].sum())


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000))
@example(0)  # Moves 5 regions.
@example(4)  # Moves sites only.
@example(15)  # Finds nothing better than the start.
@example(819)  # Makes moves, but none that is better than the start.
def test_what_was_kept_is_what_handing_back_would_cost(seed):
    problem, solution = refined(seed)
    used = solution.owners_used.tolist()
    start = refined(seed, "none")[1]
    before = start.owner
    now = suppressed(problem, solution.owner)
    gained = given = 0
    for region, owner in enumerate(used):
        for each in list_transfers(problem, solution, region):
            here, there = (owner, used[each.other]) if each.gained else (used[each.other], owner)
            part = (solution.owner == here) & (before == there)
            assert each.regions == part.sum() > 0
            back = solution.owner.copy()
            back[part] = there
            assert each.saved_records == suppressed(problem, back) - now
            gained, given = gained + each.regions * each.gained, given + each.regions * (not each.gained)
    moved = np.count_nonzero(before != solution.owner)
    assert gained == given == moved == solution.diagnostics["boundaries"]["moved_regions"]
    # Sites may move to the middle of regions that stay as they are.
    unchanged = moved == 0 and np.array_equal(solution.sites, start.sites)
    assert (solution.unrefined is None) == unchanged


def test_a_refinement_that_finds_nothing_better_hands_nothing_over():
    problem, solution = refined(15)
    assert solution.unrefined is None
    assert solution.diagnostics["boundaries"]["moved_regions"] == 0
    assert all(
        list_transfers(problem, solution, region) == () for region in range(solution.aggregated_regions)
    )


def test_nothing_is_told_without_a_refinement():
    problem, solution = refined(1, "none")
    assert list_transfers(problem, solution, 0) == ()


def test_sentences_say_where_from_and_what_for():
    found = (
        RegionTransfer(1, 2, gained=True, saved_records=14),
        RegionTransfer(2, 1, gained=True, saved_records=1),
        RegionTransfer(0, 1, gained=False, saved_records=0),
        RegionTransfer(3, 3, gained=False, saved_records=-2),
        RegionTransfer(4, 1, gained=False, saved_records=None),
        RegionTransfer(5, 2, gained=False, saved_records=3),
        RegionTransfer(6, 1, gained=False, saved_records=3),
    )
    assert describe_transfers(found, tuple(f"A{number:02}" for number in range(7)), 5) == (
        "2 initial regions came from A01 because 14 records fewer are suppressed.",
        "1 initial region came from A02 because 1 record fewer is suppressed.",
        "1 initial region went to A00; by itself that keeps no record.",
        "3 initial regions went to A03; by itself that costs 2 records, but other moves build on it.",
        "1 initial region went to A04.",
        "3 more came from or went to 2 other neighbours.",
    )

"""Limits of aggregated regions: boundaries always hold, wishes as far as they can, whatever made the regions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.problem_making import change_request, problem_of, problems
from vbas_desktop.approaches.interface import Construction, Metadata, Refinement, RefinementResult
from vbas_desktop.approaches.registry import create_approach, list_approaches
from vbas_desktop.engine.comparison.plan import ComparisonPlan
from vbas_desktop.engine.comparison.run import build_cache_key
from vbas_desktop.engine.constraint_zones import Zones
from vbas_desktop.engine.constraints import (
    CONSTRAINT_DIAGNOSTICS,
    constraint_cache_key,
    resolve_constraints,
)
from vbas_desktop.engine.loss import count_suppressed_in_tiers
from vbas_desktop.engine.outcome import build_context
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.run import RunSettings


class OneConstruction(Construction):
    """As a plug-in may be: everything is one region."""

    metadata: ClassVar[Metadata] = Metadata(name="one", title="One", summary="All in one.")

    def build_partition(self, context, sites, progress):
        return np.zeros(len(context.regions), np.int32)


class TurnRefinement(Refinement):
    """As a plug-in may be: every region but the first of each group goes to the next group."""

    metadata: ClassVar[Metadata] = Metadata(name="turn", title="Turn", summary="Hands over.")

    def refine(self, context, owner, sites, progress):
        used, member = np.unique(owner, return_inverse=True)
        _, first = np.unique(owner, return_index=True)
        turned = used[(member + 1) % used.size].astype(np.int32)
        turned[first] = owner[first]
        return RefinementResult(turned, sites)


CONSTRUCTIONS = {
    # “Given” refuses what limits would change; see test_given.
    **{
        name: create_approach("construction", name)
        for name in list_approaches("construction")
        if name != "given"
    },
    "one": OneConstruction(),
}
REFINEMENTS = {
    "none": None,
    "contiguous": create_approach("refinement", "contiguous"),
    "boundaries": create_approach("refinement", "boundaries", {"effort": 3}),
    "turn": TurnRefinement(),
}
LOCATIONS = {
    "balanced-density": create_approach("site_location", "balanced-density"),
    "adc": create_approach("site_location", "adc"),
    "refine-sites": create_approach("site_location", "refine-sites", {"effort": 3}),
}


@st.composite
def limited(draw):
    """A problem whose regions have a county, a district in it, people, and perhaps a mark; and limits."""
    problem = draw(problems(most_regions=14))
    number = len(problem.regions)
    county = draw(st.lists(st.sampled_from("ABC"), min_size=number, max_size=number))
    side = draw(st.lists(st.sampled_from("xy"), min_size=number, max_size=number))
    people = draw(st.lists(st.sampled_from([0, 1, 5, 20]), min_size=number, max_size=number))
    mark = draw(st.lists(st.sampled_from(["", "0", "yes"]), min_size=number, max_size=number))
    regions = replace(
        problem.regions,
        labels={"county": tuple(county), "side": tuple(side), "mark": tuple(mark)},
        numbers={"people": np.array(people, float)},
    )
    least, most = draw(st.sampled_from([0, 3, 12])), draw(st.sampled_from([0, 12, 30]))
    wanted = RegionConstraints(
        within=draw(st.sampled_from([(), ("county",), ("county", "side")])),
        alone=draw(st.sampled_from([(), ("r0",)])),
        alone_column=draw(st.sampled_from([None, "mark"])),
        min_records=draw(st.sampled_from([0, 4, 50])),
        max_records=draw(st.sampled_from([0, 60])),
        population_column="people",
        min_population=least,
        max_population=most,
        centre_weights=draw(st.sampled_from([None, "people"])),
    )
    return replace(problem, regions=regions), wanted


def request_of(problem, wanted, **other):
    given = {
        "site_number": create_approach("site_number", "fixed", {"sites": 4}),
        "site_location": LOCATIONS["balanced-density"],
        "construction": CONSTRUCTIONS["voronoi"],
        "range_reach": 0,
        "workers": 1,
        **(wanted.option_values() if wanted else {}),
        **other,
    }
    parts = {name: given.pop(name) for name in ("site_number", "site_location", "construction")}
    return change_request(Request(problem, **parts), **given)


def groups_of(membership):
    found = defaultdict(list)
    for region, group in enumerate(membership.tolist()):
        found[group].append(region)
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    limited(),
    st.sampled_from(sorted(CONSTRUCTIONS)),
    st.sampled_from(sorted(REFINEMENTS)),
    st.sampled_from(sorted(LOCATIONS)),
    st.sampled_from(["none", "auto"]),
    st.integers(1, 14),
)
def test_no_aggregated_region_crosses_a_boundary_whatever_made_it(
    made, construction, refinement, location, tiers, s
):
    problem, wanted = made
    regions = problem.regions
    result = run(
        request_of(
            problem,
            wanted,
            site_number=create_approach("site_number", "fixed", {"sites": s}),
            site_location=LOCATIONS[location],
            construction=CONSTRUCTIONS[construction],
            refinement=REFINEMENTS[refinement],
            tiers=create_approach("tiers", tiers, {"factor": 3} if tiers == "auto" else {}),
        )
    )
    (solution,) = result.solutions
    rows = list(zip(*(regions.labels[column] for column in wanted.within), strict=True)) or [()] * len(
        regions
    )
    alone = {i for i, id in enumerate(regions.ids) if id in wanted.alone}
    if wanted.alone_column:
        alone |= {i for i, text in enumerate(regions.labels["mark"]) if text == "yes"}
    groups = groups_of(solution.membership)
    by_value = defaultdict(list)
    for group, members in groups.items():
        assert len({rows[i] for i in members}) == 1
        assert len(members) == 1 or not alone.intersection(members)
        if not alone.intersection(members):
            by_value[rows[members[0]]].append(group)
    # Minima hold unless the group is all that may be merged; and exactly the wishes that do not hold are listed.
    unmet = set()
    totals = {"records": problem.counts.region_totals, "population": regions.numbers["people"]}
    for mine in by_value.values():
        for group in mine:
            for what, least, most in (
                ("records", wanted.min_records, wanted.max_records),
                ("population", wanted.min_population, wanted.max_population),
            ):
                has = sum(int(totals[what][i]) for i in groups[group])
                assert has >= least or len(mine) == 1
                unmet |= {(what, "at_least", least, has)} if has < least else set()
                unmet |= {(what, "at_most", most, has)} if most and has > most else set()
    told = solution.diagnostics.get(CONSTRAINT_DIAGNOSTICS, {"unmet": []})["unmet"]
    bounds = [next(name for name in ("at_least", "at_most") if name in each) for each in told]
    assert {(e["what"], b, e[b], e["has"]) for e, b in zip(told, bounds, strict=True)} == unmet
    if solution.sites is not None:
        assert solution.owner.max() < len(solution.sites)
    if solution.tiers is not None:
        for places in list(solution.tiers.memberships(solution.membership))[:-1]:
            assert all(len({rows[i] for i in members}) == 1 for members in groups_of(places).values())


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(limited(), st.integers(1, 14))
def test_what_tiers_would_save_is_what_they_save_within_the_limits(made, s):
    problem, wanted = made
    number = create_approach("site_number", "fixed", {"sites": s})
    (single,), (tiered,) = (
        run(
            request_of(problem, wanted, site_number=number, tiers=create_approach("tiers", name))
        ).solutions
        for name in ("none", "auto")
    )
    saves = tiered.suppressed_records < single.suppressed_records
    offered = count_suppressed_in_tiers(problem, single, NO_PROGRESS)
    assert offered == (tiered.suppressed_records if saves else None)


def test_the_offer_of_tiers_keeps_to_boundaries():
    # A class of one record in each of six regions: enough in the whole row, in neither half of it.
    problem = problem_of([(x, 0) for x in range(6)], [[4, 1]] * 6, k=4)
    problem = replace(
        problem, regions=replace(problem.regions, labels={"half": ("a",) * 3 + ("b",) * 3})
    )
    number = create_approach("site_number", "fixed", {"sites": 6})
    lost = {}
    for name, wanted in (("free", RegionConstraints()), ("within", RegionConstraints(within=("half",)))):
        (single,), (tiered,) = (
            run(
                request_of(problem, wanted, site_number=number, tiers=create_approach("tiers", tiers))
            ).solutions
            for tiers in ("none", "auto")
        )
        lost[name] = count_suppressed_in_tiers(problem, single, NO_PROGRESS)
        offered = single.suppressed_records if lost[name] is None else lost[name]
        assert offered == tiered.suppressed_records
    assert lost == {"free": 0, "within": None}


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(limited(), st.sampled_from(sorted(CONSTRUCTIONS)), st.sampled_from(sorted(REFINEMENTS)))
def test_the_same_limits_give_the_same_regions_with_any_number_of_threads(
    made, construction, refinement
):
    problem, wanted = made
    other = {
        "construction": CONSTRUCTIONS[construction],
        "refinement": REFINEMENTS[refinement],
        "range_reach": 1,
    }
    one, two = (run(request_of(problem, wanted, **{**other, "workers": workers})) for workers in (1, 2))
    for left, right in zip(one.solutions, two.solutions, strict=True):
        assert np.array_equal(left.owner, right.owner)
        assert left.diagnostics == right.diagnostics


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(limited(), st.integers(1, 14))
def test_more_sites_never_leave_a_part_with_fewer(made, sites):
    problem, wanted = made
    limits = resolve_constraints(request_of(problem, wanted.replaced(alone=("r0",))))
    parts = Zones(limits, build_context(problem)[0])
    fewer, more = parts.apportion_sites(sites), parts.apportion_sites(sites + 1)
    sizes = [len(part) for part in parts.zones]
    assert all(1 <= a <= b <= size for a, b, size in zip(fewer, more, sizes, strict=True))
    assert sum(fewer) == min(max(sites, parts.least_sites), len(problem.regions))


def row_of(people, counties, k=1):
    """Regions in a row, one unit apart, with as many records as people."""
    problem = problem_of([(x, 0) for x in range(len(people))], [[number] for number in people], k)
    labels = {"county": tuple(counties)}
    return replace(
        problem,
        regions=replace(problem.regions, labels=labels, numbers={"people": np.array(people, float)}),
    )


def made_of(problem, wanted, sites, **other):
    number = create_approach("site_number", "fixed", {"sites": sites})
    result = run(request_of(problem, wanted, site_number=number, **other))
    return result, sorted(map(tuple, groups_of(result.solutions[0].membership).values()))


def test_small_regions_are_merged_inside_their_county_until_the_minimum_is_reached():
    """As GAT does it: the smallest joins its nearest neighbour of the same county; what cannot is listed."""
    problem = row_of([300, 200, 600, 50, 40, 900], "AAABBC")
    wanted = RegionConstraints(within=("county",), population_column="people", min_population=500)
    result, groups = made_of(problem, wanted, 6)
    assert groups == [(0, 1), (2,), (3, 4), (5,)]
    codes = {
        each["region"]: each for each in result.solutions[0].diagnostics[CONSTRAINT_DIAGNOSTICS]["unmet"]
    }
    assert [(e["what"], e["at_least"], e["has"]) for e in codes.values()] == [("population", 500, 90)]
    (finding,) = [each for each in result.findings if each.code == "unmet-size-targets"]
    assert "has 90 inhabitants instead of at least 500" in finding.message


def test_without_the_boundary_the_same_minimum_is_reached_everywhere():
    problem = row_of([300, 200, 600, 50, 40, 900], "AAABBC")
    result, groups = made_of(
        problem, RegionConstraints(population_column="people", min_population=500), 6
    )
    assert result.solutions[0].diagnostics[CONSTRAINT_DIAGNOSTICS]["unmet"] == []
    assert all(sum(problem.regions.numbers["people"][list(each)]) >= 500 for each in groups)


def test_a_region_above_the_maximum_is_cut_where_both_halves_keep_the_minimum():
    problem = row_of([10, 10, 10, 10], "AAAA")
    _, groups = made_of(problem, RegionConstraints(max_records=20, min_records=20), 1)
    assert groups == [(0, 1), (2, 3)]
    result, groups = made_of(
        row_of([10, 10, 10], "AAA"), RegionConstraints(max_records=20, min_records=20), 1
    )
    assert groups == [(0, 1, 2)]
    assert result.solutions[0].diagnostics[CONSTRAINT_DIAGNOSTICS]["unmet"] == [
        {"region": "A001", "what": "records", "at_most": 20, "has": 30}
    ]


def test_a_minimum_goes_before_a_maximum_but_another_neighbour_is_taken_if_there_is_one():
    wanted = RegionConstraints(min_records=10, max_records=20)
    _, groups = made_of(row_of([18, 5, 14], "AAA"), wanted, 3)
    assert groups == [(0,), (1, 2)]
    result, groups = made_of(row_of([18, 5], "AA"), wanted, 2)
    assert groups == [(0, 1)]
    assert [
        each["has"] for each in result.solutions[0].diagnostics[CONSTRAINT_DIAGNOSTICS]["unmet"]
    ] == [23]


def test_regions_that_stay_alone_are_never_merged_and_need_not_reach_the_minimum():
    wanted = RegionConstraints(alone=("r1",), min_records=30)
    result, groups = made_of(row_of([10, 10, 10, 10], "AAAA"), wanted, 1)
    assert groups == [(0, 2, 3), (1,)]
    assert result.solutions[0].diagnostics[CONSTRAINT_DIAGNOSTICS] == {
        "within": [],
        "boundaries": 0,
        "alone": ["r1"],
        "size_targets": [{"what": "records", "column": None, "at_least": 30, "at_most": None}],
        "centres": None,
        "part_sites": [1, 1],
        "unmet": [],
    }


def test_weights_draw_the_middle_to_where_people_live():
    """r1 is nearer to the mean of r2 and r3, but their people are in r3: weighted, r0 is nearer."""
    problem = problem_of([(0, 0), (2.4, 0), (4, 0), (5.5, 0)], [[50], [15], [10], [50]], 1)
    numbers = {"people": np.array([50.0, 10.0, 1.0, 99.0])}
    problem = replace(problem, regions=replace(problem.regions, numbers=numbers))
    sites = {"site_number": create_approach("site_number", "fixed", {"sites": 4})}
    plain, weighted = (
        run(request_of(problem, RegionConstraints(min_records=20, centre_weights=column), **sites))
        .solutions[0]
        .membership
        for column in (None, "people")
    )
    assert plain[1] == plain[2] == plain[3]
    assert weighted[1] == weighted[0] != weighted[2] == weighted[3]


def test_fewer_sites_than_boundaries_need_are_raised_with_a_word():
    problem = row_of([10, 10, 10, 10], "ABCD")
    result, groups = made_of(problem, RegionConstraints(within=("county",)), 2)
    assert groups == [(0,), (1,), (2,), (3,)]
    assert result.approximated_sites == 4
    assert [each.code for each in result.findings] == ["fewer-sites-than-boundaries"]


def test_the_number_within_the_allowed_loss_is_found_under_limits():
    problem = row_of([1, 1, 3, 4, 1, 6, 2, 8], "AAAABBBB", k=4)
    number = create_approach("site_number", "limit", {"allowed_loss_percent": 0})
    result = run(request_of(problem, RegionConstraints(within=("county",)), site_number=number))
    (solution,) = result.solutions
    assert solution.suppressed_records == 0
    more = run(
        request_of(
            problem,
            RegionConstraints(within=("county",)),
            site_number=create_approach("site_number", "fixed", {"sites": solution.site_count + 1}),
        )
    )
    assert more.solutions[0].suppressed_records > 0


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (RegionConstraints(within=("shire",)), "No column “shire”"),
        (RegionConstraints(within=("gap",)), "1 region has nothing in this column, the first is “r1”"),
        (
            RegionConstraints(alone=("r1", "nowhere")),
            "lacks 1 id of those that are to stay alone: number 2 of the list",
        ),
        (RegionConstraints(alone_column="shire"), "No column “shire”"),
        (RegionConstraints(min_population=5), "--population-column"),
        (RegionConstraints(min_population=5, population_column="county"), "No column “county”"),
        (
            RegionConstraints(centre_weights="holes"),
            "1 region has no number from 0 to 1,000,000,000,000,000 in this column, the first is “r0”",
        ),
        (
            RegionConstraints(min_records=9, max_records=5),
            "The minimum of records (9) is above the maximum (5)",
        ),
    ],
)
def test_limits_that_the_region_file_cannot_serve_are_refused_in_words(wanted, words):
    problem = row_of([3, 3], "AB")
    labels = {**problem.regions.labels, "gap": ("x", "")}
    numbers = {**problem.regions.numbers, "holes": np.array([np.nan, 1.0])}
    problem = replace(problem, regions=replace(problem.regions, labels=labels, numbers=numbers))
    with pytest.raises(InputError) as caught:
        run(request_of(problem, wanted))
    assert words in str(caught.value)


def test_what_is_kept_of_a_comparison_knows_the_limits_and_the_columns():
    problem = row_of([3, 3, 3], "AAB")
    other = row_of([3, 3, 3], "ABB")
    kinds = (None, RegionConstraints(within=("county",)), RegionConstraints(min_records=2))
    found = [
        constraint_cache_key(request_of(one, wanted)) for one in (problem, other) for wanted in kinds
    ]
    assert found[0] == {}
    assert len({str(each) for each in found}) == 4  # minima of records do not look at the county
    chosen = {"site_number": create_approach("site_number", "fixed"), "site_location": LOCATIONS["adc"]}
    chosen["construction"] = OneConstruction()
    plan = ComparisonPlan(
        RunSettings(region_column="region"),
        (("colour",),),
        (2,),
        {component: (one,) for component, one in chosen.items()},
    )
    kept = build_cache_key(plan, plan.combinations[0], "", found[1])
    assert kept["limits"]["within"] == ["county"]


def test_boundaries_put_sites_at_weighted_middles_and_the_weighted_distance_is_told():
    rng = np.random.default_rng(5)
    points = [(x + y / 20, y) for y in range(8) for x in range(8)]
    people = rng.choice([1.0, 2.0, 9.0], 64)
    problem = problem_of(points, rng.poisson(1.0, (64, 40)), k=14)
    problem = replace(problem, regions=replace(problem.regions, numbers={"people": people}))
    refinement = create_approach("refinement", "boundaries", {"effort": 200})
    plain, weighted = (
        run(
            request_of(
                problem,
                RegionConstraints(centre_weights=column, max_records=10**6),
                refinement=refinement,
            )
        ).solutions[0]
        for column in (None, "people")
    )
    assert plain.diagnostics[CONSTRAINT_DIAGNOSTICS]["centres"] is None
    told = weighted.diagnostics[CONSTRAINT_DIAGNOSTICS]["centres"]
    places = problem.regions.points
    middle = np.array(
        [
            np.average(places[weighted.owner == site], axis=0, weights=people[weighted.owner == site])
            for site in range(len(weighted.sites))
        ]
    )
    away = np.hypot(*(places - middle[weighted.owner]).T)
    assert told == {
        "column": "people",
        "mean_distance": pytest.approx(np.average(away, weights=people)),
        "unit": "unit",
    }
    # No site is worse than the weighted middle of what it owns, and most are there.
    at_site = np.hypot(*(places - weighted.sites[weighted.owner]).T)
    sums = [np.bincount(weighted.owner, people * each, len(middle)) for each in (at_site, away)]
    assert (sums[0] <= sums[1] * (1 + 1e-9)).all()
    assert (np.hypot(*(weighted.sites - middle).T) < 1e-9).sum() >= 3
    # The measure counts every initial region once, with weights or without.
    means = np.array(
        [places[weighted.owner == site].mean(axis=0) for site in range(len(weighted.sites))]
    )
    plainly = np.hypot(*(places - means[weighted.owner]).T).mean()
    assert weighted.measures["alternative_average_distance"] == pytest.approx(plainly)

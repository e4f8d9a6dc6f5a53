"""Searching the lattice of levels: against counting anew, against full enumeration, and stopped half way."""

import json
import math
import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import change_request, regions_of
from vbas_desktop.algorithms.aggregation import suppress_globally
from vbas_desktop.algorithms.site_counts import max_suppressed
from vbas_desktop.approaches.interface import RefinementResult
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.lattice.hierarchies import build_hierarchy, propose_hierarchy
from vbas_desktop.engine.lattice.nodes import BaseTable, build_lattice, is_coarser
from vbas_desktop.engine.lattice.search import (
    FOUND,
    NOT_NEEDED,
    OUT_OF_REACH,
    search_lattice,
    solve_node,
)
from vbas_desktop.engine.lattice.table import (
    build_search_document,
    describe_search,
    format_search_csv,
    format_suppressed_percent,
)
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.result_cache import MemoryCache
from vbas_desktop.engine.run import run
from vbas_desktop.io.documents.result_cache import open_node_cache
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Cancelled
from vbas_desktop.model.records import Categories, ColumnFacts
from vbas_desktop.settings.run import RunSettings


def problem_at(finest, node) -> Problem:
    """The problem of a node."""
    hierarchies = list(zip(finest.lattice.hierarchies, node, strict=True))
    grouped = (
        Categories(hierarchy.column, hierarchy.encode_level(level)[0])
        for hierarchy, level in hierarchies
    )
    changed = {
        "counts": finest.counts_at(node),
        "categories": tuple(grouped),
        "groupings": finest.lattice.groupings(node),
        "sensitive": finest.values_at(node),
    }
    return replace(finest.problem, **changed) if any(node) else finest.problem


def facts_of(name, values, frequencies=None, labels=None):
    frequencies = np.array(frequencies if frequencies is not None else [1] * len(values))
    return ColumnFacts(
        name, len(values), 0, True, Categories(name, tuple(values), None, labels or {}), frequencies
    )


def counted(records, regions, names, values, k):
    """A problem counted record by record: region, then one code per column."""
    numbers = [len(each) for each in values]
    table = {}
    for region, *codes in records:
        table.setdefault(int(np.ravel_multi_index(codes, numbers)), np.zeros(regions, np.int64))[
            region
        ] += 1
    classes = np.array(sorted(table), np.int64)
    matrix = np.column_stack([table[each] for each in classes])
    counts = ClassCounts.from_matrix(numbers, classes, matrix)
    places = regions_of([(x, (x * 7) % 5) for x in range(regions)])
    categories = tuple(Categories(name, tuple(each)) for name, each in zip(names, values, strict=True))
    return Problem(places, counts, k, tuple(names), categories, "region")


AGES, JOBS = ("0-9", "10-19", "20-29", "30-39", "40+"), ("cook", "smith", "tailor")


@st.composite
def searches(draw):
    """Records with two attributes of nested hierarchies, in few regions."""
    regions = draw(st.integers(1, 8))
    record = st.tuples(st.integers(0, regions - 1), st.integers(0, 4), st.integers(0, 2))
    records = draw(st.lists(record, min_size=5, max_size=120))
    problem = counted(records, regions, ("age", "job"), (AGES, JOBS), draw(st.integers(1, 6)))
    frequencies = [
        np.bincount([record[place] for record in records], minlength=size)
        for place, size in ((1, 5), (2, 3))
    ]
    hierarchies = (
        propose_hierarchy(facts_of("age", AGES, frequencies[0])),
        build_hierarchy(
            facts_of("job", JOBS, frequencies[1]), [{"cook": "food"}, dict.fromkeys(JOBS, "any")]
        ),
    )
    return records, problem, BaseTable(problem, build_lattice(hierarchies))


def request_of(problem, percent=10.0, workers=1, location="balanced-density", **more):
    number = create_approach("site_number", "limit", {"allowed_loss_percent": percent})
    voronoi, chosen = (
        create_approach("construction", "voronoi"),
        {name: create_approach(name, kind) for name, kind in more.items()},
    )
    return Request(
        problem,
        number,
        create_approach("site_location", location),
        voronoi,
        settings=RunSettings(workers=workers),
        **chosen,
    )


@settings(max_examples=40, deadline=None)
@given(searches())
def test_the_counts_of_a_node_are_those_of_records_counted_with_its_groups(made):
    records, problem, finest = made
    for node in product(*finest.lattice.allowed):
        lookups = [
            hierarchy.encode_level(level)
            for hierarchy, level in zip(finest.lattice.hierarchies, node, strict=True)
        ]
        moved = [
            (region, *(int(lookup[1][code]) for lookup, code in zip(lookups, codes, strict=True)))
            for region, *codes in records
        ]
        values = [lookup[0] for lookup in lookups]
        literal = counted(moved, len(problem.regions), ("age", "job"), values, problem.k)
        found = problem_at(finest, node)
        assert found.counts.equals(literal.counts)


@settings(max_examples=30, deadline=None)
@given(searches(), st.data())
def test_joined_classes_never_lose_more_with_the_same_partition(made, data):
    _, problem, finest = made
    owner = np.array(
        data.draw(
            st.lists(st.integers(0, 3), min_size=len(problem.regions), max_size=len(problem.regions))
        )
    )
    lost = {}
    for node in product(*finest.lattice.allowed):
        matrix = problem_at(finest, node).counts.table.toarray()
        dense = np.stack([matrix[owner == group].sum(axis=0) for group in range(4)])
        lost[node] = int(dense[dense < problem.k].sum())
        assert finest.lost_at_least(node) <= lost[node]
    assert all(lost[one] <= lost[other] for one in lost for other in lost if is_coarser(one, other))


@settings(max_examples=20, deadline=None)
@given(searches())
def test_small_classes_are_left_out_on_the_way(made):
    _, problem, finest = made
    for node in product(*finest.lattice.allowed):
        expected = suppress_globally(problem_at(finest, node).counts, problem.k)
        found = finest.counts_at(node, problem.k)
        assert found.equals(expected)
        assert (
            finest.sum_combinations(node).tolist()
            == problem_at(finest, node).counts.combination_totals.tolist()
        )


@pytest.mark.parametrize(
    "more", [{}, {"tiers": "auto"}, {"refinement": "boundaries"}], ids=["plain", "tiers", "refined"]
)
@settings(max_examples=12, deadline=None)
@given(made=searches(), percent=st.sampled_from([0.0, 5.0, 30.0]))
def test_the_table_is_that_of_full_enumeration(made, percent, more):
    _, problem, finest = made
    request = request_of(problem, percent, **more)
    searched = search_lattice(finest, request, MemoryCache())
    allowed = max_suppressed(problem.records, percent)
    assert sorted(row.node for row in searched.rows) == sorted(product(*finest.lattice.allowed))
    for row in searched.rows:
        alone = run(change_request(request, problem=problem_at(finest, row.node), range_reach=0)).chosen
        lost = alone.measures["suppressed_records"]
        if row.status == FOUND:
            assert (row.sites, row.regions, row.suppressed) == (
                alone.site_count,
                alone.aggregated_regions,
                lost,
            )
            assert row.place_loss == alone.measures["place_information_loss"]
            assert lost <= allowed
        elif row.status == OUT_OF_REACH:
            assert lost > allowed
        else:
            fine = [each for each in searched.rows if each.regions == len(problem.regions)]
            assert row.status == NOT_NEEDED
            assert "tiers" not in more
            assert any(is_coarser(row.node, each.node) for each in fine)
            # Every initial region for itself is within the limit here too.
            assert solve_node(finest, request, row.node, _Quiet()).status == FOUND


class _Quiet:
    def update(self, stage, fraction=None):
        pass


@pytest.fixture
def town():
    generator = np.random.default_rng(3)
    records = [(int(r), int(a), int(j)) for r, a, j in zip(
        generator.integers(0, 30, 900), generator.integers(0, 5, 900), generator.integers(0, 3, 900), strict=True
    )]  # fmt: skip
    problem = counted(records, 30, ("age", "job"), (AGES, JOBS), 5)
    hierarchies = (
        propose_hierarchy(facts_of("age", AGES)),
        propose_hierarchy(facts_of("job", JOBS, [5, 3, 1])),
    )
    return problem, BaseTable(problem, build_lattice(hierarchies))


@pytest.mark.parametrize("small", [200_000, 0], ids=["as many as asked for", "as many as memory allows"])
def test_the_same_table_whatever_the_number_of_workers(town, monkeypatch, small):
    monkeypatch.setattr("vbas_desktop.engine.lattice.search._SMALL", small)
    problem, finest = town
    tables = [
        format_search_csv(search_lattice(finest, request_of(problem, 2.0, workers), MemoryCache()))
        for workers in (1, 2, 5)
    ]
    assert tables[0] == tables[1] == tables[2]
    assert tables[0].count("\n") == 1 + finest.lattice.size == 9


def test_a_stopped_search_goes_on_where_it_was(town, tmp_path):
    problem, finest = town
    store, seen = open_node_cache(tmp_path / "nodes"), []

    def stop_at_three(found):
        seen.append(found)
        if len(seen) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        search_lattice(finest, request_of(problem, 2.0), store, on_found=stop_at_three)
    before = {path.name: path.read_bytes() for path in (tmp_path / "nodes").iterdir()}
    assert len(before) >= 3
    again = search_lattice(finest, request_of(problem, 2.0), store)
    assert {name: (tmp_path / "nodes" / name).read_bytes() for name in before} == before
    assert format_search_csv(again) == format_search_csv(
        search_lattice(finest, request_of(problem, 2.0), MemoryCache())
    )


def test_what_an_approach_had_until_a_stop_is_not_kept_as_a_node(town):
    problem, finest = town
    cache = MemoryCache()

    class Stopped(type(create_approach("refinement", "none"))):
        def refine(self, context, owner, sites, progress):
            return RefinementResult(owner, sites, {}, stopped=True)

    with pytest.raises(Cancelled):
        search_lattice(finest, replace(request_of(problem, 2.0), refinement=Stopped()), cache)
    assert len(cache) == 0


def test_a_search_stays_within_three_times_its_finest_counts(monkeypatch):
    # Blocks as small beside these counts as they are beside those of a country.
    monkeypatch.setattr("vbas_desktop.algorithms.aggregation._ENTRIES_PER_BLOCK", 10_000)
    generator = np.random.default_rng(7)
    regions, numbers = 400, (40, 60)
    cells = generator.choice(regions * 2400, 240_000, replace=False)
    matrix = np.zeros((regions, 2400), np.int64)
    matrix.ravel()[cells] = generator.integers(1, 4, cells.size)
    counts = ClassCounts.from_matrix(numbers, np.arange(2400), matrix)
    names = [tuple(str(code) for code in range(number)) for number in numbers]
    categories = tuple(Categories(name, values) for name, values in zip(("a", "b"), names, strict=True))
    problem = Problem(
        regions_of([(i % 20, i // 20) for i in range(regions)]), counts, 5, ("a", "b"), categories, "r"
    )
    hierarchies = tuple(
        build_hierarchy(facts_of(each.column, each.values), [_halves(each.values)])
        for each in categories
    )
    finest, request = BaseTable(problem, build_lattice(hierarchies)), request_of(problem, 20.0)
    del matrix
    search_lattice(finest, request, MemoryCache())
    tracemalloc.start()
    try:
        rows = search_lattice(finest, request, MemoryCache()).rows
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [row.status for row in rows] == [FOUND] * 4
    assert peak + counts.nbytes <= 3 * counts.nbytes


def _halves(values):
    return {value: str(int(value) // 2) for value in values}


def test_a_damaged_kept_node_is_computed_again(town, tmp_path):
    problem, finest = town
    store = open_node_cache(tmp_path / "nodes")
    expected = format_search_csv(search_lattice(finest, request_of(problem), store))
    for path in (tmp_path / "nodes").iterdir():
        path.write_text("{", encoding="utf-8")
    assert format_search_csv(search_lattice(finest, request_of(problem), store)) == expected


def test_the_recommended_node_keeps_the_largest_product(town):
    problem, finest = town
    searched = search_lattice(finest, request_of(problem, 2.0), MemoryCache())
    # Neither age nor job is given up while another node is within the limit.
    candidates = [
        row for row in searched.rows if row.status == FOUND and row.node[0] < 3 and row.node[1] < 1
    ]
    best = max(row.detail * (1 - row.place_loss) for row in candidates)
    assert searched.recommended.detail * (1 - searched.recommended.place_loss) == best
    assert searched.recommended.node in searched.front
    told = json.loads(json.dumps(build_search_document(searched), allow_nan=False))
    assert told["nodes"][told["recommended_node"] - 1]["recommended"] is True
    assert describe_search(searched)[-1].startswith(
        f"Recommended: node {told['recommended_node']}, age 5"
    )


def test_a_share_below_the_allowed_loss_is_never_shown_as_this_loss(town):
    problem, finest = town
    searched = search_lattice(finest, request_of(problem, 2.0), MemoryCache())
    texts = []
    for suppressed in range(1, 60):
        percent = 100 * suppressed / problem.records
        limit = math.ceil(percent * 100) / 100
        text = format_suppressed_percent(replace(searched, allowed_loss_percent=limit), suppressed)
        assert text == f"< {limit:g}" or float(text) < limit or percent == pytest.approx(limit)
        texts.append(text)
    assert any(text.startswith("<") for text in texts)
    assert any(not text.startswith("<") for text in texts)


def test_pins_and_minima_leave_levels_out(town):
    _, finest = town
    hierarchies = finest.lattice.hierarchies
    assert build_lattice(hierarchies, {"job": 0}).allowed == ((0, 1, 2, 3), (0,))
    assert build_lattice(hierarchies, {}, {"age": 3}).allowed == ((0, 1), (0, 1))
    for pins, minima, words in (
        ({"age": 9}, {}, "no level 9"),
        ({"colour": 0}, {}, "no quasi-identifier"),
        ({"age": 2}, {"age": 4}, "No level leaves 4"),
    ):
        with pytest.raises(InputError, match=words):
            build_lattice(hierarchies, pins, minima)


def test_neighbours_are_merged_in_what_has_an_order_and_all_ends_every_hierarchy():
    ages = propose_hierarchy(facts_of("age", AGES))
    assert list(ages.levels) == [
        AGES,
        ("0-19", "0-19", "20-39", "20-39", "40+"),
        ("0-39", "0-39", "0-39", "0-39", "40+"),
        ("all",) * 5,
    ]
    jobs = propose_hierarchy(facts_of("job", ("cook", "smith", "tailor", "none"), [4, 9, 1, 6]))
    assert list(jobs.levels) == [("cook", "smith", "tailor", "none"), ("all",) * 4]


def test_labels_tell_what_codes_mean():
    def merged(*labels):
        given = dict(zip(("1", "2", "3"), labels, strict=False))
        return propose_hierarchy(facts_of("age", ("1", "2", "3"), [5, 5, 5], given)).levels[1]

    assert merged("0-4", "5-9", "10+") == ("0-9", "0-9", "10+")
    assert merged("Single", "Married", "Widowed") == (
        "without a partner",
        "with a partner",
        "without a partner",
    )
    assert merged() == ("1-2", "1-2", "3")


def test_missing_values_stay_apart_until_everything_is_one_group():
    levels = propose_hierarchy(facts_of("age", ("", "1", "2", "3", "4"))).levels
    assert levels[1:] == (("", "1-2", "1-2", "3-4", "3-4"), ("all",) * 5)
    assert propose_hierarchy(facts_of("sex", ("f", "m"))).levels == (("f", "m"), ("all", "all"))
    assert propose_hierarchy(facts_of("sex", ("f",))).levels == (("f",),)


def test_a_level_that_parts_what_was_joined_is_refused():
    with pytest.raises(InputError, match="Level 2 parts values"):
        build_hierarchy(
            facts_of("job", JOBS), [{"cook": "a", "smith": "a"}, {"cook": "b", "smith": "c"}]
        )

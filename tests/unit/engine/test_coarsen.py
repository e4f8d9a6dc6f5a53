"""The construction “Coarsen”: whatever the number of sites, every region of the earlier release stays whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.approaches.construction.coarsen import CoarsenConstruction
from vbas_desktop.approaches.interface import Context
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.regions.crosswalk import load_earlier_partition
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import SourceFile
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, CrosswalkPartition, Regions
from vbas_desktop.settings.run import RunSettings

HERE = SourceFile("crosswalk.csv", 0, "0")


def regions_of(points, earlier, **more) -> Regions:
    codes = tuple(f"A{number}" for number in range(int(earlier.max()) + 1))
    ids = tuple(f"r{number}" for number in range(len(points)))
    system = CoordinateSystem(CoordinateKind.PLANAR)
    return Regions(
        ids, points, system, earlier=CrosswalkPartition(earlier.astype(np.int32), codes, HERE), **more
    )


def context_of(seed: int, number: int, groups: int) -> Context:
    draw = np.random.default_rng(seed)
    points = draw.random((number, 2)) * 100
    earlier = np.unique(draw.integers(0, groups, number), return_inverse=True)[1]
    counts = ClassCounts.from_matrix((2,), np.arange(2), draw.integers(0, 9, (number, 2)))
    return Context(regions_of(points, earlier), counts, 5)


def coarsened(context: Context, sites: int):
    return CoarsenConstruction().build_partition(context, np.full((sites, 2), np.nan), NO_PROGRESS).owner


def is_union(fine, coarse) -> bool:
    return len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 12))
def test_earlier_regions_stay_whole_and_fewer_regions_are_joined_ones(seed, number, groups):
    context = context_of(seed, number, groups)
    earlier = context.regions.earlier.region
    blocks = len(set(earlier.tolist()))
    before = None
    for sites in range(blocks + 2, 0, -1):
        owner = coarsened(context, sites)
        assert len(set(owner.tolist())) == min(sites, blocks)
        assert is_union(earlier, owner)
        assert before is None or is_union(before, owner)
        before = owner


def test_the_smallest_region_joins_its_nearest_neighbour():
    points = np.array([[0.0, 0], [1, 0], [5, 0], [6, 0], [9, 0]])
    counts = ClassCounts.from_matrix((1,), np.arange(1), np.array([[9], [9], [2], [2], [30]]))
    context = Context(regions_of(points, np.array([0, 0, 1, 1, 2])), counts, 5)
    assert coarsened(context, 3).tolist() == [0, 0, 1, 1, 2]
    # 4 records at 5.5: the region at 9 is nearer (3.5) than that at 0.5 (5).
    assert coarsened(context, 2).tolist() == [0, 0, 1, 1, 1]
    assert coarsened(context, 1).tolist() == [0, 0, 0, 0, 0]


def request_of(construction="coarsen", refinement=None, **limits) -> Request:
    points = np.array([[x, y] for y in range(4) for x in range(4)], float)
    draw = np.random.default_rng(3)
    halves = {
        "half": tuple("NS"[int(y > 1)] for _, y in points),
        "side": tuple("WE"[int(x > 1)] for x, _ in points),
    }
    regions = regions_of(points, np.repeat(np.arange(4), 4), labels=halves)
    counts = ClassCounts.from_matrix((3,), np.arange(3), draw.integers(0, 40, (16, 3)))
    problem = Problem(regions, counts, 5, ("age",), (), "region")
    return Request(
        problem,
        create_approach("site_number", "fixed", {"sites": 2}),
        create_approach("site_location", "density"),
        create_approach("construction", construction),
        None if refinement is None else create_approach("refinement", refinement),
        settings=RunSettings(range_reach=0, **limits),
    )


def test_boundaries_that_earlier_regions_keep_are_kept_and_others_refused():
    (found,) = run(request_of(within=("half",))).solutions
    assert found.membership.tolist() == [0] * 8 + [1] * 8
    with pytest.raises(InputError, match="region “A0” of the earlier release was cut"):
        run(request_of(within=("side",)))


def test_limits_that_would_cut_an_earlier_region_are_refused():
    with pytest.raises(InputError, match="was cut"):
        run(request_of(max_records=100))


def test_a_crosswalk_that_nothing_keeps_to_is_told():
    said = [finding.code for finding in run(request_of("voronoi")).findings]
    assert "earlier-unused" in said
    assert "earlier-unused" not in [finding.code for finding in run(request_of()).findings]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("initial_region,aggregated_region\nr0,A1\n", "1 initial region is not in the earlier release"),
        ("initial_region,aggregated_region\nr0,A1\nr0,A2\nr1,A1\n", "“r0” is listed twice"),
        ("initial_region,aggregated_region\nr0,\nr1,A1\n", "does not name a region"),
        ("id,x,y\nr0,1,2\n", "its columns are others"),
        ("", "its columns are others"),
    ],
)
def test_files_that_are_no_crosswalk_of_these_regions_are_refused(tmp_path, text, said):
    path = tmp_path / "crosswalk.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        load_earlier_partition(str(path), ["r0", "r1"])


def test_the_folder_of_a_run_stands_for_its_crosswalk(tmp_path):
    (tmp_path / "release").mkdir()
    path = tmp_path / "release" / "crosswalk.csv"
    path.write_text("initial_region,aggregated_region,tier_1\nr1,A2,B1\nr0,A1,B1\n")
    found = load_earlier_partition(str(tmp_path), ["r0", "r1"])
    assert (found.region.tolist(), found.codes, found.source.path) == ([0, 1], ("A1", "A2"), str(path))
    with pytest.raises(InputError, match="no such file"):
        load_earlier_partition(str(tmp_path / "none"), ["r0"])

"""The construction “Crop”: regions are equal beginnings of hierarchical ids."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.problem_making import context_for, problem_of
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.cli.main import main
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.run import RunSettings

CODES = ("K1A0A1", "K1A0A2", "K1B", "K2A0A1", "M1A0A1", "K1A1A1")


def with_ids(holder, ids):
    return replace(holder, regions=replace(holder.regions, ids=tuple(ids)))


def context_of(ids):
    return with_ids(context_for([(x, 0) for x in range(len(ids))], [[5]] * len(ids)), ids)


def cropped(ids, characters, sites=1):
    crop = create_approach("construction", "crop", {"characters": characters})
    return crop.build_partition(context_of(ids), np.full((sites, 2), np.nan), NO_PROGRESS)


@pytest.mark.parametrize(
    ("characters", "expected"),
    [
        (1, [0, 0, 0, 0, 1, 0]),
        (2, [0, 0, 0, 1, 2, 0]),
        (3, [0, 0, 1, 2, 3, 0]),
        (4, [0, 0, 1, 2, 3, 4]),
        (6, [0, 1, 2, 3, 4, 5]),
        (99, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_regions_are_equal_beginnings_whatever_the_number_of_sites(characters, expected):
    for sites in (1, 4):
        made = cropped(CODES, characters, sites)
        assert made.owner.tolist() == expected
        assert made.diagnostics == {"crop": {"characters": characters}}


@pytest.mark.parametrize(("sites", "characters"), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 5), (6, 6)])
def test_without_a_number_of_characters_there_are_at_most_as_many_regions_as_sites(sites, characters):
    made = cropped(CODES, 0, sites)
    assert made.diagnostics == {"crop": {"characters": characters}}
    assert len(set(made.owner.tolist())) <= sites


@given(
    st.lists(st.text("ab1", min_size=1, max_size=5), min_size=1, max_size=12, unique=True),
    st.integers(1, 6),
)
def test_two_regions_are_merged_exactly_if_their_ids_begin_alike(ids, characters):
    owner = cropped(ids, characters).owner.tolist()
    for i, one in enumerate(ids):
        for j, other in enumerate(ids):
            assert (owner[i] == owner[j]) == (one[:characters] == other[:characters])


def request_of(characters, refinement="none"):
    problem = with_ids(
        problem_of([(x, 0) for x in range(6)], [[4], [4], [4], [4], [4], [4]], k=2), CODES
    )
    return Request(
        problem,
        create_approach("site_number", "fixed", {"sites": 3}),
        create_approach("site_location", "density"),
        create_approach("construction", "crop", {"characters": characters}),
        create_approach("refinement", refinement),
        settings=RunSettings(range_reach=1),
    )


def test_a_run_has_the_cropped_regions_for_every_number_of_sites():
    solutions = run(request_of(2)).solutions
    assert [solution.site_count for solution in solutions] == [2, 3, 4]
    assert {tuple(solution.owner.tolist()) for solution in solutions} == {(0, 0, 0, 1, 2, 0)}
    assert [solution.same_as for solution in solutions] == [None, 1, 1]
    assert all(solution.sites is None for solution in solutions)


def test_a_refinement_that_changes_the_cropped_regions_is_refused():
    # The regions of “K1” lie at 0, 1, 2 and 5: in one piece they would be other regions.
    with pytest.raises(InputError, match="first 2 characters of their ids"):
        run(request_of(2, "contiguous"))


def test_a_release_of_cropped_regions(tmp_path, capsys):
    regions = tmp_path / "regions.csv"
    regions.write_text(
        "id,x,y\n" + "".join(f"{code},{x},0\n" for x, code in enumerate(CODES)), encoding="utf-8"
    )
    records = tmp_path / "records.csv"
    records.write_text("place,sex\n" + "".join(f"{code},f\n" * 3 for code in CODES), encoding="utf-8")
    files = [
        str(records),
        str(regions),
        "--region-column",
        "place",
        "--quasi-identifiers",
        "sex",
        "-k",
        "2",
    ]
    crop = ["--construction", "crop", "--set", "crop.characters=2", "--range-reach", "0"]
    assert main(["run", *files, *crop, "--out", str(tmp_path / "out"), "--json", "--quiet"]) == 0
    (solution,) = json.loads(capsys.readouterr().out)["solutions"]
    assert solution["aggregated_regions"] == 3
    assert solution["crop"] == {"characters": 2}
    crosswalk = (
        (tmp_path / "out" / "release" / "crosswalk.csv").read_text(encoding="utf-8").splitlines()[1:]
    )
    found = dict(line.split(",") for line in crosswalk)
    assert len({found[code] for code in CODES if code.startswith("K1")}) == 1
    assert len(set(found.values())) == 3

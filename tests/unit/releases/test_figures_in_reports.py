"""What the reports of a release must tell: measures, formulas, regions of which nothing is released."""

import csv
import re
from dataclasses import replace

import pytest
from release_making import load, write_records, write_regions

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

FORMULAS = (
    "Some cells start like a formula (= + - @). Open the file as text, not in a spreadsheet program."
)


def rows_of(regions, note="n"):
    """Make two classes of six records in each of the first regions."""
    return [
        ["p", age, "f", f"r{region}", note]
        for region in range(regions)
        for age in ("10", "20")
        for _ in range(6)
    ]


def case_of(folder, rows, **choices):
    return load(write_records(folder, rows), write_regions(folder), **choices)


def page_of(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def table_of(page, mark):
    """Read the cells of the first table whose heading or caption has these words."""
    (table,) = [found for found in re.findall(r"<table>.*?</table>", page, re.S) if mark in found][:1]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]


def measures_of(page):
    return [tuple(cells[:2]) for cells in table_of(page, "Two digits are given")[1:]]


def test_the_recipient_gets_every_measure_that_follows_from_the_released_files(tmp_path):
    case_of(tmp_path, rows_of(16), sites=4).release(tmp_path / "out")
    # Four regions of 2 by 2 points, each with two classes of 24: √½ to the middle, log₂ 4 / log₂ 16,
    # 8 · 24² = 4,608 and 24 − k = 19.
    assert measures_of(page_of(tmp_path / "out" / "release")) == [
        ("Average distance to the mean point", "0.71 units"),
        ("Precision loss", "0.5"),
        ("Discernibility", "4,600"),
        ("Average anonymity deviation", "19"),
    ]


def test_in_tiers_the_recipient_gets_the_measures_but_for_the_precision(tmp_path):
    # Two records of r15 are released with a larger area only.
    case = case_of(tmp_path, [*rows_of(15), *[["p", age, "f", "r15", "n"] for age in ("10", "20")]])
    sites = create_approach("site_number", "fixed", {"sites": 16})
    location = create_approach("site_location", "balanced-density")
    construction = create_approach("construction", "voronoi")
    tiers = create_approach("tiers", "auto", {"factor": 4})
    request = Request(
        case.problem, sites, location, construction, tiers=tiers, settings=RunSettings(range_reach=0)
    )
    replace(case, result=run(request)).release(tmp_path / "out")
    assert [title for title, _ in measures_of(page_of(tmp_path / "out" / "release"))] == [
        "Average distance to the mean point",
        "Discernibility",
        "Average anonymity deviation",
    ]


@pytest.mark.parametrize(
    ("note", "escape", "warned"), [("=1+1", False, True), ("=1+1", True, False), ("n", False, False)]
)
def test_the_recipient_is_warned_of_formulas_that_are_released(tmp_path, note, escape, warned):
    options = ReleaseOptions(pdf=False, escape_formulas=escape)
    case_of(tmp_path, rows_of(16, note)).release(tmp_path / "out", options)
    assert (FORMULAS in page_of(tmp_path / "out" / "release")) == warned


def test_a_region_of_which_nothing_is_released_has_no_smallest_class(tmp_path):
    case = case_of(
        tmp_path, [*rows_of(15), ["p", "10", "f", "r15", "n"], ["p", "20", "f", "r15", "n"]], sites=16
    )
    case.release(tmp_path / "out")
    with (tmp_path / "out" / "internal" / "aggregated_regions.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        figures = [
            (row["records"], row["suppressed_records"], row["anonymity"]) for row in csv.DictReader(file)
        ]
    assert sorted(figures) == [("0", "2", ""), *[("12", "0", "6")] * 15]
    heading, *rows = table_of(page_of(tmp_path / "out" / "internal"), "smallest class</th>")
    at = heading.index("smallest class")
    assert sorted(row[at] for row in rows) == ["6"] * 15 + ["–"]

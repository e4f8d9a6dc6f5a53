"""Releases in tiers: what the files hold, counted again with nothing but the csv module, and tampering noticed."""

import csv
import json
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from pycanon import anonymity
from release_making import load, random_rows, write_records, write_regions

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.audit.claim import ReleaseClaim
from vbas_desktop.audit.verification import verify_release
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

K = 5
PLAIN = ReleaseOptions(shuffle=False, pdf=False, geometry=("geojson", "gpkg"), class_size="size")


def in_tiers(case, **parameters):
    """The same case with every region by itself and larger areas above."""
    sites = create_approach("site_number", "fixed", {"sites": len(case.problem.regions)})
    places, merging = (
        create_approach("site_location", "balanced-density"),
        create_approach("construction", "voronoi"),
    )
    tiers = create_approach("tiers", parameters.pop("name", "auto"), parameters)
    return replace(
        case,
        result=run(
            Request(
                case.problem, sites, places, merging, tiers=tiers, settings=RunSettings(range_reach=0)
            )
        ),
    )


@pytest.fixture
def case(tmp_path):
    records = write_records(tmp_path, random_rows(300, seed=3))
    return in_tiers(load(records, write_regions(tmp_path), k=K), factor=4)


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_code_and_class_has_k_records_and_every_code_contains_the_region(case, tmp_path):
    report = case.release(tmp_path / "out", PLAIN)
    folder = tmp_path / "out" / "release"
    assert all(check.passed for check in report.checks)
    assert "every combination is released in the smallest place where that is safe" in [
        c.name for c in report.checks
    ]
    rows, before = table(folder / "anonymized.csv"), table(tmp_path / "records.csv")
    classes = Counter((row["region"], row["age"], row["sex"]) for row in rows)
    assert min(classes.values()) >= K
    assert all(int(row["size"]) == classes[row["region"], row["age"], row["sex"]] for row in rows)
    assert {code[0] for code, _, _ in classes} == {"A", "B", "C"}
    walk = {row["initial_region"]: row for row in table(folder / "crosswalk.csv")}
    assert list(next(iter(walk.values()))) == ["initial_region", "aggregated_region", "tier_1", "tier_2"]
    person = {row["name"]: row for row in before}
    for row in rows:
        assert row["region"] in list(walk[person[row["name"]]["region"]].values())[1:]
    # What is released in its own region without tiers keeps it; the others are above.
    own = Counter((row["region"], row["age"], row["sex"]) for row in before)
    for row in rows:
        mine = person[row["name"]]
        large = own[mine["region"], mine["age"], mine["sex"]] >= K
        assert large == (row["region"] == walk[mine["region"]]["aggregated_region"])


def test_two_tiers_are_verified_as_three_are(tmp_path):
    records = write_records(tmp_path, random_rows(300, seed=3))
    case = in_tiers(load(records, write_regions(tmp_path), k=K), factor=16)
    report = case.release(tmp_path / "out", PLAIN)
    walk = table(tmp_path / "out" / "release" / "crosswalk.csv")
    assert list(walk[0]) == ["initial_region", "aggregated_region", "tier_1"]
    names = [check.name for check in report.checks if check.passed]
    assert "every combination is released in the smallest place where that is safe" in names


def test_sums_by_larger_place_are_exact_where_the_combination_is_listed(case, tmp_path):
    case.release(tmp_path / "out", PLAIN)
    folder = tmp_path / "out" / "release"
    above = {row["aggregated_region"]: row["parent"] for row in table(folder / "aggregated_regions.csv")}
    walk = {row["initial_region"]: row for row in table(folder / "crosswalk.csv")}
    listed = Counter((row["region"], row["age"], row["sex"]) for row in table(folder / "anonymized.csv"))
    exact = Counter(
        (walk[row["region"]]["tier_1"], row["age"], row["sex"])
        for row in table(tmp_path / "records.csv")
    )
    sums = defaultdict(int)
    for (code, *values), number in listed.items():
        sums[code if code.startswith("B") else above[code], *values] += number
    checked = [key for key in listed if key[0].startswith("B")]
    assert checked
    for key in checked:
        assert sums[key] == exact[key]
    for key in exact:
        assert sums[key] <= exact[key]


def test_tables_and_shapes_have_a_row_for_every_code_with_tier_and_parent(case, tmp_path):
    case.release(tmp_path / "out", PLAIN)
    folder = tmp_path / "out" / "release"
    rows = table(folder / "aggregated_regions.csv")
    assert [row["tier"] for row in rows] == ["0"] * 16 + ["1"] * 4 + ["2"]
    assert rows[-1]["parent"] == ""
    assert rows[-1]["kind"] == "whole area"
    codes = {row["aggregated_region"]: row for row in rows}
    assert len(codes) == 21
    assert all(codes[row["parent"]]["tier"] == str(int(row["tier"]) + 1) for row in rows[:-1])
    assert sum(int(row["records"]) for row in rows) == len(table(folder / "anonymized.csv"))
    features = json.loads((folder / "aggregated_regions.geojson").read_text())["features"]
    assert [feature["properties"]["aggregated_region"] for feature in features] == list(codes)
    assert {feature["properties"]["parent"] for feature in features[16:20]} == {"C001"}
    internal = table(tmp_path / "out" / "internal" / "aggregated_regions.csv")
    suppressed = case.solution.measures["suppressed_records"]
    assert sum(int(row["suppressed_records"]) for row in internal) == suppressed == 56


def test_pycanon_finds_k(case, tmp_path):
    import pandas

    case.release(tmp_path / "out", PLAIN)
    released = pandas.read_csv(tmp_path / "out" / "release" / "anonymized.csv")
    assert anonymity.k_anonymity(released, ["region", "age", "sex"]) >= K


def test_the_recipient_is_told_how_to_read_the_codes_and_not_how_many_are_suppressed(case, tmp_path):
    case.release(tmp_path / "out", PLAIN)
    text = (tmp_path / "out" / "release" / "report.html").read_text()
    assert "Places in tiers" in text
    assert "Example. " in text
    assert "is not stated" in text
    told = json.loads((tmp_path / "out" / "release" / "representability.json").read_text())
    assert told["excluded_classes"]["unnamed_records"] is None
    assert told["overall"]["jaccard"] is None
    assert (
        told["overall"]["sample_size_ratio_at_least"],
        told["overall"]["sample_size_ratio_at_most"],
    ) == (0, 1)
    assert told["coding"]["region"]["height"] == 3
    assert (
        sum(told["coding"]["region"]["records_by_level"].values()) == told["general"]["released_records"]
    )


def test_parquet_holds_the_same_records(case, tmp_path):
    import pandas

    case.release(tmp_path / "csv", PLAIN)
    case.release(tmp_path / "parquet", PLAIN.replaced(format="parquet"))
    one = pandas.read_csv(tmp_path / "csv" / "release" / "anonymized.csv", dtype=str)
    other = pandas.read_parquet(tmp_path / "parquet" / "release" / "anonymized.parquet").astype(str)
    assert sorted(map(tuple, one.to_numpy().tolist())) == sorted(map(tuple, other.to_numpy().tolist()))


def checked(case, tmp_path, tamper_rows=None, tamper_walk=None):
    report = case.release(tmp_path / "out", PLAIN)
    folder = tmp_path / "out" / "release"
    for name, tamper in (("anonymized.csv", tamper_rows), ("crosswalk.csv", tamper_walk)):
        if tamper is not None:
            (folder / name).write_text(tamper((folder / name).read_text()))
    columns = PLAIN.released_columns(case.table.file_format.header)
    claim = ReleaseClaim(
        folder / "anonymized.csv", folder / "crosswalk.csv", columns, "size", ",", False, report.records,
        report.records_released,
    )  # fmt: skip
    return verify_release(case.problem, case.table.file_format, claim, NO_PROGRESS)


def test_an_honest_file_passes(case, tmp_path):
    assert len(checked(case, tmp_path)) == 9


@pytest.mark.parametrize(
    ("rows", "walk", "noticed"),
    [
        (lambda text: text.replace(",B001,", ",B002,"), None, "only the stated changes"),
        (lambda text: text.replace(",B001,", ",C001,"), None, "smallest place"),
        (lambda text: text.replace(",A001,", ",B001,"), None, "only the stated changes"),
        (
            None,
            lambda text: text.replace(",B001,C001", ",B002,C001", 1),
            "lies in one place|only the stated changes",
        ),
        (None, lambda text: text.replace(",C001\n", ",C002\n", 1), "lies in one place of the next tier"),
    ],
)
def test_other_places_are_noticed(case, tmp_path, rows, walk, noticed):
    with pytest.raises(VerificationFailed, match=noticed):
        checked(case, tmp_path, rows, walk)


def test_places_of_the_region_file_have_their_names(tmp_path):
    records, regions = write_records(tmp_path, random_rows(300, seed=3)), write_regions(tmp_path)
    lines = regions.read_text().splitlines()
    halves = ["county,province", *(f"{'north' if number > 7 else 'south'},Home" for number in range(16))]
    regions.write_text("".join(f"{line},{half}\n" for line, half in zip(lines, halves, strict=True)))
    case = in_tiers(load(records, regions, k=K), name="columns", columns="county,province")
    assert case.solution.tiers.n_areas == (16, 2, 1)
    case.release(tmp_path / "out", PLAIN)
    rows = table(tmp_path / "out" / "release" / "aggregated_regions.csv")
    assert [(row["aggregated_region"], row["kind"], row["name"]) for row in rows[16:]] == [
        ("B001", "county", "north"),
        ("B002", "county", "south"),
        ("C001", "province", "Home"),
    ]


def test_a_release_in_tiers_without_its_region_is_verified(case, tmp_path):
    options = PLAIN.replaced(columns=("name", "age", "sex", "note"), class_size=None)
    report = case.release(tmp_path / "out", options)
    assert all(check.passed for check in report.checks)
    rows = table(tmp_path / "out" / "release" / "anonymized.csv")
    assert list(rows[0]) == ["name", "age", "sex", "note"]
    assert len(rows) == case.solution.released_records

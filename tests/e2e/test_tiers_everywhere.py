"""Tiers by the command line together with all else: offered, compared, searched, refined, verified, described."""

from __future__ import annotations

import csv
import json
import math
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pytest
from release_making import random_rows, write_records, write_regions

from vbas_desktop.cli.main import main
from vbas_desktop.io.documents.run_options import repeat_command

TIERS = ("--tiers", "auto", "--tier-factor", "4")


@pytest.fixture
def files(tmp_path):
    return [str(write_records(tmp_path, random_rows(400, seed=3))), str(write_regions(tmp_path))]


def vbas(command, files, *more):
    usual = ["--region-column", "region", "--quasi-identifiers", "age,sex", "-k", "5", "--quiet"]
    return main([command, *files, *usual, *more])


def one_solution(capsys, files, *more):
    assert vbas("run", files, "--sites", "16", "--range-reach", "0", "--json", *more) == 0
    document = json.loads(capsys.readouterr().out)
    return document, document["solutions"][0]


def test_a_run_that_loses_records_says_what_tiers_would_lose(files, capsys):
    document, lossy = one_solution(capsys, files)
    offer = document["in_tiers"]
    _, tiered = one_solution(capsys, files, "--tiers", "auto")
    assert offer["suppressed_records"] == tiered["measures"]["suppressed_records"]
    assert offer["suppressed_records"] < lossy["measures"]["suppressed_records"]
    assert offer["text"] == "38.5 % of the records are lost; in tiers 0.50 %."
    assert vbas("run", files, "--sites", "16", "--range-reach", "0") == 0
    assert f"Solution 1: {offer['text']} Use --tiers auto." in capsys.readouterr().out


def test_a_run_that_loses_nothing_or_is_in_tiers_offers_none(files, capsys):
    assert "in_tiers" not in one_solution(capsys, files, *TIERS)[0]
    assert vbas("run", files, "--sites", "1", "--range-reach", "0") == 0
    assert "in tiers" not in capsys.readouterr().out


def released(files, folder, *more):
    chosen = ("--sites", "16", "--range-reach", "0", "--no-pdf", "--allow-column", "name,note")
    assert vbas("run", files, *chosen, "--out", str(folder), *more) == 0
    return folder / "release"


def test_a_release_in_tiers_is_verified_and_exported_again(files, tmp_path, capsys):
    release = released(files, tmp_path / "out", *TIERS)
    capsys.readouterr()
    verified = [
        str(release / "anonymized.csv"),
        "--quasi-identifiers",
        "age,sex",
        "--region-column",
        "region",
        "-k",
    ]
    assert main(["verify", *verified, "5", "--quiet"]) == 0
    smallest = json.loads(capsys.readouterr().out)["anonymity"]
    assert smallest >= 5
    assert main(["verify", *verified, str(smallest + 1), "--quiet"]) == 3
    assert main(["export", str(tmp_path / "out"), "--out", str(tmp_path / "again"), "--quiet"]) == 0
    for name in (
        "anonymized.csv",
        "crosswalk.csv",
        "aggregated_regions.csv",
        "aggregated_regions.geojson",
    ):
        assert (tmp_path / "again" / "release" / name).read_bytes() == (release / name).read_bytes()


def test_representability_takes_the_tiers_for_levels_of_the_place(files, tmp_path, capsys):
    release = released(files, tmp_path / "out", *TIERS)
    capsys.readouterr()
    compared = [
        files[0],
        str(release / "anonymized.csv"),
        "--key",
        "name",
        "--quasi-identifiers",
        "region,age,sex",
    ]
    places = ["--crosswalk", str(release / "crosswalk.csv"), "--region-column", "region"]
    assert main(["representability", *compared, *places, "-k", "5", "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    kept = detail_of_places(release)
    assert told["general"]["released_records"] == len(kept)
    assert list(told["general"]["approaches"]) == ["delete", "generalise"]
    # Age and sex stay as they are; of suppressed records nothing is kept.
    records = told["general"]["original_records"]
    assert told["overall"]["precision"] == pytest.approx((2 * len(kept) + sum(kept)) / (3 * records))


def detail_of_places(release):
    """Of each released record the detail kept of the place that it carries, from the released files alone."""
    with (release / "crosswalk.csv").open() as file:
        _, *rows = csv.reader(file)
    regions = Counter(code for row in rows for code in row[1:])
    with (release / "anonymized.csv").open() as file:
        codes = [row["region"] for row in csv.DictReader(file)]
    assert {code[0] for code in codes} == set("ABC")
    return [1 - math.log2(regions[code]) / math.log2(len(rows)) for code in codes]


def test_the_detail_of_a_place_is_that_of_the_place_which_the_record_carries(files, tmp_path):
    release = released(files, tmp_path / "out", *TIERS)
    kept = detail_of_places(release)
    mean = sum(kept) / len(kept)
    assert 0 < mean < 1
    (solution,) = json.loads((tmp_path / "out" / "run.json").read_text())["solutions"]
    told = solution["representability"]
    assert told["precision_by_column"] == {"age": 1.0, "sex": 1.0, "region": pytest.approx(mean)}
    assert told["precision_with_suppressed"] == pytest.approx((2 + mean) / 3 * len(kept) / 400)
    handed_on = json.loads((release / "representability.json").read_text())["overall"]
    assert handed_on["precision_by_column"]["region"] == float(f"{mean:.2g}")
    assert not [name for name in handed_on if name.endswith("with_suppressed")]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--crosswalk", "FILE"], "go together"),
        (["--crosswalk", "RECORDS", "--region-column", "region"], "not the crosswalk of a release"),
        (["--crosswalk", "nowhere.csv", "--region-column", "region"], "cannot be read"),
        (["--crosswalk", "RECORDS", "--region-column", "note"], "not among the quasi-identifiers"),
    ],
)
def test_a_crosswalk_that_is_none_is_told(files, more, message, capsys):
    more = [files[0] if word == "RECORDS" else word for word in more]
    compared = [files[0], files[0], "--key", "name", "--quasi-identifiers", "region,age", "--quiet"]
    assert main(["representability", *compared, *more]) in (1, 2)
    assert message in capsys.readouterr().err


def test_tiers_are_compared_with_and_without_refinement(files, capsys):
    refined = ("--tiers", "none;auto", "--refinement", "none,boundaries")
    assert vbas("compare", files, *refined, "--sites", "8", "--range-reach", "0", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["solutions"]
    lost = {(row["refinement"], row["tiers"]): row["suppressed_records"] for row in rows}
    assert len(lost) == 4
    for refinement in ("none", "boundaries"):
        assert lost[refinement, "auto"] <= lost[refinement, "none"]


def test_a_search_in_tiers_loses_no_more(files, capsys):
    def lost(*more):
        assert vbas("search", files, "--json", *more) == 0
        found = json.loads(capsys.readouterr().out)
        (chosen,) = [node for node in found["nodes"] if node["node"] == found["recommended_node"]]
        return chosen["suppressed_records"], chosen["place_information_loss"]

    assert lost(*TIERS) <= lost()


def test_columns_with_a_comma_in_their_name_are_tiers_and_repeated(files, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    regions = Path(files[1])
    lines = regions.read_text().splitlines()
    halves = [
        '"County, or city",Land',
        *(f"{'north' if number > 7 else 'south'},Home" for number in range(16)),
    ]
    regions.write_text("".join(f"{line},{half}\n" for line, half in zip(lines, halves, strict=True)))
    release = released(files, tmp_path / "out", "--tiers", '"County, or city",Land')
    kinds = {
        row["kind"]
        for row in csv.DictReader((release / "aggregated_regions.csv").read_text().splitlines())
    }
    assert {"County, or city", "Land"} <= kinds
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    shutil.copy(tmp_path / "out" / "internal" / "shuffle-seed.txt", tmp_path)
    words = shlex.split(repeat_command(run, 1))[1:]
    words = [
        str(tmp_path / "again") if before == "--out" else word
        for before, word in zip(["", *words], words, strict=False)
    ]
    assert main([*words, "--quiet"]) == 0
    for name in ("anonymized.csv", "aggregated_regions.csv"):
        assert (tmp_path / "again" / "release" / name).read_bytes() == (release / name).read_bytes()
    # Without quotes these are names of other columns.
    capsys.readouterr()
    assert vbas("run", files, "--tiers", "County, or city,Land") == 1
    assert "“County”" in capsys.readouterr().err

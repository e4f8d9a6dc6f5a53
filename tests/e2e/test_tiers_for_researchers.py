"""The example for researchers runs as it stands, in the folder of a real release, and says what is true."""

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest
from pycanon import anonymity

from vbas_desktop.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_data"
DATA = [str(SAMPLE / "records.csv"), str(SAMPLE / "regions.geojson"), "--region-column=tract", "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release in tiers of the sample data: every tract by itself, and a k that makes many combinations small."""
    out = tmp_path_factory.mktemp("tiers") / "out"
    chosen = [
        "--quasi-identifiers=age,sex",
        "--identifiers=health_number",
        "--sites=281",
        "--range-reach=0",
    ]
    told = ["-k20", "--tiers=auto", "--no-pdf", f"--out={out}"]
    assert main(["run", *DATA, *chosen, *told]) == 0
    return out / "release"


def test_the_example_runs_in_the_folder_of_a_release_and_its_bounds_hold(
    folder, monkeypatch, capsys, tmp_path
):
    text = (ROOT / "docs" / "tiers-for-researchers.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    script = tmp_path / "example.py"
    script.write_text(code.replace(", 5\n", ", 20\n", 1), encoding="utf-8")
    monkeypatch.chdir(folder)
    found = runpy.run_path(str(script))
    said = capsys.readouterr().out
    assert "of the totals by larger area are exact" in said
    walk = pd.read_csv("crosswalk.csv", dtype=str).set_index("initial_region")
    before = pd.read_csv(SAMPLE / "records.csv", dtype=str)
    truth = (
        before.assign(place=before["tract"].map(walk["tier_1"])).groupby(["place", "age", "sex"]).size()
    )
    sums, exact = found["by_place"], found["exact"]
    assert exact.any()
    assert not exact.all()
    for key in sums.index[exact]:
        assert sums[key] == truth[key]
    for key in truth.index:
        assert sums.get(key, 0) <= truth[key]
    regions = before.assign(region=before["tract"].map(walk["aggregated_region"]))
    first = found["first"]
    own = regions[regions["region"] == first].groupby(["age", "sex"]).size()
    for combination, (least, most) in found["table"].iterrows():
        assert least <= own.get(combination, 0) <= most


def test_pycanon_and_vbas_verify_find_k_in_the_released_file(folder):
    released = pd.read_csv(folder / "anonymized.csv", dtype=str)
    assert {code[0] for code in released["tract"]} >= {"A", "B"}
    assert anonymity.k_anonymity(released, ["tract", "age", "sex"]) >= 20
    file = str(folder / "anonymized.csv")
    assert (
        main(["verify", file, "--region-column=tract", "--quasi-identifiers=age,sex", "-k20", "--quiet"])
        == 0
    )


def test_export_repeats_a_release_in_tiers_and_compare_takes_both(folder, tmp_path, capsys):
    again = tmp_path / "again"
    assert main(["export", str(folder.parent), "--out", str(again), "--quiet"]) == 0
    for name in (
        "anonymized.csv",
        "crosswalk.csv",
        "aggregated_regions.csv",
        "aggregated_regions.geojson",
    ):
        assert (again / "release" / name).read_bytes() == (folder / name).read_bytes()
    capsys.readouterr()
    chosen = [
        "--quasi-identifiers=age,sex",
        "--sites=281",
        "--range-reach=0",
        "-k20",
        "--tiers=none;auto",
    ]
    assert main(["compare", *DATA, *chosen, f"--out={tmp_path / 'compared'}"]) == 0
    table = pd.read_csv(tmp_path / "compared" / "comparison.csv")
    assert table["tiers"].tolist() == ["none", "auto"]
    assert table["suppressed_records"].is_monotonic_decreasing
    assert table["place_information_loss"].is_monotonic_decreasing
    assert "Tiers: which approach is lowest" in capsys.readouterr().out


def test_columns_of_the_region_file_are_refused_in_words_if_they_are_not_there(capsys):
    chosen = ["--quasi-identifiers=age,sex", "--tiers=county,province"]
    assert main(["run", *DATA, *chosen]) == 1
    said = capsys.readouterr().err
    assert (
        "The region file has no column “county” apart from coordinates. The columns are “id”, “name”"
        in said
    )
    assert main(["run", *DATA, "--quasi-identifiers=age,sex", "--within=county"]) == 1
    assert (
        "The region file has no column “county” apart from coordinates. The columns are “id”, “name”"
        in capsys.readouterr().err
    )


def test_a_column_of_the_region_file_whose_values_differ_everywhere_cannot_serve(capsys):
    for option, told in (
        ("tiers", "says in which larger areas"),
        ("within", "says within which boundaries"),
    ):
        assert main(["run", *DATA, "--quasi-identifiers=age,sex", f"--{option}=population"]) == 1
        assert f"No column “population” of the region file {told}" in capsys.readouterr().err

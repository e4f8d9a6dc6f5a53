"""The Python interface: paths or data frames in, data frames and pictures out."""

from __future__ import annotations

import ast
import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import shapely

import vbas_desktop as vbas
from vbas_desktop.cli.main import main
from vbas_desktop.model.errors import InputError, UsageError

ROOT = Path(__file__).parents[3]
COLUMNS = {"region_column": "tract", "quasi_identifiers": ["age", "sex"], "identifiers": ["person"]}


@pytest.fixture
def frames():
    """Records and regions as data frames."""
    rng = np.random.default_rng(1)
    regions = pd.DataFrame({"id": [f"R{i}" for i in range(16)], "x": np.repeat(range(4), 4), "y": [0, 1, 2, 3] * 4})
    values = rng.integers([1, 1, 0], [5, 3, 16], (900, 3))
    records = pd.DataFrame(
        {
            "person": [f"P{i}" for i in range(900)],
            "age": values[:, 0],
            "sex": np.where(values[:, 1] == 1, "F", "M"),
            "tract": [f"R{i}" for i in values[:, 2]],
        }
    )
    return records, regions


@pytest.fixture
def made(frames):
    """A run of three numbers of sites."""
    return vbas.run(vbas.read(*frames, **COLUMNS), k=4, sites=5, range_reach=1, range_step_percent=20)


def test_a_solution_says_as_many_suppressed_records_as_its_table(frames):
    records, regions = frames
    # Records of unknown regions are suppressed, too.
    records.loc[:99, "tract"] = "unknown"
    data = vbas.read(records, regions, **COLUMNS)
    found = vbas.run(data, k=12, sites=8, range_reach=0, unknown_regions="suppress")
    lost = int(found.to_frame().loc[1, "suppressed_records"])
    assert lost > 100
    assert f", {lost:,} records suppressed>" in repr(found.chosen)


def test_the_examples_of_the_documentation_run(tmp_path, monkeypatch, capsys):
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(examples) == 4
    for example in examples:
        exec(compile(example, "docs/python.md", "exec"), names)
    assert len(names["table"]) == 4
    assert names["picture"].startswith("<svg")
    assert (tmp_path / "release" / "release" / "anonymized.csv").is_file()


def test_the_notebook_runs_and_every_step_shows_something(monkeypatch):
    notebook = json.loads((ROOT / "docs" / "examples" / "release.ipynb").read_text(encoding="utf-8"))
    monkeypatch.chdir(ROOT / "docs" / "examples")
    names: dict[str, object] = {}
    shown = []
    for cell in (each for each in notebook["cells"] if each["cell_type"] == "code"):
        assert not cell["outputs"], "a notebook is kept without what it showed"
        tree = ast.parse("".join(cell["source"]))
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "release.ipynb", "exec"), names)
        if last is not None:
            shown.append(eval(compile(last, "release.ipynb", "eval"), names))
    data, run, solution, regions, told = shown
    assert "105,000 records in 281 regions" in data._repr_html_()
    assert "<table" in run._repr_html_()
    assert solution._repr_svg_().startswith("<svg")
    assert len(regions) == 5
    assert re.fullmatch(r"\d+,\d+ records released, [\d,]+ suppressed", told)


def test_importing_costs_nothing():
    code = "import sys, vbas_desktop; heavy = {'numpy', 'pandas', 'shapely', 'numba'} & set(sys.modules); print(heavy)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"


def test_what_is_public_is_listed_and_nothing_else_is_offered():
    assert set(vbas.__all__) <= set(dir(vbas))
    for name in vbas.__all__:
        assert getattr(vbas, name)
    with pytest.raises(AttributeError, match="nothing"):
        vbas.nothing  # noqa: B018


def test_frames_and_files_give_the_same_release_as_the_command(frames, tmp_path, monkeypatch, capsys):
    records, regions = frames
    records.to_csv(tmp_path / "records.csv", index=False)
    regions.to_csv(tmp_path / "regions.csv", index=False)
    monkeypatch.chdir(tmp_path)
    words = "--region-column tract --quasi-identifiers age,sex --identifiers person -k 4 --sites 5 --range-reach 1"
    more = "--range-step 20 --shuffle-seed ab --no-pdf --rename tract=area --out command --quiet"
    assert main(["run", "records.csv", "regions.csv", *words.split(), *more.split()]) == 0
    for name, given in {"frames": frames, "files": ("records.csv", tmp_path / "regions.csv")}.items():
        run = vbas.run(vbas.read(*given, **COLUMNS), k=4, sites=5, range_reach=1, range_step_percent=20)
        report = vbas.release(run, name, shuffle_seed="ab", pdf=False, renames={"tract": "area"})
        assert report.records_released == 900
        for path in (tmp_path / "command" / "release").iterdir():
            assert path.read_bytes() == (tmp_path / name / "release" / path.name).read_bytes()
    assert main(["export", "files", "--out", "again", "--quiet"]) == 0
    vbas.export("files", "once more")
    for folder in ("again", "once more"):
        assert (tmp_path / folder / "release" / "anonymized.csv").read_bytes() == (
            tmp_path / "command" / "release" / "anonymized.csv"
        ).read_bytes()


def test_a_run_is_a_table_and_its_solutions_are_maps(made):
    table = made.to_frame()
    assert list(table.index) == [1, 2, 3]
    assert list(table["sites"]) == [4, 5, 6]
    assert made.chosen.id == 2
    assert "suppressed_records" in made._repr_html_()
    solution = made[3]
    assert solution.measures == made.solutions[2].measures
    regions, crosswalk = solution.to_frame(), solution.crosswalk()
    assert len(regions) == table.loc[3, "aggregated_regions"]
    assert regions["records"].sum() + regions["suppressed_records"].sum() == 900
    assert set(crosswalk["aggregated_region"]) == set(regions["aggregated_region"])
    assert list(crosswalk["initial_region"]) == [f"R{i}" for i in range(16)]
    assert solution._repr_svg_().startswith("<svg")
    features = solution.__geo_interface__["features"]
    assert len(features) == len(regions)
    assert all(shapely.from_geojson(json.dumps(each["geometry"])).area > 0 for each in features)
    assert solution.representability["jaccard"] == table.loc[3, "jaccard"]


def test_data_show_their_columns_and_no_record(frames):
    data = vbas.read(*frames, **COLUMNS)
    assert (data.records, data.regions) == (900, 16)
    assert data.to_frame().set_index("column")["role"].to_dict() == {
        "person": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "tract": "region",
    }
    assert "P17" not in data._repr_html_()


class Features:
    """What GeoPandas gives: features with properties and a geometry."""

    def __init__(self, regions: pd.DataFrame) -> None:
        self.__geo_interface__ = {
            "type": "FeatureCollection",
            "bbox": [0, 0, 4, 4],
            "features": [
                {
                    "type": "Feature",
                    "properties": {"id": row.id},
                    "geometry": shapely.geometry.mapping(shapely.box(row.x, row.y, row.x + 1, row.y + 1)),
                }
                for row in regions.itertuples()
            ],
        }


def test_regions_may_have_a_geo_interface(frames):
    records, regions = frames
    data = vbas.read(records, Features(regions), coordinates="planar", **COLUMNS)
    solution = vbas.run(data, k=4, sites=5, range_reach=0).chosen
    shapes = [shapely.from_geojson(json.dumps(each["geometry"])) for each in solution.__geo_interface__["features"]]
    assert sum(shape.area for shape in shapes) == pytest.approx(16)


def test_groups_and_requirement_are_used(frames, tmp_path):
    groups = {"age": {1: "1-2", 2: "1-2", 3: "3-4", 4: "3-4"}}
    data = vbas.read(*frames, groups=groups, **COLUMNS)
    need = {"format_version": 1, "overall": {"jaccard": {"min": 0.0001}}}
    run = vbas.run(data, k=4, sites=5, range_reach=0, requirement=need)
    vbas.release(run, tmp_path / "out", pdf=False, requirement=need)
    released = pd.read_csv(tmp_path / "out" / "release" / "anonymized.csv")
    assert set(released["age"]) == {"1-2", "3-4"}
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["solutions"][0]["meets_requirement"] is True


def test_a_comparison_lists_every_combination(frames, tmp_path):
    data = vbas.read(*frames, **COLUMNS)
    found = vbas.compare(
        data, k=[4, 6], sites=5, site_location=["density", "random"], range_reach=0, out=tmp_path / "c"
    )
    table = found.to_frame()
    assert sorted(zip(table["k"], table["site_location"], strict=True)) == [
        (4, "density"), (4, "random"), (6, "density"), (6, "random"),
    ]  # fmt: skip
    assert (tmp_path / "c" / "comparison.csv").is_file()
    assert "Comparison of 4 combinations" in found._repr_html_()


def test_verifying_a_frame_says_what_the_command_says(frames, tmp_path):
    records, _ = frames
    few = pd.concat([records, records.head(1).assign(age=99)])
    told = vbas.verify(few, quasi_identifiers=["age", "sex"], region_column="tract", k=2)
    assert (told["ok"], told["anonymity"], told["records"]) == (False, 1, 901)
    assert vbas.verify(records, quasi_identifiers="age,sex", region_column="tract", k=1)["ok"]


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"range_reech": 1}, TypeError, "did you mean range_reach"),
        ({"k": 0}, InputError, "the least is 1"),
        ({"unknown_regions": "forget"}, InputError, "Choose one of stop, suppress"),
        ({"site_location": "magic"}, InputError, "no site location “magic”"),
        ({"site_number": "fixed"}, UsageError, "“fixed” needs --sites"),
        ({"site_number": "maxcombs", "adc_seeding": "density", "site_location": "density"}, TypeError, "no effect"),
        ({"parameters": {"magic": {"a": 1}}}, UsageError, "no approach of this run"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(frames, settings, error, words):
    with pytest.raises(error, match=words):
        vbas.run(vbas.read(*frames, **COLUMNS), **{"range_reach": 0, **settings})


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"region_column": "tracts"}, InputError, "tracts"),
        ({"quasi_identifiers": "age,sax"}, InputError, "sax"),
        ({"coordinates": "polar"}, InputError, "Choose one of"),
        ({"delimeter": ";"}, TypeError, "did you mean delimiter"),
    ],
)
def test_wrong_columns_and_options_are_refused_when_reading(frames, change, error, words):
    with pytest.raises(error, match=words):
        vbas.read(*frames, **{**COLUMNS, **change})


def test_other_things_than_paths_and_frames_are_refused(frames):
    with pytest.raises(TypeError, match="neither a path nor a data frame"):
        vbas.read([1, 2], frames[1], **COLUMNS)


def test_progress_is_told_to_whoever_asks(frames):
    told = []
    data = vbas.read(*frames, **COLUMNS, progress=lambda stage, fraction: told.append(stage))
    vbas.run(data, k=4, sites=5, range_reach=0, progress=lambda stage, fraction: told.append(stage))
    assert "Reading regions" in told
    assert "Merging regions" in told


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="records lie in memory on Linux only")
def test_records_of_a_frame_reach_no_disk_and_go_away(frames):
    data = vbas.read(*frames, **COLUMNS)
    path = Path(data._loaded.table.source.path)
    assert path.is_symlink()
    assert "memfd" in os.readlink(path.readlink())
    folder = path.parent
    assert folder.stat().st_mode & 0o077 == 0
    del data
    gc.collect()
    assert not folder.exists()


def test_limits_are_keywords_too(frames):
    records, regions = frames
    data = vbas.read(records, regions.assign(county=["A", "B"] * 8, people=10), **COLUMNS)
    wanted = {"within": "county", "min_population": 30, "population_column": "people", "alone": ["R3"]}
    run = vbas.run(data, site_number="fixed", sites=12, range_reach=0, progress=False, **wanted)
    crosswalk = run.chosen.crosswalk().set_index("initial_region")["aggregated_region"]
    county = dict(zip(regions["id"], ["A", "B"] * 8, strict=True))
    assert all(len({county[id] for id in group}) == 1 for group in crosswalk.groupby(crosswalk).groups.values())
    sizes = crosswalk.value_counts()
    assert sizes[crosswalk["R3"]] == 1
    assert sizes.drop(crosswalk["R3"]).min() >= 3

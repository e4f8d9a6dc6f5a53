"""The Python interface: paths or data frames in, data frames and pictures out."""

from __future__ import annotations

import ast
import gc
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import shapely

import vbas_desktop as vbas
from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import InputError, UsageError
from vbas_desktop.settings.reading import ReadingSettings
from vbas_desktop.settings.run import ColumnRoles

ROOT = Path(__file__).parents[2]
QUESTION = {"region_column": "tract", "quasi_identifiers": "age,sex"}
COLUMNS = {"region_column": "tract", "quasi_identifiers": ["age", "sex"], "identifiers": ["person"]}


@pytest.fixture
def frames():
    """Records and regions as data frames."""
    rng = np.random.default_rng(1)
    regions = pd.DataFrame(
        {"id": [f"R{i}" for i in range(16)], "x": np.repeat(range(4), 4), "y": [0, 1, 2, 3] * 4}
    )
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
    with pytest.warns(
        vbas.FindingWarning, match="^records, row 0, column “tract”: 100 records .* rows 0, 1, 2"
    ):
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
    assert len(examples) == 8
    for example in examples:
        if "vbas.risky" in example:
            # It leaves columns unsearched, as the sentence below it says.
            warnings.simplefilter("ignore", vbas.FindingWarning)
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
    assert dir(vbas) == sorted(vbas.__all__)
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
                    "geometry": shapely.geometry.mapping(
                        shapely.box(row.x, row.y, row.x + 1, row.y + 1)
                    ),
                }
                for row in regions.itertuples()
            ],
        }


def test_regions_may_have_a_geo_interface(frames):
    records, regions = frames
    data = vbas.read(records, Features(regions), coordinates="planar", **COLUMNS)
    solution = vbas.run(data, k=4, sites=5, range_reach=0).chosen
    shapes = [
        shapely.from_geojson(json.dumps(each["geometry"]))
        for each in solution.__geo_interface__["features"]
    ]
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
        ({"k": 0}, InputError, "must be a whole number at least 1"),
        ({"unknown_regions": "forget"}, InputError, "must be one of stop, suppress"),
        ({"site_location": "magic"}, InputError, "no site location “magic”"),
        ({"site_number": "fixed"}, UsageError, "“fixed” needs sites"),
        (
            {"site_number": "maxcombs", "adc_seeding": "density", "site_location": "density"},
            TypeError,
            "no effect",
        ),
        ({"site_number": "limit", "sites": 4}, TypeError, "^sites: no effect"),
        (
            {"parameters": {"magic": {"a": 1}}},
            UsageError,
            "^parameters magic.a: no approach of this run",
        ),
        (
            {"parameters": {"adc": 1}},
            TypeError,
            r"^parameters\['adc'\] must be a dict of parameters and values$",
        ),
        ({"k": 2.5}, InputError, "^“k” must be a whole number at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(frames, settings, error, words):
    with pytest.raises(error, match=words):
        vbas.run(vbas.read(*frames, **COLUMNS), **{"range_reach": 0, **settings})


def test_columns_of_a_frame_with_the_same_name_are_named_without_a_line(frames):
    records = frames[0].rename(columns={"person": "age"})
    with pytest.raises(
        InputError,
        match=r"^records: 2 columns have the name “age”\. Give every column a name of its own\.$",
    ):
        vbas.read(records, frames[1], **COLUMNS)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"region_column": "tracts"}, InputError, "tracts"),
        ({"quasi_identifiers": "age,sax"}, InputError, "sax"),
        ({"coordinates": "polar"}, InputError, "must be one of auto, planar"),
        ({"delimeter": ";"}, TypeError, "did you mean delimiter"),
    ],
)
def test_wrong_columns_and_options_are_refused_when_reading(frames, change, error, words):
    with pytest.raises(error, match=words):
        vbas.read(*frames, **{**COLUMNS, **change})


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda records: vbas.verify(records, **QUESTION, k=0), InputError, "^“k” must be"),
        (lambda records: vbas.risky(records, k=0), InputError, "^“k” must be"),
        (
            lambda records: vbas.risky(records, strategy="magic"),
            UsageError,
            "strategy cannot be “magic”; it is one of",
        ),
        (
            lambda records: vbas.risky(records, numbers="magic"),
            UsageError,
            "numbers cannot be “magic”; it is one of",
        ),
        (lambda records: vbas.run(records), TypeError, "data must be a Data, not a DataFrame"),
        (lambda records: vbas.search(records), TypeError, "data must be a Data, not a DataFrame"),
        (lambda records: vbas.compare(records), TypeError, "data must be a Data, not a DataFrame"),
        (
            lambda records: vbas.release(records, "out"),
            TypeError,
            "solution must be a Solution, not a DataFrame",
        ),
    ],
)
def test_wrong_arguments_are_refused_by_their_names(frames, call, error, words):
    with pytest.raises(error, match=words):
        call(frames[0])


def test_a_comparison_is_of_whole_numbers_and_known_words(frames):
    data = vbas.read(*frames, **COLUMNS)
    with pytest.raises(InputError, match="“k” must be"):
        vbas.compare(data, k=[4, 0])
    with pytest.raises(UsageError, match="generalised cannot be “maybe”; it is one of no, yes, both"):
        vbas.compare(data, generalised="maybe")


def test_there_is_no_solution_of_another_number(made):
    with pytest.raises(UsageError, match=r"^solution 99: this run has the solutions 1 to 3"):
        made[99]


def test_the_settings_of_a_run_repeat_it(frames):
    groups = {"age": {"1": "young", "2": "young", "3": "old", "4": "old"}}
    chosen = {"site_location": "adc", "sites": 5, "range_reach": 0, "k": 4, "random_seed": 3}
    made = vbas.run(
        vbas.read(*frames, **COLUMNS, groups=groups),
        parameters={"adc": {"objective": "suppression"}},
        **chosen,
    )
    settings = made.settings
    assert settings["groups"] == groups
    assert settings["site_location"] == "adc"
    assert settings["parameters"]["adc"]["objective"] == "suppression"
    reading = {option.name for option in (*ReadingSettings.options(), *ColumnRoles.options())}
    data = vbas.read(*frames, **{name: settings[name] for name in reading})
    again = vbas.run(data, **{name: value for name, value in settings.items() if name not in reading})
    assert again.settings == settings
    assert again.chosen.crosswalk().equals(made.chosen.crosswalk())


def test_what_should_be_known_is_a_warning_of_every_function(frames, tmp_path):
    records, regions = frames
    records.loc[:4, "tract"] = "unknown"
    data = vbas.read(records, regions, **COLUMNS)
    calls = [
        lambda: vbas.run(data, k=4, unknown_regions="suppress"),
        lambda: vbas.compare(data, k=4, unknown_regions="suppress"),
        lambda: vbas.search(data, k=4, unknown_regions="suppress"),
    ]
    for call in calls:
        with pytest.warns(
            vbas.FindingWarning, match="^records, row 0, column “tract”: 5 records"
        ) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(
        vbas.FindingWarning, match=r"without having been searched: tract\..*Search them too \(columns\)"
    ):
        vbas.risky(
            records, columns=["age", "sex"], identifiers="person", k=3, out=tmp_path / "coarsened"
        )


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


def test_errors_about_a_frame_name_its_row_and_the_keyword(frames):
    records, regions = frames
    with pytest.raises(InputError) as error:
        vbas.read(records, regions.assign(x=[*map(str, range(15)), "far"]), **COLUMNS)
    finding = error.value.findings[0]
    assert (finding.file, finding.row, finding.column) == ("regions", 15, "x")
    assert str(error.value).startswith("regions, row 15, column “x”: ")
    assert "regions.csv" not in str(error.value)
    with pytest.raises(InputError, match=r"^records: There is no column “tracts”"):
        vbas.verify(records, quasi_identifiers="age,sex", region_column="tracts", k=2)


def test_a_row_is_found_behind_line_breaks_within_values(frames):
    records, regions = frames
    records = records.assign(note="two\nlines")
    records.loc[7, "tract"] = "unknown"
    data = vbas.read(records, regions, **COLUMNS)
    with pytest.raises(InputError, match=r"^records, row 7, column “tract”"):
        vbas.run(data, k=4, sites=5, range_reach=0)


def test_groups_of_a_run_replace_those_of_the_data(frames, tmp_path):
    data = vbas.read(*frames, groups={"age": {1: "1-3", 2: "1-3", 3: "1-3"}}, **COLUMNS)
    run = vbas.run(data, k=4, sites=5, range_reach=0, groups={"age": {1: "1-2", 2: "1-2"}})
    released = vbas.release(run, tmp_path / "out", pdf=False).to_frame()
    assert set(released["age"]) == {"1-2", "3", "4"}


def test_a_release_is_read_as_it_was_verified_or_not_at_all(made, tmp_path):
    for file_format in ("csv", "parquet"):
        report = vbas.release(made, tmp_path / file_format, pdf=False, format=file_format)
        frame = report.to_frame()
        assert len(frame) == report.records_released
        assert list(frame.columns) == ["age", "sex", "tract"]
        assert f"<Release of {report.records_released:,} of 900 records: " in repr(report)
    path = report.folder / "anonymized.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(InputError, match="not the one that was verified"):
        report.to_frame()


def test_a_search_gives_groups_for_a_run(frames, tmp_path):
    data = vbas.read(*frames, **COLUMNS)
    levels = {"age": [{"1": "1-2", "2": "1-2", "3": "3-4", "4": "3-4"}]}
    found = vbas.search(data, k=4, levels=levels, pin={"sex": 0}, out=tmp_path / "found")
    table = found.to_frame()
    assert found.recommended in table.index
    assert list(table["age_level"]) == [0, 1, 2], "every ladder ends in one group"
    assert f"recommended: {found.recommended}>" in repr(found)
    assert found.groups(2)["age"]["1"] == found.groups(2)["age"]["2"] == "1-2"
    assert vbas.run(data, k=4, sites=5, range_reach=0, groups=found.groups()).solutions
    assert (tmp_path / "found" / "search.csv").is_file()


def test_risky_combinations_are_listed_and_coarsened(frames, tmp_path):
    records, _ = frames
    odd = records.drop(columns="person")
    odd.loc[0, "age"] = 99
    found = vbas.risky(odd, columns=["age", "sex"], k=3)
    table = found.to_frame()
    assert len(table) >= 1
    assert "99" not in table.to_string()
    safe = vbas.risky(odd[["age", "sex"]], k=3, out=tmp_path / "coarsened")
    released = safe.to_frame()
    assert released.groupby(["age", "sex"], dropna=False).size().min() >= 3
    assert "coarsened" in repr(safe)


def test_small_classes_are_counted_and_handled(frames, tmp_path):
    records, _ = frames
    odd = records.drop(columns="person")
    odd.loc[0, "age"] = 99
    counted = vbas.outliers(odd, quasi_identifiers=["age", "sex"], k=3)
    assert counted.text
    with pytest.raises(UsageError, match="name a file with out"):
        counted.to_frame()
    handled = vbas.outliers(
        odd, quasi_identifiers="age,sex", k=3, handle="delete", out=tmp_path / "safe.csv"
    )
    assert len(handled.to_frame()) == 899
    with pytest.raises(UsageError, match="one of delete"):
        vbas.outliers(odd, quasi_identifiers="age", handle="hide")


def test_two_frames_are_compared(frames):
    records, _ = frames
    after = records.assign(age=records["age"].astype(str))
    after.loc[:99, "age"] = ""
    found = vbas.representability(records, after, key="person", quasi_identifiers="age,sex", k=5)
    table = found.to_frame().set_index("measure")["value"]
    assert found.vector["general"]["original_records"] == 900
    assert len(table) == len(found.vector["overall"])


def test_appointments_are_planned_for_frames(tmp_path):
    people = pd.DataFrame({"id": [f"P{n}" for n in range(8)], "sex": ["F", "M"] * 4})
    slots = pd.DataFrame({"centre": ["A", "B"], "time": ["9:00", "9:00"], "capacity": [4, 4]})
    plan = vbas.plan_appointments(
        people, slots, quasi_identifiers="sex", id_column="id", out=tmp_path / "plan"
    )
    table = plan.to_frame()
    assert list(table["id"]) == list(people["id"])
    assert set(table["centre"]) <= {"A", "B"}
    assert plan.measures["people"] == 8
    assert (tmp_path / "plan" / "plan.json").is_file()


def test_limits_are_keywords_too(frames):
    records, regions = frames
    data = vbas.read(records, regions.assign(county=["A", "B"] * 8, people=10), **COLUMNS)
    wanted = {"within": "county", "min_population": 30, "population_column": "people", "alone": ["R3"]}
    run = vbas.run(data, site_number="fixed", sites=12, range_reach=0, progress=False, **wanted)
    crosswalk = run.chosen.crosswalk().set_index("initial_region")["aggregated_region"]
    county = dict(zip(regions["id"], ["A", "B"] * 8, strict=True))
    assert all(
        len({county[id] for id in group}) == 1 for group in crosswalk.groupby(crosswalk).groups.values()
    )
    sizes = crosswalk.value_counts()
    assert sizes[crosswalk["R3"]] == 1
    assert sizes.drop(crosswalk["R3"]).min() >= 3

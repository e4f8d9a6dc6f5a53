"""Project files: round trip, no records inside, earlier formats, unknown fields, damage, and files that changed."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from made_up_sessions import open_data, run, write_data

from vbas_desktop.io.documents.solutions import decode_array, encode_array
from vbas_desktop.io.input_checks import is_on_other_computer
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Role
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.ui.state import project as projects
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.choices import Choices, choices_from_json, choices_to_json
from vbas_desktop.ui.state.documents import build_solution_check
from vbas_desktop.ui.state.opening import OpenProjectRequest, open_project
from vbas_desktop.ui.state.project import read_project
from vbas_desktop.ui.state.project_schema import FORMAT
from vbas_desktop.ui.state.representing import describe_solution
from vbas_desktop.ui.state.requests import open_files

PROJECTS = Path(__file__).parent / "projects"


@pytest.fixture
def saved(state, tmp_path):
    """A project with one run, saved, and the state it came from."""
    state.change(
        state.choices.with_approach("site_number", "fixed").with_parameter(
            "site_number", "fixed", "sites", 10
        )
    )
    run(state)
    state.pin([state.entries[1].number])
    state.choose_region(2)
    path = tmp_path / "project.vbas"
    state.snapshot().write(path)
    return state, path


def reopen(path: Path, **places: Path) -> tuple[AppState, object]:
    opened = open_project(OpenProjectRequest(path, **places))
    state = AppState()
    if opened.loaded is not None:
        state.accept_project(opened)
    return state, opened


def test_a_project_keeps_which_roles_were_decided(state, tmp_path):
    plain = [name for name in state.choices.roles if state.choices.roles[name] is not Role.REGION]
    choices = state.choices
    for name in plain:
        choices = choices.with_role(name, Role.AS_IS)
    choices = choices.replaced(decided=frozenset(plain[:1]))
    state.change(choices)
    state.snapshot().write(tmp_path / "project.vbas")
    after, _ = reopen(tmp_path / "project.vbas")
    assert after.choices.decided == {plain[0]}
    assert after.choices.undecided == tuple(plain[1:])


def test_a_project_restores_everything_that_is_seen(saved):
    before, path = saved
    after, opened = reopen(path)
    assert after.choices == before.choices
    assert after.project_path == path
    assert not after.modified
    assert opened.changed == ()
    assert after.selected.number == before.selected.number
    assert after.chosen_region == 2
    for old, new in zip(before.entries, after.entries, strict=True):
        assert (old.number, old.pinned, old.run.title, old.run.key) == (
            new.number,
            new.pinned,
            new.run.title,
            new.run.key,
        )
        np.testing.assert_array_equal(old.solution.owner, new.solution.owner)
        np.testing.assert_array_equal(old.solution.sites, new.solution.sites)
        assert dict(old.solution.measures) == dict(new.solution.measures)
        assert old.solution.pareto == new.solution.pareto
        assert new.problem.counts.records == 2000
        assert not new.run.outdated
    assert after.runs[0].result.chosen.id == before.runs[0].result.chosen.id


def test_saving_what_was_opened_gives_the_same_bytes(saved):
    _, path = saved
    after, _ = reopen(path)
    again = path.with_name("again.vbas")
    after.snapshot().write(again)
    assert again.read_bytes() == path.read_bytes()


def test_solutions_in_tiers_come_back_whole_and_are_released_as_before(state, tmp_path):
    chosen = state.choices.with_approach("site_number", "fixed").with_parameter(
        "site_number", "fixed", "sites", 30
    )
    chosen = chosen.with_approach("tiers", "auto").with_parameter("tiers", "auto", "factor", 4)
    state.change(chosen)
    run(state)
    path, again = tmp_path / "project.vbas", tmp_path / "again.vbas"
    state.snapshot().write(path)
    after, opened = reopen(path)
    assert (opened.changed, opened.left_out) == ((), 0)
    assert after.choices.approaches["tiers"] == "auto"
    assert after.choices.parameters == state.choices.parameters
    after.snapshot().write(again)
    assert again.read_bytes() == path.read_bytes()
    for old, new in zip(state.entries, after.entries, strict=True):
        assert new.solution.released_by_tier == old.solution.released_by_tier
        assert len(new.solution.tiers) > 2
        for one, other in zip(old.solution.tiers.parents, new.solution.tiers.parents, strict=True):
            np.testing.assert_array_equal(one, other)
        one, other = (build_plan(entry.problem, entry.solution) for entry in (old, new))
        assert one.every_code == other.every_code
        np.testing.assert_array_equal(one.areas, other.areas)
        np.testing.assert_array_equal(one.class_sizes, other.class_sizes)


def test_no_record_is_in_the_file(saved, data):
    _, path = saved
    text = path.read_text()
    assert "P00017" not in text
    assert "R001" not in text
    assert not any(line in text for line in data[0].read_text().splitlines()[1:])


def test_files_are_found_relative_to_the_project(saved, tmp_path):
    _, path = saved
    assert json.loads(path.read_text())["files"]["records"]["path"] == "data/records.csv"
    moved = tmp_path.with_name(tmp_path.name + "-moved")
    tmp_path.rename(moved)
    after, opened = reopen(moved / "project.vbas")
    assert opened.changed == ()
    assert after.records_path == moved / "data" / "records.csv"
    moved.rename(tmp_path)


def test_a_missing_file_is_named_and_can_be_found_elsewhere(saved, data, tmp_path):
    _, path = saved
    elsewhere = tmp_path / "elsewhere.csv"
    data[0].rename(elsewhere)
    _, opened = reopen(path)
    assert opened.missing == (data[0],)
    after, opened = reopen(path, records=elsewhere)
    assert (opened.missing, opened.changed) == ((), ())
    assert len(after.entries) == 5


def test_a_changed_record_file_is_named_and_its_results_are_outdated(saved, data):
    _, path = saved
    lines = data[0].read_text().splitlines()
    data[0].write_text("\n".join(lines[:-5]) + "\n")
    after, opened = reopen(path)
    assert opened.changed == ("records.csv",)
    assert len(after.entries) == 5
    assert all(entry.run.outdated for entry in after.entries)
    assert all(entry.title.endswith("(files changed since)") for entry in after.entries)
    assert after.modified


def test_what_a_solution_of_changed_records_is_worth_is_not_told_from_the_new_ones(saved, data):
    _, path = saved
    unchanged, _ = reopen(path)
    lines = data[0].read_text().splitlines()
    data[0].write_text("\n".join(lines[:-5]) + "\n")
    after, _ = reopen(path)
    before, now = (describe_solution(state.entries[0]) for state in (unchanged, after))
    assert now.cards[0][0] == "The files changed since"
    assert now.measures == before.measures
    assert build_solution_check(unchanged.entries[0]).problem is not None
    assert build_solution_check(after.entries[0]).problem is None


def test_results_of_other_regions_are_left_out(saved, data):
    _, path = saved
    lines = data[1].read_text().splitlines()
    data[1].write_text("\n".join([*lines, "R999,1.0,2.0"]) + "\n")
    after, opened = reopen(path)
    assert opened.changed == ("regions.csv",)
    assert (opened.left_out, after.entries) == (5, ())


def test_results_whose_columns_are_gone_stay_without_a_problem(saved, data):
    _, path = saved
    data[0].write_text(data[0].read_text().replace("person,age,sex", "person,years,sex"))
    after, _ = reopen(path)
    assert [entry.problem for entry in after.entries] == [None] * 5


def test_unknown_fields_survive_a_round_trip(saved):
    _, path = saved
    document = json.loads(path.read_text())
    document["colour"] = "blue"
    document["choices"]["mood"] = 3
    document["files"]["records"]["note"] = "x"
    document["runs"][0]["weather"] = [1]
    document["runs"][0]["solutions"][2]["taste"] = {"a": 1}
    path.write_text(json.dumps(document))
    after, _ = reopen(path)
    after.change_fields(k=6)
    after.remove([after.entries[0].number])
    after.snapshot().write(path)
    again = json.loads(path.read_text())
    assert again["colour"] == "blue"
    assert (again["choices"]["mood"], again["choices"]["k"]) == (3, 6)
    assert again["files"]["records"]["note"] == "x"
    assert again["runs"][0]["weather"] == [1]
    assert [solution.get("taste") for solution in again["runs"][0]["solutions"]] == [
        None,
        {"a": 1},
        None,
        None,
    ]


@pytest.mark.parametrize("number", [None, "1", 0, -1])
def test_another_format_is_refused(number, tmp_path):
    document = json.loads((PROJECTS / "format_1.vbas").read_text())
    path = tmp_path / "old.vbas"
    path.write_text(json.dumps({**document, "format": number}))
    with pytest.raises(InputError, match="project"):
        read_project(path)


def test_a_project_without_results_opens_and_keeps_what_is_unknown(tmp_path):
    write_data(tmp_path / "data")
    path = tmp_path / "old.vbas"
    path.write_bytes((PROJECTS / "format_1.vbas").read_bytes())
    state, _ = reopen(path)
    assert state.choices.k == 7
    assert state.choices.random_seed == 3
    assert state.choices.roles["person"] is Role.IDENTIFIER
    assert state.choices.quasi_identifiers == ("age", "sex")
    assert state.why_not_run() is None
    state.snapshot().write(path)
    again = json.loads(path.read_text())
    assert again["format"] == FORMAT
    assert again["note"] == "kept although nobody knows it"


def test_all_that_was_computed_with_solutions_comes_back_from_an_earlier_project(tmp_path):
    """The file was written by version 0.1.0 with groups, ADC, a requirement and notes."""
    write_data(tmp_path / "data")
    path = tmp_path / "old.vbas"
    path.write_bytes((PROJECTS / "complete_1.vbas").read_bytes())
    state, opened = reopen(path)
    assert (opened.changed, opened.left_out) == ((), 0)
    kept = [item for run in json.loads(path.read_text())["runs"] for item in run["solutions"]]
    assert [entry.solution.diagnostics["adc"] for entry in state.entries] == [
        item["facts"]["adc"] for item in kept
    ]
    for entry, item in zip(state.entries, kept, strict=True):
        assert entry.solution.representability == item["facts"]["representability"]
        assert entry.solution.released_classes == item["facts"]["released_classes"]
        assert entry.solution.released_records == item["facts"]["released_records"] == 2000
        assert state.meets_requirement(entry)
    assert state.choices.groupings == {"age": {"1": "1-2", "2": "1-2"}}
    assert state.requirement.title == "Cohort"
    state.snapshot().write(path)
    assert [item for run in json.loads(path.read_text())["runs"] for item in run["solutions"]] == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "not a project file"),
        ("[1, 2]", "not a project file"),
        ('{"format": 99}', "newer version"),
        ('{"format": 1}', "damaged"),
        ('{"format": 0, "records": 5}', "damaged"),
        ('{"format": "one"}', "not a project file"),
    ],
)
def test_a_damaged_project_is_refused_in_words(text, message, tmp_path):
    path = tmp_path / "broken.vbas"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        read_project(path)
    assert refused.value.findings[0].file == "broken.vbas"


def test_a_wrong_choice_is_named_by_its_place(saved):
    _, path = saved
    whole = json.loads(path.read_text())
    for option in Choices.options():
        path.write_text(json.dumps({**whole, "choices": {**whole["choices"], option.name: {"a": 7}}}))
        with pytest.raises(InputError, match=f"damaged: “{re.escape(option.title)}”"):
            read_project(path)


def test_a_damaged_array_is_refused(saved):
    _, path = saved
    document = json.loads(path.read_text())
    document["runs"][0]["solutions"][0]["owner"]["data"] = "AAAA"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="damaged"):
        read_project(path)


def test_a_failing_write_leaves_the_old_file_and_no_other(saved, monkeypatch):
    state, path = saved
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        state.snapshot().write(path)
    assert path.read_bytes() == before
    assert sorted(item.name for item in path.parent.iterdir()) == ["data", "project.vbas"]


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.int32, hnp.array_shapes(max_dims=2, max_side=20)))
def test_arrays_survive_packing(array):
    again = decode_array(encode_array(array))
    np.testing.assert_array_equal(again, array)
    assert again.dtype == np.int32
    assert not again.flags.writeable


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.float64, (5, 2), elements=st.floats(allow_nan=False)))
def test_places_survive_packing_exactly(array):
    np.testing.assert_array_equal(decode_array(encode_array(array)), array)


def test_choices_survive_as_json():
    choices = Choices(
        roles={"b": Role.QUASI_IDENTIFIER, "a": Role.REGION},
        k=9,
        pareto_measures=("discernibility",),
        delimiter=";",
    ).with_parameter("site_number", "fixed", "sites", 4)
    again = choices_from_json(json.loads(json.dumps(choices_to_json(choices))))
    assert again == choices
    assert list(again.roles) == ["b", "a"]


def test_a_session_without_data_has_nothing_to_save():
    assert AppState().snapshot() is None


def test_opening_does_not_need_the_session_that_saved(saved, data):
    _, path = saved
    fresh = open_data(*data)
    fresh.accept_project(open_project(OpenProjectRequest(path)))
    assert len(fresh.entries) == 5


def test_a_file_on_another_computer_is_not_looked_for_unasked(saved, data, tmp_path, monkeypatch):
    _, place = saved
    document = json.loads(place.read_text())
    document["files"]["records"]["path"] = "//collector.example/share/records.csv"
    place.write_text(json.dumps(document))
    touched = []
    for name in ("is_file", "stat", "open", "exists"):
        real = getattr(Path, name)
        monkeypatch.setattr(
            Path,
            name,
            lambda self, *a, real=real, **k: (touched.append(str(self)), real(self, *a, **k))[1],
        )
    opened = open_project(OpenProjectRequest(place))
    assert [str(path) for path in opened.missing] == ["//collector.example/share/records.csv"]
    assert touched
    assert not [place for place in touched if "collector" in place]
    # What the user names is opened, wherever it is.
    again = open_project(OpenProjectRequest(place, records=data[0]))
    assert again.loaded is not None


@pytest.mark.parametrize(
    ("path", "project", "elsewhere"),
    [
        (r"\\host\share\a.csv", r"C:\work\p.vbas", True),
        ("//host/share/a.csv", "/home/me/p.vbas", True),
        (r"\\HOST\other\a.csv", r"\\host\share\p.vbas", False),
        (r"\\?\UNC\host\share\a.csv", r"C:\work\p.vbas", True),
        ("smb://host/share/a.csv", "/home/me/p.vbas", True),
        ("http://host/a.csv", "/home/me/p.vbas", True),
        ("/vsicurl/http://host/a.geojson", "/home/me/p.vbas", True),
        (" https://host/a.csv", "/home/me/p.vbas", True),
        ("duckdb: //host/a.csv", "/home/me/p.vbas", True),
        (" //host/share/a.csv", "/home/me/p.vbas", True),
        (r"D:\data\a.csv", r"C:\work\p.vbas", False),
        ("/data/a.csv", "/home/me/p.vbas", False),
    ],
)
def test_what_is_on_another_computer_is_told_by_its_path(path, project, elsewhere):
    assert is_on_other_computer(path, project) is elsewhere


def test_a_project_that_claims_huge_arrays_is_refused_before_they_are_unpacked(saved, monkeypatch):
    _, place = saved
    packed = base64.b64encode(zlib.compress(bytes(1 << 20))).decode()
    document = json.loads(place.read_text())
    solution = document["runs"][0]["solutions"][0]
    for shape in ([1 << 18, 1 << 13], [1 << 32, 1 << 32], [1 << 62, 4]):
        solution["owner"] = {"type": "int32", "shape": shape, "data": packed}
        place.write_text(json.dumps(document))
        with pytest.raises(InputError, match="claims more than 1,024 MB"):
            read_project(place)
    # Each of them small enough, all together not.
    monkeypatch.setattr(projects, "LARGEST_BYTES", place.stat().st_size + (1 << 20))
    solution["owner"] = {"type": "int32", "shape": [1 << 18], "data": packed}
    document["runs"][0]["solutions"] = [solution] * 3
    text = json.dumps(document)
    place.write_text(text)
    with pytest.raises(InputError, match=r"claims more than|No project is larger than"):
        read_project(place)
    with pytest.raises(ValueError, match="oversized"):
        decode_array({"type": "float64", "shape": [1 << 24], "data": packed})


def test_obstacles_and_codebook_are_named_as_seen_from_the_project(state, tmp_path):
    """A folder that is moved as a whole opens with everything in it; what was left behind is told."""
    home = Path(state.records_path).parent
    (home / "river.geojson").write_text('{"type": "LineString", "coordinates": [[0, 0], [1, 1]]}')
    (home / "codes.csv").write_text("column,value,label\nage,1,young\n")
    (home / "keep.csv").write_text("age\n1\n2\n3\n4\n5\n6\n7\n")
    state.change_reading(
        obstacles=(str(home / "river.geojson"),),
        codebook=str(home / "codes.csv"),
        keep_records=str(home / "keep.csv"),
    )
    state.snapshot().write(home / "project.vbas")
    text = (home / "project.vbas").read_text(encoding="utf-8")
    assert str(home) not in text
    assert json.loads(text)["choices"]["obstacles"] == ["river.geojson"]
    moved = home.rename(home.parent / "elsewhere")
    after, opened = reopen(moved / "project.vbas")
    assert after.choices.obstacles == (str(moved / "river.geojson"),)
    assert after.choices.codebook == str(moved / "codes.csv")
    assert after.choices.keep_records == str(moved / "keep.csv")
    assert after.table.selection.columns == ("age",)
    assert len(after.regions.obstacles) == 1
    (moved / "river.geojson").unlink()
    (moved / "codes.csv").unlink()
    (moved / "keep.csv").unlink()
    after, opened = reopen(moved / "project.vbas")
    assert (after.choices.obstacles, after.choices.codebook, after.choices.keep_records) == (
        (),
        None,
        None,
    )
    assert opened.changed == (
        "river.geojson (obstacles, not found)",
        "codes.csv (codebook, not found)",
        "keep.csv (required combinations, not found)",
    )


def test_a_region_map_is_kept_with_the_project_and_results_of_another_map_do_not_fit(state):
    home = Path(state.records_path).parent
    ids = state.regions.ids
    map_file = home / "map.csv"
    lines = [f"{one},{two}\n" for one in ids for two in dict.fromkeys((one, ids[0]))]
    map_file.write_text("from,to\n" + "".join(lines))
    state.change_reading(region_map=str(map_file))
    state.accept_data(open_files(state.request_load(state.records_path, state.regions_path)))
    assert state.regions.mapping.targets[ids[1]][1][0] == ids[0]
    run(state)
    problem = state.entries[-1].problem
    plain = problem.counts.region_totals
    assert plain[0] > plain[1:].max()
    state.snapshot().write(home / "project.vbas")
    assert (
        json.loads((home / "project.vbas").read_text(encoding="utf-8"))["choices"]["region_map"]
        == "map.csv"
    )
    after, opened = reopen(home / "project.vbas")
    assert after.choices.region_map == str(map_file)
    assert after.entries[-1].problem.counts.region_totals.tolist() == plain.tolist()
    map_file.write_text("from,to\n" + "".join(f"{one},{ids[1]}\n" for one in ids))
    after, opened = reopen(home / "project.vbas")
    assert after.entries == ()
    assert opened.left_out == len(state.entries)


def test_layers_on_another_computer_are_not_looked_for(state, tmp_path):
    (tmp_path / "coast.geojson").write_text("{}")
    state.change_map_style(state.map_style.with_context(str(tmp_path / "coast.geojson")))
    state.snapshot().write(tmp_path / "one.vbas")
    document = json.loads((tmp_path / "one.vbas").read_text(encoding="utf-8"))
    document["map"]["context"].append({"path": "//elsewhere/share/roads.geojson"})
    (tmp_path / "one.vbas").write_text(json.dumps(document), encoding="utf-8")
    after, opened = reopen(tmp_path / "one.vbas")
    assert [layer.title for layer in after.map_style.context] == ["coast"]
    assert opened.changed == ("roads (layer on another computer)",)

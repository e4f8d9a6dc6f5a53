"""Settings: declared once, the same in options, run files, projects and on the command line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.approaches.selection import settings_from_options
from vbas_desktop.cli import run as run_command
from vbas_desktop.cli.arguments import OptionParser
from vbas_desktop.io.documents.run_file import read_run_file
from vbas_desktop.io.documents.run_options import options_in_force, repeat_command, report_lines
from vbas_desktop.model.criteria import parse_criterion
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings import codecs
from vbas_desktop.settings.reading import ReadingSettings
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import PrivacySettings, RunSettings, SweepSettings
from vbas_desktop.ui.state.choices import Choices

RUN_FILES = Path(__file__).parent / "run_files"
NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)


def parsed(words):
    parser = OptionParser()
    run_command.configure(parser)
    return parser.parse_args(words)


@given(st.lists(NAME, min_size=1, max_size=4, unique=True))
def test_any_names_survive_being_written_with_commas(names):
    text = codecs.format_names(names)
    assert codecs.parse_name_list(text) == tuple(names)
    assert codecs.parse_name_lists(f"{text};{text}") == [names, names]


@given(st.dictionaries(NAME, NAME, max_size=3))
def test_any_names_survive_being_renamed(renames):
    assert dict(map(codecs.parse_pair, codecs.format_pairs(renames))) == renames


@pytest.mark.parametrize("text", ["", "a", "=b", "a=", '"a=b"'])
def test_what_is_no_pair_of_names_is_refused(text):
    with pytest.raises(ValueError, match="write it as OLD=NEW"):
        codecs.parse_pair(text)


def test_names_with_quotes_inside_are_taken_as_they_are():
    assert codecs.parse_name_list('a"b, c') == ('a"b', "c")
    assert codecs.parse_name_list('" a ","b""c"') == (" a ", 'b"c')


@settings(max_examples=40, deadline=None)
@given(
    columns=st.lists(NAME, min_size=4, max_size=4, unique=True),
    seed=st.integers(0, 10**9),
    step=st.floats(0.001, 1000),
    k=st.integers(1, 10**6),
    reach=st.integers(0, 9),
    delimiter=st.sampled_from([None, ",", ";", "\t", "|", " ", "-"]),
    suppression=st.booleans(),
    pdf=st.booleans(),
    layer=st.none() | NAME,
    class_size=st.none() | NAME.filter(str.strip),
)
def test_the_command_is_read_as_the_settings_it_was_made_from(
    columns, seed, step, k, reach, delimiter, suppression, pdf, layer, class_size
):
    region, quasi, identifier, other = columns
    chosen = RunSettings(
        region_column=region, quasi_identifiers=(quasi,), identifiers=(identifier,), k=k, layer=layer,
        range_step_percent=step, range_reach=reach, random_seed=seed, delimiter=delimiter,
        global_suppression=suppression, parameters={"site_number": {"limit": {"allowed_loss_percent": 1.0}}},
    )  # fmt: skip
    release = ReleaseOptions(
        columns=(region, other), identifiers=(identifier,), renames={other: "new"}, pdf=pdf,
        release_delimiter=delimiter,
        class_size=class_size,
    )  # fmt: skip
    options = options_in_force(chosen, release, "/a/records.csv", "/a/-regions.csv")
    words = shlex.split(repeat_command({"options": options}, 3))
    given_back = parsed(words[2:])
    assert (given_back.records, given_back.regions, given_back.solution) == (
        "records.csv",
        "./-regions.csv",
        3,
    )
    again, unused = settings_from_options(vars(given_back))
    assert unused == ()
    assert ReleaseOptions.from_dict(vars(given_back)) == release
    assert options_in_force(again, release, "/a/records.csv", "/a/-regions.csv") == options


def test_options_are_what_json_can_hold_and_give_the_settings_back():
    chosen = RunSettings(
        region_column="r", quasi_identifiers=("a",), groupings={"a": {"1": "x"}, "b": {"2": "y"}}
    )
    options = json.loads(json.dumps(options_in_force(chosen, ReleaseOptions(), "records", "regions")))
    assert options["groupings"] == {"a": {"1": "x"}}
    again, _ = settings_from_options(options)
    assert again.option_values() == chosen.option_values()
    assert again.reading == ReadingSettings()
    assert ReleaseOptions.from_dict(options) == ReleaseOptions()


@pytest.mark.parametrize(
    "kind", [ReadingSettings, PrivacySettings, SweepSettings, ReleaseOptions, RunSettings]
)
def test_every_setting_is_described(kind):
    for declared in kind.options():
        assert declared.label
        assert declared.help.endswith(".")
        assert declared.flag.startswith("-")
        assert (
            declared.value_type is tuple or not declared.choices or declared.default in declared.choices
        )
        assert set(declared.choices) <= set(declared.titles) or not declared.titles


def test_no_two_settings_share_an_option():
    keys = [each.name for each in RunSettings.options()]
    release = [each.name for each in ReleaseOptions.options()]
    assert len(set(keys)) == len(keys)
    assert len(set(release)) == len(release)
    assert set(keys) & set(release) == {"identifiers"}


def test_choices_of_the_window_have_the_declared_defaults():
    usual = Choices().settings()
    for declared in (
        each for kind in (ReadingSettings, PrivacySettings, SweepSettings) for each in kind.options()
    ):
        assert getattr(usual, declared.name) == declared.default


def test_reports_list_what_is_not_as_usual():
    chosen = RunSettings(
        region_column="r", quasi_identifiers=("a",), k=7, range_reach=0, random_seed=3, delimiter="\t",
        global_suppression=False, unknown_regions="suppress", workers=2, range_step_percent=12.5,
    )  # fmt: skip
    options = options_in_force(
        chosen, ReleaseOptions(pdf=False, allow_columns=("b", "c,d")), "records", "regions"
    )
    assert dict(report_lines(options)) == {
        "Delimiter of the records": "Tab",
        "If a record’s region is unknown": "Suppress them",
        "Suppress combinations rare in all records first": "no",
        "Step": "12.5",
        "Steps to each side": "0",
        "Random seed": "3",
        "Allowed": 'b,"c,d"',
        "Reports as PDF too": "no",
    }
    usual = RunSettings(region_column="r", quasi_identifiers=("a",))
    assert report_lines(options_in_force(usual, ReleaseOptions(), "records", "regions")) == []


def kept(name):
    """Return a run file of before; options that were declared since have their default."""
    document = json.loads((RUN_FILES / f"{name}.json").read_text(encoding="utf-8"))
    usual = RunSettings(region_column="tract", quasi_identifiers=("age",))
    document["options"] = {
        **options_in_force(usual, ReleaseOptions(), "r.csv", "g.csv"),
        **document["options"],
    }
    return document


DECLARED = {each.name: each for kind in (ReleaseOptions, RunSettings) for each in kind.options()}


@pytest.mark.parametrize("name", sorted(DECLARED))
@pytest.mark.parametrize("value", [{"a": 7}, [7], True, "7"], ids=str)
def test_a_wrong_value_in_a_run_file_is_named_by_its_label(name, value, tmp_path):
    option = DECLARED[name]
    if (value is True and option.value_type is bool) or (
        value == "7" and option.value_type is str and not option.choices
    ):
        return
    document = kept("command")
    document["options"][name] = value
    (tmp_path / "run.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=f"damaged: “{re.escape(DECLARED[name].title)}”"):
        read_run_file(tmp_path)


def test_an_option_that_a_later_version_added_has_its_default_in_an_earlier_run(tmp_path):
    document = kept("command")
    del document["options"]["min_population"]
    (tmp_path / "run.json").write_text(json.dumps(document))
    settings, _ = settings_from_options(read_run_file(tmp_path)["options"])
    assert settings.min_population == 0


@pytest.mark.parametrize("name", ["k", "quasi_identifiers", "global_suppression", "criteria"])
def test_a_run_file_without_an_option_that_protects_is_refused(name, tmp_path):
    document = kept("command")
    del document["options"][name]
    (tmp_path / "run.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="damaged"):
        read_run_file(tmp_path)


def test_all_that_a_run_writes_fits_the_shape_of_a_run_file(tmp_path):
    chosen = RunSettings(
        region_column="tract",
        quasi_identifiers=("age",),
        sensitive=("illness",),
        benign={"illness": ("none", "a,b")},
        criteria=(parse_criterion("share:50"),),
        within=("county",),
        alone=("1", "2"),
        obstacles=("lakes.geojson",),
        delimiter="\t",
    )
    release = ReleaseOptions(renames={"a=b": "c"}, columns=("age",), class_size="n", shuffle_seed="0f")
    usual = RunSettings(region_column="tract", quasi_identifiers=("age",))
    for settings_chosen, written in ((chosen, release), (usual, ReleaseOptions())):
        document = {
            **kept("command"),
            "options": options_in_force(settings_chosen, written, "r.csv", "g.csv"),
        }
        (tmp_path / "run.json").write_text(json.dumps(document))
        again = read_run_file(tmp_path)["options"]
        assert settings_from_options(again)[0].as_dict() == settings_chosen.as_dict()
        assert ReleaseOptions.from_dict(again) == written

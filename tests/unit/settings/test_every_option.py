"""Every option of every group, and of every approach, has all that is made of its declaration."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re

import pytest
from option_values import REQUIRED_PARAMETERS, other_value

from vbas_desktop import settings
from vbas_desktop.approaches.registry import create_approach, list_approaches
from vbas_desktop.approaches.selection import approach_options, settings_from_options
from vbas_desktop.cli.arguments import OptionParser, add_options
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.generated import (
    describe_change,
    format_as_noun,
    repeat_arguments,
    report_lines,
)
from vbas_desktop.settings.option import OptionGroup
from vbas_desktop.settings.run import COMPONENTS, RunSettings
from vbas_desktop.ui.state.choices import Choices, choices_from_json, choices_to_json


def list_groups() -> list[type[OptionGroup]]:
    """List every group that is declared in the package of settings."""
    for module in pkgutil.iter_modules(settings.__path__):
        importlib.import_module(f"{settings.__name__}.{module.name}")
    groups = []
    waiting: list[type[OptionGroup]] = [OptionGroup]
    while waiting:
        for group in waiting.pop().__subclasses__():
            waiting.append(group)
            if group.__module__.startswith(settings.__name__) and group.options():
                groups.append(group)
    return list(dict.fromkeys(groups))


OPTIONS = [
    pytest.param(group, option, id=f"{group.__name__}.{option.name}")
    for group in list_groups()
    for option in group.options()
]
PARAMETERS = [
    pytest.param(kind, option, id=f"{kind.metadata.name}.{option.name}")
    for component in COMPONENTS
    for kind in list_approaches(component).values()
    for option in kind.options()
]


def changed(group, option):
    """Make the group with another value of the option."""
    return usual(group).replaced(
        **{option.name: group.from_dict({option.name: other_value(option)}).value_of(option.name)}
    )


def usual(group):
    """Make the group with its defaults, and with values of the options that are required."""
    return group.from_dict(
        {
            each.name: ["q"] if each.value_type is tuple else "r"
            for each in group.options()
            if each.required
        }
    )


def parsed(group, words):
    """Read words as `vbas` reads them; options that are required are not asked for."""
    parser = OptionParser()
    add_options(parser, group)
    for action in parser._actions:
        action.required = False
    return group.from_dict(vars(parser.parse_args(words)))


@pytest.mark.parametrize(("group", "option"), [*OPTIONS, *PARAMETERS])
def test_it_has_a_label_and_a_help_for_people(group, option):
    assert option.title.strip() == option.title != ""
    assert option.help.endswith(".")
    assert group.title


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_its_flag_is_read_as_the_value_that_it_was_made_from(group, option):
    chosen = changed(group, option)
    value = chosen.value_of(option.name)
    assert value != option.default
    assert option.flag.startswith("-")
    assert option.section == option.section.lower() != ""
    assert parsed(group, option.to_argv(value)).value_of(option.name) == value
    assert parsed(group, []) == group()


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_it_survives_as_json_under_its_name(group, option):
    chosen = changed(group, option)
    data = json.loads(json.dumps(chosen.as_dict(), allow_nan=False))
    assert list(data) == [each.name for each in group.options()]
    assert group.from_dict(data) == chosen


@pytest.mark.parametrize(("group", "option"), [*OPTIONS, *PARAMETERS])
def test_it_is_in_the_schema(group, option):
    described = group.model_json_schema()["properties"][option.name]
    json.dumps(described)
    assert described["title"] == option.title
    assert described["description"] == option.help


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_its_value_and_the_text_of_it_are_read_as_keywords_are(group, option):
    value = changed(group, option).value_of(option.name)
    assert option.read(value) == value
    if option.value_type is not str:
        assert option.read(option.format(value)) == value


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_a_change_of_it_can_be_undone_by_its_label(group, option):
    assert (
        describe_change(usual(group), changed(group, option))
        == f"change of {format_as_noun(option.title)}"
    )


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_reports_and_the_command_that_repeats_a_run_have_it_if_it_is_not_the_default(group, option):
    chosen = changed(group, option)
    lines = (
        [(option.title, option.describe(chosen.value_of(option.name)))] if option.affects_result else []
    )
    without = [each.name for each in group.options() if each.required and each is not option]
    assert report_lines(chosen, without) == lines
    assert all(text for _, text in lines)
    words = repeat_arguments(chosen)
    assert parsed(group, words) == (chosen if option.affects_result else usual(group))


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_a_wrong_value_is_refused_by_its_label_and_never_quoted(group, option):
    with pytest.raises(InputError, match=f"“{re.escape(option.title)}”") as refused:
        group.from_dict({option.name: {"secret": {"secret": 7}}})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("option", [pytest.param(each, id=each.name) for each in Choices.options()])
def test_a_project_holds_it(option):
    chosen = Choices.from_dict({option.name: other_value(option)})
    assert choices_from_json(json.loads(json.dumps(choices_to_json(chosen)))) == chosen


@pytest.mark.parametrize(("kind", "option"), PARAMETERS)
def test_a_parameter_can_be_set_on_the_command_line_and_is_repeated(kind, option):
    component, name = kind.component, kind.metadata.name
    values = {**REQUIRED_PARAMETERS.get(name, {}), option.name: other_value(option)}
    approach = create_approach(component, name, values)
    assert create_approach(component, name, json.loads(json.dumps(approach.settings()))) == approach
    chosen = RunSettings().replaced(
        region_column="r",
        quasi_identifiers=("a",),
        approaches={**RunSettings().approaches, component: name},
        parameters={component: {name: approach.settings()}},
    )
    again, unused = settings_from_options({**chosen.as_dict(), **approach_options(chosen)})
    assert unused == ()
    assert create_approach(component, name, again.parameters[component][name]) == approach


def test_no_two_options_of_a_run_have_the_same_name_or_flag():
    names = [option.name for option in RunSettings.options()]
    flags = [option.flag for option in RunSettings.options()]
    assert len(set(names)) == len(names)
    assert len(set(flags)) == len(flags)


# The field of each option in the window is checked in tests/ui, over the same groups.

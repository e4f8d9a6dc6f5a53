"""Options of `vbas` made from declared settings."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from vbas_desktop.settings.declaration import Setting, Settings, settings_of
from vbas_desktop.settings.forms import Flag, Form, Renames, Switch, Texts

from .argument_types import typed


def add_settings(
    parser: argparse.ArgumentParser, *kinds: type[Settings], without: Collection[str] = (), defaults: bool = True
) -> None:
    """One option for each setting of these classes, under the title of its group.

    ``without`` names settings to leave out. Without ``defaults`` only the options that were given are set.
    """
    for declared in (declared for kind in kinds for declared in settings_of(kind)):
        if declared.name not in without:
            add_setting(group_of(parser, declared.group), declared, defaults)


def add_setting(group: Any, declared: Setting, defaults: bool = True, **other: Any) -> None:
    """The option of one setting; ``other`` goes before what follows from the declaration."""
    default = declared.plain_default if defaults and not declared.required else None
    given: dict[str, Any] = {"help": declared.option_help.replace("%", "%%"), **_shape(declared)}
    given["default"] = default if defaults else argparse.SUPPRESS
    if declared.required:
        given["required"] = True
    group.add_argument(declared.option, **{**given, **other})


def group_of(parser: argparse.ArgumentParser, title: str) -> Any:
    """The group of options with this title."""
    known = {group.title: group for group in parser._action_groups}
    return known.get(title) or parser.add_argument_group(title)


def _shape(declared: Setting) -> dict[str, Any]:
    form = declared.form
    if isinstance(form, Flag):
        return {"action": "store_true"}
    if isinstance(form, Switch):
        return {"action": argparse.BooleanOptionalAction}
    if declared.choices:
        return {"choices": declared.choices}
    shape: dict[str, Any] = {"metavar": form.metavar}
    if type(form).parse is not Form.parse:
        shape["type"] = typed(form.parse)
    if declared.repeatable or isinstance(form, Renames | Texts):
        shape["action"] = "extend" if declared.repeatable else "append"
    if declared.without_value is not None:
        shape |= {"nargs": "?", "const": declared.without_value}
    return shape

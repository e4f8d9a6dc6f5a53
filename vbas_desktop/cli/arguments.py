"""Options of `vbas`: made from declared settings, checked by type, laid out in the help."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from vbas_desktop.settings import forms
from vbas_desktop.settings.declaration import Setting, Settings, settings_of
from vbas_desktop.settings.forms import Flag, Form, Names, Switch, Texts

T = TypeVar("T")


def typed(parse: Callable[[str], T]) -> Callable[[str], T]:
    """An argument type of a function that says with a ValueError what would be allowed."""

    def checked(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked


names = typed(forms.Names().parse)
"""The names of a comma-separated list; a name that contains a comma is put in double quotes."""

sets_of_names = typed(forms.sets_of_names)
"""Lists of names separated by semicolons."""


def whole(low: int) -> Any:
    """An argument type: whole numbers from ``low``."""
    return typed(forms.Whole(low=low).parse)


def numbers(low: int) -> Any:
    """An argument type: a comma-separated list of whole numbers from ``low``."""
    return typed(lambda text: [forms.Whole(low=low).parse(name) for name in forms.Names().parse(text)])


class Once(argparse.Action):
    """Refuses a list that is given twice: the columns of the first one would silently go unprotected."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Keep the list, or say how to write it."""
        if getattr(namespace, self.dest, self.default) is not self.default:
            raise argparse.ArgumentError(self, "it is given twice; put all names into one list, separated by commas")
        setattr(namespace, self.dest, values)


class Store(argparse.Action):
    """Stores a value. An input that is given twice is refused: the second would silently replace the first."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Set the value, or say that there is one already."""
        from vbas_desktop.jobs.inputs import INPUTS

        is_given = getattr(namespace, self.dest, self.default) is not self.default
        if self.option_strings and self.dest in INPUTS and is_given:
            raise argparse.ArgumentError(self, "it is given twice; give it once")
        setattr(namespace, self.dest, values)


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
    if declared.repeatable or isinstance(form, Texts):
        shape["action"] = "extend" if declared.repeatable else "append"
    elif isinstance(form, Names):
        shape["action"] = Once
    if declared.without_value is not None:
        shape |= {"nargs": "?", "const": declared.without_value}
    return shape


_NARROWEST = 40


class HelpFormatter(argparse.HelpFormatter):
    """Fills descriptions paragraph by paragraph; lines of examples stay, the long ones go on after a backslash."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if re.match(r"Examples?:\n", text):
            return "\n".join(part for line in text.splitlines() for part in folded(line, max(width, _NARROWEST)))
        return "\n\n".join(super(HelpFormatter, self)._fill_text(part, width, indent) for part in text.split("\n\n"))


def folded(line: str, width: int) -> list[str]:
    """A line of a shell example, broken between its words; what follows is indented further."""
    goes_on = line.endswith("\\")
    # An option and its value stay together.
    together = re.sub(r"(?<=\s)(--?[\w-]+) (?=[^\s-])", "\\1\0", line.removesuffix("\\").rstrip())
    lines = textwrap.wrap(
        together,
        width - 2,
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if not lines:
        return [line]
    lines = [part.replace("\0", " ") for part in lines]
    return [f"{part} \\" for part in lines[:-1]] + [lines[-1] + (" \\" if goes_on else "")]

"""Options of `vbas`: made from declared settings, checked by type, laid out in the help."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from vbas_desktop.settings.codecs import parse_integer, parse_name_list, parse_name_lists
from vbas_desktop.settings.option import Option, OptionGroup

T = TypeVar("T")


def argument_type(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Make the type of an argument from a function whose `ValueError` says what would be allowed."""

    def parse_argument(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse_argument


names = argument_type(parse_name_list)
"""The names of a comma-separated list; a name that contains a comma is put in double quotes."""

sets_of_names = argument_type(parse_name_lists)
"""Lists of names separated by semicolons."""


def whole(low: int) -> Any:
    """Return the type of an argument that is a whole number of at least ``low``."""
    return argument_type(lambda text: parse_integer(text, low))


def numbers(low: int) -> Any:
    """Return the type of an argument that is a comma-separated list of whole numbers of at least ``low``."""
    return argument_type(lambda text: [parse_integer(number, low) for number in parse_name_list(text)])


class Once(argparse.Action):
    """Refuses a list that is given twice: the columns of the first one would silently go unprotected."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        """Keep the list, or say how to write it."""
        if getattr(namespace, self.dest, self.default) is not self.default:
            raise argparse.ArgumentError(
                self, "it is given twice; put all names into one list, separated by commas"
            )
        setattr(namespace, self.dest, values)


class Store(argparse.Action):
    """Stores a value. An input that is given twice is refused: the second would silently replace the first."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        """Set the value, or say that there is one already."""
        from vbas_desktop.app.inputs import INPUTS

        is_given = getattr(namespace, self.dest, self.default) is not self.default
        if self.option_strings and self.dest in INPUTS and is_given:
            raise argparse.ArgumentError(self, "it is given twice; give it once")
        setattr(namespace, self.dest, values)


class OptionParser(argparse.ArgumentParser):
    """A parser with sections of options, which are found again by their titles."""

    def __init__(self, *args: Any, **others: Any) -> None:
        self._sections: dict[str, Any] = {}
        super().__init__(*args, **others)

    def section(self, title: str) -> Any:
        """Return the section of the help with this title; add it if there is none."""
        if title not in self._sections:
            self._sections[title] = self.add_argument_group(title)
        return self._sections[title]


def add_options(
    parser: OptionParser,
    *groups: type[OptionGroup],
    without: Collection[str] = (),
    defaults: bool = True,
) -> None:
    """Add the flag of each option of these groups, under the title of its group.

    ``without`` names options to leave out. Without ``defaults`` only the options that were given are set.
    """
    for group in groups:
        for option in group.options():
            if option.name not in without:
                add_option(parser.section(option.section), option, defaults)


def add_option(section: Any, option: Option, defaults: bool = True, **other: Any) -> None:
    """Add the flag of one option; the value is stored under the option's name.

    ``other`` are arguments of `argparse.ArgumentParser.add_argument` that go before those from the declaration.
    """
    arguments = {
        "dest": option.name,
        "help": option.flag_help.replace("%", "%%"),
        **_describe_value(option),
    }
    arguments["default"] = _default_of(option) if defaults else argparse.SUPPRESS
    if option.required:
        arguments["required"] = True
    section.add_argument(option.flag, **{**arguments, **other})


def _default_of(option: Option) -> Any:
    if option.required:
        return None
    return [] if option.form.is_repeated or option.is_repeatable else option.default


def _describe_value(option: Option) -> dict[str, Any]:
    """Say how argparse reads the values of an option."""
    if option.has_both_flags:
        return {"action": argparse.BooleanOptionalAction}
    if option.value_type is bool:
        return {"action": "store_false" if option.is_negated else "store_true"}
    if option.choices and option.value_type is str:
        return {"choices": option.choices}
    arguments: dict[str, Any] = {"metavar": option.metavar, "type": argument_type(option.parse_item)}
    if option.is_repeatable:
        arguments["action"] = "extend"
    elif option.form.is_repeated:
        arguments["action"] = "append"
    elif option.value_type is tuple:
        arguments["action"] = Once
    if option.bare_value is not None:
        arguments |= {"nargs": "?", "const": option.bare_value}
    return arguments


_NARROWEST = 40


class HelpFormatter(argparse.HelpFormatter):
    """Fills descriptions paragraph by paragraph; lines of examples stay, the long ones go on after a backslash."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if re.match(r"Examples?:\n", text):
            return "\n".join(
                part for line in text.splitlines() for part in wrap_example(line, max(width, _NARROWEST))
            )
        return "\n\n".join(
            super(HelpFormatter, self)._fill_text(part, width, indent) for part in text.split("\n\n")
        )


def wrap_example(line: str, width: int) -> list[str]:
    """Break a line of a shell example between its words; the lines that follow are indented further."""
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

"""Options made from the registry: one per component, one per parameter with a name of its own, and ``--set``."""

from __future__ import annotations

import argparse
from typing import Any

from vbas_desktop.approaches.base import Approach, Parameter
from vbas_desktop.approaches.registry import DEFAULTS, approach, approaches, make, named, written_instead
from vbas_desktop.domain.errors import InputError

from .argument_types import names
from .errors import UsageError

_ALWAYS_USED = {"allowed-loss"}
"""Decides what is recommended, whatever the approaches are."""

_WORDS = {
    "site_number": "number of sites",
    "site_location": "site locations",
    "construction": "construction",
    "tiers": "larger places in which small classes are released",
}


def add_approach_options(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """``--site-number`` and the like; with ``several`` each takes a comma-separated list or ``all``."""
    group = parser.add_argument_group("approaches")
    for component, default in DEFAULTS.items():
        known = tuple(approaches(component))
        instead = written_instead(component)
        if instead is not None:
            _add_written(group, component, instead, default, several)
            continue
        text = f"approach for the {_WORDS[component]}{_hint(several)} (default: {default})"
        _add(group, component.replace("_", "-"), known, text, several)
    for option, declared in named_parameters().items():
        known = declared.choices
        if declared.kind == "approach":
            # An approach cannot be a parameter of itself.
            known = tuple(name for name, kind in approaches("site_location").items() if not _has_option(kind, option))
        text = f"{_as_option_help(declared.help)}{_hint(several, bool(known))}"
        value = "N" if declared.kind in (int, float) else "VALUE"
        _add(group, option, known, text.replace("%", "%%"), several, value)
    group.add_argument(
        "--set",
        metavar="APPROACH.PARAMETER=VALUE",
        action="append",
        default=[],
        help="any other parameter; repeatable; `vbas approaches` lists them all",
    )


def named_parameters() -> dict[str, Parameter]:
    """The parameters that have an option of their own, by the option's name."""
    found: dict[str, Parameter] = {}
    for component in DEFAULTS:
        for kind in approaches(component).values():
            for declared in kind.parameters():
                if declared.option:
                    found.setdefault(declared.option.lstrip("-"), declared)
    return found


class Chooser:
    """Makes approaches from the options, and knows afterwards which options nothing asked for."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._named = {
            option: value
            for option in named_parameters()
            if (value := getattr(options, option.replace("-", "_"), None)) is not None
        }
        self._set = dict(_assignment(text) for text in options.set)
        self._used: set[Any] = set()

    def make(self, component: str, name: str, **given: Any) -> Any:
        """The named approach with its parameters from the options; ``given`` values go before them."""
        name, written = named(component, name)
        given = {**written, **given}
        kind = approach(component, name)
        values = {}
        for declared in kind.parameters():
            value = given.get(declared.name, self._value(name, declared))
            if declared.kind == "approach":
                value = self._inner(component, name, declared.default if value is None else value)
            if value is None and declared.required:
                option = f"--{declared.option}" if declared.option else f"--set {name}.{declared.name}"
                option = f"--{component.replace('_', '-')}" if declared.instead else option
                raise UsageError(f"“{name}” needs {option.replace('----', '--')}: {declared.help}")
            if value is not None:
                values[declared.name] = value
        try:
            return make(component, name, values)
        except InputError as error:
            raise UsageError(str(error)) from None

    def unused_options(self) -> list[str]:
        """Named options that no approach made so far has a use for."""
        return [f"--{option}" for option in self._named if option not in {*self._used, *_ALWAYS_USED}]

    def refuse_unused_assignments(self) -> None:
        """A ``--set`` that reaches no approach of the combination is a mistake."""
        for name, parameter in self._set:
            if (name, parameter) not in self._used:
                raise UsageError(f"--set {name}.{parameter}: no approach of this run has such a parameter.")

    def _value(self, name: str, declared: Parameter) -> Any:
        value = None
        option = (declared.option or "").lstrip("-")
        if option in self._named:
            self._used.add(option)
            value = self._named[option]
        if (name, declared.name) in self._set:
            self._used.add((name, declared.name))
            value = self._set[name, declared.name]
        return value

    def _inner(self, component: str, outer: str, value: Any) -> Any:
        if isinstance(value, Approach):
            return value
        if value == outer:
            raise UsageError(f"“{outer}” cannot be combined with itself; choose another approach.")
        try:
            return self.make(component, value)
        except InputError as error:
            raise UsageError(str(error)) from None


def chosen_names(options: argparse.Namespace) -> dict[str, str]:
    """The approach of each component; a parameter's own option chooses the first approach that has it."""
    chosen = {}
    for component, default in DEFAULTS.items():
        # Runs that were kept before there was such a component do not tell it.
        name = getattr(options, component, None)
        chosen[component] = name or _implied(options, component) or default
    return chosen


def _implied(options: argparse.Namespace, component: str) -> str | None:
    """`--sites 40` alone means the fixed number, `--adc-seeding density` ADC, `--gaps-model western` MaxCombs."""
    for name, kind in approaches(component).items():
        for declared in kind.parameters():
            option = (declared.option or "").lstrip("-")
            if option and getattr(options, option.replace("-", "_"), None) is not None:
                return name
    return None


def _has_option(kind: type[Approach], option: str) -> bool:
    return any((declared.option or "").lstrip("-") == option for declared in kind.parameters())


def _assignment(text: str) -> tuple[tuple[str, str], str]:
    target, equals, value = text.partition("=")
    name, dot, parameter = target.rpartition(".")
    if not (equals and dot and name and parameter):
        raise UsageError(f"--set {text}: write it as APPROACH.PARAMETER=VALUE.")
    return (name.strip(), parameter.strip()), value.strip()


def _as_option_help(sentence: str) -> str:
    """A sentence of a form written as the help of an option is: it goes on, so it neither begins nor ends."""
    return (sentence[:1].lower() + sentence[1:]).removesuffix(".")


def _hint(several: bool, all_allowed: bool = True) -> str:
    return f"; several with commas{', or all' if all_allowed else ''}" if several else ""


def _add(group: Any, option: str, known: tuple[str, ...], text: str, several: bool, value: str = "VALUE") -> None:
    if several:
        group.add_argument(f"--{option}", metavar="A,B", type=_several(known), help=text)
    elif known:
        group.add_argument(f"--{option}", choices=known, help=text)
    else:
        group.add_argument(f"--{option}", metavar=value, help=text)


def _add_written(group: Any, component: str, instead: tuple[str, Parameter], default: str, several: bool) -> None:
    """An option whose value is the name of an approach, or the parameter of the one that needs no name."""
    known = [name for name in approaches(component) if name != instead[0]]
    value = "|".join([*known, f"{instead[1].name.upper().removesuffix('S')},…"])
    text = f"{_WORDS[component]}: {' or '.join(known)}, or {_as_option_help(instead[1].help)}"
    if several:
        text += "; repeat it, or use semicolons, for several"
        group.add_argument(f"--{component}", metavar=value, type=_written, action="extend", help=text)
    else:
        group.add_argument(f"--{component}", metavar=value, help=f"{text} (default: {default})")


def _written(text: str) -> list[str]:
    """Choices with semicolons, because commas are part of them."""
    found = [choice.strip() for choice in text.split(";")]
    if not all(found):
        raise argparse.ArgumentTypeError("a choice is missing; write them as none;auto;county,province")
    return found


def _several(known: tuple[str, ...]) -> Any:
    def parse(text: str) -> list[str]:
        if not known:
            return names(text)
        chosen = list(known) if text == "all" else names(text)
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"“{unknown[0]}” is unknown; known are {', '.join(known)}, all")
        return chosen

    return parse

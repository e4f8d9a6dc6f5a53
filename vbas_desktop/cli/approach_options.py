"""Options made from the registry: one per component, one per parameter with a name of its own, and ``--set``."""

from __future__ import annotations

import argparse
from typing import Any

from vbas_desktop.approaches.registry import DEFAULTS, find_shorthand, list_approaches
from vbas_desktop.approaches.selection import format_flag, has_option, list_flag_parameters, option_key
from vbas_desktop.settings.option import Option, format_flag_help

from .arguments import OptionParser, names

_WORDS = {
    "site_number": "number of sites",
    "site_location": "site locations",
    "construction": "construction",
    "refinement": "refinement of the regions",
    "tiers": "larger areas in which small classes are released",
}


def add_approach_options(parser: OptionParser, several: bool = False, without: str = "") -> None:
    """``--site-number`` and the like; with ``several`` each takes a comma-separated list or ``all``.

    ``without`` names a component that is decided already: of its parameters only those of the usual approach are asked.
    """
    group = parser.section("approaches")
    usual = list_approaches(without)[DEFAULTS[without]] if without else None
    others = [kind for kind in list_approaches(without).values() if kind is not usual] if without else []
    left_out = {option_key(declared) for kind in others for declared in kind.options()}
    for component, default in DEFAULTS.items():
        if component == without:
            continue
        known = tuple(list_approaches(component))
        instead = find_shorthand(component)
        if instead is not None:
            _add_written(group, component, instead, default, several)
            continue
        text = (
            f"approach for the {_WORDS[component]}{_describe_list_syntax(several)} (default: {default})"
        )
        _add(group, component, known, text, several)
    for key, declared in list_flag_parameters().items():
        if key in left_out:
            continue
        known = declared.choices
        if declared.is_nested:
            # An approach cannot be a parameter of itself.
            known = tuple(
                name
                for name, kind in list_approaches("site_location").items()
                if not has_option(kind, key)
            )
        text = f"{format_flag_help(declared.help)}{_describe_list_syntax(several, bool(known))}"
        value = "N" if declared.value_type in (int, float) else "VALUE"
        _add(group, key, known, text.replace("%", "%%"), several, value)
    group.add_argument(
        "--set",
        metavar="APPROACH.PARAMETER=VALUE",
        action="append",
        default=[],
        help="any other parameter; repeatable; `vbas approaches` lists them all",
    )


def _describe_list_syntax(several: bool, all_allowed: bool = True) -> str:
    return f"; several with commas{', or all' if all_allowed else ''}" if several else ""


def _add(
    group: Any, key: str, known: tuple[str, ...], text: str, several: bool, value: str = "VALUE"
) -> None:
    if several:
        group.add_argument(format_flag(key), metavar="A,B", type=_several(known), help=text)
    elif known:
        group.add_argument(format_flag(key), choices=known, help=text)
    else:
        group.add_argument(format_flag(key), metavar=value, help=text)


def _add_written(
    group: Any, component: str, instead: tuple[str, Option], default: str, several: bool
) -> None:
    """Add an option whose value is the name of an approach, or the parameter of the one that needs no name."""
    known = [name for name in list_approaches(component) if name != instead[0]]
    value = "|".join([*known, f"{instead[1].name.upper().removesuffix('S')},…"])
    text = f"{_WORDS[component]}: {' or '.join(known)}, or {format_flag_help(instead[1].help)}"
    if several:
        text += "; repeat it, or use semicolons, for several"
        group.add_argument(
            f"--{component}", metavar=value, type=_parse_choices, action="extend", help=text
        )
    else:
        group.add_argument(f"--{component}", metavar=value, help=f"{text} (default: {default})")


def _parse_choices(text: str) -> list[str]:
    """Choices with semicolons, because commas are part of them."""
    found = [choice.strip() for choice in text.split(";")]
    if not all(found):
        raise argparse.ArgumentTypeError("a choice is missing; write them as none;auto;county,province")
    return found


def _several(known: tuple[str, ...]) -> Any:
    def parse(text: str) -> list[str]:
        if not known:
            return list(names(text))
        chosen = list(known) if text == "all" else list(names(text))
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(
                f"“{unknown[0]}” is unknown; known are {', '.join(known)}, all"
            )
        return chosen

    return parse

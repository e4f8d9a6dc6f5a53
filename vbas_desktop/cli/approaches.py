"""List every approach with its parameters: the same registry that makes the menus and the docs."""

from __future__ import annotations

import argparse
import json
from typing import Any

from vbas_desktop.approaches.interface import Approach
from vbas_desktop.approaches.registry import COMPONENTS, plug_in_problems
from vbas_desktop.approaches.registry import list_approaches as registered
from vbas_desktop.settings.option import Option

from .arguments import OptionParser
from .terminal import say, show

EXAMPLE = "Example:\n  vbas approaches --json"


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the registry."""
    for problem in plug_in_problems():
        say(f"warning: {problem}")
    if options.json:
        show(json.dumps(build_registry_document(), indent=2, ensure_ascii=False))
        return 0
    for component, title in COMPONENTS.items():
        show(f"{title} (--{component.replace('_', '-')})" if component != "rating" else title)
        for kind in registered(component).values():
            _show_approach(kind)
        show("")
    return 0


def build_registry_document() -> dict[str, list[dict[str, Any]]]:
    """Build the list of every approach of every component as plain data."""
    return {
        component: [_as_dict(kind) for kind in registered(component).values()]
        for component in COMPONENTS
    }


def _as_dict(kind: type[Approach]) -> dict[str, Any]:
    metadata = kind.metadata
    return {
        "name": metadata.name,
        "title": metadata.title,
        "summary": metadata.summary,
        "formula": metadata.formula,
        "complexity": metadata.complexity,
        "when": metadata.when,
        "reveals": metadata.discloses,
        "parameters": [_parameter(declared) for declared in kind.options()],
    }


def _parameter(declared: Option) -> dict[str, Any]:
    return {
        "name": declared.name,
        "kind": "approach" if declared.is_nested else declared.value_type.__name__,
        "default": declared.default,
        "label": declared.label,
        "help": declared.help,
        "low": declared.low,
        "high": declared.high,
        "choices": list(declared.choices),
        "option": declared.flag or None,
        "required": declared.required,
    }


def _show_approach(kind: type[Approach]) -> None:
    metadata = kind.metadata
    show(f"  {metadata.name:<30} {metadata.summary}")
    for declared in kind.options():
        option = f" ({declared.flag})" if declared.flag else ""
        parameter = f"{metadata.name}.{declared.name}{option} = {declared.default}"
        show(f"      {parameter}: {declared.label}, {describe_allowed(declared)}")


def describe_allowed(declared: Option) -> str:
    """Describe which values a parameter may have."""
    return "an approach of this component" if declared.is_nested else declared.allowed

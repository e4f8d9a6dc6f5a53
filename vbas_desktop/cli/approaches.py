"""List every approach with its parameters: the same registry that makes the menus and the docs."""

from __future__ import annotations

import argparse
import json
from typing import Any

from vbas_desktop.approaches.base import Approach, Parameter
from vbas_desktop.approaches.registry import COMPONENTS, plug_in_problems
from vbas_desktop.approaches.registry import approaches as registered

from .terminal import say, show

EXAMPLE = "Example:\n  vbas approaches --json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the registry."""
    for problem in plug_in_problems():
        say(f"warning: {problem}")
    if options.json:
        show(json.dumps(registry_document(), indent=2, ensure_ascii=False))
        return 0
    for component, title in COMPONENTS.items():
        show(f"{title} (--{component.replace('_', '-')})" if component != "rating" else title)
        for kind in registered(component).values():
            _show_approach(kind)
        show("")
    return 0


def registry_document() -> dict[str, list[dict[str, Any]]]:
    """Every approach of every component as plain data."""
    return {component: [_as_dict(kind) for kind in registered(component).values()] for component in COMPONENTS}


def _as_dict(kind: type[Approach]) -> dict[str, Any]:
    told = ("name", "title", "summary", "formula", "complexity", "when", "reveals")
    parameters = [_parameter(declared) for declared in kind.parameters()]
    return {**{name: getattr(kind.card, name) for name in told}, "parameters": parameters}


def _parameter(declared: Parameter) -> dict[str, Any]:
    return {
        "name": declared.name,
        "kind": declared.kind if isinstance(declared.kind, str) else declared.kind.__name__,
        "default": declared.default,
        "label": declared.label,
        "help": declared.help,
        "low": declared.low,
        "high": declared.high,
        "choices": list(declared.choices),
        "option": f"--{declared.option.lstrip('-')}" if declared.option else None,
        "required": declared.required,
    }


def _show_approach(kind: type[Approach]) -> None:
    card = kind.card
    show(f"  {card.name:<30} {card.summary}")
    for declared in kind.parameters():
        option = f" (--{declared.option.lstrip('-')})" if declared.option else ""
        show(f"      {card.name}.{declared.name}{option} = {declared.default}: {declared.label}, {allowed(declared)}")


def allowed(declared: Parameter) -> str:
    """What a parameter may be."""
    return "an approach of this component" if declared.kind == "approach" else declared.allowed

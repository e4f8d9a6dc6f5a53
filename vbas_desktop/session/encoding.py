"""Choices as plain JSON data and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from vbas_desktop.domain.records import Role

from .choices import Choices


def choices_to_json(choices: Choices) -> dict[str, Any]:
    """The choices as plain JSON data."""
    data = {item.name: getattr(choices, item.name) for item in fields(Choices)}
    data["roles"] = [[name, str(role)] for name, role in choices.roles.items()]
    data["pareto_measures"] = None if choices.pareto_measures is None else list(choices.pareto_measures)
    data["approaches"] = dict(choices.approaches)
    data["groupings"] = {name: dict(groups) for name, groups in choices.groupings.items()}
    data["parameters"] = {
        component: {name: dict(values) for name, values in named.items()}
        for component, named in choices.parameters.items()
    }
    return data


def choices_from_json(data: Mapping[str, Any]) -> Choices:
    """The choices again; fields that this version does not know are left out, missing ones get their defaults."""
    known = {item.name: data[item.name] for item in fields(Choices) if item.name in data}
    if "roles" in known:
        known["roles"] = {name: Role(role) for name, role in known["roles"]}
    if known.get("pareto_measures") is not None:
        known["pareto_measures"] = tuple(known["pareto_measures"])
    if "approaches" in known:
        known["approaches"] = {**Choices().approaches, **known["approaches"]}
    return Choices(**known)

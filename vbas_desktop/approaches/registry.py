"""Finds every approach, built in or brought by third parties, and makes instances by name; the named combinations."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from vbas_desktop.model.errors import Finding, InputError

from .base import Approach, Measure, Parameter

COMPONENTS: dict[str, str] = {
    "site_number": "Sites",
    "site_location": "Locations",
    "construction": "Construction",
    "refinement": "Refinement",
    "tiers": "Tiers",
    "rating": "Rating",
}
"""The components in the order of the stages, with the titles of their menus."""

DEFAULTS: dict[str, str] = {
    "site_number": "limit",
    "site_location": "balanced-density",
    "construction": "voronoi",
    "refinement": "none",
    "tiers": "none",
}
"""The components of which exactly one approach is chosen, and the one that is taken if nothing is said: the finest
regions within the allowed loss, even populations. Of the other one, rating, any number may be chosen."""

NOTHING = "none"
"""The name of an approach that does nothing; a combination is told without it."""

ENTRY_POINT_GROUP = "vbas_desktop.approaches"


@cache
def approaches(component: str) -> dict[str, type[Approach]]:
    """All approaches of a component by name, in menu order."""
    found: dict[str, type[Approach]] = {}
    for approach in _built_in(component) + [item for item in _plug_ins()[0] if item.component == component]:
        found.setdefault(approach.card.name, approach)
    return dict(sorted(found.items(), key=lambda item: (item[1].card.order, item[0])))


def approach(component: str, name: str) -> type[Approach]:
    """The approach of that name; `InputError` lists the names there are."""
    known = approaches(component)
    if name not in known:
        title = component.replace("_", " ")
        raise InputError(Finding("unknown-approach", f"There is no {title} “{name}”.", f"Known: {', '.join(known)}."))
    return known[name]


def written_instead(component: str) -> tuple[str, Parameter] | None:
    """The approach of a component, and its parameter, whose value may be written in place of an approach's name."""
    for name, kind in approaches(component).items():
        for declared in kind.parameters():
            if declared.instead:
                return name, declared
    return None


def named(component: str, text: str) -> tuple[str, dict[str, Any]]:
    """The approach that a script means, and what the text says of its parameters."""
    instead = written_instead(component)
    if text in approaches(component) or instead is None:
        return text, {}
    return instead[0], {instead[1].name: text}


def make(component: str, name: str, values: Mapping[str, Any] | None = None) -> Any:
    """An instance of the named approach.

    A parameter that is an approach itself may be given as an instance, by name, or as its name and settings (the form
    of `Approach.settings`). An approach cannot be a parameter of itself.
    """
    kind = approach(component, name)
    given = dict(values or {})
    for declared in kind.parameters():
        if declared.kind == "approach":
            given[declared.name] = _inner(component, name, given.get(declared.name) or declared.default)
    return kind.from_texts(given)


def _inner(component: str, outer: str, value: Any) -> Approach:
    if isinstance(value, Approach):
        return value
    settings = dict(value) if isinstance(value, Mapping) else {"name": value}
    inner = settings.pop("name")
    if inner == outer:
        raise InputError(Finding("parameter", f"“{outer}” cannot be combined with itself.", "Choose another approach."))
    made: Approach = make(component, inner, settings)
    return made


def _built_in(component: str) -> list[type[Approach]]:
    package = importlib.import_module(f"vbas_desktop.approaches.{component}")
    modules = [
        importlib.import_module(f"{package.__name__}.{info.name}") for info in pkgutil.iter_modules(package.__path__)
    ]
    return [
        item
        for module in modules
        for item in vars(module).values()
        if isinstance(item, type)
        and issubclass(item, Approach)
        and item.__module__ == module.__name__
        and hasattr(item, "card")
    ]


def plug_in_problems() -> tuple[str, ...]:
    """What is wrong with installed plug-ins, in words; those that work are not concerned."""
    return _plug_ins()[1]


@cache
def _plug_ins() -> tuple[tuple[type[Approach], ...], tuple[str, ...]]:
    found: list[type[Approach]] = []
    problems: list[str] = []
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (point.name, point.value)):
        try:
            item = point.load()
        except Exception as error:  # noqa: BLE001  (whatever a stranger's module does must not end the program)
            reason = type(error).__name__
            problems.append(f"The plug-in “{point.name}” ({point.value}) cannot be loaded ({reason}).")
            continue
        if isinstance(item, type) and issubclass(item, Approach) and getattr(item, "component", "") in COMPONENTS:
            found.append(item)
        else:
            problems.append(f"The plug-in “{point.name}” ({point.value}) is not an approach.")
    return tuple(found), tuple(problems)


def revealed(chosen: Mapping[str, str], settings: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What regions that these approaches made tell of small classes, nested approaches included.

    ``chosen`` names the approach of each component, ``settings`` has its parameters as `Approach.settings` gives them.
    """
    told = []
    for component in COMPONENTS:
        name = chosen.get(component, "")
        nested = [value["name"] for value in settings.get(component, {}).values() if isinstance(value, Mapping)]
        kinds = [approaches(component).get(each) for each in (name, *nested)]
        told += [kind.card.reveals for kind in kinds if kind is not None and kind.card.reveals]
    return tuple(dict.fromkeys(told))


USUAL, THESIS = "usual", "thesis"
PRESETS = {USUAL: "Suppression and place", THESIS: "All published measures"}
"""The presets with their titles: two prices that everybody understands, or every measure that the thesis rates by."""


def preset(name: str) -> tuple[str, ...]:
    """The names of the measures of a preset, in menu order."""
    flag = {USUAL: "pareto_default", THESIS: "pareto_thesis"}[name]
    return tuple(measure for measure, kind in approaches("rating").items() if getattr(kind, flag, False))


def preset_of(measures: Iterable[str]) -> str | None:
    """The preset that these measures are; None: a choice of one's own."""
    chosen = set(measures)
    return next((name for name in PRESETS if set(preset(name)) == chosen), None)


def usual_among(measures: Iterable[Measure]) -> tuple[str, ...]:
    """The names of those measures that count for dominance unless the user chooses."""
    return tuple(measure.card.name for measure in measures if measure.pareto_default)

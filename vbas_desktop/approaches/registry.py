"""All approaches by component and name, built in or installed as plug-ins, and presets of measures."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.settings.run import DEFAULTS as DEFAULTS

from .interface import Approach, Measure, Option

COMPONENTS: dict[str, str] = {
    "site_number": "Sites",
    "site_location": "Locations",
    "construction": "Construction",
    "refinement": "Refinement",
    "tiers": "Tiers",
    "rating": "Rating",
}
"""The components in the order of the stages, with their titles."""

NOTHING = "none"
"""The name of an approach that does nothing; labels of combinations leave it out."""

ENTRY_POINT_GROUP = "vbas_desktop.approaches"


@cache
def list_approaches(component: str) -> dict[str, type[Approach]]:
    """List the approaches of a component by name, in menu order."""
    by_name: dict[str, type[Approach]] = {}
    for approach in _built_in(component) + [
        item for item in _plug_ins()[0] if item.component == component
    ]:
        by_name.setdefault(approach.metadata.name, approach)
    return dict(sorted(by_name.items(), key=lambda item: (item[1].metadata.order, item[0])))


def get_approach(component: str, name: str) -> type[Approach]:
    """Return the approach of that name. Raises `InputError`, which lists the names, if there is none."""
    approaches = list_approaches(component)
    if name not in approaches:
        title = component.replace("_", " ")
        raise InputError(
            Finding(
                "unknown-approach", f"There is no {title} “{name}”.", f"Known: {', '.join(approaches)}."
            )
        )
    return approaches[name]


def find_shorthand(component: str) -> tuple[str, Option] | None:
    """Find the approach of a component, and its parameter, whose value may stand in place of an approach's name."""
    for name, kind in list_approaches(component).items():
        for declared in kind.options():
            if declared.is_shorthand:
                return name, declared
    return None


def resolve_name(component: str, text: str) -> tuple[str, dict[str, Any]]:
    """Resolve a name, or a value that stands for one (`find_shorthand`), to an approach and its parameters."""
    instead = find_shorthand(component)
    if text in list_approaches(component) or instead is None:
        return text, {}
    return instead[0], {instead[1].name: text}


def create_approach(component: str, name: str, values: Mapping[str, Any] | None = None) -> Any:
    """Create an instance of the named approach.

    A parameter that is an approach itself may be given as an instance, by name, or as its name and settings (the form
    of `Approach.settings`). An approach cannot be a parameter of itself.
    """
    kind = get_approach(component, name)
    parameters = dict(values or {})
    for declared in kind.options():
        if declared.is_nested and name_of_nested(parameters.get(declared.name)) == name:
            message = f"“{name}” cannot be combined with itself."
            raise InputError(Finding("option", message, "Choose another approach."))
    return kind.from_texts(parameters)


def name_of_nested(value: Any) -> str | None:
    """Return the name of an approach that is given as an instance, by name, or as its name and settings."""
    if isinstance(value, Approach):
        return value.metadata.name
    return value.get("name") if isinstance(value, Mapping) else value


def create_nested(component: str, value: Any) -> Any:
    """Create an approach that is a parameter of another one, given by name or as its name and settings."""
    if isinstance(value, str):
        return create_approach(component, value)
    if isinstance(value, Mapping):
        settings = dict(value)
        return create_approach(component, settings.pop("name"), settings)
    return value


def _built_in(component: str) -> list[type[Approach]]:
    package = importlib.import_module(f"vbas_desktop.approaches.{component}")
    modules = [
        importlib.import_module(f"{package.__name__}.{info.name}")
        for info in pkgutil.iter_modules(package.__path__)
    ]
    return [
        item
        for module in modules
        for item in vars(module).values()
        if isinstance(item, type)
        and issubclass(item, Approach)
        and item.__module__ == module.__name__
        and hasattr(item, "metadata")
    ]


def plug_in_problems() -> tuple[str, ...]:
    """Describe the installed plug-ins that cannot be used."""
    return _plug_ins()[1]


@cache
def _plug_ins() -> tuple[tuple[type[Approach], ...], tuple[str, ...]]:
    classes: list[type[Approach]] = []
    problems: list[str] = []
    for point in sorted(
        entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (point.name, point.value)
    ):
        try:
            item = point.load()
        except Exception as error:  # noqa: BLE001  (whatever a stranger's module does must not end the program)
            reason = type(error).__name__
            problems.append(f"The plug-in “{point.name}” ({point.value}) cannot be loaded ({reason}).")
            continue
        if (
            isinstance(item, type)
            and issubclass(item, Approach)
            and getattr(item, "component", "") in COMPONENTS
        ):
            classes.append(item)
        else:
            problems.append(f"The plug-in “{point.name}” ({point.value}) is not an approach.")
    return tuple(classes), tuple(problems)


def disclosure_notes(
    chosen: Mapping[str, str], settings: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """List what the regions reveal about small classes because of these approaches, nested ones included.

    chosen: name of the approach by component. settings: its parameters by component, as from `Approach.settings`.
    """
    notes = []
    for component in COMPONENTS:
        name = chosen.get(component, "")
        nested = [
            value["name"] for value in settings.get(component, {}).values() if isinstance(value, Mapping)
        ]
        kinds = [list_approaches(component).get(nested_name) for nested_name in (name, *nested)]
        notes += [
            kind.metadata.discloses for kind in kinds if kind is not None and kind.metadata.discloses
        ]
    return tuple(dict.fromkeys(notes))


USUAL, THESIS = "usual", "thesis"
PRESETS = {USUAL: "Suppression and place", THESIS: "All published measures"}
"""The presets with their titles: two prices that everybody understands, or every measure that the thesis rates by."""


def preset(name: str) -> tuple[str, ...]:
    """List the measures of a preset by name, in menu order."""
    flag = {USUAL: "pareto_default", THESIS: "pareto_thesis"}[name]
    return tuple(
        measure for measure, kind in list_approaches("rating").items() if getattr(kind, flag, False)
    )


def preset_of(measures: Iterable[str]) -> str | None:
    """Find the preset that consists of these measures; None if there is none."""
    chosen = set(measures)
    return next((name for name in PRESETS if set(preset(name)) == chosen), None)


def usual_among(measures: Iterable[Measure]) -> tuple[str, ...]:
    """List the names of those measures that count for dominance unless the user chooses others."""
    return tuple(measure.metadata.name for measure in measures if measure.pareto_default)


def expand_presets(names: Iterable[str]) -> tuple[str, ...]:
    """List measures by name; the name of a preset stands for the measures in it."""
    return tuple(
        dict.fromkeys(
            measure for name in names for measure in (preset(name) if name in PRESETS else (name,))
        )
    )

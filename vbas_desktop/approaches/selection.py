"""Approaches and their parameters, from what was typed to instances and back to the options of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vbas_desktop.model.findings import InputError, UsageError
from vbas_desktop.model.solution import DEFAULT_LOSS_PERCENT
from vbas_desktop.settings.run import COMPONENTS, DEFAULTS, Parameters, RunSettings, allowed_loss_percent

from .interface import Approach, Option
from .registry import create_approach, get_approach, list_approaches, resolve_name

_ALWAYS_USED = "allowed_loss"
"""Decides what is recommended, whatever the approaches are."""


def create_approaches(approaches: Mapping[str, str], parameters: Parameters) -> dict[str, Any]:
    """Create the approach of each component. Raises `InputError` for a parameter that is not allowed."""
    return {
        component: create_approach(component, name, parameters.get(component, {}).get(name, {}))
        for component, name in approaches.items()
    }


def find_loss_limit(settings: RunSettings) -> float | None:
    """Return the allowed loss in percent that is in force: nothing beyond it is released without consent.

    It is that of the approach for the number of sites, or the one that was given beside it; None without.
    """
    name = settings.approaches["site_number"]
    parameters = settings.parameters.get("site_number", {})
    own = create_approach("site_number", name, parameters.get(name, {})).allowed_loss()
    if own is not None:
        return float(own)
    is_given = "allowed_loss_percent" in parameters.get("limit", {})
    return allowed_loss_percent(settings.parameters) if is_given else None


def settings_from_options(options: Mapping[str, Any]) -> tuple[RunSettings, tuple[str, ...]]:
    """Return the settings of a run from the options of ``run.json``, and the options that no approach used."""
    names = choose_names(options)
    resolver = ApproachResolver(options)
    instances = {component: resolver.create(component, name) for component, name in names.items()}
    names = {component: approach.metadata.name for component, approach in instances.items()}
    resolver.refuse_unused_assignments()
    settings = RunSettings.from_dict(options).replaced(
        approaches=names,
        parameters=with_allowed_loss(
            {
                component: {names[component]: approach.settings()}
                for component, approach in instances.items()
            },
            options,
        ),
        groupings=options.get("groupings") or {},
    )
    return settings, tuple(resolver.unused_options())


def approach_options(settings: RunSettings) -> dict[str, Any]:
    """Return the approaches, and the parameters that are not the default, as options of ``run.json``."""
    options: dict[str, Any] = dict.fromkeys(list_flag_parameters())
    loss = allowed_loss_percent(settings.parameters)
    # Beside another site number even the usual loss has to be named: it is in force only if it was given.
    is_given = settings.approaches["site_number"] != "limit" and find_loss_limit(settings) is not None
    if loss != DEFAULT_LOSS_PERCENT or is_given:
        options["allowed_loss"] = loss
    assigned = []
    instead = {}
    for component, approach in create_approaches(settings.approaches, settings.parameters).items():
        for owner, declared, value in _iterate_set_parameters(approach):
            key = option_key(declared)
            if declared.is_shorthand:
                instead[component] = value
            elif key and options[key] in (None, value):
                options[key] = value
            else:
                assigned.append(f"{owner}.{declared.name}={_text(value)}")
    return {**settings.approaches, **instead, **options, "set": assigned}


def with_allowed_loss(parameters: Parameters, options: Mapping[str, Any]) -> Parameters:
    """Add the option “allowed loss” (of several the first) to the parameters of “limit”.

    It decides what is recommended even if another approach chooses the number of sites.
    """
    typed = options.get("allowed_loss")
    if isinstance(typed, list):
        typed = next(iter(typed), None)
    if typed is None:
        return parameters
    percent = _read_value("--allowed-loss", list_flag_parameters()["allowed_loss"], typed)
    limit = create_approach("site_number", "limit", {"allowed_loss_percent": percent}).settings()
    return {**parameters, "site_number": {"limit": limit, **parameters.get("site_number", {})}}


def _iterate_set_parameters(approach: Approach) -> Iterator[tuple[str, Option, Any]]:
    """Yield approach name, option and value of the parameters that are not the default, nested approaches last."""
    for declared in approach.options():
        value = getattr(approach, declared.name)
        inner = list(_iterate_set_parameters(value)) if isinstance(value, Approach) else []
        plain = value.metadata.name if isinstance(value, Approach) else value
        if plain != declared.default or declared.required:
            yield approach.metadata.name, declared, plain
        yield from inner


def _text(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def option_key(declared: Option) -> str:
    """Return the name of a parameter's flag among parsed options, such as ``adc_seeding``; empty without a flag."""
    return declared.flag.lstrip("-").replace("-", "_")


def format_flag(key: str) -> str:
    """Format the name of a parsed option as its flag."""
    return f"--{key.replace('_', '-')}"


def list_flag_parameters() -> dict[str, Option]:
    """List the parameters that have a flag, by its `option_key`."""
    parameters: dict[str, Option] = {}
    for component in COMPONENTS:
        for kind in list_approaches(component).values():
            for declared in kind.options():
                if declared.flag:
                    parameters.setdefault(option_key(declared), declared)
    return parameters


class ApproachResolver:
    """Creates approaches from parsed options, and remembers which options were used."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._named = {
            key: options[key] for key in list_flag_parameters() if options.get(key) is not None
        }
        self._set = dict(parse_assignment(text) for text in options.get("set") or ())
        self._used: set[Any] = set()

    def create(self, component: str, name: str, **overrides: Any) -> Any:
        """Create the named approach with its parameters from the options; ``overrides`` go before them."""
        name, written = resolve_name(component, name)
        overrides = {**written, **overrides}
        kind = get_approach(component, name)
        values = {}
        for declared in kind.options():
            value = overrides.get(declared.name, self._value(name, declared))
            if declared.is_nested:
                value = self._inner(component, name, declared.default if value is None else value)
            key = component if declared.is_shorthand else option_key(declared)
            option = format_flag(key) if key else f"--set {name}.{declared.name}"
            if value is None and declared.required:
                raise UsageError(f"“{name}” needs {option}: {declared.help}")
            if value is not None:
                values[declared.name] = _read_value(option, declared, value)
        try:
            return create_approach(component, name, values)
        except InputError as error:
            raise UsageError(str(error)) from None

    def unused_options(self) -> list[str]:
        """List the flags that no approach created so far has used."""
        return [format_flag(key) for key in self._named if key not in {*self._used, _ALWAYS_USED}]

    def refuse_unused_assignments(self) -> None:
        """Raise `UsageError` if a ``--set`` names an approach or parameter that is not in use."""
        for name, parameter in self._set:
            if (name, parameter) not in self._used:
                raise UsageError(
                    f"--set {name}.{parameter}: no approach of this run has such a parameter."
                )

    def _value(self, name: str, declared: Option) -> Any:
        value = None
        key = option_key(declared)
        if key in self._named:
            self._used.add(key)
            value = self._named[key]
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
            return self.create(component, value)
        except InputError as error:
            raise UsageError(str(error)) from None


def choose_names(options: Mapping[str, Any]) -> dict[str, str]:
    """Choose the approach of each component by name; a flag of a parameter implies the first approach that has it."""
    return {
        component: options.get(component) or _find_implied_name(options, component) or default
        for component, default in DEFAULTS.items()
    }


def _find_implied_name(options: Mapping[str, Any], component: str) -> str | None:
    """Find the approach that a flag implies: `--sites 40` the fixed number, `--adc-seeding density` ADC."""
    for name, kind in list_approaches(component).items():
        keys = {option_key(declared) for declared in kind.options()} - {"", _ALWAYS_USED}
        if any(options.get(key) is not None for key in keys):
            return name
    return None


def has_option(kind: type[Approach], key: str) -> bool:
    """Tell whether an approach has a parameter with this flag, given as its `option_key`."""
    return any(option_key(declared) == key for declared in kind.options())


def _read_value(option: str, declared: Option, value: Any) -> Any:
    """Read the value of a parameter. Raises `UsageError`, which names the flag."""
    try:
        return declared.read(value)
    except InputError as error:
        raise UsageError(f"{option}: {error}") from None


def is_file_assignment(text: str) -> bool:
    """Tell whether APPROACH.PARAMETER=VALUE names a file."""
    (name, parameter), _ = parse_assignment(text)
    kinds = (
        kind
        for component in COMPONENTS
        for kind in [list_approaches(component).get(name)]
        if kind is not None
    )
    return any(
        each.name == parameter and each.metavar == "FILE" for kind in kinds for each in kind.options()
    )


def parse_assignment(text: str) -> tuple[tuple[str, str], str]:
    """Split APPROACH.PARAMETER=VALUE into the approach with its parameter, and the value."""
    target, equals, value = text.partition("=")
    name, dot, parameter = target.rpartition(".")
    if not (equals and dot and name and parameter):
        raise UsageError(f"--set {text}: write it as APPROACH.PARAMETER=VALUE.")
    return (name.strip(), parameter.strip()), value.strip()

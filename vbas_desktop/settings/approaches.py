"""Approaches and their parameters, from what was typed to instances and back to the options of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vbas_desktop.approaches.base import Approach, Parameter
from vbas_desktop.approaches.registry import DEFAULTS, approach, approaches, make, named
from vbas_desktop.model.errors import InputError, UsageError
from vbas_desktop.model.solution import USUAL_LOSS_PERCENT

from .run import COMPONENTS, Parameters, RunSettings, allowed_loss_percent

_ALWAYS_USED = "allowed_loss"
"""Decides what is recommended, whatever the approaches are."""


def made(approaches: Mapping[str, str], parameters: Parameters) -> dict[str, Any]:
    """The approach of each component; `InputError` if a parameter is out of bounds."""
    return {
        component: make(component, name, parameters.get(component, {}).get(name, {}))
        for component, name in approaches.items()
    }


def run_settings(options: Mapping[str, Any]) -> tuple[RunSettings, tuple[str, ...]]:
    """The settings of a run from options as ``run.json`` keeps them, and the options that nothing asked for."""
    names, chooser = chosen_names(options), Chooser(options)
    instances = {component: chooser.make(component, name) for component, name in names.items()}
    names = {component: one.card.name for component, one in instances.items()}
    chooser.refuse_unused_assignments()
    settings = RunSettings(
        **RunSettings.values_from(options),
        approaches=names,
        parameters=with_allowed_loss(
            {component: {names[component]: one.settings()} for component, one in instances.items()}, options
        ),
        groupings=options.get("groupings") or {},
    )
    return settings, tuple(chooser.unused_options())


def approach_options(settings: RunSettings) -> dict[str, Any]:
    """Approaches and parameters as options; parameters that are at their defaults go without saying."""
    found: dict[str, Any] = dict.fromkeys(named_parameters())
    loss = allowed_loss_percent(settings.parameters)
    # Beside another site number even the usual loss has to be named: it is in force only if it was given.
    is_given = settings.approaches["site_number"] != "limit" and settings.loss_limit_percent is not None
    if loss != USUAL_LOSS_PERCENT or is_given:
        found["allowed_loss"] = loss
    assigned, instead = [], {}
    for component, one in made(settings.approaches, settings.parameters).items():
        for owner, declared, value in _said(one):
            key = option_key(declared)
            if declared.instead:
                instead[component] = value
            elif key and found[key] in (None, value):
                found[key] = value
            else:
                assigned.append(f"{owner}.{declared.name}={_text(value)}")
    return {**settings.approaches, **instead, **found, "set": assigned}


def with_allowed_loss(parameters: Parameters, options: Mapping[str, Any]) -> Parameters:
    """The parameters with the share of the records that may be suppressed, of several the first: it decides what is
    recommended even if another approach finds the number of sites.
    """
    given = options.get("allowed_loss")
    given = next(iter(given), None) if isinstance(given, list) else given
    if given is None:
        return parameters
    given = _parsed("--allowed-loss", named_parameters()["allowed_loss"], given)
    loss = make("site_number", "limit", {"allowed_loss_percent": given}).settings()
    return {**parameters, "site_number": {"limit": loss, **parameters.get("site_number", {})}}


def _said(approach: Approach) -> Iterator[tuple[str, Parameter, Any]]:
    """What has to be said of an approach: its name, the parameter, its value; then of those it starts from."""
    for declared in approach.parameters():
        value = getattr(approach, declared.name)
        inner = list(_said(value)) if isinstance(value, Approach) else []
        plain = value.card.name if isinstance(value, Approach) else value
        if plain != declared.default or declared.required:
            yield approach.card.name, declared, plain
        yield from inner


def _text(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def option_key(declared: Parameter) -> str:
    """How the option of a parameter is called among the parsed ones; empty if it has none."""
    return (declared.option or "").lstrip("-").replace("-", "_")


def spelled(key: str) -> str:
    """An option as it is typed."""
    return f"--{key.replace('_', '-')}"


def named_parameters() -> dict[str, Parameter]:
    """The parameters that have an option of their own, by its `option_key`."""
    found: dict[str, Parameter] = {}
    for component in COMPONENTS:
        for kind in approaches(component).values():
            for declared in kind.parameters():
                if declared.option:
                    found.setdefault(option_key(declared), declared)
    return found


class Chooser:
    """Makes approaches from the options, and knows afterwards which options nothing asked for."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._named = {key: options[key] for key in named_parameters() if options.get(key) is not None}
        self._set = dict(parse_assignment(text) for text in options.get("set") or ())
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
            key = component if declared.instead else option_key(declared)
            option = spelled(key) if key else f"--set {name}.{declared.name}"
            if value is None and declared.required:
                raise UsageError(f"“{name}” needs {option}: {declared.help}")
            if value is not None:
                values[declared.name] = _parsed(option, declared, value)
        try:
            return make(component, name, values)
        except InputError as error:
            raise UsageError(str(error)) from None

    def unused_options(self) -> list[str]:
        """Named options that no approach made so far has a use for."""
        return [spelled(key) for key in self._named if key not in {*self._used, _ALWAYS_USED}]

    def refuse_unused_assignments(self) -> None:
        """A ``--set`` that reaches no approach of the combination is a mistake."""
        for name, parameter in self._set:
            if (name, parameter) not in self._used:
                raise UsageError(f"--set {name}.{parameter}: no approach of this run has such a parameter.")

    def _value(self, name: str, declared: Parameter) -> Any:
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
            return self.make(component, value)
        except InputError as error:
            raise UsageError(str(error)) from None


def chosen_names(options: Mapping[str, Any]) -> dict[str, str]:
    """The approach of each component; a parameter's own option chooses the first approach that has it."""
    # Runs that were kept before there was such a component do not tell it.
    return {
        component: options.get(component) or _implied(options, component) or default
        for component, default in DEFAULTS.items()
    }


def _implied(options: Mapping[str, Any], component: str) -> str | None:
    """`--sites 40` alone means the fixed number, `--adc-seeding density` ADC, `--gaps-model western` MaxCombs."""
    for name, kind in approaches(component).items():
        keys = {option_key(declared) for declared in kind.parameters()} - {"", _ALWAYS_USED}
        if any(options.get(key) is not None for key in keys):
            return name
    return None


def has_option(kind: type[Approach], key: str) -> bool:
    """Whether an approach has a parameter with this option."""
    return any(option_key(declared) == key for declared in kind.parameters())


def _parsed(option: str, declared: Parameter, value: Any) -> Any:
    """The value of a parameter; a refusal names the option that it was typed in."""
    try:
        return declared.parse(value)
    except InputError as error:
        raise UsageError(f"{option}: {error}") from None


def parse_assignment(text: str) -> tuple[tuple[str, str], str]:
    """Split APPROACH.PARAMETER=VALUE into the approach with its parameter, and the value."""
    target, equals, value = text.partition("=")
    name, dot, parameter = target.rpartition(".")
    if not (equals and dot and name and parameter):
        raise UsageError(f"--set {text}: write it as APPROACH.PARAMETER=VALUE.")
    return (name.strip(), parameter.strip()), value.strip()

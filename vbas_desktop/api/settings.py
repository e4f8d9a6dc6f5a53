"""Keyword arguments as settings."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.settings.approaches import named_parameters
from vbas_desktop.settings.declaration import Setting, Settings, settings_of
from vbas_desktop.settings.forms import Criteria, Names, Percent, Texts, Whole
from vbas_desktop.settings.run import COMPONENTS


def options_of(given: Mapping[str, Any], *kinds: type[Settings], approaches: bool = False) -> dict[str, Any]:
    """Keyword arguments by the names of declared settings as options; with ``approaches`` a combination's too."""
    declared = {each.name: each for kind in kinds for each in settings_of(kind)}
    others = {*COMPONENTS, *(name.replace("-", "_") for name in named_parameters()), "parameters"} if approaches else ()
    options: dict[str, Any] = {}
    for name, value in given.items():
        if name in declared:
            options[declared[name].key] = declared[name].form.plain(checked(declared[name], value))
        elif name in others and name != "parameters":
            options[name] = value
        elif name not in others:
            likely = difflib.get_close_matches(name, [*declared, *others], 1)
            hint = f"; did you mean {likely[0]}?" if likely else ""
            raise TypeError(f"there is no setting “{name}”{hint}")
    if given.get("parameters"):
        options["set"] = [
            f"{approach}.{name}={value}"
            for approach, values in given["parameters"].items()
            for name, value in values.items()
        ]
    return options


def checked(declared: Setting, value: Any) -> Any:
    """The value as the setting wants it; names may be given as one text with commas."""
    try:
        if isinstance(declared.form, Names) and value is not None:
            return tuple(declared.form.parse(value) if isinstance(value, str) else value)
        if isinstance(declared.form, Texts) and isinstance(value, str):
            return (value,)
        if isinstance(declared.form, Criteria):
            return declared.form.value([value] if isinstance(value, str) else value)
        if isinstance(declared.form, Whole | Percent):
            return declared.form.parse(str(value))
    except ValueError as error:
        raise InputError(Finding("setting", f"“{declared.name}”: {error}.")) from None
    if declared.choices and value is not None and value not in declared.choices:
        known = ", ".join(declared.choices)
        raise InputError(Finding("setting", f"“{declared.name}” cannot be “{value}”.", f"Choose one of {known}."))
    return value

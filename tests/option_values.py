"""A value of each option that is not its default."""

from __future__ import annotations

from typing import Any

from vbas_desktop.settings.option import Option

REQUIRED_PARAMETERS = {"fixed": {"sites": 5}, "columns": {"columns": "county"}}
"""Parameters without which an approach cannot be made."""

_BY_NAME: dict[str, str] = {
    "aggregate_classes": "all",
    "shuffle_seed": "0f",
    "renames": "old=new",
    "reasons": "column=a reason",
    "aims": "column=an aim",
    "meanings": "column=a meaning",
    "benign": "illness=none,unknown",
    "criteria": "illness=share:50",
    "delimiter": "tab",
    "regions_delimiter": "tab",
    "release_delimiter": "tab",
}


def other_value(option: Option) -> Any:
    """Return a value that differs from the default, in the form that JSON has."""
    if option.value_type is bool:
        return not option.default
    if option.choices:
        other = next(choice for choice in reversed(option.choices) if choice != option.default)
        return [other] if option.value_type is tuple else other
    if option.is_nested:
        return "density"
    if option.value_type in (int, float) and option.high is not None:
        return option.value_type(option.high if option.high != option.default else option.low)
    if option.value_type in (int, float):
        return max(option.low or 0, option.default or 0) + 1
    text = _BY_NAME.get(option.name, "other")
    return [text] if option.form.is_repeated else option.parse(text)

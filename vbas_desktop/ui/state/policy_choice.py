"""Choosing a policy: the settings that it demands, what they change, and the settings that fall short of it."""

from __future__ import annotations

from collections.abc import Sequence

from vbas_desktop.analysis.policy_demands import derive_demands
from vbas_desktop.model.policies import Policy
from vbas_desktop.model.regions import Regions
from vbas_desktop.settings.option import Option

from .choices import Choices

_POPULATION_NAMES = ("pop", "inhab", "people", "residents", "einwohner")
"""Beginnings of names of columns that hold inhabitants."""


def fit_choices(choices: Choices, policy: Policy, regions: Regions | None) -> Choices:
    """Return the choices with k, the minima and the allowed loss that a policy demands; nothing is made laxer."""
    demands = derive_demands(policy)
    values: dict[str, object] = {}
    if demands.k is not None:
        values["k"] = max(choices.k, demands.k)
    if demands.min_records:
        values["min_records"] = max(choices.min_records, demands.min_records)
    column = choices.population_column or _guess_population_column(regions)
    if demands.min_population and column is not None:
        values["min_population"] = max(choices.min_population, demands.min_population)
        values["population_column"] = column
    fitting = choices.replaced(**values)
    largest = demands.largest_loss_percent
    if largest is not None and largest < choices.allowed_loss_percent:
        fitting = fitting.with_allowed_loss(largest)
    return fitting


def _guess_population_column(regions: Regions | None) -> str | None:
    """Return the only column of the region file that is named like a number of inhabitants."""
    names = (
        []
        if regions is None
        else [name for name in regions.numbers if name.lower().startswith(_POPULATION_NAMES)]
    )
    return names[0] if len(names) == 1 else None


def describe_fit(before: Choices, after: Choices) -> Sequence[str]:
    """List what choosing a policy changes: "k (minimum group size): 5 → 11"."""
    lines = [
        f"{option.title}: {_describe(option, before.value_of(option.name))} → "
        f"{_describe(option, after.value_of(option.name))}"
        for option in (
            Choices.option(name) for name in ("k", "min_records", "population_column", "min_population")
        )
        if before.value_of(option.name) != after.value_of(option.name)
    ]
    if before.allowed_loss_percent != after.allowed_loss_percent:
        lines.append(
            f"Allowed loss: {before.allowed_loss_percent:g} % → {after.allowed_loss_percent:g} %"
        )
    return lines


def _describe(option: Option, value: object) -> str:
    text = option.describe(value)
    return f"{value:,}" if isinstance(value, int) and text == str(value) else text or "none"


def explain_k_below(policy: Policy | None, k: int) -> str:
    """Explain that k is below what a policy demands; empty if it is not."""
    demanded = None if policy is None else derive_demands(policy).k
    if policy is None or demanded is None or k >= demanded:
        return ""
    return f"Below the policy “{policy.name}”, which demands {demanded:,}."

"""Ways out of what is in the way of a run, each as a button."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from vbas_desktop.algorithms.value_groups import count_groups
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.records import Role
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.text import escape_controls

from .choices import Choices
from .estimate import OUT_OF_REACH, Estimate
from .scenario import FILES_OF_CONSTRUCTIONS, explain_missing_file

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable

_LONGEST_NAME = 24
_PARTS_OF_PERCENT = 10
"""A larger allowed loss is proposed in tenths of a percent."""


def shorten_name(name: str) -> str:
    """Cut a name for a button."""
    escaped = escape_controls(name)
    return escaped if len(escaped) <= _LONGEST_NAME else f"{escaped[: _LONGEST_NAME - 1]}…"


class Action(StrEnum):
    """What a remedy does besides changing settings."""

    NOTHING = ""
    GROUP = "group"
    READ_AGAIN = "read again"
    CHOOSE_FILE = "choose file"
    SEARCH = "search"


@dataclass(frozen=True)
class Remedy:
    """One way out.

    text, tip: of the button.
    choices: the settings that it puts in force, if it changes any.
    action: what it does else, with ``name``: the column to group, the option whose file is chosen.
    """

    text: str
    tip: str
    choices: Choices | None = None
    action: Action = Action.NOTHING
    name: str = ""


def list_remedies(
    choices: Choices, regions: Regions | None, region_columns: Sequence[str], findings: Iterable[Finding]
) -> tuple[Remedy, ...]:
    """List the ways out of what stops a run.

    region_columns: the columns of the records most of whose values are ids of the region file.
    findings: what counting found.
    """
    codes = {finding.code for finding in findings}
    remedies: list[Remedy] = []
    if choices.region_column is None or "no-known-region" in codes:
        remedies += _list_region_columns(choices, region_columns)
    elif "unknown-region" in codes:
        suppressing = choices.replaced(unknown_regions="suppress")
        remedies.append(
            Remedy("Suppress them", "Leave out the records whose region is unknown", suppressing)
        )
    if regions is not None and explain_missing_file(choices, regions):
        remedies += _list_file_remedies(choices)
    return tuple(remedies)


def _list_region_columns(choices: Choices, region_columns: Sequence[str]) -> Iterator[Remedy]:
    for name in region_columns:
        if name != choices.region_column:
            tip = "Most values of this column are ids of the region file: give it the role “region”"
            yield Remedy(f"Use “{shorten_name(name)}”", tip, choices.with_role(name, Role.REGION))


def _list_file_remedies(choices: Choices) -> Iterator[Remedy]:
    option = FILES_OF_CONSTRUCTIONS[choices.approaches["construction"]]
    if choices.value_of(option):
        yield Remedy("Read again", "Read both files again with these options", action=Action.READ_AGAIN)
        return
    text = "Add obstacles…" if option == "obstacles" else "Choose the crosswalk…"
    yield Remedy(text, choices.option(option).help, action=Action.CHOOSE_FILE, name=option)
    voronoi = choices.with_approach("construction", "voronoi")
    yield Remedy("Use Voronoi", "Give each region to the nearest site, as the crow flies", voronoi)


def list_loss_remedies(
    choices: Choices, table: RecordTable | None, estimate: Estimate
) -> tuple[Remedy, ...]:
    """List the ways out if even one region would lose more records than are allowed, the least drastic first."""
    if table is None or not any(finding.code == OUT_OF_REACH for finding in estimate.findings):
        return ()
    sizes: dict[str, int] = {}
    for name in choices.quasi_identifiers:
        categories = table.facts(name).categories
        if categories is not None:
            sizes[name] = count_groups(categories.values, choices.groupings.get(name, {}))
    remedies = []
    largest = max(sizes, key=lambda name: sizes[name], default="")
    if sizes.get(largest, 0) > 2:
        tip = f"Take its {sizes[largest]:,} categories together: fewer classes lose fewer records"
        remedies.append(
            Remedy(f"Group “{shorten_name(largest)}”…", tip, action=Action.GROUP, name=largest)
        )
    if len(sizes) > 1:
        left_out = choices.with_role(largest, Role.LEAVE_OUT)
        tip = "Give the column the role “leave out”: the release does not have it"
        remedies.append(Remedy(f"Leave out “{shorten_name(largest)}”", tip, left_out))
    tip = "See which generalisations of the quasi-identifiers keep to the allowed loss"
    remedies.append(Remedy("Find a release…", tip, action=Action.SEARCH))
    loss = estimate.expected_loss_percent
    if loss is not None:
        percent = math.ceil(loss * _PARTS_OF_PERCENT) / _PARTS_OF_PERCENT
        allowing = choices.with_allowed_loss(min(percent, 100.0))
        remedies.append(
            Remedy(f"Allow {percent:g} %", "Allow that so many records are suppressed", allowing)
        )
    return tuple(remedies)

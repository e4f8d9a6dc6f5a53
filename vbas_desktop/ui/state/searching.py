"""Finding a release on the loaded data: from conditions on the attributes to a search, from a node to choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.app.data import LoadedData
from vbas_desktop.app.search import SearchRequest
from vbas_desktop.engine.lattice.search import LatticeSearchResult
from vbas_desktop.engine.lattice.table import describe_levels, describe_node
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Role
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.run import COMPONENTS, PrivacySettings, SweepSettings

from .choices import Choices
from .scenario import scenario_of

if TYPE_CHECKING:
    from vbas_desktop.engine.lattice.nodes import Node

    from .app_state import AppState


_OF_SEARCH = (
    *RegionConstraints.options(),
    *(PrivacySettings.option(name) for name in ("unknown_regions", "global_suppression")),
    SweepSettings.option("random_seed"),
)
"""The declared settings, besides k, that decide what a search finds."""


@dataclass(frozen=True)
class Conditions:
    """Requirements for the attributes: levels from files, pinned levels, minimum numbers of categories."""

    levels: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    pins: Mapping[str, int] = field(default_factory=dict)
    minima: Mapping[str, int] = field(default_factory=dict)

    def of(self, columns: Sequence[str]) -> Conditions:
        """Return the conditions of these columns."""
        return Conditions(
            {name: self.levels[name] for name in columns if name in self.levels},
            {name: self.pins[name] for name in columns if name in self.pins},
            {name: self.minima[name] for name in columns if name in self.minima},
        )


def request_search(state: AppState, conditions: Conditions, target: Path | None = None) -> SearchRequest:
    """Freeze what a thread needs to know. Call `Session.why_not_run` first.

    Columns without levels from a file have the groups made in Input as their one level, if there are any.
    """
    assert state.table is not None
    assert state.regions is not None
    # The values are taken as they are, and the number of sites by the approach that knows the allowed loss.
    choices = state.choices.with_approach("site_number", "limit").replaced(groupings={})
    own = conditions.of(choices.quasi_identifiers)
    groups_in_input = {
        name: [groups] for name, groups in state.choices.groupings_of(choices.quasi_identifiers).items()
    }
    key = scenario_of(choices)
    return SearchRequest(
        choices.settings(),
        LoadedData(state.table, state.regions),
        {**groups_in_input, **own.levels},
        own.pins,
        own.minima,
        target=target,
        problem=None if key is None else state.counted(key),
    )


def differing_settings(now: Choices, then: Choices) -> tuple[str, ...]:
    """Name the settings that make a search with ``now`` another one than a search with ``then``, with both values of k
    and of the allowed loss. Groups and the approach for the number of sites do not count: each node has its own.
    """
    words = []
    if now.k != then.k:
        words.append(f"k was {then.k:,} and is {now.k:,} now")
    if now.allowed_loss_percent != then.allowed_loss_percent:
        words.append(
            f"the allowed loss was {then.allowed_loss_percent:g} % and is {now.allowed_loss_percent:g} % now"
        )
    if now.region_column != then.region_column:
        words.append("the region column is another one")
    if now.quasi_identifiers != then.quasi_identifiers:
        names = (", ".join(choices.quasi_identifiers) or "none" for choices in (then, now))
        words.append("the quasi-identifiers were {} and are {} now".format(*names))
    if now.sensitive_columns != then.sensitive_columns and any(
        column.criteria for column in (*now.sensitive_columns, *then.sensitive_columns)
    ):
        words.append("the criteria for sensitive values are others")
    words += [
        f"“{declared.title}” has another value"
        for declared in _OF_SEARCH
        if getattr(now, declared.name) != getattr(then, declared.name)
    ]
    if any(
        _create_approach(now, component) != _create_approach(then, component)
        for component in COMPONENTS
        if component != "site_number"
    ):
        words.append("the approaches are others")
    return tuple(words)


_DECIDING_ROLES = (Role.REGION, Role.QUASI_IDENTIFIER, Role.SENSITIVE)


def restore_settings(now: Choices, then: Choices) -> Choices:
    """Return ``now`` with everything as it was that `differing_settings` names; all else stays."""
    roles = {
        name: then.roles.get(name, role)
        for name, role in now.roles.items()
        if role in _DECIDING_ROLES or then.roles.get(name) in _DECIDING_ROLES
    }
    names = ("k", "benign", "criteria", *(declared.name for declared in _OF_SEARCH))
    restored = now.replaced(
        roles={**now.roles, **roles},
        approaches={**then.approaches, "site_number": now.approaches["site_number"]},
        parameters={**then.parameters, "site_number": now.parameters.get("site_number", {})},
        **{name: getattr(then, name) for name in names},
    )
    return restored.with_allowed_loss(then.allowed_loss_percent)


def _create_approach(choices: Choices, component: str) -> Any:
    """Create the approach of a component; None if it is not installed or its parameters are wrong."""
    try:
        return choices.create_approach(component)
    except InputError:  # of a project made where other approaches are installed
        return None


def choices_of(choices: Choices, searched: LatticeSearchResult, node: Node) -> Choices:
    """Choose the groups of a node, and the approach that keeps to the allowed loss. k and the roles stay as they are:
    call `differing_settings` first.
    """
    lattice = searched.finest.lattice
    columns = {hierarchy.column for hierarchy in lattice.hierarchies}
    other_groupings = {name: groups for name, groups in choices.groupings.items() if name not in columns}
    node_groupings = {grouping.column: dict(grouping.groups) for grouping in lattice.groupings(node)}
    return choices.replaced(groupings={**other_groupings, **node_groupings}).with_approach(
        "site_number", "limit"
    )


def node_in_words(searched: LatticeSearchResult, node: Node) -> str:
    """Describe a node: its levels, and its result or why it has none."""
    row = searched.row(node)
    levels = ", ".join(describe_levels(searched, row))
    return f"{levels}: {row.status if row.regions is None else describe_node(searched, row)}."

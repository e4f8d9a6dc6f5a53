"""Finding a release on the loaded data: from conditions on the attributes to a search, from a node to choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.jobs.data import Data
from vbas_desktop.jobs.search import SearchJob
from vbas_desktop.model.errors import InputError
from vbas_desktop.search.run import Searched
from vbas_desktop.search.table import figures, level_words
from vbas_desktop.settings.declaration import setting_of, settings_of
from vbas_desktop.settings.limits import Limiting
from vbas_desktop.settings.run import COMPONENTS, Protection, Running

from .choices import Choices
from .results import key_of

if TYPE_CHECKING:
    from vbas_desktop.search.lattice import Node
    from vbas_desktop.session.session import Session


_OF_SEARCH = (
    *settings_of(Limiting),
    *(setting_of(Protection, name) for name in ("unknown_regions", "global_suppression")),
    setting_of(Running, "random_seed"),
)
"""The declared settings, besides k, that decide what a search finds."""


@dataclass(frozen=True)
class Conditions:
    """What the user asks of the attributes: levels from files, pinned levels, least numbers of categories."""

    levels: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    pins: Mapping[str, int] = field(default_factory=dict)
    minima: Mapping[str, int] = field(default_factory=dict)

    def of(self, columns: Sequence[str]) -> Conditions:
        """Those of these columns."""
        return Conditions(
            {name: self.levels[name] for name in columns if name in self.levels},
            {name: self.pins[name] for name in columns if name in self.pins},
            {name: self.minima[name] for name in columns if name in self.minima},
        )


def order_search(session: Session, conditions: Conditions, target: Path | None = None) -> SearchJob:
    """Freeze what a thread needs to know. Call `Session.why_not_run` first.

    Columns without levels from a file have the groups made in Input as their one level, if there are any.
    """
    assert session.table is not None
    assert session.regions is not None
    # The values are taken as they are, and the number of sites by the approach that knows the allowed loss.
    choices = replace(session.choices.with_approach("site_number", "limit"), groupings={})
    own = conditions.of(choices.quasi_identifiers)
    made = {name: [groups] for name, groups in session.choices.groupings_of(choices.quasi_identifiers).items()}
    key = key_of(choices)
    return SearchJob(
        choices.settings(),
        Data(session.table, session.regions),
        {**made, **own.levels},
        own.pins,
        own.minima,
        target=target,
        problem=None if key is None else session.counted(key),
    )


def differing_settings(now: Choices, then: Choices) -> tuple[str, ...]:
    """Name the settings that make a search with ``now`` another one than a search with ``then``, with both values of k
    and of the allowed loss. Groups and the approach for the number of sites do not count: each node has its own.
    """
    words = []
    if now.k != then.k:
        words.append(f"k was {then.k:,} and is {now.k:,} now")
    if now.allowed_loss_percent != then.allowed_loss_percent:
        words.append(f"the allowed loss was {then.allowed_loss_percent:g} % and is {now.allowed_loss_percent:g} % now")
    if now.region_column != then.region_column:
        words.append("the region column is another one")
    if now.quasi_identifiers != then.quasi_identifiers:
        names = (", ".join(each.quasi_identifiers) or "none" for each in (then, now))
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
    if any(_made(now, component) != _made(then, component) for component in COMPONENTS if component != "site_number"):
        words.append("the approaches are others")
    return tuple(words)


def _made(choices: Choices, component: str) -> Any:
    try:
        return choices.make(component)
    except InputError:  # of a project made where other approaches are installed
        return None


def choices_of(choices: Choices, searched: Searched, node: Node) -> Choices:
    """Choose the groups of a node, and the approach that keeps to the allowed loss. k and the roles stay as they are:
    call `differing_settings` first.
    """
    lattice = searched.finest.lattice
    columns = {ladder.column for ladder in lattice.ladders}
    kept = {name: groups for name, groups in choices.groupings.items() if name not in columns}
    made = {grouping.column: dict(grouping.groups) for grouping in lattice.groupings(node)}
    return replace(choices, groupings={**kept, **made}).with_approach("site_number", "limit")


def node_in_words(searched: Searched, node: Node) -> str:
    """A node in one sentence."""
    row = searched.row(node)
    levels = ", ".join(level_words(searched, row))
    return f"{levels}: {row.status if row.regions is None else figures(searched, row)}."

"""Finding a release on the loaded data: from conditions on the attributes to a search, from a node to choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.jobs.data import Data
from vbas_desktop.jobs.search import SearchJob
from vbas_desktop.search.run import Searched
from vbas_desktop.search.table import figures, level_words

from .choices import Choices
from .results import key_of

if TYPE_CHECKING:
    from vbas_desktop.search.lattice import Node
    from vbas_desktop.session.session import Session


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


def choices_of(choices: Choices, searched: Searched, node: Node) -> Choices:
    """The choices that make the release of a node: its groups, its columns, and the allowed loss."""
    lattice = searched.finest.lattice
    columns = {ladder.column for ladder in lattice.ladders}
    kept = {name: groups for name, groups in choices.groupings.items() if name not in columns}
    made = {grouping.column: dict(grouping.groups) for grouping in lattice.groupings(node)}
    chosen = choices.with_quasi_identifiers(columns)
    changed = replace(chosen, groupings={**kept, **made}, k=searched.finest.problem.k)
    return changed.with_approach("site_number", "limit").with_allowed_loss(searched.allowed_loss_percent)


def node_in_words(searched: Searched, node: Node) -> str:
    """A node in one sentence."""
    row = searched.row(node)
    levels = ", ".join(level_words(searched, row))
    return f"{levels}: {row.status if row.regions is None else figures(searched, row)}."

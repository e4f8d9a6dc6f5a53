"""Finding a release: ladders, conditions, the walk through the lattice, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.search.lattice import Finest, Lattice, lattice_of
from vbas_desktop.search.run import Found, NodeMemory, NodeStore, Searched, search
from vbas_desktop.settings.run import RunSettings

from .data import Data
from .run import RunJob

if TYPE_CHECKING:
    from vbas_desktop.model.problem import Problem
    from vbas_desktop.search.ladders import Ladder

Levels = Mapping[str, Sequence[Mapping[str, str]]]
"""Column → what each level above the values as they are makes of them."""


@dataclass(frozen=True, eq=False)
class SearchJob:
    """One search. Columns without ``levels`` get a ladder made up from their categories.

    ``settings`` name the approach that knows the allowed loss; their groupings are not used, since the ladders decide.
    ``target`` receives the tables, a folder beside it the finished nodes. ``problem`` is None if it is still to be
    counted with the values as they are. ``inputs`` are files that were read besides those of the data.
    """

    settings: RunSettings
    data: Data
    levels: Levels = field(default_factory=dict)
    pins: Mapping[str, int] = field(default_factory=dict)
    minima: Mapping[str, int] = field(default_factory=dict)
    target: Path | None = None
    problem: Problem | None = None
    inputs: tuple[Path, ...] = ()

    @property
    def keeper(self) -> NodeStore | NodeMemory:
        """Where finished nodes are kept."""
        from vbas_desktop.release.search import nodes_beside

        return NodeMemory() if self.target is None else NodeStore(nodes_beside(self.target))

    def ladders(self) -> tuple[Ladder, ...]:
        """The ladder of each quasi-identifier, in their order."""
        from vbas_desktop.search.ladders import ladder_of, proposed

        facts = [self.data.table.facts(name) for name in self.settings.quasi_identifiers]
        return tuple(
            ladder_of(each, self.levels[each.name]) if each.name in self.levels else proposed(each) for each in facts
        )

    def lattice(self) -> Lattice:
        """All combinations of levels under the conditions."""
        return lattice_of(self.ladders(), self.pins, self.minima)

    def execute(
        self,
        progress: Progress = Silent(),  # noqa: B008 (Silent has no state)
        on_found: Callable[[Found], None] | None = None,
        on_finest: Callable[[Finest], None] | None = None,
    ) -> Searched:
        """Count if necessary, walk, and write the folder."""
        from vbas_desktop.io.hashing import require_unchanged
        from vbas_desktop.release.search import check_search_target, write_search

        if self.target is not None:
            check_search_target(self.target, (*self.data.paths, *self.inputs))
        run = RunJob(self.settings, self.data, self.problem)
        problem = run.count(Span(progress, 0.0, 0.05))
        finest = Finest(problem, self.lattice())
        if on_finest is not None:
            on_finest(finest)
        searched = search(finest, run.request(problem), self.keeper, Span(progress, 0.05, 1.0), on_found)
        # No table is written of records that were changed while they were read.
        require_unchanged(self.data.table.source)
        if self.target is not None:
            write_search(searched, self.target)
        return searched


def read_ladders(choices: Sequence[str]) -> dict[str, list[Mapping[str, str]]]:
    """What each level makes of the values, by column, from the files that a person names.

    ``COLUMN=FILE`` is a hierarchy ``value;level1;level2…``; a file with column, value and group adds one level for each
    of its columns.
    """
    from vbas_desktop.io.generalise import read_groups, read_levels

    found: dict[str, list[Mapping[str, str]]] = {}
    for choice in choices:
        column, equals, file = choice.partition("=")
        if equals and not Path(choice).exists():
            levels = read_levels(file, column)
            found[column] = [levels.grouping(level).groups for level in range(1, levels.height + 1)]
        else:
            for grouping in read_groups(Path(choice)):
                found.setdefault(grouping.column, []).append(grouping.groups)
    return found

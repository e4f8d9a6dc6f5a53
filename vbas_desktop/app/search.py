"""Finding a release: hierarchies, conditions, the walk through the lattice, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.engine.lattice import hierarchies
from vbas_desktop.engine.lattice.nodes import BaseTable, Lattice, build_lattice
from vbas_desktop.engine.lattice.search import LatticeSearchResult, NodeResult, search_lattice
from vbas_desktop.engine.result_cache import MemoryCache, ResultCache
from vbas_desktop.io.documents.hierarchies import read_groups, read_hierarchy_file
from vbas_desktop.io.documents.result_cache import open_node_cache
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.releases.search import check_search_target, nodes_beside, write_search
from vbas_desktop.settings.run import RunSettings

from .data import LoadedData
from .run import RunRequest, build_engine_request, get_problem

if TYPE_CHECKING:
    from vbas_desktop.model.problem import Problem

Levels = Mapping[str, Sequence[Mapping[str, str]]]
"""Column → what each level above the values as they are makes of them."""


@dataclass(frozen=True, eq=False)
class SearchRequest:
    """One search. Columns without ``levels`` get a hierarchy made up from their categories.

    ``settings`` name the approach that knows the allowed loss; their groupings are not used: the hierarchies decide.
    ``target`` receives the tables, a folder beside it the finished nodes. ``problem`` is None if it is still to be
    counted with the values as they are. ``inputs`` are files that were read besides those of the data.
    """

    settings: RunSettings
    data: LoadedData
    levels: Levels = field(default_factory=dict)
    pins: Mapping[str, int] = field(default_factory=dict)
    minima: Mapping[str, int] = field(default_factory=dict)
    target: Path | None = None
    problem: Problem | None = None
    inputs: tuple[Path, ...] = ()

    @property
    def cache(self) -> ResultCache[NodeResult]:
        """Return the cache of finished nodes, on disk if there is a target."""
        return MemoryCache() if self.target is None else open_node_cache(nodes_beside(self.target))


def build_hierarchies(request: SearchRequest) -> tuple[hierarchies.CodedHierarchy, ...]:
    """Build the hierarchy of each quasi-identifier, in their order."""
    facts = [request.data.table.facts(name) for name in request.settings.quasi_identifiers]
    return tuple(
        hierarchies.end_in_one_group(hierarchies.build_hierarchy(each, request.levels[each.name]))
        if each.name in request.levels
        else hierarchies.propose_hierarchy(each)
        for each in facts
    )


def build_search_lattice(request: SearchRequest) -> Lattice:
    """Build the lattice: all combinations of levels that the conditions allow."""
    return build_lattice(build_hierarchies(request), request.pins, request.minima)


def search_release(
    request: SearchRequest,
    progress: Progress = NO_PROGRESS,
    on_found: Callable[[NodeResult], None] | None = None,
    on_finest: Callable[[BaseTable], None] | None = None,
) -> LatticeSearchResult:
    """Count if necessary, walk, and write the folder."""
    if request.target is not None:
        check_search_target(request.target, (*request.data.paths, *request.inputs))
    run_request = RunRequest(request.settings, request.data, request.problem)
    problem = get_problem(run_request, SubProgress(progress, 0.0, 0.05))
    engine_request = build_engine_request(request.settings, problem)
    finest = BaseTable(engine_request.problem, build_search_lattice(request))
    if on_finest is not None:
        on_finest(finest)
    searched = search_lattice(
        finest,
        engine_request,
        request.cache,
        SubProgress(progress, 0.05, 1.0),
        on_found,
    )
    # No table is written of records that were changed while they were read.
    require_unchanged(request.data.table.source)
    if request.target is not None:
        write_search(searched, request.target)
    return searched


def read_hierarchy_choices(choices: Sequence[str]) -> dict[str, list[Mapping[str, str]]]:
    """Read the groups of each level, by column, from the named files.

    ``COLUMN=FILE`` is a hierarchy ``value;level1;level2…``; a file with column, value and group adds one level for each
    of its columns.
    """
    found: dict[str, list[Mapping[str, str]]] = {}
    for choice in choices:
        column, equals, file = choice.partition("=")
        if equals and not Path(choice).exists():
            levels = read_hierarchy_file(file, column)
            found[column] = [levels.grouping(level).groups for level in range(1, levels.height + 1)]
        else:
            for grouping in read_groups(Path(choice)):
                found.setdefault(grouping.column, []).append(grouping.groups)
    return found

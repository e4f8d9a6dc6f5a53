"""Reading both files, and counting the records by region and class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from vbas_desktop.io.databases.address import Address, record_place
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.selection import FilterFile
from vbas_desktop.settings.reading import Reading
from vbas_desktop.settings.run import Groups

from .beside import beside
from .inputs import local_paths

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable

_STAGE = "Reading region ids"


@dataclass(frozen=True, eq=False)
class Data:
    """Both files in memory, and the wall time that loading them took."""

    table: RecordTable
    regions: Regions
    loading_seconds: float = 0.0

    @property
    def paths(self) -> list[Path]:
        """List where both are on this machine."""
        regions = self.regions.source
        return [*local_paths(self.table.source.path), *([] if regions is None else [Path(regions.path)])]


@dataclass(frozen=True)
class LoadJob:
    """Read both files. ``columns`` are those of the records that are needed (None: all), ``named`` must be there too.

    Instead of a record file an address can be given, whose records stay where they are. The region file comes first:
    it is small, so its mistakes show at once. Records are read meanwhile. The ``region_column`` (empty: the one with
    ids of the region file) may have any number of values, other columns of too many have no categories.
    """

    records: Path | Address
    regions: Path
    reading: Reading = field(default_factory=Reading)
    columns: frozenset[str] | None = None
    named: tuple[str, ...] = ()
    region_column: str = ""

    def execute(self, progress: Progress = Silent()) -> Data:  # noqa: B008 (Silent has no state)
        """Read; all that is wrong with a file comes in one `InputError`."""
        from vbas_desktop.engine.region_map import needs_file
        from vbas_desktop.io.generalise import read_codebook
        from vbas_desktop.io.record_filter import filter_records
        from vbas_desktop.io.regions.read import load_regions
        from vbas_desktop.io.swapped import check_two_files, with_swap_told

        started = perf_counter()
        place = record_place(self.records) if isinstance(self.records, Path) else self.records
        if isinstance(place, Address) and self.reading.region_map:
            raise needs_file(self.reading.region_map)
        required, unwanted = self._read_filters(place)
        if isinstance(place, Path):
            check_two_files(place, self.regions)
        needed = [name for file in (required, unwanted) if file is not None for name in file.columns]
        with beside(partial(self._table, place, needed)) as records:
            try:
                regions = load_regions(self.regions, self.reading.of_regions, Span(progress, 0.0, 0.1))
            except InputError as error:
                raise (with_swap_told(error, place, self.regions) if isinstance(place, Path) else error) from None
            table = records(Span(progress, 0.1, 1.0))
        if not self.region_column and not table.source.elsewhere:
            table = _code_region_ids(table, regions, progress)
        for name in self.named:
            table.check_name(name)
        table = filter_records(table, required, unwanted)
        if self.reading.codebook:
            table = table.labelled(read_codebook(self.reading.codebook))
        # Looked for here, where nobody waits for a window that does not answer.
        _ = table.padded_categories
        return Data(table, regions, perf_counter() - started)

    def _read_filters(self, place: Path | Address) -> tuple[FilterFile | None, FilterFile | None]:
        """Read the tables of required and of unwanted combinations, if there are any."""
        from vbas_desktop.io.record_filter import read_record_filter

        required, unwanted = self.reading.keep_records, self.reading.drop_records
        if (required or unwanted) and isinstance(place, Address):
            message = "Records behind an address cannot be filtered by a table of combinations."
            remedy = "Name a view there that selects the records, or a record file."
            raise InputError(Finding("filter", message, remedy, file=required or unwanted))
        return (
            read_record_filter(required) if required else None,
            read_record_filter(unwanted) if unwanted else None,
        )

    def _table(self, place: Path | Address, needed: Sequence[str], progress: Progress) -> RecordTable:
        from vbas_desktop.io.databases.table import open_database_table
        from vbas_desktop.io.records.table import load_records

        how = self.reading.of_records
        unlimited = (self.region_column,)
        if isinstance(place, Address):
            return open_database_table(place, how, progress, self.columns, unlimited)
        columns = None if self.columns is None else self.columns.union(needed)
        table = load_records(place, how, progress, columns, unlimited=unlimited)
        if columns is not None and not {*columns, *self.named} <= {*table.dialect.header}:
            # A wrong name, or a file without names? All columns are needed to tell.
            table = load_records(place, how, progress, unlimited=unlimited)
        return table


def _code_region_ids(table: RecordTable, regions: Regions, progress: Progress) -> RecordTable:
    """Code columns of too many values if they are ids of regions, of which there may be any number.

    Nobody said which column these are in, so the beginning of the file tells.
    """
    ids: set[str] = set()
    for facts in table.columns:
        if facts.categorical or not 0 < facts.distinct <= 2 * len(regions.ids):
            continue
        ids = ids or {*regions.ids, *(() if regions.mapping is None else regions.mapping.targets)}
        with closing(table.read_batches([facts.name], progress, _STAGE)) as batches:
            values = next(batches).column(0).unique().to_pylist()
        if 2 * sum(value in ids for value in values) >= len(values):
            table = table.code_column(facts.name, progress)
    return table


def read_groups(choices: Iterable[str]) -> dict[str, dict[str, str]]:
    """The categories that the named files take together: FILE or COLUMN=FILE:LEVEL each."""
    from vbas_desktop.io.generalise import as_plain, read_generalisation

    return as_plain(grouping for choice in choices for grouping in read_generalisation(choice))


@dataclass(frozen=True, eq=False)
class CountJob:
    """Count the records of a table by region and class; the file is not read again."""

    data: Data
    region_column: str
    quasi_identifiers: tuple[str, ...]
    k: int
    unknown_regions: str = "stop"
    groupings: Groups = field(default_factory=dict)
    sensitive: tuple[Sensitive, ...] = ()

    def execute(self, progress: Progress = Silent()) -> Problem:  # noqa: B008
        """Count; groups that do less than their owner may think are among the findings."""
        from vbas_desktop.engine.problem import build_problem
        from vbas_desktop.io.generalise import check_values, from_plain

        problem = build_problem(
            self.data.table,
            self.data.regions,
            region_column=self.region_column,
            quasi_identifiers=self.quasi_identifiers,
            k=self.k,
            unknown_regions=self.unknown_regions,
            groupings=from_plain(_of(self.groupings, self.quasi_identifiers)),
            sensitive=self.sensitive,
            progress=progress,
        )
        remarks = check_values(from_plain(self.groupings), self.data.table, self.quasi_identifiers)
        return replace(problem, findings=(*problem.findings, *remarks))


def _of(groupings: Groups, columns: Iterable[str]) -> dict[str, Mapping[str, str]]:
    return {name: groupings[name] for name in columns if name in groupings}

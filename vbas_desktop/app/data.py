"""Load the two files of a run, and count the records by region and class."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter

from vbas_desktop.background import in_background
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.region_map import needs_file
from vbas_desktop.io.databases.address import Address, parse_address
from vbas_desktop.io.delimited_text import SAMPLE_BYTES, sniff_delimiter
from vbas_desktop.io.documents import hierarchies
from vbas_desktop.io.record_filter import filter_records, read_record_filter
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.column_names import find_coordinate_columns
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model import findings
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.selection import FilterFile
from vbas_desktop.settings.reading import ReadingSettings
from vbas_desktop.settings.run import Groups

from .inputs import local_paths

_REGION_ID_STAGE = "Reading region ids"


@dataclass(frozen=True, eq=False)
class LoadedData:
    """Both files in memory, and the wall time in seconds that loading them took."""

    table: RecordTable
    regions: Regions
    loading_seconds: float = 0.0

    @property
    def paths(self) -> list[Path]:
        """List the files of both on this machine."""
        region_source = self.regions.source
        region_files = [] if region_source is None else [Path(region_source.path)]
        return [*local_paths(self.table.source.path), *region_files]


_SHAPE_SUFFIXES = (".geojson", ".gpkg", ".shp")


@dataclass(frozen=True)
class LoadRequest:
    """Ask for both files.

    records: a record file, or the address of records that stay where they are.
    columns: the columns of the records that are needed; None for all.
    required_columns: columns that must exist, although they need not be loaded.
    region_column: the column with region ids, which may have any number of values; empty to find it by its values.
    Other columns with too many values get no categories.
    """

    records: Path | Address
    regions: Path
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    columns: frozenset[str] | None = None
    required_columns: tuple[str, ...] = ()
    region_column: str = ""


def load_data(request: LoadRequest, progress: Progress = NO_PROGRESS) -> LoadedData:
    """Load the regions and, at the same time in another thread, the records.

    The region file is small, so its mistakes show at once. Raises `InputError` with all findings of a file.
    """
    started = perf_counter()
    reading = request.reading
    address = parse_address(request.records) if isinstance(request.records, Path) else request.records
    if isinstance(address, Address) and reading.region_map:
        raise needs_file(reading.region_map)
    required, unwanted = _read_filters(reading, address)
    if isinstance(address, Path):
        _check_distinct_files(address, request.regions)
    filter_columns = [name for file in (required, unwanted) if file is not None for name in file.columns]
    with in_background(partial(_load_table, request, address, filter_columns)) as loading:
        try:
            regions = load_regions(request.regions, reading.of_regions, SubProgress(progress, 0.0, 0.1))
        except findings.InputError as error:
            raise (
                _explain_swapped_files(error, address, request.regions)
                if isinstance(address, Path)
                else error
            ) from None
        table = loading.result(SubProgress(progress, 0.1, 1.0))
    if not request.region_column and not table.source.elsewhere:
        table = _code_region_ids(table, regions, progress)
    for name in request.required_columns:
        table.check_name(name)
    table = filter_records(table, required, unwanted)
    if reading.codebook:
        table = table.with_labels(hierarchies.read_codebook(reading.codebook))
    # Cached here, in a worker's thread: the window asks for it on its own thread.
    _ = table.padded_categories
    return LoadedData(table, regions, perf_counter() - started)


def _check_distinct_files(records: Path, regions: Path) -> None:
    """Refuse one file as record file and region file."""
    if os.path.realpath(records) == os.path.realpath(regions):
        message = "The same file is given as record file and as region file."
        remedy = "Records and regions come in a file each: choose the other one too."
        raise findings.input_error("one-file-twice", message, remedy, file=records)


def _explain_swapped_files(
    error: findings.InputError, records: Path, regions: Path
) -> findings.InputError:
    """Return the error of reading the regions; if the record file looks like regions instead, it says so."""
    if not _has_coordinates(records) or _has_coordinates(regions):
        return error
    message = (
        f"{records.name}, which was given as record file, has the coordinates that a region file needs."
    )
    swapped = findings.Finding(
        "swapped-files", message, "Did you swap the two files?", file=str(regions)
    )
    return findings.InputError((swapped, *error.findings))


def _has_coordinates(path: Path) -> bool:
    """Tell whether a file holds shapes, or has columns that are named like coordinates."""
    if path.suffix.lower() in _SHAPE_SUFFIXES:
        return True
    try:
        with path.open("rb") as stream:
            start = stream.read(SAMPLE_BYTES)
    except OSError:
        return False
    head = start.decode("utf-8-sig", "replace").partition("\n")[0].strip()
    header = [
        name.strip().strip('"') for name in head.split(sniff_delimiter(start, len(start) < SAMPLE_BYTES))
    ]
    return (
        find_coordinate_columns(header, None, None, "auto", findings.FindingList(path.name)) is not None
    )


def _read_filters(
    reading: ReadingSettings, address: Path | Address
) -> tuple[FilterFile | None, FilterFile | None]:
    """Read the tables of required and of unwanted combinations; None for one that is not named."""
    required = reading.keep_records
    unwanted = reading.drop_records
    if (required or unwanted) and isinstance(address, Address):
        message = "Records behind an address cannot be filtered by a table of combinations."
        remedy = "Name a view there that selects the records, or a record file."
        raise findings.InputError(findings.Finding("filter", message, remedy, file=required or unwanted))
    return (
        read_record_filter(required) if required else None,
        read_record_filter(unwanted) if unwanted else None,
    )


def _load_table(
    request: LoadRequest, address: Path | Address, filter_columns: Sequence[str], progress: Progress
) -> RecordTable:
    """Load the records of a file, or open those behind an address."""
    options = request.reading.of_records
    unlimited = (request.region_column,)
    if isinstance(address, Address):
        # Records in files need nothing of databases.
        from vbas_desktop.io.databases.table import open_database_table

        return open_database_table(address, options, progress, request.columns, unlimited)
    columns = None if request.columns is None else request.columns.union(filter_columns)
    table = load_records(address, options, progress, columns, unlimited=unlimited)
    if columns is not None and not {*columns, *request.required_columns} <= {*table.file_format.header}:
        # A wrong name, or a file without names? Only all columns can tell.
        table = load_records(address, options, progress, unlimited=unlimited)
    return table


def _code_region_ids(table: RecordTable, regions: Regions, progress: Progress) -> RecordTable:
    """Code the columns of too many values that hold region ids, of which there may be any number.

    Nobody named the region column, so the first batch of rows decides: at least half of its values must be ids.
    """
    mapped_ids = () if regions.mapping is None else regions.mapping.targets
    region_ids: set[str] = set()
    for facts in table.columns:
        if facts.categorical or not 0 < facts.distinct <= 2 * len(regions.ids):
            continue
        region_ids = region_ids or {*regions.ids, *mapped_ids}
        records = table.require_codes()
        with closing(records.read_batches([facts.name], progress, _REGION_ID_STAGE)) as batches:
            values = next(batches).column(0).unique().to_pylist()
        if 2 * sum(value in region_ids for value in values) >= len(values):
            table = records.code_column(facts.name, progress)
    return table


def read_groups(choices: Iterable[str]) -> dict[str, dict[str, str]]:
    """Read the groups of categories from files, each FILE or COLUMN=FILE:LEVEL, as column → value → group."""
    return hierarchies.groupings_to_json(
        grouping for choice in choices for grouping in hierarchies.read_groupings(choice)
    )


@dataclass(frozen=True, eq=False)
class CountRequest:
    """Ask for the records of loaded data by region and class; the file is not read again."""

    data: LoadedData
    region_column: str
    quasi_identifiers: tuple[str, ...]
    k: int
    unknown_regions: str = "stop"
    groupings: Groups = field(default_factory=dict)
    sensitive: tuple[SensitiveColumn, ...] = ()


def count_records(request: CountRequest, progress: Progress = NO_PROGRESS) -> Problem:
    """Count the records by region and class; groups that match less than expected are among the findings."""
    data = request.data
    quasi_identifiers = request.quasi_identifiers
    problem = build_problem(
        data.table,
        data.regions,
        region_column=request.region_column,
        quasi_identifiers=quasi_identifiers,
        k=request.k,
        unknown_regions=request.unknown_regions,
        groupings=hierarchies.groupings_from_json(_select_groups(request.groupings, quasi_identifiers)),
        sensitive=request.sensitive,
        progress=progress,
    )
    group_findings = hierarchies.check_groupings(
        hierarchies.groupings_from_json(request.groupings), data.table, quasi_identifiers
    )
    return replace(problem, findings=(*problem.findings, *group_findings))


def _select_groups(groupings: Groups, columns: Iterable[str]) -> dict[str, Mapping[str, str]]:
    return {name: groupings[name] for name in columns if name in groupings}

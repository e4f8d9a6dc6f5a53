"""Everything that is decided about a release before a record is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from vbas_desktop.algorithms.region_codes import make_region_names
from vbas_desktop.model.findings import Finding, input_error
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.text import escape_formula
from vbas_desktop.settings.release import ReleaseOptions

from .aggregation import Aggregated, aggregate_columns, with_aggregates
from .column_coverage import ColumnCoverage, cover_columns
from .database_records import DatabaseRecords, check_database_options, select_released_records
from .disclosure_checks import (
    check_disclosure,
    find_disclosive_cells,
    find_disclosive_order,
    find_disclosive_partition,
    use_site_cells,
)
from .geometry import warn_of_made_up_extent
from .notation import Notation, notation_hints, released_notation
from .plan import ReleasePlan, build_plan, empty_release
from .record_writer import input_changed
from .records import ReleasedRecords


@dataclass(frozen=True, eq=False)
class PreparedRelease:
    """A release that was checked and can be written.

    records: the records of the plan, in a loaded table or behind an address.
    notation: how the values of copied columns are written. aggregated: the columns that have one value per class.
    findings: warnings about what the release discloses, and hints about the notation.
    """

    result: RunResult
    options: ReleaseOptions
    records: ReleasedRecords | DatabaseRecords
    notation: Notation
    aggregated: Aggregated
    coverage: ColumnCoverage
    findings: tuple[Finding, ...]

    @property
    def plan(self) -> ReleasePlan:
        """Return the plan of the release."""
        return self.records.plan

    @property
    def table(self) -> RecordTable:
        """Return the records as they were loaded."""
        return self.records.table

    @property
    def header(self) -> tuple[str, ...]:
        """Return the names of the columns of the record file."""
        return self.records.table.file_format.header

    @cached_property
    def released_columns(self) -> tuple[tuple[str, str], ...]:
        """Return the released columns, each with its name in the release."""
        return self.options.released_columns(self.header)

    @property
    def file_name(self) -> str:
        """Return the name of the file with the released records."""
        return f"anonymized.{self.options.format}"


@contextmanager
def unchanged_records(
    problem: Problem, table: RecordTable, options: ReleaseOptions, progress: Progress
) -> Iterator[None]:
    """Refuse records that are not those that were counted; an engine shows the same records during the block."""
    if table.source.elsewhere:
        check_database_options(options, table.source.path)
    else:
        _check_file_size(problem)
    with table.snapshot(problem, progress):
        yield


def _check_file_size(problem: Problem) -> None:
    """Refuse a file of another size, which is certainly another one; the hash decides while records are written."""
    source = problem.records_source
    if source is None:
        raise input_error(
            "no-record-file", "The counts come from no record file.", "Load the record file."
        )
    try:
        if Path(source.path).stat().st_size != source.size_bytes:
            raise input_changed(source)
    except FileNotFoundError:
        remedy = "Put it back or load another."
        raise input_error("no-such-file", "The record file is gone.", remedy, file=source.path) from None


def prepare_release(
    problem: Problem,
    table: RecordTable,
    result: RunResult,
    solution: Solution,
    options: ReleaseOptions,
    progress: Progress,
) -> PreparedRelease:
    """Plan the release of a solution, decide what is written for each value, and check what it would disclose.

    Raises `InputError` if nothing would be released, or if a column or the sites of the regions disclose too much.
    """
    plan = use_site_cells(_name_regions(build_plan(problem, solution), options), options)
    if not plan.records_released:
        raise empty_release(problem)
    records = select_released_records(plan, table, options, progress)
    notation = released_notation(records, options)
    texts = {name: written for name, (_, written) in notation.items()}
    as_written = records.with_texts(texts)
    aggregated: Aggregated = {}
    if isinstance(as_written, ReleasedRecords):
        aggregated = aggregate_columns(as_written, options, progress)
        as_written = replace(as_written, table=with_aggregates(as_written.table, aggregated))
    findings = [*check_disclosure(as_written, options, progress)]
    if not options.shuffle:
        findings += find_disclosive_order(plan, table.require_codes())
    findings += find_disclosive_partition(solution)
    findings += find_disclosive_cells(plan)
    findings += warn_of_made_up_extent(problem.regions)
    findings += notation_hints(notation)
    coverage = cover_columns(as_written, options, progress)
    return PreparedRelease(result, options, records, notation, aggregated, coverage, tuple(findings))


def _name_regions(plan: ReleasePlan, options: ReleaseOptions) -> ReleasePlan:
    """Give the aggregated regions readable names, if a column of the region file is chosen for that."""
    if options.name_column is None:
        return plan
    names = make_region_names(plan.regions, plan.membership, options.name_column)
    if options.escape_formulas:
        names = tuple(map(escape_formula, names))
    return replace(plan, names=names)

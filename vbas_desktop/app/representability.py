"""Compare an anonymised file with its original: how values are generalised, and the vector of both files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vbas_desktop.analysis.representability.distances import (
    DistanceTable,
    make_rank_distances,
    read_distance_tables,
)
from vbas_desktop.analysis.representability.hierarchy import (
    Hierarchy,
    make_flat_hierarchy,
    normalise_levels,
    read_crosswalk_hierarchy,
    read_hierarchies,
    with_level_weights,
)
from vbas_desktop.analysis.representability.report import (
    RepresentabilityOptions,
    build_representability_report,
)
from vbas_desktop.analysis.representability.requirement import (
    Requirement,
    check_requirement,
    rows_as_dicts,
)
from vbas_desktop.io.databases.loading import load_records_at
from vbas_desktop.io.documents.hierarchies import check_hierarchy, read_hierarchy_file
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.io.records.rows import read_coded_texts
from vbas_desktop.io.records.table import unknown_column
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import CodedRecords, finite_number
from vbas_desktop.settings.reading import RecordReading


@dataclass(frozen=True)
class Generalisation:
    """Sources of hierarchies and distances: folders with a file for each column, and weights of the levels.

    ``crosswalk`` is the region column and the crosswalk of a release, whose tiers are its hierarchy. ``ordinal`` are
    the columns whose values have an order; without the values, it is that of the hierarchy's lines, or of numbers.
    ``normalise_levels``: levels of all columns are put on one scale (source 002, prm-4).
    """

    hierarchies: Path | None = None
    level_weights: Mapping[str, Sequence[float]] = field(default_factory=dict)
    distances: Path | None = None
    crosswalk: tuple[str, Path] | None = None
    ordinal: Mapping[str, Sequence[str]] = field(default_factory=dict)
    normalise_levels: bool = False

    def read_hierarchies(self, columns: Sequence[str]) -> dict[str, Hierarchy]:
        """Read the hierarchy of each column; one without a file has only suppression above its values."""
        hierarchies = {name: make_flat_hierarchy(name) for name in columns}
        if self.hierarchies is not None:
            hierarchies = read_hierarchies(self.hierarchies, tuple(columns))
        if self.crosswalk is not None:
            column, path = self.crosswalk
            if column not in hierarchies:
                message = f"“{column}” is not among the quasi-identifiers, so the crosswalk has no use."
                raise InputError(Finding("crosswalk", message, "Name it there, too."))
            hierarchies[column] = read_crosswalk_hierarchy(path, column)
        for name, weights in self.level_weights.items():
            try:
                hierarchies[name] = with_level_weights(hierarchies[name], weights)
            except (KeyError, ValueError):
                text = f"{name}={'/'.join(f'{weight:g}' for weight in weights)}"
                message = f"“{text}” does not give weights for a quasi-identifier’s levels."
                raise InputError(
                    Finding("level-weights", message, "Write COLUMN=0.5/0.3/0.2.")
                ) from None
        return normalise_levels(hierarchies) if self.normalise_levels else hierarchies

    def read_distances(
        self, table: CodedRecords, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy]
    ) -> dict[str, DistanceTable]:
        """Make the distances between the values of each column that has a given table or an order."""
        tables = read_distance_tables(self.distances, columns)
        for name, order in self.ordinal.items():
            if name not in columns or name in tables:
                problem = (
                    "has a table of distances already"
                    if name in tables
                    else "is not among the quasi-identifiers"
                )
                message = f"An order is given for a column that {problem}."
                raise InputError(Finding("ordinal", message, "Leave the order out.", column=name))
            tables[name] = make_rank_distances(name, order or _find_order(table, hierarchies[name]))
        return tables

    def check_complete(self, table: CodedRecords, columns: Sequence[str]) -> None:
        """Refuse hierarchies that have no row for some value of their column in the original records."""
        for column in columns:
            path = None if self.hierarchies is None else self.hierarchies / f"{column}.csv"
            if (
                path is not None
                and path.is_file()
                and (self.crosswalk is None or column != self.crosswalk[0])
            ):
                check_hierarchy(read_hierarchy_file(path, column), table)


def _find_order(table: CodedRecords, hierarchy: Hierarchy) -> list[str]:
    """Find the order of a column's values: that of the lines of its hierarchy, or of numbers."""
    if hierarchy.ancestors:
        return list(hierarchy.ancestors)
    _, distinct = read_coded_texts(table, hierarchy.column)
    values = [str(value) for value in distinct if value != ""]
    numbers = {value: finite_number(value) for value in values}
    if None in numbers.values():
        message = (
            "The order of the values is not known: they are not numbers, and there is no hierarchy."
        )
        remedy = "Write COLUMN=first/second/third, or give a hierarchy that lists the values in order."
        raise InputError(Finding("ordinal", message, remedy, column=hierarchy.column))
    return sorted(values, key=lambda value: (numbers[value], value))


@dataclass(frozen=True)
class RepresentabilityRequest:
    """Two files to compare. ``worst`` is the most distorted version of the original.

    Each is a file or an address. ``reading`` is of the original and of the worst version. Columns that a
    ``requirement`` needs are described, and it is checked.
    """

    original: Path
    anonymised: Path
    options: RepresentabilityOptions
    generalisation: Generalisation = field(default_factory=Generalisation)
    worst: Path | None = None
    requirement: Requirement | None = None
    reading: RecordReading = field(default_factory=RecordReading)
    anonymised_reading: RecordReading = field(default_factory=RecordReading)


@dataclass(frozen=True, eq=False)
class RepresentabilityResult:
    """The vector of two files, and the findings on the files themselves."""

    vector: dict[str, Any]
    findings: tuple[Finding, ...] = ()


def measure_representability(
    request: RepresentabilityRequest, progress: Progress = NO_PROGRESS
) -> RepresentabilityResult:
    """Load both files, join them by the key, and compute the vector. Raises `InputError`."""
    columns = request.options.quasi_identifiers
    generalisation = request.generalisation
    hierarchies = generalisation.read_hierarchies(columns)
    original = load_records_at(request.original, request.reading, SubProgress(progress, 0.0, 0.45))
    generalisation.check_complete(original, columns)
    options = replace(
        request.options, distances=generalisation.read_distances(original, columns, hierarchies)
    )
    header = original.file_format.header
    described = (*options.sensitive, *options.aims, *options.excluded, *options.meanings)
    unknown = [name for name in dict.fromkeys(described) if name not in header]
    if unknown:
        raise InputError([unknown_column(original, name) for name in unknown])
    anonymised = load_records_at(
        request.anonymised, request.anonymised_reading, SubProgress(progress, 0.45, 0.8)
    )
    worst = None
    if request.worst is not None:
        worst = load_records_at(request.worst, request.reading, SubProgress(progress, 0.8, 0.9))
    if request.requirement is not None:
        # Columns that somebody needs are described even if nobody named them here.
        needed = [name for name in request.requirement.required_sensitive if name in header]
        options = replace(options, sensitive=tuple(dict.fromkeys([*options.sensitive, *needed])))
    progress.update("Comparing the classes", 0.9)
    vector = build_representability_report(original, anonymised, options, hierarchies, worst)
    tables = [table for table in (original, anonymised, worst) if table is not None]
    for table in tables:
        require_unchanged(table.source)
    rows = [] if request.requirement is None else check_requirement(request.requirement, vector)
    if rows:
        vector["requirement"] = rows_as_dicts(rows)
    return RepresentabilityResult(
        vector, tuple(finding for table in tables for finding in table.findings)
    )

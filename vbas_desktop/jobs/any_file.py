"""Jobs on any record file, without regions: what an anonymised file is worth, and its classes that are too small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vbas_desktop.assessment.representability.classes import Classes
from vbas_desktop.assessment.representability.distance_tables import (
    DistanceTable,
    rank_distances,
    read_distance_tables,
)
from vbas_desktop.assessment.representability.first_step import FirstStep
from vbas_desktop.assessment.representability.handling import Handling
from vbas_desktop.assessment.representability.hierarchy import (
    Hierarchy,
    flat,
    normalise_levels,
    places_of_crosswalk,
    read_hierarchies,
    unlisted_values,
    weighted,
)
from vbas_desktop.assessment.representability.made_up import Filling
from vbas_desktop.assessment.representability.outlier_file import (
    Treated,
    Treatment,
    companion_files,
    counted_in_words,
    handle_outliers,
    left_out_in_words,
)
from vbas_desktop.assessment.representability.requirement import Requirement, as_rows, check
from vbas_desktop.assessment.representability.vector import Choices, representability
from vbas_desktop.io.databases.address import Address, record_place
from vbas_desktop.io.databases.records import load_records_at
from vbas_desktop.io.generalise import check_complete, read_levels
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.io.output import check_target
from vbas_desktop.io.record_filter import filter_records, read_record_filter
from vbas_desktop.io.records.row_texts import coded_texts
from vbas_desktop.io.records.table import load_records, unknown_column
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.records import RecordTable, finite_number
from vbas_desktop.settings.reading import RecordOptions
from vbas_desktop.settings.writing import HandledColumns, Writing

from .inputs import check_saved_file, input_paths


@dataclass(frozen=True)
class Coding:
    """How values are generalised: folders of hierarchies and of tables of distances, weights of the levels.

    ``places`` are the region column and the crosswalk of a release, whose tiers are its hierarchy. ``ordinal`` are the
    columns whose values have an order; without the values, it is that of the hierarchy's lines, or of numbers.
    ``normalise_levels``: levels of all columns are put on one scale (source 002, prm-4).
    """

    hierarchies: Path | None = None
    level_weights: Mapping[str, Sequence[float]] = field(default_factory=dict)
    distances: Path | None = None
    places: tuple[str, Path] | None = None
    ordinal: Mapping[str, Sequence[str]] = field(default_factory=dict)
    normalise_levels: bool = False

    def of(self, columns: Sequence[str]) -> dict[str, Hierarchy]:
        """The hierarchy of each column; without one, only suppression is above the values."""
        found = {name: flat(name) for name in columns}
        if self.hierarchies is not None:
            found = read_hierarchies(self.hierarchies, tuple(columns))
        if self.places is not None:
            column, crosswalk = self.places
            if column not in found:
                message = f"“{column}” is not among the quasi-identifiers, so the crosswalk has no use."
                raise InputError(Finding("crosswalk", message, "Name it there, too."))
            found[column] = places_of_crosswalk(crosswalk, column)
        for name, weights in self.level_weights.items():
            try:
                found[name] = weighted(found[name], weights)
            except (KeyError, ValueError):
                given = f"{name}={'/'.join(f'{weight:g}' for weight in weights)}"
                message = f"“{given}” gives no weights of a quasi-identifier’s levels."
                raise InputError(Finding("level-weights", message, "Write COLUMN=0.5/0.3/0.2.")) from None
        return normalise_levels(found) if self.normalise_levels else found

    def tables(
        self, table: RecordTable, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy]
    ) -> dict[str, DistanceTable]:
        """Make the distances between the values of each column that has a given table or an order."""
        found = read_distance_tables(self.distances, columns)
        for name, order in self.ordinal.items():
            if name not in columns or name in found:
                problem = "has a table of distances already" if name in found else "is not among the quasi-identifiers"
                message = f"An order is given for a column that {problem}."
                raise InputError(Finding("ordinal", message, "Leave the order out.", column=name))
            found[name] = rank_distances(name, order or _find_order(table, hierarchies[name]))
        return found

    def check_complete(self, table: RecordTable, columns: Sequence[str]) -> None:
        """Refuse hierarchies that have no row for some value of their column in the original records."""
        for column in columns:
            path = None if self.hierarchies is None else self.hierarchies / f"{column}.csv"
            if path is not None and path.is_file() and (self.places is None or column != self.places[0]):
                check_complete(read_levels(path, column), table)


def _find_order(table: RecordTable, hierarchy: Hierarchy) -> list[str]:
    """Find the order of a column's values: that of the lines of its hierarchy, or of numbers."""
    if hierarchy.ancestors:
        return list(hierarchy.ancestors)
    _, distinct = coded_texts(table, hierarchy.column)
    values = [str(value) for value in distinct if value != ""]
    numbers = {value: finite_number(value) for value in values}
    if None in numbers.values():
        message = "The order of the values is not known: they are not numbers, and there is no hierarchy."
        remedy = "Write COLUMN=first/second/third, or give a hierarchy that lists the values in order."
        raise InputError(Finding("ordinal", message, remedy, column=hierarchy.column))
    return sorted(values, key=lambda value: (numbers[value], value))


@dataclass(frozen=True, eq=False)
class Pair:
    """The vector of two files, and what was found when they were read."""

    vector: dict[str, Any]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class PairJob:
    """Say how an anonymised file differs from its original. ``worst`` is the most distorted version of the original.

    Each is a file or an address. ``reading`` is of the original and of the worst version. What a ``requirement`` needs
    is described and checked.
    """

    original: Path
    anonymised: Path
    choices: Choices
    coding: Coding = field(default_factory=Coding)
    worst: Path | None = None
    requirement: Requirement | None = None
    reading: RecordOptions = field(default_factory=RecordOptions)
    anonymised_reading: RecordOptions = field(default_factory=RecordOptions)

    def execute(self, progress: Progress = Silent()) -> Pair:  # noqa: B008 (Silent has no state)
        """Load both, join them by the key, compute the vector."""
        columns, need = self.choices.quasi_identifiers, self.requirement
        hierarchies = self.coding.of(columns)
        choices = self.choices
        before = load_records_at(self.original, self.reading, Span(progress, 0.0, 0.45))
        self.coding.check_complete(before, columns)
        choices = replace(choices, distances=self.coding.tables(before, columns, hierarchies))
        named = (*choices.sensitive, *choices.aims, *choices.excluded, *choices.meanings)
        unknown = [name for name in dict.fromkeys(named) if name not in before.dialect.header]
        if unknown:
            raise InputError([unknown_column(before, name) for name in unknown])
        after = load_records_at(self.anonymised, self.anonymised_reading, Span(progress, 0.45, 0.8))
        worst = None if self.worst is None else load_records_at(self.worst, self.reading, Span(progress, 0.8, 0.9))
        if need is not None:
            # What somebody needs is described even if nobody named it here.
            needed = [name for name in need.required_sensitive if name in before.dialect.header]
            choices = replace(choices, sensitive=tuple(dict.fromkeys([*choices.sensitive, *needed])))
        progress.update("Comparing the classes", 0.9)
        vector = representability(before, after, choices, hierarchies, worst)
        tables = [table for table in (before, after, worst) if table is not None]
        for table in tables:
            require_unchanged(table.source)
        if need is not None and (rows := check(need, vector)):
            vector["requirement"] = as_rows(rows)
        return Pair(vector, tuple(finding for table in tables for finding in table.findings))


@dataclass(frozen=True, eq=False)
class Outliers:
    """The classes below k in words, what was found, and what was done about them if a target was given."""

    text: str
    findings: tuple[Finding, ...] = ()
    treated: Treated | None = None


@dataclass(frozen=True)
class OutlierJob:
    """Count the classes of fewer than k records of a file; with a target, write the file without them.

    ``first_step`` prepares the classes before. ``population`` is a file from which made-up records take their sensitive
    values, instead of from the file itself; ``filling`` says which values.
    ``replace``: what is written beside the file may replace what is there already although the file is not there.
    Only records with a combination of ``keep_records`` and none of ``drop_records`` are considered. ``columns`` are
    added or aggregated.
    """

    file: Path
    choices: Choices
    handling: Handling
    target: Path | None = None
    coding: Coding = field(default_factory=Coding)
    writing: Writing = field(default_factory=Writing)
    reading: RecordOptions = field(default_factory=RecordOptions)
    population: Path | None = None
    replace: bool = False
    first_step: FirstStep = field(default_factory=FirstStep)
    filling: Filling = field(default_factory=Filling)
    keep_records: Path | None = None
    drop_records: Path | None = None
    columns: HandledColumns = field(default_factory=HandledColumns)

    def execute(self, progress: Progress = Silent()) -> Outliers:  # noqa: B008
        """Load, count, handle, write, read back."""
        if isinstance(record_place(self.file), Address):
            message = "Small classes are handled in a record file, not behind an address."
            raise InputError(Finding("records-needed", message, "Choose a file.", file=str(self.file)))
        chosen, columns = self.choices, self.choices.quasi_identifiers
        self._check_target()
        hierarchies = self.coding.of(columns)
        required = None if self.keep_records is None else read_record_filter(self.keep_records)
        unwanted = None if self.drop_records is None else read_record_filter(self.drop_records)
        every_record = load_records(self.file, self.reading, Span(progress, 0.0, 0.5))
        require_unchanged(every_record.source)
        table = filter_records(every_record, required, unwanted)
        self.coding.check_complete(table, columns)
        distances = self.coding.tables(table, columns, hierarchies)
        progress.update("Handling the small classes", 0.5)
        classes = Classes.of_records(table, columns)
        findings = (*table.findings, *unlisted_values(classes, hierarchies))
        text = counted_in_words(self.first_step.group(classes, hierarchies).classes, chosen.k)
        found = Outliers(text + left_out_in_words(table, chosen.k), findings)
        if self.target is None:
            return found
        people = self._load_population()
        chosen = replace(chosen, distances=distances)
        treatment = Treatment(
            chosen, self.handling, hierarchies, self.writing, people, self.first_step, self.filling, self.columns
        )
        treatment = replace(treatment, every_record=every_record)
        treated = handle_outliers(table, treatment, self.target, Span(progress, 0.5, 1.0))
        return replace(found, findings=(*findings, *treated.findings), treated=treated)

    def _load_population(self) -> RecordTable | None:
        """Load the file that sensitive values come from, if one is given."""
        if self.population is None:
            return None
        return load_records(self.population, RecordOptions(category_counts="no"))

    def _check_target(self) -> None:
        """Refuse to write over an input; what is beside a file is replaced only together with it."""
        if self.target is None:
            return
        coding = {"hierarchies": self.coding.hierarchies, "distances": self.coding.distances}
        filters = {"keep_records": self.keep_records, "drop_records": self.drop_records}
        named = {"file": self.file, "population": self.population, **coding, **filters}
        check_saved_file(self.target, named)
        may_replace = self.replace or self.target.exists()
        for path in companion_files(self.target, self.columns):
            check_target(path, inputs=input_paths(named), replace=may_replace)

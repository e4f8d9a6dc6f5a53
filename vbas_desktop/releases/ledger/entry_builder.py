"""Build ledger entries from a release that is planned, and from one that was written."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.composite_keys import number_values
from vbas_desktop.io.documents.run_file import read_run_file
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import Grouping, RecordTable, identify
from vbas_desktop.model.text import escape_formula
from vbas_desktop.model.tiers import code_columns
from vbas_desktop.model.value_notation import plain_value
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.sensitive import SensitiveSettings, sensitive_columns

from ..plan import ReleasePlan
from .attribute_disclosure import list_values
from .entry import (
    Hashes,
    Ints,
    LedgerEntry,
    RecordedCriteria,
    ReleasedClasses,
    ReleasedRows,
    RowColumn,
    hash_combinations,
    hash_regions,
    hash_values,
    make_class_keys,
)

MAX_ROWS = 4_000_000
"""If there are more different rows, they are not kept: another year's classes are compared by their sizes alone."""

_STAGE = "Counting the rows"


def entry_from_plan(
    plan: ReleasePlan, table: RecordTable, options: ReleaseOptions, key: bytes, audience: str
) -> LedgerEntry:
    """Build the entry of a planned release, without rows: `count_rows` counts them when they are needed."""
    problem = plan.problem
    columns = tuple(name for name, _ in options.released_columns(table.file_format.header))
    is_released = plan.released > 0
    value_hashes = {
        number: hash_values(key, categories.column, categories.values)
        for number, categories in enumerate(problem.categories)
        if categories.column in columns
    }
    combinations = hash_combinations(problem.counts, value_hashes)[plan.columns[is_released]]
    assert problem.records_source is not None
    return LedgerEntry(
        id=0,
        audience=audience,
        date="",
        source_sha256=problem.records_source.identity,
        released_sha256="",
        region_column=problem.region_column,
        quasi_identifiers=problem.quasi_identifiers,
        k=problem.k,
        columns=columns,
        regions=hash_regions(key, problem.regions.ids),
        membership=plan.membership,
        parents=() if plan.solution.tiers is None else plan.solution.tiers.parents,
        classes=_merge_classes(plan.areas[is_released], combinations, plan.released[is_released]),
        groups=_hash_groups(key, problem.groupings),
        criteria=RecordedCriteria.from_columns(
            key, [sensitive.chosen for sensitive in problem.sensitive]
        ),
        source_rows_hash=table.rows_hash,
        aggregated_columns=options.aggregate,
    )


def _merge_classes(regions: NDArray[np.integer], combinations: Hashes, sizes: Ints) -> ReleasedClasses:
    """Merge the classes that the released columns do not tell apart."""
    numbers, first = number_values(make_class_keys(regions, combinations))
    merged_sizes = np.bincount(numbers, sizes, first.size)
    return ReleasedClasses(
        regions[first].astype(np.int32), combinations[first], merged_sizes.astype(np.int32)
    )


def count_rows(
    entry: LedgerEntry, table: RecordTable, key: bytes, progress: Progress
) -> ReleasedRows | None:
    """Count the rows of a planned release as they will be written; None if its columns do not tell their classes."""
    if not entry.releases_all_quasi_identifiers:
        return None
    region_hashes = hash_regions(key, list_values(table, entry.region_column))
    hashes = {
        name: entry.recode(name, hash_values(key, name, list_values(table, name)))
        for name in entry.quasi_identifiers
    }
    for name in entry.other_columns:
        if table.facts(name).categorical:
            hashes[name] = _hash_plain_values(key, name, list_values(table, name))
    rows = _HashedTable(table, entry.find_aggregated_regions(region_hashes), hashes, {}).count_rows(
        entry, progress
    )
    if rows is None or not entry.parents:
        return rows
    # In tiers, what is taken out after other records were released in larger areas would be counted with these.
    sizes = np.bincount(rows.classes, rows.counts, len(entry.classes))
    return rows if np.array_equal(sizes, entry.classes.sizes) else None


def entry_from_folder(
    folder: Path, key: bytes, audience: str, date: str, progress: Progress = NO_PROGRESS
) -> LedgerEntry:
    """Build the entry of the release in the folder of a run from its files.

    Raises `InputError` if there is no release, or if its files are not as they were written.
    """
    document = read_run_file(folder)
    options = ReleaseOptions.from_dict(document.get("release") or {})
    path = folder / "release" / f"anonymized.{options.format}"
    if not path.is_file():
        raise InputError(
            Finding("ledger", "There is no release in this folder.", "Run with --out.", file=str(folder))
        )
    table = load_records(path, _choose_reading(document, options), SubProgress(progress, 0.0, 0.7))
    _check_sum(path, table.source.sha256, "released records are not those that were written: their")
    crosswalk_path = folder / "release" / "crosswalk.csv"
    crosswalk_sha256 = hashlib.sha256(crosswalk_path.read_bytes()).hexdigest()
    _check_sum(crosswalk_path, crosswalk_sha256, "crosswalk is not the one that was written: its")
    crosswalk = ReleasedCrosswalk.read(crosswalk_path)
    original_names = {renamed: name for name, renamed in options.renames.items()}
    columns = [name for name in table.file_format.header if name not in options.added_columns]
    problem = document["problem"]
    run_options = document.get("options") or {}
    selection = document.get("selection") or {}
    check = document.get("ledger_check") or {}
    entry = LedgerEntry(
        id=0,
        audience=audience,
        date=date,
        source_sha256=identify(
            document["inputs"]["records"]["sha256"], str(selection.get("sha256", ""))
        ),
        released_sha256=table.source.sha256,
        region_column=problem["region_column"],
        quasi_identifiers=tuple(problem["quasi_identifiers"]),
        k=int(problem["k"]),
        columns=tuple(original_names.get(name, name) for name in columns),
        regions=hash_regions(key, crosswalk.regions),
        membership=crosswalk.membership,
        parents=crosswalk.parents,
        classes=ReleasedClasses.empty(),
        groups=_hash_groups(key, _read_groupings(run_options, problem["quasi_identifiers"])),
        folder=str(folder.resolve()),
        override=str(check.get("override", "")),
        criteria=RecordedCriteria.from_columns(
            key,
            sensitive_columns(
                run_options.get("sensitive") or (), SensitiveSettings.from_dict(run_options)
            ),
        ),
        source_rows_hash=str(document.get("rows_hash", "")),
        released_rows_hash=table.rows_hash,
        compared_k=check.get("k") if check.get("k_reason") else None,
        k_reason=str(check.get("k_reason", "")),
        aggregated_columns=options.aggregate,
    )
    hashed = _hash_released_table(table, entry, crosswalk, options, key)
    entry = replace(entry, classes=hashed.count_classes(entry, SubProgress(progress, 0.7, 0.85)))
    return replace(entry, rows=hashed.count_rows(entry, SubProgress(progress, 0.85, 1.0)))


@dataclass(frozen=True, eq=False)
class _HashedTable:
    """Records, with what an entry knows of the values of their columns, in the order of the table's codes.

    regions: released region of each value of the region column; −1: none.
    hashes: by column, the hash of each value.
    renames: names in the table of columns that were renamed in the release.
    """

    table: RecordTable
    regions: NDArray[np.int32]
    hashes: Mapping[str, Hashes]
    renames: Mapping[str, str]

    def count_classes(self, entry: LedgerEntry, progress: Progress) -> ReleasedClasses:
        """Count the classes of a file in which every record is released."""
        columns = self._names_in_table(entry.region_column, *entry.released_quasi_identifiers)
        pieces = self.table.pieces(columns, progress, _STAGE)
        keys = [make_class_keys(*self._hash_records(entry, codes)) for codes in pieces]
        numbers, first = number_values(np.concatenate(keys))
        records = self.table.require_codes()
        regions, combinations = self._hash_records(
            entry, {name: records.codes(name)[first] for name in columns}
        )
        sizes = np.bincount(numbers, minlength=first.size)
        return ReleasedClasses(regions, combinations, sizes.astype(np.int32))

    def count_rows(self, entry: LedgerEntry, progress: Progress) -> ReleasedRows | None:
        """Count the released records by class and by the values of all other categorical columns.

        None if there are more than `MAX_ROWS` different rows.
        """
        counter = _RowCounter()
        if not len(entry.classes):
            return counter.count()
        others = [name for name in entry.other_columns if name in self.hashes]
        columns = self._names_in_table(entry.region_column, *entry.released_quasi_identifiers, *others)
        for codes in self.table.pieces(columns, progress, _STAGE):
            classes = self._find_classes(entry, codes)
            released = np.flatnonzero(classes >= 0)
            other_columns = {
                name: RowColumn(self.hashes[name], codes[name_in_table][released].astype(np.int32))
                for name, name_in_table in zip(others, self._names_in_table(*others), strict=True)
            }
            ones = np.ones(released.size, np.int32)
            counter.add(ReleasedRows(classes[released].astype(np.int32), ones, other_columns))
            if counter.has_too_many:
                return None
        progress.update(_STAGE)
        return counter.count()

    def _find_classes(self, entry: LedgerEntry, codes: Mapping[str, NDArray[np.integer]]) -> Ints:
        """Find the class of each record of a part of the table; −1: it is not released."""
        regions, combinations = self._hash_records(entry, codes)
        classes = _find_in_regions(entry, regions, combinations)
        for _ in entry.parents:
            # The smallest area around a record that lists its combination.
            remaining = np.flatnonzero((classes < 0) & (regions >= 0))
            regions[remaining] = entry.parent_region[regions[remaining]]
            classes[remaining] = _find_in_regions(entry, regions[remaining], combinations[remaining])
        return classes

    def _hash_records(
        self, entry: LedgerEntry, codes: Mapping[str, NDArray[np.integer]]
    ) -> tuple[NDArray[np.int32], Hashes]:
        """Find the region of each record of a part of the table, and hash its combination."""
        (region_column,) = self._names_in_table(entry.region_column)
        regions = self.regions[codes[region_column]]
        combinations = np.zeros(regions.size, np.uint64)
        for name in entry.released_quasi_identifiers:
            (name_in_table,) = self._names_in_table(name)
            combinations += self.hashes[name][codes[name_in_table]]
        return regions, combinations

    def _names_in_table(self, *columns: str) -> list[str]:
        return [self.renames.get(name, name) for name in columns]


def _find_in_regions(entry: LedgerEntry, regions: NDArray[np.int32], combinations: Hashes) -> Ints:
    """Find the index of the class of each region and combination in a release; −1: no such class, or no region."""
    classes = entry.classes.find(make_class_keys(regions, combinations))
    return np.where(regions >= 0, classes, -1)


def _hash_released_table(
    table: RecordTable,
    entry: LedgerEntry,
    crosswalk: ReleasedCrosswalk,
    options: ReleaseOptions,
    key: bytes,
) -> _HashedTable:
    """Hash the values of a released file. Raises `InputError` if its regions are not in the crosswalk."""
    renames = options.renames
    number_of_code = {code: number for number, code in enumerate(crosswalk.codes)}
    codes = list_values(table, renames.get(entry.region_column, entry.region_column))
    if not number_of_code.keys() >= set(codes):
        raise _changed_files("The released file names regions that its crosswalk does not have.")
    regions = np.array([number_of_code[code] for code in codes], np.int32)
    hashes = {}
    for name in entry.columns:
        name_in_table = renames.get(name, name)
        if name == entry.region_column or not table.facts(name_in_table).categorical:
            continue
        values = _remove_formula_escapes(list_values(table, name_in_table), options)
        hash_column = hash_values if name in entry.quasi_identifiers else _hash_plain_values
        hashes[name] = hash_column(key, name, values)
    return _HashedTable(table, regions, hashes, renames)


class _RowCounter:
    """Counts rows as they come: memory grows with the different rows, not with all."""

    def __init__(self) -> None:
        self._parts: list[ReleasedRows] = []
        self._uncounted = 0
        self.has_too_many = False

    def add(self, rows: ReleasedRows) -> None:
        """Add rows of the same table; they are counted now and then, since that takes a while."""
        self._parts.append(rows)
        self._uncounted += rows.classes.size
        if self._uncounted > 2 * MAX_ROWS:
            self.count()

    def count(self) -> ReleasedRows | None:
        """Count the rows so far; None if there are more than `MAX_ROWS` different ones."""
        if not self._parts:
            return ReleasedRows(np.zeros(0, np.int32), np.zeros(0, np.int32))
        rows = _concatenate_rows(self._parts)
        numbers, first = number_values(make_class_keys(rows.classes, rows.hash_rows(rows.columns)))
        counts = np.bincount(numbers, rows.counts, minlength=first.size).astype(np.int32)
        columns = {
            name: RowColumn(column.values, column.codes[first]) for name, column in rows.columns.items()
        }
        distinct = ReleasedRows(rows.classes[first], counts, columns)
        self._parts = [distinct]
        self._uncounted = 0
        self.has_too_many = first.size > MAX_ROWS
        return None if self.has_too_many else distinct


def _concatenate_rows(parts: Sequence[ReleasedRows]) -> ReleasedRows:
    columns = {
        name: RowColumn(column.values, np.concatenate([part.columns[name].codes for part in parts]))
        for name, column in parts[0].columns.items()
    }
    classes = np.concatenate([part.classes for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    return ReleasedRows(classes, counts, columns)


def _hash_plain_values(key: bytes, column: str, values: Iterable[str]) -> Hashes:
    """Hash values in plain notation, since two releases may write the same value in different ones."""
    return hash_values(key, column, map(plain_value, values))


def _remove_formula_escapes(values: Sequence[str], options: ReleaseOptions) -> Sequence[str]:
    """Restore values that got an apostrophe because a spreadsheet would run them as formulas."""
    if not options.escape_formulas:
        return values
    restored = []
    for value in values:
        original = value.removeprefix("'")
        restored.append(original if escape_formula(original) == value else value)
    return restored


def _hash_groups(key: bytes, groupings: Sequence[Grouping]) -> dict[str, Hashes]:
    """Hash the recoded values of each column: pairs of the hash of a value and that of the group it ends up in."""
    chained: dict[str, dict[str, str]] = {}
    for grouping in groupings:
        before = chained.get(grouping.column, {})
        after = {value: grouping.groups.get(group, group) for value, group in before.items()}
        chained[grouping.column] = {**grouping.groups, **after}
    hashes = {}
    for column, groups in chained.items():
        if groups:
            values = sorted(groups)
            value_hashes = hash_values(key, column, values)
            group_hashes = hash_values(key, column, [groups[value] for value in values])
            hashes[column] = np.column_stack((value_hashes, group_hashes))
    return hashes


def _read_groupings(
    run_options: Mapping[str, Any], quasi_identifiers: Sequence[str]
) -> tuple[Grouping, ...]:
    """Read the groups of the quasi-identifiers from the options of a run."""
    groupings = run_options.get("groupings") or {}
    return tuple(
        Grouping(column, groups) for column, groups in groupings.items() if column in quasi_identifiers
    )


def _choose_reading(document: Mapping[str, Any], options: ReleaseOptions) -> RecordReading:
    """Choose how the released file is read: as the run wrote it, without a line of category counts."""
    run_options = document.get("options") or {}
    return RecordReading(
        delimiter=options.release_delimiter or run_options.get("delimiter"),
        encoding=run_options.get("encoding"),
        category_counts="no",
    )


def _check_sum(path: Path, sha256: str, description: str) -> None:
    """Raise `InputError` if the checksums of a release do not have this one."""
    sums_path = path.with_name("SHA256SUMS")
    lines = sums_path.read_text().splitlines() if sums_path.is_file() else []
    if sha256 not in {line.split()[0] for line in lines if line.strip()}:
        raise _changed_files(f"The {description} checksum differs.", path)


def _changed_files(message: str, file: Path | None = None) -> InputError:
    """Make the error about files that are not as they were written."""
    remedy = "Record the folder as it was handed over."
    return InputError(Finding("ledger", message, remedy, file=None if file is None else str(file)))


@dataclass(frozen=True, eq=False)
class ReleasedCrosswalk:
    """The regions of a written release.

    regions: ids of the initial regions. membership: number of the aggregated region of each.
    parents: for each tier but the last, the region of the next tier that each region lies in.
    codes: codes of the regions of all tiers, in the order of their numbers.
    """

    regions: list[str]
    membership: NDArray[np.int32]
    parents: tuple[NDArray[np.int32], ...]
    codes: list[str]

    @classmethod
    def read(cls, path: Path) -> ReleasedCrosswalk:
        """Read a crosswalk. Raises `InputError` if a region lies in several larger areas of one tier."""
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        regions, *tiers = zip(*(row[: code_columns(header)] for row in rows), strict=True)
        memberships = []
        codes: list[str] = []
        for tier in tiers:
            tier_codes, numbers = np.unique(np.array(tier, object), return_inverse=True)
            memberships.append(numbers.astype(np.int32))
            codes.extend(tier_codes)
        parents = []
        for below, above in pairwise(memberships):
            parent = np.zeros(int(below.max()) + 1, np.int32)
            parent[below] = above
            if (parent[below] != above).any():
                raise _changed_files("A region of the crosswalk lies in several larger ones.", path)
            parents.append(parent)
        return cls(list(regions), memberships[0], tuple(parents), codes)

"""Original and anonymised file side by side: the records that are in both, and what was done to each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.validity_indices import ContingencyTable
from vbas_desktop.io.records.rows import read_coded_texts, read_column_texts
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.records import CodedRecords

from .hierarchy import SUPPRESSED, Hierarchy
from .record_classes import RecordClasses

Ints = NDArray[np.int64]

REPLACED = -1
"""The level of a value that its hierarchy does not explain: the record was moved to other values."""


@dataclass(frozen=True, eq=False)
class RecordMatching:
    """Common records of two files, counted by cell: a pair of an original and a released class.

    ``levels[cell, q]`` is the level of column q in that cell (`REPLACED` where the value was replaced). ``deleted`` and
    ``fabricated`` count the records that are in one file only, by original or released class. ``original_rows`` and
    ``released_rows`` are the positions of the common records in both files. ``renamed`` are the columns whose values
    only got other names.
    """

    original: RecordClasses
    released: RecordClasses
    cell_original: Ints
    cell_released: Ints
    cell_records: Ints
    levels: Ints
    deleted: Ints
    fabricated: Ints
    original_rows: NDArray[np.intp]
    released_rows: NDArray[np.intp]
    renamed: frozenset[str] = frozenset()

    @property
    def common_records(self) -> int:
        """Number of records in both files."""
        return int(self.cell_records.sum())

    @property
    def is_moved(self) -> NDArray[np.bool_]:
        """Cells whose records got values that no hierarchy explains."""
        return np.asarray((self.levels == REPLACED).any(axis=1))

    @property
    def is_generalised(self) -> NDArray[np.bool_]:
        """Cells whose records were raised to a higher level in at least one column, and moved in none."""
        return np.asarray((self.levels > 0).any(axis=1)) & ~self.is_moved

    def compute_generalisation(self, q: int, hierarchy: Hierarchy) -> NDArray[np.float64]:
        """Compute the factor G of column q in each cell: how far it was raised; 1 where its value was replaced."""
        return np.array(
            [
                1.0 if level == REPLACED else hierarchy.generalisation(int(level))
                for level in self.levels[:, q]
            ]
        )

    def compute_loss(self, q: int, hierarchy: Hierarchy) -> NDArray[np.float64]:
        """Compute the share of the detail that column q has lost in each cell; 1 where its value was replaced."""
        values = [self.released.labels[number][q] for number in self.cell_released]
        losses = [
            1.0 if level == REPLACED else hierarchy.loss(value, int(level))
            for value, level in zip(values, self.levels[:, q], strict=True)
        ]
        return np.array(losses)

    def count_by_approach(self) -> dict[str, int]:
        """Count the records that each approach was applied to; approaches without records are left out."""
        numbers = {
            "delete": int(self.deleted.sum()),
            "generalise": int(self.cell_records[self.is_generalised].sum()),
            "merge": int(self.cell_records[self.is_moved].sum()),
            "fabricate": int(self.fabricated.sum()),
        }
        return {name: records for name, records in numbers.items() if records}

    def with_deleted_class(self, hierarchies: Sequence[Hierarchy]) -> RecordMatching:
        """Add the deleted records as one released class of their own, suppressed in every column."""
        origins = np.flatnonzero(self.deleted)
        label = (SUPPRESSED,) * len(self.released.columns)
        labels = (*self.released.labels, label)
        top = np.array([hierarchy.height for hierarchy in hierarchies], np.int64)
        return replace(
            self,
            released=RecordClasses(self.released.columns, labels, self.released.class_of),
            cell_original=np.concatenate([self.cell_original, origins]),
            cell_released=np.concatenate([self.cell_released, np.full(origins.size, len(labels) - 1)]),
            cell_records=np.concatenate([self.cell_records, self.deleted[origins]]),
            levels=np.concatenate([self.levels, np.tile(top, (origins.size, 1))]),
            deleted=np.zeros_like(self.deleted),
            fabricated=np.append(self.fabricated, 0),
        )

    def tabulate(self, include_fabricated: bool = False) -> ContingencyTable:
        """Cross-tabulate the common records by original and released class.

        With ``include_fabricated``, made-up records are an original class of their own.
        """
        cells = self.cell_records
        original = np.bincount(self.cell_original, cells).astype(np.int64)
        released = np.bincount(self.cell_released, cells, len(self.released.labels)).astype(np.int64)
        if include_fabricated:
            cells = np.concatenate([cells, self.fabricated])
            original = np.append(original, self.fabricated.sum())
            released = released + self.fabricated
        return ContingencyTable.of_sizes(cells, original, released)


def match_records(
    original: CodedRecords,
    released: CodedRecords,
    key: str,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    other_values: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> RecordMatching:
    """Join two files by their key. Raises `InputError` without a usable key or the columns in both.

    ``other_values`` are values of a column beyond those of the original and its hierarchy: none is a new name.
    """
    if not quasi_identifiers:
        raise InputError(
            Finding("no-quasi-identifier", "No quasi-identifier is chosen.", "Name at least one.")
        )
    original_keys = _read_keys(original, key)
    released_keys = _read_keys(released, key)
    before = RecordClasses.of_records(original, quasi_identifiers)
    after = RecordClasses.of_records(released, quasi_identifiers)
    common, original_rows, released_rows = np.intersect1d(
        original_keys, released_keys, return_indices=True
    )
    if not common.size:
        raise InputError(
            Finding(
                "no-common-key",
                "No key is in both files.",
                "Name the column with the record’s key.",
                column=key,
            )
        )
    pairs = np.column_stack([before.class_of[original_rows], after.class_of[released_rows]])
    cells, records = np.unique(pairs, axis=0, return_counts=True)
    levels = _find_levels(before, after, cells, [hierarchies[name] for name in quasi_identifiers])
    known_values = [
        {*hierarchies[name].ancestors, *other_values.get(name, ())} for name in quasi_identifiers
    ]
    renamed = _level_renamed_columns(before, after, cells, records, levels, known_values)
    return RecordMatching(
        before,
        after,
        cells[:, 0],
        cells[:, 1],
        records.astype(np.int64),
        levels,
        _count_others(before, original_rows),
        _count_others(after, released_rows),
        original_rows,
        released_rows,
        renamed,
    )


def find_changed_records(
    original: CodedRecords, released: CodedRecords, matching: RecordMatching, column: str
) -> NDArray[np.bool_]:
    """Find the common records in which a column holds another value than before, such as the mean of the class."""
    original_codes, original_values = read_coded_texts(original, column)
    released_codes, released_values = read_coded_texts(released, column)
    code_of = {value: code for code, value in enumerate(original_values.tolist())}
    translation = np.array([code_of.get(value, -1) for value in released_values.tolist()], np.int64)
    return np.asarray(
        original_codes[matching.original_rows] != translation[released_codes[matching.released_rows]]
    )


def _count_others(classes: RecordClasses, rows: NDArray[np.intp]) -> Ints:
    """Count the records of each class that are not among these rows."""
    is_other = np.ones(classes.records, bool)
    is_other[rows] = False
    return np.bincount(classes.class_of[is_other], minlength=len(classes.labels))


def _find_levels(
    before: RecordClasses, after: RecordClasses, cells: Ints, hierarchies: Sequence[Hierarchy]
) -> Ints:
    """Find the level of each column in each cell."""
    levels = np.zeros((len(cells), len(hierarchies)), np.int64)
    for cell, (original, released) in enumerate(cells):
        for q, hierarchy in enumerate(hierarchies):
            level = hierarchy.level(before.labels[original][q], after.labels[released][q])
            levels[cell, q] = REPLACED if level is None else level
    return levels


def _level_renamed_columns(
    before: RecordClasses,
    after: RecordClasses,
    cells: Ints,
    records: NDArray[np.integer],
    levels: Ints,
    known_values: Sequence[Set[str]],
) -> frozenset[str]:
    """Put values that were only renamed on level 0, in place; return the columns that have some.

    A column was renamed if each original value has one new name and no two values share one, raised and suppressed
    values apart. A name that another value has in the original or in ``known_values`` is no new one, unless all names
    are those of the original. There must be at least two records per value: otherwise any change of single values
    would do.
    """
    renamed = []
    for q, name in enumerate(before.columns):
        is_replaced = levels[:, q] == REPLACED
        if not is_replaced.any():
            continue
        considered = np.flatnonzero(is_replaced | (levels[:, q] == 0))
        names = {(before.labels[cells[row, 0]][q], after.labels[cells[row, 1]][q]) for row in considered}
        originals = {original for original, _ in names}
        released = {new for _, new in names}
        is_bijection = len(names) == len(originals) == len(released)
        existing = {label[q] for label in before.labels} | known_values[q]
        new_names = {new for original, new in names if new != original}
        is_bijection = is_bijection and (originals == released or not new_names & existing)
        if is_bijection and int(records[considered].sum()) >= 2 * len(names):
            levels[is_replaced, q] = 0
            renamed.append(name)
    return frozenset(renamed)


def _read_keys(table: CodedRecords, key: str) -> NDArray[np.str_]:
    """Read the keys of the records. Raises `InputError` if some occur more than once."""
    keys = read_column_texts(table, key)
    order = np.argsort(keys, kind="stable")
    is_repeated = keys[order][1:] == keys[order][:-1]
    if is_repeated.any():
        row = None if table.source.elsewhere else table.row_number(int(order[1:][is_repeated].min()))
        message = f"{np.unique(keys[order][1:][is_repeated]).size:,} keys occur more than once."
        remedy = "Name a column that is different in every record."
        raise InputError(
            Finding("repeated-key", message, remedy, file=table.source.path, row=row, column=key)
        )
    return keys

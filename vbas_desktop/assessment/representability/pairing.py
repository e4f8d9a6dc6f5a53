"""Original and anonymised file side by side: which records are in both, and what was done to each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.records.row_texts import coded_texts, column_texts
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.records import RecordTable

from .classes import Classes
from .hierarchy import Hierarchy

UNEXPLAINED = -1
"""The level of a value that its hierarchy does not explain: the record was moved to other values."""


@dataclass(frozen=True, eq=False)
class Pairing:
    """Common records by key, as cells (original class, released class) with their number of records.

    ``levels[cell, q]`` is the level of column q in that cell (`UNEXPLAINED` where the value was replaced).
    ``vanished`` and ``added`` count records that are in one file only, by class; ``original_rows`` and
    ``released_rows`` are the places of the common records in both files. ``renamed`` are the columns whose values only
    got other names.
    """

    original: Classes
    released: Classes
    cell_original: NDArray[np.int64]
    cell_released: NDArray[np.int64]
    cell_records: NDArray[np.int64]
    levels: NDArray[np.int64]
    vanished: NDArray[np.int64]
    added: NDArray[np.int64]
    original_rows: NDArray[np.intp]
    released_rows: NDArray[np.intp]
    renamed: frozenset[str] = frozenset()

    @property
    def common(self) -> int:
        """Records in both files."""
        return int(self.cell_records.sum())

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Cells whose records got values that no hierarchy explains."""
        return np.asarray((self.levels == UNEXPLAINED).any(axis=1))

    @property
    def generalised(self) -> NDArray[np.bool_]:
        """Cells whose records were raised to a higher level in at least one column, and moved in none."""
        return np.asarray((self.levels > 0).any(axis=1)) & ~self.moved

    def climbed(self, q: int, hierarchy: Hierarchy) -> NDArray[np.float64]:
        """Compute the factor G of column q in each cell: how far it was raised; 1 where its value was replaced."""
        return np.array([1.0 if n == UNEXPLAINED else hierarchy.generalisation(int(n)) for n in self.levels[:, q]])

    def lost(self, q: int, hierarchy: Hierarchy) -> NDArray[np.float64]:
        """Compute the share of the detail that column q has lost in each cell; 1 where its value was replaced."""
        released = [self.released.labels[number][q] for number in self.cell_released]
        losses = [
            1.0 if level == UNEXPLAINED else hierarchy.loss(value, int(level))
            for value, level in zip(released, self.levels[:, q], strict=True)
        ]
        return np.array(losses)

    def approaches(self) -> dict[str, int]:
        """What was done, and to how many records."""
        done = {
            "delete": int(self.vanished.sum()),
            "generalise": int(self.cell_records[self.generalised].sum()),
            "merge": int(self.cell_records[self.moved].sum()),
            "fabricate": int(self.added.sum()),
        }
        return {name: records for name, records in done.items() if records}


def pair(
    original: RecordTable,
    released: RecordTable,
    key: str,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    known_values: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> Pairing:
    """Join two files by their key; refused without a usable key or the columns in both.

    ``known_values`` are values of a column beyond those of the original and its hierarchy: none is a new name.
    """
    if not quasi_identifiers:
        raise InputError(Finding("no-quasi-identifier", "No quasi-identifier is chosen.", "Name at least one."))
    first, second = _keys(original, key), _keys(released, key)
    before = Classes.of_records(original, quasi_identifiers)
    after = Classes.of_records(released, quasi_identifiers)
    common, in_first, in_second = np.intersect1d(first, second, return_indices=True)
    if not common.size:
        raise InputError(
            Finding("no-common-key", "No key is in both files.", "Name the column with the record’s key.", column=key)
        )
    cells = np.column_stack([before.class_of[in_first], after.class_of[in_second]])
    distinct, records = np.unique(cells, axis=0, return_counts=True)
    lost, new = np.ones(first.size, bool), np.ones(second.size, bool)
    lost[in_first], new[in_second] = False, False
    levels = _levels(before, after, distinct, [hierarchies[name] for name in quasi_identifiers])
    known = [{*hierarchies[name].ancestors, *known_values.get(name, ())} for name in quasi_identifiers]
    renamed = _level_renamed_columns(before, after, distinct, records, levels, known)
    return Pairing(
        before,
        after,
        distinct[:, 0],
        distinct[:, 1],
        records.astype(np.int64),
        levels,
        np.bincount(before.class_of[lost], minlength=len(before.labels)),
        np.bincount(after.class_of[new], minlength=len(after.labels)),
        in_first,
        in_second,
        renamed,
    )


def changed_records(original: RecordTable, released: RecordTable, paired: Pairing, column: str) -> NDArray[np.bool_]:
    """Find the common records in which a column holds another value than before, such as the mean of the class."""
    old, before = coded_texts(original, column)
    new, after = coded_texts(released, column)
    place = {value: number for number, value in enumerate(before.tolist())}
    translate = np.array([place.get(value, -1) for value in after.tolist()], np.int64)
    return np.asarray(old[paired.original_rows] != translate[new[paired.released_rows]])


def _levels(
    before: Classes, after: Classes, cells: NDArray[np.int64], hierarchies: Sequence[Hierarchy]
) -> NDArray[np.int64]:
    found = np.zeros((len(cells), len(hierarchies)), np.int64)
    for number, (one, other) in enumerate(cells):
        for q, hierarchy in enumerate(hierarchies):
            level = hierarchy.level(before.labels[one][q], after.labels[other][q])
            found[number, q] = UNEXPLAINED if level is None else level
    return found


def _level_renamed_columns(
    before: Classes,
    after: Classes,
    cells: NDArray[np.int64],
    records: NDArray[np.integer],
    levels: NDArray[np.int64],
    known_values: Sequence[Set[str]],
) -> frozenset[str]:
    """Put values that were only renamed on level 0, in place; return the columns that have some.

    A column was renamed if each original value has one new name and no two values share one, raised and suppressed
    values apart. A name that another value has in the original or in ``known_values`` is no new one, unless all names
    are those of the original. There must be at least two records per value: otherwise any change of single values
    would do.
    """
    found = []
    for q, name in enumerate(before.columns):
        replaced = levels[:, q] == UNEXPLAINED
        if not replaced.any():
            continue
        considered = np.flatnonzero(replaced | (levels[:, q] == 0))
        names = {(before.labels[cells[row, 0]][q], after.labels[cells[row, 1]][q]) for row in considered}
        originals = {original for original, _ in names}
        released = {new for _, new in names}
        is_bijection = len(names) == len(originals) == len(released)
        known = {label[q] for label in before.labels} | known_values[q]
        new_names = {new for original, new in names if new != original}
        is_bijection = is_bijection and (originals == released or not new_names & known)
        if is_bijection and int(records[considered].sum()) >= 2 * len(names):
            levels[replaced, q] = 0
            found.append(name)
    return frozenset(found)


def _keys(table: RecordTable, key: str) -> NDArray[np.str_]:
    texts = column_texts(table, key)
    order = np.argsort(texts, kind="stable")
    same = texts[order][1:] == texts[order][:-1]
    if same.any():
        row = None if table.source.elsewhere else table.row_number(int(order[1:][same].min()))
        message = f"{np.unique(texts[order][1:][same]).size:,} keys occur more than once."
        remedy = "Name a column that is different in every record."
        raise InputError(Finding("repeated-key", message, remedy, file=table.source.path, row=row, column=key))
    return texts

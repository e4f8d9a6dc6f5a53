"""Count the sensitive values of input and release, and decide which classes must have been left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.criteria import Criterion
from vbas_desktop.model.findings import Check
from vbas_desktop.model.sensitive import SensitiveCounts, with_criteria

from .coded_file import CodedFile, FileColumn
from .combinations import Ints, count_pairs, regroup
from .criteria import ValueDistribution, order_of
from .csv_stream import UnreadableFile
from .expected_values import alone, expected_forms
from .release_files import Case

Flags = NDArray[np.bool_]
_COMPARED = ("closeness", "ordered-closeness")


@dataclass(frozen=True, eq=False)
class SensitiveDistribution:
    """A column with criteria, and how its values are distributed over the classes of a file."""

    column: str
    criteria: tuple[Criterion, ...]
    distribution: ValueDistribution

    @property
    def compared(self) -> tuple[Criterion, ...]:
        """Return the criteria that depend on what else is released."""
        return tuple(criterion for criterion in self.criteria if criterion.kind in _COMPARED)


def sensitive_columns(
    case: Case,
    file: CodedFile,
    classes: FileColumn,
    columns: Mapping[str, FileColumn],
    group_of_class: Ints,
    groups: int,
) -> list[SensitiveDistribution]:
    """Count the values of every column with criteria that the file has, by groups of classes (−1: in none)."""
    distributions = []
    for sensitive in with_criteria(case.problem.sensitive):
        if sensitive.column not in columns:
            continue
        column = columns[sensitive.column]
        meanings = _Meanings(case, sensitive)
        texts, value_of = np.unique(
            np.array(meanings.translate(column.known_texts), object), return_inverse=True
        )
        pairs = count_pairs(file, classes, column)
        pairs = regroup(pairs, group_of_class, value_of.ravel().astype(np.int64))
        labels = [str(text) for text in texts]
        distribution = ValueDistribution(
            groups,
            pairs.group,
            pairs.value,
            pairs.counts,
            meanings.are_harmful(labels),
            meanings.order(labels),
        )
        distributions.append(
            SensitiveDistribution(sensitive.column, sensitive.chosen.criteria, distribution)
        )
    return distributions


class _Meanings:
    """Meaning of the values of a sensitive column, in whichever way they are written."""

    def __init__(self, case: Case, sensitive: SensitiveCounts) -> None:
        self._sensitive = sensitive
        values = case.claim.values.get(sensitive.column)
        self._meaning: dict[str, str] = {}
        self._benign: set[str] = set()
        for value in sensitive.values if values is None else values:
            # Only texts are written in one way; numbers of a typed column are what they are.
            forms = [value] if values is None else sorted(expected_forms(value))
            meaning = value if values is None else alone(value)
            for form, written in zip(forms, case.escape(forms), strict=True):
                self._meaning[form] = self._meaning[written] = meaning
            if any(map(sensitive.chosen.is_benign, forms)):
                self._benign.add(meaning)

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Return what each text stands for."""
        return [self._meaning.get(text, text) for text in texts]

    def are_harmful(self, texts: Sequence[str]) -> Flags:
        """Return whether learning each of these values does harm."""
        return np.array([text not in self._benign for text in texts], np.bool_)

    def order(self, texts: Sequence[str]) -> Ints | None:
        """Return the values in ascending order; None if no criterion needs it."""
        if not any(
            criterion.kind == "ordered-closeness" for criterion in self._sensitive.chosen.criteria
        ):
            return None
        order = order_of(texts)
        if order is None:
            raise UnreadableFile(f"the values of “{self._sensitive.column}” have no order")
        return order


def find_barred(columns: Sequence[SensitiveDistribution]) -> Callable[[Ints, int, Flags], Flags]:
    """Return what tells which groups of classes must not be released, compared with all records of the input."""

    def find_failing(group: Ints, groups: int, left: Flags) -> Flags:
        bad = np.zeros(groups, np.bool_)
        for column in columns:
            joined = column.distribution.merge_classes(group, groups, left)
            bad |= joined.failing(column.criteria, column.distribution.totals)
        return bad

    return find_failing


def remove_until_stable(columns: Sequence[SensitiveDistribution], cell: Ints, released: Flags) -> Flags:
    """Take out what misses the criteria compared with all released records, until nothing does.

    ``cell`` is the same for classes that are released as one. Returns the classes that stay.
    """
    compared = [column for column in columns if column.compared]
    if not compared:
        return released
    groups, group = np.unique(cell, return_inverse=True)
    group = group.ravel().astype(np.int64)
    while True:
        bad = np.zeros(groups.size, np.bool_)
        for column in compared:
            distribution = column.distribution.merge_classes(group, groups.size, released)
            bad |= distribution.failing(column.criteria, distribution.totals)
        left = released & ~bad[group]
        if np.array_equal(left, released):
            return released
        released = left


def check_criteria(columns: Sequence[SensitiveDistribution], names: Mapping[str, str]) -> list[Check]:
    """Check that the released file meets every criterion by what it holds; columns have their ``names`` there."""
    checks = []
    for column in columns:
        bad = column.distribution.failing(column.criteria, column.distribution.totals)
        listed = ", ".join(criterion.text for criterion in column.criteria)
        name = f"the values of “{names[column.column]}” meet the criteria in every combination"
        failed = f"; {int(bad.sum()):,} do not" if bad.any() else ""
        checks.append(Check(name, not bad.any(), f"{listed}{failed}"))
    return checks

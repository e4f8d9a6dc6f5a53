"""Work out from the input what must have been released: which classes, under which codes, with which values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .aggregates import expected_aggregates
from .claim import AggregationClaim
from .coded_file import FileColumn
from .combinations import Ints, count_pairs, number_rows, regroup
from .expected_values import alone, expected_values
from .release_files import Case, Crosswalk, InputRecords
from .sensitive import SensitiveDistribution, find_barred, remove_until_stable, sensitive_columns
from .text_hashes import Hashes
from .tiers import recounted_tiers


@dataclass(frozen=True, eq=False)
class ClassOutcomes:
    """Outcome of each class of the input, by initial region and quasi-identifiers.

    Parameters
    ----------
    code_number : the number of the code under which its records are released; −1: they are not
    released_class : the number of the released class that they belong to; −1: none
    codes : the text of each code
    sizes : the records of each released class
    strangers : the records whose region the crosswalk does not have
    """

    code_number: Ints
    released_class: Ints
    codes: tuple[str, ...]
    sizes: Ints
    strangers: int

    @property
    def is_released(self) -> NDArray[np.bool_]:
        """Return whether the records of each class are released."""
        return self.code_number >= 0


def decide_classes(records: InputRecords, crosswalk: Crosswalk) -> ClassOutcomes:
    """Decide about every class of the input once more: by k, the criteria for sensitive values, and the tiers."""
    case = records.case
    classes = records.classes
    region = records.regions(crosswalk)
    kind = number_rows(classes.codes[1:], classes.counts.size)
    tiers = [
        np.unique(np.array(codes), return_inverse=True)
        for codes in zip(*crosswalk.values(), strict=True)
    ]
    members = [inverse.astype(np.int64) for _, inverse in tiers]
    codes = tuple(str(code) for texts, _ in tiers for code in texts)
    is_known = region >= 0
    aggregated_region = np.where(is_known, members[0][region], -1)
    # Classes of one aggregated region are decided about together.
    kinds = int(kind.max(initial=0)) + 1
    cells, cell_of = np.unique(aggregated_region[is_known] * kinds + kind[is_known], return_inverse=True)
    cell_of_class = np.full(aggregated_region.size, -1, np.int64)
    cell_of_class[is_known] = cell_of.ravel()
    counts = np.bincount(cell_of.ravel(), classes.counts[is_known], cells.size).astype(np.int64)
    judged = sensitive_columns(
        case, records.file, classes.column, records.columns, cell_of_class, cells.size
    )
    code, is_released = _decide_cells(*np.divmod(cells, kinds), counts, members, judged, case.problem.k)
    released_keys, released_as = np.unique(
        np.where(is_released, code * kinds + cells % kinds, -1), return_inverse=True
    )
    released_as = released_as.ravel() - int(released_keys.size > 0 and released_keys[0] == -1)
    sizes = np.bincount(released_as[is_released], counts[is_released]).astype(np.int64)
    strangers = int(classes.counts[~is_known].sum())
    return ClassOutcomes(
        _by_cell(np.where(is_released, code, -1), cell_of_class),
        _by_cell(np.where(is_released, released_as, -1), cell_of_class),
        codes,
        sizes,
        strangers,
    )


def _by_cell(values: Ints, cell_of_class: Ints) -> Ints:
    values_of_class = np.full(cell_of_class.size, -1, np.int64)
    values_of_class[cell_of_class >= 0] = values[cell_of_class[cell_of_class >= 0]]
    return values_of_class


def _decide_cells(
    aggregated_region: Ints,
    kind: Ints,
    counts: Ints,
    members: Sequence[Ints],
    judged: Sequence[SensitiveDistribution],
    k: int,
) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the code of each cell (aggregated region, class), and whether it is released.

    The codes of a tier are numbered after those of the finer tiers.
    """
    barring = find_barred(judged)
    every = np.arange(counts.size)
    if len(members) == 1:
        is_kept = (counts >= k) & ~barring(every, counts.size, np.ones(counts.size, np.bool_))
        return aggregated_region, remove_until_stable(judged, every, is_kept)
    parents = []
    for below, above in pairwise(members):
        parent = np.zeros(int(below.max()) + 1, np.int64)
        parent[below] = above
        parents.append(parent)
    tier, last = recounted_tiers(aggregated_region, kind, counts, parents, k, barring)
    code = released_codes(aggregated_region, tier, parents)
    cell = code * (int(kind.max(initial=0)) + 1) + kind
    return code, remove_until_stable(judged, cell, tier <= last)


def released_codes(aggregated_region: Ints, tier: Ints, parents: Sequence[Ints]) -> Ints:
    """Return the number of the code under which each cell is released in its tier."""
    above = aggregated_region
    start = 0
    code = aggregated_region.copy()
    for number, parent in enumerate(parents, 1):
        start += parent.size
        above = parent[above]
        code = np.where(tier >= number, start + above, code)
    return code


class ExpectedRows:
    """The fingerprints of the rows that must have been released, in the order of the input."""

    def __init__(self, records: InputRecords, outcomes: ClassOutcomes) -> None:
        self._records = records
        self._outcomes = outcomes
        self._case = records.case
        self._class_of = records.classes.column

    def find_released(self, number: int) -> NDArray[np.bool_]:
        """Return which records of a chunk are released."""
        return self._outcomes.is_released[self._class_of.codes(number)]

    @cached_property
    def notation(self) -> Mapping[str, Sequence[str]]:
        """Return what is written for the values of the columns that are written in one way, by code."""
        released = {name for name, _ in self._case.claim.columns}
        values_of_class = {}
        for name in self._case.claim.values:
            if name in released:
                values_of_class[name] = self._write_values(self._records.columns[name])
        return values_of_class

    def _write_values(self, column: FileColumn) -> Sequence[str]:
        texts = column.known_texts
        bare = [text.strip(" \t") for text in texts]
        if all(alone(text) == plain for text, plain in zip(texts, bare, strict=True)):
            return bare
        # How numbers and dates are written depends on the values that released records have.
        present = np.flatnonzero(column.count_codes(self.find_released)).tolist()
        for code, text in zip(present, expected_values([texts[code] for code in present]), strict=True):
            bare[code] = text
        return bare

    def chunks(self, with_sizes: bool) -> Iterator[Hashes]:
        """Yield the sums of the hashes of the values of each released record, chunk by chunk.

        ``with_sizes``: the column with the sizes of classes counts too.
        """
        by_class = self._hashes_by_class(with_sizes)
        copied = [self._copied_column(at, name) for at, (name, _) in enumerate(self._case.claim.columns)]
        for number in range(len(self._records.file.sizes)):
            rows_kept = np.flatnonzero(self.find_released(number))
            classes = self._class_of.codes(number)[rows_kept]
            rows = by_class[classes]
            for column in copied:
                if column is not None:
                    rows += column.hashes(number, rows_kept, classes)
            yield rows

    def _hashes_by_class(self, with_sizes: bool) -> Hashes:
        """Add up the hashes of what all records of a class have in common."""
        case = self._case
        hasher = case.hasher
        outcomes = self._outcomes
        names = [name for name, _ in case.claim.columns]
        rows = np.zeros(outcomes.code_number.size, np.uint64)
        if case.problem.region_column in names:
            table = hasher.in_column(
                names.index(case.problem.region_column), hasher.hash(outcomes.codes)
            )
            rows += table[outcomes.code_number]
        for name, column, codes in zip(
            case.problem.quasi_identifiers,
            self._records.categories,
            self._records.classes.codes[1:],
            strict=True,
        ):
            if name in names:
                rows += hasher.in_column(names.index(name), hasher.hash(column.known_texts))[codes]
        if with_sizes and outcomes.sizes.size:
            table = hasher.hash([str(size) for size in outcomes.sizes.tolist()])
            rows += hasher.in_column(len(names), table)[outcomes.released_class]
        return rows

    def _copied_column(self, at: int, name: str) -> _CopiedColumn | None:
        """Return the hashes of a column that is copied; None if all records of a class have one value in it."""
        case = self._case
        hasher = case.hasher
        if name == case.problem.region_column or name in case.problem.quasi_identifiers:
            return None
        column = self._records.columns[name]
        if column.texts is None:
            return _CopiedColumn(column, None, case, at)
        texts = self.notation.get(name, column.texts)
        table = hasher.in_column(at, hasher.hash(case.escape(texts)))
        copied = _CopiedColumn(column, table, case, at)
        for claim in case.claim.aggregated:
            if claim.column == name:
                copied.aggregate(*self._aggregate(claim, column, texts))
        return copied

    def _aggregate(
        self, claim: AggregationClaim, column: FileColumn, texts: Sequence[str]
    ) -> tuple[NDArray[np.bool_], list[str]]:
        """Return which classes have one value in a column, and the value of each class."""
        outcomes = self._outcomes
        pairs = count_pairs(self._records.file, self._class_of, column, self.find_released)
        pairs = regroup(pairs, outcomes.released_class, np.arange(column.values))
        frequencies: dict[int, Counter[str]] = {}
        for group, value, count in zip(
            pairs.group.tolist(), pairs.value.tolist(), pairs.counts.tolist(), strict=True
        ):
            frequencies.setdefault(group, Counter())[texts[value]] += count
        values = expected_aggregates(frequencies, outcomes.sizes, claim.below)
        of_class = [values.get(number) for number in outcomes.released_class.tolist()]
        return np.array([value is not None for value in of_class], np.bool_), [
            value or "" for value in of_class
        ]


class _CopiedColumn:
    """The hashes of a released column that is copied from the input, record by record."""

    def __init__(self, column: FileColumn, table: Hashes | None, case: Case, at: int) -> None:
        self._column = column
        self._table = table
        self._case = case
        self._at = at
        self._is_aggregated: NDArray[np.bool_] | None = None
        self._by_class: Hashes | None = None

    def aggregate(self, is_aggregated: NDArray[np.bool_], values: Sequence[str]) -> None:
        """Let all records of some classes have one value."""
        hasher = self._case.hasher
        self._is_aggregated = is_aggregated
        self._by_class = hasher.in_column(self._at, hasher.hash(self._case.escape(values)))

    def hashes(self, number: int, rows: Ints, classes: NDArray[np.integer]) -> Hashes:
        """Return the hashes of the values of some records of a chunk, which belong to these classes."""
        if self._table is None:
            return self._case.hasher.in_column(self._at, self._column.get_hashes(number)[rows])
        row_hashes = self._table[self._column.codes(number)[rows]]
        if self._is_aggregated is None or self._by_class is None:
            return row_hashes
        return np.where(self._is_aggregated[classes], self._by_class[classes], row_hashes)

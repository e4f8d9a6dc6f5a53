"""Look at the written file as a recipient could: which columns, alone or together, undo the protection?

Only files are used, never the plan of the release:

- the written file gives the records by released place, quasi-identifiers and value, and so the size of every group that
  a recipient can form;
- the crosswalk gives the places that each initial region lies in, tier by tier;
- the original gives the initial region and the ungrouped values of each released record (`original_records`).

The tests of columns are those that are made before writing, on the same sample of rows; so they come to the same
verdicts unless the file is not what was planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.model.progress import Progress, RepeatingProgress

from .chunk_store import THREADS
from .coded_file import FileColumn
from .column_tests import (
    Disclosure,
    TestedCombinations,
    choose_combinations,
    disclosing_columns,
    disclosing_combinations,
)
from .combinations import Ints, count_pairs, number_combinations
from .csv_stream import UnreadableFile
from .original_records import OriginalRecords, describe_column
from .release_files import Crosswalk, InputRecords, WrittenRecords
from .text_hashes import mix

STAGE = "Looking at the written file"
_HASHES_AT_A_TIME = 1 << 24
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class GroupCount:
    """The groups of (released place, quasi-identifiers, values of these columns), blank being a value.

    ``below_k`` records are in groups of fewer than k, ``unique`` ones alone in theirs. ``smallest`` is the smallest
    group (None: not counted).
    """

    columns: tuple[str, ...]
    below_k: int
    unique: int | None = None
    smallest: int | None = None


@dataclass(frozen=True)
class LastLook:
    """Findings in the written file.

    ``compared``: the columns were tested with the original for what they tell of place, categories and people.
    """

    k: int
    records: int
    columns: tuple[GroupCount, ...]
    combinations: tuple[GroupCount, ...]
    not_tried: int
    pair_tests: bool
    compared: bool
    disclosures: tuple[Disclosure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data: the entry ``last_look`` of ``run.json``."""
        return {
            "records": self.records,
            "compared_with_original": self.compared,
            "pair_tests": self.pair_tests,
            "columns": [
                {
                    "column": results.columns[0],
                    "records_below_k": results.below_k,
                    "unique_records": results.unique,
                    "smallest_group": results.smallest,
                }
                for results in self.columns
            ],
            "combinations": [
                {"columns": list(results.columns), "records_below_k": results.below_k}
                for results in self.combinations
            ],
            "combinations_not_tried": self.not_tried,
            "disclosing": ["+".join(results.columns) for results in self.disclosures],
        }


def look_at_release(
    files: tuple[InputRecords, WrittenRecords, Crosswalk],
    class_columns: Sequence[str],
    pair_tests: bool,
    progress: Progress,
) -> LastLook:
    """Test all released columns of the written file, and pairs and triples if wanted; see `docs/release.md`.

    ``class_columns`` are said to have one value in every class, and are not tested if that is so. Raises
    `VerificationFailed` if original and written file do not fit together.
    """
    before, after, crosswalk = files
    problem = after.case.problem
    names = list(after.columns)
    used = [problem.region_column, *problem.quasi_identifiers]
    plain = [name for name in names if name not in {*used, *class_columns}]
    compared = all(name in names for name in used)
    if not plain and not class_columns:
        return LastLook(problem.k, 0, (), (), 0, pair_tests, compared, ())
    progress = RepeatingProgress(progress)
    for records_of_file in (before, after):
        records_of_file.file.store.tick = partial(progress.update, STAGE)
    progress.update(STAGE, 0.0)
    groups = _Groups(after)
    for name in class_columns:
        if not compared or not groups.is_constant(name):
            message = f"The aggregated column “{name[:80]}” has several values in a class"
            raise VerificationFailed(f"{message}. Nothing was released.")
    with ThreadPoolExecutor(THREADS, "look") as pool:
        singles = tuple(pool.map(groups.count_column, plain))
    records = None
    results: list[Disclosure] = []
    if compared:
        try:
            records = OriginalRecords(before, after, crosswalk, plain)
        except UnreadableFile as error:
            message = f"The written file could not be looked at: {error}. Nothing was released."
            raise VerificationFailed(message) from None
        columns = [records.column(name) for name in plain]
        results += disclosing_columns(records, columns, progress)
    else:
        columns = [describe_column(name, after.columns[name]) for name in plain]
    disclosing = {name for disclosure in results for name in disclosure.columns}
    chosen = choose_combinations([column for column in columns if column.name not in disclosing])
    if not pair_tests:
        chosen = TestedCombinations((), len(chosen.tried) + chosen.not_tried)
    elif records is not None:
        results += disclosing_combinations(records, chosen.tried, progress)
    together = []
    for number, combination in enumerate(chosen.tried):
        progress.update(STAGE, 0.5 + 0.5 * number / len(chosen.tried))
        together.append(groups.count_combination([column.name for column in combination]))
    rows = after.file.rows
    return LastLook(
        problem.k, rows, singles, tuple(together), chosen.not_tried, pair_tests, compared, tuple(results)
    )


class _Groups:
    """Counts the groups that a recipient can form in the written file."""

    def __init__(self, released: WrittenRecords) -> None:
        self._file = released.file
        self._columns = released.columns
        self._classes = released.classes
        self._k = released.case.problem.k
        self._below: dict[str, NDArray[np.bool_]] = {}

    def is_constant(self, name: str) -> bool:
        """Return whether all rows of a class have one value in a column."""
        return self._sizes(self._columns[name]).size == self._classes.counts.size

    def count_column(self, name: str) -> GroupCount:
        """Count the groups of one column."""
        sizes = self._sizes(self._columns[name])
        below = int(sizes[sizes < self._k].sum())
        return GroupCount(
            (name,), below, int(np.count_nonzero(sizes == 1)), int(sizes.min()) if sizes.size else 0
        )

    def _sizes(self, column: FileColumn) -> Ints:
        if column.texts is not None:
            return count_pairs(self._file, self._classes.column, column).counts
        # Groups of values that are known by hashes are divided, so that few enough are counted at a time.
        bits = (self._file.rows // _HASHES_AT_A_TIME).bit_length()
        return np.concatenate([self._count_hashes(column, part, bits) for part in range(1 << bits)])

    def _count_hashes(self, column: FileColumn, part: int, bits: int) -> Ints:
        """Count the groups whose hash begins with these bits."""
        results = [np.zeros(0, np.uint64)]
        for number in range(len(self._file.sizes)):
            keys = mix(
                column.get_hashes(number)
                + self._classes.column.codes(number).astype(np.uint64) * _SPREAD
            )
            results.append(keys[keys >> np.uint64(64 - bits) == part] if bits else keys)
        return np.unique(np.concatenate(results), return_counts=True)[1].astype(np.int64)

    def count_combination(self, names: Sequence[str]) -> GroupCount:
        """Count the records below k by several columns; those below k by one of them are so by all together."""
        small = self._is_below(names[0]).copy()
        for name in names[1:]:
            small |= self._is_below(name)
        keys = self._combination_keys([self._columns[name] for name in names], small)
        # Half as many bytes are sorted in half the time.
        keys = keys.astype(np.int32) if keys.max(initial=0) < 1 << 31 else keys
        keys.sort()
        borders = np.flatnonzero(
            np.concatenate(([True], keys[1:] != keys[:-1], [True])) if keys.size else [True]
        )
        sizes = np.diff(borders)
        below = int(np.count_nonzero(small)) + int(sizes[sizes < self._k].sum())
        return GroupCount(tuple(names), below)

    def _is_below(self, name: str) -> NDArray[np.bool_]:
        """Return for each row whether fewer than k rows of its class have its value."""
        if name not in self._below:
            groups = number_combinations(self._file, [self._classes.column, self._columns[name]])
            is_small = groups.counts < self._k
            self._below[name] = np.concatenate(
                [is_small[groups.column.codes(number)] for number in range(len(self._file.sizes))]
            )
        return self._below[name]

    def _combination_keys(self, columns: Sequence[FileColumn], small: NDArray[np.bool_]) -> Ints:
        """Return a number for the class and values of each row that is not below k already."""
        sizes = [self._classes.column.values, *(column.values for column in columns)]
        used = [self._classes.column, *columns]
        if np.prod(sizes, dtype=object) >= 1 << 62:
            used = [number_combinations(self._file, used).column]
        parts = [np.zeros(0, np.int64)]
        for number, (start, end) in enumerate(
            zip(self._file.starts[:-1], self._file.starts[1:], strict=True)
        ):
            rest = np.flatnonzero(~small[start:end])
            keys = np.zeros(rest.size, np.int64)
            for column in used:
                keys *= column.values
                keys += column.codes(number)[rest]
            parts.append(keys)
        return np.concatenate(parts)

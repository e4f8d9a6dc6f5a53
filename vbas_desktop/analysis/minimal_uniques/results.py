"""Results of a search, one object per set of columns: millions of combinations take a few bytes each. Scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.output import write_text
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count

from .distinct_rows import DistinctRows, join_equal_rows


@dataclass(frozen=True, eq=False)
class UniqueCombinations:
    """Minimal risky combinations over one set of columns, the rarest first.

    ``rows[i]`` is a distinct row that has combination i, ``counts[i]`` the number of records that share it, in the
    smallest type that holds all counts. No record has two combinations over the same columns.
    """

    columns: tuple[int, ...]
    rows: NDArray[np.int32]
    counts: NDArray[np.unsignedinteger]

    @classmethod
    def from_counts(
        cls, columns: tuple[int, ...], rows: NDArray[np.int32], counts: NDArray[np.integer]
    ) -> UniqueCombinations:
        """Build from one row per combination and the records that share it; equally rare ones keep their order."""
        order = np.argsort(counts, kind="stable")
        smallest_type = np.min_scalar_type(int(counts.max(initial=0)))
        return cls(columns, rows[order], counts[order].astype(smallest_type))

    @property
    def number(self) -> int:
        """Number of combinations."""
        return int(self.rows.size)

    @property
    def records(self) -> int:
        """Number of records that have one of the combinations."""
        return int(self.counts.sum())

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class SearchLevel:
    """Minimal risky combinations of one size; ``exempted`` are those that domain rules exempt."""

    size: int
    combinations: tuple[UniqueCombinations, ...]
    exempted: tuple[UniqueCombinations, ...] = ()

    @property
    def number(self) -> int:
        """Number of combinations."""
        return sum(column_set.number for column_set in self.combinations)

    @property
    def number_exempted(self) -> int:
        """Number of combinations that domain rules exempt."""
        return sum(column_set.number for column_set in self.exempted)


@dataclass(frozen=True)
class ThresholdCount:
    """Number of minimal risky combinations of each column, over all sizes, before any rule is applied.

    ``largest_size`` is None if all sizes were searched; otherwise larger combinations are not in the count.
    """

    appearances: Counter[int]
    largest_size: int | None = None

    @property
    def limitation(self) -> str:
        """Limitation of the thresholds as text; empty if there is none."""
        if self.largest_size is None:
            return ""
        return f"thresholds of domain rules count combinations of at most {format_count(self.largest_size, 'column')}"


@dataclass(eq=False)
class SearchResult:
    """Outcome of a search. ``scores[i]``: number of minimal risky combinations that distinct row i is in.

    ``thresholds``: what the thresholds of domain rules were compared with; None without such rules.
    """

    levels: list[SearchLevel] = field(default_factory=list)
    complete: bool = True
    why_incomplete: str = ""
    thresholds: ThresholdCount | None = None
    scores: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def mark_incomplete(self, reason: str) -> None:
        """Record that the search ended early, and why."""
        self.complete = False
        self.why_incomplete = reason

    @property
    def column_sets(self) -> tuple[UniqueCombinations, ...]:
        """The sets of columns that have risky combinations, by size."""
        return tuple(column_set for level in self.levels for column_set in level.combinations)

    @property
    def number(self) -> int:
        """Number of minimal risky combinations."""
        return sum(level.number for level in self.levels)

    @property
    def exempted(self) -> int:
        """Number of risky combinations that domain rules exempt."""
        return sum(level.number_exempted for level in self.levels)


def count_column_occurrences(column_sets: Iterable[UniqueCombinations]) -> Counter[int]:
    """Count the combinations of each column."""
    occurrences: Counter[int] = Counter()
    for combinations in column_sets:
        occurrences.update(dict.fromkeys(combinations.columns, combinations.number))
    return occurrences


_SCORES_PER_CHUNK = 100_000


def score_records(table: DistinctRows, search: SearchResult) -> NDArray[np.int32]:
    """Compute the score of each record in the order of the file; that of suppressed records is 0."""
    scores = np.append(
        search.scores, np.int32(0)
    )  # the last one is that of suppressed records, whose row is −1
    return np.asarray(scores[table.row_of])


def count_records_by_score(table: DistinctRows, search: SearchResult) -> dict[int, int]:
    """Count the records of each score that occurs."""
    numbers = np.bincount(search.scores, table.weights, minlength=1)
    return {score: int(number) for score, number in enumerate(numbers.tolist()) if number}


def write_scores(path: Path, table: DistinctRows, search: SearchResult, progress: Progress) -> None:
    """Write a CSV ``record,combinations``: number of each record in the file, from 1, and its score. No values."""
    scores = score_records(table, search)
    parts = ["record,combinations\n"]
    for start in range(0, scores.size, _SCORES_PER_CHUNK):
        progress.update("Writing scores", start / scores.size)
        chunk = scores[start : start + _SCORES_PER_CHUNK].tolist()
        parts.append("".join(f"{number},{score}\n" for number, score in enumerate(chunk, start + 1)))
    write_text(path, "".join(parts), private=True)


def find_risky_rows(
    table: DistinctRows,
    references: Sequence[DistinctRows],
    columns: tuple[int, ...],
    active: NDArray[np.int32],
    k: int,
) -> tuple[NDArray[np.int32], UniqueCombinations]:
    """Find the active rows that are in a risky combination of these columns, and these combinations.

    With ``references``, values that are rare in a public table are risky, too.
    """
    first, counts, group = join_equal_rows(
        _iterate_columns(table, columns, active), table.weights[active]
    )
    risky = counts < k
    for reference in references:
        if all(table.columns[column] in reference.columns for column in columns):
            risky |= _count_in_reference(table, reference, columns, active)[first] < k
    return active[risky[group]], UniqueCombinations.from_counts(
        columns, active[first[risky]], counts[risky]
    )


def mark_covered_rows(table: DistinctRows, combinations: UniqueCombinations) -> NDArray[np.bool_]:
    """Mark the distinct rows that have one of the combinations."""
    first, _, group = join_equal_rows(
        _iterate_columns(table, combinations.columns, np.arange(table.rows)), table.weights
    )
    is_risky = np.zeros(first.size, bool)
    is_risky[group[combinations.rows]] = True
    return is_risky[group]


def _iterate_columns(
    table: DistinctRows, columns: tuple[int, ...], active: NDArray[np.integer]
) -> Iterator[tuple[NDArray[np.unsignedinteger], int]]:
    """Yield the codes of the active rows and the number of values of each column."""
    for column in columns:
        yield table.codes[column][active], table.number_of_values(column)


def _count_in_reference(
    table: DistinctRows, reference: DistinctRows, columns: tuple[int, ...], active: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Count how often the values of each active row occur in a public table."""
    joint_columns = []
    for column in columns:
        other = reference.columns.index(table.columns[column])
        own_values = table.values[column]
        other_values = reference.values[other]
        code_of = {value: code for code, value in enumerate(dict.fromkeys((*own_values, *other_values)))}
        own_codes = np.array([code_of[value] for value in own_values], np.int32)
        other_codes = np.array([code_of[value] for value in other_values], np.int32)
        codes = np.concatenate(
            [own_codes[table.codes[column][active]], other_codes[reference.codes[other]]]
        )
        joint_columns.append((codes, max(len(code_of), 1)))
    weights = np.concatenate([np.zeros(active.size, np.int32), reference.weights])
    _, counts, group = join_equal_rows(joint_columns, weights)
    return counts[group[: active.size]]

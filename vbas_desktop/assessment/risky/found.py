"""What a search found, kept small: lists of millions of combinations stay a few bytes each. How exposed each record is
by it, and counting over sets of columns in general: with a public table, and where the compiled search lacks room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.output import write_text
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.words import counted

from .table import Table, join_equal_rows


@dataclass(frozen=True, eq=False)
class Found:
    """The minimal risky combinations over one set of columns, the rarest first.

    ``rows[i]`` is a distinct row that shows combination i. The first ``numbers[0]`` of them are shared by ``shared[0]``
    records each, the next ``numbers[1]`` by ``shared[1]``, and so on: no count is kept per combination.
    """

    columns: tuple[int, ...]
    rows: NDArray[np.int32]
    shared: NDArray[np.integer]
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, columns: tuple[int, ...], rows: NDArray[np.int32], counts: NDArray[np.integer]) -> Found:
        """Combinations given by one row each and the records that share it; equally rare ones keep their order."""
        order = np.argsort(counts, kind="stable")
        counts = counts[order]
        edges = np.flatnonzero(counts[1:] != counts[:-1])
        starts = np.zeros(edges.size + min(counts.size, 1), np.intp)
        starts[1:] = edges + 1
        numbers = np.append(starts[1:], counts.size)[: starts.size] - starts
        return cls(columns, rows[order], counts[starts], numbers.astype(np.int32))

    @property
    def counts(self) -> NDArray[np.integer]:
        """How many records share each combination."""
        return np.repeat(self.shared, self.numbers)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Level:
    """All minimal risky combinations of one size; ``exempted`` are those that domain rules let pass."""

    size: int
    found: tuple[Found, ...]
    exempted: tuple[Found, ...] = ()

    @property
    def number(self) -> int:
        """How many combinations there are."""
        return sum(each.rows.size for each in self.found)

    @property
    def number_exempted(self) -> int:
        """How many the domain rules let pass."""
        return sum(each.rows.size for each in self.exempted)


@dataclass(frozen=True)
class ThresholdCount:
    """Count in how many minimal risky combinations each column is, over all sizes, before any rule is applied.

    ``largest_size`` is None if all sizes were searched; otherwise larger combinations are not in the count.
    """

    appearances: Counter[int]
    largest_size: int | None = None

    @property
    def limitation(self) -> str:
        """Say which combinations the thresholds leave out; empty if none."""
        if self.largest_size is None:
            return ""
        return f"thresholds of domain rules count combinations of at most {counted(self.largest_size, 'column')}"


@dataclass(eq=False)
class Search:
    """The outcome of a search. ``scores[i]``: in how many minimal risky combinations distinct row i is.

    ``thresholds``: what the thresholds of domain rules were compared with; None without such rules.
    """

    levels: list[Level] = field(default_factory=list)
    complete: bool = True
    why_incomplete: str = ""
    thresholds: ThresholdCount | None = None
    scores: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def give_up(self, why: str) -> None:
        """The search ends here although it is not complete."""
        self.complete, self.why_incomplete = False, why

    @property
    def number(self) -> int:
        """How many minimal risky combinations were found."""
        return sum(level.number for level in self.levels)

    @property
    def exempted(self) -> int:
        """How many risky combinations the domain rules let pass."""
        return sum(level.number_exempted for level in self.levels)


def occurrences(found: Iterable[Found]) -> Counter[int]:
    """In how many combinations each column is."""
    hits: Counter[int] = Counter()
    for each in found:
        hits.update(dict.fromkeys(each.columns, int(each.rows.size)))
    return hits


_CHUNK = 100_000


def record_scores(table: Table, search: Search) -> NDArray[np.int32]:
    """The score of each record in the order of the file; suppressed records have none, which is 0."""
    scores = np.append(search.scores, np.int32(0))  # the last one is that of suppressed records, whose row is −1
    return np.asarray(scores[table.row_of])


def records_by_score(table: Table, search: Search) -> dict[int, int]:
    """How many records have each score that occurs."""
    numbers = np.bincount(search.scores, table.weights, minlength=1)
    return {score: int(number) for score, number in enumerate(numbers.tolist()) if number}


def write_scores(path: Path, table: Table, search: Search, progress: Progress) -> None:
    """A CSV ``record,combinations``: the number of each record in the file, from 1, and its score. No value is told."""
    scores = record_scores(table, search)
    parts = ["record,combinations\n"]
    for start in range(0, scores.size, _CHUNK):
        progress.update("Writing scores", start / scores.size)
        some = scores[start : start + _CHUNK].tolist()
        parts.append("".join(f"{number},{score}\n" for number, score in enumerate(some, start + 1)))
    write_text(path, "".join(parts), private=True)


def risky_rows(
    table: Table, references: Sequence[Table], columns: tuple[int, ...], active: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int32], Found]:
    """All risky ones among the active rows, and the combinations that make them so."""
    first, counts, group = join_equal_rows(_columns(table, columns, active), table.weights[active])
    risky = counts < k
    for reference in references:
        if all(table.columns[column] in reference.columns for column in columns):
            risky |= _public_counts(table, reference, columns, active)[first] < k
    return active[risky[group]], Found.of(columns, active[first[risky]], counts[risky])


def rows_of(table: Table, found: Found) -> NDArray[np.bool_]:
    """The distinct rows that have one of the found combinations."""
    first, _, group = join_equal_rows(_columns(table, found.columns, np.arange(table.rows)), table.weights)
    wanted = np.zeros(first.size, bool)
    wanted[group[found.rows]] = True
    return wanted[group]


def _columns(
    table: Table, columns: tuple[int, ...], active: NDArray[np.integer]
) -> Iterator[tuple[NDArray[np.unsignedinteger], int]]:
    """Yield the codes of the active rows and the number of values of each column."""
    for column in columns:
        yield table.codes[column][active], table.number_of_values(column)


def _public_counts(
    table: Table, reference: Table, columns: tuple[int, ...], active: NDArray[np.int32]
) -> NDArray[np.int32]:
    """How often the values of each active row occur in the public table."""
    both = []
    for column in columns:
        other = reference.columns.index(table.columns[column])
        own_values, other_values = table.values[column], reference.values[other]
        place = {value: number for number, value in enumerate(dict.fromkeys((*own_values, *other_values)))}
        own, public = (np.array([place[v] for v in values], np.int32) for values in (own_values, other_values))
        codes = np.concatenate([own[table.codes[column][active]], public[reference.codes[other]]])
        both.append((codes, max(len(place), 1)))
    weights = np.concatenate([np.zeros(active.size, np.int32), reference.weights])
    _, counts, group = join_equal_rows(both, weights)
    return counts[group[: active.size]]

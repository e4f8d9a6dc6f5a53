"""The list of risky combinations as the page shows it: millions of them, filtered and sorted without being copied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.assessment.risky.found import Found, Search
from vbas_desktop.assessment.risky.loop import Plan
from vbas_desktop.assessment.risky.table import Table
from vbas_desktop.domain.records import with_label

Labels = Mapping[str, Mapping[str, str]]
"""What a codebook calls the values, by column."""


@dataclass(frozen=True, eq=False)
class Combination:
    """One risky combination: its columns, a distinct row of the table that shows it, the records that share it."""

    table: Table
    columns: tuple[int, ...]
    row: int
    count: int
    labels: Labels = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.columns[column] for column in self.columns)

    @property
    def values(self) -> tuple[str, ...]:
        """The values: for the screen only."""
        return tuple(self._told(column) for column in self.columns)

    def _told(self, column: int) -> str:
        """A value, with what the codebook calls it as long as it is not coarsened."""
        value = self.table.values[column][self.table.codes[column][self.row]]
        return with_label(value, self.labels.get(self.table.columns[column], {}))


@dataclass(frozen=True, eq=False)
class Listing:
    """What a search found. Combinations of the same columns and count are one run, so that only runs need sorting."""

    table: Table
    plan: Plan
    search: Search
    all_sizes: bool
    labels: Labels = field(default_factory=dict)

    def __len__(self) -> int:
        return self.search.number

    @cached_property
    def found(self) -> tuple[Found, ...]:
        """The sets of columns that have risky combinations."""
        return tuple(one for level in self.search.levels for one in level.found)

    @cached_property
    def runs(self) -> NDArray[np.int64]:
        """For each run: its place in `found`, where it begins there, how many combinations it has, records of each."""
        each = [
            np.stack([np.full(one.numbers.size, place), np.cumsum(one.numbers) - one.numbers, one.numbers, one.shared])
            for place, one in enumerate(self.found)
        ]
        return np.concatenate([np.zeros((4, 0), np.int64), *each], axis=1).T

    @cached_property
    def occurrences(self) -> NDArray[np.int64]:
        """In how many combinations each column is."""
        totals = np.zeros(len(self.table.columns), np.int64)
        for one in self.found:
            totals[list(one.columns)] += one.rows.size
        return totals

    @cached_property
    def exposed(self) -> tuple[int, int]:
        """How many records are in at least one combination, and the most that one of them is in."""
        scores = self.search.scores
        return int(self.table.weights[scores > 0].sum()), int(scores.max(initial=0))

    def arranged(self, words: str, by: str, descending: bool) -> Arrangement:
        """The combinations whose column names hold every word, sorted ``by`` "size", "count" or "columns"."""
        wanted = [word.casefold() for word in words.split()]
        names = [[self.table.columns[column].casefold() for column in one.columns] for one in self.found]
        holds = np.array([all(any(word in name for name in group) for word in wanted) for group in names], bool)
        rank = np.argsort(np.array(sorted(range(len(names)), key=names.__getitem__), np.int64))
        sizes = np.array([one.size for one in self.found], np.int64)
        runs = np.flatnonzero(holds[self.runs[:, 0]])
        place, shared = self.runs[runs, 0], self.runs[runs, 3]
        keys = {  # the last one counts first
            "size": (rank[place], shared, sizes[place]),
            "count": (rank[place], sizes[place], shared),
            "columns": (shared, rank[place]),
        }
        order = np.lexsort(keys[by])
        return Arrangement(self, runs[order[::-1] if descending else order])


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Some combinations of a listing in some order; ``runs`` are rows of `Listing.runs`."""

    listing: Listing
    runs: NDArray[np.int64]

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.listing.runs[self.runs, 2])

    def __len__(self) -> int:
        return int(self._ends[-1]) if self.runs.size else 0

    def __getitem__(self, place: int) -> Combination:
        number = int(np.searchsorted(self._ends, place, side="right"))
        which, first, size, count = self.listing.runs[self.runs[number]].tolist()
        found = self.listing.found[which]
        row = found.rows[first + place - (int(self._ends[number]) - size)]
        return Combination(self.listing.table, found.columns, int(row), count, self.listing.labels)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that occur, in the order of the table."""
        sets = {self.listing.found[place].columns for place in np.unique(self.listing.runs[self.runs, 0])}
        return tuple(self.listing.table.columns[column] for column in sorted(set().union(*sets)))

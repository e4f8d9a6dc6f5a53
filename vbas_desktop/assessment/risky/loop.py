"""Coarsening step by step until no risky combination is left, with a log of every step and undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.words import counted

from .filters import Coarsening, Defaults, next_coarsening
from .found import Found, Level, Search, ThresholdCount, occurrences, rows_of
from .mining import Exemption, mine
from .rules import DomainRule, FilterRule, same_name
from .table import Table

GENTLE = "gentle"
STRATEGIES = {
    GENTLE: "Suppresses few records or groups values, one change a step; empties a column only if nothing else helps.",
    "cover": "Coarsens a smallest set of columns that hits every risky combination.",
    "paper": "Coarsens every column that occurs in a risky combination.",
}


NULL_NUMBERS = "null"
PAIRED_NUMBERS = "pairs"
NUMBERS = {
    NULL_NUMBERS: "A column of numbers without a rule is emptied, as in the source.",
    PAIRED_NUMBERS: "Neighbouring numbers of a column without a rule are joined in pairs.",
}
TRIM_DIVISOR = 3
"""The part of the shortest text that is cut off: source 003, section IV-4."""


def default_numbers(strategy: str) -> str:
    """Choose what becomes of numbers without a rule: emptied with the strategy of the source, else paired."""
    return NULL_NUMBERS if strategy == "paper" else PAIRED_NUMBERS


@dataclass(frozen=True)
class Plan:
    """What is wanted: k, the rules, the strategy, and the share of records that may be suppressed instead.

    Without a rule, texts lose the length of the shortest one divided by ``trim_divisor``; ``numbers`` is one of
    `NUMBERS`, None for the default of the strategy.
    """

    k: int
    strategy: str = GENTLE
    domain_rules: tuple[DomainRule, ...] = ()
    filter_rules: tuple[FilterRule, ...] = ()
    suppression_share: float = 0.0
    trim_divisor: int = TRIM_DIVISOR
    numbers: str | None = None

    @property
    def defaults(self) -> Defaults:
        """Return how columns without a rule are coarsened."""
        numbers = self.numbers or default_numbers(self.strategy)
        return Defaults(self.trim_divisor, numbers == NULL_NUMBERS, join_rare=self.strategy == GENTLE)


@dataclass(frozen=True)
class Change:
    """One line of the log: a column coarsened (``values`` before → after) or records suppressed."""

    column: str | None
    words: str
    values_before: int = 0
    values_after: int = 0
    records: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The change as plain JSON data."""
        return {
            "column": self.column,
            "what": self.words,
            "values_before": self.values_before,
            "values_after": self.values_after,
            "suppressed_records": self.records,
        }


@dataclass(frozen=True, eq=False)
class State:
    """The table after some steps. ``used`` tells how many filter rules of each column are spent."""

    table: Table
    references: tuple[Table, ...] = ()
    used: tuple[int, ...] = ()
    suppressed: int = 0


@dataclass(frozen=True, eq=False)
class Step:
    """One iteration: the size that was risky, how many combinations, and what was changed."""

    size: int
    combinations: int
    exempted: int
    changes: tuple[Change, ...]
    state: State


@dataclass
class Coarsener:
    """Holds the history of states: `step` adds one, `undone` is without the last one."""

    plan: Plan
    start: State
    steps: list[Step] = field(default_factory=list)
    done: bool = False
    exempted: int = 0

    @classmethod
    def of(cls, plan: Plan, table: Table, references: Sequence[Table] = ()) -> Coarsener:
        """A coarsener that has done nothing yet; with fewer than k records in all, no coarsening could help."""
        if table.records < plan.k:
            message = f"The file has only {counted(table.records, 'record')}, fewer than k = {plan.k}."
            raise InputError(Finding("too-few-records", message, "Choose a smaller k or a larger file."))
        return cls(plan, State(table, tuple(references), (0,) * len(table.columns)))

    @property
    def state(self) -> State:
        """Where it stands."""
        return self.steps[-1].state if self.steps else self.start

    def undone(self) -> Coarsener:
        """The same without its last step."""
        return replace(self, steps=self.steps[:-1], done=False)

    def run(self, progress: Progress | None = None) -> None:
        """Step until nothing risky is left. Every step merges values, empties a column or suppresses records."""
        while self.step(progress):
            pass

    def step(self, progress: Progress | None = None, search: Search | None = None) -> bool:
        """One iteration; False if nothing risky was left. ``search``: what was found in this state, if known."""
        progress, state = progress or Silent(), self.state
        search = search or self.search(progress)
        level = next((level for level in search.levels if level.number), None)
        whole = level is None and not search.complete
        if whole:
            level = self._whole_rows(state.table)
        # A search of all sizes may have been handed in: what larger ones let pass is not of this step.
        looked_at = [each for each in search.levels if level is None or each.size <= level.size]
        self.exempted = sum(each.number_exempted for each in looked_at)
        if level is None:
            self.done = True
            return False
        if self.plan.strategy == GENTLE:
            state, changes = self._change_gently(state, level)
        else:
            chosen = [_widest(state.table)] if whole else choose_columns(level, self.plan.strategy)
            state, changes = self._change(state, level, chosen)
        self.steps.append(Step(level.size, level.number, self.exempted, tuple(changes), state))
        return True

    def search(self, progress: Progress, max_size: int | None = None, first_level_only: bool = True) -> Search:
        """The minimal risky combinations that no domain rule lets pass: of the first size that has any, or of all."""
        state, rules = self.state, self.plan.domain_rules
        thresholds = None
        if any(rule.has_threshold for rule in rules):
            thresholds = self._count_appearances(progress, max_size)
        search = mine(
            state.table,
            self.plan.k,
            max_size=max_size,
            first_level_only=first_level_only,
            exempt=exemption(state.table.columns, rules, thresholds) if rules else None,
            references=state.references,
            progress=progress,
        )
        search.thresholds = thresholds
        return search

    def _count_appearances(self, progress: Progress, max_size: int | None) -> ThresholdCount:
        """Count the combinations of each column: thresholds need all sizes, so this is one whole search more."""
        state = self.state
        whole = mine(state.table, self.plan.k, max_size=max_size, references=state.references, progress=progress)
        appearances = occurrences(found for level in whole.levels for found in level.found)
        return ThresholdCount(appearances, None if whole.complete else len(whole.levels))

    def _whole_rows(self, table: Table) -> Level | None:
        """Where the sets of columns are too many to be searched: the rare rows themselves, so that it goes on."""
        rows = np.flatnonzero(table.weights < self.plan.k).astype(np.int32)
        everything = tuple(range(len(table.columns)))
        return Level(len(everything), (Found.of(everything, rows, table.weights[rows]),)) if rows.size else None

    def _suppressed(self, state: State, rows: NDArray[np.bool_]) -> tuple[State, list[Change]] | None:
        """The state without the records of these rows; None if they are more than may go."""
        budget = int(self.plan.suppression_share * state.table.row_of.size) - state.suppressed
        records = int(state.table.weights[rows].sum())
        if not 0 < records <= budget or state.table.records - records < self.plan.k:
            return None
        left = State(state.table.without(rows), state.references, state.used, state.suppressed + records)
        return left, [Change(None, "records suppressed", records=records)]

    def _change_gently(self, state: State, level: Level) -> tuple[State, list[Change]]:
        """All that still stands out goes, if that is little; or else the column in most combinations is grouped; or, if
        none can be grouped any more, emptied.
        """
        # What domain rules let pass stays.
        small = _rows_at_risk(state.table, level) if self.plan.domain_rules else state.table.weights < self.plan.k
        gone = self._suppressed(state, small)
        if gone is not None:
            return gone
        hits = occurrences(level.found)
        ranked = sorted(hits, key=lambda column: (-hits[column], -len(state.table.values[column]), column))
        todo = [self._next(state, column) for column in ranked]
        grouped = [each for each in todo if not each.empties(state.table.values[each.column])]
        return _all_applied(state, (grouped or todo)[:1])

    def _change(self, state: State, level: Level, chosen: list[int]) -> tuple[State, list[Change]]:
        todo = [self._next(state, column) for column in chosen]
        if any(each.empties(state.table.values[each.column]) for each in todo):
            gone = self._suppressed(state, _rows_at_risk(state.table, level))
            if gone is not None:
                return gone
        return _all_applied(state, todo)

    def _next(self, state: State, column: int) -> Coarsening:
        name = state.table.columns[column]
        own = [rule for rule in self.plan.filter_rules if same_name(rule.feature, name)]
        return next_coarsening(state.table, column, own[state.used[column] :], self.plan.defaults)


def _all_applied(state: State, todo: list[Coarsening]) -> tuple[State, list[Change]]:
    changes = []
    for each in todo:
        before = len(state.table.values[each.column])
        state = _applied(state, each)
        after = len(state.table.values[each.column])
        changes.append(Change(state.table.columns[each.column], each.words, before, after))
    return state, changes


def _widest(table: Table) -> int:
    """The column with the most values: every column is in a whole row, and coarsening this one joins the most."""
    return max(range(len(table.columns)), key=lambda column: (len(table.values[column]), -column))


def _applied(state: State, change: Coarsening) -> State:
    name = state.table.columns[change.column]
    table = state.table.mapped(change.column, change.applied(state.table.values[change.column]))
    used = list(state.used)
    used[change.column] += change.rules_used
    emptied = change.empties(state.table.values[change.column])
    references = tuple(_apply_to_reference(reference, name, change, emptied) for reference in state.references)
    return State(table, references, tuple(used), state.suppressed)


def _apply_to_reference(reference: Table, name: str, change: Coarsening, emptied: bool) -> Table:
    """Coarsen a public table in the same way. Nobody can look up an emptied column, so it is left out there."""
    if name not in reference.columns:
        return reference
    column = reference.columns.index(name)
    if emptied:
        return reference.without_column(column)
    return reference.mapped(column, change.applied(reference.values[column]))


def _rows_at_risk(table: Table, level: Level) -> NDArray[np.bool_]:
    rows = np.zeros(table.rows, bool)
    for found in level.found:
        rows |= rows_of(table, found)
    return rows


def choose_columns(level: Level, strategy: str) -> list[int]:
    """Which columns to coarsen: all that occur (``paper``) or, greedily, few that hit every combination (``cover``)."""
    left = level.found
    if strategy == "paper":
        return sorted(occurrences(left))
    chosen: list[int] = []
    while left:
        hits = occurrences(left)
        best = max(hits, key=lambda column: (hits[column], -column))
        chosen.append(best)
        left = tuple(found for found in left if best not in found.columns)
    return sorted(chosen)


def exemption(
    columns: Sequence[str], rules: Sequence[DomainRule], thresholds: ThresholdCount | None = None
) -> Exemption:
    """Turn domain rules into what the search asks for: one rule that applies is enough.

    ``thresholds`` says in how many combinations of any size each column is; rules with thresholds need it.
    """
    frequent: set[int] = set()
    sizes: dict[int, list[DomainRule]] = {}
    for rule in rules:
        if not rule.has_threshold:
            sizes.setdefault(rule.number, []).append(rule)
            continue
        assert thresholds is not None
        for column, name in enumerate(columns):
            if rule.concerns(name) and rule.exceeded_by(thresholds.appearances[column]):
                frequent.add(column)

    def lets_pass(found: tuple[int, ...]) -> bool:
        return any(rule.concerns(columns[column]) for rule in sizes.get(len(found), ()) for column in found)

    return Exemption(frozenset(frequent), lets_pass)

"""Coarsening step by step until no risky combination is left, with a log of every step and undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.words import counted

from .filters import Coarsening, next_coarsening
from .found import Found, Level, Search, occurrences, rows_of
from .mining import Exempt, mine
from .rules import ALL, DomainRule, FilterRule, same_name
from .table import Table

GENTLE = "gentle"
STRATEGIES = {
    GENTLE: "Suppresses few records or groups values, one change a step; empties a column only if nothing else helps.",
    "cover": "Coarsens a smallest set of columns that hits every risky combination.",
    "paper": "Coarsens every column that occurs in a risky combination.",
}


@dataclass(frozen=True)
class Plan:
    """What is wanted: k, the rules, the strategy, and the share of records that may be suppressed instead."""

    k: int
    strategy: str = GENTLE
    domain_rules: tuple[DomainRule, ...] = ()
    filter_rules: tuple[FilterRule, ...] = ()
    suppression_share: float = 0.0


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
    reference: Table | None = None
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
    def of(cls, plan: Plan, table: Table, reference: Table | None = None) -> Coarsener:
        """A coarsener that has done nothing yet; with fewer than k records in all, no coarsening could help."""
        if table.records < plan.k:
            message = f"The file has only {counted(table.records, 'record')}, fewer than k = {plan.k}."
            raise InputError(Finding("too-few-records", message, "Choose a smaller k or a larger file."))
        return cls(plan, State(table, reference, (0,) * len(table.columns)))

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
        return mine(
            state.table,
            self.plan.k,
            max_size=max_size,
            first_level_only=first_level_only,
            exempt=exemption(state.table.columns, rules) if rules else None,
            reference=state.reference,
            progress=progress,
        )

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
        left = State(state.table.without(rows), state.reference, state.used, state.suppressed + records)
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
        return next_coarsening(state.table, column, own[state.used[column] :], self.plan.strategy == GENTLE)


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
    reference = state.reference
    if reference is not None and name in reference.columns:
        place = reference.columns.index(name)
        reference = reference.mapped(place, change.applied(reference.values[place]))
    return State(table, reference, tuple(used), state.suppressed)


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


def exemption(columns: Sequence[str], rules: Sequence[DomainRule]) -> Exempt:
    """The domain rules as the search asks for them: one rule that applies is enough."""

    def let_pass(size: int, found: list[Found]) -> list[bool]:
        hits = occurrences(found)
        return [any(applies(rule, one, size, hits[one]) for rule in rules for one in each.columns) for each in found]

    def applies(rule: DomainRule, column: int, size: int, occurs: int) -> bool:
        if rule.feature != ALL and not same_name(rule.feature, columns[column]):
            return False
        kinds = {"candidate": size == rule.number, "greater": occurs > rule.number, "less": occurs < rule.number}
        return kinds[rule.type]

    return let_pass

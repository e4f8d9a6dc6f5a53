"""Recode step by step until no risky combination is left, with a log of every step and undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.text import format_count

from .distinct_rows import DistinctRows
from .recoding import Recoding, RecodingDefaults, choose_recoding
from .results import (
    SearchLevel,
    SearchResult,
    ThresholdCount,
    UniqueCombinations,
    count_column_occurrences,
    mark_covered_rows,
)
from .rules import DomainRule, FilterRule, is_same_column
from .search import Exemption, SearchLimits, find_minimal_uniques

GENTLE = "gentle"
STRATEGIES = {
    GENTLE: "Suppresses few records or groups values, one change a step; empties a column only if nothing else helps.",
    "cover": "Coarsens a smallest set of columns that hits every risky combination.",
    "paper": "Coarsens every column that occurs in a risky combination.",
}


EMPTY_NUMBERS = "null"
PAIR_NUMBERS = "pairs"
NUMBER_RECODINGS = {
    EMPTY_NUMBERS: "A column of numbers without a rule is emptied, as in the source.",
    PAIR_NUMBERS: "Neighbouring numbers of a column without a rule are joined in pairs.",
}
TRIM_DIVISOR = 3
"""Divisor of the shortest text's length that gives the characters cut off: source 003, section IV-4."""


def choose_number_recoding(strategy: str) -> str:
    """Choose the recoding of numbers without a rule: emptied with the strategy of the source, else paired."""
    return EMPTY_NUMBERS if strategy == "paper" else PAIR_NUMBERS


@dataclass(frozen=True)
class RecodingPlan:
    """Settings of a recoding: k, the rules, the strategy, and the share of records that may be suppressed instead.

    Without a rule, texts lose the length of the shortest one divided by ``trim_divisor``; ``numbers`` is one of
    `NUMBER_RECODINGS`, None for the default of the strategy.
    """

    k: int
    strategy: str = GENTLE
    domain_rules: tuple[DomainRule, ...] = ()
    filter_rules: tuple[FilterRule, ...] = ()
    suppression_share: float = 0.0
    trim_divisor: int = TRIM_DIVISOR
    numbers: str | None = None

    @property
    def defaults(self) -> RecodingDefaults:
        """Recoding of columns without a rule."""
        numbers = self.numbers or choose_number_recoding(self.strategy)
        return RecodingDefaults(
            self.trim_divisor, numbers == EMPTY_NUMBERS, join_rare=self.strategy == GENTLE
        )


@dataclass(frozen=True)
class RecodingChange:
    """One entry of the log: a column recoded (``values_before`` → ``values_after``) or records suppressed."""

    column: str | None
    description: str
    values_before: int = 0
    values_after: int = 0
    records: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the change as plain JSON data."""
        return {
            "column": self.column,
            "what": self.description,
            "values_before": self.values_before,
            "values_after": self.values_after,
            "suppressed_records": self.records,
        }


@dataclass(frozen=True, eq=False)
class RecodingState:
    """Table after some steps; ``used`` counts the filter rules of each column that are used up."""

    table: DistinctRows
    references: tuple[DistinctRows, ...] = ()
    used: tuple[int, ...] = ()
    suppressed: int = 0


@dataclass(frozen=True, eq=False)
class RecodingStep:
    """One iteration: the size of the risky combinations, their number, and the changes."""

    size: int
    combinations: int
    exempted: int
    changes: tuple[RecodingChange, ...]
    state: RecodingState


@dataclass
class RecodingSession:
    """History of states: `step` adds one, `without_last_step` undoes it."""

    plan: RecodingPlan
    start: RecodingState
    steps: list[RecodingStep] = field(default_factory=list)
    done: bool = False
    exempted: int = 0

    @classmethod
    def create(
        cls, plan: RecodingPlan, table: DistinctRows, references: Sequence[DistinctRows] = ()
    ) -> RecodingSession:
        """Start a session. Raises `InputError` if the file has fewer than k records: no recoding could help."""
        if table.records < plan.k:
            message = (
                f"The file has only {format_count(table.records, 'record')}, fewer than k = {plan.k}."
            )
            raise InputError(Finding("too-few-records", message, "Choose a smaller k or a larger file."))
        return cls(plan, RecodingState(table, tuple(references), (0,) * len(table.columns)))

    @property
    def state(self) -> RecodingState:
        """Current state."""
        return self.steps[-1].state if self.steps else self.start

    def without_last_step(self) -> RecodingSession:
        """Return the session without its last step."""
        return replace(self, steps=self.steps[:-1], done=False)

    def run(self, progress: Progress = NO_PROGRESS) -> None:
        """Step until nothing risky is left. Every step merges values, empties a column or suppresses records."""
        while self.step(progress):
            pass

    def step(self, progress: Progress = NO_PROGRESS, search: SearchResult | None = None) -> bool:
        """Make one iteration; return False if nothing risky was left. ``search``: result for this state, if known."""
        state = self.state
        search = search or self.search(progress)
        level = next((level for level in search.levels if level.number), None)
        has_given_up = level is None and not search.complete
        if has_given_up:
            level = self._find_rare_rows(state.table)
        # A search of all sizes may have been passed in: exemptions of larger ones are not part of this step.
        searched = [other for other in search.levels if level is None or other.size <= level.size]
        self.exempted = sum(other.number_exempted for other in searched)
        if level is None:
            self.done = True
            return False
        if self.plan.strategy == GENTLE:
            state, changes = self._change_gently(state, level)
        else:
            columns = (
                [_find_widest(state.table)]
                if has_given_up
                else choose_columns(level, self.plan.strategy)
            )
            state, changes = self._recode(state, level, columns)
        self.steps.append(RecodingStep(level.size, level.number, self.exempted, tuple(changes), state))
        return True

    def search(
        self, progress: Progress, max_size: int | None = None, first_level_only: bool = True
    ) -> SearchResult:
        """Find the minimal risky combinations that no domain rule exempts: of the first size that has any, or all."""
        state = self.state
        rules = self.plan.domain_rules
        thresholds = None
        if any(rule.has_threshold for rule in rules):
            thresholds = self._count_appearances(progress, max_size)
        search = find_minimal_uniques(
            state.table,
            self.plan.k,
            limits=SearchLimits(max_size),
            first_level_only=first_level_only,
            exempt=build_exemption(state.table.columns, rules, thresholds) if rules else None,
            references=state.references,
            progress=progress,
        )
        search.thresholds = thresholds
        return search

    def _count_appearances(self, progress: Progress, max_size: int | None) -> ThresholdCount:
        """Count the combinations of each column; thresholds need all sizes, so this is another complete search."""
        state = self.state
        result = find_minimal_uniques(
            state.table,
            self.plan.k,
            limits=SearchLimits(max_size),
            references=state.references,
            progress=progress,
        )
        appearances = count_column_occurrences(result.column_sets)
        return ThresholdCount(appearances, None if result.complete else len(result.levels))

    def _find_rare_rows(self, table: DistinctRows) -> SearchLevel | None:
        """Find the rows of fewer than k records, as combinations of all columns; None if there are none.

        They stand in where there are too many sets of columns to search, so that the recoding goes on.
        """
        rows = np.flatnonzero(table.weights < self.plan.k).astype(np.int32)
        if not rows.size:
            return None
        columns = tuple(range(len(table.columns)))
        return SearchLevel(
            len(columns), (UniqueCombinations.from_counts(columns, rows, table.weights[rows]),)
        )

    def _suppress(
        self, state: RecodingState, rows: NDArray[np.bool_]
    ) -> tuple[RecodingState, list[RecodingChange]] | None:
        """Suppress the records of these rows; None if there are more than the plan allows."""
        budget = int(self.plan.suppression_share * state.table.row_of.size) - state.suppressed
        records = int(state.table.weights[rows].sum())
        if not 0 < records <= budget or state.table.records - records < self.plan.k:
            return None
        left = RecodingState(
            state.table.without_rows(rows), state.references, state.used, state.suppressed + records
        )
        return left, [RecodingChange(None, "records suppressed", records=records)]

    def _change_gently(
        self, state: RecodingState, level: SearchLevel
    ) -> tuple[RecodingState, list[RecodingChange]]:
        """Suppress what is risky if that is little, else group the column in most combinations, else empty it."""
        # What domain rules let pass stays.
        is_risky = (
            _mark_rows_at_risk(state.table, level)
            if self.plan.domain_rules
            else state.table.weights < self.plan.k
        )
        suppressed = self._suppress(state, is_risky)
        if suppressed is not None:
            return suppressed
        occurrences = count_column_occurrences(level.combinations)
        ranked = sorted(
            occurrences,
            key=lambda column: (-occurrences[column], -len(state.table.values[column]), column),
        )
        recodings = [self._choose_recoding(state, column) for column in ranked]
        grouping = [
            recoding
            for recoding in recodings
            if not recoding.empties_column(state.table.values[recoding.column])
        ]
        return _apply_recodings(state, (grouping or recodings)[:1])

    def _recode(
        self, state: RecodingState, level: SearchLevel, columns: list[int]
    ) -> tuple[RecodingState, list[RecodingChange]]:
        """Recode these columns; where that would empty one, suppress the risky records instead if they are few."""
        recodings = [self._choose_recoding(state, column) for column in columns]
        if any(recoding.empties_column(state.table.values[recoding.column]) for recoding in recodings):
            suppressed = self._suppress(state, _mark_rows_at_risk(state.table, level))
            if suppressed is not None:
                return suppressed
        return _apply_recodings(state, recodings)

    def _choose_recoding(self, state: RecodingState, column: int) -> Recoding:
        """Choose the next recoding of a column by its rules that are not used up."""
        name = state.table.columns[column]
        own = [rule for rule in self.plan.filter_rules if is_same_column(rule.feature, name)]
        return choose_recoding(state.table, column, own[state.used[column] :], self.plan.defaults)


def _apply_recodings(
    state: RecodingState, recodings: list[Recoding]
) -> tuple[RecodingState, list[RecodingChange]]:
    """Apply recodings one after another; return the new state and the changes."""
    changes = []
    for recoding in recodings:
        before = len(state.table.values[recoding.column])
        state = _apply_recoding(state, recoding)
        after = len(state.table.values[recoding.column])
        changes.append(
            RecodingChange(state.table.columns[recoding.column], recoding.description, before, after)
        )
    return state, changes


def _find_widest(table: DistinctRows) -> int:
    """Find the column with the most values: recoding it joins the most rows."""
    return max(range(len(table.columns)), key=lambda column: (len(table.values[column]), -column))


def _apply_recoding(state: RecodingState, recoding: Recoding) -> RecodingState:
    """Apply one recoding to the table and to the public tables."""
    name = state.table.columns[recoding.column]
    table = state.table.replace_values(
        recoding.column, recoding.apply(state.table.values[recoding.column])
    )
    used = list(state.used)
    used[recoding.column] += recoding.rules_used
    emptied = recoding.empties_column(state.table.values[recoding.column])
    references = tuple(
        _apply_to_reference(reference, name, recoding, emptied) for reference in state.references
    )
    return RecodingState(table, references, tuple(used), state.suppressed)


def _apply_to_reference(
    reference: DistinctRows, name: str, recoding: Recoding, is_emptied: bool
) -> DistinctRows:
    """Recode a public table in the same way. Nobody can look up an emptied column, so it is left out there."""
    if name not in reference.columns:
        return reference
    column = reference.columns.index(name)
    if is_emptied:
        return reference.without_column(column)
    return reference.replace_values(column, recoding.apply(reference.values[column]))


def _mark_rows_at_risk(table: DistinctRows, level: SearchLevel) -> NDArray[np.bool_]:
    """Mark the distinct rows with a combination of this level."""
    rows = np.zeros(table.rows, bool)
    for combinations in level.combinations:
        rows |= mark_covered_rows(table, combinations)
    return rows


def choose_columns(level: SearchLevel, strategy: str) -> list[int]:
    """Choose the columns to recode: all that occur (``paper``) or, greedily, few that hit every combination
    (``cover``).
    """
    remaining = level.combinations
    if strategy == "paper":
        return sorted(count_column_occurrences(remaining))
    chosen: list[int] = []
    while remaining:
        occurrences = count_column_occurrences(remaining)
        best = max(occurrences, key=lambda column: (occurrences[column], -column))
        chosen.append(best)
        remaining = tuple(combinations for combinations in remaining if best not in combinations.columns)
    return sorted(chosen)


def build_exemption(
    columns: Sequence[str], rules: Sequence[DomainRule], thresholds: ThresholdCount | None = None
) -> Exemption:
    """Build the exemption from domain rules: one rule that applies is enough.

    ``thresholds`` counts the combinations of any size of each column; rules with thresholds need it.
    """
    frequent: set[int] = set()
    sizes: dict[int, list[DomainRule]] = {}
    for rule in rules:
        if not rule.has_threshold:
            sizes.setdefault(rule.number, []).append(rule)
            continue
        assert thresholds is not None
        for column, name in enumerate(columns):
            if rule.concerns(name) and rule.is_exceeded_by(thresholds.appearances[column]):
                frequent.add(column)

    def is_exempt(column_set: tuple[int, ...]) -> bool:
        return any(
            rule.concerns(columns[column])
            for rule in sizes.get(len(column_set), ())
            for column in column_set
        )

    return Exemption(frozenset(frequent), is_exempt)

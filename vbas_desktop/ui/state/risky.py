"""The page "Risky combinations" without Qt: its settings, the list of column sets, and the work between its buttons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from vbas_desktop.analysis.minimal_uniques.distinct_rows import DistinctRows
from vbas_desktop.analysis.minimal_uniques.recoding import TableDetail, measure_detail
from vbas_desktop.analysis.minimal_uniques.recoding_loop import (
    GENTLE,
    TRIM_DIVISOR,
    RecodingPlan,
    RecodingSession,
    RecodingState,
)
from vbas_desktop.analysis.minimal_uniques.results import (
    SearchResult,
    UniqueCombinations,
    count_column_occurrences,
    write_scores,
)
from vbas_desktop.analysis.minimal_uniques.rules import parse_domain_rules, parse_filter_rules
from vbas_desktop.analysis.minimal_uniques.write import RECODED_FILES, write_recoded
from vbas_desktop.app.risky import RiskyRequest, start_recoding
from vbas_desktop.io.output import check_target
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable, with_label
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.writing import RecordWriting

Labels = Mapping[str, Mapping[str, str]]
"""Labels that a codebook gives to values, by column."""

RuleRows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Combination:
    """One risky combination: its columns, its values (for the screen only), and the records that share it."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    records: int

    def __str__(self) -> str:
        return " + ".join(
            f"{name} = {value}" for name, value in zip(self.names, self.values, strict=True)
        )


@dataclass(frozen=True, eq=False)
class ColumnSet(Sequence[Combination]):
    """The risky combinations of one set of columns, the rarest first; each is made when it is asked for."""

    table: DistinctRows
    combinations: UniqueCombinations
    labels: Labels = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.table.columns[column] for column in self.combinations.columns)

    def has_names(self, words: str) -> bool:
        """Tell if every word is in the name of some column; upper and lower case do not matter."""
        names = [name.casefold() for name in self.names]
        return all(any(word in name for name in names) for word in words.casefold().split())

    def __len__(self) -> int:
        return self.combinations.number

    @overload
    def __getitem__(self, position: int) -> Combination: ...

    @overload
    def __getitem__(self, position: slice) -> list[Combination]: ...

    def __getitem__(self, position: int | slice) -> Combination | list[Combination]:
        if isinstance(position, slice):
            return [self[number] for number in range(*position.indices(len(self)))]
        row = self.combinations.rows[position]
        values = [
            self.table.values[column][self.table.codes[column][row]]
            for column in self.combinations.columns
        ]
        pairs = zip(values, self.names, strict=True)
        # Values that were coarsened have no label in the codebook.
        labelled = tuple(with_label(value, self.labels.get(name, {})) for value, name in pairs)
        return Combination(self.names, labelled, int(self.combinations.counts[position]))


@dataclass(frozen=True, eq=False)
class CombinationListing:
    """Result of a search, with the detail that is left of the values of the file."""

    table: DistinctRows
    plan: RecodingPlan
    search: SearchResult
    all_sizes: bool
    labels: Labels = field(default_factory=dict)
    detail: TableDetail = field(default_factory=TableDetail)

    def __len__(self) -> int:
        """Return the number of combinations."""
        return self.search.number

    @cached_property
    def column_sets(self) -> tuple[ColumnSet, ...]:
        """The sets of columns that have risky combinations."""
        return tuple(
            ColumnSet(self.table, combinations, self.labels) for combinations in self.search.column_sets
        )

    @cached_property
    def occurrences(self) -> dict[str, int]:
        """Number of combinations that each column is in."""
        occurrences = count_column_occurrences(self.search.column_sets)
        return {name: occurrences[column] for column, name in enumerate(self.table.columns)}

    @cached_property
    def exposed_records(self) -> int:
        """Number of records in at least one combination."""
        return int(self.table.weights[self.search.scores > 0].sum())

    @cached_property
    def highest_score(self) -> int:
        """Most combinations that a single record is in."""
        return int(self.search.scores.max(initial=0))


@dataclass(frozen=True)
class RiskySetup:
    """Settings of the page. Rules are rows of text as typed; they are parsed when the work begins."""

    records: RecordTable
    columns: tuple[str, ...]
    k: int
    max_size: int | None = None
    strategy: str = GENTLE
    suppression_share: float = 0.0
    domain_rules: RuleRows = ()
    filter_rules: RuleRows = ()
    folder: Path = Path()
    references: tuple[Path, ...] = ()
    trim_divisor: int = TRIM_DIVISOR
    numbers: str | None = None

    def plan(self) -> RecodingPlan:
        """Parse the rules. Raises `InputError` with the rows that cannot be parsed."""
        domain_rules = parse_domain_rules(_number_rows(self.domain_rules), "Domain rules")
        filter_rules = parse_filter_rules(_number_rows(self.filter_rules), "Filter rules", self.folder)
        return RecodingPlan(
            self.k,
            self.strategy,
            domain_rules,
            filter_rules,
            self.suppression_share,
            self.trim_divisor,
            self.numbers,
        )

    @property
    def paths(self) -> list[Path]:
        """Files that are searched."""
        return [Path(self.records.source.path), *self.references]

    def has_same_table(self, other: RiskySetup) -> bool:
        """Tell if both search the same columns of the same files, so that finished steps still hold."""
        return (self.records, self.columns, self.references) == (
            other.records,
            other.columns,
            other.references,
        )

    def has_same_listing(self, other: RiskySetup) -> bool:
        """Tell if a search lists the same combinations; how they are coarsened does not matter."""
        mine = (self.k, self.max_size, self.domain_rules)
        return self.has_same_table(other) and mine == (other.k, other.max_size, other.domain_rules)


def _number_rows(rows: RuleRows) -> list[tuple[int, list[str]]]:
    """Number the rows from 1, and leave out the empty ones."""
    return [(number, [field.strip() for field in row]) for number, row in enumerate(rows, 1) if any(row)]


@dataclass(frozen=True, eq=False)
class RiskyPageState:
    """Progress of the recoding: the session and, for its start and every step, the risky combinations."""

    setup: RiskySetup
    session: RecodingSession
    listings: tuple[CombinationListing, ...]

    @property
    def listing(self) -> CombinationListing:
        """The present risky combinations."""
        return self.listings[-1]

    @property
    def state(self) -> RecodingState:
        """The present table."""
        return self.session.state

    def is_anonymous(self, k: int) -> bool:
        """Tell if every class of the searched columns has k records, also where rules accept fewer."""
        smallest = self.state.table.anonymity
        return smallest is None or smallest >= k

    def explain_missing_anonymity(self) -> str:
        """Explain in a sentence what prevents k-anonymity."""
        exempted = self.listing.search.exempted
        if exempted and not len(self.listing):
            number = format_count(exempted, "risky combination")
            return f"Domain rules let {number} pass: people may be recognised by them."
        return "Risky combinations are left, by which people may be recognised. All steps goes on until there are none."

    @property
    def is_finished(self) -> bool:
        """True if nothing risky is left but what a domain rule accepts."""
        return not len(self.listing) and (self.listing.search.complete or not self.listing.all_sizes)

    def without_last_step(self) -> RiskyPageState:
        """Return the state before the last step."""
        return replace(
            self, session=self.session.without_last_step(), listings=self.listings[:-1] or self.listings
        )


def search(setup: RiskySetup, previous: RiskyPageState | None, progress: Progress) -> RiskyPageState:
    """List all minimal risky combinations of the present table, up to the largest size of the setup."""
    session = _continue_session(setup, previous, progress)
    listing = _list_combinations(setup, session, progress, all_sizes=True)
    earlier = previous.listings[:-1] if previous is not None and session.steps else ()
    return RiskyPageState(setup, session, (*earlier, listing))


def step(setup: RiskySetup, previous: RiskyPageState | None, progress: Progress) -> RiskyPageState:
    """Make one iteration; the table stays if nothing risky is left."""
    session = _continue_session(setup, previous, progress)
    listings = previous.listings if previous is not None and previous.setup.has_same_table(setup) else ()
    if not listings:
        listings = (_list_combinations(setup, session, progress),)
    listing = listings[-1]
    plan = session.plan
    is_current = (listing.plan.k, listing.plan.domain_rules) == (plan.k, plan.domain_rules)
    if listing.search.thresholds is not None and listing.search.thresholds.limitation:
        is_current = (
            False  # a step compares thresholds with the combinations of all sizes, not of a bounded list
        )
    is_smallest_size_known = len(listing) or listing.search.complete
    if session.step(progress, listing.search if is_current and is_smallest_size_known else None):
        return RiskyPageState(setup, session, (*listings, _list_combinations(setup, session, progress)))
    if not is_current:
        listings = (*listings[:-1], _list_combinations(setup, session, progress))
    return RiskyPageState(setup, session, listings)


def run(
    setup: RiskySetup,
    previous: RiskyPageState | None,
    progress: Progress,
    emit_item: Callable[[RiskyPageState], None],
) -> RiskyPageState:
    """Step until nothing risky is left; every step is emitted, so that stopping keeps those already made."""
    state = previous
    while True:
        n_steps = (
            len(state.session.steps) if state is not None and state.setup.has_same_table(setup) else 0
        )
        state = step(setup, state, progress)
        if len(state.session.steps) == n_steps:
            return state
        emit_item(state)


def export(
    state: RiskyPageState, target: Path, writing: RecordWriting, progress: Progress
) -> dict[str, Any]:
    """Write the coarsened file with its log, read back and recounted; return the log."""
    check_target(target, RECODED_FILES, state.setup.paths)
    return write_recoded(state.session, state.setup.records, target, writing, progress)


def save_scores(state: RiskyPageState, target: Path, progress: Progress) -> Path:
    """Write the number of listed combinations that each record is in."""
    check_target(target, inputs=state.setup.paths, replace=True)
    write_scores(target, state.listing.table, state.listing.search, progress)
    return target


def _continue_session(
    setup: RiskySetup, previous: RiskyPageState | None, progress: Progress
) -> RecodingSession:
    """Return the session to go on with: its steps stay while the table is the same, rules and k are those of now."""
    if previous is None or not previous.setup.has_same_table(setup):
        request = RiskyRequest(setup.records, setup.columns, setup.plan(), setup.references)
        return start_recoding(request, progress)
    session = previous.session
    return RecodingSession(
        setup.plan(), session.start, list(session.steps), session.done, session.exempted
    )


def _list_combinations(
    setup: RiskySetup, session: RecodingSession, progress: Progress, all_sizes: bool = False
) -> CombinationListing:
    """List the risky combinations of the smallest size that has any, or of all requested sizes."""
    max_size = setup.max_size if all_sizes else None
    result = session.search(progress, max_size, first_level_only=not all_sizes)
    progress.update("Counting occurrences")
    labels = {
        column.name: column.categories.labels
        for column in setup.records.columns
        if column.categories is not None
    }
    detail = measure_detail(session.start.table, session.state.table)
    listing = CombinationListing(session.state.table, session.plan, result, all_sizes, labels, detail)
    # The thread that searches computes what the window shows at once.
    _ = (listing.column_sets, listing.occurrences, listing.exposed_records, listing.highest_score)
    return listing

"""The work behind the page "Risky combinations": frozen settings in; listings, filtered without copying, out. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.assessment.risky.detail import Detail, measure_detail
from vbas_desktop.assessment.risky.found import Found, Search, occurrences, write_scores
from vbas_desktop.assessment.risky.loop import GENTLE, TRIM_DIVISOR, Coarsener, Plan, State
from vbas_desktop.assessment.risky.output import COARSENED, write_coarsened
from vbas_desktop.assessment.risky.rules import domain_rules_of, filter_rules_of
from vbas_desktop.assessment.risky.table import Table
from vbas_desktop.io.output import check_target
from vbas_desktop.jobs.risky import RiskyJob
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable, with_label
from vbas_desktop.model.words import counted
from vbas_desktop.settings.writing import Writing

Labels = Mapping[str, Mapping[str, str]]
"""What a codebook calls the values, by column."""

RuleRows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Combination:
    """One risky combination: its columns, a distinct row of the table that shows it, the records that share it.

    It is number ``place`` of the ``alike`` combinations of these columns, which differ in their values.
    """

    table: Table
    columns: tuple[int, ...]
    row: int
    count: int
    labels: Labels = field(default_factory=dict)
    place: int = 1
    alike: int = 1

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
    """What a search found. Combinations of the same columns and count are one run, so that only runs need sorting.

    ``detail`` says how much is left of the values of the file.
    """

    table: Table
    plan: Plan
    search: Search
    all_sizes: bool
    labels: Labels = field(default_factory=dict)
    detail: Detail = field(default_factory=Detail)

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
        hits = occurrences(self.found)
        return np.array([hits[column] for column in range(len(self.table.columns))], np.int64)

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
        inner = first + place - (int(self._ends[number]) - size)
        row, alike = int(found.rows[inner]), len(found.rows)
        return Combination(self.listing.table, found.columns, row, count, self.listing.labels, inner + 1, alike)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that occur, in the order of the table."""
        sets = {self.listing.found[place].columns for place in np.unique(self.listing.runs[self.runs, 0])}
        return tuple(self.listing.table.columns[column] for column in sorted(set().union(*sets)))


@dataclass(frozen=True)
class RiskySetup:
    """Everything that is chosen on the page. Rules are rows of text as typed; they are read when the work begins."""

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

    def plan(self) -> Plan:
        """The rules read; `InputError` names the rows that cannot be."""
        domain = domain_rules_of(_numbered(self.domain_rules), "Domain rules")
        filters = filter_rules_of(_numbered(self.filter_rules), "Filter rules", self.folder)
        return Plan(self.k, self.strategy, domain, filters, self.suppression_share, self.trim_divisor, self.numbers)

    @property
    def paths(self) -> list[Path]:
        """List the files that are searched."""
        return [Path(self.records.source.path), *self.references]

    def same_table(self, other: RiskySetup) -> bool:
        """Whether both search the same columns of the same files: then steps already made still hold."""
        return (self.records, self.columns, self.references) == (other.records, other.columns, other.references)


def _numbered(rows: RuleRows) -> list[tuple[int, list[str]]]:
    return [(number, [field.strip() for field in row]) for number, row in enumerate(rows, 1) if any(row)]


@dataclass(frozen=True, eq=False)
class Work:
    """Where the coarsening stands: the history and, for its start and every step, what is risky there."""

    setup: RiskySetup
    coarsener: Coarsener
    listings: tuple[Listing, ...]

    @property
    def listing(self) -> Listing:
        """What is risky now."""
        return self.listings[-1]

    @property
    def state(self) -> State:
        """The table now."""
        return self.coarsener.state

    def is_anonymous(self, k: int) -> bool:
        """Whether every class of the searched columns has k records, whatever rules let pass."""
        smallest = self.state.table.anonymity
        return smallest is None or smallest >= k

    def why_not_anonymous(self) -> str:
        """What stands in the way of k, in a sentence."""
        passed = self.listing.search.exempted
        if passed and not len(self.listing):
            return f"Domain rules let {counted(passed, 'risky combination')} pass: people may be recognised by them."
        return "Risky combinations are left, by which people may be recognised. Run goes on until there are none."

    @property
    def finished(self) -> bool:
        """Whether nothing risky is left that no domain rule lets pass."""
        return not len(self.listing) and (self.listing.search.complete or not self.listing.all_sizes)

    def undone(self) -> Work:
        """The work without its last step."""
        return replace(self, coarsener=self.coarsener.undone(), listings=self.listings[:-1] or self.listings)


def search(setup: RiskySetup, work: Work | None, progress: Progress) -> Work:
    """List all minimal risky combinations of the state in force, up to the largest size that is wanted."""
    coarsener = _history(setup, work, progress)
    listing = _listed(setup, coarsener, progress, all_sizes=True)
    before = work.listings[:-1] if work is not None and coarsener.steps else ()
    return Work(setup, coarsener, (*before, listing))


def step(setup: RiskySetup, work: Work | None, progress: Progress) -> Work:
    """One iteration; the work as it was if nothing risky is left."""
    coarsener = _history(setup, work, progress)
    known = work.listings if work is not None and work.setup.same_table(setup) else ()
    if not known:
        known = (_listed(setup, coarsener, progress),)
    listing, plan = known[-1], coarsener.plan
    fits = (listing.plan.k, listing.plan.domain_rules) == (plan.k, plan.domain_rules)
    if listing.search.thresholds is not None and listing.search.thresholds.limitation:
        fits = False  # a step compares thresholds with the combinations of all sizes, not of a bounded list
    first_is_known = len(listing) or listing.search.complete
    if coarsener.step(progress, listing.search if fits and first_is_known else None):
        return Work(setup, coarsener, (*known, _listed(setup, coarsener, progress)))
    return Work(setup, coarsener, known if fits else (*known[:-1], _listed(setup, coarsener, progress)))


def run(setup: RiskySetup, work: Work | None, progress: Progress, hand_out: Callable[[Work], None]) -> Work:
    """Step until nothing is left; every step is handed out, so that stopping keeps those already made."""
    while True:
        before = len(work.coarsener.steps) if work is not None and work.setup.same_table(setup) else 0
        work = step(setup, work, progress)
        if len(work.coarsener.steps) == before:
            return work
        hand_out(work)


def export(work: Work, target: Path, form: Writing, progress: Progress) -> dict[str, Any]:
    """Write the coarsened file with its log, read back and recounted."""
    check_target(target, COARSENED, work.setup.paths)
    return write_coarsened(work.coarsener, work.setup.records, target, form, progress)


def save_scores(work: Work, target: Path, progress: Progress) -> Path:
    """Write in how many of the listed combinations each record is."""
    check_target(target, inputs=work.setup.paths, replace=True)
    write_scores(target, work.listing.table, work.listing.search, progress)
    return target


def _history(setup: RiskySetup, work: Work | None, progress: Progress) -> Coarsener:
    """The history to go on with: steps stay as long as the table is the same, rules and k are those of now."""
    if work is None or not work.setup.same_table(setup):
        return RiskyJob(setup.records, setup.columns, setup.plan(), setup.references).execute(progress)
    old = work.coarsener
    return Coarsener(setup.plan(), old.start, list(old.steps), old.done, old.exempted)


def _listed(setup: RiskySetup, coarsener: Coarsener, progress: Progress, all_sizes: bool = False) -> Listing:
    """What is risky of the first size that has anything, or of all sizes that are wanted."""
    found = coarsener.search(progress, setup.max_size if all_sizes else None, first_level_only=not all_sizes)
    progress.update("Counting occurrences")
    labels = {each.name: each.categories.labels for each in setup.records.columns if each.categories is not None}
    detail = measure_detail(coarsener.start.table, coarsener.state.table)
    listing = Listing(coarsener.state.table, coarsener.plan, found, all_sizes, labels, detail)
    _ = listing.occurrences, listing.runs, listing.exposed  # computed here, in the thread that searches
    return listing

"""What the session keeps of its runs: each run once, each solution with a number that is unique in the project; and
whether the choices make a complete run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.engine.dominance import Standing, standings
from vbas_desktop.engine.limits import wrong_limits
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.words import counted
from vbas_desktop.settings.run import COMPONENTS, RunSettings

from .choices import Choices

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable


@dataclass(frozen=True)
class ProblemKey:
    """The choices that decide what is counted. Two runs with the same key rate the same records.

    ``groupings`` lists column, value and group of every category that is taken together with others. ``judged`` are the
    sensitive columns with criteria, ``told`` the others, of which only figures are told: they make no other scenario.
    """

    region_column: str
    quasi_identifiers: tuple[str, ...]
    unknown_regions: str
    k: int
    groupings: tuple[tuple[str, str, str], ...] = ()
    judged: tuple[Sensitive, ...] = ()
    told: tuple[Sensitive, ...] = field(default=(), compare=False)

    @property
    def groups(self) -> dict[str, dict[str, str]]:
        """The groupings as column → value → group."""
        found: dict[str, dict[str, str]] = {}
        for column, value, group in self.groupings:
            found.setdefault(column, {})[value] = group
        return found

    @property
    def names_in_words(self) -> str:
        """The quasi-identifiers as people read them."""
        grouped = self.groups
        return ", ".join(f"{name} (grouped)" if name in grouped else name for name in self.quasi_identifiers)

    @property
    def in_words(self) -> str:
        """The scenario in a few words."""
        criteria = [f"{each.column} {one.text}" for each in self.judged for one in each.criteria]
        return f"k = {self.k:,}: {self.names_in_words}" + (f"; {', '.join(criteria)}" if criteria else "")

    @property
    def sensitive(self) -> tuple[Sensitive, ...]:
        """All sensitive columns."""
        return (*self.judged, *self.told)

    def same_counts(self, other: ProblemKey) -> bool:
        """Whether the counts are the same too, whatever k is: then nothing has to be counted again."""
        return replace(self, k=other.k) == other and self.told == other.told


def split_sensitive(columns: Sequence[Sensitive]) -> tuple[tuple[Sensitive, ...], tuple[Sensitive, ...]]:
    """The sensitive columns as a `ProblemKey` lists them: those with criteria, and the others."""
    return tuple(each for each in columns if each.criteria), tuple(each for each in columns if not each.criteria)


def grouping_entries(groupings: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, str, str], ...]:
    """Groups as a `ProblemKey` lists them: in the order of the columns, values in code-point order."""
    return tuple(
        (column, value, group) for column, groups in groupings.items() for value, group in sorted(groups.items())
    )


@dataclass(frozen=True, eq=False)
class Run:
    """One run as the session remembers it.

    ``problem`` is None in a reopened project until its files are counted again. ``outdated``: the files changed since,
    so the solutions can be looked at but not released. ``result`` is None while the run is under way, and stays None if
    it was stopped.
    """

    id: int
    title: str
    key: ProblemKey
    choices: Choices
    problem: Problem | None = None
    result: RunResult | None = None
    outdated: bool = False
    records_sha256: str | None = None
    region_ids_sha256: str = ""

    @property
    def settings(self) -> RunSettings:
        """The settings of the run, to repeat it by."""
        key = self.key
        return replace(
            self.choices.settings(key.quasi_identifiers),
            region_column=key.region_column,
            unknown_regions=key.unknown_regions,
            k=key.k,
            groupings=key.groups,
            sensitive=tuple(each.column for each in key.sensitive),
            benign={each.column: each.benign for each in key.sensitive if each.benign},
            criteria=tuple(one for each in key.sensitive for one in each.criteria),
        )


@dataclass(frozen=True, eq=False)
class Entry:
    """One solution in the list of all results. ``number`` names it in the window and in the project file."""

    number: int
    run: Run
    solution: Solution
    pinned: bool = False

    @property
    def problem(self) -> Problem | None:
        """The problem that the solution solves, once it is counted."""
        return self.run.problem

    @property
    def title(self) -> str:
        """How the solution is called in one line."""
        since = " (files changed since)" if self.run.outdated else ""
        sites = counted(self.solution.site_count, "site")
        return f"{self.number}: {self.run.title}, {sites}, k = {self.run.key.k:,}{since}"


def why_not_comparable(one: Entry, other: Entry) -> str:
    """What keeps two solutions from being judged against each other, as a sentence; empty if nothing does."""
    mine, theirs = one.run.key, other.run.key
    found = []
    if mine.k != theirs.k:
        found.append(f"another k ({mine.k:,} and {theirs.k:,})")
    if (mine.quasi_identifiers, mine.groupings) != (theirs.quasi_identifiers, theirs.groupings):
        found.append(f"other quasi-identifiers ({mine.names_in_words} and {theirs.names_in_words})")
    same_files = one.run.outdated == other.run.outdated and one.run.records_sha256 == other.run.records_sha256
    if mine.judged != theirs.judged:
        found.append("other criteria for sensitive values")
    if mine.region_column != theirs.region_column or mine.unknown_regions != theirs.unknown_regions or not same_files:
        found.append("other records")
    return f"Not comparable: {', '.join(found)}." if found else ""


@dataclass(frozen=True)
class Marks(Standing):
    """What is true of one listed solution among those of its scenario; ``same_as``: the number of one listed before."""

    pareto: bool = False

    @property
    def in_words(self) -> str:
        """What stands behind the title of a solution that is drawn."""
        words = [word for word in ("recommended", "knee") if getattr(self, word)]
        return "".join(f" · {word}" for word in words)


def marks_of(entries: Sequence[Entry], measures: Sequence[str], allowed_percent: float) -> dict[int, Marks]:
    """The marks of all solutions by number; scenarios (records, columns, groups, k) are never mixed."""
    marks: dict[int, Marks] = {}
    for group in by_scenario(entries):
        found = standings([entry.solution for entry in group], measures, allowed_percent)
        for entry, at in zip(group, found, strict=True):
            same = None if at.same_as is None else group[at.same_as].number
            marks[entry.number] = Marks(at.pareto, at.recommended, at.knee, same)
    return marks


def by_scenario(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Solutions are comparable if they rate the same records with the same k."""
    groups: dict[tuple[ProblemKey, bool], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.run.key, entry.run.outdated), []).append(entry)
    return list(groups.values())


def key_of(choices: Choices) -> ProblemKey | None:
    """What the choices count; None while the region column or the quasi-identifiers are missing."""
    if choices.region_column is None or not choices.quasi_identifiers:
        return None
    groups = grouping_entries(choices.groupings_of(choices.quasi_identifiers))
    columns = choices.region_column, choices.quasi_identifiers
    return ProblemKey(*columns, choices.unknown_regions, choices.k, groups, *split_sensitive(choices.sensitive_columns))


def why_not_k(table: RecordTable | None, k: int) -> str | None:
    """Why nothing can be released with this k; None if something might be, or no records are loaded."""
    if table is None or k <= table.rows:
        return None
    return f"k is above the number of records ({table.rows:,}): nothing could be released. Choose a smaller k."


def why_not(table: RecordTable | None, regions: Regions | None, choices: Choices) -> str | None:
    """The first reason against running, as a sentence that says what to do."""
    if table is None or regions is None:
        return "Open a record file and a region file first."
    if choices.region_column is None:
        return "Say which column names the region: give it the role “region”."
    if not choices.quasi_identifiers:
        return "Choose at least one quasi-identifier."
    too_high = why_not_k(table, choices.k)
    if too_high is not None:
        return too_high
    too_many = [name for name in choices.quasi_identifiers if not table.facts(name).categorical]
    if too_many:
        return f"“{too_many[0]}” has too many different values for a quasi-identifier. Give it another role."
    for wrong in wrong_limits(choices.limiting, regions):
        return f"{wrong.message} {wrong.remedy}"
    for each in choices.sensitive_columns:
        if each.criteria and not table.facts(each.column).categorical:
            return f"“{each.column}” has too many different values for a criterion. Remove the criterion."
    for component in COMPONENTS:
        name = choices.approaches[component]
        if name not in approaches(component):
            return f"The approach “{name}” is not installed here. Choose another one."
        try:
            choices.make(component)
        except InputError as error:
            return error.findings[0].message
    return None

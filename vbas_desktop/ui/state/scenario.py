"""What the state keeps of its runs: each run once, each solution with a number that is unique in the project; and
whether the choices make a complete run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.engine.constraints import check_constraints
from vbas_desktop.engine.dominance import SolutionRank, rank_solutions
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.run import COMPONENTS, RunSettings

from .choices import Choices

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable


@dataclass(frozen=True)
class Scenario:
    """The choices that decide what is counted. Two runs with the same key rate the same records.

    ``groupings`` lists column, value and group of every category that is taken together with others. ``judged`` are the
    sensitive columns with criteria, ``told`` the others, of which only figures are told: they make no other scenario.
    """

    region_column: str
    quasi_identifiers: tuple[str, ...]
    unknown_regions: str
    k: int
    groupings: tuple[tuple[str, str, str], ...] = ()
    judged: tuple[SensitiveColumn, ...] = ()
    told: tuple[SensitiveColumn, ...] = field(default=(), compare=False)

    @property
    def groups(self) -> dict[str, dict[str, str]]:
        """The groupings as column → value → group."""
        groups_by_column: dict[str, dict[str, str]] = {}
        for column, value, group in self.groupings:
            groups_by_column.setdefault(column, {})[value] = group
        return groups_by_column

    @property
    def names_in_words(self) -> str:
        """The quasi-identifiers as people read them."""
        grouped = self.groups
        return ", ".join(
            f"{name} (grouped)" if name in grouped else name for name in self.quasi_identifiers
        )

    @property
    def in_words(self) -> str:
        """The scenario in a few words."""
        criteria = [
            f"{column.column} {criterion.text}"
            for column in self.judged
            for criterion in column.criteria
        ]
        return f"k = {self.k:,}: {self.names_in_words}" + (
            f"; {', '.join(criteria)}" if criteria else ""
        )

    @property
    def sensitive(self) -> tuple[SensitiveColumn, ...]:
        """All sensitive columns."""
        return (*self.judged, *self.told)

    def same_counts(self, other: Scenario) -> bool:
        """Say if the counts are equal whatever k is, so that nothing has to be counted again."""
        return replace(self, k=other.k) == other and self.told == other.told


def split_sensitive(
    columns: Sequence[SensitiveColumn],
) -> tuple[tuple[SensitiveColumn, ...], tuple[SensitiveColumn, ...]]:
    """Split the sensitive columns as a `Scenario` lists them: those with criteria, and the others."""
    return tuple(column for column in columns if column.criteria), tuple(
        other for other in columns if not other.criteria
    )


def grouping_entries(groupings: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, str, str], ...]:
    """Groups as a `Scenario` lists them: in the order of the columns, values in code-point order."""
    return tuple(
        (column, value, group)
        for column, groups in groupings.items()
        for value, group in sorted(groups.items())
    )


@dataclass(frozen=True, eq=False)
class RunEntry:
    """One run as the state remembers it.

    ``problem`` is None in a reopened project until its files are counted again. ``outdated``: the files changed since,
    so the solutions can be looked at but not released. ``result`` is None while the run is under way, and stays None if
    it was stopped.
    """

    id: int
    title: str
    key: Scenario
    choices: Choices
    problem: Problem | None = None
    result: RunResult | None = None
    outdated: bool = False
    records_sha256: str | None = None
    region_ids_sha256: str = ""

    @property
    def group_title(self) -> str:
        """The title of the solutions that can be compared with those of the run."""
        return f"{self.key.in_words}; files changed since" if self.outdated else self.key.in_words

    @property
    def settings(self) -> RunSettings:
        """The settings of the run, to repeat it by."""
        key = self.key
        return self.choices.settings(key.quasi_identifiers).replaced(
            region_column=key.region_column,
            unknown_regions=key.unknown_regions,
            k=key.k,
            groupings=key.groups,
            sensitive=tuple(column.column for column in key.sensitive),
            benign={column.column: column.benign for column in key.sensitive if column.benign},
            criteria=tuple(criterion for column in key.sensitive for criterion in column.criteria),
        )


@dataclass(frozen=True, eq=False)
class ResultRow:
    """One solution in the list of all results. ``number`` names it in the window and in the project file."""

    number: int
    run: RunEntry
    solution: Solution
    pinned: bool = False

    @property
    def problem(self) -> Problem | None:
        """The problem that the solution solves, once it is counted."""
        return self.run.problem

    @property
    def title(self) -> str:
        """Return the title of the solution in one line."""
        since = " (files changed since)" if self.run.outdated else ""
        sites = format_count(self.solution.site_count, "site")
        return f"#{self.number:,}: {self.run.title}, {sites}, k = {self.run.key.k:,}{since}"


def reason_not_comparable(entry: ResultRow, other: ResultRow) -> str:
    """Explain why two solutions cannot be compared; empty if they can."""
    mine = entry.run.key
    theirs = other.run.key
    differences = []
    if mine.k != theirs.k:
        differences.append(f"another k ({mine.k:,} and {theirs.k:,})")
    if (mine.quasi_identifiers, mine.groupings) != (theirs.quasi_identifiers, theirs.groupings):
        differences.append(
            f"other quasi-identifiers ({mine.names_in_words} and {theirs.names_in_words})"
        )
    same_files = (
        entry.run.outdated == other.run.outdated and entry.run.records_sha256 == other.run.records_sha256
    )
    if mine.judged != theirs.judged:
        differences.append("other criteria for sensitive values")
    if (
        mine.region_column != theirs.region_column
        or mine.unknown_regions != theirs.unknown_regions
        or not same_files
    ):
        differences.append("other records")
    return f"Not comparable: {', '.join(differences)}." if differences else ""


@dataclass(frozen=True)
class RowRanks(SolutionRank):
    """Rank of a listed solution within its scenario; ``same_as`` is the number of an equal one listed before."""

    pareto: bool = False

    @property
    def in_words(self) -> str:
        """Return the suffix of a solution's title in drawings."""
        words = [word for word in ("recommended", "knee") if getattr(self, word)]
        return "".join(f" · {word}" for word in words)


def rank_rows(
    entries: Sequence[ResultRow], measures: Sequence[str], allowed_percent: float
) -> dict[int, RowRanks]:
    """Rank all solutions, by number; scenarios (records, columns, groups, k) are never mixed."""
    marks: dict[int, RowRanks] = {}
    for group in by_scenario(entries):
        ranks = rank_solutions([entry.solution for entry in group], measures, allowed_percent)
        for entry, at in zip(group, ranks, strict=True):
            same = None if at.same_as is None else group[at.same_as].number
            marks[entry.number] = RowRanks(at.pareto, at.recommended, at.knee, same)
    return marks


def by_scenario(entries: Sequence[ResultRow]) -> list[list[ResultRow]]:
    """Solutions are comparable if they rate the same records with the same k."""
    groups: dict[tuple[Scenario, bool], list[ResultRow]] = {}
    for entry in entries:
        groups.setdefault((entry.run.key, entry.run.outdated), []).append(entry)
    return list(groups.values())


def scenario_of(choices: Choices) -> Scenario | None:
    """Return the scenario of these settings, or None while the region column or the quasi-identifiers are missing."""
    if choices.region_column is None or not choices.quasi_identifiers:
        return None
    groups = grouping_entries(choices.groupings_of(choices.quasi_identifiers))
    columns = choices.region_column, choices.quasi_identifiers
    return Scenario(
        *columns, choices.unknown_regions, choices.k, groups, *split_sensitive(choices.sensitive_columns)
    )


def reason_against_k(table: RecordTable | None, k: int) -> str | None:
    """Why nothing can be released with this k; None if something might be, or no records are loaded."""
    if table is None or k <= table.rows:
        return None
    return f"k is above the number of records ({table.rows:,}): nothing could be released. Choose a smaller k."


FILES_OF_CONSTRUCTIONS = {"obstacles": "obstacles", "coarsen": "coarsen_from"}
"""The reading option with the file that a construction cannot do without."""


def explain_missing_file(choices: Choices, regions: Regions) -> str:
    """Explain that the construction lacks its file; empty if it has it, or needs none."""
    option = FILES_OF_CONSTRUCTIONS.get(choices.approaches["construction"])
    if option is None or _is_read(option, regions):
        return ""
    title = choices.option(option).title.lower()
    if choices.value_of(option):
        return f"The {title} were chosen after the files were read. Read the files again."
    if option == "obstacles":
        return (
            "The construction “Obstacles” needs a file with lakes, coasts or rivers. "
            "Add one, or choose another construction."
        )
    return (
        "The construction “Coarsen” needs the crosswalk of an earlier release. "
        "Choose it, or choose another construction."
    )


def _is_read(option: str, regions: Regions) -> bool:
    return regions.obstacles is not None if option == "obstacles" else regions.earlier is not None


def reason_not_to_run(
    table: RecordTable | None, regions: Regions | None, choices: Choices
) -> str | None:
    """Return the first reason against running, as a sentence that says what to do; None if there is none."""
    if table is None or regions is None:
        return "Open a record file and a region file first."
    if choices.region_column is None:
        return "Choose the region column: give it the role “region”."
    if not choices.quasi_identifiers:
        return "Choose at least one quasi-identifier."
    too_high = reason_against_k(table, choices.k)
    if too_high is not None:
        return too_high
    too_many = [name for name in choices.quasi_identifiers if not table.facts(name).categorical]
    if too_many:
        return f"“{too_many[0]}” has too many different values for a quasi-identifier. Give it another role."
    missing = explain_missing_file(choices, regions)
    if missing:
        return missing
    for wrong in check_constraints(choices.limiting, regions):
        return f"{wrong.message} {wrong.remedy}"
    for column in choices.sensitive_columns:
        if column.criteria and not table.facts(column.column).categorical:
            return (
                f"“{column.column}” has too many different values for a criterion. Remove the criterion."
            )
    for component in COMPONENTS:
        name = choices.approaches[component]
        if name not in list_approaches(component):
            return f"The approach “{name}” is not installed here. Choose another one."
        try:
            choices.create_approach(component)
        except InputError as error:
            return error.findings[0].message
    return None

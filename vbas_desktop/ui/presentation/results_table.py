"""The columns of the results table: what each shows, sorts by and is called. No Qt."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from vbas_desktop.engine.dominance import is_within_loss
from vbas_desktop.engine.figures import (
    SUPPRESSED_SENSITIVE,
    Output,
    SolutionFigure,
    convert_measures,
    list_figures,
    list_representability_figures,
    with_unit,
)
from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.text import format_count, format_within_limit
from vbas_desktop.settings.option import Level

from ..state.choices import approach_title
from ..state.scenario import ResultRow, RowRanks, by_scenario
from .chart_data import SeriesStyle, SolutionRow, series_key
from .tables import UNKNOWN, TableColumn

STAR = "★"
RECOMMENDED = "Recommended"
MEANINGS = (
    f"{STAR} Pareto-optimal: no other solution is as good in all rated measures and better in one. "
    + ("Recommended: the best one within the allowed loss")
)

_HARM = "largest_harmful_share"
"""The measure that is in sight only if criteria are set for sensitive columns."""

_SHOWN_AS = {"suppressed_records": "suppressed_percent"}
"""Rated measures that are shown by another figure."""

_IN_SIGHT = frozenset(
    (
        "aggregated_regions",
        "suppressed_percent",
        "precision_loss",
        "average_distance",
        _HARM,
        "tier_0",
        "tier_1",
    )
)
"""The figures that are shown, besides the rated measures, unless the user chooses others: they say most."""

_BRIEF_TITLES = {
    "aggregated_regions": "Regions",
    "place_information_loss": "Place\nloss",
    "certainty_penalty": "Certainty\npenalty",
    "precision_loss": "Precision\nloss",
    "average_distance": "Distance",
    _HARM: "Harm",
}
"""Headings of figures whose titles are too long for a column."""


@dataclass(frozen=True)
class ResultColumn(TableColumn[ResultRow]):
    """A column of the results.

    unit: of the values. is_rated: the lowest value is the best. hidden: unless it is chosen by hand.
    brief: how it is called over its column, if the title is too long for that.
    """

    side: str = "right"
    unit: str = ""
    is_rated: bool = False
    hidden: bool = False
    brief: str = ""

    @property
    def full_title(self) -> str:
        """The title with its unit, unless it names it."""
        return with_unit(self.title, self.unit)

    @property
    def header(self) -> str:
        """The title in two lines, with the unit unless the title names it."""
        if self.brief:
            separator = ", " if "\n" in self.brief else "\n"
            return f"{self.brief}{separator}{self.unit}" if self.unit else self.brief
        words = self.title.split(" ")
        unit = "" if not self.unit or self.unit in words[-1].lower() else self.unit
        if len(words) == 1:
            return f"{words[0]}\n{unit}" if unit else words[0]
        cut = min(
            range(1, len(words)), key=lambda i: abs(len(" ".join(words[:i])) - len(" ".join(words[i:])))
        )
        return " ".join(words[:cut]) + "\n" + " ".join(words[cut:]) + (f", {unit}" if unit else "")


def approach_of(solution: Solution, component: str) -> str:
    """Name the approach of a component in words; that of locations with the seeding, where there is one."""
    name = solution.approaches.get(component)
    if component != "site_location" or name is None:
        return (
            approach_title(component, name)
            if name
            else "no sites"
            if component == "site_location"
            else ""
        )
    seeding = solution.approaches.get("adc_seeding")
    title = approach_title(component, name)
    return f"{_abbreviate(title)}, {approach_title(component, seeding)}" if seeding else title


def _abbreviate(title: str) -> str:
    """Return the abbreviation that a title ends with: "Anonymity-driven clustering (ADC)" becomes "ADC"."""
    _, bracket, short = title.rstrip(")").rpartition(" (")
    return short if bracket and short.isupper() else title


def short_titles(entries: tuple[ResultRow, ...]) -> list[str]:
    """Return short titles of solutions, made of what tells them apart."""
    differing = list_differing_components([entry.solution for entry in entries])
    return [
        f"#{entry.number:,}: {format_count(entry.solution.site_count, 'site')} · "
        f"{' · '.join(approach_of(entry.solution, name) for name in ('site_location', *differing))}"
        for entry in entries
    ]


def chart_rows(
    solutions: Sequence[tuple[int, Solution]],
    names: Sequence[str],
    system: CoordinateSystem | None,
    ranks: Mapping[int, RowRanks],
    styles: Mapping[Hashable, SeriesStyle],
) -> list[SolutionRow]:
    """Make the rows of charts of numbered solutions: the measures of these names, and the styles of their approaches.

    Approaches are called by the site locations and by the other components in which the solutions differ.
    """
    differing = list_differing_components([solution for _, solution in solutions])
    return [
        SolutionRow(
            number,
            " · ".join(approach_of(solution, component) for component in ("site_location", *differing)),
            solution.site_count,
            convert_measures(solution, names, system),
            ranks.get(number, RowRanks()).pareto,
            label_of(ranks.get(number, RowRanks())),
            styles.get(series_key(solution), SeriesStyle()),
        )
        for number, solution in solutions
    ]


def list_differing_components(solutions: Sequence[Solution]) -> list[str]:
    """List the components, besides the site locations, of which the solutions have several approaches."""
    return [
        component
        for component in ("site_number", "construction", "refinement", "tiers")
        if len({approach_of(solution, component) for solution in solutions}) > 1
    ]


def label_of(ranks: RowRanks) -> str:
    """Return what is written at the mark of a solution."""
    return RECOMMENDED if ranks.recommended else ""


def find_best_values(
    entries: Sequence[ResultRow], columns: Sequence[ResultColumn]
) -> frozenset[tuple[int, str]]:
    """Find the best value of each rated column within each scenario, as solution number and column name."""
    best: set[tuple[int, str]] = set()
    for group in by_scenario(tuple(entries)):
        for column in columns:
            values = (
                [column.value(entry) for entry in group] if column.is_rated and len(group) > 1 else []
            )
            numbers = [value for value in values if value is not None]
            if numbers:
                least = min(numbers)
                best |= {
                    (e.number, column.name) for e, v in zip(group, values, strict=True) if v == least
                }
    return frozenset(best)


def describe_ranks(ranks: RowRanks) -> str:
    """Describe the ranks of a solution in words."""
    words = (("Pareto-optimal", ranks.pareto), ("recommended", ranks.recommended), ("knee", ranks.knee))
    return ", ".join(word for word, is_true in words if is_true)


@dataclass(frozen=True)
class TableSettings:
    """What the columns of the results depend on besides the solutions.

    rated: the measures that decide what is Pareto-optimal; they stand first. allowed_percent: the largest share of
    records that may be suppressed. styles: those of the approaches in the charts.
    shows_research: figures for research have columns, too; without it those that rate have one.
    """

    system: CoordinateSystem | None = None
    rated: tuple[str, ...] = ()
    allowed_percent: float = 100.0
    styles: Mapping[Hashable, SeriesStyle] = field(default_factory=dict)
    shows_research: bool = False

    def shows(self, figure: SolutionFigure) -> bool:
        """Tell whether a figure is shown: those for research only if research is switched on, or if they rate."""
        return figure.level is not Level.RESEARCH or self.shows_research or figure.name in self.rated

    @property
    def rated_columns(self) -> tuple[str, ...]:
        """The names of the columns of the rated measures."""
        return tuple(_SHOWN_AS.get(name, name) for name in self.rated)


def columns_for(
    entries: tuple[ResultRow, ...], marks: Mapping[int, RowRanks], settings: TableSettings
) -> list[ResultColumn]:
    """Make all columns for these solutions: number and rated measures first, best values bold, pinned ones marked."""
    columns = _make_columns(entries, marks, settings)
    best = find_best_values(entries, columns)
    return [
        replace(
            column,
            tip=column.tip or column.title,
            is_bold=partial(_is_best, best, column.name),
            bold_means="best of its scenario",
            row_tip=partial(_describe_cell, column, marks),
        )
        for column in columns
    ]


def style_name(style: SeriesStyle) -> str:
    """Return the name of the icon of a style."""
    return f"series {style.colour} {style.symbol}"


def _is_best(best: frozenset[tuple[int, str]], name: str, entry: ResultRow) -> bool:
    return (entry.number, name) in best


def _name_pin(entry: ResultRow) -> str:
    return "pin" if entry.pinned else ""


def _describe_cell(column: ResultColumn, marks: Mapping[int, RowRanks], entry: ResultRow) -> str:
    more = search_words(entry) if column.name == "site_location" else ""
    equal = [number for number, ranks in marks.items() if ranks.same_as == entry.number]
    if column.name in ("star", "number") and equal:
        more = f"The same partition was found again: {', '.join(f'#{number:,}' for number in equal)}."
    value = f"{column.title}: {column.text(entry)} {column.unit}".rstrip()
    return f"{entry.title}\n{value}\n{more}".rstrip()


def _make_columns(
    entries: tuple[ResultRow, ...], marks: Mapping[int, RowRanks], settings: TableSettings
) -> list[ResultColumn]:
    def ranks_of(entry: ResultRow) -> RowRanks:
        return marks.get(entry.number, RowRanks())

    def rank(entry: ResultRow) -> int:
        ranks = ranks_of(entry)
        return 0 if ranks.recommended else 1 if ranks.pareto else 2

    figures = _figure_columns(entries, settings)
    rated = sorted(
        (column for column in figures if column.name in settings.rated_columns),
        key=lambda column: settings.rated_columns.index(column.name),
    )
    return [
        ResultColumn(
            "number",
            "#",
            lambda entry: entry.number,
            "Number of the solution",
            icon=_name_pin,
            accessible=lambda entry: f"#{entry.number:,}{', pinned' if entry.pinned else ''}",
        ),
        *(replace(column, hidden=False) for column in rated),
        ResultColumn(
            "star",
            STAR,
            rank,
            MEANINGS,
            text_of=lambda entry: STAR if ranks_of(entry).pareto else "",
            side="centre",
            side_of=lambda entry: "left",
            badge=lambda entry: RECOMMENDED if ranks_of(entry).recommended else "",
            accessible=lambda entry: describe_ranks(ranks_of(entry)),
        ),
        *_approach_columns(entries, settings),
        *(column for column in figures if column not in rated),
        ResultColumn("k", "k", lambda entry: entry.run.key.k, "Minimum group size", hidden=True),
        ResultColumn(
            "quasi_identifiers",
            "Quasi-identifiers",
            lambda entry: entry.run.key.names_in_words,
            "Columns that were counted",
            format=str,
            side="left",
            hidden=True,
        ),
        ResultColumn("run", "Run", lambda entry: entry.run.id, "Number of the run", hidden=True),
    ]


def count_frozen(columns: Sequence[ResultColumn]) -> int:
    """Count the first columns that stay in view: number and rated measures."""
    return [column.name for column in columns].index("star")


def _approach_columns(entries: tuple[ResultRow, ...], settings: TableSettings) -> list[ResultColumn]:
    """Make one column per component; those in which all solutions agree are hidden, but for the locations."""
    columns = []
    for component, title in (
        ("site_location", "Locations"),
        ("site_number", "Number"),
        ("construction", "Construction"),
        ("refinement", "Refinement"),
        ("tiers", "Fallback"),
    ):
        words = partial(lambda component, entry: approach_of(entry.solution, component), component)
        alike = len({words(entry) for entry in entries}) < 2 and component != "site_location"
        tip = f"Approach: {component.replace('_', ' ')}"
        # The table has little room: what is in brackets is told by the tip.
        show = _without_brackets if component == "site_number" else str
        icon = partial(_name_style, settings) if component == "site_location" else None
        columns.append(
            ResultColumn(component, title, words, tip, show, side="left", hidden=alike, icon=icon)
        )
    return columns


def _name_style(settings: TableSettings, entry: ResultRow) -> str:
    return style_name(settings.styles.get(series_key(entry.solution), SeriesStyle()))


def _without_brackets(title: str) -> str:
    return title.partition(" (")[0]


def _figure_columns(entries: tuple[ResultRow, ...], settings: TableSettings) -> list[ResultColumn]:
    """Make a column for each figure that some solution has."""
    solutions = [entry.solution for entry in entries]
    has_criteria = any(entry.run.key.judged for entry in entries)
    representability = {figure.name for figure in list_representability_figures(solutions)}
    columns = []
    for figure in list_figures(solutions, Output.WINDOW):
        if figure is SUPPRESSED_SENSITIVE and not has_criteria:
            continue
        if not settings.shows(figure):
            continue
        is_hidden = figure.name not in _IN_SIGHT or (figure.name == _HARM and not has_criteria)
        name = f"place_{figure.name}" if figure.name in representability else figure.name
        columns.append(_figure_column(name, figure, settings, is_hidden))
    return columns


def _figure_column(
    name: str, figure: SolutionFigure, settings: TableSettings, is_hidden: bool
) -> ResultColumn:
    def write(entry: ResultRow) -> str:
        value = figure.read(entry.solution)
        text = UNKNOWN if value is None else figure.format(value, settings.system)
        if name != "suppressed_percent" or value is None:
            return text
        limit = settings.allowed_percent
        return format_within_limit(value, text, limit, is_within_loss(entry.solution, limit))

    return ResultColumn(
        name,
        figure.title,
        lambda entry: figure.read(entry.solution),
        figure.help,
        text_of=write,
        unit=figure.shown_unit(settings.system),
        is_rated=figure.lower_is_better,
        hidden=is_hidden,
        brief=_BRIEF_TITLES.get(figure.name, ""),
    )


def describe_settings(entry: ResultRow) -> str:
    """Describe what a solution was made with: k, quasi-identifiers, criteria, allowed loss and limits."""
    choices = entry.run.choices
    parts = [
        f"#{entry.number:,}",
        entry.run.key.in_words,
        f"at most {choices.allowed_loss_percent:g} % suppressed",
        choices.limits_in_words(),
    ]
    return " · ".join(part for part in parts if part)


def search_words(entry: ResultRow) -> str:
    """Describe the moves of ADC in one line; nothing for other approaches."""
    search = _search_of(entry)
    if not search:
        return ""
    moves = search["moves"]
    tries = search["tries"]
    ends = (search.get(name) for name in ("anonymity_before", "anonymity_after"))
    before, after = ("–" if value is None else f"{value:,}" for value in ends)
    change = f"lowest anonymity {before}" if before == after else f"lowest anonymity {before} → {after}"
    return f"{moves:,} {'move' if moves == 1 else 'moves'} in {tries:,} {'try' if tries == 1 else 'tries'}, {change}"


def _search_of(entry: ResultRow) -> Mapping[str, Any]:
    return entry.solution.diagnostics.get("adc", {})


def table_rows(entries: list[ResultRow], columns: list[ResultColumn], exact: bool) -> list[list[str]]:
    """Header and rows for copying (as shown) or saving (exact values)."""
    head = [column.name if exact else column.full_title for column in columns]
    return [head, *([_cell(column, entry, exact) for column in columns] for entry in entries)]


def _cell(column: ResultColumn, entry: ResultRow, exact: bool) -> str:
    if not exact:
        badge = "" if column.badge is None else column.badge(entry)
        return f"{column.text(entry)} {badge}".strip()
    value = column.value(entry)
    if column.name == "star":
        return "yes" if column.text(entry) == STAR else "no"
    return "" if value is None else str(value)

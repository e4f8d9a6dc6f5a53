"""The columns of the results table: what each shows, sorts by and is called. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.words import counted
from vbas_desktop.session.choices import title_of
from vbas_desktop.session.results import Entry, Marks, by_scenario
from vbas_desktop.ui.numbers import SECONDS, measure_names, measure_of, measure_words, unit_of, value_text

STAR, RECOMMENDED, KNEE = "★", "✔", "◣"
MEANINGS = (
    f"{STAR} no other solution beats it   {RECOMMENDED} recommended: the best within the allowed loss   "
    f"{KNEE} knee: where losing fewer records begins to cost much more of the place"
)


_HARM = "largest_harmful_share"
"""In sight if something is asked of sensitive values."""

_IN_SIGHT = {
    "precision_loss": "Precision\nloss",
    "average_distance": "Distance",
    _HARM: "Harm",
}
"""The measures that are shown unless the user chooses others, and how they are called where there is little room; with
regions and the share suppressed they say most."""


@dataclass(frozen=True)
class Column:
    """One column. ``value`` is sorted by and saved, and shown by ``show`` or else by ``words``; ``best``: the lowest
    value is the best.
    """

    name: str
    title: str
    value: Callable[[Entry], Any]
    tip: str = ""
    unit: str = ""
    show: Callable[[Any], str] = "{:,}".format
    words: Callable[[Entry], str] | None = None
    number: bool = True
    best: bool = False
    hidden: bool = False
    brief: str = ""
    """How it is called over its column, if the title is too long for that."""

    def text(self, entry: Entry) -> str:
        """What is shown of a solution; a dash if it has no such value."""
        if self.words is not None:
            return self.words(entry)
        value = self.value(entry)
        return "–" if value is None else self.show(value)

    @property
    def full_title(self) -> str:
        """The title with its unit, unless it names it."""
        return f"{self.title} ({self.unit})" if self.unit and self.unit not in self.title.lower() else self.title

    @property
    def header(self) -> str:
        """The title in two lines, with the unit unless the title names it."""
        if self.brief:
            return f"{self.brief}\n{self.unit}" if self.unit else self.brief
        words = self.title.split(" ")
        unit = "" if not self.unit or self.unit in words[-1].lower() else self.unit
        if len(words) == 1:
            return f"{words[0]}\n{unit}" if unit else words[0]
        cut = min(range(1, len(words)), key=lambda i: abs(len(" ".join(words[:i])) - len(" ".join(words[i:]))))
        return " ".join(words[:cut]) + "\n" + " ".join(words[cut:]) + (f", {unit}" if unit else "")


def approach_of(solution: Solution, component: str) -> str:
    """The approach of a component in words; that of locations with the seeding, where there is one."""
    name = solution.approaches.get(component)
    if component != "site_location" or name is None:
        return title_of(component, name) if name else "no sites" if component == "site_location" else ""
    seeding = solution.approaches.get("adc_seeding")
    title = title_of(component, name)
    return f"{_abbreviated(title)}, {title_of(component, seeding)}" if seeding else title


def _abbreviated(title: str) -> str:
    """The abbreviation that a title ends with: "Anonymity-driven clustering (ADC)" is called "ADC" beside others."""
    _, bracket, short = title.rstrip(")").rpartition(" (")
    return short if bracket and short.isupper() else title


def short_titles(entries: tuple[Entry, ...]) -> list[str]:
    """What solutions are called where there is little room: by what tells them apart."""
    told = [
        component
        for component in ("site_number", "construction", "refinement", "tiers")
        if len({approach_of(entry.solution, component) for entry in entries}) > 1
    ]
    return [
        f"{entry.number:,}: {counted(entry.solution.site_count, 'site')} · "
        f"{' · '.join(approach_of(entry.solution, name) for name in ('site_location', *told))}"
        for entry in entries
    ]


def measures_of(entries: tuple[Entry, ...]) -> list[str]:
    """The measures that some solution has, in menu order."""
    if not entries:
        return []
    return measure_names([list(entry.solution.measures) for entry in entries])


def best_of(entries: tuple[Entry, ...], columns: list[Column]) -> frozenset[tuple[int, str]]:
    """Which solutions have the best value of which column among those of the same problem."""
    best: set[tuple[int, str]] = set()
    for group in by_scenario(entries):
        for column in columns:
            values = [column.value(entry) for entry in group] if column.best and len(group) > 1 else []
            known = [value for value in values if value is not None]
            if known:
                least = min(known)
                best |= {(e.number, column.name) for e, v in zip(group, values, strict=True) if v == least}
    return frozenset(best)


def signs_of(marks: Marks) -> str:
    """The signs of a solution's marks."""
    signs = ((STAR, marks.pareto), (RECOMMENDED, marks.recommended), (KNEE, marks.knee))
    return "\N{HAIR SPACE}".join(sign for sign, is_true in signs if is_true)


def columns_for(
    entries: tuple[Entry, ...], system: CoordinateSystem | None, marks: Mapping[int, Marks]
) -> list[Column]:
    """All columns for these solutions."""

    def rank(entry: Entry) -> int:
        own = marks.get(entry.number, Marks())
        return 0 if own.recommended else 1 if own.knee else 2 if own.pareto else 3

    def signs(entry: Entry) -> str:
        return signs_of(marks.get(entry.number, Marks()))

    judged = any(entry.run.key.judged for entry in entries)
    one_k = len({entry.run.key.k for entry in entries}) < 2
    one_set = len({entry.run.key.names_in_words for entry in entries}) < 2
    return [
        Column("star", STAR, rank, MEANINGS, words=signs, number=False),
        Column("number", "№", lambda e: e.number, "Number of the solution"),
        Column("k", "k", lambda e: e.run.key.k, "Required anonymity", hidden=one_k),
        Column(
            "quasi_identifiers",
            "Quasi-identifiers",
            lambda e: e.run.key.names_in_words,
            "Columns that were counted",
            show=str,
            number=False,
            hidden=one_set,
        ),
        *_approach_columns(entries),
        Column("sites", "Sites", lambda e: e.solution.site_count, "Sites", hidden=True),
        Column(
            "aggregated_regions",
            "Aggregated regions",
            lambda e: e.solution.aggregated_regions,
            "Aggregated regions: the sites that attract at least one initial region",
            brief="Regions",
        ),
        Column(
            "suppressed_percent",
            "Suppressed",
            lambda e: 100 * e.solution.suppressed_share,
            "Share of all records that are not released",
            "%",
            show="{:,.2f}".format,
            best=True,
        ),
        *(_measure_column(name, system, judged) for name in measures_of(entries)),
        *_tier_columns(entries),
        *_sensitive_columns(entries),
        *_place_columns(entries),
        *_search_columns(entries),
        Column("run", "Run", lambda e: e.run.id, "Number of the run", hidden=True),
    ]


def _approach_columns(entries: tuple[Entry, ...]) -> list[Column]:
    """One column per component; those in which all solutions agree are hidden, but for the locations."""
    columns = []
    for component, title in (
        ("site_location", "Locations"),
        ("site_number", "Number"),
        ("construction", "Construction"),
        ("refinement", "Refinement"),
        ("tiers", "Tiers"),
    ):
        words = partial(lambda component, entry: approach_of(entry.solution, component), component)
        alike = len({words(entry) for entry in entries}) < 2 and component != "site_location"
        tip = f"Approach: {component.replace('_', ' ')}"
        # The table has little room: what is in brackets is told by the tip.
        show = _without_brackets if component == "site_number" else str
        columns.append(Column(component, title, words, tip, show=show, number=False, hidden=alike))
    return columns


def _without_brackets(title: str) -> str:
    return title.partition(" (")[0]


def _tier_columns(entries: tuple[Entry, ...]) -> list[Column]:
    """The share of the released records in each tier, where there are tiers."""
    most = max((len(entry.solution.released_by_tier) for entry in entries), default=0)

    def share(tier: int, entry: Entry) -> float | None:
        by_tier = entry.solution.released_by_tier
        return by_tier[tier] / max(1, sum(by_tier)) if tier < len(by_tier) else None

    return [
        Column(
            f"tier_{tier}",
            f"Tier {tier}",
            partial(share, tier),
            f"Share of the released records with codes of tier {tier}"
            + (": their own aggregated region" if tier == 0 else ""),
            "%",
            show=lambda value: f"{100 * value:.1f}",
            hidden=tier > 1,
        )
        for tier in range(most)
    ]


_SENSITIVE = {
    "largest_share_percent": ("largest share", "Largest share of one harmful value in a released class", "%"),
    "least_distinct": ("fewest values", "Fewest different values in a released class (distinct l-diversity)", ""),
    "least_entropy": ("entropy", "Lowest entropy of a released class, as a number of equally frequent values", ""),
    "largest_closeness": ("closeness", "Largest distance of a released class from all released records", ""),
    "one_value_records": ("given away", "Released records in classes in which all have the same harmful value", ""),
}
_PLACE = {
    "precision": (
        "Detail kept",
        "Precision: 1 if every value and place is as it was, less the more regions are merged",
        "",
    ),
    "jaccard": (
        "Kept together",
        "Jaccard index: share of the pairs of records alike after it that were alike before",
        "",
    ),
    "fowlkes_mallows": ("Fowlkes–Mallows", "Square root of the Jaccard index, as no class is ever split", ""),
    "davies_bouldin": ("Davies–Bouldin", "How wide aggregated regions are against the distance of their middles", ""),
    "mean_distance": (
        "Distance moved",
        "Mean distance of records from their initial region to the records’ centre",
        "distance",
    ),
}
_SEARCH = {
    "moves": ("ADC moves", "Moves of sites that anonymity-driven clustering accepted", ""),
    "tries": ("ADC tries", "Places that anonymity-driven clustering tried for sites", ""),
    "anonymity_before": ("Lowest anonymity before", "Lowest anonymity of a region before the sites were moved", ""),
    "anonymity_after": ("Lowest anonymity after", "Lowest anonymity of a region after the sites were moved", ""),
}

_Facts = Callable[[Entry], Mapping[str, Any]]


def _columns_of(
    facts: _Facts, prefix: str, declared: Mapping[str, tuple[str, str, str]], show: Callable[[Any], str], unit: str = ""
) -> list[Column]:
    """One column, hidden at first, for each of the declared facts (title, tip, unit); ``unit`` is that of distances."""
    return [
        Column(
            f"{prefix}_{name}",
            title,
            lambda entry, name=name: facts(entry).get(name),  # type: ignore[misc]
            tip,
            unit if own == "distance" else own,
            show="{:,.1f}".format if own == "%" else show,
            hidden=True,
        )
        for name, (title, tip, own) in declared.items()
    ]


def _sensitive_columns(entries: tuple[Entry, ...]) -> list[Column]:
    """What released classes tell of each sensitive column, and what was suppressed for it."""
    columns = []
    for name in dict.fromkeys(name for entry in entries for name in entry.solution.sensitive):
        own = {
            figure: (f"{name}: {title}", f"{name}: {tip[0].lower()}{tip[1:]}", unit)
            for figure, (title, tip, unit) in _SENSITIVE.items()
        }
        columns += _columns_of(partial(_sensitive_of, name), f"sensitive_{name}", own, _short)
    if any(entry.run.key.judged for entry in entries):
        tip = "Records of classes with k or more that are suppressed because of their sensitive values"
        lost = "suppressed_sensitive", "Lost for sensitive values"
        columns.append(Column(*lost, lambda e: e.solution.suppressed_sensitive, tip, hidden=True))
    return columns


def _sensitive_of(name: str, entry: Entry) -> Mapping[str, Any]:
    return entry.solution.sensitive.get(name, {})


def _short(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"


def _place_columns(entries: tuple[Entry, ...]) -> list[Column]:
    """How much of the geography each solution keeps, where that was computed."""
    known = [entry.solution.representability for entry in entries]
    if not any(known):
        return []
    unit = next((str(facts["distance_unit"]) for facts in known if "distance_unit" in facts), "")
    facts = attrgetter("solution.representability")
    return _columns_of(facts, "place", _PLACE, _finely, {"degree": "°"}.get(unit, unit))


def _finely(value: float) -> str:
    return f"{value:,.4f}" if value < 10 else f"{value:,.1f}"


def _search_columns(entries: tuple[Entry, ...]) -> list[Column]:
    """How the sites of ADC came to their places."""
    return _columns_of(_search_of, "adc", _SEARCH, "{:,}".format) if any(map(_search_of, entries)) else []


def search_words(entry: Entry) -> str:
    """The moves of ADC in one line; nothing for other approaches."""
    told = _search_of(entry)
    if not told:
        return ""
    moves, tries = told["moves"], told["tries"]
    ends = (told.get(name) for name in ("anonymity_before", "anonymity_after"))
    before, after = ("–" if value is None else f"{value:,}" for value in ends)
    change = f"lowest anonymity {before}" if before == after else f"lowest anonymity {before} → {after}"
    return f"{moves:,} {'move' if moves == 1 else 'moves'} in {tries:,} {'try' if tries == 1 else 'tries'}, {change}"


def _search_of(entry: Entry) -> Mapping[str, Any]:
    return entry.solution.told.get("adc", {})


def _measure_column(name: str, system: CoordinateSystem | None, judged: bool) -> Column:
    words = measure_words(name)
    return Column(
        name,
        words.title,
        lambda entry: measure_of(entry.solution, name),
        words.summary,
        unit_of(words, system),
        show=lambda value: value_text(words, value, system),
        best=name != SECONDS,
        hidden=name not in _IN_SIGHT or (name == _HARM and not judged),
        brief=_IN_SIGHT.get(name, ""),
    )


def table_rows(entries: list[Entry], columns: list[Column], exact: bool) -> list[list[str]]:
    """Header and rows for copying (as shown) or saving (exact values)."""
    head = [column.name if exact else column.full_title for column in columns]
    return [head, *([_cell(column, entry, exact) for column in columns] for entry in entries)]


def _cell(column: Column, entry: Entry, exact: bool) -> str:
    if not exact:
        return column.text(entry)
    value = column.value(entry)
    if column.name == "star":
        return "yes" if STAR in column.text(entry) else "no"
    return "" if value is None else str(value)

"""The figures of a solution, each declared once: name, title, unit, help, value and how it is written.

Whatever shows solutions goes over these lists: results table, charts and map of the window, the table of ``vbas``,
comparison.csv, data frames and reports. The measures among them are declared by their approach modules, so a new
measure appears everywhere by itself; any other figure is one entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from functools import cache, partial
from operator import attrgetter
from typing import Any

from vbas_desktop.approaches.interface import Measure
from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.solution import Solution
from vbas_desktop.settings.option import Level

Value = float | int | None

SECONDS = "seconds"
"""The measure that the engine takes itself: the wall time of the stages, loading apart."""

MISSING = "–"
"""Stands for a value that is undefined."""

_SCALED_UNITS = ("share", "%", "distance", "km", "degree", "unit")
"""Units that a heading in one line needs; counts are understood without theirs."""


class Output(Flag):
    """Outputs in which a figure is shown."""

    WINDOW = auto()
    TERMINAL = auto()
    CSV = auto()
    FRAME = auto()
    EVERYWHERE = WINDOW | TERMINAL | CSV | FRAME


@dataclass(frozen=True)
class SolutionFigure:
    """One figure of a solution.

    name: its column in comparison.csv and data frames. read: gets the value of a solution, None if it is undefined.
    unit: unit of the value; a "share" is shown in percent, a "distance" in km where the coordinates are metres.
    line_title: heading of a line in the terminal, if not the title in small letters. write: writes a value in its shown
    unit; without it the digits follow from the size. level: for whom the figure is.
    """

    name: str
    title: str
    read: Callable[[Solution], Any]
    unit: str = ""
    help: str = ""
    line_title: str = ""
    write: Callable[[Any], str] | None = None
    outputs: Output = Output.EVERYWHERE
    lower_is_better: bool = False
    level: Level = Level.MAIN

    def shown_unit(self, system: CoordinateSystem | None) -> str:
        """Return the unit in which values are shown."""
        if self.unit == "distance":
            return {"m": "km", "degree": "°"}.get(system.unit if system else "", "units")
        return {"share": "%", "degree": "°"}.get(self.unit, self.unit)

    def convert(self, value: Value, system: CoordinateSystem | None) -> Value:
        """Convert a value to the unit in which it is shown."""
        if value is None:
            return None
        if self.unit == "distance" and system is not None and system.unit == "m":
            return value / 1000
        return 100 * value if self.unit == "share" else value

    def format(self, value: Value, system: CoordinateSystem | None) -> str:
        """Write a value without its unit."""
        converted = self.convert(value, system)
        if converted is None:
            return MISSING
        if self.write is not None:
            return self.write(converted)
        if self.unit == "records" and float(converted).is_integer() and abs(converted) < 1e15:
            return f"{int(converted):,}"
        return format_by_size(converted)

    def line_heading(self, system: CoordinateSystem) -> str:
        """Return the heading of a line in the terminal, with the unit of what is not counted."""
        title = self.line_title or self.title.lower()
        if self.unit not in _SCALED_UNITS:
            return title
        is_plain_distance = self.unit == "distance" and system.unit != "m"
        unit = (
            system.unit
            if is_plain_distance
            else {"share": "%", "distance": "km"}.get(self.unit, self.unit)
        )
        return f"{title} ({unit})"


def with_unit(title: str, unit: str) -> str:
    """Add the unit to a title that does not name it."""
    return f"{title} ({unit})" if unit and unit not in title.lower() else title


def format_by_size(value: float | int) -> str:
    """Write a number with as many digits as its size deserves, about four; integers in full."""
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 1e5:
        return f"{value:,.0f}"
    digits = 4 if abs(value) < 1 else 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1
    return f"{value:,.{digits}f}"


def format_to_four_decimals(value: Value) -> str:
    """Write a number with four decimals; integers and numbers from 10,000 on without."""
    if value is None:
        return MISSING
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4f}"


def list_figures(solutions: Sequence[Solution], output: Output) -> list[SolutionFigure]:
    """List the figures that an output shows of these solutions, in its order; those that none of them has are left out.

    The figures of sensitive columns are one list per column, those of tiers one per tier.
    """
    figures = [*_COUNTS, *list_measure_figures(solutions), *_RELEASE, *_list_tier_figures(solutions)]
    for column in dict.fromkeys(column for solution in solutions for column in solution.sensitive):
        figures += _list_sensitive_figures(column)
    figures.append(SUPPRESSED_SENSITIVE)
    figures += list_representability_figures(solutions)
    if any("adc" in solution.diagnostics for solution in solutions):
        figures += _ADC
    return [figure for figure in figures if output in figure.outputs]


# Measures


@cache
def get_measure_figure(name: str) -> SolutionFigure:
    """Return the figure of a measure, also of one whose approach is not installed here."""
    read = partial(get_measure, name=name)
    if name == SECONDS:
        return SolutionFigure(
            name, "Time", read, "s", "Wall time of the stages, loading apart.", line_title=name
        )
    measure = list_approaches("rating").get(name)
    if measure is None:
        return SolutionFigure(
            name, name.replace("_", " ").capitalize(), read, line_title=name, lower_is_better=True
        )
    assert issubclass(measure, Measure)
    metadata = measure.metadata
    return SolutionFigure(
        name,
        metadata.title,
        read,
        measure.unit,
        metadata.summary,
        lower_is_better=True,
        level=measure.level,
    )


def get_measure(solution: Solution, name: str) -> Value:
    """Return one measure of a solution; its time is stored apart from the others."""
    if name == SECONDS and name not in solution.measures:
        return solution.seconds
    return solution.measures.get(name)


def list_measure_figures(solutions: Iterable[Solution]) -> list[SolutionFigure]:
    """List the figures of all measures that some solution has, in menu order, its time last."""
    present = {name for solution in solutions for name in (*solution.measures, SECONDS)}
    if not present:
        return []
    present.remove(SECONDS)
    installed = [name for name in list_approaches("rating") if name in present]
    others = sorted(present.difference(installed))
    return [get_measure_figure(name) for name in (*installed, *others, SECONDS)]


def convert_measures(
    solution: Solution, names: Iterable[str], system: CoordinateSystem | None
) -> dict[str, float | int | None]:
    """Return measures of a solution in the units in which they are shown."""
    return {
        name: get_measure_figure(name).convert(get_measure(solution, name), system) for name in names
    }


# Counts of regions and records

_COUNTS = (
    SolutionFigure(
        "approximated_sites", "Approximated sites", attrgetter("approximated_sites"), outputs=Output.CSV
    ),
    SolutionFigure("sites", "Sites", attrgetter("site_count"), help="Sites", write="{:,}".format),
    SolutionFigure(
        "aggregated_regions",
        "Aggregated regions",
        attrgetter("aggregated_regions"),
        help="Aggregated regions: the sites that attract at least one initial region",
        write="{:,}".format,
    ),
    SolutionFigure(
        "suppressed_percent",
        "Suppressed",
        lambda solution: 100 * solution.suppressed_share,
        unit="%",
        help="Share of all records that are not released",
        write="{:,.2f}".format,
        outputs=Output.WINDOW | Output.TERMINAL | Output.CSV,
        lower_is_better=True,
    ),
)

_RELEASE = (
    SolutionFigure(
        "released_records", "Released records", attrgetter("released_records"), outputs=Output.CSV
    ),
    SolutionFigure("anonymity", "Smallest released class", attrgetter("anonymity"), outputs=Output.CSV),
    SolutionFigure(
        "regions_without_release",
        "Regions without release",
        attrgetter("regions_without_release"),
        outputs=Output.CSV,
    ),
)


# Tiers


def _list_tier_figures(solutions: Sequence[Solution]) -> list[SolutionFigure]:
    """List the share of the released records in each tier that some solution has."""
    n_tiers = max((len(solution.released_by_tier) for solution in solutions), default=0)
    return [_tier_figure(tier) for tier in range(n_tiers)]


def _tier_figure(tier: int) -> SolutionFigure:
    def read(solution: Solution) -> float | None:
        by_tier = solution.released_by_tier
        return by_tier[tier] / max(1, sum(by_tier)) if tier < len(by_tier) else None

    help = f"Share of the released records with codes of tier {tier}"
    if tier == 0:
        help += ": their own aggregated region"
    return SolutionFigure(
        f"tier_{tier}", f"Tier {tier}", read, "share", help, write="{:.1f}".format, outputs=Output.WINDOW
    )


# Sensitive columns

_SENSITIVE = (
    (
        "largest_share_percent",
        "largest share",
        "largest share of one harmful value in a released class",
        "%",
    ),
    (
        "least_distinct",
        "fewest values",
        "fewest different values in a released class (distinct l-diversity)",
        "",
    ),
    (
        "least_entropy",
        "entropy",
        "lowest entropy of a released class, as a number of equally frequent values",
        "",
    ),
    (
        "largest_closeness",
        "closeness",
        "largest distance of a released class from all released records",
        "",
    ),
    (
        "one_value_records",
        "given away",
        "released records in classes in which all have the same harmful value",
        "",
    ),
)
"""Name, title, help and unit."""


def _list_sensitive_figures(column: str) -> list[SolutionFigure]:
    """List the worst figures of one sensitive column over all released classes."""
    return [
        SolutionFigure(
            f"sensitive_{column}_{name}",
            f"{column}: {title}",
            partial(_read_sensitive, column=column, name=name),
            unit,
            f"{column}: {help}",
            write="{:,.1f}".format if unit == "%" else _format_to_three_decimals,
            outputs=Output.WINDOW,
        )
        for name, title, help, unit in _SENSITIVE
    ]


def _read_sensitive(solution: Solution, column: str, name: str) -> Value:
    value: Value = solution.sensitive.get(column, {}).get(name)
    return value


def _format_to_three_decimals(value: float | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"


SUPPRESSED_SENSITIVE = SolutionFigure(
    "suppressed_sensitive",
    "Lost for sensitive values",
    attrgetter("suppressed_sensitive"),
    help="Records of classes with k or more that are suppressed because of their sensitive values",
    write="{:,}".format,
    outputs=Output.WINDOW,
)
"""It means something only where criteria were set."""


# Representability


def list_representability_figures(solutions: Sequence[Solution]) -> list[SolutionFigure]:
    """List how much of the geography survives; nothing if no solution was measured."""
    measured = [solution.representability for solution in solutions if solution.representability]
    unit = next((measures["distance_unit"] for measures in measured if "distance_unit" in measures), "")
    return _build_representability_figures(unit) if measured else []


@cache
def _build_representability_figures(distance_unit: str) -> list[SolutionFigure]:
    everywhere = Output.EVERYWHERE
    not_in_frames = Output.WINDOW | Output.CSV
    return [
        _representability(
            "precision",
            "Detail kept",
            everywhere,
            help="Precision: 1 if every value and place is as it was, less the more regions are merged",
        ),
        _representability("precision_with_suppressed", "Detail kept, suppressed records counted"),
        _research_index(
            "jaccard",
            "Kept together",
            everywhere,
            help="Jaccard index: share of the pairs of records alike after it that were alike before",
            line_title="kept together (Jaccard)",
        ),
        _research_index("jaccard_with_suppressed", "Kept together, suppressed records counted"),
        _research_index(
            "fowlkes_mallows",
            "Fowlkes–Mallows",
            not_in_frames,
            help="Square root of the Jaccard index, as no class is ever split",
        ),
        _research_index(
            "fowlkes_mallows_with_suppressed", "Fowlkes–Mallows, suppressed records counted"
        ),
        _research_index("rand", "Rand"),
        _research_index("hubert", "Hubert"),
        _research_index("entropy_loss", "Entropy loss"),
        _research_index(
            "davies_bouldin",
            "Davies–Bouldin",
            everywhere,
            help="How wide aggregated regions are against the distance of their centres",
            line_title="Davies–Bouldin",
        ),
        _research_index("davies_bouldin_normalised", "Davies–Bouldin, normalised"),
        _representability(
            "mean_distance",
            "Distance moved",
            everywhere,
            help="Mean distance of records from their initial region to the records’ centre",
            unit=distance_unit,
        ),
        _representability("distance_unit", "Unit of the distance moved"),
        _representability("sample_size_ratio", "Sample size ratio", Output.CSV | Output.FRAME),
    ]


def _representability(
    name: str, title: str, outputs: Output = Output.CSV, **more: Any
) -> SolutionFigure:
    """Declare a figure that solutions keep in ``representability``."""
    read = partial(_read_representability, name=name)
    return SolutionFigure(name, title, read, write=_format_representability, outputs=outputs, **more)


def _research_index(name: str, title: str, outputs: Output = Output.CSV, **more: Any) -> SolutionFigure:
    """Declare an index of cluster comparison or entropy, which only research asks for."""
    return _representability(name, title, outputs, level=Level.RESEARCH, **more)


def _read_representability(solution: Solution, name: str) -> Any:
    return solution.representability.get(name)


def _format_representability(value: float) -> str:
    return f"{value:,.4f}" if value < 10 else f"{value:,.1f}"


# The search of anonymity-driven clustering


def _adc(name: str, title: str, help: str) -> SolutionFigure:
    """Declare a figure that ADC tells of its search."""
    read = partial(_read_adc, name=name)
    return SolutionFigure(
        f"adc_{name}", title, read, help=help, write="{:,}".format, outputs=Output.WINDOW
    )


def _read_adc(solution: Solution, name: str) -> Value:
    value: Value = solution.diagnostics.get("adc", {}).get(name)
    return value


_ADC = (
    _adc("moves", "ADC moves", "Moves of sites that anonymity-driven clustering accepted"),
    _adc("tries", "ADC tries", "Places that anonymity-driven clustering tried for sites"),
    _adc(
        "anonymity_before",
        "Lowest anonymity before",
        "Lowest anonymity of a region before the sites were moved",
    ),
    _adc(
        "anonymity_after",
        "Lowest anonymity after",
        "Lowest anonymity of a region after the sites were moved",
    ),
)

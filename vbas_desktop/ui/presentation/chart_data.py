"""What the charts draw: one row per solution. No Qt."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.engine.dominance import find_non_dominated
from vbas_desktop.engine.figures import SolutionFigure, with_unit
from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.solution import Solution

OTHER_COMPONENTS = ("adc_seeding", "site_number", "construction", "refinement", "tiers")
"""The components, besides the site locations, that tell series of solutions apart."""

_SYMBOL_STEP = 4


@dataclass(frozen=True)
class SeriesStyle:
    """How a series of solutions is drawn: numbers of its colour, symbol and dash.

    The colour belongs to the site location. Every location has another symbol, for eyes that see their colours alike;
    approaches of one location that differ in other components have other symbols and dashes.
    """

    colour: int = 0
    symbol: int = 0
    dash: int = 0

    @classmethod
    def of_approaches(cls, location: int, others: int) -> SeriesStyle:
        """Make the style of a site location by its place in the registry, and of the number of the other approaches."""
        return cls(location, location + _SYMBOL_STEP * others, others)


def assign_styles(solutions: Iterable[Solution]) -> Mapping[Hashable, SeriesStyle]:
    """Assign a style to each combination of approaches, by its `series_key`.

    Combinations of the other components are numbered as they come, so that later runs change no style.
    """
    locations = list(list_approaches("site_location"))
    others: dict[tuple[str | None, ...], int] = {}
    styles: dict[Hashable, SeriesStyle] = {}
    for solution in solutions:
        key = series_key(solution)
        if key in styles:
            continue
        location = key[0]
        number = others.setdefault(key[1:], len(others))
        place = locations.index(location) if location in locations else len(locations)
        styles[key] = SeriesStyle.of_approaches(place, number)
    return styles


def series_key(solution: Solution) -> tuple[str | None, ...]:
    """Return the approaches that tell series apart, that of the site locations first."""
    return tuple(
        solution.approaches.get(component) for component in ("site_location", *OTHER_COMPONENTS)
    )


@dataclass(frozen=True)
class SolutionRow:
    """One solution: number, title of its approaches, sites, measures as shown, whether it is Pareto-optimal.

    label: written at its mark, such as "Recommended". style: how the marks and lines of its approaches are drawn.
    """

    number: int
    approach: str
    sites: int
    values: Mapping[str, float | int | None]
    star: bool = False
    label: str = ""
    style: SeriesStyle = SeriesStyle()


@dataclass(frozen=True)
class ChartAxis:
    """What an axis shows: the name, title, unit and help of a measure, and whether low values are good."""

    name: str
    title: str
    unit: str = ""
    help: str = ""
    lower_is_better: bool = True

    @classmethod
    def of_figure(cls, figure: SolutionFigure, system: CoordinateSystem | None) -> ChartAxis:
        """Build the axis of a figure of solutions."""
        return cls(figure.name, figure.title, figure.shown_unit(system), figure.help)

    @property
    def label(self) -> str:
        """Title with unit."""
        return with_unit(self.title, self.unit)


Ranges = Mapping[str, tuple[float, float]]
"""The lowest and highest value that is wanted of some measures."""


def within(values: Mapping[str, float | int | None], ranges: Ranges) -> bool:
    """Say if all these values are known and within their ranges."""
    bounded = ((values.get(name), bounds) for name, bounds in ranges.items())
    return all(value is not None and low <= value <= high for value, (low, high) in bounded)


def list_styles(rows: Iterable[SolutionRow]) -> dict[str, SeriesStyle]:
    """List the style of each approach, in the order of their first solution."""
    styles: dict[str, SeriesStyle] = {}
    for row in rows:
        styles.setdefault(row.approach, row.style)
    return styles


def find_front(rows: tuple[SolutionRow, ...], x: ChartAxis, y: ChartAxis) -> list[tuple[float, float]]:
    """Find the Pareto front of two measures, from left to right."""
    pairs = [(row.values.get(x.name), row.values.get(y.name)) for row in rows]
    points = [(float(a), float(b)) for a, b in pairs if a is not None and b is not None]
    signs = [1 if axis.lower_is_better else -1 for axis in (x, y)]
    on_front = find_non_dominated([(signs[0] * a, signs[1] * b) for a, b in points])
    return sorted({point for point, keep in zip(points, on_front, strict=True) if keep})


def short_number(value: float) -> str:
    """Format a number for an axis: grouped, millions and billions shortened."""
    for size, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M")):
        if abs(value) >= size:
            return f"{value / size:,.4g}{letter}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"

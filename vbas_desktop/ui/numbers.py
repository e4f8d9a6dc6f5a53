"""Measures as people read them: grouped digits, sensible precision, units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.model.regions import CoordinateSystem
from vbas_desktop.model.solution import Solution

Value = float | int | None

SECONDS = "seconds"


@dataclass(frozen=True)
class MeasureWords:
    """How a measure is called; ``unit`` as in its declaration, "distance" being that of the coordinates."""

    name: str
    title: str
    unit: str
    summary: str = ""


@cache
def measure_words(name: str) -> MeasureWords:
    """The words of a measure, also of one that is not installed here."""
    if name == SECONDS:
        return MeasureWords(name, "Time", "s", "Wall time of the stages, loading apart.")
    known = approaches("rating").get(name)
    if known is None:
        return MeasureWords(name, name.replace("_", " ").capitalize(), "")
    return MeasureWords(name, known.card.title, getattr(known, "unit", ""), known.card.summary)


def unit_of(words: MeasureWords, system: CoordinateSystem | None) -> str:
    """The unit as shown; distances in metres are shown in km."""
    if words.unit != "distance":
        return "%" if words.unit == "share" else words.unit
    return {"m": "km", "degree": "°"}.get(system.unit if system else "", "units")


def shown_value(words: MeasureWords, value: Value, system: CoordinateSystem | None) -> Value:
    """The value in the unit that is shown; shares in percent."""
    if value is not None and words.unit == "distance" and system is not None and system.unit == "m":
        return value / 1000
    return 100 * value if value is not None and words.unit == "share" else value


def measure_of(solution: Solution, name: str) -> Value:
    """One measure of a solution; its time is kept apart from the others."""
    return solution.seconds if name == SECONDS and name not in solution.measures else solution.measures.get(name)


def shown_measures(solution: Solution, names: Iterable[str], system: CoordinateSystem | None) -> dict[str, Value]:
    """Measures of a solution in the units that are shown."""
    return {name: shown_value(measure_words(name), measure_of(solution, name), system) for name in names}


def value_text(words: MeasureWords, value: Value, system: CoordinateSystem | None) -> str:
    """The value without its unit; a dash if there is none."""
    shown = shown_value(words, value, system)
    if shown is None:
        return "–"
    if isinstance(shown, int) or (float(shown).is_integer() and abs(shown) < 1e15 and words.unit == "records"):
        return f"{int(shown):,}"
    if abs(shown) >= 1e5:
        return f"{shown:,.0f}"
    digits = 4 if abs(shown) < 1 else 3 if abs(shown) < 10 else 2 if abs(shown) < 100 else 1
    return f"{shown:,.{digits}f}"


def measure_names(solutions_measures: list[list[str]]) -> list[str]:
    """All measures that some solution has, in menu order, time last."""
    present = {name for names in solutions_measures for name in names} | {SECONDS}
    order = [name for name in approaches("rating") if name in present and name != SECONDS]
    return order + sorted(present - set(order) - {SECONDS}) + [SECONDS]

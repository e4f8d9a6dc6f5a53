"""Sets of measures that decide about dominance."""

from __future__ import annotations

from collections.abc import Iterable

from .base import Measure
from .registry import approaches

USUAL, THESIS = "usual", "thesis"
PRESETS = {USUAL: "Suppression and place", THESIS: "All of the thesis"}
"""The presets with their titles: two prices that everybody understands, or every measure that the thesis rates by."""


def preset(name: str) -> tuple[str, ...]:
    """The names of the measures of a preset, in menu order."""
    flag = {USUAL: "pareto_default", THESIS: "pareto_thesis"}[name]
    return tuple(measure for measure, kind in approaches("rating").items() if getattr(kind, flag, False))


def preset_of(measures: Iterable[str]) -> str | None:
    """The preset that these measures are; None: a choice of one's own."""
    chosen = set(measures)
    return next((name for name in PRESETS if set(preset(name)) == chosen), None)


def usual_among(measures: Iterable[Measure]) -> tuple[str, ...]:
    """The names of those measures that count for dominance unless the user chooses."""
    return tuple(measure.card.name for measure in measures if measure.pareto_default)

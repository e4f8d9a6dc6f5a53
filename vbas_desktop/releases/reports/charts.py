"""Grouped draw_bars: one measure by number of sites, one bar per location approach, one panel per number approach."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vbas_desktop.engine.comparison.plan import INITIALIZER_SEPARATOR

from .drawing import Area, Drawing, Label, Line

COLOURS = (
    "#4477aa",
    "#cc6677",
    "#ddaa33",
    "#228833",
    "#66ccee",
    "#aa3377",
    "#888888",
    "#44aa99",
    "#999933",
    "#882255",
)
"""Told apart by colour-blind eyes too, and by their lightness on grey paper as far as ten colours can be."""

_WIDTH = 860.0
_HEIGHT = 250.0
_LEFT = 66.0
_RIGHT = 8.0
_TOP = 40.0
_BOTTOM = 36.0
_MUTED = "#5c6975"
_GRID = "#e3e8ec"


def choose_colours(labels: Sequence[str]) -> dict[str, str]:
    """Choose a colour for each label; "A from B" gets a light shade of B's, so that both are seen together."""
    base_labels = [
        label
        for label in labels
        if label.rpartition(INITIALIZER_SEPARATOR)[2] not in labels or INITIALIZER_SEPARATOR not in label
    ]
    colours = {label: COLOURS[index % len(COLOURS)] for index, label in enumerate(base_labels)}
    return {
        label: colours.get(label) or _lighten(colours[label.rpartition(INITIALIZER_SEPARATOR)[2]])
        for label in labels
    }


def _lighten(colour: str) -> str:
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * 0.5):02x}" for part in parts)


@dataclass(frozen=True)
class Panel:
    """One number approach: the values of each approach (by label) at each number of sites."""

    title: str
    groups: Mapping[int, Mapping[str, float | None]]


def draw_bars(title: str, panels: Sequence[Panel], labels: Sequence[str]) -> Drawing:
    """Draw the chart; bars of undefined values are left out."""
    drawing = Drawing(_WIDTH, _HEIGHT, description=title)
    values = [
        v for panel in panels for group in panel.groups.values() for v in group.values() if v is not None
    ]
    top = max([0.0, *(float(value) for value in values)]) * 1.04 or 1.0
    low = min([0.0, *(float(value) for value in values)])
    _draw_legend(drawing, title, labels)
    _draw_axis(drawing, low, top)
    number = sum(len(panel.groups) for panel in panels) or 1
    gap = 14.0 if len(panels) > 1 else 0.0
    group_width = (_WIDTH - _LEFT - _RIGHT - gap * (len(panels) - 1)) / number
    x = _LEFT
    for panel in panels:
        width = group_width * len(panel.groups)
        drawing.things.append(Label((x + width / 2, _HEIGHT - 6), panel.title, 10.0, colour=_MUTED))
        for index, (sites, group) in enumerate(panel.groups.items()):
            _draw_group(drawing, x + index * group_width, group_width, sites, group, labels, (low, top))
        x += width + gap
    return drawing


def _draw_group(
    drawing: Drawing,
    left: float,
    group_width: float,
    sites: int,
    group: Mapping[str, float | None],
    labels: Sequence[str],
    bounds: tuple[float, float],
) -> None:
    colours = choose_colours(labels)
    width = group_width * 0.86 / max(1, len(labels))
    zero = _y(0.0, bounds)
    for index, label in enumerate(labels):
        value = group.get(label)
        if value is None:
            continue
        x = left + group_width * 0.07 + index * width
        y = _y(float(value), bounds)
        ring = ((x, zero), (x, y), (x + width * 0.92, y), (x + width * 0.92, zero))
        colour = colours[label]
        drawing.things.append(Area((ring,), colour, colour, f"{label}, {sites:,} sites: {value:,.6g}"))
    drawing.things.append(
        Label((left + group_width / 2, _HEIGHT - _BOTTOM + 13), f"{sites:,}", 9.0, colour=_MUTED)
    )


def _y(value: float, bounds: tuple[float, float]) -> float:
    low, top = bounds
    return _HEIGHT - _BOTTOM - (value - low) / (top - low) * (_HEIGHT - _TOP - _BOTTOM)


def _draw_legend(drawing: Drawing, title: str, labels: Sequence[str]) -> None:
    drawing.things.append(Label((0.0, 12.0), title, 12.0, "start"))
    x = 0.0
    for label, colour in choose_colours(labels).items():
        drawing.things.append(
            Area((((x, 21.0), (x + 9, 21.0), (x + 9, 30.0), (x, 30.0)),), colour, colour)
        )
        drawing.things.append(Label((x + 13, 29.5), label, 10.0, "start"))
        x += 24 + 5.4 * len(label)


def _draw_axis(drawing: Drawing, low: float, top: float) -> None:
    for tick in _choose_ticks(low, top):
        y = _y(tick, (low, top))
        drawing.things.append(Line((_LEFT, y), (_WIDTH - _RIGHT, y), _GRID))
        drawing.things.append(Label((_LEFT - 5, y + 3), _format_tick(tick), 9.0, "end", _MUTED))


def _choose_ticks(low: float, top: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10((top - low) / 4))
    step = next(step * factor for factor in (1, 2, 2.5, 5, 10) if (top - low) / (step * factor) <= 5)
    return [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(top / step + 1e-9) + 1)]


def _format_tick(value: float) -> str:
    for size, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M")):
        if abs(value) >= size:
            return f"{value / size:,.4g}{letter}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"

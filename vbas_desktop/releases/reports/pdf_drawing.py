"""Drawings in a PDF: maps of many thousand areas are written as page content at once, not thing by thing."""

from __future__ import annotations

from typing import Any

from reportlab.lib import colors
from reportlab.platypus import Flowable

from .drawing import Area, Dot, Drawing, Label, Line

FONT = "Vera"
ABSENT = str.maketrans({"✓": "+", "✗": "x", "★": "*", "−": "-", "’": "'"})
"""Characters that the font lacks, with what is set instead."""
FULL_WIDTH = 860.0
_MOST_HEIGHT = 560.0
_AREA_LINE = 0.4
_LINE = 0.8


class DrawnFigure(Flowable):
    """A drawing, in the scale in which one of `FULL_WIDTH` is as wide as the text."""

    def __init__(self, drawing: Drawing, text_width: float) -> None:
        super().__init__()
        self._drawing = drawing
        self._scale = min(text_width / FULL_WIDTH, _MOST_HEIGHT / drawing.height)
        self.width = drawing.width * self._scale
        self.height = drawing.height * self._scale

    def draw(self) -> None:
        """Draw everything in its order; y of a page runs upwards."""
        canvas = self.canv
        canvas.saveState()
        canvas.scale(self._scale, self._scale)
        areas: list[str] = []
        for thing in self._drawing.things:
            if isinstance(thing, Area):
                areas.append(_format_area(thing, self._drawing.height))
                continue
            _draw_areas(canvas, areas)
            areas = []
            _draw_thing(canvas, thing, self._drawing.height)
        _draw_areas(canvas, areas)
        canvas.restoreState()


def _draw_areas(canvas: Any, areas: list[str]) -> None:
    if areas:
        canvas.saveState()
        canvas.setLineWidth(_AREA_LINE)
        canvas.addLiteral("\n".join(areas))
        canvas.restoreState()


def _format_area(area: Area, height: float) -> str:
    """Return the operators that fill an area and draw its outline; a ring within another is a hole."""
    operators = []
    for ring in area.rings:
        operators += [
            f"{x:.1f} {height - y:.1f} {'l' if index else 'm'}" for index, (x, y) in enumerate(ring)
        ]
        operators.append("h")
    return f"{_format_colour(area.fill)} rg {_format_colour(area.stroke)} RG {' '.join(operators)} B*"


def _format_colour(code: str) -> str:
    """Return the shares of red, green and blue of a colour like #1b2530."""
    return " ".join(f"{share:.4g}" for share in colors.HexColor(code).rgb())


def _draw_thing(canvas: Any, thing: Line | Dot | Label, height: float) -> None:
    if isinstance(thing, Line):
        canvas.setStrokeColor(colors.HexColor(thing.stroke))
        canvas.setLineWidth(_LINE)
        (x1, y1), (x2, y2) = thing.start, thing.end
        canvas.line(x1, height - y1, x2, height - y2)
        return
    if isinstance(thing, Dot):
        is_filled = thing.fill != "none"
        if is_filled:
            canvas.setFillColor(colors.HexColor(thing.fill))
        canvas.setStrokeColor(colors.HexColor(thing.stroke))
        canvas.setLineWidth(1)
        x, y = thing.centre
        canvas.circle(x, height - y, thing.radius, stroke=1, fill=int(is_filled))
        return
    canvas.setFillColor(colors.HexColor(thing.colour))
    canvas.setFont(FONT, thing.size)
    set_text = {
        "start": canvas.drawString,
        "middle": canvas.drawCentredString,
        "end": canvas.drawRightString,
    }
    x, y = thing.position
    set_text[thing.anchor](x, height - y, thing.text.translate(ABSENT))

"""Simple drawings that become SVG in HTML and vectors in PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

Point = tuple[float, float]


@dataclass(frozen=True)
class Area:
    """A filled shape of closed rings; holes by the even-odd rule."""

    rings: Sequence[Sequence[Sequence[float]]]
    fill: str
    stroke: str = "#51606d"
    title: str = ""


@dataclass(frozen=True)
class Line:
    """A straight line."""

    start: Point
    end: Point
    stroke: str = "#51606d"


@dataclass(frozen=True)
class Dot:
    """A circle."""

    centre: Point
    radius: float
    fill: str
    stroke: str


@dataclass(frozen=True)
class Label:
    """A short text; ``anchor`` is start, middle or end."""

    position: Point
    text: str
    size: float = 9.0
    anchor: str = "middle"
    colour: str = "#1b2530"


@dataclass
class Drawing:
    """Things on a canvas; y runs downwards."""

    width: float
    height: float
    things: list[Area | Line | Dot | Label] = field(default_factory=list)
    description: str = ""

    @cached_property
    def svg(self) -> str:
        """The finished drawing as an SVG element, made once for all reports that show it."""
        return render_svg(self)


def render_svg(drawing: Drawing) -> str:
    """Render the drawing as an SVG element of its own."""
    body = "\n".join(_svg(thing) for thing in drawing.things)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(drawing.width)} {_n(drawing.height)}" role="img" '
        f'aria-label="{escape(drawing.description)}">\n{body}\n</svg>'
    )


def _svg(thing: Area | Line | Dot | Label) -> str:
    if isinstance(thing, Area):
        path = "".join("M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in ring) + "Z" for ring in thing.rings)
        title = f"<title>{escape(thing.title)}</title>" if thing.title else ""
        return (
            f'<path d="{path}" fill="{thing.fill}" stroke="{thing.stroke}" stroke-width="0.6" '
            f'stroke-linejoin="round" fill-rule="evenodd">{title}</path>'
        )
    if isinstance(thing, Line):
        x1, y1 = thing.start
        x2, y2 = thing.end
        return f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{thing.stroke}"/>'
    if isinstance(thing, Dot):
        x, y = thing.centre
        return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(thing.radius)}" fill="{thing.fill}" stroke="{thing.stroke}"/>'
    x, y = thing.position
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(thing.size)}" text-anchor="{thing.anchor}" '
        f'fill="{thing.colour}">{escape(thing.text)}</text>'
    )


def _n(value: float) -> str:
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text

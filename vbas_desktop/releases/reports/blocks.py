"""What reports are made of, before it is decided how they look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vbas_desktop import __version__

from .drawing import Drawing

FOOT = f"Made by VBAS Desktop {__version__}."
LONGEST = 300
"""So many rows a table has at most."""


@dataclass(frozen=True)
class Paragraph:
    """Running text; ``quiet`` for remarks."""

    text: str
    quiet: bool = False


@dataclass(frozen=True)
class Tiles:
    """A few large numbers with what they mean."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Pairs:
    """Names and what stands for them, one below the other."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows of cells; columns from ``numbers_from`` on are numbers; rows in ``marked`` stand out."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers_from: int = 1
    numbers_to: int | None = None
    marked: frozenset[int] = frozenset()
    caption: str = ""

    def is_number(self, column: int) -> bool:
        """Return True if the column is aligned to the right."""
        return column >= self.numbers_from and (self.numbers_to is None or column < self.numbers_to)


@dataclass(frozen=True)
class Checks:
    """Checks, and whether each has passed."""

    items: Sequence[tuple[bool, str, str]]


@dataclass(frozen=True)
class Figure:
    """A drawing with its caption."""

    drawing: Drawing
    caption: str


@dataclass(frozen=True)
class Command:
    """Something to type."""

    text: str


Block = Paragraph | Tiles | Pairs | Table | Checks | Figure | Command


def rows_left_out(number: int, file: str) -> Iterator[Block]:
    """State how many rows a table leaves out, and the file that has them; nothing if it shows all."""
    if number > LONGEST:
        yield Paragraph(f"{number - LONGEST:,} more are in {file}.", quiet=True)


@dataclass(frozen=True)
class Section:
    """A heading with what belongs under it."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)


@dataclass(frozen=True)
class Report:
    """A whole report; ``banner`` says who it is for."""

    title: str
    banner: str
    internal: bool
    sections: Sequence[Section]
    foot: str

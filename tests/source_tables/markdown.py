"""Tables and numbers of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: int = 0) -> str:
    """Return a Markdown table; the last ``numbers`` columns are aligned to the right."""
    words = len(heads) - numbers
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * words + " ---: |" * numbers]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def shown(value: float | int | None, digits: int = 4) -> str:
    """Return a number with a fixed number of digits; a dash for none."""
    return "–" if value is None else f"{value:,.{digits}f}"


def ratio(mine: float | None, published: float | None) -> str:
    """Return ours divided by the published figure."""
    return "–" if mine is None or not published else f"{mine / published:.2f}"


def vector(counts: Sequence[int]) -> str:
    """Return an anonymity vector as the paper writes it."""
    return f"({', '.join(map(str, counts))})"

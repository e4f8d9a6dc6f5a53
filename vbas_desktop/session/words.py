"""Numbers and states as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def time_left_in_words(seconds: float) -> str:
    """How long something will take, no more exact than can be known."""
    if seconds < 10:
        return "a few seconds left"
    if seconds < 50:
        return f"{round(seconds / 10) * 10} s left"
    if seconds < 90:
        return "about a minute left"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min left"
    return f"{seconds / 3600:.1f} h left"


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: "1 record", "2,433,221 records"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def product_in_words(numbers: Sequence[int], product: int) -> str:
    """Category numbers multiplied: "7 × 2 = 14 classes"."""
    if len(numbers) < 2:
        return counted(product, "class", "classes")
    return f"{' × '.join(f'{number:,}' for number in numbers)} = {counted(product, 'class', 'classes')}"

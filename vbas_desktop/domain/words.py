"""Numbers with their nouns, as messages say them."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: "1 record", "2,433,221 records"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"

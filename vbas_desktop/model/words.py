"""Words that several rooms use: numbers with their nouns, and the names of delimiters."""

from __future__ import annotations

MISSING = "(missing)"
"""How the category of empty fields is shown. In `Categories` it is the empty string."""

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: "1 record", "2,433,221 records", "3 people"; ``plural`` where it is no plain noun."""
    return f"{number:,} {agreeing(number, singular, plural or _plural(singular))}"


def agreeing(number: int, singular: str, plural: str) -> str:
    """The word that agrees with a number: "is" or "are"."""
    return singular if number == 1 else plural


def _plural(noun: str) -> str:
    if noun.endswith("person"):
        return noun.removesuffix("person") + "people"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith("s") else "s")


def capitalised(text: str) -> str:
    """The text with a capital, as a line of its own begins; the name of a file stays as it is."""
    first = text.partition(" ")[0].rstrip(":")
    return text if "." in first or "_" in first else text[:1].upper() + text[1:]


def share_in_words(part: int, whole: int) -> str:
    """A share in percent that never rounds up to all or down to nothing."""
    if whole == 0 or part in (0, whole):
        return "100 %" if part else "0 %"
    percent = 100 * part / whole
    return f"{min(max(percent, 0.01), 99.99):.2f} %" if percent > 99 or percent < 1 else f"{percent:.1f} %"

"""Parse numbers of a region file with a decimal point or a decimal comma, which are recognised where that is certain.

A comma in a number parts decimals in one half of the world and thousands in the other. "47,5" can only be the first,
"1,234,567" only the second, "1,234" either. All columns that are needed count together, because one program wrote
them: commas are decimal if no number speaks against it and at least one in `_SURE_SHARE` can be nothing else, or if the
numbers are degrees, of which there are no thousands. Everything less certain is asked for, never guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import FindingList

DECIMALS = ("auto", "point", "comma")
MISSING_WORDS = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "."))

_SURE_SHARE = 20
"""A single slip of the pen in a column of thousands must not turn them all into decimals."""
_MOST_DEGREES = 180.0
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_ONE_GROUP = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", re.ASCII)
_COMMAS_SOMEHOW = re.compile(r"(?=.*\d)(?=.*,)[-+\d.,'’\s\u00a0\u202f]+", re.ASCII)
_WITH_POINT = re.compile(r"(?=.*\d)[+-]?\d*\.\d*([eE][+-]?\d+)?", re.ASCII)


def parse_numbers(
    columns: Mapping[str, Sequence[str]],
    rows: NDArray[np.int64],
    decimal: str,
    findings: FindingList,
    *,
    degrees: bool = False,
) -> list[NDArray[np.float64]]:
    """Parse the columns as numbers; NaN where a text is none, which is noted. ``decimal`` is one of `DECIMALS`."""
    words = {name: [text.strip() for text in column] for name, column in columns.items()}
    lines = rows.tolist()
    if decimal == "auto":
        decimal = _find_decimal_sign([word for column in words.values() for word in column], degrees)
        if decimal == "comma":
            message = "The comma is taken as the decimal sign of the numbers (47,5 is 47.5)."
            remedy = "Choose --regions-decimal point if it parts thousands."
            findings.hint("decimal-comma", message, remedy)
    return [_parse_column(column, lines, name, decimal, findings) for name, column in words.items()]


def _find_decimal_sign(words: Sequence[str], degrees: bool) -> str:
    """Find the decimal sign of the numbers: "point", "comma", "either" or "both"."""
    with_comma = [word for word in words if "," in word and _WITH_COMMA.fullmatch(word)]
    has_others = any("," in word and _has_other_commas(word) for word in words)
    if not with_comma and not has_others:
        return "point"
    if has_others or any(_WITH_POINT.fullmatch(word) for word in words):
        return "both"
    sure = sum(not _ONE_GROUP.fullmatch(word) for word in with_comma)
    if sure * _SURE_SHARE >= len(with_comma):
        return "comma"
    fits = degrees and all(abs(float(word.replace(",", "."))) <= _MOST_DEGREES for word in with_comma)
    return "comma" if fits else "either"


def _has_other_commas(word: str) -> bool:
    """Tell whether this is a number with commas that cannot all be decimal ones."""
    return bool(_COMMAS_SOMEHOW.fullmatch(word)) and not _WITH_COMMA.fullmatch(word)


def _parse_column(
    words: Sequence[str], rows: Sequence[int], name: str, decimal: str, findings: FindingList
) -> NDArray[np.float64]:
    if decimal == "point" and (quick := parse_plain_numbers(words)) is not None:
        return quick
    ambiguous = [_is_ambiguous(word, decimal) for word in words]
    _note_ambiguous(
        [row for row, bad in zip(rows, ambiguous, strict=True) if bad], decimal, name, findings
    )
    numbers = [
        math.nan if bad else _parse_number(_with_point(word, decimal), row, name, findings)
        for word, row, bad in zip(words, rows, ambiguous, strict=True)
    ]
    return np.array(numbers, np.float64)


def _is_ambiguous(word: str, decimal: str) -> bool:
    """Tell whether the number has a sign that contradicts the decimal sign."""
    if decimal == "comma":
        return bool(_WITH_POINT.fullmatch(word)) or _has_other_commas(word)
    if decimal == "point" and _GROUPS.fullmatch(word):
        return False
    return bool(_WITH_COMMA.fullmatch(word) or _COMMAS_SOMEHOW.fullmatch(word))


def parse_plain_numbers(words: Sequence[str]) -> NDArray[np.float64] | None:
    """Parse the words if all are plain numbers, as in nearly every file; else return None."""
    try:
        quick = np.array([float(word) for word in words], np.float64)
    except ValueError:
        return None
    return quick if np.isfinite(quick).all() and not any("_" in word for word in words) else None


def _note_ambiguous(rows: Sequence[int], decimal: str, name: str, findings: FindingList) -> None:
    """Note the ambiguous numbers of a column once: usually all are, and one step mends them."""
    if not rows:
        return
    these = "This number" if len(rows) == 1 else f"This number, like {len(rows) - 1:,} below,"
    message, remedy = {
        "comma": (
            "has a point or several commas, although the comma is named as the decimal sign.",
            "Write all numbers with decimal commas and nothing between thousands.",
        ),
        "point": (
            "has a comma that does not part thousands.",
            "Write decimal points (47.5 instead of 47,5), or choose --regions-decimal comma.",
        ),
        "either": (
            "has a comma that may part decimals or thousands.",
            "Write decimal points without commas, or choose --regions-decimal comma if it parts decimals, "
            "--regions-decimal point if it parts thousands.",
        ),
        "both": (
            "has a comma, but points or several commas among these numbers make its meaning uncertain.",
            "Write decimal points (47.5 instead of 47,5), or choose --regions-decimal point if commas part thousands.",
        ),
    }[decimal]
    findings.add("decimal-comma", f"{these} {message}", remedy, row=rows[0], column=name)


def _with_point(word: str, decimal: str) -> str:
    if decimal == "comma" and _WITH_COMMA.fullmatch(word):
        return word.replace(",", ".")
    return word.replace(",", "") if decimal == "point" and _GROUPS.fullmatch(word) else word


def _parse_number(word: str, row: int, name: str, findings: FindingList) -> float:
    if word.casefold() in MISSING_WORDS:
        findings.add("missing-number", "The number is missing.", "Add it.", row=row, column=name)
        return math.nan
    try:
        value = float(word) if "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    if math.isinf(value):
        findings.add("infinite-number", "The number is infinite.", "Correct it.", row=row, column=name)
    else:
        findings.add("not-a-number", "This is not a number.", "Correct it.", row=row, column=name)
    return math.nan

"""Numbers of a region file written as text: with a decimal point or a decimal comma, told apart where that is certain.

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


def numbers_of(
    columns: Mapping[str, Sequence[str]],
    rows: NDArray[np.int64],
    decimal: str,
    findings: FindingList,
    *,
    degrees: bool = False,
) -> list[NDArray[np.float64]]:
    """The columns as numbers, NaN where there is none, which is noted; ``decimal`` is one of `DECIMALS`."""
    words = {name: [text.strip() for text in column] for name, column in columns.items()}
    lines = rows.tolist()
    if decimal == "auto":
        decimal = _found_out([word for column in words.values() for word in column], degrees)
        if decimal == "comma":
            message = "The comma is taken as the decimal sign of the numbers (47,5 is 47.5)."
            remedy = "Choose --regions-decimal point if it parts thousands."
            findings.hint("decimal-comma", message, remedy)
    return [_column(column, lines, name, decimal, findings) for name, column in words.items()]


def _found_out(words: Sequence[str], degrees: bool) -> str:
    """Which decimal sign the numbers have: "point", "comma", "either" or "both"."""
    with_comma = [word for word in words if "," in word and _WITH_COMMA.fullmatch(word)]
    otherwise = any("," in word and _is_written_otherwise(word) for word in words)
    if not with_comma and not otherwise:
        return "point"
    if otherwise or any(_WITH_POINT.fullmatch(word) for word in words):
        return "both"
    sure = sum(not _ONE_GROUP.fullmatch(word) for word in with_comma)
    if sure * _SURE_SHARE >= len(with_comma):
        return "comma"
    fits = degrees and all(abs(float(word.replace(",", "."))) <= _MOST_DEGREES for word in with_comma)
    return "comma" if fits else "either"


def _is_written_otherwise(word: str) -> bool:
    """Whether this is a number whose commas, or not all of them, cannot be decimal ones."""
    return bool(_COMMAS_SOMEHOW.fullmatch(word)) and not _WITH_COMMA.fullmatch(word)


def _column(
    words: Sequence[str], rows: Sequence[int], name: str, decimal: str, findings: FindingList
) -> NDArray[np.float64]:
    if decimal == "point" and (quick := plain_numbers(words)) is not None:
        return quick
    spoilt = [_is_spoilt(word, decimal) for word in words]
    _tell_spoilt([row for row, bad in zip(rows, spoilt, strict=True) if bad], decimal, name, findings)
    numbers = [
        math.nan if bad else _number(_with_point(word, decimal), row, name, findings)
        for word, row, bad in zip(words, rows, spoilt, strict=True)
    ]
    return np.array(numbers, np.float64)


def _is_spoilt(word: str, decimal: str) -> bool:
    """Whether the number has a sign that the decimal sign does not go with."""
    if decimal == "comma":
        return bool(_WITH_POINT.fullmatch(word)) or _is_written_otherwise(word)
    if decimal == "point" and _GROUPS.fullmatch(word):
        return False
    return bool(_WITH_COMMA.fullmatch(word) or _COMMAS_SOMEHOW.fullmatch(word))


def plain_numbers(words: Sequence[str]) -> NDArray[np.float64] | None:
    """The words as numbers if they all are, as in nearly every file."""
    try:
        quick = np.array([float(word) for word in words], np.float64)
    except ValueError:
        return None
    return quick if np.isfinite(quick).all() and not any("_" in word for word in words) else None


def _tell_spoilt(rows: Sequence[int], decimal: str, name: str, findings: FindingList) -> None:
    """Whole columns are written so, and mended by one step: it is said once."""
    if not rows:
        return
    these = "This number" if len(rows) == 1 else f"This number, like {len(rows) - 1:,} below,"
    message, remedy = {
        "comma": (
            "has a point or several commas, although the comma is said to be the decimal sign.",
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


def _number(word: str, row: int, name: str, findings: FindingList) -> float:
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

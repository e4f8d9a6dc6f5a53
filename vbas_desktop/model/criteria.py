"""Criteria for sensitive values: which column, which values are benign, what a released class must fulfil.

`Criterion` is one rule for the sensitive values of a released class; docs/sensitive-values.md explains them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .text import MISSING

DISTINCT, ENTROPY, RECURSIVE, CLOSENESS, ORDERED, SHARE = range(6)
"""The kinds of criteria by number, for compiled loops."""

KINDS = ("distinct", "entropy", "recursive", "closeness", "ordered-closeness", "share")
"""Their names on the command line, in the order of the numbers."""

_TITLES = (
    "Distinct values",
    "Entropy",
    "Recursive (c,l)",
    "Closeness",
    "Ordered closeness",
    "Share of the commonest",
)
TITLES = dict(zip(KINDS, _TITLES, strict=True))

COMPARED_WITH_ALL = (CLOSENESS, ORDERED)
"""The kinds that compare a class with all released records, so that suppressing one class can make another one fail."""


@dataclass(frozen=True)
class Criterion:
    """A rule for the values of a sensitive column (every one, if ``column`` is empty) in a released class.

    ``limit`` is l, t or a percentage; of “recursive”, where ``factor`` is c, it is l.
    """

    kind: str
    limit: float
    factor: float = 0.0
    column: str = ""

    @property
    def number(self) -> int:
        """Return the number of the kind."""
        return KINDS.index(self.kind)

    @property
    def text(self) -> str:
        """Return kind and limits as they are typed, without the column."""
        limits = [self.factor, self.limit] if self.kind == "recursive" else [self.limit]
        return f"{self.kind}:{','.join(_format_number(limit) for limit in limits)}"

    @property
    def in_words(self) -> str:
        """Describe in words what a class must fulfil."""
        limit = _format_number(self.limit)
        return {
            "distinct": f"at least {limit} different values",
            "entropy": f"an entropy as of at least {limit} values that are equally frequent",
            "recursive": f"recursive ({_format_number(self.factor)}, {limit})-diversity",
            "closeness": f"shares of the values that differ by at most {limit} from those of all released records",
            "ordered-closeness": f"values at most {limit} away from those of all released records (ordered distance)",
            "share": f"at most {limit} % of the records with the commonest harmful value",
        }[self.kind]

    def of(self, column: str) -> Criterion:
        """Return the same criterion for one column."""
        return replace(self, column=column)


def parse_criterion(text: str) -> Criterion:
    """Parse a criterion such as ``share:50``. Raises `ValueError`, which says what would be allowed."""
    kind, colon, rest = text.strip().partition(":")
    if kind not in KINDS or not colon:
        raise ValueError(
            f"“{text}” is not a valid criterion; write share:PERCENT, distinct:L, entropy:L, recursive:C,L, "
            "closeness:T or ordered-closeness:T"
        )
    numbers = [_parse_number(part, text) for part in rest.split(",")]
    if len(numbers) != (2 if kind == "recursive" else 1):
        raise ValueError(
            f"“{text}” needs {'two numbers, C and L' if kind == 'recursive' else 'one number'} after {kind}:"
        )
    limit = numbers[-1]
    if kind in ("distinct", "recursive") and (limit != int(limit) or limit < 2):
        raise ValueError(f"“{text}”: L must be a whole number from 2")
    if kind == "entropy" and limit <= 1:
        raise ValueError(f"“{text}”: L must be above 1")
    if kind in ("closeness", "ordered-closeness") and not 0 < limit < 1:
        raise ValueError(f"“{text}”: T must be between 0 and 1")
    if kind == "share" and not 0 < limit < 100:
        raise ValueError(f"“{text}”: the share must be between 0 and 100 percent")
    if kind == "recursive" and numbers[0] <= 0:
        raise ValueError(f"“{text}”: C must be above 0")
    return Criterion(kind, limit, numbers[0] if kind == "recursive" else 0.0)


def _parse_number(text: str, whole: str) -> float:
    try:
        number = float(text.strip().rstrip("%"))
    except ValueError:
        raise ValueError(f"“{whole}”: “{text}” is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"“{whole}”: “{text}” is not a number")
    return number


def _format_number(number: float) -> str:
    return repr(float(number)).removesuffix(".0")


@dataclass(frozen=True)
class SensitiveColumn:
    """A sensitive column: its benign values, and the criteria that released classes must fulfil.

    Without criteria its figures are reported, and nothing is suppressed.
    """

    column: str
    benign: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()

    def is_benign(self, value: str) -> bool:
        """Tell whether learning this value does no harm; the empty one can be named as it is shown."""
        return value in self.benign or (value == "" and MISSING in self.benign)

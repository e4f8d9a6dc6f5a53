"""Describe the sensitive values of each released class (M^s) from the original values of its records.

Of the original values, because a release may hold one mean for all records of a class: its spread would be 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.records.row_texts import coded_texts
from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.records import RecordTable, finite_number
from vbas_desktop.model.words import counted

from .classes import named
from .pairing import Pairing, changed_records
from .words import ENOUGH, may_tell, shown

Value = TypeVar("Value", float, str)

OTHER_VALUES = "other values"
"""The name of the share of values that fewer than k records have, where these are not released."""


@dataclass(frozen=True, eq=False)
class OriginalValues:
    """The original values of a column in the common records, as codes of ``distinct`` texts.

    ``changed`` marks the records that are released with another value.
    """

    codes: NDArray[np.integer]
    distinct: NDArray[np.str_]
    changed: NDArray[np.bool_]

    @property
    def is_numeric(self) -> bool:
        """Whether all values are numbers; blanks apart."""
        present = self.distinct[np.unique(self.codes)]
        return all(finite_number(str(text)) is not None for text in present if text != "")


def original_values(original: RecordTable, released: RecordTable, paired: Pairing, column: str) -> OriginalValues:
    """Read a column of the common records, and compare it with what is released."""
    codes, distinct = coded_texts(original, column)
    changed = changed_records(original, released, paired, column)
    return OriginalValues(codes[paired.original_rows], distinct, changed)


def sensitive_rows(values: OriginalValues, paired: Pairing, k: int) -> list[dict[str, Any]]:
    """Describe the values of each released class of at least k records; made-up records are left out.

    Numbers: count, mean, median, mode, sample standard deviation. Categories: count, mode, shares. Nothing is said of
    fewer than k values. Where the released categories are not the original ones, none is named that fewer than k
    records of the class have.
    """
    classes = paired.released
    class_of = classes.class_of[paired.released_rows]
    order = np.argsort(class_of, kind="stable")
    ends = np.searchsorted(class_of[order], np.arange(len(classes.labels) + 1))
    numeric = values.is_numeric
    rows = []
    for number in np.flatnonzero(classes.sizes >= k):
        records = order[ends[number] : ends[number + 1]]
        texts = [str(text) for text in values.distinct[values.codes[records]] if text != ""]
        # The size of the class is known, so a few missing values would follow from the number of the others.
        may_count = may_tell((len(texts), len(records) - len(texts)), k)
        described = texts if len(texts) >= k else []
        if numeric:
            figures = _describe_numbers(described)
        else:
            least = k if values.changed[records].any() else 1
            figures = _describe_categories(described, least, may_count)
        count = shown(len(texts), k) if may_count else None
        rows.append({"class": named(classes, int(number)), "count": count, **figures})
    return rows


def warn_of_few_values(values: OriginalValues, paired: Pairing, column: str, k: int) -> list[Finding]:
    """Warn if classes of few records hold other numbers than before: their figures may give the original ones away."""
    if not values.is_numeric:
        return []
    classes = paired.released
    class_of = classes.class_of[paired.released_rows]
    records = np.bincount(class_of, minlength=len(classes.labels))
    changed = np.bincount(class_of, values.changed, minlength=len(classes.labels)) > 0
    few = int(np.count_nonzero(changed & (records >= k) & (records < ENOUGH * k)))
    if not few:
        return []
    where = counted(few, "class")
    message = f"The figures of {where} of few records may give the original values away, which are not released there."
    remedy = "Hand them on only if the release was not meant to hide these values."
    return [Finding("few-values", message, remedy, Severity.WARNING, column=column)]


def _describe_numbers(texts: Sequence[str]) -> dict[str, Any]:
    if not texts:
        return {"mean": None, "median": None, "mode": None, "sd": None}
    numbers = np.array([finite_number(text) for text in texts], np.float64)
    return {
        "mean": float(numbers.mean()),
        "median": float(np.median(numbers)),
        "mode": _mode(Counter(numbers.tolist()), 1),
        "sd": float(numbers.std(ddof=1)) if numbers.size > 1 else None,
    }


def _describe_categories(texts: Sequence[str], least: int, may_count: bool) -> dict[str, Any]:
    counts = Counter(texts)
    return {"mode": _mode(counts, least), "shares": _shares(counts, least) if texts and may_count else None}


def _mode(counts: Mapping[Value, int], least: int) -> Value | None:
    """Find the most frequent value, of several the smallest; None if ``least`` records do not have it.

    There is none either if several values all occur once.
    """
    if not counts:
        return None
    value = min(counts, key=lambda each: (-counts[each], each))
    if counts[value] < least or (counts[value] == 1 and len(counts) > 1):
        return None
    return value


def _shares(counts: Counter[str], least: int) -> dict[str, float]:
    """Compute the share of each value, the most frequent first.

    Those of fewer than ``least`` records are taken together; if they are fewer than that together, the next one joins
    them.
    """
    total = counts.total()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named_values = [(value, number) for value, number in ranked if number >= least]
    rest = total - sum(number for _, number in named_values)
    if 0 < rest < least and named_values:
        rest += named_values.pop()[1]
    shares = {value: number / total for value, number in named_values}
    if rest:
        shares[OTHER_VALUES] = rest / total
    return shares

"""Describe each released class of at least k records: how much of it is left, and the sensitive values of its records.

Sensitive values are described from the original values (M^s), because a release may hold one mean for all records of a
class: its spread would be 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.validity_indices import ContingencyTable
from vbas_desktop.io.records.rows import read_coded_texts
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.records import CodedRecords, finite_number
from vbas_desktop.model.text import format_count

from .elements import ROUNDING_FACTOR, is_reportable, mask_figure, mask_small_count
from .record_matching import RecordMatching, find_changed_records

Value = TypeVar("Value", float, str)

OTHER_VALUES = "other values"
"""The name of the share of values that fewer than k records have, where these are not released."""


def describe_classes(
    matching: RecordMatching, precision: NDArray[np.float64], ratios: Mapping[int, float | None], k: int
) -> list[dict[str, Any]]:
    """Describe each class of at least k records: size, precision, pairs that belonged together, Davies–Bouldin.

    ``precision`` is that of each cell; ``ratios`` are the Davies–Bouldin ratios by class (see `mask_ratios`).
    """
    classes = matching.released
    sizes = classes.sizes
    order = np.argsort(matching.cell_released, kind="stable")
    ends = np.searchsorted(matching.cell_released[order], np.arange(len(classes.labels) + 1))
    return [
        {
            "class": classes.label_as_dict(int(number)),
            "records": int(sizes[number]),
            **_describe_cells(matching, order[ends[number] : ends[number + 1]], precision, k),
            "davies_bouldin": ratios.get(int(number)),
        }
        for number in np.flatnonzero(sizes >= k)
    ]


def _describe_cells(
    matching: RecordMatching, cells: NDArray[np.intp], precision: NDArray[np.float64], k: int
) -> dict[str, Any]:
    """Compute the figures of one class from its cells; made-up records are in none of them."""
    records = matching.cell_records[cells]
    total = int(records.sum())
    if not total:
        return {"precision": None, "jaccard": None, "original_classes": None, "levels": {}}
    smallest = int(records.min())
    _, same_precision = np.unique(precision[cells], return_inverse=True)
    smallest_of_same = int(np.bincount(same_precision, records).min())
    mean_precision = float((precision[cells] * records).sum() / total)
    jaccard = ContingencyTable.of_sizes(records, records, [total]).jaccard
    n_original = mask_figure(float(records.size), total, smallest, k)
    return {
        "precision": mask_figure(mean_precision, total, smallest_of_same, k),
        "jaccard": mask_figure(jaccard, total, smallest, k),
        "original_classes": None if n_original is None else int(n_original),
        "levels": {
            name: int(matching.levels[cells, q].max())
            for q, name in enumerate(matching.released.columns)
        },
    }


def mask_ratios(
    matching: RecordMatching, ratios: Mapping[int, tuple[float, int]], k: int
) -> dict[int, float | None]:
    """Mask the Davies–Bouldin ratios that depend on fewer than k records.

    ``ratios`` are the ratio of each class, and the class that it is reached with: a ratio depends on how the records
    of both are spread over the original classes. ``matching`` holds the classes that the ratios were computed from.
    """
    n_classes = len(matching.released.labels)
    records = np.bincount(matching.cell_released, matching.cell_records, minlength=n_classes).astype(
        np.int64
    )
    smallest = np.full(n_classes, np.iinfo(np.int64).max)
    np.minimum.at(smallest, matching.cell_released, matching.cell_records)
    masked: dict[int, float | None] = {}
    for number, (ratio, partner) in ratios.items():
        pair = [number, partner]
        masked[number] = mask_figure(ratio, int(records[pair].min()), int(smallest[pair].min()), k)
    return masked


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
        """True if all values are numbers; blanks apart."""
        present = self.distinct[np.unique(self.codes)]
        return all(finite_number(str(text)) is not None for text in present if text != "")


def read_original_values(
    original: CodedRecords, released: CodedRecords, matching: RecordMatching, column: str
) -> OriginalValues:
    """Read a column of the common records, and compare it with what is released."""
    codes, distinct = read_coded_texts(original, column)
    changed = find_changed_records(original, released, matching, column)
    return OriginalValues(codes[matching.original_rows], distinct, changed)


def describe_sensitive_values(
    values: OriginalValues, matching: RecordMatching, k: int
) -> list[dict[str, Any]]:
    """Describe the values of each released class of at least k records; made-up records are left out.

    Numbers: count, mean, median, mode, sample standard deviation. Categories: count, mode, shares. Nothing is said of
    fewer than k values. Where the released categories are not the original ones, none is named that fewer than k
    records of the class have.
    """
    classes = matching.released
    class_of = classes.class_of[matching.released_rows]
    order = np.argsort(class_of, kind="stable")
    ends = np.searchsorted(class_of[order], np.arange(len(classes.labels) + 1))
    is_numeric = values.is_numeric
    rows = []
    for number in np.flatnonzero(classes.sizes >= k):
        records = order[ends[number] : ends[number + 1]]
        texts = [str(text) for text in values.distinct[values.codes[records]] if text != ""]
        # The size of the class is known, so a few missing values would follow from the number of the others.
        may_count = is_reportable((len(texts), len(records) - len(texts)), k)
        described = texts if len(texts) >= k else []
        if is_numeric:
            figures = _describe_numbers(described)
        else:
            least = k if values.changed[records].any() else 1
            figures = _describe_categories(described, least, may_count)
        count = mask_small_count(len(texts), k) if may_count else None
        rows.append({"class": classes.label_as_dict(int(number)), "count": count, **figures})
    return rows


def warn_of_few_values(
    values: OriginalValues, matching: RecordMatching, column: str, k: int
) -> list[Finding]:
    """Warn if classes of few records hold other numbers than before: their figures may give the original ones away."""
    if not values.is_numeric:
        return []
    classes = matching.released
    class_of = classes.class_of[matching.released_rows]
    records = np.bincount(class_of, minlength=len(classes.labels))
    changed = np.bincount(class_of, values.changed, minlength=len(classes.labels)) > 0
    few = int(np.count_nonzero(changed & (records >= k) & (records < ROUNDING_FACTOR * k)))
    if not few:
        return []
    number = format_count(few, "class")
    message = f"The figures of {number} of few records may give the original values away, which are not released there."
    remedy = "Hand them on only if the release was not meant to hide these values."
    return [Finding("few-values", message, remedy, Severity.WARNING, column=column)]


def _describe_numbers(texts: Sequence[str]) -> dict[str, Any]:
    if not texts:
        return {"mean": None, "median": None, "mode": None, "sd": None}
    numbers = np.array([finite_number(text) for text in texts], np.float64)
    return {
        "mean": float(numbers.mean()),
        "median": float(np.median(numbers)),
        "mode": _find_mode(Counter(numbers.tolist()), 1),
        "sd": float(numbers.std(ddof=1)) if numbers.size > 1 else None,
    }


def _describe_categories(texts: Sequence[str], least: int, may_count: bool) -> dict[str, Any]:
    counts = Counter(texts)
    shares = _compute_shares(counts, least) if texts and may_count else None
    return {"mode": _find_mode(counts, least), "shares": shares}


def _find_mode(counts: Mapping[Value, int], least: int) -> Value | None:
    """Find the most frequent value, of several the smallest; None if ``least`` records do not have it.

    There is none either if several values all occur once.
    """
    if not counts:
        return None
    value = min(counts, key=lambda candidate: (-counts[candidate], candidate))
    if counts[value] < least or (counts[value] == 1 and len(counts) > 1):
        return None
    return value


def _compute_shares(counts: Counter[str], least: int) -> dict[str, float]:
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

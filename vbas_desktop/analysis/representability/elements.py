"""Titles and explanations of the elements of the vector, and the masking of numbers that may not be reported.

No number is reported that is, or gives away by subtraction, a number of fewer than k records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

ROUNDING_FACTOR = 10
"""Multiple of k records from which a rounded figure does not disclose how a few of them were spread."""

OVERALL_MEASURES = {
    "precision": (
        "Detail kept",
        "1 if every value is as it was, 0 if every value is suppressed: the mean over the columns. The more regions a "
        "place holds, the more it loses",
    ),
    "jaccard": (
        "Kept together (Jaccard)",
        "of the pairs of records that share a class before or after, the share that does so both times",
    ),
    "fowlkes_mallows": (
        "Fowlkes–Mallows index",
        "the geometric mean of the shares of pairs kept together, seen from before and from after",
    ),
    "rand": (
        "Rand index",
        "the share of all pairs on which both files agree; close to 1 where there are many classes",
    ),
    "hubert": (
        "Hubert’s statistic",
        "the correlation of being together before and after, over all pairs of records: 1 if both files agree, 0 if "
        "they have nothing to do with each other",
    ),
    "entropy_loss": (
        "Loss by entropy",
        "how uncertain the original class of a record is if its released class is known, against not knowing it: 0 "
        "nothing is lost, 1 everything",
    ),
    "davies_bouldin": (
        "Davies–Bouldin index",
        "how wide the released classes are against the distance between them: lower is better",
    ),
    "davies_bouldin_normalised": (
        "Davies–Bouldin, normalised",
        "the same between the best case (0: the original) and the worst (1), which is one for all releases of a file",
    ),
    "mean_distance": (
        "Distance moved",
        "mean distance from a record’s initial region to its aggregated region’s centre",
    ),
    "sample_size_ratio": (
        "Share of records released",
        "records of the released file for each one of the original: above 1 if records were made up",
    ),
}
"""Title and explanation of each overall measure."""


def explain_measure(name: str, value: float | None) -> str:
    """Explain the value of a measure that few people know; empty for the others."""
    if value is None:
        return ""
    if name == "jaccard":
        return f"Of 100 pairs of records that are alike before or after, {100 * value:.0f} are alike both times."
    if name == "fowlkes_mallows":
        return (
            "The geometric mean of two shares: pairs alike before that still are, and pairs alike now that were. "
            "1: nothing was merged. It is never below Jaccard."
        )
    if name == "rand":
        return (
            f"Of 10,000 pairs of records, {10_000 * value:,.0f} are alike or different as they were before. Nearly all "
            "pairs differ anyway, so that it is close to 1 whatever is merged."
        )
    if name == "hubert":
        return (
            "The correlation of “alike before” and “alike after” over all pairs of records. 1: nothing was merged; 0: "
            "the classes have nothing to do with the original ones."
        )
    if name == "entropy_loss":
        return (
            f"Who knows the released class of a record still lacks {100 * value:.0f} % of the information on its "
            "original class."
        )
    return ""


ELEMENTS = {
    "per_class": ("Class by class", "The same measures for each released class of at least k records."),
    "excluded_attributes": (
        "Columns left out",
        "Columns of the original that the released file lacks, and why.",
    ),
    "included_quasi_identifiers": ("Quasi-identifiers", "The columns that make the classes."),
    "attributes": (
        "Columns in detail",
        "Columns left out and quasi-identifiers: type and range of the original values, why they were collected, and "
        "why they are left out or included. The range is that of values that at least k records have.",
    ),
    "excluded_classes": (
        "Classes left out",
        "Original classes of which no record was released. Small ones have no name here.",
    ),
    "coding": (
        "Meaning of the values",
        "On which level of its hierarchy each quasi-identifier was released, and how its values are compared.",
    ),
    "sensitive_values": (
        "Sensitive values",
        "The original values of the records of each released class, also where the release holds others.",
    ),
    "weights": (
        "Weights",
        "How much each quasi-identifier and each level of a hierarchy counts for the detail kept.",
    ),
    "general": ("In general", "The setting."),
}
"""Title and explanation of each element of the vector."""

APPROACHES = {
    "delete": "Deleted: in the original only",
    "generalise": "Generalised: raised to a coarser level",
    "merge": "Merged: moved to the values of another class",
    "fabricate": "Fabricated: in the released file only",
}
"""Sentence on each approach to records."""


NUMBER_FIGURES = {"mean": "mean", "median": "median", "mode": "mode", "sd": "standard deviation"}
"""Title of each figure of sensitive numbers."""

_MAX_SHARES = 5


def format_shares(shares: Mapping[str, float] | None) -> str:
    """List the largest shares of categories."""
    if not shares:
        return "–"
    listed = [f"{value} {100 * share:.1f} %" for value, share in list(shares.items())[:_MAX_SHARES]]
    left = len(shares) - len(listed)
    return "; ".join(listed) + (f"; {left:,} more" if left else "")


def mask_small_count(records: int, k: int) -> int | None:
    """Return a number of records if it may be reported, that is, 0 or at least k; None stands for "fewer than k"."""
    return records if records == 0 or records >= k else None


def is_reportable(numbers: Iterable[int], k: int) -> bool:
    """Tell if all of these numbers of records may be reported."""
    return all(mask_small_count(number, k) is not None for number in numbers)


def mask_small_parts(parts: Mapping[str, int], k: int) -> dict[str, int | None]:
    """Mask the small parts of a known total.

    The masked ones must not follow from what is missing to the total, so if they are fewer than k together, the
    smallest of the others is masked too.
    """
    masked = {name: mask_small_count(records, k) for name, records in parts.items()}
    hidden = sum(records for name, records in parts.items() if masked[name] is None)
    others = [name for name, records in masked.items() if records]
    if 0 < hidden < k and others:
        masked[min(others, key=lambda name: parts[name])] = None
    return masked


def mask_figure(value: float | None, records: int, smallest_part: int, k: int) -> float | None:
    """Mask a figure that depends on how records fall into parts; ``smallest_part`` are the fewest in one (0: no part).

    Exact if no part is below k; of many records rounded; else None.
    """
    if value is None or records < k:
        return None
    if smallest_part == 0 or smallest_part >= k:
        return value
    return round(value, 2) if records >= ROUNDING_FACTOR * k else None


def bound_share(missing: int, records: int, k: int) -> float:
    """Return a lower bound of the share of records that is there, too coarse to work out how many are missing."""
    most_missing = (missing + k - 1) // k * k
    return math.floor(100 * max(0, records - most_missing) / records) / 100 if records else 0.0

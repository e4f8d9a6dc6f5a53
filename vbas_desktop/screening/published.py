"""Published figures on planned appointments, to be shown beside the computed ones; they are never asserted.

Source 004: R. Caballero, S. Sen, J. F. Nygård, Anticipating Anonymity in Screening Program Databases, International
Journal of Medical Informatics (2017), sections 7 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "Caballero, Sen, Nygård 2017"

USUAL_CLASSES = "N/100+5"
"""Number of quasi-identifier values of Table 10 for N people (section 8.1)."""


@dataclass(frozen=True)
class PublishedGain:
    """Improvements of Table 10: of the heuristic over random seats, and of the optimum over the heuristic."""

    heuristic_over_random: float
    optimal_over_heuristic: float | None


TABLE_10 = {
    20: PublishedGain(0.24, 0.01),
    25: PublishedGain(0.20, 0.02),
    30: PublishedGain(0.36, 0.05),
    35: PublishedGain(0.42, 0.12),
    40: PublishedGain(0.54, 0.14),
    45: PublishedGain(0.50, 0.14),
    50: PublishedGain(0.62, 0.10),
    100: PublishedGain(0.82, None),
    250: PublishedGain(0.93, None),
    500: PublishedGain(0.92, None),
    1000: PublishedGain(0.92, None),
}

MANY_CLASSES = {1000: PublishedGain(0.35, None)}
"""With N/10 + 5 quasi-identifier values, in the text of section 8.1."""


@dataclass(frozen=True)
class PublishedRegion:
    """One row of Table 11: invitations and centres of a region, and its smallest, largest and mean improvement."""

    region: int
    invitations: int
    centres: int
    smallest: float
    largest: float
    mean: float


TABLE_11 = (
    PublishedRegion(1, 1_370_100, 13, 0.654, 0.969, 0.826),
    PublishedRegion(2, 348_487, 4, 0.017, 0.653, 0.344),
    PublishedRegion(3, 303_226, 3, 0.358, 0.922, 0.588),
    PublishedRegion(4, 244_990, 3, 0.095, 0.893, 0.537),
    PublishedRegion(9, 132_395, 3, 0.0, 0.214, 0.036),
)

DATES = 282
BIRTH_YEARS = (1904, 1996)


def published_gain(classes: str, people: int) -> PublishedGain | None:
    """Return the published improvement for an expression of the number of classes and a number of people."""
    plain = classes.replace(" ", "").upper()
    tables = {USUAL_CLASSES: TABLE_10, "N/10+5": MANY_CLASSES}
    return tables.get(plain, {}).get(people)

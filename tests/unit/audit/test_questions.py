"""What the tests of columns ask for, in words."""

from dataclasses import dataclass

import numpy as np

from vbas_desktop.audit.released_records import Sample, questions


@dataclass(frozen=True)
class Records:
    """Released records of one quasi-identifier, in tiers."""

    sample: Sample
    larger: Sample
    memberships: tuple
    quasi_identifiers: tuple = ("age",)
    k: int = 2


def sample_of(regions, tier):
    number = len(regions)
    age = np.zeros(number, np.int64)
    tiers = np.full(number, tier, np.int64)
    return Sample(np.arange(number), np.array(regions), tiers, age[np.newaxis], (None,), age)


def test_places_of_every_finer_tier_are_asked_for_by_their_names():
    memberships = (
        np.array([0, 0, 1, 1, 2, 2, 3, 3]),
        np.array([0, 0, 0, 0, 1, 1, 1, 1]),
        np.zeros(8, np.int64),
    )
    everywhere = sample_of(range(8), tier=2)
    asked = [
        (question.same, question.within)
        for question in questions(Records(everywhere, everywhere, memberships))
    ]
    largest = "the released place of tier 2"
    within_class = f"{largest} with its quasi-identifiers"
    finer = ["initial region", "aggregated region", "place of tier 1"]
    assert asked == [
        ("initial region", "the aggregated region"),
        *((same, largest) for same in finer),
        *((same, within_class) for same in finer),
        ("category", ""),
    ]

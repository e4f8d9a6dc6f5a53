"""Made-up records: of which records their other values are."""

import random

import numpy as np

from vbas_desktop.assessment.representability.handling import Handled
from vbas_desktop.assessment.representability.made_up import MadeUp, Places


def test_values_come_from_records_all_over_a_long_file():
    rows = 20_000
    number = 3_000
    handled = Handled(labels=(("young",),), added={("young",): number})
    places = Places(quasi=(1,), sensitive=(), fillings=[()], key=None)
    made_up = MadeUp(handled, places, 2, random.Random(4))
    for row in range(rows):
        made_up.see([str(row), "old"])
    found = list(made_up.records(iter(())))
    assert [row[1] for row in found] == ["young"] * number
    drawn = np.array([int(row[0]) for row in found])
    # Each tenth of the file gives a tenth of the values, within five standard deviations (of about 1,000 donors).
    shares = np.bincount(drawn * 10 // rows, minlength=10) / number
    assert np.abs(shares - 0.1).max() < 0.06

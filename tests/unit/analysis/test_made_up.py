"""Made-up records: of which records their other values are."""

import random

import numpy as np

from vbas_desktop.analysis.outliers.synthetic_rows import RowLayout, SyntheticRows


def test_values_come_from_records_all_over_a_long_file():
    rows = 20_000
    number = 3_000
    layout = RowLayout(quasi=(1,), sensitive=(), fillings=[()], key=None)
    synthetic_rows = SyntheticRows({("young",): number}, layout, 2, random.Random(4))
    for row in range(rows):
        synthetic_rows.offer([str(row), "old"])
    found = list(synthetic_rows.fabricate(iter(())))
    assert [row[1] for row in found] == ["young"] * number
    drawn = np.array([int(row[0]) for row in found])
    # Each tenth of the file gives a tenth of the values, within five standard deviations (of about 1,000 donors).
    shares = np.bincount(drawn * 10 // rows, minlength=10) / number
    assert np.abs(shares - 0.1).max() < 0.06

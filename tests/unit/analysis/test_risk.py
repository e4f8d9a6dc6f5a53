import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.analysis.risk import measure_risk


def test_the_prosecutor_knows_who_is_in_the_file():
    risk = measure_risk(np.array([1, 4, 5]))
    assert risk.records == 10
    assert risk.prosecutor_maximum == 1.0
    assert risk.prosecutor_average == 0.3
    assert risk.marketer == 0.3


def test_records_at_risk_are_those_of_classes_below_5_11_and_20():
    assert measure_risk(np.array([4, 5, 10, 11, 19, 20])).at_risk == (4, 19, 49)


def test_nothing_released_means_no_risk_to_speak_of():
    risk = measure_risk(np.zeros(3, np.int64))
    assert (risk.records, risk.prosecutor_maximum, risk.marketer, risk.at_risk) == (
        0,
        None,
        None,
        (0, 0, 0),
    )


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
@settings(max_examples=50)
def test_the_average_is_that_over_records(sizes):
    per_record = [1 / size for size in sizes for _ in range(size)]
    risk = measure_risk(np.array(sizes))
    assert risk.prosecutor_average == pytest.approx(sum(per_record) / len(per_record))
    assert risk.prosecutor_maximum == max(per_record)
    assert risk.at_risk[0] == sum(size for size in sizes if 1 / size > 0.2)
    assert risk.at_risk[2] == sum(size for size in sizes if 1 / size > 0.05)

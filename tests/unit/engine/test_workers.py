"""How many threads the site numbers of a range get."""

import numpy as np
import pytest

from vbas_desktop.engine import parallel
from vbas_desktop.engine.parallel import choose_worker_count
from vbas_desktop.model.counts import ClassCounts


def counts(regions: int, classes: int) -> ClassCounts:
    return ClassCounts.from_matrix((classes,), np.arange(classes), np.ones((regions, classes), np.int64))


@pytest.mark.parametrize(
    ("regions", "classes", "cores", "workers"),
    [
        (4_426, 44, 8, 1),  # 194,744 counts: a run is over before threads pay
        (
            17_613,
            22,
            8,
            1,
        ),  # 22 × 12 bytes of counts per region have no room for the 360 of a second thread
        (17_613, 29, 8, 1),  # 29 × 12 are just too few as well
        (17_613, 44, 8, 2),  # 44 × 12 have room for one of them
        (17_613, 132, 8, 3),
        (17_613, 132, 2, 2),
        (17_613, 132, 1, 1),
    ],
)
def test_threads_are_used_where_they_pay_and_memory_allows_them(
    monkeypatch, regions, classes, cores, workers
):
    monkeypatch.setattr(parallel.os, "cpu_count", lambda: cores)
    assert choose_worker_count(0, 5, counts(regions, classes)) == workers


def test_there_are_never_more_threads_than_site_numbers(monkeypatch):
    monkeypatch.setattr(parallel.os, "cpu_count", lambda: 8)
    assert choose_worker_count(0, 1, counts(17_613, 132)) == 1
    assert choose_worker_count(7, 5, counts(10, 2)) == 5


def test_who_asks_for_a_number_of_threads_gets_it():
    assert choose_worker_count(4, 5, counts(10, 2)) == 4

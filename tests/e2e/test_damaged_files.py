"""Damaged files end in words and with a code of the program's own; a few of those that `damaged_files.py` tries."""

import random

from damaged_files import Bench, attempts
from damaged_inputs import damaged_inputs


def test_damaged_files_end_in_words(tmp_path):
    assert attempts(tmp_path, 40, 0) == []


def test_files_that_once_were_handled_wrongly(tmp_path):
    bench = Bench(tmp_path)
    seeds = (1116, 1161, 1177, 1178, 1210, 1218, 5020, 5152, 9045, 20072)
    assert [bench.attempt(random.Random(seed)) for seed in seeds] == [None] * len(seeds)


def test_damaged_inputs_of_every_kind_end_in_words_and_show_no_record(tmp_path):
    assert damaged_inputs(tmp_path, 40, 0) == []

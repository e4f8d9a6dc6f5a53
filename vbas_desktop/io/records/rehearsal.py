"""Small made-up files read and counted once, so that the loops of loading are compiled before they are needed."""

from __future__ import annotations

import tempfile
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

from .bits import PADDING
from .coding import ColumnCoder, Fields
from .dictionary import recode, tally
from .table import load_records

_MANY = 600
"""More values than a byte can tell apart, or a new dictionary has room for. Two columns of so many have more classes
than are counted directly, three more than a table of them may have."""


def rehearse() -> None:
    """Regular and quoted text with and without empty fields, short and long values, few and many classes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "records.csv"
        for text in (_regular(), _quoted()):
            file.write_text(text, encoding="utf-8")
            load_records(file)
    _code_widely()
    for raw, out in combinations_with_replacement((np.uint8, np.uint16, np.uint32), 2):
        # A column's first blocks have small codes even if there are many values in the end.
        recode(np.zeros(1, raw), np.zeros(1, np.uint32), np.zeros(1, out))
        tally(np.zeros(1, raw), np.zeros((4, 1), np.int64))
        tally(np.zeros(1, out), np.zeros((4, 1), np.int64))


def _code_widely() -> None:
    """Code a field as if there were more values than two bytes can tell apart, then as if there were too many."""
    coder = ColumnCoder("many", 0, 1)
    coder.narrowest = np.uint32
    text, places = np.zeros(1 + PADDING, np.uint8), np.array([-1, 1], np.int32)
    for categorical in (True, False):
        coder.categorical = categorical
        coder.add(Fields(text, places, places[1:], 1, 1))


def _regular() -> str:
    rows = [f"{i % 2},{i},a long välue number {i},{i * i}" for i in range(_MANY)]
    return "\n".join(["few,many,long,number", *rows, ""])


def _quoted() -> str:
    rows = [f'"{i % 2}",{i},"a ""long"" value, {i}",{i or ""}' for i in range(_MANY)]
    return "\r\n".join(["few,many,long,number", *rows, ""])

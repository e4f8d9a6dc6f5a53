"""Small made-up tables searched once, so that the loops of the search are compiled before they are needed."""

from __future__ import annotations

from .mining import mine
from .table import Table


def rehearse() -> None:
    """Few values and more than a byte can tell apart; two columns and so many that keys of 32 bits are too short."""
    for values in (3, 300):
        for columns in (2, 5):
            names = [str(column) for column in range(columns)]
            rows = [[str((i * (column + 1)) % values) for column in range(columns)] for i in range(values + 1)]
            mine(Table.of_rows(names, rows), 2, max_size=3)

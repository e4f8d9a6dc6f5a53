"""Compute anew from the input which value all records of a class must have."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_DOWN, Decimal, localcontext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Check

_PRECISION = 1000


def expected_aggregates(
    frequencies: Mapping[int, Counter[str]], sizes: NDArray[np.int64], below: int | None
) -> dict[int, str]:
    """Return the value of each class that has to have one value, by the number of the class.

    ``frequencies`` has how often the records of each released class have each text as it is written.
    """
    texts = {text for counter in frequencies.values() for text in counter if text != ""}
    numeric = all(_is_number(text) for text in texts)
    values = {}
    for number, counter in frequencies.items():
        if below is not None and sizes[number] >= below:
            continue
        counts = {text: count for text, count in counter.items() if text != ""}
        if not counts:
            values[number] = ""
        elif numeric:
            values[number] = _mean(counts)
        else:
            most = max(counts.values())
            values[number] = sorted(text for text, count in counts.items() if count == most)[0]
    return values


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite() and abs(float(text)) != float("inf") and "_" not in text
    except (ArithmeticError, ValueError):
        return False


def _mean(counts: Mapping[str, int]) -> str:
    """Return the mean, with two decimals more than the numbers have (at most twelve), cut off, without zeros behind."""
    with localcontext() as context:
        context.prec = _PRECISION
        numbers = {Decimal(text): 0 for text in counts}
        for text, count in counts.items():
            numbers[Decimal(text)] += count
        mean = sum(value * count for value, count in numbers.items()) / Decimal(sum(numbers.values()))
        decimals = max(len(f"{Decimal(text):f}".partition(".")[2]) for text in counts)
        cut = Decimal(mean).quantize(Decimal(1).scaleb(-(min(decimals, 10) + 2)), rounding=ROUND_DOWN)
        text = f"{cut:f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def check_class_counts(file: Path, names: Sequence[str], counts: Mapping[tuple[str, ...], int]) -> Check:
    """Check that the list of classes in a file is what the released file holds: ``counts`` of records by class."""
    name = "the number of records of each class is that of the released file"
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            header, *rows = csv.reader(stream)
    except (OSError, ValueError):
        return Check(name, False, "it cannot be read")
    if header != [*names, "records"] or not all(
        len(row) == len(header) and row[-1].isdecimal() for row in rows
    ):
        return Check(name, False, "its columns are others")
    listed = {tuple(row[:-1]): int(row[-1]) for row in rows}
    return Check(name, listed == counts and len(listed) == len(rows), f"{len(rows):,} classes")

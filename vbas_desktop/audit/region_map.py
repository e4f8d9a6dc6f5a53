"""Recompute which region each record of the input got by a region map. Shares no code with what assigned them.

The rule: of the n records of an id, in the order of the rows, a region with share q gets floor(n·q); what is left goes
to the largest remainders, ties to the line listed first. The i-th of the c records of a region stands at (i − 1/2) / c
of the way through the records of the id; where several stand at one point, the line listed first comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vbas_desktop.model.errors import VerificationFailed

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Line:
    """One line of the map: a region and its share of the records."""

    region: str
    share: Fraction


def read_lines(path: Path) -> dict[str, list[Line]]:
    """Read the lines of each id, in their order, with shares that add up to 1."""
    try:
        frame = pd.read_csv(path, dtype=str, na_filter=False, encoding="utf-8-sig")
    except (ValueError, OSError):
        raise VerificationFailed("The region map could not be read again. Nothing was released.") from None
    frame.columns = [name.strip().lower() for name in frame.columns]
    found: dict[str, list[Line]] = {}
    for row in frame.to_dict("records"):
        share = Fraction(Decimal(row["share"].strip())) if "share" in row else Fraction(1)
        if share:
            found.setdefault(row["from"], []).append(Line(row["to"], share))
    for lines in found.values():
        total = sum(line.share for line in lines)
        lines[:] = [Line(line.region, line.share / total) for line in lines]
    return found


def regions_in_turn(records: int, lines: Sequence[Line]) -> list[int]:
    """List the lines by number, as the records of an id get them one after the other."""
    if len(lines) == 1:
        return [0] * records
    whole = [records * line.share // 1 for line in lines]
    rest = records - sum(whole)
    by_remainder = sorted(range(len(lines)), key=lambda at: (-(records * lines[at].share - whole[at]), at))
    for at in by_remainder[: int(rest)]:
        whole[at] += 1
    places = [
        ((2 * number - 1) / (2 * int(part)), at) for at, part in enumerate(whole) for number in range(1, part + 1)
    ]
    return [at for _, at in sorted(places)]


class Assignment:
    """Puts the hashes of regions in place of those of the ids, batch after batch.

    ``counts`` says how many records each id has; ``hash_texts`` hashes texts as those of the records are.
    """

    def __init__(
        self,
        lines: Mapping[str, Sequence[Line]],
        counts: Mapping[int, int],
        hash_texts: Callable[[Iterable[str]], Hashes],
    ) -> None:
        self._turns: dict[int, Hashes] = {}
        self._used: dict[int, int] = {}
        for identifier, number in zip(lines, hash_texts(lines).tolist(), strict=True):
            records = counts.get(number, 0)
            if records:
                regions = hash_texts(line.region for line in lines[identifier])
                self._turns[number] = regions[regions_in_turn(records, lines[identifier])]
                self._used[number] = 0

    def replace(self, column: Hashes) -> None:
        """Put regions in place of the ids of the next records."""
        order = np.argsort(column, kind="stable")
        ids, starts = np.unique(column[order], return_index=True)
        borders = [*starts.tolist(), column.size]
        for identifier, (start, end) in zip(ids.tolist(), pairwise(borders), strict=True):
            turns = self._turns.get(identifier)
            if turns is not None:
                used = self._used[identifier]
                column[order[start:end]] = turns[used : used + end - start]
                self._used[identifier] = used + end - start


def mapped_codes(
    codes: NDArray[np.int32], texts: Sequence[str], lines: Mapping[str, Sequence[Line]]
) -> tuple[NDArray[np.int32], list[str]]:
    """Put regions in place of the ids of all records; returns the new codes and their texts."""
    known: dict[str, int] = {}
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(texts)), side="right")
    found = np.empty(codes.size, np.int32)
    start = 0
    for text, end in zip(texts, ends.tolist(), strict=True):
        listed = lines.get(text, (Line(text, Fraction(1)),))
        numbers = np.array([known.setdefault(line.region, len(known)) for line in listed], np.int32)
        found[order[start:end]] = numbers[regions_in_turn(end - start, listed)]
        start = end
    return found, list(known)

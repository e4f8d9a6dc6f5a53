"""Recompute which region each record of the input got by a region map. Shares no code with what assigned them.

The rule: of the n records of an id, in the order of the rows, a region with share q gets floor(n·q); what is left goes
to the largest remainders, ties to the line listed first. The i-th of the c records of a region stands at (i − 1/2) / c
of the way through the records of the id; where several stand at one point, the line listed first comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vbas_desktop.model.findings import VerificationFailed

from .coded_file import CodedFile, FileColumn


@dataclass(frozen=True)
class RegionShare:
    """One line of the map: a region and its share of the records."""

    region: str
    share: Fraction


def read_region_shares(path: Path) -> dict[str, list[RegionShare]]:
    """Read the lines of each id, in their order, with shares that add up to 1."""
    try:
        frame = pd.read_csv(path, dtype=str, na_filter=False, encoding="utf-8-sig")
    except (ValueError, OSError):
        raise VerificationFailed(
            "The region map could not be read again. Nothing was released."
        ) from None
    frame.columns = [name.strip().lower() for name in frame.columns]
    regions_found: dict[str, list[RegionShare]] = {}
    for row in frame.to_dict("records"):
        share = Fraction(Decimal(row["share"].strip())) if "share" in row else Fraction(1)
        if share:
            regions_found.setdefault(row["from"], []).append(RegionShare(row["to"], share))
    for lines in regions_found.values():
        total = sum(line.share for line in lines)
        lines[:] = [RegionShare(line.region, line.share / total) for line in lines]
    return regions_found


def regions_in_turn(records: int, lines: Sequence[RegionShare]) -> list[int]:
    """List the lines by number, as the records of an id get them one after the other."""
    if len(lines) == 1:
        return [0] * records
    whole = [records * line.share // 1 for line in lines]
    rest = records - sum(whole)
    by_remainder = sorted(
        range(len(lines)), key=lambda at: (-(records * lines[at].share - whole[at]), at)
    )
    for at in by_remainder[: int(rest)]:
        whole[at] += 1
    positions = [
        ((2 * number - 1) / (2 * int(part)), at)
        for at, part in enumerate(whole)
        for number in range(1, part + 1)
    ]
    return [at for _, at in sorted(positions)]


def assign_regions(
    file: CodedFile, ids: FileColumn, lines: Mapping[str, Sequence[RegionShare]]
) -> FileColumn:
    """Put regions in place of the ids of all records, in their order."""
    region_numbers: dict[str, int] = {}
    turns = []
    for text, records in zip(ids.known_texts, ids.frequencies.tolist(), strict=True):
        listed = lines.get(text, (RegionShare(text, Fraction(1)),))
        numbers = np.array(
            [region_numbers.setdefault(line.region, len(region_numbers)) for line in listed], np.int32
        )
        # An id with a single region needs no list of turns.
        turns.append(numbers if len(listed) == 1 else numbers[regions_in_turn(records, listed)])
    used = np.zeros(len(turns), np.int64)
    chunks = (_assign(ids.codes(number), turns, used) for number in range(len(file.sizes)))
    return replace(file.add_column(chunks, len(region_numbers)), texts=tuple(region_numbers), numbers=0)


def _assign(
    codes: NDArray[np.integer], turns: Sequence[NDArray[np.int32]], used: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the regions of the next records; ``used`` counts the turns of each id that were taken."""
    regions_found = np.empty(codes.size, np.int32)
    order = np.argsort(codes, kind="stable")
    ids, starts = np.unique(codes[order], return_index=True)
    for identifier, (start, end) in zip(
        ids.tolist(), pairwise([*starts.tolist(), codes.size]), strict=True
    ):
        turn = turns[identifier]
        if turn.size == 1:
            regions_found[order[start:end]] = turn[0]
        else:
            regions_found[order[start:end]] = turn[used[identifier] : used[identifier] + end - start]
        used[identifier] += end - start
    return regions_found

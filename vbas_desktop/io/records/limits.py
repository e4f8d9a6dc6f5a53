"""Bounds of reading a record file. The usual ones suit every file; tests set others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadLimits:
    """How much of a file is held at a time, and what is refused or left uncoded.

    ``longest_row``: a longer row, in bytes, is taken for a quote that was never closed, or for no row at all.
    ``distinct``: a column with more values is not coded; it holds text or identifiers, not categories.
    ``identifier_from``: from this number of values on, a column with a value of its own for every second record is not
    coded either. ``beginning_rows``: line 2 is judged by so many rows if these leave no doubt.
    """

    block_bytes: int = 8 << 20
    longest_row: int = 16 << 20
    distinct: int = 1_000_000
    identifier_from: int = 50_000
    beginning_rows: int = 1 << 16
    threads: int = 2


USUAL_LIMITS = ReadLimits()

"""Describe the form of a record file, for whatever reads or writes one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """Hold what was understood of a record file's form.

    ``header`` has the column names in file order. ``category_line``: line 2 holds numbers of response categories and is
    not a record. ``bom``: the file starts with a byte-order mark. ``encoding`` is that of the file, also where it is
    transcoded for reading.
    """

    format: str
    delimiter: str | None = None
    encoding: str | None = None
    bom: bool = False
    compressed: bool = False
    category_line: bool = False
    header: tuple[str, ...] = ()

"""Query an engine in parts where memory is short."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vbas_desktop.model.errors import InputError

from .engine import OUT_OF_MEMORY, DatabaseEngine

T = TypeVar("T")

_STEP = 4
_MOST_PARTS = 64


def in_parts(engine: DatabaseEngine, column: int, job: Callable[[str], T]) -> list[T]:
    """What a job gives of all records, which it gets by their name; if memory is short, of ever smaller parts.

    The parts are cut by the values of a column, so nothing that is grouped by it is in two of them.
    """
    number = 1
    while True:
        names = engine.parts(column, number)
        try:
            return [job(name) for name in names]
        except InputError as error:
            short = any(finding.code == OUT_OF_MEMORY for finding in error.findings)
            if not short or number > len(names) or number >= _MOST_PARTS:
                raise
        number *= _STEP

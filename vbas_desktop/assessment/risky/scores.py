"""In how many minimal risky combinations each record is: the more, the easier it is to single out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.progress import Progress
from vbas_desktop.files.atomic import write_text

from .found import Search
from .table import Table

_CHUNK = 100_000


def record_scores(table: Table, search: Search) -> NDArray[np.int32]:
    """The score of each record in the order of the file; suppressed records have none, which is 0."""
    scores = np.append(search.scores, np.int32(0))  # the last one is that of suppressed records, whose row is −1
    return np.asarray(scores[table.row_of])


def records_by_score(table: Table, search: Search) -> dict[int, int]:
    """How many records have each score that occurs."""
    numbers = np.bincount(search.scores, table.weights, minlength=1)
    return {score: int(number) for score, number in enumerate(numbers.tolist()) if number}


def write_scores(path: Path, table: Table, search: Search, progress: Progress) -> None:
    """A CSV ``record,combinations``: the number of each record in the file, from 1, and its score. No value is told."""
    scores = record_scores(table, search)
    parts = ["record,combinations\n"]
    for start in range(0, scores.size, _CHUNK):
        progress.update("Writing scores", start / scores.size)
        some = scores[start : start + _CHUNK].tolist()
        parts.append("".join(f"{number},{score}\n" for number, score in enumerate(some, start + 1)))
    write_text(path, "".join(parts), private=True)

"""What all ways of writing the released records share."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from vbas_desktop.io.records.row_order import RecordKeys
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from .composition import Decision
from .shuffle import order_key

WRITING, SHUFFLING = "Writing the anonymised file", "Shuffling the rows"

T = TypeVar("T")


@dataclass(frozen=True)
class Written:
    """What was written: its hash, the cells of each column that a spreadsheet might run, and its encoding.

    A file of ASCII alone is UTF-8, whatever the record file is: another encoding would tell of suppressed records.
    """

    sha256: str
    formulas: dict[str, int]
    encoding: str = "utf-8"


class Sink:
    """A file that remembers the hash and the size of what was written."""

    closed = False

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self._digest, self.size = out, hashlib.sha256(), 0
        self._is_ascii = True

    @property
    def sha256(self) -> str:
        """The hash of all that was written."""
        return self._digest.hexdigest()

    def encoding(self, used: str) -> str:
        """Return the encoding of what was written; ``used`` is the one of texts that are not ASCII."""
        return "utf-8" if self._is_ascii else used

    def write(self, data: Any) -> int:
        """Append bytes, or an array of them."""
        view = memoryview(data)
        self._is_ascii = self._is_ascii and int(np.frombuffer(view, np.uint8).max(initial=0)) < 128
        self._digest.update(view)
        self.size += view.nbytes
        self._out.write(view)
        return view.nbytes

    def tell(self) -> int:
        """The place of the next byte."""
        return self.size

    def flush(self) -> None:
        """Hand on what waits."""
        self._out.flush()

    def close(self) -> None:
        """Leave the file open: its owner closes it."""


class Records:
    """The records of a loaded table, of which `write` streams those that a plan releases into an open file."""

    def __init__(self, plan: Plan, table: RecordTable, options: ReleaseOptions) -> None:
        self._plan, self._table, self._options = plan, table, options
        self._released = options.released_columns(table.dialect.header)
        self._decision = Decision.of(plan)

    def write(self, out: IO[bytes], scratch: Path, progress: Progress) -> Written:
        """Write all released rows; ``scratch`` is a folder on the same disk for what does not fit into memory."""
        raise NotImplementedError

    @cached_property
    def _names(self) -> list[str]:
        """The columns of the release, under the names that they have there."""
        return [*(name for _, name in self._released), *self._options.added_columns]

    @cached_property
    def _delimiter(self) -> str:
        """What is between the fields of a released CSV file."""
        return self._options.delimiter or self._table.dialect.delimiter or ","

    @cached_property
    def _order_key(self) -> bytes:
        """What decides about the order of the rows, if they are shuffled, and about the keys of the records."""
        return order_key(self._plan, self._table, self._options)

    @cached_property
    def _record_keys(self) -> RecordKeys | None:
        """The keys of the records; None if none are released."""
        return None if self._options.record_key is None else RecordKeys(self._order_key)


def ahead(pool: ThreadPoolExecutor, jobs: Iterable[Callable[[], T]], number: int) -> Iterator[T]:
    """What each job gives, in their order; so many are worked on ahead."""
    waiting: deque[Future[T]] = deque()
    for job in jobs:
        waiting.append(pool.submit(job))
        if len(waiting) > number:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()

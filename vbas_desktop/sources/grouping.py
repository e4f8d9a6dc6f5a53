"""What engines have in common that read files with the same SQL: values of columns, missing ones, and changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vbas_desktop.domain.progress import Progress
from vbas_desktop.files.records.coding import DISTINCT_LIMIT

from .arrow_types import typed_as
from .engine import RECORDS, Description

_STAGE = "Looking at the records"
_SURE = 1.5
"""An estimate of distinct values is within this factor."""


class Grouping:
    """The part of an engine that asks by grouping; the rest is each engine's own."""

    description: Description

    def fetch(self, query: str, types: Any, progress: Progress, stage: str) -> Any:
        """All of a result."""
        raise NotImplementedError

    def refuse_changed(self) -> None:
        """Refuse to go on if a file is not the one any more that was opened."""
        raise NotImplementedError

    def values(self, column: int, progress: Progress) -> tuple[Any, Any, Any] | None:
        """The values of a column with their numbers."""
        name = f"c{column}"
        estimate = self.fetch(f"SELECT approx_count_distinct({name}) AS n FROM {RECORDS}", None, progress, _STAGE)
        if estimate.column(0)[0].as_py() > DISTINCT_LIMIT * _SURE:
            return None
        found = self.fetch(f"SELECT {name}, count(*) AS n FROM {RECORDS} GROUP BY {name}", None, progress, _STAGE)
        keys = found.column(0).combine_chunks()
        return keys, typed_as(keys, self.description.schema.field(column).type), found.column(1).combine_chunks()

    def missing(self, column: int, progress: Progress) -> int:
        """Records without a value."""
        import pyarrow as pa

        name, kind = f"c{column}", self.description.schema.field(column).type
        test = f"{name} IS NULL"
        if pa.types.is_floating(kind):
            test += f" OR isnan({name})"
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            test += f" OR {name} = ''"
        found = self.fetch(f"SELECT count(*) AS n FROM {RECORDS} WHERE {test}", None, progress, _STAGE)
        return int(found.column(0)[0].as_py())

    @contextmanager
    def steady(self, progress: Progress) -> Iterator[None]:
        """There are no snapshots of files: they are compared at the beginning, and again where something is kept."""
        self.refuse_changed()
        yield

"""Filters that choose the considered records of a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .records import SourceFile


@dataclass(frozen=True)
class FilterFile:
    """A table of combinations: each of ``rows`` has one value for each of ``columns``.

    ``row_numbers`` are the lines on which the combinations end in the file.
    """

    source: SourceFile
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_numbers: tuple[int, ...]


@dataclass(frozen=True)
class Selection:
    """The filters in force and how many records they leave out.

    A record is considered if it has a combination of ``required`` (None: any) and none of ``unwanted``.
    """

    required: FilterFile | None = None
    unwanted: FilterFile | None = None
    records_left_out: int = 0

    @property
    def files(self) -> Iterator[tuple[str, FilterFile]]:
        """Return the filters with the name of the option that gives each of them."""
        if self.required is not None:
            yield "keep_records", self.required
        if self.unwanted is not None:
            yield "drop_records", self.unwanted

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that decide, each once."""
        return tuple(dict.fromkeys(name for _, file in self.files for name in file.columns))

    @property
    def sha256(self) -> str:
        """Return a hash of the filters, by the content of their files."""
        named = " ".join(f"{name}={file.source.sha256}" for name, file in self.files)
        return hashlib.sha256(named.encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return the filters for ``run.json``, without any value."""
        files = {
            name: {
                "path": file.source.path,
                "size_bytes": file.source.size_bytes,
                "sha256": file.source.sha256,
                "columns": list(file.columns),
                "combinations": len(file.rows),
            }
            for name, file in self.files
        }
        return {**files, "sha256": self.sha256, "records_left_out": self.records_left_out}

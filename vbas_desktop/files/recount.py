"""Counts the classes of a written file from scratch, to say whether it is k-anonymous.

An independent reading: it uses Arrow's CSV parser and its own counting and shares no code with the loader or with
whatever wrote the file, so that a fault in those cannot hide itself here. The file streams by; memory is bounded by the
number of classes that occur.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress, Silent

from .access import check_readable

_BLOCK_BYTES = 8 << 20
_TABLE_CELLS = 1 << 22
_PENDING_CLASSES = 1 << 21
_STAGE = "Recounting classes"


@dataclass(frozen=True)
class Recount:
    """What a file holds: ``vector[size]`` is the number of classes of that size (a class never spans regions)."""

    records: int
    regions: int
    classes: int
    vector: Mapping[int, int]

    @property
    def anonymity(self) -> int | None:
        """The size of the smallest class; None if there are no records."""
        return min(self.vector, default=None)

    def violating_records(self, k: int) -> int:
        """How many records are in classes smaller than k."""
        return sum(size * number for size, number in self.vector.items() if size < k)

    def violating_classes(self, k: int) -> int:
        """How many classes are smaller than k."""
        return sum(number for size, number in self.vector.items() if size < k)

    def is_anonymous(self, k: int) -> bool:
        """Whether every class has at least k records."""
        return self.violating_records(k) == 0


def recount(
    path: str | Path,
    quasi_identifiers: Sequence[str],
    region_column: str,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    category_line: bool = False,
    progress: Progress | None = None,
) -> Recount:
    """Read any CSV and count the records of each region and combination of quasi-identifiers.

    ``delimiter`` and ``encoding`` are guessed if None; ``category_line``: line 2 is no record.
    """
    import pyarrow as pa

    path, progress = Path(path), progress or Silent()
    check_readable(path)
    columns = [*dict.fromkeys(quasi_identifiers), region_column]
    encodings = [encoding] if encoding else ["utf-8", "latin-1"]
    for attempt in encodings:
        invalid: list[int | None] = []
        counter = _Counter(len(columns))
        try:
            for batch in _batches(path, columns, delimiter, attempt, category_line, invalid, progress):
                counter.add(batch)
        except (pa.ArrowInvalid, UnicodeError, OSError, EOFError, zlib.error) as error:
            # Arrow's own messages quote the row, so only their kind is passed on.
            if attempt != encodings[-1] and ("UTF8" in str(error) or isinstance(error, UnicodeError)):
                continue
            raise InputError(_unreadable(path)) from None
        if invalid:
            raise InputError(_ragged(path, invalid))
        return counter.result()
    raise AssertionError("one attempt returns or raises")


def _batches(
    path: Path,
    columns: Sequence[str],
    delimiter: str | None,
    encoding: str,
    category_line: bool,
    invalid: list[int | None],
    progress: Progress,
) -> Iterator[list[tuple[NDArray[np.int64], list[str]]]]:
    """For each block of the file, the local codes and the local values of each column."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    def skip(row: Any) -> str:
        invalid.append(row.number)
        return "skip"

    compressed = _is_compressed(path)
    delimiter = _checked_delimiter(path, columns, delimiter, encoding, compressed)
    text = pa.dictionary(pa.int32(), pa.string())
    with _utf8_stream(path, encoding, compressed) as stream:
        reader = arrow_csv.open_csv(
            pa.PythonFile(_WholeLineEnds(stream), "r"),
            arrow_csv.ReadOptions(block_size=_BLOCK_BYTES, skip_rows_after_names=1 if category_line else 0),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip),
            arrow_csv.ConvertOptions(
                include_columns=list(columns),
                column_types=dict.fromkeys(columns, text),
                strings_can_be_null=False,
                null_values=[],
            ),
        )
        blocks = max(1, path.stat().st_size // _BLOCK_BYTES)
        for number, batch in enumerate(reader):
            progress.update(_STAGE, min(1.0, number / blocks))
            yield [(array.indices.to_numpy().astype(np.int64), array.dictionary.to_pylist()) for array in batch.columns]


def _utf8_stream(path: Path, encoding: str, compressed: bool) -> IO[bytes]:
    """The file's bytes, recoded if its text is not UTF-8."""
    if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
        return codecs.EncodedFile(_utf8_stream(path, "utf-8", compressed), "utf-8", encoding)  # type: ignore[return-value]
    return gzip.open(path, "rb") if compressed else path.open("rb")  # type: ignore[return-value]


class _WholeLineEnds(io.RawIOBase):
    """A file whose pieces never end with a return: Arrow drops a line feed that a piece begins with after one."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size - 1 if size > 1 else size)
        return data + self._file.read(1) if data.endswith(b"\r") else data


class _Counter:
    """Adds up the classes of block after block. A class is one row of codes, the last of them the region's."""

    def __init__(self, columns: int) -> None:
        self._places: list[dict[str, int]] = [{} for _ in range(columns)]
        self._classes = [np.zeros((0, columns), np.int64)]
        self._sizes = [np.zeros(0, np.int64)]

    def add(self, columns: list[tuple[NDArray[np.int64], list[str]]]) -> None:
        """Count one block in terms of its own values, then translate what occurred."""
        if not columns[0][0].size:
            return
        numbers = [len(values) for _, values in columns]
        local, sizes = _tally([codes for codes, _ in columns], numbers)
        classes = np.empty((sizes.size, len(columns)), np.int64)
        for i, (_, values) in enumerate(columns):
            place = self._places[i]
            known = np.array([place.setdefault(value, len(place)) for value in values], np.int64)
            classes[:, i] = known[local[:, i]]
        self._classes.append(classes)
        self._sizes.append(sizes)
        if sum(part.size for part in self._sizes[1:]) > _PENDING_CLASSES:
            self._merge()

    def result(self) -> Recount:
        """The counts of everything added."""
        self._merge()
        sizes = self._sizes[0]
        size, number = np.unique(sizes, return_counts=True)
        vector = dict(zip(size.tolist(), number.tolist(), strict=True))
        return Recount(int(sizes.sum()), len(self._places[-1]), int(sizes.size), vector)

    def _merge(self) -> None:
        classes, sizes = np.concatenate(self._classes), np.concatenate(self._sizes)
        numbers = [len(place) for place in self._places]
        merged, total = _tally([classes[:, i] for i in range(classes.shape[1])], numbers, sizes)
        self._classes, self._sizes = [merged], [total]


def _tally(
    columns: list[NDArray[np.int64]], numbers: list[int], weights: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The combinations of codes that occur, one per row, and the sum of weights (or the number) of each."""
    key, possible = columns[0], max(1, numbers[0])
    for codes, number in zip(columns[1:], numbers[1:], strict=True):
        if possible * number >= 1 << 62:
            # Numbers of combinations must fit into 64 bits: number those that occur instead.
            _, key = np.unique(key, return_inverse=True)
            possible = int(key.max(initial=0)) + 1
        key, possible = key * number + codes, possible * number
    if possible <= _TABLE_CELLS and weights is None:
        table = np.bincount(key, minlength=1)
        present = np.flatnonzero(table)
        first = np.zeros(table.size, np.int64)
        first[key] = np.arange(key.size)
        first, sizes = first[present], table[present]
    else:
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        sizes = np.zeros(first.size, np.int64)
        np.add.at(sizes, inverse, 1 if weights is None else weights)
    return np.stack([codes[first] for codes in columns], axis=1), sizes.astype(np.int64)


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _checked_delimiter(
    path: Path, columns: Sequence[str], delimiter: str | None, encoding: str, compressed: bool
) -> str:
    """The delimiter that cuts the names line into names with all the wanted ones among them."""
    candidates = [delimiter] if delimiter else [",", ";", "\t", "|"]
    names = {candidate: _names(path, candidate, encoding, compressed) for candidate in candidates}
    best = max(candidates, key=lambda candidate: len(set(columns) & set(names[candidate])))
    if not names[best]:
        raise InputError(Finding("empty-file", "The file is empty.", "Choose another file.", file=str(path)))
    findings = []
    for column in columns:
        times = names[best].count(column)
        if times != 1:
            message = f"There is no column “{column}”." if not times else f"{times} columns are named “{column}”."
            remedy = "The columns are: " + ", ".join(names[best][:20]) + "."
            if not set(columns) & set(names[best]):
                # Without names, line 1 is a record, which must not be told.
                remedy = "Does line 1 hold the names of the columns, and is the delimiter right?"
            findings.append(
                Finding("unknown-column" if not times else "duplicate-name", message, remedy, file=str(path))
            )
    if findings:
        raise InputError(findings)
    return best


def _names(path: Path, delimiter: str, encoding: str, compressed: bool) -> list[str]:
    known = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        with (gzip.open if compressed else open)(
            path, "rt", encoding=known, errors="surrogateescape", newline=""
        ) as file:
            names = next((row for row in csv.reader(file, delimiter=delimiter) if row), [])
    except (csv.Error, EOFError, gzip.BadGzipFile):
        raise InputError(_unreadable(path)) from None
    except LookupError:
        message = f"There is no encoding “{encoding}”."
        raise InputError(Finding("unknown-encoding", message, "Use for example utf-8 or latin-1.")) from None
    # Only the names are judged: bytes below them that do not fit fail here, where another encoding is tried.
    "".join(names).encode()
    return names


def _unreadable(path: Path) -> Finding:
    message = "The file cannot be read as delimited text."
    return Finding("not-text", message, "Check the delimiter, the encoding and that quotes are closed.", file=str(path))


def _ragged(path: Path, invalid: list[int | None]) -> list[Finding]:
    message = (
        f"{len(invalid):,} row{'s have' if len(invalid) > 1 else ' has'} another number of fields than the names line."
    )
    remedy = "Look for a missing or extra delimiter, or put quotes around text that contains one."
    return [Finding("ragged-row", message, remedy, file=str(path), row=invalid[0])]

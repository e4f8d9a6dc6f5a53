"""Counts the classes of a written file from scratch, to say whether it is k-anonymous.

An independent reading: it cuts rows, numbers values and counts in its own way, reads quoted text by Arrow, and shares
no code with the loader or with whatever wrote the file, so that a fault in those cannot hide itself here. The file
streams by; memory is bounded by the number of classes that occur.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.ahead import make_ready
from vbas_desktop.io.access import check_readable, refuse_bomb
from vbas_desktop.io.dialect import check_column_number, check_line_ends
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.names import list_first_line
from vbas_desktop.model.progress import Progress, Silent

from .classes import Classes, beginnings
from .criteria import SensitiveRecount, Spread, judged, order_of
from .expected_values import alone, expected_forms

REHEARSAL = f"{__name__}:rehearse"
"""What makes the loops of counting ready."""
_STAGE = "Recounting classes"
_AS_THEY_ARE = ("utf-8", "utf-8-sig", "iso8859-1")
"""In these encodings texts are equal if and only if their bytes are, and ASCII stays ASCII: nothing is recoded."""


@dataclass(frozen=True)
class Recount:
    """What a file holds: ``vector[size]`` is the number of classes of that size (a class never spans regions).

    ``sensitive`` tells of each sensitive column how its values are spread over the classes. ``smallest_region`` are the
    fewest records of a region; None if that was not counted.
    """

    records: int
    regions: int
    classes: int
    vector: Mapping[int, int]
    sensitive: tuple[SensitiveRecount, ...] = ()
    smallest_region: int | None = None

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
    sensitive: Sequence[Sensitive] = (),
    progress: Progress | None = None,
) -> Recount:
    """Read any CSV and count the records of each region and combination of quasi-identifiers.

    ``delimiter`` and ``encoding`` are guessed if None; ``category_line``: line 2 is no record. The values of
    ``sensitive`` columns are judged by their criteria; all records of the file are what classes are compared with.
    """
    path, progress = Path(path), progress or Silent()
    check_readable(path)
    _check_delimiter(delimiter)
    columns = [region_column, *dict.fromkeys(quasi_identifiers)]
    wanted = [*columns, *(each.column for each in sensitive)]
    encodings = [encoding] if encoding else _likely_encodings(path)
    for attempt in encodings:
        try:
            used, names = _checked_names(path, wanted, delimiter, attempt)
        except UnicodeError:
            if attempt != encodings[-1]:
                continue
            raise InputError(_unreadable(path)) from None
        make_ready(REHEARSAL, progress)
        # Guessed, UTF-8 was right for the names; of the values it matters only whether they are equal.
        return _counted(path, wanted, names, used, attempt, encoding is not None, category_line, sensitive, progress)
    raise AssertionError("one attempt returns or raises")


def _counted(
    path: Path,
    columns: Sequence[str],
    names: Sequence[str],
    delimiter: str,
    encoding: str,
    strict: bool,
    category_line: bool,
    sensitive: Sequence[Sensitive],
    progress: Progress,
) -> Recount:
    from .blocks import Table, Unreadable, blocks_of
    from .values import Values

    table = Table(delimiter, len(names), [names.index(name) for name in columns], 2 if category_line else 1)
    own = len(columns) - len(sensitive)
    values, classes = [Values() for _ in columns], Classes(own)
    cells = [Classes(own + 1) for _ in sensitive]
    try:
        with path.open("rb") as raw, _text(raw, encoding, _is_compressed(path)) as file:
            for block in blocks_of(file, table):
                progress.update(_STAGE, min(1.0, raw.tell() / path.stat().st_size))
                refuse_bomb(path, file.tell(), path.stat().st_size)
                codes = [known.codes(fields) for known, fields in zip(values, block, strict=True)]
                numbers = [known.number for known in values]
                classes.add(codes[:own], numbers[:own])
                for place, counter in enumerate(cells, own):
                    counter.add([*codes[:own], codes[place]], [*numbers[:own], numbers[place]])
        if strict and codecs.lookup(encoding).name in _AS_THEY_ARE:
            for known in values:
                known.text(encoding)
    except (Unreadable, UnicodeError, OSError, EOFError, zlib.error):
        raise InputError(_unreadable(path)) from None
    if table.ragged:
        raise InputError(_ragged(path, table.ragged, table.first_ragged))
    sizes = classes.sizes()
    size, number = np.unique(sizes, return_counts=True)
    vector = dict(zip(size.tolist(), number.tolist(), strict=True))
    read_as = encoding if codecs.lookup(encoding).name in _AS_THEY_ARE else "utf-8"
    found = tuple(
        judged(each.column, spread_of(*counter.classes(), values[place].texts(read_as), each), each.criteria)
        for place, (each, counter) in enumerate(zip(sensitive, cells, strict=True), own)
    )
    fewest = min(classes.regions().tolist(), default=None)
    return Recount(int(sizes.sum()), values[0].number, int(sizes.size), vector, found, fewest)


def spread_of(
    columns: Sequence[NDArray[np.int32]], sizes: NDArray[np.int64], texts: Sequence[str], chosen: Sensitive
) -> Spread:
    """The values of a sensitive column by class; cells of a class follow each other.

    Values that differ in notation alone (7 and 07) are one value, as they are for a release.
    """
    begins = beginnings(columns[:-1])
    group = (np.cumsum(begins) - 1).astype(np.int64)
    place: dict[str, int] = {}
    value_of = np.array([place.setdefault(alone(text), len(place)) for text in texts], np.int64)
    harmful = np.ones(len(place), np.bool_)
    for text, code in zip(texts, value_of.tolist(), strict=True):
        if any(map(chosen.is_benign, expected_forms(text))):
            harmful[code] = False
    order = order_of(list(place))
    if order is None and any(each.kind == "ordered-closeness" for each in chosen.criteria):
        message = "Not all values of the column are numbers (an empty one is none), so they have no order."
        remedy = "Use closeness instead of ordered-closeness."
        raise InputError(Finding("sensitive-not-ordered", message, remedy, column=chosen.column))
    spread = Spread(int(begins.sum()), group, value_of[columns[-1]], sizes, harmful, order)
    if len(place) == len(texts):
        return spread
    # Cells whose values became one are added up.
    return spread.joined(np.arange(spread.groups), spread.groups, np.ones(spread.groups, np.bool_))


def _text(raw: IO[bytes], encoding: str, compressed: bool) -> IO[bytes]:
    """The bytes of the text; as UTF-8 if their encoding does not let them be counted as they are."""
    file: IO[bytes] = gzip.GzipFile(fileobj=raw) if compressed else raw  # type: ignore[assignment]
    if codecs.lookup(encoding).name in _AS_THEY_ARE:
        return file
    return codecs.EncodedFile(file, "utf-8", encoding)  # type: ignore[return-value]


def _likely_encodings(path: Path) -> list[str]:
    """UTF-16 if a mark says so, else UTF-8 or, if it is none, Latin-1."""
    with path.open("rb") as raw:
        file = gzip.GzipFile(fileobj=raw) if _is_compressed(path) else raw
        try:
            mark = file.read(2)
        except (OSError, EOFError, zlib.error):
            raise InputError(_unreadable(path)) from None
    return ["utf-16"] if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ["utf-8", "latin-1"]


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()):
        remedy = "Use a single character such as , ; | or a tab."
        raise InputError(Finding("bad-delimiter", f"“{delimiter}” cannot be a delimiter.", remedy))


def _checked_names(
    path: Path, columns: Sequence[str], delimiter: str | None, encoding: str
) -> tuple[str, Sequence[str]]:
    """The delimiter that cuts the names line into names with all the wanted ones among them, and these names."""
    candidates = [delimiter] if delimiter else [",", ";", "\t", "|"]
    compressed = _is_compressed(path)
    cut = {candidate: _names(path, candidate, encoding, compressed) for candidate in candidates}
    names = {candidate: found for candidate, found in cut.items() if found is not None}
    if not names:
        raise InputError(_unreadable(path))
    best = max(names, key=lambda candidate: len(set(columns) & set(names[candidate])))
    if not names[best]:
        raise InputError(Finding("empty-file", "The file is empty.", "Choose another file.", file=str(path)))
    check_line_ends(path, "".join(names[best]).encode())
    check_column_number(path, len(names[best]))
    findings = []
    for column in columns:
        times = names[best].count(column)
        if times != 1:
            message = f"There is no column “{column}”." if not times else f"{times} columns are named “{column}”."
            remedy = list_first_line(names[best])
            if not set(columns) & set(names[best]):
                # Without names, line 1 is a record, which must not be told.
                remedy = "Does line 1 hold the names of the columns, and is the delimiter right?"
            findings.append(
                Finding("unknown-column" if not times else "duplicate-name", message, remedy, file=str(path))
            )
    if findings:
        raise InputError(findings)
    return best, names[best]


def _names(path: Path, delimiter: str, encoding: str, compressed: bool) -> list[str] | None:
    """The names; None if this delimiter leaves pieces that are too long for any name."""
    known = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        with (gzip.open if compressed else open)(
            path, "rt", encoding=known, errors="surrogateescape", newline=""
        ) as file:
            names = next((row for row in csv.reader(file, delimiter=delimiter) if row), [])
    except csv.Error:
        return None
    except (EOFError, gzip.BadGzipFile, zlib.error):
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


def _ragged(path: Path, number: int, first: int | None) -> Finding:
    message = f"{number:,} row{'s have' if number > 1 else ' has'} another number of fields than the names line."
    remedy = "Look for a missing or extra delimiter, or put quotes around text that contains one."
    return Finding("ragged-row", message, remedy, file=str(path), row=first)


def rehearse() -> None:
    """Cut rows as they are, number more values than there is room for at first, and combine hashes."""
    from .blocks import Table, blocks_of
    from .tally import combine
    from .values import Values

    text = "a,b\n" + "".join(f"{i},{i}\n" for i in range(300))
    for block in blocks_of(io.BytesIO(text.encode()), Table(",", 2, [0], 1)):
        Values().codes(block[0])
    combine(np.zeros(1, np.uint64), np.zeros(1, np.uint64))

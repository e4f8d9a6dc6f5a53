"""Count the classes of a written file from scratch, to say whether it is k-anonymous.

An independent reading: it shares no code with the loader or with whatever wrote the file, so that a fault in those
cannot hide itself here. What does not fit into memory goes to a nameless file.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vbas_desktop.io.databases.engine import RECORDS, DatabaseEngine, records_changed
from vbas_desktop.io.delimited_text import check_column_count, check_line_ends
from vbas_desktop.io.input_checks import check_readable
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.text import list_first_line

from .coded_file import CsvForm, FileColumn, ReadOptions, as_text, read_csv
from .combinations import Ints, PairCounts, count_pairs, number_combinations, number_rows, regroup
from .criteria import SensitiveRecount, ValueDistribution, evaluate_criteria, order_of
from .csv_form import find_empty_lines
from .csv_stream import UnreadableFile
from .expected_values import alone, expected_forms
from .text_hashes import TextHasher

_STAGE = "Recounting classes"


@dataclass(frozen=True)
class Recount:
    """Content of a file: ``vector[size]`` is the number of classes of that size (a class never spans regions).

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
        """Return the size of the smallest class; None if there are no records."""
        return min(self.vector, default=None)

    def violating_records(self, k: int) -> int:
        """Count the records in classes smaller than k."""
        return sum(size * number for size, number in self.vector.items() if size < k)

    def violating_classes(self, k: int) -> int:
        """Count the classes that are smaller than k."""
        return sum(number for size, number in self.vector.items() if size < k)

    def is_anonymous(self, k: int) -> bool:
        """Return whether every class has at least k records."""
        return self.violating_records(k) == 0


def recount(
    path: str | Path,
    quasi_identifiers: Sequence[str],
    region_column: str,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    category_line: bool = False,
    sensitive: Sequence[SensitiveColumn] = (),
    progress: Progress | None = None,
) -> Recount:
    """Read any CSV and count the records of each region and combination of quasi-identifiers.

    ``delimiter`` and ``encoding`` are guessed if None; ``category_line``: line 2 is no record. The values of
    ``sensitive`` columns are judged by their criteria; all records of the file are what classes are compared with.
    """
    path = Path(path)
    progress = progress or NO_PROGRESS
    check_readable(path)
    _check_delimiter(delimiter)
    columns = [region_column, *dict.fromkeys(quasi_identifiers)]
    columns_needed = [*columns, *(sensitive_column.column for sensitive_column in sensitive)]
    encodings = [encoding] if encoding else _likely_encodings(path)
    for attempt in encodings:
        try:
            used, names = _checked_names(path, columns_needed, delimiter, attempt)
        except UnicodeError:
            if attempt != encodings[-1]:
                continue
            raise InputError(_unreadable(path)) from None
        form = CsvForm(len(names), used, attempt, _is_compressed(path), 2 if category_line else 1)
        # Guessed, UTF-8 was right for the names; of the values it matters only whether they are equal.
        positions = [names.index(name) for name in columns_needed]
        return _count(path, form, positions, sensitive, encoding is not None, progress)
    raise AssertionError("one attempt returns or raises")


def _count(
    path: Path,
    form: CsvForm,
    columns_needed: Sequence[int],
    sensitive: Sequence[SensitiveColumn],
    is_strict: bool,
    progress: Progress,
) -> Recount:
    """Count the records by the wanted columns, of which the last are the sensitive ones."""
    size = max(1, path.stat().st_size)
    done = 0

    def advance(number: int) -> None:
        nonlocal done
        done += number
        progress.update(_STAGE, min(1.0, done / size))

    options = ReadOptions(columns_needed, TextHasher(), unlimited=columns_needed, advance=advance)
    try:
        file = read_csv(path, form, options)
    except UnreadableFile:
        raise InputError(_find_reason(path, form)) from None
    if is_strict and not all(map(_is_decodable, file.columns)):
        raise InputError(_unreadable(path))
    columns = file.columns[: len(columns_needed) - len(sensitive)]
    classes = number_combinations(file, columns)
    results = []
    for chosen, column in zip(sensitive, file.columns[len(columns) :], strict=True):
        progress.update(_STAGE, 1.0)
        pairs = count_pairs(file, classes.column, column)
        texts = [text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for text in column.known_texts]
        results.append(_evaluate(pairs, classes.counts.size, texts, chosen))
    file.store.close()
    return _summarise(classes.counts, columns[0].frequencies, results)


def _summarise(sizes: Ints, by_region: Ints, results: Sequence[SensitiveRecount]) -> Recount:
    size, number = np.unique(sizes, return_counts=True)
    vector = dict(zip(size.tolist(), number.tolist(), strict=True))
    by_region = by_region[by_region > 0]
    fewest = int(by_region.min()) if by_region.size else None
    return Recount(int(sizes.sum()), by_region.size, sizes.size, vector, tuple(results), fewest)


def _evaluate(pairs: PairCounts, groups: int, texts: Sequence[str], chosen: SensitiveColumn) -> SensitiveRecount:
    """Evaluate the criteria for a sensitive column by the number of records of each class and value.

    Values that differ in notation alone (7 and 07) are one value, as they are for a release.
    """
    number_of: dict[str, int] = {}
    value_of = np.array([number_of.setdefault(alone(text), len(number_of)) for text in texts], np.int64)
    harmful = np.ones(len(number_of), np.bool_)
    for text, code in zip(texts, value_of.tolist(), strict=True):
        if any(map(chosen.is_benign, expected_forms(text))):
            harmful[code] = False
    order = order_of(list(number_of))
    if order is None and any(criterion.kind == "ordered-closeness" for criterion in chosen.criteria):
        message = "Not all values of the column are numbers (an empty one is none), so they have no order."
        remedy = "Use closeness instead of ordered-closeness."
        raise InputError(Finding("sensitive-not-ordered", message, remedy, column=chosen.column))
    pairs = regroup(pairs, np.arange(groups), value_of)
    distribution = ValueDistribution(groups, pairs.group, pairs.value, pairs.counts, harmful, order)
    return evaluate_criteria(chosen.column, distribution, chosen.criteria)


def _is_decodable(column: FileColumn) -> bool:
    return not any("\udc80" <= letter <= "\udcff" for text in column.known_texts for letter in text if letter > "\x7f")


def _find_reason(path: Path, form: CsvForm) -> Finding:
    """Find out why a file could not be read, by a slow reading."""
    try:
        results = find_empty_lines(path, form.delimiter, form.encoding, form.compressed, form.width)
    except UnreadableFile:
        return _unreadable(path)
    return _describe_ragged_rows(path, results.ragged, results.first_line) if results.ragged else _unreadable(path)


def recount_records(
    engine: DatabaseEngine,
    quasi_identifiers: Sequence[str],
    region_column: str,
    progress: Progress,
    sensitive: Sequence[SensitiveColumn] = (),
) -> Recount:
    """Count the records of each region and combination of quasi-identifiers by queries of the auditor's own.

    One query counts the classes, one more for each sensitive column the values in them. Values that have the same text,
    such as an empty text and no value at all, are one value.
    """
    columns = [region_column, *dict.fromkeys(quasi_identifiers)]
    columns_needed = [*columns, *(chosen.column for chosen in sensitive)]
    _refuse_unknown(engine, [name for name in columns_needed if name not in engine.description.header])
    with engine.snapshot(progress):
        codes, counts, _ = _fetch_cells(engine, columns, progress)
        classes = number_rows(codes, counts.size)
        sizes = np.bincount(classes, counts).astype(np.int64)
        results = []
        for chosen in sensitive:
            cells, numbers, texts = _fetch_cells(engine, [*columns, chosen.column], progress)
            if int(numbers.sum()) != int(sizes.sum()):
                raise records_changed(engine.address)
            group = number_rows(cells[:-1], numbers.size)
            results.append(_evaluate(PairCounts(group, cells[-1], numbers), sizes.size, texts, chosen))
    engine.check_unchanged()
    return _summarise(sizes, np.bincount(codes[0], counts).astype(np.int64), results)


def _fetch_cells(
    engine: DatabaseEngine, columns: Sequence[str], progress: Progress
) -> tuple[list[Ints], Ints, list[str]]:
    """Return which combinations of values occur, as codes; how often; and the texts of the last column."""
    schema = engine.description.schema
    positions = [engine.description.header.index(name) for name in columns]
    listed = ", ".join(f"c{position}" for position in positions)
    query = f"SELECT {listed}, count(*) AS n FROM {RECORDS} GROUP BY {listed}"
    types = pa.schema([*(schema.field(position) for position in positions), pa.field("n", pa.int64())])
    results = engine.fetch(query, types, progress, _STAGE)
    coded = [pc.dictionary_encode(as_text(results.column(at).combine_chunks())) for at in range(len(positions))]
    codes = [column.indices.to_numpy().astype(np.int64) for column in coded]
    return codes, np.asarray(results.column(len(positions)), np.int64), coded[-1].dictionary.to_pylist()


def _refuse_unknown(engine: DatabaseEngine, unknown: Sequence[str]) -> None:
    if unknown:
        file = str(engine.address)
        listed = list_first_line(engine.description.header)
        findings = [Finding("unknown-column", f"There is no column “{name}”.", listed, file=file) for name in unknown]
        raise InputError(findings)


def _likely_encodings(path: Path) -> list[str]:
    """Return UTF-16 if a mark says so, else UTF-8 or, if it is none, Latin-1."""
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
    """Find the delimiter that cuts the names line into names with all the wanted ones among them, and these names."""
    candidates = [delimiter] if delimiter else [",", ";", "\t", "|"]
    compressed = _is_compressed(path)
    cut = {candidate: _names(path, candidate, encoding, compressed) for candidate in candidates}
    names = {candidate: results for candidate, results in cut.items() if results is not None}
    if not names:
        raise InputError(_unreadable(path))
    best = max(names, key=lambda candidate: len(set(columns) & set(names[candidate])))
    if not names[best]:
        raise InputError(Finding("empty-file", "The file is empty.", "Choose another file.", file=str(path)))
    check_line_ends(path, "".join(names[best]).encode())
    check_column_count(path, len(names[best]))
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
    """Read the names; None if this delimiter leaves pieces that are too long for any name."""
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        with (gzip.open if compressed else open)(
            path, "rt", encoding=codec, errors="surrogateescape", newline=""
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


def _describe_ragged_rows(path: Path, number: int, first: int | None) -> Finding:
    message = f"{number:,} row{'s have' if number > 1 else ' has'} another number of fields than the names line."
    remedy = "Look for a missing or extra delimiter, or put quotes around text that contains one."
    return Finding("ragged-row", message, remedy, file=str(path), row=first)

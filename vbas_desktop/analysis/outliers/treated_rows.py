"""Rows of a file without k-outliers: treated records and made-up ones, in random order, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from vbas_desktop.audit.filters import FilterClaim
from vbas_desktop.audit.handled_file import HandledClaim
from vbas_desktop.io.hashing import HashingWriter
from vbas_desktop.io.random_order import create_random, derive_key, shuffle_rows
from vbas_desktop.io.records.csv_writer import CsvFormat, write_csv
from vbas_desktop.io.records.parquet_writer import write_parquet
from vbas_desktop.io.records.row_chunks import chunk_texts
from vbas_desktop.io.records.rows import read_row_texts
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import CodedRecords
from vbas_desktop.settings.writing import AddedColumns, RecordWriting

from ..representability.hierarchy import Hierarchy
from ..representability.record_classes import RecordClasses
from ..representability.report import RepresentabilityOptions
from .added_columns import (
    AggregatedColumns,
    RecordKeyColumn,
)
from .first_step import FirstStep, TreatmentSteps
from .synthetic_keys import generate_keys
from .synthetic_rows import RowLayout, SensitiveFilling, SyntheticRows
from .treatments import OutlierTreatment, TreatmentResult

PARQUET = (".parquet", ".pq")
"""Targets with these endings are written as Parquet, all columns as text; others as CSV."""

_ROWS_PER_UPDATE = 1000

Row = TypeVar("Row")


@dataclass(frozen=True)
class TreatmentRequest:
    """Treatment of a file, and the form in which the result is written.

    Of the ``options``, the key gets new values in made-up records, and sensitive columns those of ``filling``, from
    ``population`` or else from the file. ``all_records`` is the file with the records that filters leave out, whose
    keys must not become those of made-up records.
    """

    options: RepresentabilityOptions
    treatment: OutlierTreatment
    hierarchies: Mapping[str, Hierarchy]
    writing: RecordWriting
    population: CodedRecords | None = None
    first_step: FirstStep = field(default_factory=FirstStep)
    filling: SensitiveFilling = field(default_factory=SensitiveFilling)
    columns: AddedColumns = field(default_factory=AddedColumns)
    all_records: CodedRecords | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Name of the key column if there is one."""
        return (self.options.key,) if self.options.key else ()

    @property
    def steps(self) -> TreatmentSteps:
        """Both steps of the treatment of the classes."""
        return TreatmentSteps(self.treatment, self.hierarchies, self.options.distances, self.first_step)


def write_rows(
    path: Path, parquet: bool, table: CodedRecords, rows: RowCounter, request: TreatmentRequest
) -> None:
    """Write the new file as Parquet or as CSV."""
    writing = request.writing
    names = [*table.file_format.header]
    if request.columns.record_key is not None:
        names.append(request.columns.record_key)
    positions = [position for position, name in enumerate(names) if name not in writing.identifiers]
    header = writing.row([names[position] for position in positions])
    texts = (writing.row([row[position] for position in positions]) for row in rows)
    columns, chunks = chunk_texts(header, texts)
    with path.open("wb") as stream:
        if parquet:
            write_parquet(HashingWriter(stream), columns, chunks)
        else:
            write_csv(
                HashingWriter(stream), columns, chunks, CsvFormat(table.file_format.delimiter or ",")
            )


def watch_rows(rows: Iterable[Row], total: int, stage: str, progress: Progress) -> Iterator[Row]:
    """Yield rows, and report the progress."""
    for number, row in enumerate(rows):
        if number % _ROWS_PER_UPDATE == 0:
            progress.update(stage, min(1.0, number / max(1, total)))
        yield row


class RowCounter:
    """Yields rows and counts them; ``fabricated_rows`` are the numbers of the made-up ones, the header being row 1."""

    def __init__(self, rows: Iterable[tuple[list[str], bool]]) -> None:
        self._rows = rows
        self.number = 0
        self.fabricated_rows: list[int] = []

    def __iter__(self) -> Iterator[list[str]]:
        for row, is_fabricated in self._rows:
            self.number += 1
            if is_fabricated:
                self.fabricated_rows.append(self.number + 1)
            yield row


class TreatedRows:
    """Makes the rows of the new file: of the records that are written, then the made-up ones."""

    def __init__(
        self,
        table: CodedRecords,
        classes: RecordClasses,
        result: TreatmentResult,
        request: TreatmentRequest,
        fillings: Sequence[tuple[str, ...]],
    ) -> None:
        self._table = table
        self._classes = classes
        self._result = result
        self._request = request
        header = list(table.file_format.header)
        options = request.options
        quasi = [header.index(name) for name in options.quasi_identifiers]
        sensitive = [header.index(name) for name in options.sensitive]
        self._layout = RowLayout(
            quasi, sensitive, fillings, header.index(options.key) if options.key else None
        )
        self._draw = create_random(
            request.writing.shuffle_seed, table.source.identity, options.quasi_identifiers, options.k
        )
        self.aggregated = AggregatedColumns(header, quasi, request.columns, request.writing)
        self.keys: RecordKeyColumn | None = None
        if request.columns.record_key is not None:
            self.keys = RecordKeyColumn(table, classes, result, self._derive_key_secret())

    def _derive_key_secret(self) -> bytes:
        """Derive the secret of the keys; with a seed, files that differ in any setting have other keys."""
        request = self._request
        options = request.options
        added = request.columns
        return derive_key(
            request.writing.shuffle_seed,
            self._table.source.identity,
            options.quasi_identifiers,
            options.k,
            request.treatment.metadata.name,
            request.writing.identifiers,
            added.record_key,
            added.aggregate,
            added.aggregate_classes if added.aggregate else "",
        )

    def shuffle(self, scratch: Path, progress: Progress) -> Iterator[tuple[list[str], bool]]:
        """Yield all rows in random order, each with a flag for made-up ones."""
        # The first row comes out when the last one has gone in, so all values were counted by then.
        for row, is_fabricated in shuffle_rows(self._iterate_counted(progress), scratch, self._draw):
            yield self.aggregated.aggregate(row), is_fabricated

    def _iterate_counted(self, progress: Progress) -> Iterator[tuple[list[str], bool]]:
        """Yield all rows in order, with their keys, and count the values that are aggregated."""
        keys = None if self.keys is None else self.keys.iterate_keys()
        for row, is_fabricated in self._iterate_rows(progress):
            self.aggregated.count(row, is_fabricated)
            if keys is not None:
                row.append(next(keys))
            yield row, is_fabricated

    def _iterate_rows(self, progress: Progress) -> Iterator[tuple[list[str], bool]]:
        """Yield the records that are written with the values of their new classes, then the made-up ones."""
        table = self._table
        layout = self._layout
        fabricated = self._result.fabricated
        header = table.file_format.header
        synthetic_rows = SyntheticRows(fabricated, layout, len(header), self._draw)
        records = watch_rows(read_row_texts(table), table.rows, "Making the rows", progress)
        for number, row in enumerate(records):
            label = self._result.labels[self._classes.class_of[number]]
            synthetic_rows.offer(row)
            if label is None:
                continue
            for position, value in zip(layout.quasi, label, strict=True):
                row[position] = value
            yield row, False
        keys: Iterator[str] = iter(())
        if layout.key is not None and fabricated:
            keys = generate_keys(self._request.all_records or table, header[layout.key], self._draw)
        for row in synthetic_rows.fabricate(keys):
            yield row, True

    def build_claim(
        self, path: Path, target: Path, index: Path | None, counts: Path | None
    ) -> HandledClaim:
        """Build the claim that the auditor checks against the written file at ``path``."""
        table = self._table
        request = self._request
        file_format = table.file_format
        selection = () if table.selection is None else table.selection.files
        return HandledClaim(
            source=Path(table.source.path),
            file_format=file_format,
            filters=tuple(
                FilterClaim(f.source.path, f.source.sha256, name == "keep_records")
                for name, f in selection
            ),
            file=path,
            is_parquet=target.suffix.lower() in PARQUET,
            delimiter=file_format.delimiter or ",",
            columns=tuple(
                name for name in file_format.header if name not in request.writing.identifiers
            ),
            is_escaped=request.writing.escape_formulas,
            quasi_identifiers=request.options.quasi_identifiers,
            labels=dict(zip(self._classes.labels, self._result.labels, strict=True)),
            added=self._result.fabricated,
            aggregated=request.columns.aggregate,
            below=request.columns.aggregate_below,
            made_up_values=self.aggregated.fabricated_values,
            class_counts=counts,
            record_key=request.columns.record_key,
            index=index,
        )

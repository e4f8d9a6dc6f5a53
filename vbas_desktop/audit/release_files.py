"""Read the input and the released file of a verification, and the crosswalk between them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vbas_desktop.io.databases.engine import RECORDS
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import FileFormat
from vbas_desktop.model.tiers import code_columns

from .claim import ReleaseClaim
from .coded_file import (
    Advance,
    CodedFile,
    CsvForm,
    FileColumn,
    ReadOptions,
    encoding_of_release,
    read_arrays,
    read_csv,
    read_parquet,
)
from .combinations import Combinations, Ints, number_combinations
from .csv_form import ExpectedForm, find_fault
from .csv_stream import UnreadableFile
from .filters import find_considered, read_filters
from .formulas import escape_formulas
from .region_map import assign_regions, read_region_shares
from .text_hashes import TextHasher

_FIELD_NUMBER = b"PARQUET:field_id"

Crosswalk = Mapping[str, tuple[str, ...]]
"""The codes of each initial region: of its aggregated region, and in tiers of each larger area."""


@dataclass(frozen=True)
class Case:
    """A release to be verified: what was counted, how the record file is written, and what is claimed."""

    problem: Problem
    file_format: FileFormat
    claim: ReleaseClaim
    hasher: TextHasher

    @property
    def is_between_csv(self) -> bool:
        """Return whether both files are CSV."""
        return self.claim.source is None and self.file_format.format == "csv" and self.claim.is_csv

    def escape(self, texts: Sequence[str]) -> list[str]:
        """Return texts as they are written: formulas are escaped if the claim says so."""
        return escape_formulas(texts) if self.claim.escaped else list(texts)

    def options(
        self, positions: Sequence[int], unlimited: Sequence[int], advance: Advance, is_input: bool
    ) -> ReadOptions:
        """Return how a file is read."""
        hash_as = self.escape if is_input else None
        return ReadOptions(
            positions, self.hasher, hash_as, unlimited, self.claim.file.parent.parent, advance
        )


@dataclass(frozen=True, eq=False)
class InputRecords:
    """The considered records of the input.

    Parameters
    ----------
    file : the records with all columns of the file
    columns : the columns by name; that of the region has the initial regions
    positions : the number of each record among all of the file, from 0 (None: all are considered)
    newline, has_mark : how lines end and whether there is a byte-order mark, in CSV
    """

    case: Case
    file: CodedFile
    columns: Mapping[str, FileColumn]
    positions: Ints | None

    @cached_property
    def categories(self) -> list[FileColumn]:
        """Return the quasi-identifiers as they are released: grouped, and formulas escaped."""
        return [self._group(name) for name in self.case.problem.quasi_identifiers]

    def _group(self, name: str) -> FileColumn:
        texts: Sequence[str] = self.columns[name].known_texts
        for grouping in self.case.problem.groupings:
            if grouping.column == name:
                texts = [grouping.groups.get(text, text) for text in texts]
        return self.columns[name].with_texts(self.case.escape(texts))

    @cached_property
    def classes(self) -> Combinations:
        """Return the classes by initial region and quasi-identifiers."""
        return number_combinations(
            self.file, [self.columns[self.case.problem.region_column], *self.categories]
        )

    def regions(self, crosswalk: Crosswalk) -> Ints:
        """Return where the crosswalk has the initial region of each class; −1: nowhere."""
        number = {region: row for row, region in enumerate(crosswalk)}
        texts = self.columns[self.case.problem.region_column].known_texts
        return np.array([number.get(text, -1) for text in texts], np.int64)[self.classes.codes[0]]


def read_input(case: Case, advance: Advance) -> InputRecords:
    """Read the records of the input that are to be considered."""
    problem = case.problem
    file_format = case.file_format
    claim = case.claim
    file = _read_every_record(case, advance)
    columns = dict(zip(file_format.header, file.columns, strict=True))
    positions = None
    filters = read_filters(claim.filters)
    if filters:
        considered = find_considered(filters, file, columns)
        positions = np.flatnonzero(np.concatenate(considered)) if considered else np.zeros(0, np.int64)
        file = file.keep_rows(considered)
        columns = dict(zip(file_format.header, file.columns, strict=True))
    if claim.region_map is not None:
        region = problem.region_column
        columns[region] = assign_regions(file, columns[region], read_region_shares(claim.region_map))
    return InputRecords(case, file, columns, positions)


def _read_every_record(case: Case, advance: Advance) -> CodedFile:
    file_format = case.file_format
    claim = case.claim
    positions = range(len(file_format.header))
    counted = {case.problem.region_column, *claim.values}
    unlimited = [at for at, name in enumerate(file_format.header) if name in counted]
    options = case.options(positions, unlimited, advance, is_input=True)
    if claim.source is not None:
        schema = claim.source.description.schema
        batches = claim.source.fetch_batches(
            f"SELECT * FROM {RECORDS}", schema, NO_PROGRESS, "Reading the release back"
        )
        return read_arrays((batch.columns for batch in batches), options)
    assert case.problem.records_source is not None
    path = Path(case.problem.records_source.path)
    if file_format.format == "parquet":
        return read_parquet(path, options, int(file_format.category_line))
    form = CsvForm(
        len(file_format.header),
        file_format.delimiter or ",",
        file_format.encoding or "utf-8",
        file_format.compressed,
        skipped=2 if file_format.category_line else 1,
        # A Parquet file holds text, whatever bytes the input has.
        undefined="surrogateescape" if claim.is_csv else "replace",
    )
    return read_csv(path, form, options)


@dataclass(frozen=True, eq=False)
class WrittenRecords:
    """The released file: all columns, and those that were copied or recoded by their names in the input."""

    case: Case
    file: CodedFile

    @property
    def columns(self) -> dict[str, FileColumn]:
        """Return the columns by their names in the input."""
        return {
            name: column
            for (name, _), column in zip(self.case.claim.columns, self.file.columns, strict=False)
        }

    @property
    def class_columns(self) -> list[str]:
        """Return which of the columns that make up a class are released."""
        problem = self.case.problem
        return [
            name for name in (problem.region_column, *problem.quasi_identifiers) if name in self.columns
        ]

    @cached_property
    def classes(self) -> Combinations:
        """Return the classes by what is released of region and quasi-identifiers."""
        return number_combinations(self.file, [self.columns[name] for name in self.class_columns])


def read_release(case: Case, advance: Advance) -> WrittenRecords:
    """Read the released file."""
    claim = case.claim
    unlimited = [at for at, (name, _) in enumerate(claim.columns) if name == case.problem.region_column]
    # Keys of records are read on their own: all of them differ.
    positions = range(len(claim.names) - int(claim.record_key is not None))
    options = case.options(positions, unlimited, advance, is_input=False)
    if not claim.is_csv:
        return WrittenRecords(case, read_parquet(claim.file, options))
    encoding = encoding_of_release(case.file_format.encoding) if case.is_between_csv else "utf-8"
    file = read_csv(claim.file, CsvForm(len(claim.names), claim.delimiter, encoding), options)
    if not file.names:
        raise UnreadableFile("the file is empty")
    return WrittenRecords(case, file)


def find_csv_fault(before: InputRecords, after: WrittenRecords) -> str:
    """Say in which way a released CSV file is not written like the input; empty: in none."""
    case = after.case
    stream = after.file.stream
    if stream is None or after.file.measured is None:
        return ""
    if after.file.empty_lines:
        return "empty lines"
    original = before.file.stream
    if original is None:
        form = ExpectedForm(False, b"\n", quotes_all=True)
    else:
        form = ExpectedForm(case.file_format.bom, original.newline)
    return find_fault(stream, after.file.measured, after.file.rows + 1, len(case.claim.names), form)


def find_type_fault(case: Case) -> str:
    """Say which column of a released Parquet file has another type, or whether it holds anything else; empty: no."""
    if case.claim.is_csv:
        return ""
    schema = pq.read_schema(case.claim.file)
    if schema.metadata or any(set(field.metadata or ()) - {_FIELD_NUMBER} for field in schema):
        # Programs note there how a table was indexed, which would tell of records that are not released.
        return "there is more than columns in the file"
    expected = _expected_types(case)
    for name, field in zip(case.claim.names, schema, strict=False):
        if name in expected and _plain_type(field.type) != expected[name]:
            return f"“{name[:80]}” has another type"
    return ""


def _expected_types(case: Case) -> dict[str, Any]:
    """Return the types of released columns: those of the input, and text for what is recoded."""
    problem = case.problem
    file_format = case.file_format
    claim = case.claim
    if claim.source is not None:
        # Each engine has types of its own, which it converts when it hands rows over.
        return {}
    if file_format.format == "parquet":
        assert problem.records_source is not None
        types = pq.read_schema(problem.records_source.path).types
    else:
        types = [pa.string()] * len(file_format.header)
    type_of = dict(zip(file_format.header, map(_plain_type, types), strict=True))
    recoded = {problem.region_column, *(grouping.column for grouping in problem.groupings)}
    recoded |= {aggregation.column for aggregation in claim.aggregated}
    expected = {new: pa.string() if name in recoded else type_of[name] for name, new in claim.columns}
    if claim.record_key is not None:
        expected[claim.record_key] = pa.string()
    if claim.class_size is not None:
        expected[claim.class_size] = pa.int64()
    return expected


def _plain_type(kind: Any) -> Any:
    """Return the type of the values, without the way in which Arrow holds them."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    return kind


def read_crosswalk(path: Path, ids: Sequence[str]) -> Crosswalk:
    """Read the codes of each initial region; ``ids`` are the true ids where the file may have apostrophes."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    width = code_columns(header)
    crosswalk = {row[0]: tuple(row[1:width]) for row in rows if len(row) == len(header)}
    if len(crosswalk) != len(rows):
        raise UnreadableFile("the crosswalk names a region twice")
    true_id = dict(zip(escape_formulas(ids), ids, strict=True))
    return {true_id.get(text, text): codes for text, codes in crosswalk.items()}

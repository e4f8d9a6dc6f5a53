"""The table of loaded records: coded columns in memory, on which every later choice works."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vbas_desktop.algorithms.contingency import CodedColumn, count_classes
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.findings import Finding, InputError, input_error
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import (
    Categories,
    CodeMap,
    ColumnFacts,
    FileFormat,
    RecordTable,
    SourceFile,
    as_readonly,
    label_columns,
    not_categorical,
)
from vbas_desktop.model.selection import Selection
from vbas_desktop.model.text import NO_NAMES
from vbas_desktop.model.value_notation import padded_values

from ..delimited_text import suggest_columns, suggest_delimiter
from .coding import Codes, ColumnCoder, code_batches, order_categories, pack_codes, select_categories
from .csv_batches import UnreadableRows, read_csv_texts
from .file_format import USUAL_LIMITS
from .parquet_batches import read_parquet_again
from .row_errors import locate_records
from .rows import hash_rows

_CHUNK = 1 << 20
_THREADS = 2


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Records of a file in memory: codes only, as small as they can be. Later choices never read the file again.

    ``columns`` are those that were asked for, in the file's order; the names of all are in the file_format. With a
    ``selection``, ``rows`` are the records that are considered, and ``positions`` says which of the file's they are. In
    ``mapped_column`` the values are regions that a region map gave to the records, not those of the file. ``texts``
    has the columns without codes as Arrow dictionary arrays if the records are from an address: nothing is read again.
    """

    source: SourceFile
    rows: int
    file_format: FileFormat
    columns: tuple[ColumnFacts, ...]
    findings: tuple[Finding, ...] = ()
    _codes: Mapping[str, Codes] = field(default_factory=dict, repr=False)
    _first_line: int | None = field(default=2, repr=False)
    selection: Selection | None = None
    positions: NDArray[np.int64] | None = field(default=None, repr=False)
    mapped_column: str | None = None
    _unmapped: CodedTable | None = field(default=None, repr=False)
    texts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _block_bytes: int = field(default=USUAL_LIMITS.block_bytes, repr=False)

    @property
    def file_rows(self) -> int:
        """Return the number of records of the file, those that a filter leaves out included."""
        return self.rows + (0 if self.selection is None else self.selection.records_left_out)

    @cached_property
    def considered(self) -> NDArray[np.bool_] | None:
        """Return for each record of the file whether it is considered; None if all are."""
        if self.positions is None:
            return None
        considered = np.zeros(self.file_rows, np.bool_)
        considered[self.positions] = True
        return considered

    def positions_of(self, rows: slice) -> NDArray[np.int64]:
        """Return where consecutive records of the table are among all records of the file, counted from 0."""
        return np.arange(rows.start, rows.stop) if self.positions is None else self.positions[rows]

    def select(
        self, selection: Selection, positions: NDArray[np.int64], findings: Sequence[Finding] = ()
    ) -> Self:
        """Return a table of the records at these positions, which ascend; ``findings`` were noticed in choosing."""
        columns = []
        codes: dict[str, Codes] = {}
        for facts in self.columns:
            if facts.categories is None:
                columns.append(facts)
                continue
            selected_codes = self._codes[facts.name][positions]
            frequencies = np.bincount(selected_codes, minlength=facts.distinct).astype(np.int64)
            selected, code_of = select_categories(facts, frequencies)
            columns.append(selected)
            codes[facts.name] = pack_codes(code_of, selected.distinct)[selected_codes]
        return replace(
            self,
            source=replace(self.source, selection=selection.sha256),
            rows=positions.size,
            columns=tuple(columns),
            findings=(*self.findings, *findings),
            _codes=codes,
            selection=selection,
            positions=as_readonly(positions),
        )

    @cached_property
    def padded_categories(self) -> Mapping[str, tuple[str, ...]]:
        """Return the categories with blanks or invisible characters around them, by column; most columns have none."""
        padded = {
            facts.name: padded_values(facts.categories.values)
            for facts in self.columns
            if facts.categories
        }
        return {name: values for name, values in padded.items() if values}

    @cached_property
    def rows_hash(self) -> str:
        """Return the hash of the rows in any order; empty if it is not known."""
        return hash_rows(self if self._unmapped is None else self._unmapped)

    def facts(self, name: str) -> ColumnFacts:
        """Return what is known of a column."""
        for column in self.columns:
            if column.name == name:
                return column
        self.check_name(name)
        raise LookupError(
            f"column {self.file_format.header.index(name) + 1} was not asked for when the file was read"
        )

    def with_labels(self, codebook: Mapping[str, Mapping[str, str]]) -> Self:
        """Return the same records with the labels of a codebook."""
        return replace(self, columns=label_columns(self.columns, codebook))

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> Self:
        """Return the same records with other texts for the values of some columns; equal ones become one category."""
        columns = list(self.columns)
        codes = dict(self._codes)
        for number, facts in enumerate(columns):
            if facts.name in texts and facts.frequencies is not None:
                columns[number], code_of = order_categories(
                    facts.name, texts[facts.name], facts.frequencies
                )
                codes[facts.name] = pack_codes(code_of, columns[number].distinct)[codes[facts.name]]
        return replace(self, columns=tuple(columns), _codes=codes)

    def with_regions(self, name: str, values: Sequence[str], codes: NDArray[np.integer]) -> Self:
        """Return the same records with other regions in a column: ``codes`` are indices into ``values``."""
        frequencies = np.bincount(codes, minlength=len(values)).astype(np.int64)
        facts, code_of = order_categories(name, values, frequencies)
        return replace(
            self._with_column(facts, pack_codes(code_of, facts.distinct)[codes]),
            mapped_column=name,
            _unmapped=self,
        )

    def with_codes(self, name: str, values: Sequence[str], codes: NDArray[np.int32]) -> Self:
        """Return the same records with other values in a column, which are given in the order of categories."""
        frequencies = np.bincount(codes, minlength=len(values)).astype(np.int64)
        all_facts = ColumnFacts(name, len(values), 0, True, Categories(name, tuple(values)), frequencies)
        facts, code_of = select_categories(all_facts, frequencies)
        return self._with_column(facts, pack_codes(code_of, facts.distinct)[codes])

    def _with_column(self, facts: ColumnFacts, codes: Codes) -> Self:
        columns = tuple(facts if column.name == facts.name else column for column in self.columns)
        return replace(self, columns=columns, _codes={**self._codes, facts.name: as_readonly(codes)})

    def check_name(self, name: str) -> None:
        """Raise `InputError` if no column of the file has this name."""
        if name not in self.file_format.header:
            raise InputError(unknown_column(self, name))

    def codes(self, name: str) -> NDArray[np.unsignedinteger]:
        """Return the category of each record in a column, as an index into ``facts(name).categories.values``."""
        facts = self.facts(name)
        if not facts.categorical:
            raise InputError(not_categorical(self, facts))
        return self._codes[name]

    def codes_at(self, name: str, records: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """Return the category of some records only, which are given in ascending order."""
        return self.codes(name)[records]

    def pieces(
        self, columns: Sequence[str], progress: Progress, stage: str
    ) -> Iterator[Mapping[str, NDArray[np.integer]]]:
        """Yield the categories of all records in some columns, a part of the records at a time."""
        all_codes = {name: self.codes(name) for name in columns}
        for start in range(0, self.rows, _CHUNK):
            progress.update(stage, start / self.rows)
            yield {name: codes[start : start + _CHUNK] for name, codes in all_codes.items()}

    def count(
        self, region: CodeMap, quasi_identifiers: Sequence[CodeMap], progress: Progress
    ) -> tuple[ClassCounts, int]:
        """Count the records of each region and class, and those without a region."""
        columns = (region, *quasi_identifiers)
        with ThreadPoolExecutor(_THREADS, "codes") as pool:
            codes = pool.map(self.codes, [column.column for column in columns])
            coded = [
                CodedColumn(codes_of, column.table, column.number)
                for codes_of, column in zip(codes, columns, strict=True)
            ]
        return count_classes(coded[0], coded[1:], progress)

    def snapshot(self, problem: Problem, progress: Progress) -> AbstractContextManager[None]:
        """Do nothing: the codes are in memory, and whoever reads the file again notices that it changed."""
        return nullcontext()

    def load_codes(self, progress: Progress) -> Self:
        """Return the table itself, which has a code of each record."""
        return self

    def require_codes(self) -> Self:
        """Return the table itself, which has a code of each record."""
        return self

    def read_batches(
        self, names: Sequence[str], progress: Progress, stage: str, *, typed: bool = False
    ) -> Generator[Any]:
        """Read the file again: yield some columns of all its records as Arrow batches, in the order of the file.

        Values are strings, missing ones empty; with ``typed``, a Parquet file gives its values as stored. Records that
        a filter leaves out are among them. Raises `InputError`, at the latest after the last batch, if the file is not
        the one any more that was loaded.
        """
        for name in names:
            self.check_name(name)
        if self.source.elsewhere:
            yield from self._make_batches(names, progress, stage)
            return
        try:
            if self.file_format.format == "parquet":
                batches = read_parquet_again(
                    self.source, self.file_format, names, typed, progress, stage
                )
            else:
                batches = read_csv_texts(
                    self.source, self.file_format, names, self._block_bytes, progress, stage
                )
            rows = 0
            for batch in batches:
                rows += batch.num_rows
                # Whoever takes the batches knows nothing of records that were added meanwhile.
                if rows > self.file_rows:
                    raise UnreadableRows
                yield batch
        except (UnreadableRows, pa.ArrowException, OSError):
            message = "The file changed since it was loaded."
            raise input_error(
                "input-changed", message, "Load it again.", file=self.source.path
            ) from None

    def code_column(self, name: str, progress: Progress) -> Self:
        """Read a column again that had too many values, and return the same records with its categories."""
        coder = ColumnCoder(pc.dictionary_encode, None)
        with closing(self.read_batches([name], progress, "Reading records")) as batches:
            rows = code_batches(batches, {0: coder}, 1)
        facts, codes = coder.finish(name, rows, "utf-8", None, 0)
        assert codes is not None
        return self._with_column(facts, codes)

    def _make_batches(self, names: Sequence[str], progress: Progress, stage: str) -> Iterator[Any]:
        """Yield batches of records of an address, which are all in memory."""
        columns = []
        for name in names:
            categories = self.facts(name).categories
            if categories is not None:
                texts = pa.array(categories.values, pa.string())
                columns.append(pa.DictionaryArray.from_arrays(pa.array(self.codes(name)), texts))
            elif name in self.texts:
                columns.append(self.texts[name])
            else:
                message = "The column holds structured or binary values, which have no text."
                raise input_error(
                    "uncodable-column",
                    message,
                    "Leave the column out.",
                    file=self.source.path,
                    column=name,
                )
        for start in range(0, self.rows, _CHUNK):
            progress.update(stage, start / self.rows)
            arrays = [column.slice(start, _CHUNK).dictionary_decode() for column in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))

    def schema(self) -> Any:
        """Return the types of the columns as Arrow names them; None if all are text."""
        if self.file_format.format != "parquet":
            return None
        return pq.read_schema(self.source.path)

    def row_number(self, record: int) -> int:
        """Return the number of the line on which a record (counted from 0) begins."""
        return int(self.row_numbers(self.positions_of(slice(record, record + 1)))[0])

    def row_numbers(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lines on which records of the file begin, of which the positions (counted from 0) ascend.

        Where records do not have one line each, the file is read again for that, which is slow.
        """
        if self._first_line is not None:
            return positions + self._first_line
        return locate_records(
            Path(self.source.path), self.file_format, positions, USUAL_LIMITS, NO_PROGRESS
        )

    def first_rows(self, name: str, marked: NDArray[np.bool_], limit: int) -> list[int]:
        """Return the row numbers of the first records whose category is marked; none of an address."""
        if self.source.elsewhere:
            return []
        codes = self.codes(name)
        records: list[int] = []
        for start in range(0, codes.size, _CHUNK):
            hits = np.flatnonzero(marked[codes[start : start + _CHUNK]])[: limit - len(records)]
            records += (hits + start).tolist()
            if len(records) == limit:
                break
        positions = np.array(records, np.int64)
        if self.positions is not None:
            positions = self.positions[positions]
        return self.row_numbers(positions).tolist()


def unknown_column(table: RecordTable, name: str) -> Finding:
    """Return the finding that the records have no column of this name, with the likely reason."""
    other = suggest_delimiter(table.file_format.header, table.file_format.delimiter, "--delimiter")
    if other is not None and table.file_format.format == "csv" and not table.source.elsewhere:
        return Finding("unknown-column", *other, file=table.source.path)
    if table.source.elsewhere:
        remedy = suggest_columns(name, table.file_format.header)
    elif len(table.columns) < len(table.file_format.header):
        # Line 1 may be a record: without the values of all columns that cannot be told.
        remedy = "Look at the names in line 1."
    elif count_names_among_values(table):
        # Line 1 may be a record, which stays unsaid: a name is also a value of its column.
        remedy = NO_NAMES
    else:
        remedy = suggest_columns(name, table.file_format.header)
    return Finding("unknown-column", f"There is no column “{name}”.", remedy, file=table.source.path)


def count_names_among_values(table: RecordTable) -> int:
    """Count the columns whose name is also one of their values."""
    return sum(
        facts.categories is not None and facts.name in facts.categories.values for facts in table.columns
    )

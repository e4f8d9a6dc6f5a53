"""Record files: one pass turns a file into coded columns that every later choice works on."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.contingency import CodedColumn, count_classes
from vbas_desktop.io.access import check_is_table, check_readable
from vbas_desktop.io.dialect import close_matches, other_delimiter
from vbas_desktop.model.blanks import padded_values
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.errors import Finding, InputError, refusal
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.names import NO_NAMES
from vbas_desktop.model.progress import SILENT, Progress, Silent
from vbas_desktop.model.records import Categories, ColumnFacts, Lookup, RecordTable, frozen, not_categorical
from vbas_desktop.model.selection import Selection
from vbas_desktop.model.source import Source
from vbas_desktop.settings.reading import RecordOptions

from .category_line import looks_like_numbers
from .coding import Codes, ColumnCoder, code_batches, order_categories, pack_codes, select_categories
from .csv_batches import UnreadableRows, read_csv_texts
from .file_format import TextStream, read_opening
from .limits import USUAL_LIMITS, ReadLimits
from .loading import Request, read_records
from .parquet_batches import first_parquet_record, is_parquet, read_parquet_again
from .row_errors import locate_records
from .rows_hash import hash_rows

__all__ = ["CodedTable", "RecordOptions", "line_two", "load_records"]

_CHUNK = 1 << 20
_THREADS = 2


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A record file in memory: codes only, as small as they can be. Later choices never read the file again.

    ``columns`` are those that were asked for, in the file's order; the names of all are in the dialect. With a
    ``selection``, ``rows`` are the records that are considered, and ``positions`` says which of the file's they are. In
    ``mapped_column`` the values are regions that a region map gave to the records, not those of the file. ``texts``
    has the columns without codes as Arrow dictionary arrays if the records are from an address: nothing is read again.
    """

    source: Source
    rows: int
    dialect: Dialect
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
        """The number of records of the file, those that a filter leaves out included."""
        return self.rows + (0 if self.selection is None else self.selection.records_left_out)

    @cached_property
    def considered(self) -> NDArray[np.bool_] | None:
        """Whether each record of the file is considered; None if all are."""
        if self.positions is None:
            return None
        found = np.zeros(self.file_rows, np.bool_)
        found[self.positions] = True
        return found

    def positions_of(self, rows: slice) -> NDArray[np.int64]:
        """Return where consecutive records of the table are among all records of the file, counted from 0."""
        return np.arange(rows.start, rows.stop) if self.positions is None else self.positions[rows]

    def in_file(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return codes of the considered records as codes of all records of the file; those left out have 0."""
        if self.positions is None:
            return codes
        found = np.zeros(self.file_rows, np.int32)
        found[self.positions] = codes
        return found

    def select(self, selection: Selection, positions: NDArray[np.int64], findings: Sequence[Finding] = ()) -> Self:
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
            positions=frozen(positions),
        )

    @cached_property
    def padded_categories(self) -> Mapping[str, tuple[str, ...]]:
        """The categories with blanks or invisible characters around them, by column; most columns have none."""
        found = {each.name: padded_values(each.categories.values) for each in self.columns if each.categories}
        return {name: values for name, values in found.items() if values}

    @cached_property
    def rows_hash(self) -> str:
        """The hash of the rows in any order; empty if it is not known."""
        return hash_rows(self if self._unmapped is None else self._unmapped)

    def facts(self, name: str) -> ColumnFacts:
        """What is known of a column."""
        for column in self.columns:
            if column.name == name:
                return column
        self.check_name(name)
        raise LookupError(f"column {self.dialect.header.index(name) + 1} was not asked for when the file was read")

    def labelled(self, codebook: Mapping[str, Mapping[str, str]]) -> Self:
        """The same records with the labels of a codebook."""
        columns = (
            replace(each, categories=replace(each.categories, labels=codebook[each.name]))
            if each.categories is not None and each.name in codebook
            else each
            for each in self.columns
        )
        return replace(self, columns=tuple(columns))

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> Self:
        """Return the same records with other texts for the values of some columns; equal ones become one category."""
        columns = list(self.columns)
        codes = dict(self._codes)
        for number, facts in enumerate(columns):
            if facts.name in texts and facts.frequencies is not None:
                columns[number], code_of = order_categories(facts.name, texts[facts.name], facts.frequencies)
                codes[facts.name] = pack_codes(code_of, columns[number].distinct)[codes[facts.name]]
        return replace(self, columns=tuple(columns), _codes=codes)

    def with_regions(self, name: str, values: Sequence[str], codes: NDArray[np.integer]) -> Self:
        """Return the same records with other regions in a column: ``codes`` are indices into ``values``."""
        frequencies = np.bincount(codes, minlength=len(values)).astype(np.int64)
        facts, code_of = order_categories(name, values, frequencies)
        return replace(
            self._with_column(facts, pack_codes(code_of, facts.distinct)[codes]), mapped_column=name, _unmapped=self
        )

    def with_codes(self, name: str, values: Sequence[str], codes: NDArray[np.int32]) -> Self:
        """Return the same records with other values in a column, which are given in the order of categories."""
        frequencies = np.bincount(codes, minlength=len(values)).astype(np.int64)
        given = ColumnFacts(name, len(values), 0, True, Categories(name, tuple(values)), frequencies)
        facts, code_of = select_categories(given, frequencies)
        return self._with_column(facts, pack_codes(code_of, facts.distinct)[codes])

    def _with_column(self, facts: ColumnFacts, codes: Codes) -> Self:
        columns = tuple(facts if column.name == facts.name else column for column in self.columns)
        return replace(self, columns=columns, _codes={**self._codes, facts.name: frozen(codes)})

    def check_name(self, name: str) -> None:
        """Refuse a name that no column of the file has."""
        if name not in self.dialect.header:
            raise InputError(unknown_column(self, name))

    def codes(self, name: str) -> NDArray[np.unsignedinteger]:
        """The category of each record in a column, as an index into ``facts(name).categories.values``."""
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
        """The categories of all records in some columns, a part of the records at a time."""
        whole = {name: self.codes(name) for name in columns}
        for start in range(0, self.rows, _CHUNK):
            progress.update(stage, start / self.rows)
            yield {name: codes[start : start + _CHUNK] for name, codes in whole.items()}

    def count(self, region: Lookup, quasi_identifiers: Sequence[Lookup], progress: Progress) -> tuple[ClassCounts, int]:
        """The records of each region and class; the second number is that of records without a region."""
        columns = (region, *quasi_identifiers)
        with ThreadPoolExecutor(_THREADS, "codes") as pool:
            codes = pool.map(self.codes, [each.column for each in columns])
            first, *others = (
                CodedColumn(found, each.table, each.number) for found, each in zip(codes, columns, strict=True)
            )
        return count_classes(first, others, progress)

    def load_codes(self, progress: Progress) -> Self:
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
        import pyarrow as pa

        for name in names:
            self.check_name(name)
        if self.source.elsewhere:
            yield from self._make_batches(names, progress, stage)
            return
        try:
            if self.dialect.format == "parquet":
                batches = read_parquet_again(self.source, self.dialect, names, typed, progress, stage)
            else:
                batches = read_csv_texts(self.source, self.dialect, names, self._block_bytes, progress, stage)
            rows = 0
            for batch in batches:
                rows += batch.num_rows
                # Whoever takes the batches knows nothing of records that were added meanwhile.
                if rows > self.file_rows:
                    raise UnreadableRows
                yield batch
        except (UnreadableRows, pa.ArrowException, OSError):
            message = "The file changed since it was loaded."
            raise refusal("input-changed", message, "Load it again.", file=self.source.path) from None

    def code_column(self, name: str, progress: Progress) -> Self:
        """Read a column again that had too many values, and return the same records with its categories."""
        import pyarrow.compute as pc

        coder = ColumnCoder(pc.dictionary_encode, None)
        with closing(self.read_batches([name], progress, "Reading records")) as batches:
            rows = code_batches(batches, {0: coder}, 1)
        facts, codes = coder.finish(name, rows, "utf-8", None, 0)
        assert codes is not None
        return self._with_column(facts, codes)

    def _make_batches(self, names: Sequence[str], progress: Progress, stage: str) -> Iterator[Any]:
        """Yield batches of records of an address, which are all in memory."""
        import pyarrow as pa

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
                raise refusal("uncodable-column", message, "Leave the column out.", file=self.source.path, column=name)
        for start in range(0, self.rows, _CHUNK):
            progress.update(stage, start / self.rows)
            arrays = [column.slice(start, _CHUNK).dictionary_decode() for column in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))

    def schema(self) -> Any:
        """The types of the columns as Arrow names them; None if all are text."""
        if self.dialect.format != "parquet":
            return None
        import pyarrow.parquet as pq

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
        return locate_records(Path(self.source.path), self.dialect, positions, USUAL_LIMITS, SILENT)

    def first_rows(self, name: str, wanted: NDArray[np.bool_], limit: int) -> list[int]:
        """Return the row numbers of the first records whose category is marked in ``wanted``; none of an address."""
        if self.source.elsewhere:
            return []
        codes = self.codes(name)
        records: list[int] = []
        for start in range(0, codes.size, _CHUNK):
            hits = np.flatnonzero(wanted[codes[start : start + _CHUNK]])[: limit - len(records)]
            records += (hits + start).tolist()
            if len(records) == limit:
                break
        found = np.array(records, np.int64)
        return self.row_numbers(found if self.positions is None else self.positions[found]).tolist()


def load_records(
    path: str | Path,
    options: RecordOptions | None = None,
    progress: Progress | None = None,
    columns: Collection[str] | None = None,
    *,
    unlimited: Collection[str] = (),
    limits: ReadLimits = USUAL_LIMITS,
) -> CodedTable:
    """Read a record file once: CSV (also compressed) or Parquet. All problems found are raised together.

    ``columns``: the names of those that are needed; the others are looked at but not kept. None: all are needed.
    ``unlimited``: the names of those that have categories however many values they have, such as regions.
    """
    path = Path(path)
    options = options or RecordOptions()
    _check_options(options)
    check_readable(path)
    check_is_table(path)
    loaded = read_records(Request(path, options, columns, unlimited, limits, progress or Silent()))
    table = CodedTable(
        loaded.source,
        loaded.rows,
        loaded.dialect,
        tuple(facts for facts, _ in loaded.columns),
        loaded.findings,
        {facts.name: codes for facts, codes in loaded.columns if codes is not None},
        loaded.first_line,
        _block_bytes=loaded.block_bytes,
    )
    if columns is None:
        _check_first_line(table)
    return table


def line_two(path: str | Path, options: RecordOptions, progress: Progress) -> tuple[bool, tuple[Finding, ...]]:
    """Whether line 2 holds numbers of categories, as `load_records` would decide, and what it would say about that.

    Of most files a look at line 2 is enough; the others are judged by all their records.
    """
    if options.category_counts != "auto":
        return options.category_counts == "yes", ()
    _check_options(options)
    check_readable(Path(path))
    if _is_certainly_a_record(Path(path), options):
        return False, ()
    table = load_records(path, options, progress, ())
    said = tuple(finding for finding in table.findings if finding.code == "category-line")
    return table.dialect.category_line, said


def _is_certainly_a_record(path: Path, options: RecordOptions) -> bool:
    """Look at line 2 alone: whether it cannot hold numbers of categories."""
    if is_parquet(path):
        return not looks_like_numbers(first_parquet_record(path))
    with TextStream(path, options.encoding) as stream:
        second = read_opening(stream, options.delimiter, USUAL_LIMITS).second
    return second is not None and not looks_like_numbers([value.decode("iso8859-1") for value in second])


def unknown_column(table: RecordTable, name: str) -> Finding:
    """The finding that the record file has no column of this name; or why it has none, whatever the name."""
    other = other_delimiter(table.dialect.header, table.dialect.delimiter, "--delimiter")
    if other is not None and table.dialect.format == "csv" and not table.source.elsewhere:
        return Finding("unknown-column", *other, file=table.source.path)
    if table.source.elsewhere:
        remedy = close_matches(name, table.dialect.header)
    elif len(table.columns) < len(table.dialect.header):
        # Line 1 may be a record: without the values of all columns that cannot be told.
        remedy = "Look at the names in line 1."
    elif _begins_with_a_record(table):
        remedy = NO_NAMES
    else:
        remedy = close_matches(name, table.dialect.header)
    return Finding("unknown-column", f"There is no column “{name}”.", remedy, file=table.source.path)


def _begins_with_a_record(table: RecordTable) -> bool:
    """Tell whether line 1 may be a record, which stays unsaid: a name is also a value of its column."""
    return _names_among_values(table) > 0


def _names_among_values(table: RecordTable) -> int:
    """Count the columns whose name is also one of their values."""
    return sum(each.categories is not None and each.name in each.categories.values for each in table.columns)


def _check_first_line(table: CodedTable) -> None:
    """Refuse a file without names: as names, the values of its first record would be shown and released."""
    if table.dialect.format == "csv" and 2 * _names_among_values(table) > max(2, len(table.columns)):
        message = "Most fields of line 1 are also values of their columns."
        remedy = f"{NO_NAMES} If the line of names is repeated further down, remove it there."
        raise refusal("no-names", message, remedy, file=table.source.path, row=1)


def _check_options(options: RecordOptions) -> None:
    if options.delimiter is not None and (
        len(options.delimiter) != 1 or options.delimiter in '"\r\n' or not options.delimiter.isascii()
    ):
        remedy = "Use a single character such as , ; | or a tab."
        raise refusal("bad-delimiter", f"“{options.delimiter}” cannot be a delimiter.", remedy)
    if options.category_counts not in ("auto", "yes", "no"):
        message = f"“{options.category_counts}” does not say whether line 2 holds category numbers."
        raise refusal("bad-option", message, "Use auto, yes or no.")

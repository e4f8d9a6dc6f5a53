"""Asks an engine for facts and counts of the records behind an address; the records stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.contingency import add_sizes
from vbas_desktop.io.records.coding import order_categories, pack_codes
from vbas_desktop.io.records.parquet_batches import dictionary_of
from vbas_desktop.io.records.table import CodedTable, unknown_column
from vbas_desktop.model.blanks import padded_values
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.errors import Finding, InputError, refusal
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.records import ColumnFacts, Lookup
from vbas_desktop.model.selection import Selection
from vbas_desktop.model.source import Source
from vbas_desktop.settings.reading import RecordOptions

from .address import Address, Kind
from .category_row import refuse_numbers, settle_first_record
from .coding import code_records
from .engine import LOOKING, OUT_OF_MEMORY, RECORDS, DatabaseEngine, changed
from .facts import Values, describe_column, describe_records
from .queries import count_query, select_query

T = TypeVar("T")

COUNTING = "Counting classes"
_STEP = 4
_MOST_PARTS = 64


@dataclass(frozen=True, eq=False)
class DatabaseTable:
    """A `RecordTable` whose records stay with their engine.

    It has the facts of the columns that were asked for, and counts on demand. What needs a code of each record asks for
    `load_codes`; methods for single records are refused. ``values`` are the keys of each column as the engine takes
    them back; ``lookups`` and ``codes_by_text`` are kept from query to query.
    """

    source: Source
    rows: int
    dialect: Dialect
    columns: tuple[ColumnFacts, ...]
    findings: tuple[Finding, ...]
    engine: DatabaseEngine
    values: dict[str, Values] = field(default_factory=dict, repr=False)
    lookups: dict[tuple[str, ...], tuple[Lookup, ...]] = field(default_factory=dict, repr=False)
    codes_by_text: dict[str, dict[str, int]] = field(default_factory=dict, repr=False)
    selection: None = None
    positions: None = None
    considered: None = None
    mapped_column: None = None
    rows_hash: str = ""

    @property
    def file_rows(self) -> int:
        """Return the number of records; none is left out."""
        return self.rows

    @cached_property
    def padded_categories(self) -> Mapping[str, tuple[str, ...]]:
        """Return the categories with blanks or invisible characters around them, by column."""
        found = {each.name: padded_values(each.categories.values) for each in self.columns if each.categories}
        return {name: values for name, values in found.items() if values}

    def facts(self, name: str) -> ColumnFacts:
        """Return what is known of a column."""
        for column in self.columns:
            if column.name == name:
                return column
        self.check_name(name)
        raise LookupError(f"column {self.place(name) + 1} was not asked for when the records were described")

    def check_name(self, name: str) -> None:
        """Refuse a name that no column has."""
        if name not in self.dialect.header:
            raise InputError(unknown_column(self, name))

    def place(self, name: str) -> int:
        """Return the number of a column."""
        return self.dialect.header.index(name)

    def schema(self) -> Any:
        """Return the types of the columns under their names."""
        import pyarrow as pa

        return pa.schema(list(zip(self.dialect.header, self.engine.description.schema.types, strict=True)))

    def labelled(self, codebook: Mapping[str, Mapping[str, str]]) -> Self:
        """Return the same records with the labels of a codebook."""
        columns = list(self.columns)
        for number, column in enumerate(columns):
            if column.categories is not None and column.name in codebook:
                categories = replace(column.categories, labels=codebook[column.name])
                columns[number] = replace(column, categories=categories)
        return replace(self, columns=tuple(columns))

    def pieces(
        self, columns: Sequence[str], progress: Progress, stage: str
    ) -> Iterator[Mapping[str, NDArray[np.integer]]]:
        """Yield the codes of all records batch by batch, by one query; in no order, and none is kept."""
        met = 0
        for batch in self.engine.batches(*self._asked(columns, RECORDS), progress, stage):
            progress.update(stage, met / self.rows)
            met += batch.num_rows
            yield {name: self.codes_of(name, batch.column(place)) for place, name in enumerate(columns)}
        if met != self.rows:
            raise changed(self.engine.address)

    def _asked(self, columns: Sequence[str], source: str) -> tuple[str, Any]:
        """Write the query for some columns of all records or some, with the types of its result."""
        import pyarrow as pa

        places = [self.place(name) for name in columns]
        types = pa.schema([self.engine.description.schema.field(place) for place in places])
        return select_query(places, source), types

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> Self:
        """Return the same records with other texts for the values of some columns; equal ones become one category."""
        columns = list(self.columns)
        codes_by_text = dict(self.codes_by_text)
        for place, facts in enumerate(columns):
            if facts.name in texts and facts.categories is not None and facts.frequencies is not None:
                columns[place], code_of = order_categories(facts.name, texts[facts.name], facts.frequencies)
                codes_by_text[facts.name] = dict(zip(facts.categories.values, code_of.tolist(), strict=True))
        return replace(self, columns=tuple(columns), codes_by_text=codes_by_text)

    def first_rows(self, name: str, wanted: NDArray[np.bool_], limit: int) -> list[int]:
        """Return no row numbers: tables have no order."""
        return []

    def load_codes(self, progress: Progress) -> CodedTable:
        """Read all records and return them with a code of each."""
        with self.engine.steady(progress):
            return code_records(self.engine, progress)

    def codes(self, name: str) -> NoReturn:
        """Refuse to give a code of each record."""
        self._refuse_single_records()

    def codes_at(self, name: str, records: NDArray[np.int64]) -> NoReturn:
        """Refuse to give codes of single records."""
        self._refuse_single_records()

    def code_column(self, name: str, progress: Progress) -> NoReturn:
        """Refuse codes of single records."""
        self._refuse_single_records()

    def read_batches(self, names: Sequence[str], progress: Progress, stage: str, *, typed: bool = False) -> NoReturn:
        """Refuse the values of single records."""
        self._refuse_single_records()

    def with_regions(self, name: str, values: Sequence[str], codes: NDArray[np.integer]) -> NoReturn:
        """Refuse regions that are given record by record."""
        self._refuse_single_records()

    def with_codes(self, name: str, values: Sequence[str], codes: NDArray[np.int32]) -> NoReturn:
        """Refuse values that are given record by record."""
        self._refuse_single_records()

    def select(self, selection: Selection, positions: NDArray[np.int64], findings: Sequence[Finding] = ()) -> NoReturn:
        """Refuse to choose records by their position."""
        self._refuse_single_records()

    def positions_of(self, rows: slice) -> NoReturn:
        """Refuse positions: tables have no order."""
        self._refuse_single_records()

    def in_file(self, codes: NDArray[np.int32]) -> NoReturn:
        """Refuse codes by position."""
        self._refuse_single_records()

    def row_number(self, record: int) -> NoReturn:
        """Refuse row numbers."""
        self._refuse_single_records()

    def row_numbers(self, positions: NDArray[np.int64]) -> NoReturn:
        """Refuse row numbers."""
        self._refuse_single_records()

    def _refuse_single_records(self) -> NoReturn:
        message = "This needs the records one by one, which an address does not give."
        raise refusal("records-needed", message, "Use a record file for it.", file=self.source.path)

    def count(self, region: Lookup, quasi_identifiers: Sequence[Lookup], progress: Progress) -> tuple[ClassCounts, int]:
        """Count by one query, or a few if memory is short; what comes back is as large as the counts."""
        lookups = (region, *quasi_identifiers)
        numbers = tuple(each.number for each in quasi_identifiers)
        places = [self.place(each.column) for each in lookups]
        parts = in_parts(
            self.engine, places[0], lambda name: self._coded(lookups, self._counted(places, name, progress))
        )
        area, classes, sizes = (np.concatenate(each) for each in zip(*parts, strict=True))
        del parts
        if int(sizes.sum()) != self.rows:
            raise changed(self.engine.address)
        known = area >= 0
        unknown = 0
        if not known.all():
            unknown = int(sizes[~known].sum())
            area, classes, sizes = area[known], classes[known], sizes[known]
        counts = add_sizes(area, classes, sizes, region.number, numbers)
        self.lookups[tuple(each.column for each in lookups)] = lookups
        return counts, unknown

    def require_same(self, problem: Problem, progress: Progress) -> None:
        """Refuse to go on if the records are not those any more that were counted."""
        if self.engine.description.mark:
            self.engine.refuse_changed()
            return
        region, *others = self.lookups[(problem.region_column, *problem.quasi_identifiers)]
        counts, unknown = self.count(region, others, progress)
        if unknown != problem.unknown_region_records or not counts.equals(problem.counts):
            raise changed(self.engine.address)

    def _counted(self, places: Sequence[int], name: str, progress: Progress) -> Any:
        """Count the combinations that occur in some columns: an Arrow table of the columns and n."""
        import pyarrow as pa

        schema = self.engine.description.schema
        types = pa.schema([*(schema.field(place) for place in places), pa.field("n", pa.int64())])
        query = count_query(places, name)
        return self.engine.fetch(query, types, progress, COUNTING)

    def _coded(self, lookups: Sequence[Lookup], found: Any) -> tuple[NDArray[np.int64], ...]:
        """Region, class and number of records of each combination."""
        area = self._looked_up(lookups[0], found.column(0))
        classes = np.zeros(area.size, np.int64)
        for place, each in enumerate(lookups[1:], 1):
            classes *= each.number
            classes += self._looked_up(each, found.column(place))
        return area, classes, np.asarray(found.column(len(lookups)).to_numpy(), np.int64)

    def codes_of(self, name: str, column: Any) -> NDArray[np.int64]:
        """Return the category of each value of a result."""
        indices, codes = self._numbered(name, column)
        return codes[indices]

    def _looked_up(self, lookup: Lookup, column: Any) -> NDArray[np.int64]:
        """Return what a lookup has for each value of a result; looked up once for each different value."""
        indices, codes = self._numbered(lookup.column, column.combine_chunks())
        return lookup.table.astype(np.int64)[codes][indices]

    def _numbered(self, name: str, column: Any) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
        """Number the values of a result, and return the category of each number.

        Refused if there are others than when the records were described.
        """
        if name not in self.codes_by_text:
            categories = self.facts(name).categories
            assert categories is not None
            self.codes_by_text[name] = {value: code for code, value in enumerate(categories.values)}
        code_of = self.codes_by_text[name]
        indices, texts = dictionary_of(column)
        codes = np.array([code_of.get(text, -1) for text in texts], np.int64)
        if codes.size and codes.min() < 0:
            raise changed(self.engine.address)
        return indices, codes

    def sample(self, columns: Sequence[str], rows: int, progress: Progress) -> CodedTable:
        """Draw a random sample of about so many records, or all if there are no more, with the codes of this table."""
        source = self.engine.sample(min(1.0, rows / max(1, self.rows)))
        found = self.engine.fetch(*self._asked(columns, source), progress, "Testing the released columns")
        codes = {}
        for place, name in enumerate(columns):
            found_codes = self.codes_of(name, found.column(place).combine_chunks())
            codes[name] = pack_codes(found_codes, max(1, self.facts(name).distinct))
        facts = tuple(self.facts(name) for name in columns)
        return CodedTable(self.source, found.num_rows, self.dialect, facts, (), codes)

    def close(self) -> None:
        """Let go of the engine."""
        self.engine.close()


def in_parts(engine: DatabaseEngine, column: int, job: Callable[[str], T]) -> list[T]:
    """Do a job on all records, which it gets by their name, or, if memory is short, on ever smaller parts of them.

    The parts are cut by the values of a column, so nothing that is grouped by it is in two of them.
    """
    number = 1
    while True:
        names = engine.parts(column, number)
        try:
            return [job(name) for name in names]
        except InputError as error:
            short = any(finding.code == OUT_OF_MEMORY for finding in error.findings)
            if not short or number > len(names) or number >= _MOST_PARTS:
                raise
        number *= _STEP


def open_database_table(
    address: Address,
    options: RecordOptions,
    progress: Progress | None = None,
    columns: Collection[str] | None = None,
    unlimited: Collection[str] = (),
) -> DatabaseTable:
    """Open an address and describe the columns that are needed (None: all).

    Those in ``unlimited`` have categories however many values they have.
    """
    progress = progress or Silent()
    engine = open_engine(address, options, progress)
    try:
        with engine.steady(progress):
            found = _describe_columns(engine, progress, columns, unlimited)
        engine.refuse_changed()
        return found
    except BaseException:
        engine.close()
        raise


def open_engine(address: Address, options: RecordOptions, progress: Progress) -> DatabaseEngine:
    """Open the engine that reads an address; a first row of category numbers is none of its records."""
    from .duckdb_engine import DuckDBEngine
    from .postgresql_engine import PostgreSQLEngine
    from .spark_engine import SparkEngine

    engines: dict[Kind, Callable[[], DatabaseEngine]] = {
        Kind.DUCKDB: lambda: DuckDBEngine(address, options, progress),
        Kind.POSTGRESQL: lambda: PostgreSQLEngine(address, progress),
        Kind.SPARK: lambda: SparkEngine(address, progress),
    }
    if address.kind is not Kind.DUCKDB:
        # Before a server is contacted.
        refuse_numbers(address, options.category_counts)
    engine = engines[address.kind]()
    try:
        settle_first_record(engine, options.category_counts, progress)
    except BaseException:
        engine.close()
        raise
    return engine


def _describe_columns(
    engine: DatabaseEngine, progress: Progress, columns: Collection[str] | None, unlimited: Collection[str]
) -> DatabaseTable:
    """Ask for the values of the columns that are needed, and make the table."""
    header = engine.description.header
    facts: list[ColumnFacts] = []
    values: dict[str, Values] = {}
    wanted = [name for name in header if columns is None or name in columns]
    for number, name in enumerate(wanted):
        part = Span(progress, number / len(wanted), (number + 1) / len(wanted))
        part.update(LOOKING, 0.0)
        described, kept = describe_column(engine, header.index(name), part, name in unlimited)
        facts.append(described)
        if kept is not None:
            values[name] = kept
    source, dialect, findings = describe_records(engine, facts)
    return DatabaseTable(source, engine.description.rows, dialect, tuple(facts), findings, engine=engine, values=values)

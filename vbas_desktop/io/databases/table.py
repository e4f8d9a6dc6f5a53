"""Records behind an address as a table: facts and counts are asked of the engine, records stay where they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.records.category_line import exceeded_number
from vbas_desktop.io.records.parquet import dictionary_of
from vbas_desktop.io.records.raw import OrderedCodes, merged_facts
from vbas_desktop.io.records.table import CodedTable
from vbas_desktop.model.errors import Finding, Severity, refusal, stop_on_errors
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.records import ColumnFacts, EquivalenceCounts, Lookup
from vbas_desktop.model.source import Source
from vbas_desktop.settings.reading import RecordOptions

from .address import Address, Kind
from .category_row import FIRST_ROW, refuse_numbers, settle_first_record
from .counting import counts_of, in_parts
from .engine import LOOKING, RECORDS, DatabaseEngine, changed
from .facts import Values, describe_column
from .queries import count_query, select_query

COUNTING = "Counting classes"


@dataclass(frozen=True, eq=False)
class DatabaseTable(CodedTable):
    """A table whose records stay with their engine.

    It has the facts of the columns that were asked for, and counts on demand; codes of single records it has none.
    """

    engine: DatabaseEngine = field(kw_only=True)
    values: dict[str, Values] = field(kw_only=True, default_factory=dict, repr=False)
    lookups: dict[tuple[str, ...], tuple[Lookup, ...]] = field(kw_only=True, default_factory=dict, repr=False)
    codes_by_text: dict[str, dict[str, int]] = field(kw_only=True, default_factory=dict, repr=False)

    def place(self, name: str) -> int:
        """The number of a column."""
        return self.dialect.header.index(name)

    def schema(self) -> Any:
        """The types of the columns under their names."""
        import pyarrow as pa

        return pa.schema(list(zip(self.dialect.header, self.engine.description.schema.types, strict=True)))

    def codes(self, name: str) -> NDArray[np.unsignedinteger]:
        """Refused: only what works by counting can be done with records that stay where they are."""
        message = "This needs the records one by one, which an address does not give."
        raise refusal("records-needed", message, "Use a record file for it.", file=self.source.path)

    def pieces(
        self, columns: Sequence[str], progress: Progress, stage: str
    ) -> Iterator[Mapping[str, NDArray[np.integer]]]:
        """One query that hands all records out, batch by batch; in no order, and none is kept."""
        met = 0
        for batch in self.engine.batches(*self._asked(columns, RECORDS), progress, stage):
            progress.update(stage, met / self.rows)
            met += batch.num_rows
            yield {name: self.codes_of(name, batch.column(place)) for place, name in enumerate(columns)}
        if met != self.rows:
            raise changed(self.engine.address)

    def _asked(self, columns: Sequence[str], source: str) -> tuple[str, Any]:
        """The query for some columns of all records or some, and the types of what it gives."""
        import pyarrow as pa

        places = [self.place(name) for name in columns]
        types = pa.schema([self.engine.description.schema.field(place) for place in places])
        return select_query(places, source), types

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> Self:
        """Return the same records with other texts for the values of some columns; equal ones become one category."""
        columns = list(self.columns)
        codes_by_text = dict(self.codes_by_text)
        for place, facts in enumerate(columns):
            if facts.name in texts and facts.categories is not None:
                columns[place], code_of = merged_facts(facts, texts[facts.name])
                codes_by_text[facts.name] = dict(zip(facts.categories.values, code_of.tolist(), strict=True))
        return replace(self, columns=tuple(columns), codes_by_text=codes_by_text)

    def first_rows(self, name: str, wanted: NDArray[np.bool_], limit: int) -> list[int]:
        """None: tables have no order, so their rows have no numbers."""
        return []

    def count(
        self, region: Lookup, quasi_identifiers: Sequence[Lookup], progress: Progress
    ) -> tuple[EquivalenceCounts, int]:
        """One query, or a few if memory is short; what comes back is as large as the counts."""
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
        counts = counts_of(area, classes, sizes, region.number, numbers)
        self.lookups[tuple(each.column for each in lookups)] = lookups
        return counts, unknown

    def require_same(self, problem: Problem, progress: Progress) -> None:
        """Refuse to go on if the records are not those any more that were counted."""
        if self.engine.description.mark:
            self.engine.refuse_changed()
            return
        region, *others = self.lookups[(problem.region_column, *problem.quasi_identifiers)]
        counts, unknown = self.count(region, others, progress)
        now: list[Any] = [*counts.rows, counts.classes]
        before: list[Any] = [*problem.counts.rows, problem.counts.classes]
        same = all(np.array_equal(one, other) for one, other in zip(now, before, strict=True))
        if unknown != problem.unknown_region_records or not same:
            raise changed(self.engine.address)

    def _counted(self, places: Sequence[int], name: str, progress: Progress) -> Any:
        """The counts of all combinations that occur in some columns, as an Arrow table: the columns, then n."""
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
        """The category of each value of a result."""
        indices, codes = self._numbered(name, column)
        return codes[indices]

    def _looked_up(self, lookup: Lookup, column: Any) -> NDArray[np.int64]:
        """What a lookup has for each value of a result; looked up once for each different value."""
        indices, codes = self._numbered(lookup.column, column.combine_chunks())
        return lookup.table.astype(np.int64)[codes][indices]

    def _numbered(self, name: str, column: Any) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
        """Each value by its number, and the category of each number.

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
        """A random sample of about so many records, or all if there are no more, with the codes of this table."""
        source = self.engine.sample(min(1.0, rows / max(1, self.rows)))
        found = self.engine.fetch(*self._asked(columns, source), progress, "Testing the released columns")
        codes = {
            name: _ordered(self.codes_of(name, found.column(place).combine_chunks()), self.facts(name))
            for place, name in enumerate(columns)
        }
        kept = tuple(self.facts(name) for name in columns)
        return CodedTable(self.source, found.num_rows, self.dialect, kept, (), codes)

    def close(self) -> None:
        """Let go of the engine."""
        self.engine.close()


def _ordered(codes: NDArray[np.int64], facts: ColumnFacts) -> OrderedCodes:
    number = max(1, facts.distinct)
    return OrderedCodes([codes.astype(np.uint32)], np.arange(number, dtype=np.uint32), codes.size, number)


def open_database_table(
    address: Address,
    options: RecordOptions,
    progress: Progress | None = None,
    columns: Collection[str] | None = None,
) -> DatabaseTable:
    """Open an address and describe the columns that are needed (None: all)."""
    progress = progress or Silent()
    engine = open_engine(address, options, progress)
    try:
        with engine.steady(progress):
            found = _described(engine, progress, columns)
        engine.refuse_changed()
        return found
    except BaseException:
        engine.close()
        raise


def open_engine(address: Address, options: RecordOptions, progress: Progress) -> DatabaseEngine:
    """The engine that reads an address, connected; a first row of category numbers is none of its records."""
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


def _described(engine: DatabaseEngine, progress: Progress, columns: Collection[str] | None) -> DatabaseTable:
    about = engine.description
    file = str(engine.address)
    if not about.rows:
        raise refusal("no-records", "There are columns but no records.", "Choose another place.", file=file)
    facts: list[ColumnFacts] = []
    values: dict[str, Values] = {}
    findings = list(engine.findings)
    wanted = [name for name in about.header if columns is None or name in columns]
    for number, name in enumerate(wanted):
        part = Span(progress, number / len(wanted), (number + 1) / len(wanted))
        part.update(LOOKING, 0.0)
        one, kept = describe_column(engine, about.header.index(name), part)
        facts.append(one)
        declared = None if one.categories is None else one.categories.declared
        present = one.distinct - (one.missing > 0)
        if declared is not None and present > declared:
            findings.append(exceeded_number(name, present, declared, FIRST_ROW, file))
        if kept is not None:
            values[name] = kept
        elif not one.distinct:
            message = "The column holds structured or binary values, which cannot be categories."
            findings.append(Finding("uncodable-column", message, "", Severity.HINT, file, column=name))
    source = Source(file, about.size_bytes, _fingerprint(about.header, about.rows, facts), elsewhere=True)
    dialect = Dialect("parquet", header=about.header, category_line=engine.category_numbers is not None)
    found = stop_on_errors(findings)
    return DatabaseTable(source, about.rows, dialect, tuple(facts), found, engine=engine, values=values)


def _fingerprint(header: Sequence[str], rows: int, facts: Sequence[ColumnFacts]) -> str:
    """What changes when records do: a hash of names, number of records and the frequencies of all values.

    It does not depend on the order of the records nor on the engine, so the same records have it everywhere.
    """
    digest = hashlib.sha256(json.dumps([1, list(header), rows]).encode())
    for each in facts:
        digest.update(json.dumps([each.name, each.distinct, each.missing]).encode())
        if each.categories is not None and each.frequencies is not None:
            for value, number in zip(each.categories.values, each.frequencies.tolist(), strict=True):
                digest.update(
                    f"{len(value.encode('utf-8', 'surrogatepass'))}:{value}:{number}\n".encode("utf-8", "surrogatepass")
                )
    return digest.hexdigest()

"""The table of records that stay with their engine, which counts them and joins them with their classes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.algorithms.contingency import add_sizes
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.findings import Finding, InputError, input_error
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.records import CodeMap, ColumnFacts, FileFormat, SourceFile, label_columns
from vbas_desktop.model.value_notation import padded_values
from vbas_desktop.settings.reading import RecordReading

from ..records.coding import order_categories, pack_codes
from ..records.parquet_batches import dictionary_of
from ..records.table import CodedTable, unknown_column
from .address import Address
from .engine import DESCRIBING, OUT_OF_MEMORY, RECORDS, DatabaseEngine, records_changed
from .facts import CategoryKeys, describe_column, describe_records
from .loading import encode_records
from .opening import open_engine
from .queries import count_query, select_query

T = TypeVar("T")

COUNTING = "Counting classes"
_STEP = 4
_MAX_PARTS = 64


@dataclass(frozen=True, eq=False)
class DatabaseTable:
    """A `RecordTable` whose records stay with their engine.

    It has the facts of the columns that were asked for, and counts on demand. What needs a code of each record asks
    for `load_codes`. ``values`` are the keys of each column as the engine takes them back; ``lookups`` and
    ``codes_by_text`` are kept from query to query.
    """

    source: SourceFile
    rows: int
    file_format: FileFormat
    columns: tuple[ColumnFacts, ...]
    findings: tuple[Finding, ...]
    engine: DatabaseEngine
    values: dict[str, CategoryKeys] = field(default_factory=dict, repr=False)
    lookups: dict[tuple[str, ...], tuple[CodeMap, ...]] = field(default_factory=dict, repr=False)
    codes_by_text: dict[str, dict[str, int]] = field(default_factory=dict, repr=False)
    selection: None = None
    rows_hash: str = ""

    @cached_property
    def padded_categories(self) -> Mapping[str, tuple[str, ...]]:
        """Return the categories with blanks or invisible characters around them, by column."""
        padded = {
            facts.name: padded_values(facts.categories.values)
            for facts in self.columns
            if facts.categories
        }
        return {name: values for name, values in padded.items() if values}

    def facts(self, name: str) -> ColumnFacts:
        """Return what is known of a column."""
        for column in self.columns:
            if column.name == name:
                return column
        self.check_name(name)
        raise LookupError(
            f"column {self.column_number(name) + 1} was not asked for when the records were described"
        )

    def check_name(self, name: str) -> None:
        """Refuse a name that no column has."""
        if name not in self.file_format.header:
            raise InputError(unknown_column(self, name))

    def column_number(self, name: str) -> int:
        """Return the position of a column in the header."""
        return self.file_format.header.index(name)

    def schema(self) -> Any:
        """Return the types of the columns under their names."""
        return pa.schema(
            list(zip(self.file_format.header, self.engine.description.schema.types, strict=True))
        )

    def with_labels(self, codebook: Mapping[str, Mapping[str, str]]) -> Self:
        """Return the same records with the labels of a codebook."""
        return replace(self, columns=label_columns(self.columns, codebook))

    def pieces(
        self, columns: Sequence[str], progress: Progress, stage: str
    ) -> Iterator[Mapping[str, NDArray[np.integer]]]:
        """Yield the codes of all records batch by batch, by one query; in no order, and none is kept."""
        rows = 0
        for batch in self.engine.fetch_batches(*self._select(columns, RECORDS), progress, stage):
            progress.update(stage, rows / self.rows)
            rows += batch.num_rows
            yield {
                name: self.codes_of(name, batch.column(position))
                for position, name in enumerate(columns)
            }
        if rows != self.rows:
            raise records_changed(self.engine.address)

    def _select(self, columns: Sequence[str], source: str) -> tuple[str, Any]:
        """Write the query for some columns of all records or some, with the types of its result."""
        numbers = [self.column_number(name) for name in columns]
        types = pa.schema([self.engine.description.schema.field(number) for number in numbers])
        return select_query(numbers, source), types

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> Self:
        """Return the same records with other texts for the values of some columns; equal ones become one category."""
        columns = list(self.columns)
        codes_by_text = dict(self.codes_by_text)
        for position, facts in enumerate(columns):
            if facts.name in texts and facts.categories is not None and facts.frequencies is not None:
                columns[position], code_of = order_categories(
                    facts.name, texts[facts.name], facts.frequencies
                )
                codes_by_text[facts.name] = dict(
                    zip(facts.categories.values, code_of.tolist(), strict=True)
                )
        return replace(self, columns=tuple(columns), codes_by_text=codes_by_text)

    def first_rows(self, name: str, marked: NDArray[np.bool_], limit: int) -> list[int]:
        """Return no row numbers: tables have no order."""
        return []

    def load_codes(self, progress: Progress) -> CodedTable:
        """Read all records and return them with a code of each."""
        with self.engine.snapshot(progress):
            return encode_records(self.engine, progress)

    def require_codes(self) -> NoReturn:
        """Refuse to give the records one by one."""
        message = "This needs the records one by one, which an address does not give."
        raise input_error("records-needed", message, "Use a record file for it.", file=self.source.path)

    def count(
        self, region: CodeMap, quasi_identifiers: Sequence[CodeMap], progress: Progress
    ) -> tuple[ClassCounts, int]:
        """Count by one query, or a few if memory is short; what comes back is as large as the counts."""
        lookups = (region, *quasi_identifiers)
        n_categories = tuple(lookup.number for lookup in quasi_identifiers)
        numbers = [self.column_number(lookup.column) for lookup in lookups]

        def count_part(source: str) -> tuple[NDArray[np.int64], ...]:
            return self._code_counts(lookups, self._fetch_counts(numbers, source, progress))

        parts = run_in_parts(self.engine, numbers[0], count_part)
        regions, combinations, sizes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        del parts
        if int(sizes.sum()) != self.rows:
            raise records_changed(self.engine.address)
        has_region = regions >= 0
        unknown = 0
        if not has_region.all():
            unknown = int(sizes[~has_region].sum())
            regions = regions[has_region]
            combinations = combinations[has_region]
            sizes = sizes[has_region]
        counts = add_sizes(regions, combinations, sizes, region.number, n_categories)
        self.lookups[tuple(lookup.column for lookup in lookups)] = lookups
        return counts, unknown

    @contextmanager
    def snapshot(self, problem: Problem, progress: Progress) -> Iterator[None]:
        """Let all queries inside see the records from which ``problem`` was counted.

        Raises `InputError` if they are not those any more.
        """
        with self.engine.snapshot(progress):
            self._check_same(problem, progress)
            yield

    def _check_same(self, problem: Problem, progress: Progress) -> None:
        if self.engine.description.change_mark:
            self.engine.check_unchanged()
            return
        region, *others = self.lookups[(problem.region_column, *problem.quasi_identifiers)]
        counts, unknown = self.count(region, others, progress)
        if unknown != problem.unknown_region_records or not counts.equals(problem.counts):
            raise records_changed(self.engine.address)

    def _fetch_counts(self, columns: Sequence[int], source: str, progress: Progress) -> Any:
        """Count the combinations that occur in some columns: an Arrow table of the columns and n."""
        schema = self.engine.description.schema
        types = pa.schema([*(schema.field(column) for column in columns), pa.field("n", pa.int64())])
        query = count_query(columns, source)
        return self.engine.fetch(query, types, progress, COUNTING)

    def _code_counts(self, lookups: Sequence[CodeMap], counts: Any) -> tuple[NDArray[np.int64], ...]:
        """Return region, row-major number of the combination and number of records of each row of counts."""
        regions = self._map_values(lookups[0], counts.column(0))
        combinations = np.zeros(regions.size, np.int64)
        for position, lookup in enumerate(lookups[1:], 1):
            combinations *= lookup.number
            combinations += self._map_values(lookup, counts.column(position))
        return regions, combinations, np.asarray(counts.column(len(lookups)).to_numpy(), np.int64)

    def codes_of(self, name: str, column: Any) -> NDArray[np.int64]:
        """Return the category of each value of a result."""
        indices, codes = self._number_values(name, column)
        return codes[indices]

    def _map_values(self, lookup: CodeMap, column: Any) -> NDArray[np.int64]:
        """Return what each value of a result counts as; looked up once for each different value."""
        indices, codes = self._number_values(lookup.column, column.combine_chunks())
        return lookup.table.astype(np.int64)[codes][indices]

    def _number_values(self, name: str, column: Any) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
        """Number the values of a result, and return the category of each number.

        Raises `InputError` if there are other values than when the records were described.
        """
        if name not in self.codes_by_text:
            categories = self.facts(name).categories
            assert categories is not None
            self.codes_by_text[name] = {value: code for code, value in enumerate(categories.values)}
        code_of = self.codes_by_text[name]
        indices, texts = dictionary_of(column)
        codes = np.array([code_of.get(text, -1) for text in texts], np.int64)
        if codes.size and codes.min() < 0:
            raise records_changed(self.engine.address)
        return indices, codes

    def sample(self, columns: Sequence[str], rows: int, progress: Progress) -> CodedTable:
        """Draw a random sample of about ``rows`` records (all if there are no more), with the codes of this table."""
        source = self.engine.sample_expression(min(1.0, rows / max(1, self.rows)))
        sample = self.engine.fetch(
            *self._select(columns, source), progress, "Testing the released columns"
        )
        codes = {}
        for position, name in enumerate(columns):
            sampled_codes = self.codes_of(name, sample.column(position).combine_chunks())
            codes[name] = pack_codes(sampled_codes, max(1, self.facts(name).distinct))
        facts = tuple(self.facts(name) for name in columns)
        return CodedTable(self.source, sample.num_rows, self.file_format, facts, (), codes)

    def close(self) -> None:
        """Let go of the engine."""
        self.engine.close()


def run_in_parts(engine: DatabaseEngine, column: int, work: Callable[[str], T]) -> list[T]:
    """Call ``work`` with the name of the records, or, if memory is short, of ever smaller parts of them.

    The parts are cut by the values of a column, so nothing that is grouped by it is in two of them.
    """
    number = 1
    while True:
        names = engine.split_records(column, number)
        try:
            return [work(name) for name in names]
        except InputError as error:
            is_out_of_memory = any(finding.code == OUT_OF_MEMORY for finding in error.findings)
            if not is_out_of_memory or number > len(names) or number >= _MAX_PARTS:
                raise
        number *= _STEP


def open_database_table(
    address: Address,
    options: RecordReading,
    progress: Progress | None = None,
    columns: Collection[str] | None = None,
    unlimited: Collection[str] = (),
) -> DatabaseTable:
    """Open an address and describe the columns that are needed (None: all).

    Those in ``unlimited`` have categories however many values they have.
    """
    progress = progress or NO_PROGRESS
    engine = open_engine(address, options, progress)
    try:
        with engine.snapshot(progress):
            table = _describe_columns(engine, progress, columns, unlimited)
        engine.check_unchanged()
        return table
    except BaseException:
        engine.close()
        raise


def _describe_columns(
    engine: DatabaseEngine,
    progress: Progress,
    columns: Collection[str] | None,
    unlimited: Collection[str],
) -> DatabaseTable:
    """Ask for the values of the columns that are needed, and make the table."""
    header = engine.description.header
    facts: list[ColumnFacts] = []
    values: dict[str, CategoryKeys] = {}
    needed = [name for name in header if columns is None or name in columns]
    for number, name in enumerate(needed):
        part = SubProgress(progress, number / len(needed), (number + 1) / len(needed))
        part.update(DESCRIBING, 0.0)
        column_facts, column_values = describe_column(
            engine, header.index(name), part, name in unlimited
        )
        facts.append(column_facts)
        if column_values is not None:
            values[name] = column_values
    source, file_format, findings = describe_records(engine, facts)
    return DatabaseTable(
        source,
        engine.description.rows,
        file_format,
        tuple(facts),
        findings,
        engine=engine,
        values=values,
    )

"""Write the released records of a plan that stay with their engine: a query joins them with their classes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.io.databases.queries import (
    KEPT,
    REGIONS,
    Output,
    ReleaseJoin,
    categories_table,
    frequencies_query,
    release_query,
    rewritten_table,
)
from vbas_desktop.io.databases.table import DatabaseTable
from vbas_desktop.io.records.csv_writer import CsvFormat, as_text
from vbas_desktop.io.records.row_chunks import ReleasedColumn, RowChunk
from vbas_desktop.io.records.row_order import RowBuckets, keys_from_hashes
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Span
from vbas_desktop.model.records import RecordTable
from vbas_desktop.settings.release import ReleaseOptions

from .notation import Notation
from .plan import Plan
from .records import (
    SHUFFLING,
    WRITING,
    FormulaCounter,
    WrittenFile,
    class_strides,
    order_key,
    plain_type,
    value_lookups,
    without_nan,
    write_columns,
)

HASH = "vbas_hash"


class ReleaseQuery:
    """The released rows of a plan as a query, with the small tables that it needs."""

    def __init__(self, plan: Plan, table: DatabaseTable, options: ReleaseOptions, notation: Notation) -> None:
        self._plan = plan
        self._table = table
        self._options = options
        self._notation = notation
        self._released = options.released_columns(table.dialect.header)
        self._regions, *self._categories = value_lookups(plan.problem)

    @cached_property
    def joined(self) -> ReleaseJoin:
        """How records find their class, and what is released of them."""
        problem, table = self._plan.problem, self._table
        strides = tuple(class_strides(problem.counts.n_categories).tolist())
        columns = tuple(table.place(name) for name in problem.quasi_identifiers)
        missing = tuple(each.find("") for each in self._categories)
        outputs = [self._output(name) for name, _ in self._released]
        if self._options.class_size:
            outputs.append(Output("size"))
        return ReleaseJoin(table.place(problem.region_column), columns, strides, missing, tuple(outputs))

    @cached_property
    def types(self) -> Any:
        """The types of what comes back."""
        schema, fields = self._table.engine.description.schema, []
        for place, output in enumerate(self.joined.outputs):
            kind = pa.int64() if output.what == "size" else pa.string()
            if output.column is not None and output.of_group is None:
                kind = schema.field(output.column).type
            fields.append(pa.field(f"o{place}", kind))
        return pa.schema(fields)

    def _output(self, name: str) -> Output:
        problem, place = self._plan.problem, self._table.place(name)
        if name == problem.region_column:
            return Output("place")
        if name in problem.quasi_identifiers and any(each.column == name for each in problem.groupings):
            number = problem.quasi_identifiers.index(name)
            return Output("value", place, False, number)
        return Output("value", place, name in self._notation)

    def upload(self, progress: Progress) -> None:
        """Hand the small tables to the engine."""
        self._upload_regions(progress)
        self._upload_categories(progress)
        self._upload_rewritten(progress)
        plan = self._plan
        kept = np.flatnonzero(plan.released > 0)
        code = pa.array(plan.every_code, pa.string()).take(pa.array(plan.areas[kept]))
        columns = {
            "k_area": pa.array(plan.places[kept], pa.int32()),
            "k_class": pa.array(plan.problem.counts.combinations[plan.columns[kept]], pa.int64()),
            "k_code": code,
            "k_size": pa.array(plan.class_sizes[kept], pa.int64()),
        }
        self._table.engine.upload(KEPT, columns, {}, progress)

    def _texts(self, name: str) -> tuple[Any, list[str]]:
        """The keys of a column that are there, and the text of each."""
        values, categories = self._table.values[name], self._table.facts(name).categories
        assert categories is not None
        there = pa.array(np.asarray(values.keys.is_valid().to_numpy(zero_copy_only=False), np.bool_))
        codes = values.codes[there.to_numpy(zero_copy_only=False)]
        return values.keys.filter(there), [categories.values[code] for code in codes.tolist()]

    def _upload_regions(self, progress: Progress) -> None:
        problem = self._plan.problem
        keys, texts = self._texts(problem.region_column)
        found = np.array([self._regions.find(text) for text in texts], np.int64)
        known = found >= 0
        area = self._plan.membership[found[known]].astype(np.int32)
        columns = {"r_key": keys.filter(pa.array(known)), "r_area": pa.array(area, pa.int32())}
        self._table.engine.upload(REGIONS, columns, {"r_key": self.joined.region}, progress)

    def _upload_categories(self, progress: Progress) -> None:
        for number, (name, lookup) in enumerate(
            zip(self._plan.problem.quasi_identifiers, self._categories, strict=True)
        ):
            keys, texts = self._texts(name)
            codes = [lookup.find(text) for text in texts]
            assert min(codes, default=0) >= 0
            # One row more, without a key: what is written for missing values.
            keys = pa.concat_arrays([keys, pa.nulls(1, keys.type)])
            codes.append(lookup.find(""))
            texts.append("")
            columns = {
                f"q{number}_key": keys,
                f"q{number}_code": pa.array(codes, pa.int64()),
                f"q{number}_text": pa.array([lookup.group(text) for text in texts], pa.string()),
            }
            types = {f"q{number}_key": self.joined.columns[number]}
            self._table.engine.upload(categories_table(number), columns, types, progress)

    def _upload_rewritten(self, progress: Progress) -> None:
        for output in self.joined.outputs:
            if not output.rewritten or output.column is None:
                continue
            name = self._table.dialect.header[output.column]
            pairs = [(old, new) for old, new in zip(*self._notation[name], strict=True) if old != new]
            columns = {
                f"w{output.column}_key": pa.array([old for old, _ in pairs], pa.string()),
                f"w{output.column}_text": pa.array([new for _, new in pairs], pa.string()),
            }
            types = {f"w{output.column}_key": output.column}
            self._table.engine.upload(rewritten_table(output.column), columns, types, progress)

    def query(self) -> str:
        """The released rows in no order, each with 64 bits of what it holds."""
        engine, names = self._table.engine, self.types.names
        plain = release_query(self.joined)
        return f"SELECT {', '.join(names)}, {engine.content_hash(names)} AS {HASH} FROM ({plain}) AS released"

    def frequencies(self, name: str, progress: Progress) -> dict[str, int]:
        """How many released records have each value of a column, by its text."""
        engine, place = self._table.engine, self._table.place(name)
        query = frequencies_query(self.joined, place)
        types = pa.schema([engine.description.schema.field(place), pa.field("n", pa.int64())])
        found = engine.fetch(query, types, progress, "Testing the released columns")
        categories = self._table.facts(name).categories
        assert categories is not None
        counts: dict[str, int] = {}
        codes = self._table.codes_of(name, found.column(0).combine_chunks())
        for code, number in zip(codes.tolist(), found.column(1).to_pylist(), strict=True):
            text = categories.values[code]
            counts[text] = counts.get(text, 0) + number
        return counts


@dataclass(frozen=True, eq=False)
class DatabaseRecords:
    """The released records of a plan that stay with their engine, which counts them."""

    plan: Plan
    table: DatabaseTable
    options: ReleaseOptions
    progress: Progress

    @cached_property
    def _query(self) -> ReleaseQuery:
        query = ReleaseQuery(self.plan, self.table, self.options, {})
        query.upload(self.progress)
        return query

    def count_values(self, name: str) -> NDArray[np.int64]:
        """Count the released records with each value of a column, by one query."""
        found = self._query.frequencies(name, self.progress)
        categories = self.table.facts(name).categories
        assert categories is not None
        return np.array([found.get(value, 0) for value in categories.values], np.int64)

    def with_table(self, table: RecordTable) -> DatabaseRecords:
        """Return the same records with the values as they are written."""
        assert isinstance(table, DatabaseTable)
        return replace(self, table=table)


class DatabaseRecordWriter:
    """Writes the released records of a table behind an address.

    The engine joins them with their classes and rewrites values; they come back in batches and in no order.
    """

    def __init__(self, records: DatabaseRecords, options: ReleaseOptions, notation: Notation) -> None:
        self._plan = records.plan
        self._table = records.table
        self._options = options
        self._query = ReleaseQuery(records.plan, records.table, options, notation)

    def write(self, out: IO[bytes], scratch: Path, progress: Progress) -> WrittenFile:
        """Write all released rows; ``scratch`` is a folder on the same disk for rows that do not fit into memory."""
        formulas = FormulaCounter(self._options.escape_formulas)
        header = self._table.dialect.header
        names = [*(name for _, name in self._options.released_columns(header)), *self._options.added_columns]
        kinds = map(plain_type, self._query.types.types)
        columns = [ReleasedColumn(name, kind) for name, kind in zip(names, kinds, strict=True)]
        csv_format = CsvFormat(self._options.delimiter or self._table.dialect.delimiter or ",", quotes_all=True)
        with closing(self._chunks(formulas, scratch, progress)) as chunks:
            return write_columns(out, columns, chunks, self._options, csv_format, formulas)

    def _chunks(self, formulas: FormulaCounter, scratch: Path, progress: Progress) -> Generator[RowChunk]:
        """Yield the rows in random order."""
        self._query.upload(progress)
        secret = order_key(self._plan, self._table, self._options)
        reading = Span(progress, 0.0, 0.7)
        expected = max(1, self._plan.records_released)
        rows = 0
        with closing(RowBuckets(scratch, self._table.engine.description.size_bytes)) as buckets:
            for batch in self._read(reading):
                *arrays, hashes = batch.columns
                values = [self._prepare(place, array, formulas) for place, array in enumerate(arrays)]
                keys = keys_from_hashes(np.asarray(hashes).view(np.uint64), secret)
                buckets.add(pa.RecordBatch.from_arrays(values, names=self._query.types.names), keys)
                rows += batch.num_rows
                reading.update(WRITING, min(1.0, rows / expected))
            for table in buckets.read_sorted(Span(progress, 0.7, 1.0), SHUFFLING):
                yield RowChunk(np.empty(table.num_rows, np.int64), tuple(column.chunk(0) for column in table.columns))

    def _read(self, progress: Progress) -> Iterator[Any]:
        """Yield the rows in no order, each with its hash, as Arrow batches."""
        types = self._query.types.append(pa.field(HASH, pa.int64()))
        return self._table.engine.batches(self._query.query(), types, progress, WRITING)

    def _prepare(self, place: int, values: Any, formulas: FormulaCounter) -> Any:
        """Return values as they are written, and count the formulas of columns of the records."""
        values = without_nan(values.cast(plain_type(values.type)))
        column = self._query.joined.outputs[place].column
        if column is None:
            return values
        if self._options.format == "csv":
            values = as_text(values, self._table.dialect.header[column])
        return formulas.escape_rows(self._table.dialect.header[column], values)


def refuse_order(options: ReleaseOptions, address: str) -> None:
    """Refuse to keep an order that a table does not have."""
    if not options.shuffle:
        message = "Records behind an address have no order that could be kept."
        raise InputError(Finding("no-order", message, "Shuffle the rows.", file=address))


def refuse_record_key(options: ReleaseOptions, address: str) -> None:
    """Refuse keys of records that have no number by which an index could name them."""
    if options.record_key is not None:
        message = "Records behind an address have no row numbers to which an index of keys could lead."
        remedy = "Leave the key of each record out, or release from a record file."
        raise InputError(Finding("no-record-key", message, remedy, file=address))


def refuse_aggregation(options: ReleaseOptions, address: str) -> None:
    """Refuse to aggregate values of records that are not here."""
    if options.aggregate:
        message = "Sensitive values of records behind an address cannot be aggregated."
        remedy = "Leave them out, or release from a record file."
        raise InputError(Finding("aggregate", message, remedy, file=address))

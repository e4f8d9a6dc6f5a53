"""Write the released records of a plan that stay with their engine: a query joins them with their classes."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.io.databases.engine import DatabaseEngine
from vbas_desktop.io.databases.queries import (
    CLASSES,
    REGIONS,
    OutputColumn,
    ReleaseJoin,
    categories_table_name,
    frequencies_query,
    release_query,
    rewritten_table_name,
)
from vbas_desktop.io.databases.table import DatabaseTable
from vbas_desktop.io.records.csv_writer import CsvFormat, as_text
from vbas_desktop.io.records.row_chunks import ReleasedColumn, RowChunk
from vbas_desktop.io.records.row_order import RowBuckets, keys_from_hashes
from vbas_desktop.model.findings import input_error
from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.model.records import RecordTable
from vbas_desktop.settings.release import ReleaseOptions

from .notation import Notation
from .plan import ReleasePlan
from .record_writer import order_key
from .records import ReleasedRecords, find_released_records
from .value_numbers import class_strides, value_lookups
from .written_file import (
    SHUFFLING,
    WRITING,
    FormulaCounter,
    WrittenFile,
    plain_type,
    without_nan,
    write_columns,
)

HASH = "vbas_hash"


class ReleaseQuery:
    """The released rows of a plan as a query, with the small tables that it needs."""

    def __init__(
        self, plan: ReleasePlan, table: DatabaseTable, options: ReleaseOptions, notation: Notation
    ) -> None:
        self._plan = plan
        self._table = table
        self._options = options
        self._notation = notation
        self._released = options.released_columns(table.file_format.header)
        self._regions, *self._categories = value_lookups(plan.problem)

    @cached_property
    def joined(self) -> ReleaseJoin:
        """Describe how the database joins records to their class, and which columns it returns."""
        problem = self._plan.problem
        table = self._table
        strides = tuple(class_strides(problem.counts.n_categories).tolist())
        columns = tuple(table.column_number(name) for name in problem.quasi_identifiers)
        missing = tuple(lookup.find("") for lookup in self._categories)
        outputs = [self._output(name) for name, _ in self._released]
        if self._options.class_size:
            outputs.append(OutputColumn("size"))
        return ReleaseJoin(
            table.column_number(problem.region_column), columns, strides, missing, tuple(outputs)
        )

    @cached_property
    def types(self) -> Any:
        """The types of what comes back."""
        schema = self._table.engine.description.schema
        fields = []
        for number, output in enumerate(self.joined.outputs):
            kind = pa.int64() if output.what == "size" else pa.string()
            if output.column is not None and output.of_group is None:
                kind = schema.field(output.column).type
            fields.append(pa.field(f"o{number}", kind))
        return pa.schema(fields)

    def _output(self, name: str) -> OutputColumn:
        problem = self._plan.problem
        column = self._table.column_number(name)
        if name == problem.region_column:
            return OutputColumn("region")
        if name in problem.quasi_identifiers and any(
            grouping.column == name for grouping in problem.groupings
        ):
            number = problem.quasi_identifiers.index(name)
            return OutputColumn("value", column, False, number)
        return OutputColumn("value", column, name in self._notation)

    def upload(self, progress: Progress) -> None:
        """Hand the small tables to the engine."""
        self._upload_regions(progress)
        self._upload_categories(progress)
        self._upload_rewritten(progress)
        plan = self._plan
        released = np.flatnonzero(plan.released > 0)
        code = pa.array(plan.every_code, pa.string()).take(pa.array(plan.areas[released]))
        columns = {
            "k_area": pa.array(plan.places[released], pa.int32()),
            "k_class": pa.array(plan.problem.counts.combinations[plan.columns[released]], pa.int64()),
            "k_code": code,
            "k_size": pa.array(plan.class_sizes[released], pa.int64()),
        }
        self._table.engine.upload(CLASSES, columns, {}, progress)

    def _texts(self, name: str) -> tuple[Any, list[str]]:
        """List the keys of a column that are there, and the text of each."""
        values = self._table.values[name]
        categories = self._table.facts(name).categories
        assert categories is not None
        there = pa.array(np.asarray(values.keys.is_valid().to_numpy(zero_copy_only=False), np.bool_))
        codes = values.codes[there.to_numpy(zero_copy_only=False)]
        return values.keys.filter(there), [categories.values[code] for code in codes.tolist()]

    def _upload_regions(self, progress: Progress) -> None:
        problem = self._plan.problem
        keys, texts = self._texts(problem.region_column)
        region_numbers = np.array([self._regions.find(text) for text in texts], np.int64)
        is_known = region_numbers >= 0
        area = self._plan.membership[region_numbers[is_known]].astype(np.int32)
        columns = {"r_key": keys.filter(pa.array(is_known)), "r_area": pa.array(area, pa.int32())}
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
            self._table.engine.upload(categories_table_name(number), columns, types, progress)

    def _upload_rewritten(self, progress: Progress) -> None:
        for output in self.joined.outputs:
            if not output.rewritten or output.column is None:
                continue
            name = self._table.file_format.header[output.column]
            pairs = [(old, new) for old, new in zip(*self._notation[name], strict=True) if old != new]
            columns = {
                f"w{output.column}_key": pa.array([old for old, _ in pairs], pa.string()),
                f"w{output.column}_text": pa.array([new for _, new in pairs], pa.string()),
            }
            types = {f"w{output.column}_key": output.column}
            self._table.engine.upload(rewritten_table_name(output.column), columns, types, progress)

    def query(self) -> str:
        """Write the query for the released rows, in no order, each with 64 bits of what it holds."""
        engine = self._table.engine
        names = self.types.names
        plain = release_query(self.joined)
        return f"SELECT {', '.join(names)}, {engine.row_hash_expression(names)} AS {HASH} FROM ({plain}) AS released"

    def frequencies(self, name: str, progress: Progress) -> dict[str, int]:
        """Count the released records with each value of a column, by its text."""
        engine = self._table.engine
        column = self._table.column_number(name)
        query = frequencies_query(self.joined, column)
        types = pa.schema([engine.description.schema.field(column), pa.field("n", pa.int64())])
        result = engine.fetch(query, types, progress, "Testing the released columns")
        categories = self._table.facts(name).categories
        assert categories is not None
        counts: dict[str, int] = {}
        codes = self._table.codes_of(name, result.column(0).combine_chunks())
        for code, number in zip(codes.tolist(), result.column(1).to_pylist(), strict=True):
            text = categories.values[code]
            counts[text] = counts.get(text, 0) + number
        return counts


@dataclass(frozen=True, eq=False)
class DatabaseRecords:
    """The released records of a plan that stay with their engine, which counts them."""

    plan: ReleasePlan
    table: DatabaseTable
    options: ReleaseOptions
    progress: Progress

    @cached_property
    def _query(self) -> ReleaseQuery:
        query = ReleaseQuery(self.plan, self.table, self.options, {})
        query.upload(self.progress)
        return query

    @property
    def engine(self) -> DatabaseEngine:
        """Return the engine that the records stay with."""
        return self.table.engine

    def count_values(self, name: str) -> NDArray[np.int64]:
        """Count the released records with each value of a column, by one query."""
        counts = self._query.frequencies(name, self.progress)
        categories = self.table.facts(name).categories
        assert categories is not None
        return np.array([counts.get(value, 0) for value in categories.values], np.int64)

    def make_writer(
        self, options: ReleaseOptions, notation: Notation, aggregated: Mapping[str, object]
    ) -> DatabaseRecordWriter:
        """Make the writer of these records, of which nothing is aggregated."""
        assert not aggregated
        return DatabaseRecordWriter(self, options, notation)

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> DatabaseRecords:
        """Return the same records with other texts for the values of some columns."""
        return replace(self, table=self.table.with_texts(texts))


def select_released_records(
    plan: ReleasePlan, table: RecordTable, options: ReleaseOptions, progress: Progress
) -> ReleasedRecords | DatabaseRecords:
    """Return the records that a plan releases, which are in a loaded table or behind an address."""
    if isinstance(table, DatabaseTable):
        return DatabaseRecords(plan, table, options, progress)
    return find_released_records(plan, table.require_codes(), progress)


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
        header = self._table.file_format.header
        names = [
            *(name for _, name in self._options.released_columns(header)),
            *self._options.added_columns,
        ]
        kinds = map(plain_type, self._query.types.types)
        columns = [ReleasedColumn(name, kind) for name, kind in zip(names, kinds, strict=True)]
        csv_format = CsvFormat(
            self._options.release_delimiter or self._table.file_format.delimiter or ",", quotes_all=True
        )
        with closing(self._chunks(formulas, scratch, progress)) as chunks:
            return write_columns(out, columns, chunks, self._options, csv_format, formulas)

    def write_index(self, path: Path) -> None:
        """Refuse: the records have no row numbers, and `check_database_options` refuses keys for them."""
        raise NotImplementedError

    def _chunks(
        self, formulas: FormulaCounter, scratch: Path, progress: Progress
    ) -> Generator[RowChunk]:
        """Yield the rows in random order."""
        self._query.upload(progress)
        secret = order_key(self._plan, self._table, self._options)
        reading = SubProgress(progress, 0.0, 0.7)
        expected = max(1, self._plan.records_released)
        rows = 0
        with closing(RowBuckets(scratch, self._table.engine.description.size_bytes)) as buckets:
            for batch in self._read(reading):
                *arrays, hashes = batch.columns
                values = [self._prepare(number, array, formulas) for number, array in enumerate(arrays)]
                keys = keys_from_hashes(np.asarray(hashes).view(np.uint64), secret)
                buckets.add(pa.RecordBatch.from_arrays(values, names=self._query.types.names), keys)
                rows += batch.num_rows
                reading.update(WRITING, min(1.0, rows / expected))
            for table in buckets.read_sorted(SubProgress(progress, 0.7, 1.0), SHUFFLING):
                yield RowChunk(
                    np.empty(table.num_rows, np.int64),
                    tuple(column.chunk(0) for column in table.columns),
                )

    def _read(self, progress: Progress) -> Iterator[Any]:
        """Yield the rows in no order, each with its hash, as Arrow batches."""
        types = self._query.types.append(pa.field(HASH, pa.int64()))
        return self._table.engine.fetch_batches(self._query.query(), types, progress, WRITING)

    def _prepare(self, number: int, values: Any, formulas: FormulaCounter) -> Any:
        """Return values as they are written, and count the formulas of columns of the records."""
        values = without_nan(values.cast(plain_type(values.type)))
        column = self._query.joined.outputs[number].column
        if column is None:
            return values
        if self._options.format == "csv":
            values = as_text(values, self._table.file_format.header[column])
        return formulas.escape_rows(self._table.file_format.header[column], values)


def check_database_options(options: ReleaseOptions, address: str) -> None:
    """Refuse what cannot be done with records that stay with their engine.

    A table has no order that could be kept and no row numbers, and values that are not here cannot be aggregated.
    """
    if not options.shuffle:
        message = "Records behind an address have no order that could be kept."
        raise input_error("no-order", message, "Shuffle the rows.", file=address)
    if options.record_key is not None:
        message = "Records behind an address have no row numbers to which an index of keys could lead."
        remedy = "Leave the key of each record out, or release from a record file."
        raise input_error("no-record-key", message, remedy, file=address)
    if options.aggregate:
        message = "Sensitive values of records behind an address cannot be aggregated."
        remedy = "Leave them out, or release from a record file."
        raise input_error("aggregate", message, remedy, file=address)

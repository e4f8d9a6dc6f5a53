"""Writing the anonymised file from records that stay with their engine: it joins and orders, batches come back."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

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
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Span
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from .arrow_writer import ArrowRecords, shuffled
from .batch_buckets import BatchBuckets, keys_from_hashes
from .canonical import Canonical
from .composition import UNKNOWN, lookups
from .writing import WRITING

HASH = "vbas_hash"
BUCKET_ROWS = 1 << 20


class ReleaseQuery:
    """The released rows of a plan as a query, with the small tables that it needs."""

    def __init__(self, plan: Plan, table: DatabaseTable, options: ReleaseOptions, canonical: Canonical) -> None:
        self._plan, self._table, self._options, self._canonical = plan, table, options, canonical
        self._released = options.released_columns(table.dialect.header)
        self._regions, *self._categories = lookups(plan.problem)

    @cached_property
    def joined(self) -> ReleaseJoin:
        """How records find their class, and what is released of them."""
        problem, table = self._plan.problem, self._table
        numbers = problem.counts.n_categories
        strides = tuple(int(np.prod(numbers[q + 1 :], dtype=object)) for q in range(len(numbers)))
        columns = tuple(table.place(name) for name in problem.quasi_identifiers)
        missing = tuple(each.code("") for each in self._categories)
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
        return Output("value", place, name in self._canonical)

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
        found = np.array([self._regions.code(text) for text in texts], np.int64)
        known = found >= 0
        area = self._plan.membership[found[known]].astype(np.int32)
        columns = {"r_key": keys.filter(pa.array(known)), "r_area": pa.array(area, pa.int32())}
        self._table.engine.upload(REGIONS, columns, {"r_key": self.joined.region}, progress)

    def _upload_categories(self, progress: Progress) -> None:
        for number, (name, lookup) in enumerate(
            zip(self._plan.problem.quasi_identifiers, self._categories, strict=True)
        ):
            keys, texts = self._texts(name)
            codes = [lookup.code(text) for text in texts]
            assert UNKNOWN not in codes
            # One row more, without a key: what is written for missing values.
            keys = pa.concat_arrays([keys, pa.nulls(1, keys.type)])
            codes.append(lookup.code(""))
            texts.append("")
            columns = {
                f"q{number}_key": keys,
                f"q{number}_code": pa.array(codes, pa.int64()),
                f"q{number}_text": pa.array([lookup.grouped(text) for text in texts], pa.string()),
            }
            types = {f"q{number}_key": self.joined.columns[number]}
            self._table.engine.upload(categories_table(number), columns, types, progress)

    def _upload_rewritten(self, progress: Progress) -> None:
        for output in self.joined.outputs:
            if not output.rewritten or output.column is None:
                continue
            name = self._table.dialect.header[output.column]
            pairs = [(old, new) for old, new in zip(*self._canonical[name], strict=True) if old != new]
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


class SourceRecords(ArrowRecords):
    """Streams the release of records behind an address into an open file."""

    def __init__(self, plan: Plan, table: DatabaseTable, options: ReleaseOptions, canonical: Canonical) -> None:
        # Values are rewritten by the engine, so nothing is left to do about them here.
        super().__init__(plan, table, options)
        self._source_table, self._query = table, ReleaseQuery(plan, table, options, canonical)

    def _ordered(self, scratch: Path, progress: Progress) -> Generator[Any]:
        self._query.upload(progress)
        kept, most = 0, max(1, self._plan.records_released)
        number = max(1, -(-self._plan.records_released // BUCKET_ROWS))
        with closing(BatchBuckets(scratch, number)) as buckets:
            for batch in self._batches_of_engine(Span(progress, 0.0, 0.7)):
                hashes = np.asarray(batch.column(batch.num_columns - 1)).view(np.uint64)
                buckets.add(self._dressed_batch(batch), keys_from_hashes(hashes, self._order_key))
                kept += batch.num_rows
                progress.update(WRITING, 0.7 * kept / most)
            yield from shuffled(buckets, progress)

    def _batches_of_engine(self, progress: Progress) -> Iterator[Any]:
        types = self._query.types.append(pa.field(HASH, pa.int64()))
        return self._source_table.engine.batches(self._query.query(), types, progress, WRITING)

    def _dressed_batch(self, batch: Any) -> Any:
        columns = []
        for place, output in enumerate(self._query.joined.outputs):
            name = self._table.dialect.header[output.column] if output.column is not None else ""
            if output.what == "place":
                name = self._plan.problem.region_column
            columns.append(self._dressed(name, batch.column(place)))
        return pa.RecordBatch.from_arrays(columns, names=self._names)


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

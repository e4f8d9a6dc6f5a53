"""Writing the anonymised file where Parquet is read or written: batches of columns instead of bytes.

Columns of a Parquet file keep their types; columns of a CSV file become text in Parquet, so that leading zeros, long
numbers and "NA" stay what they are.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from vbas_desktop.io.parquet_batches import bounded_batches
from vbas_desktop.io.records.parquet_batches import without_views
from vbas_desktop.io.records.row_order import RowKeys
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Span
from vbas_desktop.model.records import RecordTable
from vbas_desktop.release.aggregation import Aggregated
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from .batch_buckets import BatchBuckets
from .blocks import refuse_changed
from .canonical import Canonical
from .composition import UNKNOWN, mapped_regions
from .writing import SHUFFLING, WRITING, Records, Sink, Written

BATCH_ROWS = 1 << 16
BUCKET_ROWS = 1 << 17
GROUP_ROWS = 1 << 17
GROUP_BYTES = 256 << 20
PIECE_BYTES = 4 << 20

_LEAD = (
    r'^[ \t\r\n\v\f"\x{85}\x{A0}\x{AD}\x{1680}\x{180E}\x{2000}-\x{200F}\x{2028}-\x{202F}\x{205F}-\x{2069}'
    r"\x{3000}\x{FEFF}]*"
)
"""What `rows.is_formula` takes for blanks."""


class _Pieces(io.RawIOBase):
    """A file as UTF-8 in pieces that never end with a return: pyarrow drops a line feed that follows at a border."""

    def __init__(self, file: Any, encoding: str) -> None:
        plain = codecs.lookup(encoding).name == "utf-8"
        self._file = file if plain else codecs.EncodedFile(file, "utf-8", encoding)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._file.read(size - 1 if size > 1 else size)
        return data + self._file.read(1) if data.endswith(b"\r") else data


class ArrowRecords(Records):
    """One pass over the record file in batches of columns."""

    def __init__(
        self,
        plan: Plan,
        table: RecordTable,
        options: ReleaseOptions,
        canonical: Canonical = MappingProxyType({}),
        aggregated: Aggregated = MappingProxyType({}),
    ) -> None:
        super().__init__(plan, table, options)
        canonical = {name: texts for name, texts in canonical.items() if name not in aggregated}
        self._aggregated = {
            name: (pa.array(column.texts, pa.string()), table.in_file(column.codes))
            for name, column in aggregated.items()
        }
        self._canonical = {
            name: (pa.array(values, pa.string()), pa.array(written, pa.string()))
            for name, (values, written) in canonical.items()
        }
        self._place = {name: index for index, name in enumerate(table.dialect.header)}
        self._codes = pa.array(plan.every_code, pa.string())
        self._groups: dict[str, list[tuple[Any, Any]]] = {}
        for grouping in plan.problem.groupings:
            pair = (pa.array(list(grouping.groups), pa.string()), pa.array(list(grouping.groups.values()), pa.string()))
            self._groups.setdefault(grouping.column, []).append(pair)
        self._formulas = dict.fromkeys(table.dialect.header, 0)
        self._mapped = mapped_regions(plan.problem, table)

    def write(self, out: IO[bytes], scratch: Path, progress: Progress) -> Written:
        """Write all released rows; ``scratch`` is a folder on the same disk for the nameless file of the shuffle."""
        sink, writer = Sink(out), None
        with closing(self._ordered(scratch, progress)) as batches:
            try:
                for batch in batches:
                    writer = writer or self._writer(sink, batch.schema)
                    writer.write_batch(batch)
            finally:
                if writer is not None:
                    writer.close()
        return Written(sink.sha256, {name: count for name, count in self._formulas.items() if count})

    def _ordered(self, scratch: Path, progress: Progress) -> Generator[Any]:
        """The batches of released rows in the order in which they are written."""
        refuse_changed(self._table.source, progress)
        if not self._options.shuffle:
            rows = 0
            for batch in self._batches(progress):
                yield self._composed(batch, *self._places(batch, rows), rows)
                rows += batch.num_rows
            return
        number = max(1, -(-self._plan.problem.records // BUCKET_ROWS))
        row_keys = RowKeys(self._order_key)
        with closing(BatchBuckets(scratch, number)) as buckets:
            rows = 0
            for batch in self._batches(Span(progress, 0.0, 0.7)):
                area, size = self._places(batch, rows)
                buckets.add(self._composed(batch, area, size, rows), row_keys.of_rows(np.flatnonzero(area >= 0) + rows))
                rows += batch.num_rows
            yield from shuffled(buckets, progress)

    def _batches(self, progress: Progress) -> Iterator[Any]:
        total, done = max(1, self._plan.problem.records), 0
        try:
            for batch in self._parquet() if self._table.dialect.format == "parquet" else self._csv():
                progress.update(WRITING, min(1.0, done / total))
                done += batch.num_rows
                yield batch
        except pa.ArrowInvalid:
            # Arrow's own messages quote the row, so only their kind is passed on.
            raise InputError(
                Finding(
                    "line-break",
                    "Some rows cannot be turned into Parquet, most likely for a line break outside quotes.",
                    "Release as CSV, or put quotes around texts with line breaks.",
                    file=Path(self._table.source.path).name,
                )
            ) from None

    def _parquet(self) -> Iterator[Any]:
        skip = int(self._table.dialect.category_line)
        for batch in bounded_batches(Path(self._table.source.path), BATCH_ROWS):
            yield without_views(batch.slice(skip))
            skip = 0

    def _csv(self) -> Iterator[Any]:
        dialect = self._table.dialect
        names, skip = list(dialect.header), 2 if dialect.category_line else 1
        automatic = [f"f{place}" for place in range(len(names))]
        compression = "gzip" if dialect.compressed else None
        with pa.input_stream(self._table.source.path, compression=compression) as file:
            reader = pa_csv.open_csv(
                pa.PythonFile(_Pieces(file, dialect.encoding or "utf-8"), "r"),
                read_options=pa_csv.ReadOptions(autogenerate_column_names=True, block_size=PIECE_BYTES),
                parse_options=pa_csv.ParseOptions(delimiter=dialect.delimiter or ",", newlines_in_values=True),
                convert_options=pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(automatic, pa.string()), strings_can_be_null=False
                ),
            )
            for batch in reader:
                dropped = min(skip, batch.num_rows)
                skip -= dropped
                yield pa.RecordBatch.from_arrays(batch.slice(dropped).columns, names=names)

    def _places(self, batch: Any, before: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The place of each row (below 0: it is not released) and its class size; so many records come before it."""
        problem = self._plan.problem
        if self._mapped is None:
            region = _index(self._text(batch, problem.region_column), problem.regions.ids)
        else:
            region = self._mapped[before : before + batch.num_rows]
        if self._table.considered is not None:
            considered = self._table.considered[before : before + batch.num_rows]
            region = np.where(considered, region, np.int32(UNKNOWN))
        codes = np.empty((len(problem.categories), batch.num_rows), np.int32)
        for q, categories in enumerate(problem.categories):
            codes[q] = _index(self._grouped(batch, categories.column), categories.values)
        return self._decision.places(region, codes)

    def _text(self, batch: Any, name: str) -> Any:
        return _texts(batch.column(self._place[name]))

    def _grouped(self, batch: Any, name: str) -> Any:
        text = self._text(batch, name)
        for before, after in self._groups.get(name, ()):
            text = pc.coalesce(after.take(pc.index_in(text, value_set=before)), text)
        return text

    def _composed(self, batch: Any, area: NDArray[np.int32], size: NDArray[np.int64], before: int) -> Any:
        """The released rows of a batch, before whose first record there are so many."""
        problem, kept = self._plan.problem, area >= 0
        mask, columns = pa.array(kept), []
        for name, _ in self._released:
            if name == problem.region_column:
                column = self._codes.take(pa.array(area[kept]))
            elif name in self._aggregated:
                texts, codes = self._aggregated[name]
                column = texts.take(pa.array(codes[before : before + batch.num_rows][kept]))
            elif name in self._groups and name in problem.quasi_identifiers:
                column = self._grouped(batch, name).filter(mask)
            else:
                column = batch.column(self._place[name]).filter(mask)
            columns.append(self._dressed(name, column))
        if self._options.class_size:
            columns.append(self._dressed("", pa.array(size[kept])))
        if self._record_keys is not None:
            keys = self._record_keys.of_rows(np.flatnonzero(kept) + before)
            columns.append(pa.array(keys.view(f"S{keys.shape[1]}").ravel().astype(str), pa.string()))
        return pa.RecordBatch.from_arrays(columns, names=self._names)

    def _dressed(self, name: str, column: Any) -> Any:
        """The column as it is written: text in CSV, formulas counted and, if so wished, escaped."""
        if pa.types.is_dictionary(column.type):
            # A dictionary also lists the values of records that are suppressed.
            column = column.dictionary_decode()
        if name in self._canonical:
            before, after = self._canonical[name]
            written = after.take(pc.index_in(column.cast(pa.string()), value_set=before))
            column = pc.if_else(pc.is_null(column), pa.scalar(None, pa.string()), written)
        if pa.types.is_floating(column.type):
            # One way of saying that a number is missing: a source may have written NaN where others left it out.
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        if self._options.format == "csv":
            column = self._as_csv_text(name, column)
        if pa.types.is_string(column.type) and name in self._formulas and name != self._plan.problem.region_column:
            formulas = _formulas(column)
            self._formulas[name] += int(pc.sum(formulas).as_py() or 0)
            if self._options.escape_formulas:
                column = pc.if_else(formulas, pc.binary_join_element_wise("'", column, ""), column)
        return column

    def _as_csv_text(self, name: str, column: Any) -> Any:
        if pa.types.is_nested(column.type):
            raise InputError(no_text(name, "structured"))
        try:
            return _texts(column)
        except pa.ArrowInvalid:
            raise InputError(no_text(name, "binary")) from None

    def _writer(self, sink: Sink, schema: Any) -> Any:
        if self._options.format == "parquet":
            return _EvenGroups(pa_parquet.ParquetWriter(pa.PythonFile(sink, "w"), schema, compression="zstd"))
        return pa_csv.CSVWriter(
            pa.PythonFile(sink, "w"), schema, write_options=pa_csv.WriteOptions(delimiter=self._delimiter)
        )


def no_text(column: str, kind: str) -> Finding:
    """Describe a column that CSV cannot hold."""
    message = f"The column holds {kind} values, which CSV cannot hold."
    return Finding("no-text", message, "Release as Parquet, or leave the column out.", column=column)


def shuffled(buckets: BatchBuckets, progress: Progress) -> Iterator[Any]:
    """The batches of all buckets."""
    for number, batch in buckets.ordered():
        progress.update(SHUFFLING, 0.7 + 0.3 * number / buckets.number)
        yield batch


def _texts(column: Any) -> Any:
    """A column as text; missing values and NaN are empty, as they are when records are loaded."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        numbers = column.to_numpy(zero_copy_only=False)
        column = pa.array(numbers, column.type, mask=np.isnan(numbers))
    return pc.coalesce(column.cast(pa.string()), pa.scalar("", pa.string()))


def _formulas(column: Any) -> Any:
    """Which texts a spreadsheet might run: see `rows.is_formula`."""
    starts = pc.match_substring_regex(column, rf"^[\t\r]|{_LEAD}[=@＝＠]")
    signed = pc.match_substring_regex(column, rf"{_LEAD}[+\-＋－]")
    number = pc.match_substring_regex(column, rf"{_LEAD}[+\-＋－][ .,]*[0-9][0-9 .,]*$")
    return pc.or_(starts, pc.and_not(signed, number))


class _EvenGroups:
    """A Parquet writer whose row groups are all of one size: those of batches would tell how many rows each lost.

    Only groups of very long rows are smaller. They end with the row that makes them large enough, which depends on
    nothing but the released rows.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._waiting: list[Any] = []
        self._rows = 0
        self._bytes = 0

    def write_batch(self, batch: Any) -> None:
        self._wait([batch])
        while self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            table = pa.Table.from_batches(self._waiting)
            rows = _count_rows_of_group(table)
            if not rows:
                break
            self._writer.write_table(table.slice(0, rows), row_group_size=GROUP_ROWS)
            self._waiting = []
            self._rows = 0
            self._bytes = 0
            self._wait(table.slice(rows).to_batches())

    def _wait(self, batches: list[Any]) -> None:
        for batch in batches:
            self._waiting.append(batch)
            self._rows += batch.num_rows
            self._bytes += batch.nbytes

    def close(self) -> None:
        """Write what is left."""
        if self._rows:
            self._writer.write_table(pa.Table.from_batches(self._waiting), row_group_size=GROUP_ROWS)
        self._writer.close()


def _count_rows_of_group(table: Any) -> int:
    """Count the rows that make up the first row group of a table; 0 if more must follow."""
    low = 1
    high = min(GROUP_ROWS, table.num_rows)
    if _count_value_bytes(table.slice(0, high)) < GROUP_BYTES:
        return high if high == GROUP_ROWS else 0
    while low < high:
        middle = (low + high) // 2
        if _count_value_bytes(table.slice(0, middle)) >= GROUP_BYTES:
            high = middle
        else:
            low = middle + 1
    return low


def _count_value_bytes(table: Any) -> int:
    """Count the bytes of the values alone: what Arrow adds depends on how the rows are divided into batches."""
    return sum(_count_array_bytes(chunk) for column in table.columns for chunk in column.chunks)


def _count_array_bytes(array: Any) -> int:
    kind = array.type
    if pa.types.is_struct(kind):
        return sum(map(_count_array_bytes, array.flatten()))
    if pa.types.is_map(kind):
        start = array.offsets[0].as_py()
        length = array.offsets[-1].as_py() - start
        return sum(_count_array_bytes(part.slice(start, length)) for part in (array.keys, array.items))
    if pa.types.is_nested(kind):
        return _count_array_bytes(array.flatten())
    if pa.types.is_null(kind):
        return 0
    try:
        return len(array) * int(kind.bit_width) // 8
    except ValueError:
        # Only texts and bytes have no fixed width.
        return int(pc.sum(pc.binary_length(array)).as_py() or 0)


def _index(texts: Any, values: tuple[str, ...]) -> NDArray[np.int32]:
    found = pc.fill_null(pc.index_in(texts, value_set=pa.array(values, pa.string())), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int32)

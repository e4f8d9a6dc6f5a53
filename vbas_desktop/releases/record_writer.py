"""Write the released records of a loaded table: which values they get, and in which order they stand."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import cached_property, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.background import in_background
from vbas_desktop.io.records.csv_writer import CsvFormat
from vbas_desktop.io.records.row_chunks import ROWS_PER_CHUNK, ReleasedColumn, RowChunk
from vbas_desktop.io.records.row_order import (
    RecordKeys,
    RowBuckets,
    RowKeys,
    format_keys,
    sort_by_keys,
    write_key_index,
)
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.model.records import FileFormat, RecordTable, SourceFile
from vbas_desktop.settings.release import ReleaseOptions

from .plan import ReleasePlan
from .value_numbers import value_lookups
from .written_file import (
    SHUFFLING,
    WRITING,
    FormulaCounter,
    WrittenFile,
    find_formulas,
    is_text_type,
    plain_type,
    without_nan,
    write_columns,
)

if TYPE_CHECKING:
    from .aggregation import Aggregated
    from .notation import Notation
    from .records import ReleasedRecords

_HASH_BYTES = 1 << 20
_ROWS_AT_A_TIME = 1 << 18
_FIRST_LINE_BYTES = 1 << 19
"""How much of a file is looked at to see how its lines end."""


def order_key(plan: ReleasePlan, table: RecordTable, options: ReleaseOptions) -> bytes:
    """Make 512 bits from the seed, the hash of the record file and what is released.

    The hash never leaves the organisation, so that a seed that was guessed tells nothing. With what is released mixed
    in, two releases of one file have unrelated orders even if they were given the same seed: rows that are in both
    cannot be recognised by their positions.
    """
    problem = plan.problem
    content = {
        "regions": hashlib.sha256(plan.membership.astype(np.int64).tobytes()).hexdigest(),
        "k": problem.k,
        "region_column": problem.region_column,
        "quasi_identifiers": list(problem.quasi_identifiers),
        "groupings": [[grouping.column, dict(grouping.groups)] for grouping in problem.groupings],
        "columns": options.released_columns(table.file_format.header),
        "class_size": options.class_size,
        "form": [options.format, options.release_delimiter, options.escape_formulas],
    }
    if options.record_key is not None:
        content["record_key"] = options.record_key
    if options.aggregate:
        content["aggregate"] = [list(options.aggregate), options.aggregate_classes]
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha512(
        f"vbas row order {options.shuffle_seed} {table.source.identity} {text}".encode()
    ).digest()


def input_changed(source: SourceFile) -> InputError:
    """Return the refusal to release from a file that is not the one that was loaded."""
    return InputError(
        Finding(
            "input-changed",
            "The record file changed since it was loaded, so the counts no longer fit it.",
            "Load it again, run, and release the new result.",
            file=Path(source.path).name,
        )
    )


def _refuse_changed(source: SourceFile, progress: Progress) -> None:
    digest = hashlib.sha256()
    with open(source.path, "rb") as file:
        while block := file.read(_HASH_BYTES):
            digest.update(block)
            progress.update(WRITING, 1.0)
    if digest.hexdigest() != source.sha256:
        raise input_changed(source)


class RecordWriter:
    """Writes the released records of a loaded table.

    notation: how the values of copied columns are written. aggregated: the columns that have one value per class.
    """

    def __init__(
        self,
        records: ReleasedRecords,
        options: ReleaseOptions,
        notation: Notation,
        aggregated: Aggregated,
    ) -> None:
        self._records = records
        self._plan = records.plan
        self._table = records.table
        self._options = options
        self._notation = notation
        self._aggregated = aggregated
        self._schema = records.table.schema() if options.format == "parquet" else None
        self._secret = order_key(records.plan, records.table, options)
        self._record_keys: NDArray[np.uint8] | None = None

    @cached_property
    def _positions(self) -> NDArray[np.int64]:
        """The numbers of all considered records among those of the file."""
        return self._table.positions_of(slice(0, self._table.rows))

    def write(self, out: IO[bytes], scratch: Path, progress: Progress) -> WrittenFile:
        """Write all released rows; ``scratch`` is a folder on the same disk for rows that do not fit into memory."""
        formulas = FormulaCounter(self._options.escape_formulas)
        with in_background(partial(_refuse_changed, self._table.source), WRITING, abandon=True) as check:
            if self._options.record_key is not None:
                self._record_keys = self._draw_record_keys(progress)
            columns = self._describe_columns(formulas, progress)
            reread = [name for name, column in columns if column.codes is None and name is not None]
            described = [column for _, column in columns]
            with closing(self._iterate_chunks(reread, formulas, scratch, progress)) as chunks:
                written = write_columns(
                    out, described, chunks, self._options, self._csv_format, formulas
                )
            check.result(SubProgress(progress, 1.0, 1.0))
        return written

    def _draw_record_keys(self, progress: Progress) -> NDArray[np.uint8]:
        """Return the key of each considered record: a row of characters for each."""
        keys = RecordKeys(self._secret)
        keys_of_rows = []
        for start in range(0, self._table.rows, _ROWS_AT_A_TIME):
            progress.update(WRITING, 0.0)
            keys_of_rows.append(keys.compute(self._positions[start : start + _ROWS_AT_A_TIME]))
        return np.concatenate(keys_of_rows)

    def write_index(self, path: Path) -> None:
        """Write ``record_key,record,row`` of every record that was written, in the order of the keys."""
        assert self._record_keys is not None
        positions = self._positions[self._records.rows]
        write_key_index(
            path, self._record_keys[self._records.rows], positions, self._table.row_numbers(positions)
        )

    @property
    def _csv_format(self) -> CsvFormat:
        file_format = self._table.file_format
        delimiter = self._options.release_delimiter or file_format.delimiter or ","
        if file_format.format != "csv":
            return CsvFormat(delimiter, quotes_all=True)
        encoding = file_format.encoding or "utf-8"
        return CsvFormat(
            delimiter,
            encoding if _is_single_byte(encoding) else "utf-8",
            find_line_end(Path(self._table.source.path), file_format),
            file_format.bom,
        )

    def _describe_columns(
        self, formulas: FormulaCounter, progress: Progress
    ) -> list[tuple[str | None, ReleasedColumn]]:
        """Return the columns of the release in their order, each with its name in the record file, if it has one."""
        columns: list[tuple[str | None, ReleasedColumn]] = []
        for name, new_name in self._options.released_columns(self._table.file_format.header):
            column = self._describe_column(name, new_name, progress)
            if column.codes is not None and is_text_type(column.type):
                column = self._escape_column(name, column, formulas)
            columns.append((name, column))
        if self._options.class_size is not None:
            sizes, size_of = np.unique(self._plan.class_sizes, return_inverse=True)
            columns.append(
                (
                    None,
                    self._make_class_column(self._options.class_size, pa.array(sizes), size_of.ravel()),
                )
            )
        if self._options.record_key is not None:
            columns.append((None, ReleasedColumn(self._options.record_key, pa.string())))
        return columns

    def _make_class_column(self, name: str, values: Any, code_of: NDArray[np.integer]) -> ReleasedColumn:
        """Describe a column whose value follows from the class of a record."""
        classes = self._records.classes
        return ReleasedColumn(name, values.type, values, lambda rows: code_of[classes[rows]])

    def _describe_column(self, name: str, new_name: str, progress: Progress) -> ReleasedColumn:
        problem = self._plan.problem
        if name == problem.region_column:
            return self._make_class_column(
                new_name, pa.array(self._plan.every_code, pa.string()), self._plan.areas
            )
        if name in self._aggregated:
            aggregated = self._aggregated[name]
            return _make_coded_column(
                new_name, pa.array(aggregated.texts, pa.string()), aggregated.codes
            )
        facts = self._table.facts(name)
        kind = plain_type(pa.string() if self._schema is None else self._schema.field(name).type)
        if facts.categories is None:
            return ReleasedColumn(new_name, kind)
        codes = self._table.codes(name)
        texts = facts.categories.values
        if name in problem.quasi_identifiers and any(
            grouping.column == name for grouping in problem.groupings
        ):
            lookup = value_lookups(problem)[1 + problem.quasi_identifiers.index(name)]
            return _make_coded_column(new_name, pa.array(map(lookup.group, texts), pa.string()), codes)
        if name in self._notation:
            texts = self._notation[name][1]
        if self._schema is None:
            return _make_coded_column(new_name, pa.array(texts, pa.string()), codes)
        if is_text_type(kind):
            return self._with_nulls(
                name, _make_coded_column(new_name, pa.array(texts, kind), codes), progress
            )
        values = _parse_values(texts, kind)
        return (
            ReleasedColumn(new_name, kind)
            if values is None
            else _make_coded_column(new_name, values, codes)
        )

    def _with_nulls(self, name: str, column: ReleasedColumn, progress: Progress) -> ReleasedColumn:
        """Tell missing texts of a Parquet file from empty ones, which have the same code."""
        facts = self._table.facts(name)
        if not facts.missing:
            return column
        nulls = _count_nulls(Path(self._table.source.path), name)
        if nulls == 0:
            return column
        empty = facts.categories.values.index("") if facts.categories is not None else 0
        values = column.values.to_pylist()
        if (
            nulls == facts.missing
            and self._table.selection is None
            and not self._table.file_format.category_line
        ):
            values[empty] = None
            return _make_coded_column(
                column.name, pa.array(values, column.type), self._table.codes(name)
            )
        codes = self._table.codes(name).astype(np.int32)
        start = 0
        for batch in self._read_batches([name], progress):
            is_null = batch.column(0).is_null().to_numpy(zero_copy_only=False)
            codes[start : start + batch.num_rows][is_null] = len(values)
            start += batch.num_rows
        return _make_coded_column(column.name, pa.array([*values, None], column.type), codes)

    def _escape_column(
        self, name: str, column: ReleasedColumn, formulas: FormulaCounter
    ) -> ReleasedColumn:
        """Count the formulas of a column, and escape them; codes of regions are never escaped."""
        assert column.codes is not None
        is_formula = find_formulas(column.values)
        if not is_formula.any():
            return column
        rows = self._records.rows
        for start in range(0, rows.size, _ROWS_AT_A_TIME):
            codes = column.codes(rows[start : start + _ROWS_AT_A_TIME])
            formulas.add(name, int(np.count_nonzero(is_formula[codes])))
        if name == self._plan.problem.region_column:
            return column
        values = formulas.escape_values(column.values, is_formula)
        return ReleasedColumn(column.name, column.type, values, column.codes)

    def _iterate_chunks(
        self, reread: Sequence[str], formulas: FormulaCounter, scratch: Path, progress: Progress
    ) -> Generator[RowChunk]:
        """Yield the released rows in the order in which they are written."""
        chunks = (
            self._iterate_reread_rows(reread, formulas, scratch, progress)
            if reread
            else self._iterate_rows(progress)
        )
        for chunk in chunks:
            if self._record_keys is None:
                yield chunk
            else:
                yield RowChunk(chunk.rows, (*chunk.arrays, format_keys(self._record_keys[chunk.rows])))

    def _iterate_rows(self, progress: Progress) -> Iterator[RowChunk]:
        rows = self._records.rows
        if self._options.shuffle:
            rows = self._shuffle(rows, SubProgress(progress, 0.0, 0.1))
        writing = SubProgress(progress, 0.1, 1.0)
        for start in range(0, rows.size, ROWS_PER_CHUNK):
            writing.update(WRITING, start / rows.size)
            yield RowChunk(rows[start : start + ROWS_PER_CHUNK])

    def _shuffle(self, rows: NDArray[np.int64], progress: Progress) -> NDArray[np.int64]:
        row_keys = RowKeys(self._secret)
        keys = np.empty(rows.size, np.uint64)
        for start in range(0, rows.size, _ROWS_AT_A_TIME):
            progress.update(SHUFFLING, 0.5 * start / rows.size)
            part = slice(start, start + _ROWS_AT_A_TIME)
            keys[part] = row_keys.compute(self._positions[rows[part]])
        return rows[sort_by_keys(keys, SubProgress(progress, 0.5, 1.0), SHUFFLING)]

    def _iterate_reread_rows(
        self, names: Sequence[str], formulas: FormulaCounter, scratch: Path, progress: Progress
    ) -> Iterator[RowChunk]:
        """Yield the rows with those columns that have too many values to be coded, read once more from the file."""
        if not self._options.shuffle:
            yield from self._released_batches(names, formulas, progress)
            return
        keys = RowKeys(self._secret)
        with closing(RowBuckets(scratch, self._table.source.size_bytes)) as buckets:
            for chunk in self._released_batches(names, formulas, SubProgress(progress, 0.0, 0.7)):
                batch = pa.RecordBatch.from_arrays(
                    [pa.array(chunk.rows), *chunk.arrays], ["row", *names]
                )
                buckets.add(batch, keys.compute(self._positions[chunk.rows]))
            for table in buckets.read_sorted(SubProgress(progress, 0.7, 1.0), SHUFFLING):
                rows, *arrays = (column.chunk(0) for column in table.columns)
                yield RowChunk(rows.to_numpy(), tuple(arrays))

    def _released_batches(
        self, names: Sequence[str], formulas: FormulaCounter, progress: Progress
    ) -> Iterator[RowChunk]:
        start = 0
        for batch in self._read_batches(names, progress):
            part = slice(start, start + batch.num_rows)
            start += batch.num_rows
            is_released = self._records.classes[part] >= 0
            arrays = []
            for name, array in zip(names, batch.columns, strict=True):
                values = without_nan(array.filter(pa.array(is_released)))
                arrays.append(formulas.escape_rows(name, values))
            yield RowChunk(part.start + np.flatnonzero(is_released), tuple(arrays))

    def _read_batches(self, names: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Read columns of the considered records once more, as Arrow batches in the order of the file."""
        considered = self._table.considered
        start = 0
        for batch in self._table.read_batches(names, progress, WRITING, typed=True):
            end = start + batch.num_rows
            arrays = [array.cast(plain_type(array.type)) for array in batch.columns]
            plain = pa.RecordBatch.from_arrays(arrays, names=list(names))
            yield plain if considered is None else plain.filter(pa.array(considered[start:end]))
            start = end


def _make_coded_column(name: str, values: Any, codes: NDArray[np.integer]) -> ReleasedColumn:
    return ReleasedColumn(name, values.type, values, codes.__getitem__)


def _parse_values(texts: Sequence[str], kind: Any) -> Any:
    """Return the values of a type that have these texts (empty: none); None if the texts do not tell them exactly."""
    strings = pa.array([text or None for text in texts], pa.string())
    try:
        values = strings.cast(kind)
        return values if values.cast(pa.string()).equals(strings) else None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _count_nulls(path: Path, name: str) -> int | None:
    """Count the missing values of a column of a Parquet file by its statistics; None if these do not tell."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    total = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = (group.column(column) for column in range(group.num_columns))
        statistics = next((chunk.statistics for chunk in chunks if chunk.path_in_schema == name), None)
        if statistics is None or not statistics.has_null_count:
            return None
        total += statistics.null_count
    return total


def _is_single_byte(encoding: str) -> bool:
    """Tell whether every ASCII character is its own byte and no other character contains one."""
    name = codecs.lookup(encoding).name
    return name in ("utf-8", "ascii") or name.startswith(("iso8859", "cp125"))


def find_line_end(path: Path, file_format: FileFormat) -> str:
    """Find out how the lines of a CSV file end, by the first of them."""
    with gzip.open(path) if file_format.compressed else path.open("rb") as file:
        data = file.read(_FIRST_LINE_BYTES)
    encoding = file_format.encoding or "utf-8"
    start = data.decode("latin-1" if _is_single_byte(encoding) else encoding, "ignore")
    if "\n" not in start:
        return "\r" if "\r" in start else "\n"
    return "\r\n" if start[: start.index("\n")].endswith("\r") else "\n"

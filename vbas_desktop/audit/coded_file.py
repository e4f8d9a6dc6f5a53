"""Read a file of records as codes: every value as text, equal texts with equal codes, chunk by chunk.

CSV files are read by pandas' C parser, Parquet files and tables behind an address by pyarrow. Nothing here is shared
with what loads or writes records, except for what bounds the memory that decoding a Parquet file takes.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vbas_desktop.io.bounded_parquet import read_bounded_batches

from .chunk_store import Chunk, ChunkStore
from .csv_form import MeasuredValues, find_empty_lines, read_top_rows
from .csv_stream import CsvStream, UnreadableFile, is_ascii_compatible, parse_blocks
from .text_hashes import Hashes, TextHasher

CHUNK_ROWS = 1 << 17
MOST_VALUES = 1_000_000
"""Columns with more different values are kept as hashes; no test looks at their texts."""

Codes = NDArray[np.integer[Any]]
Advance = Callable[[int], None]
"""Called with the number of bytes or rows that were read; raises to stop."""


def never_stop(number: int) -> None:
    """Do nothing: the default of `tick`, which others replace to report progress or to stop."""


@dataclass(frozen=True, eq=False)
class FileColumn:
    """A column of a file: the code of every row, chunk by chunk, and the text of each code.

    If there are too many values, ``texts`` is None and the chunks hold hashes of the values (64 bits); those that came
    before this was known hold codes, and ``hashes`` has the hash of each. Columns that were made of
    others have no texts either, but ``numbers`` codes.
    """

    store: ChunkStore
    chunks: tuple[Chunk, ...]
    texts: tuple[str, ...] | None
    hashes: Hashes | None = None
    new_codes: NDArray[np.int32] | None = None
    numbers: int = 0

    @property
    def values(self) -> int:
        """Return the number of codes."""
        return self.numbers or len(self.known_texts)

    @property
    def known_texts(self) -> tuple[str, ...]:
        """Return the texts of a column that must have them."""
        if self.texts is None:
            raise UnreadableFile("a column that is counted has too many different values")
        return self.texts

    def codes(self, number: int) -> Codes:
        """Return the codes of a chunk."""
        codes = self.store.get(self.chunks[number])
        return codes if self.new_codes is None else self.new_codes[codes]

    def get_hashes(self, number: int) -> Hashes:
        """Return the hashes of a chunk of a column without texts."""
        values = self.store.get(self.chunks[number])
        if values.dtype == np.uint64:
            return values
        assert self.hashes is not None
        return self.hashes[values]

    @cached_property
    def frequencies(self) -> NDArray[np.int64]:
        """Return the number of rows with each code."""
        return self.count_codes(None)

    def count_codes(self, rows_to_count: Callable[[int], NDArray[np.bool_]] | None) -> NDArray[np.int64]:
        """Count the rows with each code; ``rows_to_count`` tells which rows of a chunk are counted."""
        counts = np.zeros(self.values, np.int64)
        for number in range(len(self.chunks)):
            codes = self.codes(number)
            counts += np.bincount(
                codes if rows_to_count is None else codes[rows_to_count(number)], minlength=counts.size
            )
        return counts

    def with_texts(self, texts: Sequence[str]) -> FileColumn:
        """Give other texts to the codes; values that become equal get one code."""
        code_of: dict[str, int] = {}
        new = np.array([code_of.setdefault(text, len(code_of)) for text in texts], np.int32)
        if len(code_of) == len(texts):
            return replace(self, texts=tuple(texts))
        return replace(
            self, texts=tuple(code_of), new_codes=new if self.new_codes is None else new[self.new_codes]
        )

    def all_codes(self) -> Codes:
        """Return the codes of all rows."""
        parts = [self.codes(number) for number in range(len(self.chunks))]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class CodedFile:
    """A file as coded columns.

    Parameters
    ----------
    names : what stands in the first row
    columns : the columns that were read, in the order in which they were asked for
    sizes : the number of rows of each chunk
    stream : what is known of the bytes of a CSV file
    measured : what the values of a CSV file take, if they were measured
    """

    store: ChunkStore
    names: tuple[str, ...]
    columns: tuple[FileColumn, ...]
    sizes: tuple[int, ...]
    stream: CsvStream | None = None
    measured: MeasuredValues | None = None
    empty_lines: int = 0

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return sum(self.sizes)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Return the number of the first row of each chunk, and after that the number of rows."""
        return np.array([0, *accumulate(self.sizes)], np.int64)

    def keep_rows(self, masks: Sequence[NDArray[np.bool_]]) -> CodedFile:
        """Take the rows of each chunk that are kept."""
        columns = []
        for column in self.columns:
            chunks = [
                self.store.add(self.store.get(chunk)[mask])
                for chunk, mask in zip(column.chunks, masks, strict=True)
            ]
            columns.append(replace(column, chunks=tuple(chunks)))
        return replace(
            self, columns=tuple(columns), sizes=tuple(int(np.count_nonzero(mask)) for mask in masks)
        )

    def take(self, column: FileColumn, rows: NDArray[np.int64]) -> Codes:
        """Return the codes of rows, whose numbers ascend."""
        borders = np.searchsorted(rows, self.starts)
        parts = [
            column.codes(number)[rows[borders[number] : borders[number + 1]] - self.starts[number]]
            for number in range(len(self.sizes))
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)

    def add_column(self, codes: Iterable[Codes], numbers: int) -> FileColumn:
        """Make a further column of codes below ``numbers``, chunk by chunk."""
        kind = np.min_scalar_type(max(1, numbers - 1))
        chunks = tuple(self.store.add(part.astype(kind)) for part in codes)
        return FileColumn(self.store, chunks, None, numbers=max(1, numbers))


class TextCoder:
    """Gives codes to the texts of a column, chunk after chunk, or hashes once there are too many texts."""

    def __init__(
        self,
        store: ChunkStore,
        hasher: TextHasher,
        decode: Convert | None,
        hash_as: Convert | None,
        is_limited: bool,
    ) -> None:
        self._store = store
        self._hasher = hasher
        self._decode = decode or _keep_texts
        self._hash_as = hash_as or _keep_texts
        self._most = MOST_VALUES if is_limited else None
        self._known: dict[str, int] = {}
        self._chunks: list[Chunk] = []
        self._hashes: Hashes | None = None

    def add(self, codes: Codes, texts: Sequence[str]) -> None:
        """Add a chunk, whose codes stand for these texts."""
        if self._hashes is not None:
            self._chunks.append(self._store.add(self._hash(texts)[codes]))
            return
        code_of = self._known
        new = [code_of.setdefault(text, len(code_of)) for text in texts]
        kind = np.min_scalar_type(max(1, len(code_of) - 1))
        self._chunks.append(self._store.add(np.array(new, kind)[codes]))
        if self._most is not None and len(code_of) > self._most:
            self._hashes = self._hash(list(code_of))
            code_of.clear()

    def _hash(self, texts: Sequence[str]) -> Hashes:
        return self._hasher.hash(self._hash_as(self._decode(texts)))

    def column(self) -> FileColumn:
        """Return what was added."""
        if self._hashes is not None:
            return FileColumn(self._store, tuple(self._chunks), None, self._hashes)
        texts = tuple(self._known)
        return FileColumn(self._store, tuple(self._chunks), texts).with_texts(self._decode(texts))


Convert = Callable[[Sequence[str]], Sequence[str]]
"""What becomes of texts."""


def _keep_texts(texts: Sequence[str]) -> Sequence[str]:
    return texts


@dataclass(frozen=True)
class ReadOptions:
    """Columns to read from a file, and how to read them.

    Parameters
    ----------
    positions : the positions of the columns that are read
    hasher : hashes the values of columns that have too many
    hash_as : what becomes of these values before they are hashed
    unlimited : positions of columns that keep their texts however many there are
    folder : where codes go that do not fit into memory
    advance : called after every piece
    """

    positions: Sequence[int]
    hasher: TextHasher
    hash_as: Convert | None = None
    unlimited: Sequence[int] = ()
    folder: Path | None = None
    advance: Advance = never_stop

    def make_coders(self, store: ChunkStore, decode: Convert | None = None) -> list[TextCoder]:
        """Return a coder for each column that is read; ``decode`` makes text of what the parser gave."""
        return [
            TextCoder(store, self.hasher, decode, self.hash_as, position not in self.unlimited)
            for position in self.positions
        ]


@dataclass(frozen=True)
class CsvForm:
    """Format of a CSV file; ``skipped`` rows at its top are no records.

    ``undefined`` says what becomes of bytes that the encoding does not define: by default they stay as they are.
    """

    width: int
    delimiter: str
    encoding: str
    compressed: bool = False
    skipped: int = 1
    undefined: str = "surrogateescape"


def read_csv(path: Path, form: CsvForm, options: ReadOptions) -> CodedFile:
    """Read columns of a CSV file; `UnreadableFile` if its rows do not have ``form.width`` fields."""
    store = ChunkStore(options.folder)
    decode = _decoder(form)
    coders = options.make_coders(store, decode)
    measured = MeasuredValues(form.delimiter, form.width)
    sizes = []
    top = read_top_rows(path, form.delimiter, form.encoding, form.compressed, form.skipped)
    # pandas leaves fields out without a word if only the first row has too many.
    if top and len(top[0]) > form.width:
        raise UnreadableFile("it has more columns")
    skipped = len(top)
    with (
        closing(
            CsvStream(path, form.delimiter, form.encoding, form.compressed, options.advance)
        ) as stream,
        closing(parse_blocks(stream, form.delimiter, form.width)) as blocks,
    ):
        for columns in blocks:
            for column in columns:
                measured.add(column.codes, column.texts)
            rows = columns[0].codes.size
            first = min(skipped, rows)
            skipped -= first
            for coder, position in zip(coders, options.positions, strict=True):
                column = columns[position].skip_rows(first) if first else columns[position]
                coder.add(column.codes, column.texts)
            sizes.append(rows - first)
    names = tuple(top[0]) if top else ()
    names = names if decode is None else tuple(decode(names))
    file = CodedFile(
        store, names, tuple(coder.column() for coder in coders), tuple(sizes), stream, measured
    )
    return _without_empty_lines(file, path, form, len(top))


def _decoder(form: CsvForm) -> Convert | None:
    """Return what turns values as the parser gives them into text; None if they are."""
    # What does not extend ASCII was recoded to UTF-8 while it was read.
    name = codecs.lookup(form.encoding).name if is_ascii_compatible(form.encoding) else "utf-8"
    if name == "utf-8" and form.undefined == "surrogateescape":
        return None

    def decode(texts: Sequence[str]) -> list[str]:
        return [
            text
            if text.isascii()
            else text.encode("utf-8", "surrogateescape").decode(name, form.undefined)
            for text in texts
        ]

    return decode


def _without_empty_lines(file: CodedFile, path: Path, form: CsvForm, top: int) -> CodedFile:
    """Leave out the lines that hold nothing; the parser gives them as rows of empty values.

    Their number follows from the delimiters that are missing. If other rows are empty too, or if the numbers do not
    fit, a slow reader tells which rows are empty lines or have too few fields.
    """
    assert file.stream is not None
    assert file.measured is not None
    rows = file.rows + top
    counts = file.stream.counts
    measured = file.measured
    if form.width > 1:
        missing = rows * (form.width - 1) + measured.inside.delimiters - counts.delimiters
        if missing == 0:
            return file
    elif not measured.empty_rows:
        return file
    slow_reading = find_empty_lines(path, form.delimiter, form.encoding, form.compressed, form.width)
    if slow_reading.ragged:
        raise UnreadableFile("the rows do not have the same number of fields")
    is_record = np.ones(rows, np.bool_)
    is_record[slow_reading.empty] = False
    parts = np.split(is_record[top:], file.starts[1:-1])
    return replace(file.keep_rows(parts), empty_lines=len(slow_reading.empty))


def read_parquet(path: Path, options: ReadOptions, skipped: int = 0) -> CodedFile:
    """Read columns of a Parquet file as text; ``skipped`` rows at its top are no records."""
    try:
        names = tuple(pq.read_schema(path).names)
        if len(names) < len(options.positions):
            raise UnreadableFile("it has too few columns")
        column_names = list(dict.fromkeys(names[position] for position in options.positions))
        with closing(read_bounded_batches(path, CHUNK_ROWS, column_names)) as batches:
            arrays = (
                [batch.column(batch.schema.get_field_index(names[p])) for p in options.positions]
                for batch in batches
            )
            return replace(read_arrays(arrays, options, skipped), names=names)
    except pa.ArrowException:
        raise UnreadableFile("it is no Parquet file that can be read") from None


def read_arrays(batches: Iterable[Sequence[Any]], options: ReadOptions, skipped: int = 0) -> CodedFile:
    """Read columns that come as Arrow arrays, batch after batch."""
    store = ChunkStore(options.folder)
    coders = options.make_coders(store)
    sizes = []
    for batch in batches:
        dropped = min(skipped, len(batch[0]))
        skipped -= dropped
        arrays = [array.slice(dropped) for array in batch]
        options.advance(len(arrays[0]))
        for coder, array in zip(coders, arrays, strict=True):
            coded = pc.dictionary_encode(as_text(array))
            coder.add(coded.indices.to_numpy(), coded.dictionary.to_pylist())
        sizes.append(len(arrays[0]))
    return CodedFile(store, (), tuple(coder.column() for coder in coders), tuple(sizes))


def as_text(array: Any) -> Any:
    """Turn values of any type into text; missing ones and NaN become empty, as when records are loaded."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if pa.types.is_nested(array.type):
        return pa.array([repr(value) for value in array.to_pylist()], pa.string())
    try:
        return pc.fill_null(pc.cast(array, pa.string()), "")
    except pa.ArrowInvalid:
        # The message may quote a value.
        raise UnreadableFile("a column is not text") from None


def encoding_of_release(encoding: str | None) -> str:
    """Return the encoding of a released CSV file: that of the original if it extends ASCII byte by byte, else UTF-8."""
    name = codecs.lookup(encoding or "utf-8").name
    if name in ("ascii", "latin-1") or name.startswith(("iso8859", "cp125")):
        return name
    return "utf-8"

"""Read a file of records as codes: every value as text, equal texts with equal codes, chunk by chunk.

CSV files are read by pandas' C parser, Parquet files and tables behind an address by pyarrow. Nothing here is shared
with what loads or writes records, except for what bounds the memory that decoding a Parquet file takes.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vbas_desktop.io.bounded_parquet import bounded_batches

from .chunk_store import Chunk, ChunkStore
from .csv_form import MeasuredValues, count_top_rows, find_empty_lines
from .csv_stream import CsvStream, UnreadableFile, is_ascii_compatible
from .text_hashes import Hashes, TextHasher

CHUNK_ROWS = 1 << 17
_CHUNK_BYTES = 16 << 20
"""Chunks have fewer rows where these are long."""
FIRST_ROWS = 256
MOST_VALUES = 1_000_000
"""Columns with more different values are kept as hashes; no test looks at their texts."""

Codes = NDArray[np.integer[Any]]
Advance = Callable[[int], None]
"""Called with the number of bytes or rows that were read; raises to stop."""


def never_stop(number: int) -> None:
    """Read on."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of a file: the code of every row, chunk by chunk, and the text of each code.

    If there are too many values, ``texts`` is None and the chunks hold hashes of the values (64 bits); those that came
    before this was known hold codes, and ``hashes`` has the hash of each. Columns of so many ``numbers`` that were made
    of others have no texts either.
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

    def hashed(self, number: int) -> Hashes:
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

    def count_codes(self, kept: Callable[[int], NDArray[np.bool_]] | None) -> NDArray[np.int64]:
        """Count the rows with each code; ``kept`` tells which rows of a chunk are counted."""
        found = np.zeros(self.values, np.int64)
        for number in range(len(self.chunks)):
            codes = self.codes(number)
            found += np.bincount(codes if kept is None else codes[kept(number)], minlength=found.size)
        return found

    def with_texts(self, texts: Sequence[str]) -> CodedColumn:
        """Give other texts to the codes; values that become equal get one code."""
        known: dict[str, int] = {}
        new = np.array([known.setdefault(text, len(known)) for text in texts], np.int32)
        if len(known) == len(texts):
            return replace(self, texts=tuple(texts))
        return replace(self, texts=tuple(known), new_codes=new if self.new_codes is None else new[self.new_codes])

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
    columns: tuple[CodedColumn, ...]
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

    def keep_rows(self, kept: Sequence[NDArray[np.bool_]]) -> CodedFile:
        """Take the rows of each chunk that are kept."""
        columns = []
        for column in self.columns:
            chunks = [
                self.store.add(self.store.get(chunk)[mask]) for chunk, mask in zip(column.chunks, kept, strict=True)
            ]
            columns.append(replace(column, chunks=tuple(chunks)))
        return replace(self, columns=tuple(columns), sizes=tuple(int(np.count_nonzero(mask)) for mask in kept))

    def take(self, column: CodedColumn, rows: NDArray[np.int64]) -> Codes:
        """Return the codes of rows, whose numbers ascend."""
        borders = np.searchsorted(rows, self.starts)
        parts = [
            column.codes(number)[rows[borders[number] : borders[number + 1]] - self.starts[number]]
            for number in range(len(self.sizes))
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)

    def add_column(self, codes: Iterable[Codes], numbers: int) -> CodedColumn:
        """Make a further column of so many different numbers, chunk by chunk."""
        kind = np.min_scalar_type(max(1, numbers - 1))
        chunks = tuple(self.store.add(part.astype(kind)) for part in codes)
        return CodedColumn(self.store, chunks, None, numbers=max(1, numbers))


class ColumnCoder:
    """Gives codes to the texts of a column, chunk after chunk, or hashes once there are too many texts."""

    def __init__(
        self, store: ChunkStore, hasher: TextHasher, decode: Convert | None, hash_as: Convert | None, is_limited: bool
    ) -> None:
        self._store = store
        self._hasher = hasher
        self._decode = decode or _unchanged
        self._hash_as = hash_as or _unchanged
        self._most = MOST_VALUES if is_limited else None
        self._known: dict[str, int] = {}
        self._chunks: list[Chunk] = []
        self._hashes: Hashes | None = None

    def add(self, codes: Codes, texts: Sequence[str]) -> None:
        """Add a chunk, whose codes stand for these texts."""
        if self._hashes is not None:
            self._chunks.append(self._store.add(self._hash(texts)[codes]))
            return
        known = self._known
        new = np.array([known.setdefault(text, len(known)) for text in texts], np.int32)
        self._chunks.append(self._store.add(new[codes].astype(np.min_scalar_type(max(1, len(known) - 1)))))
        if self._most is not None and len(known) > self._most:
            self._hashes = self._hash(list(known))
            known.clear()

    def _hash(self, texts: Sequence[str]) -> Hashes:
        return self._hasher.hash(self._hash_as(self._decode(texts)))

    def column(self) -> CodedColumn:
        """Return what was added."""
        if self._hashes is not None:
            return CodedColumn(self._store, tuple(self._chunks), None, self._hashes)
        texts = tuple(self._known)
        return CodedColumn(self._store, tuple(self._chunks), texts).with_texts(self._decode(texts))


Convert = Callable[[Sequence[str]], Sequence[str]]
"""What becomes of texts."""


def _unchanged(texts: Sequence[str]) -> Sequence[str]:
    return texts


@dataclass(frozen=True)
class ReadOptions:
    """What is read of a file, and how.

    Parameters
    ----------
    wanted : the positions of the columns that are read
    hasher : hashes the values of columns that have too many
    hash_as : what becomes of these values before they are hashed
    unlimited : positions of columns that keep their texts however many there are
    folder : where codes go that do not fit into memory
    advance : called after every piece
    """

    wanted: Sequence[int]
    hasher: TextHasher
    hash_as: Convert | None = None
    unlimited: Sequence[int] = ()
    folder: Path | None = None
    advance: Advance = never_stop

    def make_coders(self, store: ChunkStore, decode: Convert | None = None) -> list[ColumnCoder]:
        """Return a coder for each column that is read; ``decode`` makes text of what the parser gave."""
        return [
            ColumnCoder(store, self.hasher, decode, self.hash_as, position not in self.unlimited)
            for position in self.wanted
        ]


@dataclass(frozen=True)
class CsvForm:
    """How a CSV file is written; ``skipped`` rows at its top are no records.

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
    coders = options.make_coders(store, _decoder(form))
    measured = MeasuredValues(form.delimiter, form.width)
    names: tuple[str, ...] = ()
    sizes = []
    top = count_top_rows(path, form.delimiter, form.encoding, form.compressed, form.skipped)
    done = 0
    with closing(CsvStream(path, form.delimiter, form.encoding, form.compressed, options.advance)) as stream:
        # pandas leaves fields out without a word if only the first row has too many.
        if stream.count_names() > form.width:
            raise UnreadableFile("it has more columns")
        for frame in _csv_chunks(stream, form):
            values = [frame[position].to_numpy() for position in range(form.width)]
            coded = [pd.factorize(column) for column in values]
            for codes, texts in coded:
                measured.add(codes, texts)
            if not done and top:
                names = tuple(str(column[0]) for column in values)
            first = min(top - min(top, done), len(frame))
            done += len(frame)
            for coder, position in zip(coders, options.wanted, strict=True):
                codes, texts = coded[position]
                if first:
                    codes, texts = pd.factorize(values[position][first:])
                coder.add(codes, texts.tolist())
            sizes.append(len(frame) - first)
    decode = _decoder(form)
    names = names if decode is None else tuple(decode(names))
    file = CodedFile(store, names, tuple(coder.column() for coder in coders), tuple(sizes), stream, measured)
    return _without_empty_lines(file, path, form, top)


def _csv_chunks(stream: CsvStream, form: CsvForm) -> Iterator[pd.DataFrame]:
    try:
        # Without ``skip_blank_lines=False`` pandas takes blanks at the beginning of a line for an empty line.
        with pd.read_csv(
            stream,
            engine="c",
            sep=form.delimiter,
            header=None,
            names=range(form.width),
            index_col=False,
            # As text: categories would be read as numbers where a chunk has nothing else, 007 as 7 and 9 as 9.0.
            dtype=object,
            na_filter=False,
            skip_blank_lines=False,
            encoding="utf-8",
            encoding_errors="surrogateescape",
            iterator=True,
            low_memory=False,
        ) as reader:
            rows = FIRST_ROWS
            done = 0
            while True:
                frame = reader.get_chunk(rows)
                done += len(frame)
                yield frame
                row_bytes = max(1, stream.counts.size // max(1, done), 8 * form.width)
                rows = max(1, min(CHUNK_ROWS, 4 * rows, _CHUNK_BYTES // row_bytes))
    except StopIteration:
        return
    except pd.errors.EmptyDataError:
        return
    except (ValueError, pd.errors.ParserError):
        # The message of the parser may quote a row.
        raise UnreadableFile("it cannot be cut into rows of so many fields") from None


def _decoder(form: CsvForm) -> Convert | None:
    """Return what turns values as the parser gives them into text; None if they are."""
    # What does not extend ASCII was recoded to UTF-8 while it was read.
    name = codecs.lookup(form.encoding).name if is_ascii_compatible(form.encoding) else "utf-8"
    if name == "utf-8" and form.undefined == "surrogateescape":
        return None

    def decode(texts: Sequence[str]) -> list[str]:
        return [
            text if text.isascii() else text.encode("utf-8", "surrogateescape").decode(name, form.undefined)
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
    found = find_empty_lines(path, form.delimiter, form.encoding, form.compressed, form.width)
    if found.ragged:
        raise UnreadableFile("the rows do not have the same number of fields")
    kept = np.ones(rows, np.bool_)
    kept[found.empty] = False
    parts = np.split(kept[top:], file.starts[1:-1])
    return replace(file.keep_rows(parts), empty_lines=len(found.empty))


def read_parquet(path: Path, options: ReadOptions, skipped: int = 0) -> CodedFile:
    """Read columns of a Parquet file as text; ``skipped`` rows at its top are no records."""
    try:
        names = tuple(pq.read_schema(path).names)
        if len(names) < len(options.wanted):
            raise UnreadableFile("it has too few columns")
        wanted = list(dict.fromkeys(names[position] for position in options.wanted))
        with closing(bounded_batches(path, CHUNK_ROWS, wanted)) as batches:
            arrays = (
                [batch.column(batch.schema.get_field_index(names[p])) for p in options.wanted] for batch in batches
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

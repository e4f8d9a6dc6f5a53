"""Read columns of a record file as codes, with pandas or pyarrow: every value as text, equal texts with one code.

CSV files are read by pandas' C parser, Parquet files and tables behind an address by pyarrow. Nothing here is shared
with what loads or writes records, except for what decides how many rows of a Parquet file are decoded at a time.
"""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vbas_desktop.io.parquet_batches import bounded_batches

CHUNK_ROWS = 1 << 17
_BLOCK_BYTES = 1 << 22

Codes = NDArray[np.int32]
Tick = Callable[[], None]
"""Called for every chunk; raises to stop."""


class UnreadableFile(Exception):
    """A file cannot be read back."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """The values of a column: ``codes`` of all rows, and the text of each code."""

    codes: Codes
    texts: list[str]

    def at(self, rows: NDArray[np.int64]) -> CodedColumn:
        """Take some rows, with codes for the values that they have."""
        codes = self.codes[rows]
        counts = np.bincount(codes, minlength=len(self.texts))
        used = np.flatnonzero(counts)
        to = np.zeros(len(self.texts), np.int32)
        to[used] = np.arange(used.size)
        return CodedColumn(to[codes], [self.texts[code] for code in used.tolist()])

    def renamed(self, texts: Sequence[str]) -> CodedColumn:
        """Give other texts to the codes; values that become equal get one code."""
        known: dict[str, int] = {}
        to = np.array([known.setdefault(text, len(known)) for text in texts], np.int32)
        return CodedColumn(to[self.codes] if to.size else self.codes, list(known))


class _Coder:
    """Gives codes to the texts of a column, chunk after chunk."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._chunks: list[Codes] = []

    def add(self, codes: NDArray[np.integer[Any]], texts: Sequence[str]) -> None:
        known = self._known
        to = np.array([known.setdefault(text, len(known)) for text in texts], np.int32)
        self._chunks.append(to[codes])

    def column(self) -> CodedColumn:
        codes = np.concatenate(self._chunks) if self._chunks else np.zeros(0, np.int32)
        return CodedColumn(codes, list(self._known))


def read_csv(
    path: Path,
    wanted: Sequence[int],
    width: int,
    delimiter: str,
    encoding: str,
    tick: Tick,
    compressed: bool = False,
    skipped: int = 1,
    undefined: str = "backslashreplace",
) -> tuple[list[str], list[CodedColumn]]:
    """Read some columns of a CSV file; returns the first of the ``skipped`` lines, with the names, and the columns.

    ``undefined`` says what becomes of bytes that the encoding does not define; usually they stay apart from each other.
    """
    coders = {place: _Coder() for place in wanted}
    names: list[str] = []
    for frame in _csv_chunks(path, width, delimiter, encoding, compressed, undefined):
        tick()
        first = min(skipped, len(frame))
        if first and not names:
            names = [str(frame[place].iloc[0]) for place in range(width)]
        skipped -= first
        for place, coder in coders.items():
            # The names are not values of the column.
            codes, texts = pd.factorize(frame[place].to_numpy()[first:])
            coder.add(codes, texts.tolist())
    return names, [coders[place].column() for place in wanted]


def _csv_chunks(
    path: Path, width: int, delimiter: str, encoding: str, compressed: bool, undefined: str
) -> Iterator[pd.DataFrame]:
    wide = "\n".encode(encoding.removesuffix("-sig")) != b"\n"
    lone_returns = not wide and _has_lone_returns(path, compressed)
    options: dict[str, Any] = {"lineterminator": "\n"} if lone_returns else {}
    try:
        with pd.read_csv(
            path,
            sep=delimiter,
            header=None,
            names=range(width),
            index_col=False,
            # As text: categories would be read as numbers where a chunk has nothing else, 007 as 7 and 9 as 9.0.
            dtype=object,
            na_filter=False,
            encoding="utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding,
            compression="gzip" if compressed else None,
            # Who loaded the records has warned of undefined bytes.
            encoding_errors=undefined,
            chunksize=CHUNK_ROWS,
            low_memory=False,
            **options,
        ) as chunks:
            for frame in chunks:
                if lone_returns:
                    # With lines that end at line feeds only, the return of a line end is left in the last field.
                    frame[width - 1] = frame[width - 1].str.removesuffix("\r").astype(object)
                yield frame
    except (ValueError, pd.errors.ParserError, UnicodeError):
        # The message of the parser may quote a row.
        raise UnreadableFile("it cannot be cut into rows") from None


def _has_lone_returns(path: Path, compressed: bool) -> bool:
    """Return whether the file has line feeds, and returns that are no part of a line end."""
    returns, pairs, feeds, last = 0, 0, 0, b""
    with _opened(path, compressed) as file:
        while data := file.read(_BLOCK_BYTES):
            feeds += data.count(b"\n")
            if b"\r" in data or last == b"\r":
                returns += data.count(b"\r")
                pairs += data.count(b"\r\n") + (last == b"\r" and data[:1] == b"\n")
            last = data[-1:]
    return feeds > 0 and returns != pairs


def _opened(path: Path, compressed: bool) -> IO[bytes]:
    return gzip.open(path, "rb") if compressed else path.open("rb")  # type: ignore[return-value]


def read_parquet(path: Path, wanted: Sequence[int], tick: Tick) -> tuple[list[str], list[CodedColumn]]:
    """Read some columns of a Parquet file as text; returns the names of all, and the columns."""
    names = list(pq.read_schema(path).names)
    columns = [names[place] for place in wanted]
    with closing(bounded_batches(path, CHUNK_ROWS, columns)) as batches:
        ordered = ([batch.column(batch.schema.get_field_index(name)) for name in columns] for batch in batches)
        return names, read_arrays(ordered, len(wanted), tick)


def read_arrays(batches: Iterator[Sequence[Any]], width: int, tick: Tick) -> list[CodedColumn]:
    """Read columns that come as Arrow arrays, batch after batch."""
    coders = [_Coder() for _ in range(width)]
    for arrays in batches:
        tick()
        for coder, array in zip(coders, arrays, strict=True):
            coded = pc.dictionary_encode(_as_text(array))
            coder.add(coded.indices.to_numpy(), coded.dictionary.to_pylist())
    return [coder.column() for coder in coders]


def _as_text(array: Any) -> Any:
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

"""Read columns of a delimited text as Arrow batches.

pyarrow parses the rows. It accepts silently some texts that are refused here, so the stream that it reads from checks
every block, and a row with a random value is put before the first record and behind the last: if the last one does not
come out as a row of its own, a quote stayed open.
"""

from __future__ import annotations

import io
import secrets
import threading
import weakref
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import FileFormat, SourceFile

from .file_format import QUOTE, USUAL_LIMITS, Opening, TextStream, find_wrong_byte, read_opening

_BLOCKS_AHEAD = 4
_PATIENCE_SECONDS = 0.2
_RETURN_SECONDS = 10
"""Only a pyarrow that keeps its input for ever makes a reader wait so long."""


class UnreadableRows(Exception):
    """Rows cannot be separated, or not in blocks of this size; `row_errors` finds out which."""


class CheckedStream(io.RawIOBase):
    """The rows of a text for pyarrow, in blocks that end with a line feed where there is one.

    Raises `UnreadableRows` for zero bytes and for returns outside quotes. After the last block ``lines`` is the number
    of lines after the names, ``wrong_row`` the first line that contradicts the encoding. ``has_quotes``,
    ``may_have_blank_lines`` and ``may_have_stray_returns`` say what the bytes leave open: inside quotes, empty lines
    and returns belong to the text.
    """

    def __init__(self, stream: TextStream, opening: Opening, mark: bytes) -> None:
        self._stream = stream
        self._mark = mark
        self._rest = opening.rest
        self._marks_left = 2
        self._is_all_read = False
        self._is_stopped = False
        self._lock = threading.Lock()
        self._names_lines = opening.lines
        # pyarrow would read far ahead: it gets a block for each batch that was taken.
        self._room = threading.Semaphore(_BLOCKS_AHEAD)
        self.lines = 0
        self.has_quotes = False
        self.may_have_blank_lines = False
        self.may_have_stray_returns = False
        self.wrong_row: int | None = None
        wrong = find_wrong_byte(opening.names_text, stream.stated)
        if wrong is not None:
            self.wrong_row = 1 + opening.names_text.count(b"\n", 0, wrong)

    def readable(self) -> bool:
        """Return True."""
        return True

    def make_room(self) -> None:
        """Allow another block to be read."""
        self._room.release()

    def stop(self) -> None:
        """Let no more be read, and wait until what is under way is finished: the file can be closed then."""
        self._is_stopped = True
        self._room.release()
        with self._lock:
            return

    def read(self, size: int = -1) -> bytes:
        """Return the next block, of at most ``size`` bytes."""
        with self._lock:
            # A block of blank lines makes no batch, so this must not wait for ever.
            if not self._is_stopped:
                self._room.acquire(timeout=_PATIENCE_SECONDS)
            return b"" if self._is_stopped else self._read_block(size)

    def _read_block(self, size: int) -> bytes:
        if self._marks_left == 2:
            self._marks_left = 1
            return self._mark
        text = self._fill(size)
        if not text:
            self._marks_left -= 1
            return self._mark if self._marks_left == 0 else b""
        end = _find_block_end(text, size)
        block = text[:end]
        self._rest = text[end:]
        self._check(block)
        return block

    def _fill(self, size: int) -> bytes:
        """Return what is left of the text before, and more if there is: more than ``size`` bytes, or all."""
        text = self._rest
        while len(text) <= size and not self._is_all_read:
            more = self._stream.read(size + 1 - len(text))
            text += more
            if not more:
                self._is_all_read = True
                text += b"" if text.endswith(b"\n") or not text else b"\n"
        return text

    def _check(self, block: bytes) -> None:
        if b"\0" in block:
            raise UnreadableRows
        if not self.has_quotes and QUOTE in block:
            self.has_quotes = True
            # The blocks before were not searched.
            self.may_have_blank_lines = self.lines > 0
        returns = block.count(b"\r")
        if returns and returns != block.count(b"\r\n"):
            if not self.has_quotes:
                raise UnreadableRows
            self.may_have_stray_returns = True
        if self.has_quotes and not self.may_have_blank_lines:
            self.may_have_blank_lines = (
                block.startswith((b"\n", b"\r\n")) or b"\n\n" in block or b"\n\r\n" in block
            )
        if self.wrong_row is None:
            wrong = find_wrong_byte(block, self._stream.stated)
            if wrong is not None:
                self.wrong_row = self._names_lines + self.lines + block.count(b"\n", 0, wrong) + 1
        self.lines += block.count(b"\n")


def _find_block_end(text: bytes, size: int) -> int:
    """Return where a block of at most ``size`` bytes ends: behind a line feed, or else in no character or line end.

    A carriage return and line feed inside quotes would lose the line feed between two blocks (apache/arrow#51368).
    """
    end = text.rfind(b"\n", 0, size) + 1
    if end or len(text) <= size:
        return end or len(text)
    end = size
    while end > size - 4 and text[end] & 0xC0 == 0x80:
        end -= 1
    while end > 1 and text[end - 1] == ord("\r"):
        end -= 1
    return end


class _Loans:
    """What pyarrow holds of Python's, its input and the blocks that were read, and what went wrong in reading these.

    Its threads need Python to let go of them. One that does so while Python ends aborts the process.
    """

    def __init__(self) -> None:
        self.error: Exception | None = None
        self._lent: list[weakref.ref[object]] = []
        self._returned: SimpleQueue[weakref.ref[object]] = SimpleQueue()

    def add(self, lent: object) -> None:
        """Remember an object that nobody but pyarrow will hold."""
        # No Python code is called: a thread that runs some can be interrupted, and would need Python once more.
        self._lent.append(weakref.ref(lent, self._returned.put))

    def wait(self) -> None:
        """Wait until pyarrow has let go of everything."""
        with suppress(Empty):
            for _ in self._lent:
                self._returned.get(timeout=_RETURN_SECONDS)
        self._lent.clear()


class _ArrowInput:
    """The text as pyarrow reads it: nobody else holds this object or the blocks that it returns."""

    closed = False

    def __init__(self, text: CheckedStream, loans: _Loans) -> None:
        self._text = text
        self._loans = loans

    def read(self, size: int) -> memoryview:
        """Return the next block, of at most ``size`` bytes; none after an error, which `CsvReader` raises."""
        try:
            block = memoryview(self._text.read(size))
        except (UnreadableRows, InputError, OSError, MemoryError) as error:
            # The traceback would hold this object.
            self._loans.error = error.with_traceback(None)
            block = memoryview(b"")
        self._loans.add(block)
        return block


class CsvReader:
    """Reads some columns of the rows after the names.

    ``columns`` are positions among the names; without any, the first is read. After the last batch, ``rows`` is the
    number of rows, and ``checked`` tells about the text.
    """

    def __init__(
        self, stream: TextStream, opening: Opening, columns: Sequence[int], block_bytes: int
    ) -> None:
        self.rows = 0
        self._columns = tuple(columns) or (0,)
        self._names = [str(column) for column in range(len(opening.names))]
        self._delimiter = opening.delimiter
        self._block_bytes = block_bytes
        self._stream = stream
        # A digit may be the delimiter; no hexadecimal number has a g.
        self._value = secrets.token_hex(8).replace(self._delimiter, "g").encode()
        fields = [
            self._value if column == self._columns[0] else b"" for column in range(len(opening.names))
        ]
        self.checked = CheckedStream(stream, opening, self._delimiter.encode().join(fields) + b"\n")

    def batches(self, progress: Progress, stage: str) -> Generator[Any]:
        """Yield batches with a binary column for each of the columns, under its position as name.

        Raises `UnreadableRows` if rows do not have as many fields as there are names, if one is longer than two
        blocks, or if a quote is not closed.
        """
        is_first = True
        is_complete = False
        loans = _Loans()
        try:
            with closing(self._read(loans)) as batches:
                for batch in batches:
                    progress.update(stage, self._stream.fraction)
                    self.checked.make_room()
                    if is_first:
                        batch = batch.slice(1)
                        is_first = False
                    if batch.num_rows and batch.column(0)[-1].as_py() == self._value:
                        batch = batch.slice(0, batch.num_rows - 1)
                        is_complete = True
                    self.rows += batch.num_rows
                    if batch.num_rows:
                        yield batch
        except pa.ArrowException:
            # Its text quotes records.
            raise loans.error or UnreadableRows() from None
        finally:
            self.checked.stop()
            loans.wait()
        if loans.error is not None:
            raise loans.error
        if not is_complete:
            raise UnreadableRows

    def _read(self, loans: _Loans) -> Generator[Any]:
        """Yield pyarrow's batches, and let it come to an end of the text also where reading is stopped."""
        included = [self._names[column] for column in self._columns]
        text = _ArrowInput(self.checked, loans)
        loans.add(text)
        file = pa.PythonFile(text, "r")
        del text
        try:
            reader = pa_csv.open_csv(
                file,
                pa_csv.ReadOptions(
                    column_names=self._names, block_size=self._block_bytes, use_threads=False
                ),
                pa_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                pa_csv.ConvertOptions(
                    include_columns=included,
                    column_types=dict.fromkeys(included, pa.binary()),
                    check_utf8=False,
                    strings_can_be_null=False,
                ),
            )
        finally:
            del file
        try:
            yield from reader
        finally:
            self.checked.stop()
            with suppress(pa.ArrowException):
                for _ in reader:
                    pass
            reader.close()
            del reader


def read_csv_texts(
    source: SourceFile,
    file_format: FileFormat,
    names: Sequence[str],
    block_bytes: int,
    progress: Progress,
    stage: str,
) -> Generator[Any]:
    """Yield some columns of a file that was read before, as batches of strings.

    Raises `UnreadableRows` if the file has changed, at the latest after the last batch.
    """
    with TextStream(Path(source.path), file_format.encoding) as stream:
        opening = read_opening(stream, file_format.delimiter, USUAL_LIMITS)
        columns = [file_format.header.index(name) for name in names]
        if len(opening.names) != len(file_format.header):
            raise UnreadableRows
        reader = CsvReader(stream, opening, columns, block_bytes)
        left_out = int(file_format.category_line)
        for batch in reader.batches(progress, stage):
            records = batch.slice(left_out)
            left_out = 0
            texts = [
                decode_texts(column, stream.stated or "utf-8")
                for column in records.columns[: len(names)]
            ]
            yield pa.RecordBatch.from_arrays(texts, names=list(names))
        if stream.source().sha256 != source.sha256:
            raise UnreadableRows


def decode_texts(array: Any, encoding: str) -> Any:
    """Return a binary Arrow array as strings."""
    if encoding != "iso8859-1":
        return array.cast(pa.string())
    coded = pc.dictionary_encode(array)
    texts = [value.decode(encoding) for value in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(coded.indices)

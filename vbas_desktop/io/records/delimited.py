"""Delimited text (CSV and its kin) into coded columns, in one pass of bounded memory.

A *row number* is the number of the physical line on which the row begins, the names being row 1: what an editor shows,
also where quoted fields contain line breaks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.access import bad_encoding
from vbas_desktop.io.dialect import (
    SAMPLE_BYTES,
    check_column_number,
    check_line_ends,
    first_row,
    sniff_delimiter,
)
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.source import Source
from vbas_desktop.model.words import counted

from .bits import PADDING
from .category_line import judge_columns, looks_like_numbers
from .coding import ColumnCoder, Fields
from .pipeline import Buffers, CodingPipeline
from .raw import LineTwo, RawRecords, RowNumbers
from .stream import Block, ByteStream
from .tokens import (
    BLANK,
    CONSUMED,
    LF,
    LINES,
    RAGGED,
    REPORTED_ROWS,
    ROWS,
    after_last_line_end,
    first_not_utf8,
    is_regular,
    separators,
    survey,
    tokenise,
)

LONGEST_ROW_BYTES = 16 << 20
"""A row longer than this is taken for a quote that was never closed, or for no row at all."""

BEGINNING_ROWS = 1 << 16
"""After so many rows it is decided what line 2 is, if that is certain by then."""

_STAGE = "Reading records"


class DelimitedScan:
    """One pass over one delimited file."""

    def __init__(
        self,
        path: Path,
        delimiter: str | None,
        encoding: str | None,
        progress: Progress,
        wanted: Collection[str] | None = None,
        judging: bool = True,
    ) -> None:
        """``wanted``: the names of the columns to code, all if None. ``judging``: line 2 is not known to be a record or
        not; while it is in question all columns are coded.
        """
        self.path, self.delimiter, self.encoding, self.progress = path, delimiter, encoding, progress
        self.wanted, self.judging = wanted, judging
        self.verdict: LineTwo | None = None
        self.rows = self.line = self.blank = self.ragged = 0
        self.findings: list[Finding] = []
        self.lines = RowNumbers()
        self.coders: list[ColumnCoder] = []
        self._utf8, self._expected = True, "utf-8"
        self._bad_row: int | None = None
        self._report = np.zeros(6, np.int64)

    def run(self) -> RawRecords:
        """Read everything; errors that can be collected are in the findings, the others are raised."""
        with ByteStream(self.path, self.encoding) as stream:
            blocks = stream.blocks()
            head, final = b"", False
            while len(head) < SAMPLE_BYTES and not final:
                block = next(blocks, None)
                final = block is None
                head += block or b""
            self._check_text(head)
            self._expected = "ascii" if stream.scanned == "ascii" else "utf-8"
            delimiter = self.delimiter or sniff_delimiter(head, final)
            names, rest, final = self._names(head, final, blocks, delimiter)
            self._begin(names, first_row(rest if not final else rest + b"\n", delimiter))
            with CodingPipeline(self.coders, len(names)) as self._pipeline:
                if stream.plain:
                    stream.lend = self._pipeline.lend
                self._take_all(rest, final, blocks, delimiter, stream)
                self._pipeline.finish()
            source = stream.source()
            scanned, dialect = self._settled(stream, delimiter, names)
        return self._result(source, dialect, scanned)

    def _begin(self, names: list[bytes], second: tuple[list[bytes], int, int] | None) -> None:
        self._columns, self._second_row = len(names), self.line + 1
        self._second = second[0] if second is not None and len(second[0]) == len(names) else None
        every = [ColumnCoder("", column, len(names)) for column in range(len(names))]
        self._kept = [coder for coder in every if self._is_wanted(names[coder.column])]
        self.judging = self.judging and looks_like_numbers(self._second_texts("iso8859-1"))
        self.coders = every if self.judging else self._kept

    def _is_wanted(self, name: bytes) -> bool:
        """Whether a column is to be coded, in whichever encoding its name will turn out to be."""
        possible = (name.decode(encoding, "replace") for encoding in ("utf-8", "iso8859-1"))
        return self.wanted is None or any(text in self.wanted for text in possible)

    def _second_texts(self, encoding: str) -> tuple[str, ...] | None:
        return None if self._second is None else tuple(value.decode(encoding) for value in self._second)

    def _judge_beginning(self) -> None:
        """Decide what line 2 is if that is certain; from then on only wanted columns are coded."""
        self.judging = False
        self._pipeline.finish()
        columns = [coder.raw("iso8859-1") for coder in self.coders]
        line = self._second_texts("iso8859-1")
        verdict = judge_columns(line, columns, self.rows, self._second_row, str(self.path))
        if not verdict.doubtful:
            self.verdict, self.coders = verdict, self._kept
            self._pipeline.keep(self._kept)

    def _names(
        self, head: bytes, final: bool, blocks: Iterator[Block], delimiter: str
    ) -> tuple[list[bytes], bytes, bool]:
        while True:
            check_line_ends(self.path, head[: head.find(b"\n") + 1])
            found = first_row(head + b"\n" if final else head, delimiter)
            if found is not None:
                names, place, lines = found
                check_line_ends(self.path, head[:place])
                check_column_number(self.path, len(names))
                self._check_encoding_of_names(head[:place])
                self.line += lines
                return names, *self._with_second_line(head[place:], final, blocks)
            if final and not head.strip():
                raise InputError(_finding(self.path, "empty-file", "The file is empty.", "Choose another file."))
            if final or len(head) > LONGEST_ROW_BYTES:
                raise InputError(_endless(self.path, self.line + 1, head))
            block = next(blocks, None)
            final = block is None
            head += block or b""

    def _with_second_line(self, rest: bytes, final: bool, blocks: Iterator[Block]) -> tuple[bytes, bool]:
        """What follows the names, with a whole line in it: it can be as long as the names, and is judged by itself."""
        while not final and b"\n" not in rest.lstrip(b"\r\n") and len(rest) <= LONGEST_ROW_BYTES:
            block = next(blocks, None)
            final = block is None
            rest += block or b""
        return rest, final

    def _take_all(self, rest: bytes, final: bool, blocks: Iterator[Block], delimiter: str, stream: ByteStream) -> None:
        block: Block = b""
        while True:
            self.progress.update(_STAGE, stream.fraction)
            if final and rest and not rest.endswith(b"\n"):
                block = b"\n"
            rest = self._take(rest, block, delimiter)
            if self.judging and self.rows >= BEGINNING_ROWS:
                self._judge_beginning()
            if (final and rest) or len(rest) > LONGEST_ROW_BYTES:
                raise InputError([*self.findings, _endless(self.path, self.line + 1, rest)])
            if final:
                return
            following = next(blocks, None)
            final, block = following is None, following or b""

    def _take(self, rest: bytes, block: Block, delimiter: str) -> bytes:
        """Code all complete rows of what was left and what is new, and hand back what is left now."""
        size, columns = len(rest) + len(block), self._columns
        buffers, text = self._pipeline.take(rest, block)
        end = after_last_line_end(text, size)
        found, lines, odd, beyond_ascii = self._separators(text, end, delimiter, buffers)
        zeros = quotes = returns = False
        if odd:
            zeros, quotes, returns, beyond_ascii = survey(text, 0, size)
        # Quoted fields are unescaped where they stand; what belongs to a row that is not complete is needed as it was.
        original = text[:size].tobytes() if quotes or zeros else None
        if original is not None:
            self._check_text(original)
        if beyond_ascii:
            self._check_encoding(text, end)
        fields = None
        if not quotes and found and found == lines * columns and is_regular(text, buffers.starts, lines, columns):
            self._report[CONSUMED], self._report[LINES] = end, lines
            fields = Fields(text, buffers.starts, buffers.starts[1:], lines, columns, strip_cr=returns)
        fields = fields or self._irregular(text, end, delimiter, buffers)
        consumed, lines = int(self._report[CONSUMED]), int(self._report[LINES])
        self._pipeline.code(fields, buffers)
        self.lines.add(fields.rows, self.line + 1, None if lines == fields.rows else buffers.row_lines[: fields.rows])
        self.rows += fields.rows
        self.line += lines
        return text[consumed:size].tobytes() if original is None else original[consumed:]

    def _separators(
        self, text: NDArray[np.uint8], end: int, delimiter: str, buffers: Buffers
    ) -> tuple[int, int, bool, bool]:
        """Where regular text can be cut; none, and perhaps odd bytes, where it must be looked at row by row anyway."""
        if self._columns == 1 or not end:
            return 0, 0, True, True
        return separators(text, end, ord(delimiter), buffers.starts)

    def _irregular(self, text: NDArray[np.uint8], end: int, delimiter: str, buffers: Buffers) -> Fields:
        columns, report = self._columns, self._report
        ragged = np.zeros((max(0, REPORTED_ROWS - self.ragged), 2), np.int64)
        starts, ends = buffers.starts, buffers.ends
        tokenise(text, end, ord(delimiter), columns, starts, ends, buffers.row_lines, ragged, report)
        for line, fields in ragged[: int(report[RAGGED])].tolist():
            self.findings.append(
                _finding(
                    self.path,
                    "ragged-row",
                    f"The row has {counted(fields, 'field')}, the names line has {columns:,}.",
                    "Look for a missing or extra delimiter, or put quotes around text that contains one.",
                    self.line + line + 1,
                )
            )
        self.ragged += int(report[RAGGED])
        self.blank += int(report[BLANK])
        return Fields(text, starts, ends, int(report[ROWS]), columns)

    def _check_text(self, data: bytes) -> None:
        if b"\0" in data:
            row = self.line + data.count(b"\n", 0, data.index(b"\0")) + 1
            message = "The file is not text: it contains zero bytes."
            raise InputError(
                _finding(self.path, "not-text", message, "Export the records as CSV (UTF-8) or Parquet.", row)
            )

    def _check_encoding(self, text: NDArray[np.uint8], size: int) -> None:
        if not self._utf8:
            return
        place = first_not_utf8(text, size)
        if self._expected == "ascii":
            place = int(np.argmax(text[:size] >= 128)) if (text[:size] >= 128).any() else -1
        if place >= 0:
            self._utf8 = False
            self._bad_row = self.line + int(np.count_nonzero(text[:place] == LF)) + 1

    def _settled(self, stream: ByteStream, delimiter: str, names: list[bytes]) -> tuple[str, Dialect]:
        """The encoding of the scanned bytes, and the dialect with the names decoded."""
        scanned = stream.scanned
        if scanned is None:
            scanned = "utf-8" if self._utf8 else "iso8859-1"
            if not self._utf8:
                self.findings.append(
                    _finding(
                        self.path,
                        "read-as-latin-1",
                        "The text is not UTF-8; it was read as Latin-1.",
                        "If letters look wrong, name the encoding.",
                        self._bad_row,
                        Severity.HINT,
                    )
                )
        elif not self._utf8 and scanned != "iso8859-1":
            self.findings.append(bad_encoding(self.path, scanned, self._bad_row))
        encoding = stream.mark or stream.encoding or scanned
        header = tuple(name.decode(scanned, "replace") for name in names)
        encoding = "latin-1" if encoding == "iso8859-1" else encoding
        return scanned, Dialect("csv", delimiter, encoding, stream.mark is not None, stream.compressed, False, header)

    def _check_encoding_of_names(self, opening: bytes) -> None:
        self._check_encoding(np.frombuffer(opening + bytes(PADDING), np.uint8), len(opening))

    def _result(self, source: Source, dialect: Dialect, scanned: str) -> RawRecords:
        findings = self.findings
        if self.ragged > REPORTED_ROWS:
            message = f"{self.ragged - REPORTED_ROWS:,} more rows have the wrong number of fields."
            findings.append(_finding(self.path, "ragged-row", message))
        if self.blank:
            message = f"{self.blank:,} blank line{'s were' if self.blank > 1 else ' was'} skipped."
            findings.append(_finding(self.path, "blank-lines", message, severity=Severity.HINT))
        if any(finding.severity is Severity.ERROR for finding in findings):
            return RawRecords(source, dialect, [], self.rows, None, self._second_row, findings)
        columns = []
        for coder in self.coders:
            self.progress.update(_STAGE, 1.0)
            coder.name = dialect.header[coder.column]
            columns.append(coder.raw(scanned))
        first, row = self._second_texts(scanned), self._second_row
        return RawRecords(source, dialect, columns, self.rows, first, row, findings, self.lines, self.verdict)


def _finding(
    path: Path, code: str, message: str, remedy: str = "", row: int | None = None, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(code, message, remedy, severity, str(path), row)


def _endless(path: Path, row: int, text: bytes) -> Finding:
    """What to say of a row that does not end: without a quote in it, it is only long."""
    if b'"' not in text:
        message = f"The row is longer than {LONGEST_ROW_BYTES >> 20} MB."
        return _finding(path, "long-row", message, "Does every record have a line of its own?", row)
    message = "A quoted field that begins in this row is never closed."
    return _finding(path, "open-quote", message, "Close the quote, or double quotes that belong to the text.", row)

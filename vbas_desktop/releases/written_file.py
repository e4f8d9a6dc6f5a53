"""Write released rows in the chosen format, with formulas counted and, if so wished, escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vbas_desktop.io.hashing import HashingWriter
from vbas_desktop.io.records.csv_writer import CsvFormat, write_csv
from vbas_desktop.io.records.parquet_writer import write_parquet
from vbas_desktop.io.records.row_chunks import ReleasedColumn, RowChunk
from vbas_desktop.model.text import escape_formula
from vbas_desktop.settings.release import ReleaseOptions

WRITING = "Writing the anonymised file"
SHUFFLING = "Shuffling the rows"


@dataclass(frozen=True)
class WrittenFile:
    """A written record file: its hash, the cells of each column that a spreadsheet might run, and its encoding.

    A file of ASCII alone is UTF-8, whatever the record file is: another encoding would tell of suppressed records.
    """

    sha256: str
    formulas: dict[str, int]
    encoding: str = "utf-8"


class FormulaCounter:
    """Counts the released cells that a spreadsheet might run, by column, and escapes them if so wished."""

    def __init__(self, escape: bool) -> None:
        self._escape_column = escape
        self.counts: dict[str, int] = {}

    def add(self, column: str, count: int) -> None:
        """Count cells of a column."""
        if count:
            self.counts[column] = self.counts.get(column, 0) + count

    def escape_rows(self, column: str, values: Any) -> Any:
        """Return the values of rows (an Arrow array) as they are written."""
        if not is_text_type(values.type):
            return values
        is_formula = find_formulas(values)
        self.add(column, int(np.count_nonzero(is_formula)))
        return self.escape_values(values, is_formula)

    def escape_values(self, values: Any, is_formula: NDArray[np.bool_]) -> Any:
        """Return texts with an apostrophe before those that are formulas, if so wished."""
        if not self._escape_column or not is_formula.any():
            return values
        escaped = pc.binary_join_element_wise(
            pa.scalar("'", values.type), values, pa.scalar("", values.type)
        )
        return pc.if_else(pa.array(is_formula), escaped, values)


def find_formulas(texts: Any) -> NDArray[np.bool_]:
    """Tell which texts (an Arrow array) a spreadsheet might run."""
    # No formula begins with a letter or a digit, so few values need a closer look.
    candidates = pc.fill_null(pc.match_substring_regex(texts, "^[^0-9A-Za-z]"), False)
    is_formula = np.zeros(len(texts), np.bool_)
    positions = np.flatnonzero(candidates.to_numpy(zero_copy_only=False))
    is_formula[positions] = [
        escape_formula(text) != text for text in texts.take(pa.array(positions)).to_pylist()
    ]
    return is_formula


def write_columns(
    out: IO[bytes],
    columns: Sequence[ReleasedColumn],
    chunks: Iterator[RowChunk],
    options: ReleaseOptions,
    csv_format: CsvFormat,
    formulas: FormulaCounter,
) -> WrittenFile:
    """Write rows in the format that was chosen, and say what was written."""
    writer = HashingWriter(out)
    if options.format == "parquet":
        write_parquet(writer, columns, chunks)
        return WrittenFile(writer.sha256, formulas.counts)
    write_csv(writer, columns, chunks, csv_format)
    return WrittenFile(
        writer.sha256, formulas.counts, "utf-8" if writer.is_ascii else csv_format.encoding
    )


def is_text_type(kind: Any) -> bool:
    """Tell whether an Arrow type holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def plain_type(kind: Any) -> Any:
    """Return the type in which values are written: not as codes of a dictionary, nor as views."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(kind, kind)


def without_nan(values: Any) -> Any:
    """Return values with nulls in place of NaN: that a number is missing is said in one way, whoever wrote the file."""
    if not pa.types.is_floating(values.type):
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)

"""Page headers of a Parquet file, which tell how much its columns unpack to before anything is unpacked.

What the footer says about sizes is not used by the reader, and may be false. The sizes in the headers of the pages
are: a page with another size than its header says cannot be read. pyarrow does not expose these headers, so they are
parsed here (Thrift's compact protocol, in which Parquet writes them).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

_DATA_PAGE = 0
_DICTIONARY_PAGE = 2
_DATA_PAGE_V2 = 3
_HEADERS_OF_DATA = {_DATA_PAGE: (5, 2), _DATA_PAGE_V2: (8, 4)}
"""Per type of page the field of its own header, and in that the field of the encoding."""
_DICTIONARY_ENCODINGS = (2, 8)
_DELTA_LENGTHS = 6
_DELTA_TEXTS = 7
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
_OFFSET_BYTES = 8
_HEADER_BYTES = 8 << 10
_LONGEST_HEADER = 16 << 20
_DEEPEST = 4


@dataclass(frozen=True)
class DataPage:
    """One page: how many values it has, its encoding by Parquet's number, and its bytes when unpacked."""

    values: int
    encoding: int
    unpacked: int


@dataclass(frozen=True)
class ColumnChunk:
    """The pages of one column in one row group; ``width`` is 0 if its values are of different lengths."""

    path: str
    width: int
    is_repeated: bool
    dictionary_bytes: int
    pages: tuple[DataPage, ...]

    @property
    def unpacked(self) -> int:
        """The bytes of all pages when unpacked."""
        return self.dictionary_bytes + sum(page.unpacked for page in self.pages)

    @property
    def largest_page(self) -> int:
        """The bytes of the largest page when unpacked."""
        return max((self.dictionary_bytes, *(page.unpacked for page in self.pages)))

    @property
    def is_codable(self) -> bool:
        """Tell whether Arrow can read the column as codes with a dictionary."""
        return not self.width and all(
            page.encoding not in (_DELTA_LENGTHS, _DELTA_TEXTS) for page in self.pages
        )

    def bound_bytes(self, rows: int, longest: int) -> int:
        """Bound what consecutive ``rows`` take decoded; no value of the dictionary is longer than ``longest``."""
        if not self.pages:
            return 0
        sizes = np.array([self._bound_page(page, rows, longest) for page in self.pages], np.int64)
        if self.is_repeated:
            return int(sizes.sum())
        ends = np.cumsum([page.values for page in self.pages])
        before = np.concatenate(([0], np.cumsum(sizes)))
        # The widest reach of rows that begin in a page: they begin with its last value.
        last_pages = np.searchsorted(ends, ends + rows - 1, side="left").clip(max=len(ends) - 1)
        return int((before[last_pages + 1] - before[:-1]).max())

    def _bound_page(self, page: DataPage, rows: int, longest: int) -> int:
        values = page.values if self.is_repeated else min(page.values, rows)
        if self.width:
            return values * self.width
        if page.encoding in _DICTIONARY_ENCODINGS:
            return values * (longest + _OFFSET_BYTES)
        if page.encoding == _DELTA_TEXTS:
            # A value repeats as much as it likes of the one before, so that it can be as long as all that is stored.
            return values * (page.unpacked + _OFFSET_BYTES)
        return page.unpacked + values * _OFFSET_BYTES


def read_column_chunk(file: BinaryIO, metadata: Any, group: int, column: int) -> ColumnChunk:
    """Read the headers of all pages of a column in a row group; ``metadata`` is that of pyarrow.

    Raises `pyarrow.ArrowInvalid` where they are damaged.
    """
    chunk = metadata.row_group(group).column(column)
    schema = metadata.schema.column(column)
    offset = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < offset:
        offset = chunk.dictionary_page_offset
    dictionary_bytes = 0
    pages = []
    left = chunk.num_values
    while left > 0:
        header, offset = _read_header(file, offset)
        kind, unpacked, packed = (_whole_number(header, field) for field in (1, 2, 3))
        offset += packed
        if kind == _DICTIONARY_PAGE:
            dictionary_bytes += unpacked
        elif kind in _HEADERS_OF_DATA:
            own, encoding = _HEADERS_OF_DATA[kind]
            values = _whole_number(header.get(own), 1)
            pages.append(DataPage(values, _whole_number(header.get(own), encoding), unpacked))
            left -= values
    width = (
        schema.length
        if schema.physical_type == "FIXED_LEN_BYTE_ARRAY"
        else _WIDTHS.get(schema.physical_type, 0)
    )
    return ColumnChunk(
        schema.path, width, schema.max_repetition_level > 0, dictionary_bytes, tuple(pages)
    )


def read_row_group(
    file: BinaryIO, metadata: Any, group: int, names: list[str] | None
) -> Iterator[ColumnChunk]:
    """Read the pages of all columns of a row group, or of those under some names."""
    for column in range(metadata.num_columns):
        path = metadata.schema.column(column).path
        if names is None or any(path == name or path.startswith(f"{name}.") for name in names):
            yield read_column_chunk(file, metadata, group, column)


def _read_header(file: BinaryIO, offset: int) -> tuple[dict[int, Any], int]:
    """Read the header of a page; returns its fields by number, and where the page itself begins."""
    size = _HEADER_BYTES
    while True:
        file.seek(offset)
        data = file.read(size)
        try:
            fields, length = _Thrift(data).read_struct()
        except IndexError:
            if len(data) < size or size >= _LONGEST_HEADER:
                raise _damage_error() from None
            size *= 4
            continue
        return fields, offset + length


def _whole_number(fields: Any, number: int) -> int:
    value = fields.get(number) if isinstance(fields, dict) else None
    if not isinstance(value, int) or value < 0:
        raise _damage_error()
    return value


def _damage_error() -> Exception:
    import pyarrow as pa

    return pa.ArrowInvalid("The header of a page is damaged.")


class _Thrift:
    """Reads structures of numbers and texts in Thrift's compact protocol; raises IndexError where data end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def read_struct(self, depth: int = 1) -> tuple[dict[int, Any], int]:
        """Read a structure; returns its fields by number (texts are skipped), and the position after it."""
        if depth > _DEEPEST:
            raise _damage_error()
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._read_byte():
            number = number + (kind >> 4) if kind >> 4 else self._read_number()
            fields[number] = self._read_value(kind & 15, depth)
        return fields, self._position

    def _read_value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return None
        if kind == 3:
            return self._read_byte()
        if kind in (4, 5, 6):
            return self._read_number()
        if kind == 8:
            length = self._read_varint()
            self._position += length
            return None
        if kind == 12:
            return self.read_struct(depth + 1)[0]
        raise _damage_error()

    def _read_byte(self) -> int:
        value = self._data[self._position]
        self._position += 1
        return value

    def _read_varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._read_byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise _damage_error()

    def _read_number(self) -> int:
        value = self._read_varint()
        return (value >> 1) ^ -(value & 1)

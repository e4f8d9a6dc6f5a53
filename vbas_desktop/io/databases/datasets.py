"""Finds the files and columns of a dataset: a folder or pattern of Parquet or CSV files."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from vbas_desktop.model.findings import input_error, stop_on_errors
from vbas_desktop.settings.reading import RecordReading

from ..delimited_text import (
    check_column_count,
    check_line_ends,
    find_wrong_names,
    sniff_delimiter,
    split_first_row,
)
from ..input_checks import canonical_encoding
from ..records.parquet_batches import first_parquet_record
from .address import Address

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
_HEAD_BYTES = 1 << 20
_ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "utf-16": "utf-16", "ascii": "utf-8"}


@dataclass(frozen=True)
class Dataset:
    """The files of a dataset in a fixed order, with the names and Arrow types of their columns.

    ``folder`` is the folder that all files are in. ``partitions`` are columns whose values are in the names of folders
    (``year=2020``). ``delimiter`` and ``encoding`` are those of text files.
    """

    folder: str
    files: tuple[str, ...]
    header: tuple[str, ...]
    schema: Any
    partitions: tuple[str, ...]
    delimiter: str | None = None
    encoding: str = "utf-8"

    @property
    def is_parquet(self) -> bool:
        """Tell whether the files are Parquet; else they are text."""
        return self.delimiter is None

    @property
    def size_bytes(self) -> int:
        """Return the size of all files."""
        return sum(os.stat(path).st_size for path in self.files)

    @property
    def is_one_file(self) -> bool:
        """Tell whether all columns of all records are in one file, which then has a first record."""
        return len(self.files) == 1 and not self.partitions

    def read_change_mark(self) -> str:
        """Return a text that changes when a file is changed, replaced, added or taken away."""
        return hash_file_states(self.files)


def hash_file_states(files: Sequence[str]) -> str:
    """Return a text that changes when one of the files does."""
    digest = hashlib.sha256()
    for path in files:
        try:
            state = os.stat(path)
        except OSError:
            return "gone"
        digest.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0{state.st_ino}\n".encode())
    return digest.hexdigest()


def find_dataset(address: Address, options: RecordReading) -> Dataset:
    """Find the files that the address names; refused if there are none, or if they do not go together."""
    root, files = _list_files(address)
    if not files:
        message = "There are no Parquet or CSV files here."
        raise input_error("no-such-file", message, "Check the folder or the pattern.", file=address)
    kinds = {path.lower().endswith(PARQUET) for path in files}
    if len(kinds) > 1:
        message = "Parquet and text files are mixed."
        raise input_error(
            "mixed-files", message, "Name one kind by a pattern such as *.parquet.", file=address
        )
    partitions = _find_partitions(address, root, files)
    if kinds == {True}:
        dataset = _describe_parquet(root, files, partitions)
    else:
        dataset = _describe_text(address, root, files, partitions, options)
    stop_on_errors(find_wrong_names(str(address), dataset.header))
    return dataset


def _list_files(address: Address) -> tuple[str, tuple[str, ...]]:
    """List the files of a folder or pattern; the first result is the folder that they are in."""
    path = Path(address.location)
    if path.is_dir():
        inside = tuple(sorted(str(file) for file in path.rglob("*") if _is_data_file(file, path)))
        _refuse_links_out(str(path), inside)
        return str(path), inside
    if path.is_file():
        return str(path.parent), (address.location,)
    try:
        files = [
            file
            for file in glob.glob(address.location, recursive=True)
            if _is_data_file(Path(file), None)
        ]
    except (ValueError, OSError):
        files = []
    folder = str(Path(*takewhile(lambda part: not glob.has_magic(part), path.parts[:-1])))
    _refuse_links_out(folder, files)
    return folder, tuple(sorted(files))


def _refuse_links_out(folder: str, files: Sequence[str]) -> None:
    """Refuse files of a dataset that are links to places outside its folder: whoever made it may not read those."""
    inside = Path(os.path.realpath(folder))
    for path in files:
        if not Path(os.path.realpath(path)).is_relative_to(inside):
            message = "This is a link that leads out of the folder of the dataset."
            raise input_error(
                "link-outside",
                message,
                "Put the file itself into the folder, or remove the link.",
                file=path,
            )


def _is_data_file(path: Path, root: Path | None) -> bool:
    """Tell whether a file belongs to a dataset: by its name, and unless it or a folder on the way is hidden."""
    inside = path.relative_to(root).parts if root is not None else (path.name,)
    if any(part.startswith((".", "_")) for part in inside) or not path.name.lower().endswith(
        (*PARQUET, *TEXT)
    ):
        return False
    return path.is_file()


def _find_partitions(address: Address, root: str, files: tuple[str, ...]) -> tuple[str, ...]:
    """List the names of folders of the form name=value, which must be the same on the way to every file."""
    ways = {Path(os.path.relpath(path, root)).parts[:-1] for path in files}
    names = {tuple(unquote(part.partition("=")[0]) for part in way if "=" in part) for way in ways}
    if len(names) > 1:
        message = "The folders on the way to the files do not all name the same partitions."
        raise input_error("mixed-partitions", message, "Put all files at one depth.", file=address)
    return next(iter(names))


def _describe_parquet(folder: str, files: tuple[str, ...], partitions: tuple[str, ...]) -> Dataset:
    first = None
    for path in files:
        try:
            schema = pq.read_schema(path)
        except (pa.ArrowException, OSError):
            message = "The file is not a readable Parquet file."
            raise input_error(
                "bad-parquet", message, "Get a fresh copy of the file.", file=path
            ) from None
        first = schema if first is None else first
        if (schema.names, schema.types) != (first.names, first.types):
            message = (
                "The columns of this file differ from those of the first file, in names, order or types."
            )
            raise input_error(
                "columns-differ", message, "Write all files of a dataset alike.", file=path
            )
    assert first is not None
    return Dataset(
        folder, files, *_with_partitions(tuple(first.names), list(first.types), partitions), partitions
    )


def _with_partitions(
    names: tuple[str, ...], types: list[Any], partitions: tuple[str, ...]
) -> tuple[tuple[str, ...], Any]:
    """Return the names of all columns, those of the folders last, and their types as c0, c1, …: names may be odd."""
    types = [*types, *(pa.string() for _ in partitions)]
    return (*names, *partitions), pa.schema(
        [(f"c{position}", column_type) for position, column_type in enumerate(types)]
    )


def _describe_text(
    address: Address,
    folder: str,
    files: tuple[str, ...],
    partitions: tuple[str, ...],
    options: RecordReading,
) -> Dataset:
    encoding = _ENCODINGS.get(canonical_encoding(options.encoding or "utf-8"))
    if encoding is None:
        message = f"DuckDB does not read text in the encoding “{options.encoding}”."
        raise input_error("unknown-encoding", message, "Use utf-8, latin-1 or utf-16.", file=address)
    names: list[str] | None = None
    delimiter = options.delimiter
    for path in files:
        names_of_file, delimiter, _ = _read_head(path, delimiter, encoding)
        names = names_of_file if names is None else names
        if names_of_file != names:
            message = "The names in line 1 differ from those of the first file."
            raise input_error(
                "columns-differ", message, "Write all files of a dataset alike.", file=path
            )
    assert names is not None
    header, schema = _with_partitions(tuple(names), [pa.string()] * len(names), partitions)
    return Dataset(folder, files, header, schema, partitions, delimiter, encoding)


def read_first_record(dataset: Dataset) -> tuple[str, ...] | None:
    """Read the texts of the first record of the only file of a dataset; None if it has no whole record of texts."""
    record = (
        first_parquet_record(Path(dataset.files[0])) if dataset.is_parquet else _read_first_line(dataset)
    )
    return record if record is not None and len(record) == len(dataset.header) else None


def _read_first_line(dataset: Dataset) -> tuple[str, ...] | None:
    _, delimiter, rest = _read_head(dataset.files[0], dataset.delimiter, dataset.encoding)
    row = split_first_row(rest + b"\n", delimiter)
    return None if row is None else tuple(field.decode() for field in row[0])


def _read_head(path: str, delimiter: str | None, encoding: str) -> tuple[list[str], str, bytes]:
    """Read the names of a text file, its delimiter, and the text that follows as far as it was read."""
    try:
        with pa.input_stream(
            path, compression="gzip" if path.lower().endswith(".gz") else None
        ) as stream:
            raw = stream.read(_HEAD_BYTES)
    except (pa.ArrowException, OSError):
        raise input_error(
            "unreadable", "The file cannot be opened.", "Check its permissions.", file=path
        ) from None
    try:
        head = (
            raw.decode(encoding, "strict" if len(raw) < _HEAD_BYTES else "ignore")
            .encode()
            .removeprefix(b"\xef\xbb\xbf")
        )
    except UnicodeDecodeError:
        message = f"The text is not valid {encoding}."
        raise input_error(
            "bad-encoding", message, "Name its encoding (--encoding).", file=path
        ) from None
    delimiter = delimiter or sniff_delimiter(head)
    check_line_ends(path, head.partition(b"\n")[0] + b"\n")
    row = split_first_row(head + b"\n", delimiter)
    if row is None:
        raise input_error(
            "no-names", "The file has no line of names.", "Write names in line 1.", file=path
        )
    check_column_count(path, len(row[0]))
    return [name.decode() for name in row[0]], delimiter, head[row[1] :]

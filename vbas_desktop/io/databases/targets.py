"""Puts a verified release elsewhere: staged beside its place, audited there, and only then given its name."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from vbas_desktop.io.output import check_target, staged_file, staged_folder
from vbas_desktop.io.writable import check_writable
from vbas_desktop.model.errors import InputError, refusal
from vbas_desktop.model.progress import Progress

from .address import DATABASES, REMOTE, Address, Kind, record_place
from .datasets import PARQUET, TEXT

MARK = "release of vbas-desktop"
"""What a table's comment or a file's metadata say that another release may replace."""
STAGING = "vbas_staging_"
FOLDER_MARK = "_VBAS_RELEASE"
"""A file that marks a folder as a release; readers of datasets pass over names that begin so."""
STAGE = "Handing the release over"
_METADATA = b"vbas-desktop"
_PART_ROWS = 4 << 20
_MOST_PARTS = 1000
_BATCH_ROWS = 1 << 17
_NAMES = (FOLDER_MARK, "part-00000.csv", *(f"part-{number:05d}.parquet" for number in range(_MOST_PARTS)))


class Target(ABC):
    """A place for a release."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Return the formats of a released file that it takes: one with types, but for folders."""
        return ("parquet",)

    @abstractmethod
    def check(self, progress: Progress) -> None:
        """Refuse a place that would be refused in the end; as far as that can be told quickly."""

    @abstractmethod
    def staged(self, file: Path, progress: Progress) -> AbstractContextManager[Address]:
        """Copy a released file beside the place and hand out where it can be read.

        It is put in place if the block ends well, and removed otherwise. What an earlier process of the same user left
        unfinished is removed, too.
        """


def target_of(text: str) -> Target:
    """Return the target that a text names; refused if it names none."""
    scheme, _, rest = text.partition(":")
    if scheme.lower() in ("postgresql", "postgres", "spark", "spark-local"):
        place = record_place(text)
        assert isinstance(place, Address)
        return _server(place)
    plain = rest if scheme.lower() == "duckdb" else text
    file, mark, table = plain.partition("#")
    suffix = Path(file).suffix.lower()
    if suffix in DATABASES and mark:
        from .duckdb_target import DuckDBTable

        return DuckDBTable(Address(text, Kind.DUCKDB, file, unquote(table)))
    if REMOTE.match(plain) or re.search(r"[*?\[]", plain) or suffix in (*DATABASES, *TEXT) or not plain:
        message = "This cannot be a target."
        remedy = (
            "Name a folder, a file that ends with .parquet, FILE.duckdb#schema.table, postgresql://…#schema.table, or "
            "spark://…/folder."
        )
        raise refusal("bad-address", message, remedy, file=text)
    return ParquetFile(Path(plain)) if suffix in PARQUET else Folder(Path(plain))


def _server(place: Address) -> Target:
    if place.kind is Kind.POSTGRESQL:
        from .postgresql_target import PostgreSQLTable

        return PostgreSQLTable(place)
    if place.table:
        from .spark_target import SparkTable

        return SparkTable(place)
    master, _, path = place.place.partition(" ")
    return Folder(Path(path), master)


@dataclass(frozen=True)
class ParquetFile(Target):
    """One Parquet file."""

    path: Path

    def check(self, progress: Progress) -> None:
        """Refuse to replace a file that is no earlier release."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        _check_place(self.path)
        if not self.path.exists():
            return
        try:
            found = (pq.read_schema(self.path).metadata or {}).get(_METADATA)
        except (pa.ArrowException, OSError):
            found = None
        if found != MARK.encode():
            raise taken(str(self.path), "file")

    @contextmanager
    def staged(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage the file in a hidden folder beside its place."""
        self.check(progress)
        with staged_file(self.path) as made:
            _copy_parts(file, progress, lambda number: made, one=True)
            yield Address(str(self.path), Kind.DUCKDB, str(made))
            self.check(progress)


@dataclass(frozen=True)
class Folder(Target):
    """A folder of Parquet files, or with a CSV file; with a ``master``, Spark reads it back."""

    path: Path
    master: str = ""

    @property
    def formats(self) -> tuple[str, ...]:
        """Spark's folders hold Parquet files."""
        return ("parquet",) if self.master else ("parquet", "csv")

    def check(self, progress: Progress) -> None:
        """Refuse a folder that holds anything but an earlier release, or that this machine cannot reach."""
        if self.master and not self.path.parent.is_dir():
            message = "The folder that should hold the target is not on this machine."
            raise refusal("no-such-file", message, "Check the path.", file=self.path)
        if not self.master:
            _check_place(self.path)
        check_target(self.path, _NAMES)

    @contextmanager
    def staged(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage a hidden folder beside it that takes its place."""
        self.check(progress)
        with staged_folder(self.path, _NAMES) as made:
            (made / FOLDER_MARK).write_text(f"{MARK}\n", encoding="utf-8")
            if file.suffix == ".csv":
                _copy_bytes(file, made / "part-00000.csv", progress)
            else:
                _copy_parts(file, progress, lambda number: made / f"part-{number:05d}.parquet")
            if self.master:
                # Executors may be another user's.
                made.chmod(0o755)
                yield Address(str(self.path), Kind.SPARK, f"{self.master} {made}")
            else:
                yield Address(str(self.path), Kind.DUCKDB, str(made))


def _check_place(path: Path) -> None:
    """Refuse a place where nothing can be written, and a computer without the engine that reads the copy back."""
    from .duckdb_engine import connect

    check_writable(path)
    connect(Address(str(path), Kind.DUCKDB, str(path))).close()


def _copy_bytes(file: Path, made: Path, progress: Progress) -> None:
    with file.open("rb") as source, made.open("wb") as sink:
        while data := source.read(1 << 20):
            progress.update(STAGE)
            sink.write(data)


def _copy_parts(file: Path, progress: Progress, named: Any, one: bool = False) -> None:
    """Copy the rows of a Parquet file into one file or several of the same size."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as source:
        rows = source.metadata.num_rows
        most = rows if one else max(_PART_ROWS, -(-rows // _MOST_PARTS))
        schema = source.schema_arrow.with_metadata({**(source.schema_arrow.metadata or {}), _METADATA: MARK.encode()})
        writer, number, there, done = pq.ParquetWriter(named(0), schema), 0, 0, 0
        try:
            for batch in source.iter_batches(batch_size=_BATCH_ROWS):
                progress.update(STAGE, done / max(1, rows))
                if there + batch.num_rows > most and there:
                    writer.close()
                    number, there = number + 1, 0
                    writer = pq.ParquetWriter(named(number), schema)
                writer.write_batch(batch.replace_schema_metadata(schema.metadata))
                there, done = there + batch.num_rows, done + batch.num_rows
        finally:
            writer.close()


def table_parts(target: Address) -> tuple[str, str]:
    """Return schema and name of the table that a target names."""
    schema, mark, name = target.table.partition(".")
    if not (schema and mark and name):
        message = "The target names no schema and table."
        raise refusal("bad-address", message, "Write schema.table behind #.", file=target)
    return schema, name


def taken(place: str, what: str = "table") -> InputError:
    """Make the error that the target is no release, which is not replaced."""
    message = f"The target is a {what} that is no earlier release, so it is left alone."
    return refusal("target-taken", message, "Choose another name.", file=place)

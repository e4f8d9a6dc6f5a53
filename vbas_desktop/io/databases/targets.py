"""Targets of a verified release: it is staged beside the target, audited there, and only then given its name."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.progress import Progress

from ..output import check_target, check_writable, staged_file, staged_folder
from .address import DATABASES, REMOTE, Address, EngineKind, parse_address
from .datasets import PARQUET, TEXT

MARK = "release of vbas-desktop"
"""The comment of a table or the metadata of a file that another release may replace."""
STAGING = "vbas_staging_"
FOLDER_MARK = "_VBAS_RELEASE"
"""A file that marks a folder as a release; readers of datasets pass over names that begin so."""
STAGE = "Handing the release over"
_METADATA = b"vbas-desktop"
_PART_ROWS = 4 << 20
_MAX_PARTS = 1000
_BATCH_ROWS = 1 << 17
_NAMES = (FOLDER_MARK, "part-00000.csv", *(f"part-{number:05d}.parquet" for number in range(_MAX_PARTS)))


class ReleaseTarget(ABC):
    """A file, folder or table that a release is copied to."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Return the formats of a released file that it takes: one with types, but for folders."""
        return ("parquet",)

    @abstractmethod
    def check(self, progress: Progress) -> None:
        """Raise `InputError` for a target that cannot be written, as far as that can be found out quickly."""

    @abstractmethod
    def stage(self, file: Path, progress: Progress) -> AbstractContextManager[Address]:
        """Copy a released file beside the target, and give the address where the copy can be read.

        It gets its name if the block ends well, and is removed otherwise. What an earlier process of the same user
        left unfinished is removed, too.
        """


def parse_target(text: str) -> ReleaseTarget:
    """Return the target that a text names. Raises `InputError` if it names none."""
    scheme, _, rest = text.partition(":")
    if scheme.lower() in ("postgresql", "postgres", "spark", "spark-local"):
        address = parse_address(text)
        assert isinstance(address, Address)
        return _make_server_target(address)
    plain = rest if scheme.lower() == "duckdb" else text
    file, mark, table = plain.partition("#")
    suffix = Path(file).suffix.lower()
    if suffix in DATABASES and mark:
        from .duckdb_target import DuckDBTarget

        return DuckDBTarget(Address(text, EngineKind.DUCKDB, file, unquote(table)))
    if REMOTE.match(plain) or re.search(r"[*?\[]", plain) or suffix in (*DATABASES, *TEXT) or not plain:
        message = "This cannot be a target."
        remedy = (
            "Name a folder, a file that ends with .parquet, FILE.duckdb#schema.table, postgresql://…#schema.table, or "
            "spark://…/folder."
        )
        raise input_error("bad-address", message, remedy, file=text)
    return ParquetTarget(Path(plain)) if suffix in PARQUET else FolderTarget(Path(plain))


def _make_server_target(address: Address) -> ReleaseTarget:
    if address.kind is EngineKind.POSTGRESQL:
        from .postgresql_target import PostgreSQLTarget

        return PostgreSQLTarget(address)
    if address.table:
        from .spark_target import SparkTarget

        return SparkTarget(address)
    master, _, path = address.location.partition(" ")
    return FolderTarget(Path(path), master)


@dataclass(frozen=True)
class ParquetTarget(ReleaseTarget):
    """One Parquet file."""

    path: Path

    def check(self, progress: Progress) -> None:
        """Refuse to replace a file that is no earlier release."""
        _check_local_target(self.path)
        if not self.path.exists():
            return
        try:
            mark = (pq.read_schema(self.path).metadata or {}).get(_METADATA)
        except (pa.ArrowException, OSError):
            mark = None
        if mark != MARK.encode():
            raise target_in_use(str(self.path), "file")

    @contextmanager
    def stage(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage the file in a hidden folder beside its path."""
        self.check(progress)
        with staged_file(self.path) as copy:
            _copy_parts(file, progress, lambda number: copy, max_parts=1)
            yield Address(str(self.path), EngineKind.DUCKDB, str(copy))
            self.check(progress)


@dataclass(frozen=True)
class FolderTarget(ReleaseTarget):
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
            raise input_error("no-such-file", message, "Check the path.", file=self.path)
        if not self.master:
            _check_local_target(self.path)
        check_target(self.path, _NAMES)

    @contextmanager
    def stage(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Copy the file into a hidden folder beside the target; the folder gets its name if the block succeeds."""
        self.check(progress)
        with staged_folder(self.path, _NAMES) as folder:
            (folder / FOLDER_MARK).write_text(f"{MARK}\n", encoding="utf-8")
            if file.suffix == ".csv":
                _copy_bytes(file, folder / "part-00000.csv", progress)
            else:
                _copy_parts(file, progress, lambda number: folder / f"part-{number:05d}.parquet")
            if self.master:
                # Executors may be another user's.
                folder.chmod(0o755)
                yield Address(str(self.path), EngineKind.SPARK, f"{self.master} {folder}")
            else:
                yield Address(str(self.path), EngineKind.DUCKDB, str(folder))


def _check_local_target(path: Path) -> None:
    """Refuse a path that cannot be written, and a computer without the engine that reads the copy back."""
    from .duckdb_engine import open_database

    check_writable(path)
    open_database(Address(str(path), EngineKind.DUCKDB, str(path))).close()


def _copy_bytes(file: Path, copy: Path, progress: Progress) -> None:
    with file.open("rb") as source, copy.open("wb") as sink:
        while data := source.read(1 << 20):
            progress.update(STAGE)
            sink.write(data)


def _copy_parts(
    file: Path, progress: Progress, path_of: Callable[[int], Path], max_parts: int = _MAX_PARTS
) -> None:
    """Copy the rows of a Parquet file into one file or several of the same size; ``path_of`` names them by number."""
    with pq.ParquetFile(file) as source:
        rows = source.metadata.num_rows
        rows_per_part = rows if max_parts == 1 else max(_PART_ROWS, math.ceil(rows / max_parts))
        schema = source.schema_arrow.with_metadata(
            {**(source.schema_arrow.metadata or {}), _METADATA: MARK.encode()}
        )
        part = 0
        rows_in_part = 0
        rows_copied = 0
        writer = pq.ParquetWriter(path_of(part), schema)
        try:
            for batch in source.iter_batches(batch_size=_BATCH_ROWS):
                progress.update(STAGE, rows_copied / max(1, rows))
                if rows_in_part and rows_in_part + batch.num_rows > rows_per_part:
                    writer.close()
                    part += 1
                    rows_in_part = 0
                    writer = pq.ParquetWriter(path_of(part), schema)
                writer.write_batch(batch.replace_schema_metadata(schema.metadata))
                rows_in_part += batch.num_rows
                rows_copied += batch.num_rows
        finally:
            writer.close()


def split_table_name(target: Address) -> tuple[str, str]:
    """Return schema and name of the table that a target names."""
    schema, mark, name = target.table.partition(".")
    if not (schema and mark and name):
        message = "The target names no schema and table."
        raise input_error("bad-address", message, "Write schema.table behind #.", file=target)
    return schema, name


def target_in_use(target: str, kind: str = "table") -> InputError:
    """Return the error that the target is a file or table that is no release, which is not replaced."""
    message = f"The target is a {kind} that is no earlier release, so it is left alone."
    return input_error("target-taken", message, "Choose another name.", file=target)

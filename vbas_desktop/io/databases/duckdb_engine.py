"""Reads folders and patterns of Parquet and CSV files, and tables of DuckDB files, with DuckDB and little memory."""

from __future__ import annotations

import glob
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from vbas_desktop.io.access import NO_SUCH_FILE
from vbas_desktop.model.errors import InputError, refusal
from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.reading import RecordOptions

from .address import DATABASES, Address
from .datasets import Dataset, dataset_of, first_record_of, mark_of
from .engine import (
    LOOKING,
    OUT_OF_MEMORY,
    RECORDS,
    DatabaseEngine,
    Description,
    cast,
    changed,
    not_installed,
    quoted,
    watched,
    watched_batches,
)

MEMORY = "1GB"
"""How much DuckDB itself may use unless VBAS_DUCKDB_MEMORY says otherwise; the rest of the program needs some, too."""
_BATCH_ROWS = 1 << 17
_MOST_LINE_BYTES = 1 << 26
"""A line of text may have so many; DuckDB's buffers for 16 of them would be all the memory that it may use."""


class DuckDBEngine(DatabaseEngine):
    """Reads files and DuckDB tables through one connection to a database in memory; nothing of it is kept.

    Text files are parsed once (`ParsedText`).
    """

    def __init__(self, address: Address, options: RecordOptions, progress: Progress) -> None:
        self.address = address
        self._dataset: Dataset | None = None
        self._parsed: ParsedText | None = None
        self._connection = connect(address)
        try:
            if Path(address.place).suffix.lower() in DATABASES:
                header, schema = self._attach()
            else:
                self._dataset = dataset_of(address, options)
                header, schema = self._view(self._dataset, progress)
            size = self._dataset.size_bytes if self._dataset else os.stat(address.place).st_size
            self.description = Description(header, schema, self._number("count(*)", "", progress), size, self.mark())
        except BaseException:
            self.close()
            raise

    def mark(self) -> str:
        """Return what changes with the files; a database is one file."""
        return self._dataset.mark() if self._dataset is not None else mark_of([self.address.place])

    def _view(self, dataset: Dataset, progress: Progress) -> tuple[tuple[str, ...], Any]:
        """Name the rows of the files, with numbered columns."""
        self._parsed = None if dataset.is_parquet else ParsedText()
        forbid_other_files(self._connection, [dataset.folder], [] if self._parsed is None else [self._parsed.path])
        read = _read_files(dataset)
        order = self._order(dataset, read)
        # By place: DuckDB does not tell names apart that differ in case alone.
        aliases = ", ".join(f"r{place}" for place in range(len(order)))
        columns = ", ".join(f"r{found} AS c{place}" for place, found in enumerate(order))
        rows = f"SELECT {columns} FROM {read} AS t({aliases})"
        if self._parsed is not None:
            self._parsed.write(self.batches(rows, dataset.schema, progress, LOOKING), dataset.schema)
            rows = f"SELECT * FROM {self._parsed.table}"
        self._run(f"CREATE VIEW {RECORDS} AS {rows}")
        return dataset.header, dataset.schema

    @property
    def is_one_file(self) -> bool:
        """Tell whether the records are one file, which has a first record."""
        return self._dataset is not None and self._dataset.is_one_file

    def first_record(self) -> tuple[str, ...] | None:
        """Return the texts of the first record of the only file; None if it has no whole record of texts."""
        return None if self._dataset is None else first_record_of(self._dataset)

    def drop_first_record(self, progress: Progress) -> None:
        """Leave the first record of the only file out of the records from now on."""
        assert self._dataset is not None
        columns = ", ".join(self._dataset.schema.names)
        numbered = f"{_read_files(self._dataset, ', file_row_number=true')} AS t({columns}, row)"
        first = 0
        if self._parsed is not None:
            # The parsed rows are in no order, but any row with the values of the first one is as good.
            numbered = f"{self._parsed.numbered_table} AS t({columns}, row)"
            texts = zip(self._dataset.schema.names, self.first_record() or (), strict=True)
            same = " AND ".join(f"coalesce({name}, '') = {text_literal(text)}" for name, text in texts)
            query = f"SELECT coalesce(min(row), -1) FROM {numbered} WHERE {same}"
            first = self.fetch(query, None, progress, LOOKING).column(0)[0].as_py()
        rows = f"{numbered} WHERE row <> {first}"
        self._run(f"CREATE OR REPLACE VIEW {RECORDS} AS SELECT {columns} FROM {rows}")
        number = self.description.rows - 1
        if self._number("count(*)", "", progress) != number:
            message = "The line with the numbers of categories cannot be told from the names before it."
            raise refusal("category-line", message, "Take that line out of the file.", file=self.address)
        self.description = replace(self.description, rows=number)

    def _order(self, dataset: Dataset, read: str) -> list[int]:
        """Find where DuckDB has each column: those of folders are behind the others, in an order of its own."""
        names = self._run(f"SELECT * FROM {read} LIMIT 0").columns
        files = len(dataset.header) - len(dataset.partitions)
        behind = {name: place for place, name in enumerate(names) if place >= files}
        if len(names) != len(dataset.header) or set(behind) != set(dataset.partitions):
            message = "The names of the folders and the columns of the files do not go together."
            raise refusal("mixed-partitions", message, "Rename the folders.", file=self.address)
        return [*range(files), *(behind[name] for name in dataset.partitions)]

    def _attach(self) -> tuple[tuple[str, ...], Any]:
        """Open a DuckDB file for reading only, and name the rows of the table."""
        path = self.address.place
        if not os.path.isfile(path):
            raise refusal("no-such-file", NO_SUCH_FILE, "Check the path.", file=path)
        attach(self._connection, path)
        forbid_other_files(self._connection)
        tables = _tables(self._connection)
        wanted = self.address.table
        found = [each for each in tables if wanted in (f"{each[0]}.{each[1]}", each[1])]
        if len(found) != 1:
            listed = ", ".join(f"{schema}.{name}" for schema, name in tables[:10]) or "none"
            message = f"The file has no table “{wanted}”." if wanted else "The address names no table of the file."
            remedy = f"Write the name behind #, such as file.duckdb#main.visits. Tables: {listed}."
            raise refusal("no-such-table", message, remedy, file=path)
        schema, name = found[0]
        full = f"house.{quoted(schema)}.{quoted(name)}"
        result = self._run(f"SELECT * FROM {full} LIMIT 0").to_arrow_table()
        header = tuple(result.schema.names)
        names = ", ".join(f"c{place}" for place in range(len(header)))
        self._run(f"CREATE VIEW {RECORDS} AS SELECT * FROM {full} AS t({names})")
        return header, pa.schema([(f"c{place}", kind) for place, kind in enumerate(result.schema.types)])

    def _run(self, query: str) -> Any:
        with self._explaining():
            return self._connection.sql(query) if query.startswith("SELECT") else self._connection.execute(query)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Explain errors of DuckDB; a stop stays a stop."""
        import duckdb

        try:
            yield
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise self._explain(error) from None

    def _explain(self, error: Exception) -> InputError:
        """Explain an error without the content of records that DuckDB's messages quote."""
        import duckdb

        file, remedy = str(self.address), "Look at the files and try again."
        if isinstance(error, duckdb.PermissionException):
            message = "This view reads other files of your computer, which is not allowed."
            return refusal("reads-other-files", message, "Name a table, or a view of tables in this file.", file=file)
        if isinstance(error, duckdb.OutOfMemoryException):
            message = "DuckDB needs more memory than it may use."
            remedy = "Let it have more (VBAS_DUCKDB_MEMORY=4GB), or choose fewer quasi-identifiers."
            return refusal(OUT_OF_MEMORY, message, remedy, file=file)
        if isinstance(error, duckdb.IOException):
            if not hasattr(self, "description") or self.mark() != self.description.mark:
                return changed(self.address)
            message = "A file cannot be read or written; it may be gone, damaged, or the disk may be full."
            return refusal("unreadable", message, remedy, file=file)
        if isinstance(error, duckdb.InvalidInputException | duckdb.ConversionException):
            line = re.search(r"CSV Error on Line: (\d+)", str(error))
            row = int(line[1]) if line else None
            message = "Rows cannot be cut into the same number of fields, or their text is in another encoding."
            return refusal("bad-row", message, "Mend the files, or name delimiter and encoding.", file=file, row=row)
        return refusal("engine", f"DuckDB could not do this ({type(error).__name__}).", remedy, file=file)

    def fetch(self, query: str, types: Any, progress: Progress, stage: str) -> Any:
        """Return all of a result."""
        with closing(self._connection.cursor()) as cursor:

            def job() -> Any:
                with self._explaining():
                    return cursor.sql(query).to_arrow_table()

            table = watched(job, cursor.interrupt, progress, stage)
        return table if types is None else cast(table, types)

    def batches(self, query: str, types: Any, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield a result batch by batch."""
        with closing(self._connection.cursor()) as cursor:

            def stream() -> Iterator[Any]:
                with self._explaining():
                    for batch in cursor.sql(query).to_arrow_reader(_BATCH_ROWS):
                        yield cast(batch, types)

            yield from watched_batches(stream, cursor.interrupt, progress, stage)

    def parts(self, column: int, number: int) -> Sequence[str]:
        """Name the records, or views of those whose hashed value has one of so many remainders."""
        if number == 1:
            return (RECORDS,)
        names = [f"{RECORDS}_{part}_of_{number}" for part in range(number)]
        for part, name in enumerate(names):
            which = f"hash(c{column}) % {number} = {part}"
            self._run(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {RECORDS} WHERE {which}")
        return names

    def sample(self, share: float) -> str:
        """Name the records, or select a random share of them."""
        sampled = f"(SELECT * FROM {RECORDS} USING SAMPLE {100 * share:.6f} PERCENT (bernoulli, 1)) AS sampled"
        return RECORDS if share >= 1 else sampled

    def upload(self, name: str, columns: Mapping[str, Any], keys: Mapping[str, int], progress: Progress) -> None:
        """Make a table in memory."""
        table = pa.table(dict(columns))
        self._connection.register("vbas_incoming", table)
        try:
            self._run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM vbas_incoming")
        finally:
            self._connection.unregister("vbas_incoming")

    def content_hash(self, outputs: Sequence[str]) -> str:
        """Hash a row to 63 bits."""
        return f"(hash({', '.join(outputs)}) >> 1)::BIGINT"

    def close(self) -> None:
        """Close the connection and drop the parsed text."""
        self._connection.close()
        if self._parsed is not None:
            self._parsed.close()


class ParsedText:
    """Rows of text files, parsed once into a Parquet file: every query would parse the text again.

    The file has no name where the system can open it without one, so nothing of it is left by a killed process.
    """

    def __init__(self) -> None:
        folder = None
        if os.path.isdir("/dev/fd"):
            self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed with the engine)
            self.path = f"/dev/fd/{self._file.fileno()}"
        else:
            folder = tempfile.mkdtemp(prefix="vbas-duckdb-")
            self.path = os.path.join(folder, "rows.parquet")
            self._file = open(self.path, "w+b")  # noqa: SIM115
        # Whoever forgets the engine lets go of the rows.
        self.close = weakref.finalize(self, _drop_file, self._file, folder)

    @property
    def table(self) -> str:
        """Return the table function that reads the rows."""
        return f"read_parquet({text_literal(self.path)})"

    @property
    def numbered_table(self) -> str:
        """Return the table function that reads the rows with their numbers in the last column."""
        return f"read_parquet({text_literal(self.path)}, file_row_number=true)"

    def write(self, batches: Iterator[Any], schema: Any) -> None:
        """Write the rows; to be done once, before they are read."""
        with pq.ParquetWriter(self._file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        self._file.flush()


def _drop_file(file: IO[bytes], folder: str | None) -> None:
    """Close a temporary file and remove its folder, if it has one."""
    file.close()
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _read_files(dataset: Dataset, options: str = "") -> str:
    """Write the table function that reads the files of a dataset."""
    # DuckDB takes every name as a pattern: an unescaped [ab].parquet would read a.parquet instead.
    files = "[" + ", ".join(text_literal(glob.escape(path)) for path in dataset.files) + "]"
    folders = f"hive_partitioning={'true' if dataset.partitions else 'false'}, hive_types_autocast=false"
    if dataset.is_parquet:
        return f"read_parquet({files}, {folders}{options})"
    names = [text_literal(f"c{place}") for place in range(len(dataset.header) - len(dataset.partitions))]
    columns = ", ".join(f"{name}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({files}, {folders}, auto_detect=false, header=true, "
        f"delim={text_literal(dataset.delimiter or ',')}, quote='\"', escape='\"', "
        f"columns={{{columns}}}, encoding={text_literal(dataset.encoding)}, strict_mode=true, "
        f"max_line_size={_MOST_LINE_BYTES}, buffer_size={2 * _MOST_LINE_BYTES})"
    )


def connect(address: Address) -> Any:
    """Open a database in memory that fetches nothing and writes nothing by itself."""
    try:
        import duckdb
    except ImportError:
        raise not_installed(address, "duckdb") from None
    memory = os.environ.get("VBAS_DUCKDB_MEMORY", MEMORY)
    if not re.fullmatch(r"[1-9][0-9]*(MB|GB|TB)", memory):
        message = "VBAS_DUCKDB_MEMORY does not say how much memory DuckDB may use."
        raise refusal("bad-option", message, "Set it to a number of MB or GB, such as 4GB.")
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "memory_limit": memory,
            # Nothing of the records goes to a disk, where a killed process would leave it.
            "temp_directory": "",
            "preserve_insertion_order": "false",
        }
    )
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def attach(connection: Any, path: str, writing: bool = False) -> None:
    """Open a DuckDB file as ``house``."""
    import duckdb

    try:
        connection.execute(f"ATTACH {text_literal(path)} AS house{'' if writing else ' (READ_ONLY)'}")
    except duckdb.Error as error:
        raise refusal("bad-database", *_unopened(path, str(error), writing), file=path) from None


def _unopened(path: str, text: str, writing: bool) -> tuple[str, str]:
    """Say why a DuckDB file cannot be opened, and what to do."""
    if "lock" in text and "Corrupt" not in text:
        return "Another program uses this database.", "Close that program, and try again."
    with open(path, "rb") as file:
        is_database = file.read(12)[8:] == b"DUCK"
    if not is_database:
        return "This is not a DuckDB file.", "Choose another file."
    if writing and not os.access(path, os.W_OK):
        return "You may not write to this database.", "Check its permissions, or choose another file."
    if "version" in text and "Corrupt" not in text:
        return (
            "Another version of DuckDB wrote this database.",
            "Write it again with the version that is installed here.",
        )
    return "The database is damaged.", "Get a fresh copy of the file."


def forbid_other_files(connection: Any, folders: Sequence[str] = (), files: Sequence[str] = ()) -> None:
    """Let the connection open nothing but what is attached, what is in these folders, and these files, for good.

    A view in a file from elsewhere could otherwise read any file of the user.
    """
    allowed = ", ".join(text_literal(os.path.join(folder, "")) for folder in folders)
    connection.execute(f"SET allowed_directories = [{allowed}]")
    connection.execute(f"SET allowed_paths = [{', '.join(map(text_literal, files))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def tables_in_file(address: Address) -> list[str]:
    """List the tables and views of a DuckDB file, as schema.table."""
    with closing(connect(address)) as connection:
        attach(connection, address.place)
        forbid_other_files(connection)
        return [f"{schema}.{name}" for schema, name in _tables(connection)]


def _tables(connection: Any) -> list[tuple[str, str]]:
    """List schema and name of the tables and views of the attached file."""
    query = (
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'house' ORDER BY table_schema, table_name"
    )
    return [(schema, name) for schema, name in connection.execute(query).fetchall()]


def text_literal(text: str) -> str:
    """Write a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"

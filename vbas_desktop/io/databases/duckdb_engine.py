"""The DuckDB engine: reads folders and patterns of Parquet and CSV files, and tables of DuckDB files."""

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

from vbas_desktop.background import iterate_cancellable, run_cancellable
from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.reading import RecordReading

from ..input_checks import NO_SUCH_FILE
from .address import DATABASES, Address
from .datasets import Dataset, find_dataset, hash_file_states, read_first_record
from .engine import (
    DESCRIBING,
    OUT_OF_MEMORY,
    RECORDS,
    DatabaseEngine,
    RecordDescription,
    cast_to_schema,
    engine_not_installed,
    quote_name,
    records_changed,
)

MEMORY = "1GB"
"""Memory for DuckDB itself unless VBAS_DUCKDB_MEMORY is set; the rest of the program needs some, too."""
_BATCH_ROWS = 1 << 17
_MAX_LINE_BYTES = 1 << 26
"""Longest line of text; DuckDB's buffers for 16 of them would be all the memory that it may use."""


class DuckDBEngine(DatabaseEngine):
    """Reads files and DuckDB tables through one connection to a database in memory; nothing of it is kept.

    Text files are parsed once (`ParsedText`).
    """

    def __init__(self, address: Address, options: RecordReading, progress: Progress) -> None:
        self.address = address
        self._dataset: Dataset | None = None
        self._parsed: ParsedText | None = None
        self._connection = open_database(address)
        try:
            if Path(address.location).suffix.lower() in DATABASES:
                header, schema = self._attach()
            else:
                self._dataset = find_dataset(address, options)
                header, schema = self._create_view(self._dataset, progress)
            size = self._dataset.size_bytes if self._dataset else os.stat(address.location).st_size
            self.description = RecordDescription(
                header,
                schema,
                self._fetch_number("count(*)", "", progress),
                size,
                self.read_change_mark(),
            )
        except BaseException:
            self.close()
            raise

    def read_change_mark(self) -> str:
        """Return a text that changes with the files; a database is one file."""
        return (
            self._dataset.read_change_mark()
            if self._dataset is not None
            else hash_file_states([self.address.location])
        )

    def _create_view(self, dataset: Dataset, progress: Progress) -> tuple[tuple[str, ...], Any]:
        """Name the rows of the files, with numbered columns."""
        self._parsed = None if dataset.is_parquet else ParsedText()
        restrict_file_access(
            self._connection, [dataset.folder], [] if self._parsed is None else [self._parsed.path]
        )
        read = _read_files(dataset)
        order = self._find_column_order(dataset, read)
        # By position: DuckDB does not distinguish names that differ in case alone.
        aliases = ", ".join(f"r{position}" for position in range(len(order)))
        columns = ", ".join(f"r{position} AS c{number}" for number, position in enumerate(order))
        rows = f"SELECT {columns} FROM {read} AS t({aliases})"
        if self._parsed is not None:
            self._parsed.write(
                self.fetch_batches(rows, dataset.schema, progress, DESCRIBING), dataset.schema
            )
            rows = f"SELECT * FROM {self._parsed.table}"
        self._run(f"CREATE VIEW {RECORDS} AS {rows}")
        return dataset.header, dataset.schema

    @property
    def is_one_file(self) -> bool:
        """Tell whether the records are one file, which has a first record."""
        return self._dataset is not None and self._dataset.is_one_file

    def first_record(self) -> tuple[str, ...] | None:
        """Return the texts of the first record of the only file; None if it has no whole record of texts."""
        return None if self._dataset is None else read_first_record(self._dataset)

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
            same = " AND ".join(f"coalesce({name}, '') = {quote_text(text)}" for name, text in texts)
            query = f"SELECT coalesce(min(row), -1) FROM {numbered} WHERE {same}"
            first = self.fetch(query, None, progress, DESCRIBING).column(0)[0].as_py()
        rows = f"{numbered} WHERE row <> {first}"
        self._run(f"CREATE OR REPLACE VIEW {RECORDS} AS SELECT {columns} FROM {rows}")
        number = self.description.rows - 1
        if self._fetch_number("count(*)", "", progress) != number:
            message = "The line with the numbers of categories cannot be distinguished from the names before it."
            raise input_error(
                "category-line", message, "Take that line out of the file.", file=self.address
            )
        self.description = replace(self.description, rows=number)

    def _find_column_order(self, dataset: Dataset, read: str) -> list[int]:
        """Find the position of each column in DuckDB, which puts those of folders last, in an order of its own."""
        names = self._run(f"SELECT * FROM {read} LIMIT 0").columns
        files = len(dataset.header) - len(dataset.partitions)
        position_of = {name: position for position, name in enumerate(names) if position >= files}
        if len(names) != len(dataset.header) or set(position_of) != set(dataset.partitions):
            message = "The names of the folders and the columns of the files do not go together."
            raise input_error("mixed-partitions", message, "Rename the folders.", file=self.address)
        return [*range(files), *(position_of[name] for name in dataset.partitions)]

    def _attach(self) -> tuple[tuple[str, ...], Any]:
        """Open a DuckDB file for reading only, and name the rows of the table."""
        path = self.address.location
        if not os.path.isfile(path):
            raise input_error("no-such-file", NO_SUCH_FILE, "Check the path.", file=path)
        attach_file(self._connection, path)
        restrict_file_access(self._connection)
        tables = _tables(self._connection)
        requested = self.address.table
        matching = [(schema, name) for schema, name in tables if requested in (f"{schema}.{name}", name)]
        if len(matching) != 1:
            listed = ", ".join(f"{schema}.{name}" for schema, name in tables[:10]) or "none"
            message = (
                f"The file has no table “{requested}”."
                if requested
                else "The address names no table of the file."
            )
            remedy = f"Write the name behind #, such as file.duckdb#main.visits. Tables: {listed}."
            raise input_error("no-such-table", message, remedy, file=path)
        schema, name = matching[0]
        full = f"house.{quote_name(schema)}.{quote_name(name)}"
        result = self._run(f"SELECT * FROM {full} LIMIT 0").to_arrow_table()
        header = tuple(result.schema.names)
        names = ", ".join(f"c{number}" for number in range(len(header)))
        self._run(f"CREATE VIEW {RECORDS} AS SELECT * FROM {full} AS t({names})")
        types = [(f"c{number}", column_type) for number, column_type in enumerate(result.schema.types)]
        return header, pa.schema(types)

    def _run(self, query: str) -> Any:
        with self._explain_errors():
            return (
                self._connection.sql(query)
                if query.startswith("SELECT")
                else self._connection.execute(query)
            )

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Explain errors of DuckDB; a stop stays a stop."""
        import duckdb

        try:
            yield
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise self._describe_error(error) from None

    def _describe_error(self, error: Exception) -> InputError:
        """Explain an error without the content of records that DuckDB's messages quote."""
        import duckdb

        file = str(self.address)
        remedy = "Look at the files and try again."
        if isinstance(error, duckdb.PermissionException):
            message = "This view reads other files of your computer, which is not allowed."
            return input_error(
                "reads-other-files",
                message,
                "Name a table, or a view of tables in this file.",
                file=file,
            )
        if isinstance(error, duckdb.OutOfMemoryException):
            message = "DuckDB needs more memory than it may use."
            remedy = "Let it have more (VBAS_DUCKDB_MEMORY=4GB), or choose fewer quasi-identifiers."
            return input_error(OUT_OF_MEMORY, message, remedy, file=file)
        if isinstance(error, duckdb.IOException):
            if (
                not hasattr(self, "description")
                or self.read_change_mark() != self.description.change_mark
            ):
                return records_changed(self.address)
            message = (
                "A file cannot be read or written; it may be gone, damaged, or the disk may be full."
            )
            return input_error("unreadable", message, remedy, file=file)
        if isinstance(error, duckdb.InvalidInputException | duckdb.ConversionException):
            line_number = re.search(r"CSV Error on Line: (\d+)", str(error))
            row = int(line_number[1]) if line_number else None
            message = "Rows cannot be cut into the same number of fields, or their text is in another encoding."
            return input_error(
                "bad-row", message, "Mend the files, or name delimiter and encoding.", file=file, row=row
            )
        return input_error(
            "engine", f"DuckDB could not do this ({type(error).__name__}).", remedy, file=file
        )

    def fetch(self, query: str, types: Any, progress: Progress, stage: str) -> Any:
        """Return all of a result."""
        with closing(self._connection.cursor()) as cursor:

            def fetch_table() -> Any:
                with self._explain_errors():
                    return cursor.sql(query).to_arrow_table()

            table = run_cancellable(fetch_table, progress, stage, cancel=cursor.interrupt)
        return table if types is None else cast_to_schema(table, types)

    def fetch_batches(self, query: str, types: Any, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield a result batch by batch."""
        with closing(self._connection.cursor()) as cursor:

            def read_batches() -> Iterator[Any]:
                with self._explain_errors():
                    for batch in cursor.sql(query).to_arrow_reader(_BATCH_ROWS):
                        yield cast_to_schema(batch, types)

            yield from iterate_cancellable(read_batches, progress, stage, cancel=cursor.interrupt)

    def split_records(self, column: int, number: int) -> Sequence[str]:
        """Return the name of the records, or of one view for each remainder of the hashed values by ``number``."""
        if number == 1:
            return (RECORDS,)
        names = [f"{RECORDS}_{part}_of_{number}" for part in range(number)]
        for part, name in enumerate(names):
            condition = f"hash(c{column}) % {number} = {part}"
            self._run(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {RECORDS} WHERE {condition}")
        return names

    def sample_expression(self, share: float) -> str:
        """Name the records, or select a random share of them."""
        sampled = (
            f"(SELECT * FROM {RECORDS} USING SAMPLE {100 * share:.6f} PERCENT (bernoulli, 1)) AS sampled"
        )
        return RECORDS if share >= 1 else sampled

    def upload(
        self, name: str, columns: Mapping[str, Any], keys: Mapping[str, int], progress: Progress
    ) -> None:
        """Make a table in memory."""
        table = pa.table(dict(columns))
        self._connection.register("vbas_incoming", table)
        try:
            self._run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM vbas_incoming")
        finally:
            self._connection.unregister("vbas_incoming")

    def row_hash_expression(self, outputs: Sequence[str]) -> str:
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
        # The rows go with the engine, even if nobody closes it.
        self.close = weakref.finalize(self, _drop_file, self._file, folder)

    @property
    def table(self) -> str:
        """Return the table function that reads the rows."""
        return f"read_parquet({quote_text(self.path)})"

    @property
    def numbered_table(self) -> str:
        """Return the table function that reads the rows with their numbers in the last column."""
        return f"read_parquet({quote_text(self.path)}, file_row_number=true)"

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
    files = "[" + ", ".join(quote_text(glob.escape(path)) for path in dataset.files) + "]"
    folders = f"hive_partitioning={'true' if dataset.partitions else 'false'}, hive_types_autocast=false"
    if dataset.is_parquet:
        return f"read_parquet({files}, {folders}{options})"
    names = [quote_text(f"c{number}") for number in range(len(dataset.header) - len(dataset.partitions))]
    columns = ", ".join(f"{name}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({files}, {folders}, auto_detect=false, header=true, "
        f"delim={quote_text(dataset.delimiter or ',')}, quote='\"', escape='\"', "
        f"columns={{{columns}}}, encoding={quote_text(dataset.encoding)}, strict_mode=true, "
        f"max_line_size={_MAX_LINE_BYTES}, buffer_size={2 * _MAX_LINE_BYTES})"
    )


def open_database(address: Address) -> Any:
    """Open a database in memory that fetches nothing and writes nothing by itself."""
    try:
        import duckdb
    except ImportError:
        raise engine_not_installed(address, "duckdb") from None
    memory = os.environ.get("VBAS_DUCKDB_MEMORY", MEMORY)
    if not re.fullmatch(r"[1-9][0-9]*(MB|GB|TB)", memory):
        message = "VBAS_DUCKDB_MEMORY does not say how much memory DuckDB may use."
        raise input_error("bad-option", message, "Set it to a number of MB or GB, such as 4GB.")
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


def attach_file(connection: Any, path: str, writing: bool = False) -> None:
    """Open a DuckDB file as ``house``."""
    import duckdb

    try:
        connection.execute(f"ATTACH {quote_text(path)} AS house{'' if writing else ' (READ_ONLY)'}")
    except duckdb.Error as error:
        raise input_error(
            "bad-database", *_explain_unopened(path, str(error), writing), file=path
        ) from None


def _explain_unopened(path: str, text: str, writing: bool) -> tuple[str, str]:
    """Explain why a DuckDB file cannot be opened, and what to do."""
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


def restrict_file_access(
    connection: Any, folders: Sequence[str] = (), files: Sequence[str] = ()
) -> None:
    """Let the connection open nothing but what is attached, what is in these folders, and these files, for good.

    A view in a file from elsewhere could otherwise read any file of the user.
    """
    allowed = ", ".join(quote_text(os.path.join(folder, "")) for folder in folders)
    connection.execute(f"SET allowed_directories = [{allowed}]")
    connection.execute(f"SET allowed_paths = [{', '.join(map(quote_text, files))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def list_file_tables(address: Address) -> list[str]:
    """List the tables and views of a DuckDB file, as schema.table."""
    with closing(open_database(address)) as connection:
        attach_file(connection, address.location)
        restrict_file_access(connection)
        return [f"{schema}.{name}" for schema, name in _tables(connection)]


def _tables(connection: Any) -> list[tuple[str, str]]:
    """List schema and name of the tables and views of the attached file."""
    query = (
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'house' ORDER BY table_schema, table_name"
    )
    return [(schema, name) for schema, name in connection.execute(query).fetchall()]


def quote_text(text: str) -> str:
    """Write a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"

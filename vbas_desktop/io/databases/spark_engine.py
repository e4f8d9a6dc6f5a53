"""The Spark engine: executors of a cluster or of this machine count and join Parquet files or a table."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import socket
import socketserver
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa

from vbas_desktop.background import iterate_cancellable, run_cancellable
from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.reading import RecordReading

from ..output import make_locked_folder, remove_unlocked_folder
from .address import Address
from .datasets import Dataset, find_dataset
from .engine import (
    RECORDS,
    DatabaseEngine,
    RecordDescription,
    cast_to_schema,
    engine_not_installed,
    records_changed,
)

T = TypeVar("T")

PROGRAM = "vbas-desktop"
_STAGE = "Asking Spark"
_CONNECT_SECONDS = 15
_FOLDER = "vbas-spark-"
_LOCAL = ("127.0.0.1", "localhost", "::1")


class SparkEngine(DatabaseEngine):
    """A session of Spark that is shared by all tables at the same master and ends with the last of them."""

    random_expression = "rand(1)"

    def __init__(self, address: Address, progress: Progress) -> None:
        self.address = address
        master, _, path = address.location.partition(" ")
        self._dataset = _find_local_dataset(address, path) if path else None
        self._session = _start_session(address, master, progress)
        self._close = weakref.finalize(self, _release_session, master)
        try:
            header, schema = self._run_cancellable(lambda: self._create_view(path), progress, _STAGE)
            rows = self._run_cancellable(lambda: self._session.table(RECORDS).count(), progress, _STAGE)
            size = self._dataset.size_bytes if self._dataset else 0
            self.description = RecordDescription(header, schema, rows, size, self.read_change_mark())
        except BaseException:
            self._close()
            raise

    def _create_view(self, path: str) -> tuple[tuple[str, ...], Any]:
        from pyspark.sql.pandas.types import to_arrow_schema

        frame = self._session.read.parquet(path) if path else self._session.table(self.address.table)
        named = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
        named.createOrReplaceTempView(RECORDS)
        if self._dataset is not None:
            if tuple(frame.columns) != self._dataset.header:
                message = "Spark sees other columns in the folder than its files have."
                raise input_error(
                    "columns-differ", message, "Name the files’ own folder.", file=self.address
                )
            return self._dataset.header, self._dataset.schema
        types = to_arrow_schema(named.schema)
        return tuple(frame.columns), pa.schema(list(zip(types.names, types.types, strict=True)))

    def _run_cancellable(self, work: Callable[[], T], progress: Progress, stage: str) -> T:
        def run() -> T:
            with explain_spark_errors(self.address):
                return work()

        return run_cancellable(run, progress, stage, cancel=self._cancel)

    def _cancel(self) -> None:
        # The session is the program's own, so nobody else's work is in it.
        with contextlib.suppress(Exception):
            self._session.sparkContext.cancelAllJobs()

    def fetch(self, query: str, types: Any, progress: Progress, stage: str) -> Any:
        """Return all of a result."""
        table = self._run_cancellable(lambda: self._session.sql(query).toArrow(), progress, stage)
        return table if types is None else cast_to_schema(table, types)

    def fetch_batches(self, query: str, types: Any, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield a result in batches: executors pack them, the driver hands one partition after the other out."""

        def read_batches() -> Iterator[Any]:
            with explain_spark_errors(self.address):
                packed = self._session.sql(query).mapInArrow(_make_packing(), "packed binary")
                for row in packed.toLocalIterator(prefetchPartitions=True):
                    for batch in pa.ipc.open_stream(pa.py_buffer(bytes(row[0]))):
                        yield cast_to_schema(batch, types)

        return iterate_cancellable(read_batches, progress, stage, cancel=self._cancel)

    def upload(
        self, name: str, columns: Mapping[str, Any], keys: Mapping[str, int], progress: Progress
    ) -> None:
        """Make a small table in the session."""

        def create_view() -> None:
            self._session.createDataFrame(pa.table(dict(columns))).createOrReplaceTempView(name)

        self._run_cancellable(create_view, progress, _STAGE)

    def row_hash_expression(self, outputs: Sequence[str]) -> str:
        """Hash a row to 64 bits."""
        return f"xxhash64({', '.join(outputs)})"

    def read_change_mark(self) -> str:
        """Return the mark of the files if this machine has them; changes of tables are found by counting again."""
        return self._dataset.read_change_mark() if self._dataset else ""

    def close(self) -> None:
        """Let go of the session."""
        self._close()


def _make_packing() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that executors run: Arrow batches as bytes, one value each.

    It is defined inside, so that it is sent to them whole: they lack this program.
    """

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_arrays(
                [pa.array([sink.getvalue().to_pybytes()], pa.binary())], names=["packed"]
            )

    return pack


@contextlib.contextmanager
def explain_spark_errors(address: Address) -> Iterator[None]:
    """Raise errors of Spark as `InputError`, which quotes no values."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError, EOFError) as error:
        raise describe_spark_error(error, address) from None


@contextlib.contextmanager
def open_session(address: Address, progress: Progress) -> Iterator[Any]:
    """Hold the session at the master of an address for as long as the block lasts."""
    master = address.location.partition(" ")[0]
    session = _start_session(address, master, progress)
    try:
        yield session
    finally:
        _release_session(master)


class ScratchFolder:
    """The folder for what Spark puts on the disk of this machine; it goes with the session.

    Its name cannot be guessed, so that nobody can make it first. It is locked as long as this program lives; those that
    killed programs of this user left behind are removed.
    """

    def __init__(self) -> None:
        parent = Path(tempfile.gettempdir())
        # Folders of others may begin with the same word.
        for leftover in parent.glob(_FOLDER + 16 * "[0-9a-f]"):
            remove_unlocked_folder(leftover)
        self._lock = contextlib.ExitStack()
        self.path = make_locked_folder(parent, _FOLDER, self._lock)

    def remove(self) -> None:
        """Remove the folder and give its lock back."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def scratch_folder(address: Address) -> Path:
    """Return the scratch folder of the session at the master of an address, which is open."""
    return _scratch_folders[address.location.partition(" ")[0]].path


_lock = threading.Lock()
_users: dict[str, int] = {}
_sessions: dict[str, Any] = {}
_scratch_folders: dict[str, ScratchFolder] = {}


def _start_session(address: Address, master: str, progress: Progress) -> Any:
    """Start or share the session at a master. Nothing can cancel that, so a stop waits for it."""
    return run_cancellable(
        lambda: _share_session(address, master), progress, "Starting Spark", cancel=lambda: None
    )


def _share_session(address: Address, master: str) -> Any:
    """Start or share the session at a master; there can be one at a time in a process."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise engine_not_installed(address, "pyspark") from None
    with _lock:
        if any(number and other != master for other, number in _users.items()):
            message = "Another Spark master is in use by this program."
            raise input_error("engine", message, "Close its data first.", file=address)
        _check_master(address, master)
        if _is_local(master):
            # Executors of this machine have the program's own Python, those of others the one that is installed there.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if master not in _scratch_folders:
            _scratch_folders[master] = ScratchFolder()
        builder = SparkSession.builder.master(master).appName(PROGRAM)
        for name, value in _session_settings(master, _scratch_folders[master].path).items():
            builder = builder.config(name, value)
        try:
            # Spark warns of every newer pandas, which is not used here.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
            # The loss of Java is explained to whoever waits for an answer.
            warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark")
            for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
                # They would print queries with Java's messages on them.
                logging.getLogger(name).disabled = True
            logging.getLogger().addFilter(_is_not_from_java)
            _silence_accumulators()
            with _silence_stderr():
                session = builder.getOrCreate()
                session.sparkContext.setLogLevel("OFF")
        except Exception as error:  # noqa: BLE001 (Java, its absence and the network fail in many ways)
            _scratch_folders.pop(master).remove()
            raise _describe_start_error(error, address) from None
        _users[master] = _users.get(master, 0) + 1
        _sessions[master] = session
        return session


def _check_master(address: Address, master: str) -> None:
    """Refuse a master that does not answer: Spark itself would try for a minute, and not say why."""
    if not master.startswith("spark://"):
        return
    parts = urlsplit(master)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), _CONNECT_SECONDS).close()
    except socket.gaierror:
        raise input_error(
            "no-such-host", "There is no host of this name.", "Check the address.", file=address
        ) from None
    except OSError:
        raise _no_master(address) from None


def _session_settings(master: str, scratch: Path) -> dict[str, str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.autoBroadcastJoinThreshold": str(64 << 20),
        "spark.sql.shuffle.partitions": "16",
        "spark.driver.maxResultSize": "0",
        "spark.scheduler.mode": "FIFO",
    }
    if _is_local(master):
        # Rows that wait for others lie here, where the next process finds and removes what a killed one left.
        settings["spark.local.dir"] = str(scratch / "waiting")
        if "spark.sql.warehouse.dir" not in _read_user_defaults():
            # Spark makes this folder, which nothing is put into; beside the user's files it would only puzzle.
            settings["spark.sql.warehouse.dir"] = str(scratch / "warehouse")
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def _read_user_defaults() -> dict[str, str]:
    """Read the settings of the user's own spark-defaults.conf."""
    home = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")
    try:
        lines = (Path(home) / "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (
        re.split(r"[\s=:]+", line.strip(), maxsplit=1)
        for line in lines
        if line.strip()[:1] not in ("", "#")
    )
    return {pair[0]: pair[-1] for pair in pairs}


def _is_local(master: str) -> bool:
    return not master.startswith("spark://") or urlsplit(master).hostname in _LOCAL


@contextlib.contextmanager
def _silence_stderr() -> Iterator[None]:
    """Send what Java prints while it starts to nowhere: it would stand between the program's own lines."""
    sys.stderr.flush()
    stderr = os.dup(2)
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(null_device)


def _silence_accumulators() -> None:
    """Keep Spark's servers of accumulators from printing a traceback when Java is gone.

    `handle_error` is what a class of `socketserver` is meant to override for that.
    """
    from pyspark import accumulators

    for kind in vars(accumulators).values():
        if isinstance(kind, type) and issubclass(kind, socketserver.BaseServer):
            kind.handle_error = lambda *_: None  # type: ignore[method-assign]


def _is_not_from_java(record: logging.LogRecord) -> bool:
    """Tell whether a message is not the traceback of a lost Java, which whoever waits for an answer explains."""
    return record.module != "java_gateway"


def _release_session(master: str) -> None:
    with _lock:
        _users[master] = max(0, _users.get(master, 0) - 1)
        if _users[master]:
            return
        session = _sessions.pop(master, None)
        if session is not None:
            with contextlib.suppress(Exception):
                session.stop()
            _scratch_folders.pop(master).remove()


def _find_local_dataset(address: Address, path: str) -> Dataset | None:
    """Find the files, if the folder is one that this machine has, too."""
    if not Path(path).exists():
        return None
    return find_dataset(Address(address.text, address.kind, path), RecordReading())


def _describe_start_error(error: Exception, address: Address) -> InputError:
    text = f"{type(error).__name__} {error}"
    if "JAVA" in text.upper() or isinstance(error, FileNotFoundError):
        message = "Spark cannot start: Java 17 or newer is needed."
        return input_error(
            "engine-missing", message, "Install it (Debian: default-jre-headless).", file=address
        )
    return _no_master(address)


def _no_master(address: Address) -> InputError:
    message = "No Spark master answers there."
    return input_error("no-server", message, "Check host and port, and whether it runs.", file=address)


_LOST_CONNECTION_TEXTS = (
    "SparkContext was shut down", "stopped SparkContext", "Master removed our application", "ExecutorLostFailure",
    "masters are unresponsive", "JAVA_GATEWAY", "Answer from Java side is empty", "while sending or receiving",
    "An error occurred while trying to connect to the Java server",
)  # fmt: skip


_ERRORS = (
    (("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"), "no-such-table", "There is no such table.", "Check its name."),
    (("PATH_NOT_FOUND",), "no-such-file", "There is no such folder.", "Check the path."),
    (("UNABLE_TO_INFER_SCHEMA",), "no-such-file", "There are no Parquet files here.", "Check the path."),
    (("UNRESOLVED_COLUMN",), "no-such-column", "A column no longer exists.", "Load it again."),
    (("DATATYPE_MISMATCH", "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE"), "no-fit",
     "A column has a type that cannot be grouped or compared.", "Leave it out, or cast it to text."),
    (("AccessControl", "Permission denied"), "no-rights", "You may not read this.", "Ask for the right."),
    (("ModuleNotFoundError",), "engine-missing", "The executors’ Python lacks pyarrow.",
     "Install it there (PYSPARK_PYTHON says which Python)."),
)  # fmt: skip
"""Texts in an error of Spark, with code, message and remedy."""


def describe_spark_error(error: Exception, address: Address) -> InputError:
    """Return the input error for an error of Spark, whose own text may quote values."""
    text = str(error)
    for parts, code, message, remedy in _ERRORS:
        if any(part in text for part in parts):
            return input_error(code, message, remedy, file=address)
    if "FileNotFound" in text or "FAILED_READ_FILE" in text:
        return records_changed(address)
    if isinstance(error, ConnectionError | EOFError) or any(
        part in text for part in _LOST_CONNECTION_TEXTS
    ):
        message = "The connection to Spark was lost; what was begun was given up."
        return input_error("connection-lost", message, "Try again when the cluster runs.", file=address)
    message = f"Spark could not do this ({type(error).__name__})."
    return input_error("engine", message, "Ask who runs the cluster.", file=address)

"""Reads a folder of Parquet files or a table with Spark: executors of a cluster or of this machine count and join."""

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

from vbas_desktop.io.exchange import is_own_folder
from vbas_desktop.io.output import lives
from vbas_desktop.model.errors import InputError, refusal
from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.reading import RecordOptions

from .address import Address
from .datasets import Dataset, dataset_of
from .engine import RECORDS, DatabaseEngine, Description, cast, changed, not_installed, watched, watched_batches

T = TypeVar("T")

PROGRAM = "vbas-desktop"
_STAGE = "Asking Spark"
_CONNECT_SECONDS = 15
_FOLDER = "vbas-spark-"
_LOCAL = ("127.0.0.1", "localhost", "::1")


class SparkEngine(DatabaseEngine):
    """A session of Spark that is shared by all tables at the same master and ends with the last of them."""

    random = "rand(1)"

    def __init__(self, address: Address, progress: Progress) -> None:
        self.address = address
        master, _, path = address.place.partition(" ")
        self._dataset = _seen_from_here(address, path) if path else None
        self._session = watched(lambda: _session(address, master), lambda: None, progress, "Starting Spark")
        self._close = weakref.finalize(self, _let_go, master)
        try:
            header, schema = self._watched(lambda: self._view(path), progress, _STAGE)
            rows = self._watched(lambda: self._session.table(RECORDS).count(), progress, _STAGE)
            size = self._dataset.size_bytes if self._dataset else 0
            self.description = Description(header, schema, rows, size, self.mark())
        except BaseException:
            self._close()
            raise

    def _view(self, path: str) -> tuple[tuple[str, ...], Any]:
        from pyspark.sql.pandas.types import to_arrow_schema

        found = self._session.read.parquet(path) if path else self._session.table(self.address.table)
        named = found.toDF(*(f"c{place}" for place in range(len(found.columns))))
        named.createOrReplaceTempView(RECORDS)
        if self._dataset is not None:
            if tuple(found.columns) != self._dataset.header:
                message = "Spark sees other columns in the folder than its files have."
                raise refusal("columns-differ", message, "Name the files’ own folder.", file=self.address)
            return self._dataset.header, self._dataset.schema
        types = to_arrow_schema(named.schema)
        return tuple(found.columns), pa.schema(list(zip(types.names, types.types, strict=True)))

    def _watched(self, job: Callable[[], T], progress: Progress, stage: str) -> T:
        return watched(lambda: self._telling(job), self._cancel, progress, stage)

    def _telling(self, job: Callable[[], T]) -> T:
        return telling(job, self.address)

    def _cancel(self) -> None:
        # The session is the program's own, so nobody else's work is in it.
        with contextlib.suppress(Exception):
            self._session.sparkContext.cancelAllJobs()

    def fetch(self, query: str, types: Any, progress: Progress, stage: str) -> Any:
        """Return all of a result."""
        table = self._watched(lambda: self._session.sql(query).toArrow(), progress, stage)
        return table if types is None else cast(table, types)

    def batches(self, query: str, types: Any, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield a result in batches: executors pack them, the driver hands one partition after the other out."""

        def stream() -> Iterator[Any]:
            packed = self._session.sql(query).mapInArrow(_packing(), "packed binary")
            rows = self._telling(lambda: packed.toLocalIterator(prefetchPartitions=True))
            while (row := self._telling(lambda: next(rows, None))) is not None:
                for batch in pa.ipc.open_stream(pa.py_buffer(bytes(row[0]))):
                    yield cast(batch, types)

        return watched_batches(stream, self._cancel, progress, stage)

    def upload(self, name: str, columns: Mapping[str, Any], keys: Mapping[str, int], progress: Progress) -> None:
        """Make a small table in the session."""

        def job() -> None:
            self._session.createDataFrame(pa.table(dict(columns))).createOrReplaceTempView(name)

        self._watched(job, progress, _STAGE)

    def content_hash(self, outputs: Sequence[str]) -> str:
        """Hash a row to 64 bits."""
        return f"xxhash64({', '.join(outputs)})"

    def mark(self) -> str:
        """Return the mark of the files, if this machine has them; of tables the verification notices changes."""
        return self._dataset.mark() if self._dataset else ""

    def close(self) -> None:
        """Let go of the session."""
        self._close()


def _packing() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Make what executors run: Arrow batches as bytes, one value each. Made here, since they lack this program."""

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], names=["packed"])

    return packed


def telling(job: Callable[[], T], address: Address) -> T:
    """Do a job at Spark, and explain its errors."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return job()
    except (PySparkException, Py4JError, ConnectionError, EOFError) as error:
        raise told(error, address) from None


@contextlib.contextmanager
def session_at(address: Address, progress: Progress) -> Iterator[Any]:
    """Hold the session at the master of an address for as long as the block lasts."""
    master = address.place.partition(" ")[0]
    session = watched(lambda: _session(address, master), lambda: None, progress, "Starting Spark")
    try:
        yield session
    finally:
        _let_go(master)


_lock = threading.Lock()
_users: dict[str, int] = {}
_sessions: dict[str, Any] = {}
_scratch_folders: dict[str, Path] = {}


def _session(address: Address, master: str) -> Any:
    """Start or share the session at a master; there can be one at a time in a process."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise not_installed(address, "pyspark") from None
    with _lock:
        if any(number and other != master for other, number in _users.items()):
            message = "Another Spark master is in use by this program."
            raise refusal("engine", message, "Close its data first.", file=address)
        _look_for(address, master)
        if _is_here(master):
            # Executors of this machine have the program's own Python, those of others the one that is installed there.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if master not in _scratch_folders:
            _scratch_folders[master] = _make_scratch_folder()
        builder = SparkSession.builder.master(master).appName(PROGRAM)
        for name, value in _settings(master, _scratch_folders[master]).items():
            builder = builder.config(name, value)
        try:
            # Spark says this of every newer pandas, which is not used here.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
            # That Java is gone is told in words to whoever waits for it.
            warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark")
            for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
                # They would print queries with all that Java says about them.
                logging.getLogger(name).disabled = True
            logging.getLogger().addFilter(_is_not_of_java)
            _silence_accumulators()
            with _quiet():
                session = builder.getOrCreate()
                session.sparkContext.setLogLevel("OFF")
        except Exception as error:  # noqa: BLE001 (Java, its absence and the network fail in many ways)
            shutil.rmtree(_scratch_folders.pop(master), ignore_errors=True)
            raise _not_started(error, address) from None
        _users[master], _sessions[master] = _users.get(master, 0) + 1, session
        return session


def _look_for(address: Address, master: str) -> None:
    """Refuse a master that does not answer: Spark itself would try for a minute, and not say why."""
    if not master.startswith("spark://"):
        return
    parts = urlsplit(master)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), _CONNECT_SECONDS).close()
    except socket.gaierror:
        raise refusal("no-such-host", "There is no host of this name.", "Check the address.", file=address) from None
    except OSError:
        raise _no_master(address) from None


def _settings(master: str, scratch: Path) -> dict[str, str]:
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
    if _is_here(master):
        # Rows that wait for others lie here, where the next process finds and removes what a killed one left.
        settings["spark.local.dir"] = str(scratch / "waiting")
        if "spark.sql.warehouse.dir" not in _defaults():
            # Spark makes this folder, which nothing is put into; beside the user's files it would only puzzle.
            settings["spark.sql.warehouse.dir"] = str(scratch / "warehouse")
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def _make_scratch_folder() -> Path:
    """Make the folder for what Spark puts on the disk of this machine; it goes with the session.

    Its name cannot be guessed, so that nobody can make it first. Those that killed processes of this user left behind
    are removed.
    """
    for leftover in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        process = leftover.name.removeprefix(_FOLDER).partition("-")[0]
        if process.isdigit() and not lives(int(process)) and is_own_folder(leftover):
            shutil.rmtree(leftover, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-"))


def _defaults() -> dict[str, str]:
    """Read the settings of the user's own spark-defaults.conf."""
    home = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")
    try:
        lines = (Path(home) / "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (re.split(r"[\s=:]+", line.strip(), maxsplit=1) for line in lines if line.strip()[:1] not in ("", "#"))
    return {pair[0]: pair[-1] for pair in pairs}


def _is_here(master: str) -> bool:
    return not master.startswith("spark://") or urlsplit(master).hostname in _LOCAL


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """While Java starts, what it says on its way goes nowhere: it would stand between the program's own lines."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _silence_accumulators() -> None:
    """Keep Spark's servers of accumulators from printing a traceback when Java is gone.

    `handle_error` is what a class of `socketserver` is meant to override for that.
    """
    from pyspark import accumulators

    for kind in vars(accumulators).values():
        if isinstance(kind, type) and issubclass(kind, socketserver.BaseServer):
            kind.handle_error = lambda *_: None  # type: ignore[method-assign]


def _is_not_of_java(record: logging.LogRecord) -> bool:
    """Tell whether a message is not the traceback of a lost Java, which whoever waits for an answer explains."""
    return record.module != "java_gateway"


def _let_go(master: str) -> None:
    with _lock:
        _users[master] = max(0, _users.get(master, 0) - 1)
        if _users[master]:
            return
        session = _sessions.pop(master, None)
        if session is not None:
            with contextlib.suppress(Exception):
                session.stop()
            shutil.rmtree(_scratch_folders.pop(master), ignore_errors=True)


def _seen_from_here(address: Address, path: str) -> Dataset | None:
    """Find the files, if the folder is one that this machine has, too."""
    if not Path(path).exists():
        return None
    return dataset_of(Address(address.text, address.kind, path), RecordOptions())


def _not_started(error: Exception, address: Address) -> InputError:
    text = f"{type(error).__name__} {error}"
    if "JAVA" in text.upper() or isinstance(error, FileNotFoundError):
        message = "Spark cannot start: Java 17 or newer is needed."
        return refusal("engine-missing", message, "Install it (Debian: default-jre-headless).", file=address)
    return _no_master(address)


def _no_master(address: Address) -> InputError:
    message = "No Spark master answers there."
    return refusal("no-server", message, "Check host and port, and whether it runs.", file=address)


_LOST = (
    "SparkContext was shut down", "stopped SparkContext", "Master removed our application", "ExecutorLostFailure",
    "masters are unresponsive", "JAVA_GATEWAY", "Answer from Java side is empty", "while sending or receiving",
    "An error occurred while trying to connect to the Java server",
)  # fmt: skip


_TOLD = (
    (("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"), "no-such-table", "There is no such table.", "Check its name."),
    (("PATH_NOT_FOUND",), "no-such-file", "There is no such folder.", "Check the path."),
    (("UNABLE_TO_INFER_SCHEMA",), "no-such-file", "There are no Parquet files here.", "Check the path."),
    (("UNRESOLVED_COLUMN",), "no-such-column", "A column is not there any more.", "Load it again."),
    (("DATATYPE_MISMATCH", "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE"), "no-fit",
     "A column has a type that cannot be grouped or compared.", "Leave it out, or cast it to text."),
    (("AccessControl", "Permission denied"), "no-rights", "You may not read this.", "Ask for the right."),
    (("ModuleNotFoundError",), "engine-missing", "The executors’ Python lacks pyarrow.",
     "Install it there (PYSPARK_PYTHON says which Python)."),
)  # fmt: skip
"""What stands in an error of Spark, and what is said of it."""


def told(error: Exception, address: Address) -> InputError:
    """Explain an error of Spark; its own text may quote values, so only what is harmless is passed on."""
    text = str(error)
    for signs, code, message, remedy in _TOLD:
        if any(sign in text for sign in signs):
            return refusal(code, message, remedy, file=address)
    if "FileNotFound" in text or "FAILED_READ_FILE" in text:
        return changed(address)
    if isinstance(error, ConnectionError | EOFError) or any(sign in text for sign in _LOST):
        message = "The connection to Spark was lost; what was begun was given up."
        return refusal("connection-lost", message, "Try again when the cluster runs.", file=address)
    message = f"Spark could not do this ({type(error).__name__})."
    return refusal("engine", message, "Ask who runs the cluster.", file=address)

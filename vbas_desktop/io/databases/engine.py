"""Says what an engine must be able to do, and watches and stops its work."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from vbas_desktop.model.errors import Finding, InputError, refusal
from vbas_desktop.model.progress import Progress

from .address import Address

T = TypeVar("T")

RECORDS = "vbas_records"
"""The name by which queries know the records; their columns are c0, c1, … in the order of the header."""

OUT_OF_MEMORY = "out-of-memory"
"""The code of what is said when an engine has not enough of it."""

LOOKING = "Looking at the records"
_SURE = 1.5
"""An estimate of distinct values is within this factor."""

_LOOK_SECONDS = 0.05
_GRACE_SECONDS = 30.0


@dataclass(frozen=True)
class Description:
    """What an engine says of its records: names, types as Arrow knows them, how many there are, and how large.

    ``mark`` changes when somebody changes the records, where the engine can tell; else it is empty.
    """

    header: tuple[str, ...]
    schema: Any
    rows: int
    size_bytes: int
    mark: str


class DatabaseEngine(ABC):
    """What engines have in common, and the few things in which they differ.

    Queries are over `RECORDS`; results are Arrow tables and batches.
    """

    random: ClassVar[str] = "random()"
    is_nan: ClassVar[str] = "isnan({})"
    as_text: ClassVar[str] = "{}"
    """How it writes a number from 0 to 1, whether a number is none, and a value as text."""

    address: Address
    description: Description
    category_numbers: tuple[int | None, ...] | None = None
    """The number of categories of each column as a row before the records declares it; None: there is no such row."""
    findings: tuple[Finding, ...] = ()
    """Remarks on that row."""

    @property
    def is_one_file(self) -> bool:
        """Tell whether the records are one file, which has a first record; tables have none."""
        return False

    def first_record(self) -> tuple[str, ...] | None:
        """Return the texts of the first record of the only file; None if it has no whole record of texts."""
        return None

    def drop_first_record(self, progress: Progress) -> None:
        """Leave the first record of the file out of the records from now on."""
        raise NotImplementedError

    @abstractmethod
    def fetch(self, query: str, types: Any, progress: Progress, stage: str) -> Any:
        """Return all of a small result as an Arrow table; ``types`` is its Arrow schema."""

    @abstractmethod
    def batches(self, query: str, types: Any, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield a large result batch by batch."""

    def read_rows(self, columns: Sequence[int], progress: Progress, stage: str) -> Iterator[Any]:
        """Yield all records in some columns as Arrow record batches, in no particular order.

        The columns of a batch are named c0, c1, … by their place in the header and have the types of ``description``.
        """
        import pyarrow as pa

        types = pa.schema([self.description.schema.field(column) for column in columns])
        listed = ", ".join(types.names)
        return self.batches(f"SELECT {listed} FROM {RECORDS}", types, progress, stage)

    def values(self, column: int, most: int, progress: Progress) -> tuple[Any, Any, Any] | None:
        """Return the values of a column as the engine takes them back, with their types, and how often each occurs.

        None if there are certainly more than ``most``.
        """
        name = f"c{column}"
        if self._number(f"approx_count_distinct({name})", "", progress) > most * _SURE:
            return None
        found = self.fetch(f"SELECT {name}, count(*) AS n FROM {RECORDS} GROUP BY {name}", None, progress, LOOKING)
        keys = found.column(0).combine_chunks()
        return keys, typed_as(keys, self.description.schema.field(column).type), found.column(1).combine_chunks()

    def missing(self, column: int, progress: Progress) -> int:
        """Count the records without a value in a column (nulls, not-a-numbers and empty texts)."""
        import pyarrow as pa

        name, kind = f"c{column}", self.description.schema.field(column).type
        test = f"{name} IS NULL"
        if pa.types.is_floating(kind):
            test += f" OR {self.is_nan.format(name)}"
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            test += f" OR {self.as_text.format(name)} = ''"
        return self._number("count(*)", f" WHERE {test}", progress)

    def _number(self, what: str, which: str, progress: Progress) -> int:
        """Compute one number of the records."""
        found = self.fetch(f"SELECT {what} AS n FROM {RECORDS}{which}", None, progress, LOOKING)
        return int(found.column(0)[0].as_py())

    def parts(self, column: int, number: int) -> Sequence[str]:
        """Name so many parts of the records; all records with the same value in the column are in one of them.

        One part, however many were asked for, where the engine itself puts on its disk what does not fit.
        """
        return (RECORDS,)

    def sample(self, share: float) -> str:
        """Name the records in a query, or select a random share of them."""
        return RECORDS if share >= 1 else f"(SELECT * FROM {RECORDS} WHERE {self.random} < {share:.9f}) AS sampled"

    @abstractmethod
    def upload(self, name: str, columns: Mapping[str, Any], keys: Mapping[str, int], progress: Progress) -> None:
        """Make a small table that lasts as long as the connection; ``keys`` are typed as a column of the records."""

    @abstractmethod
    def content_hash(self, outputs: Sequence[str]) -> str:
        """Write an expression for a 64-bit number that depends on nothing but what a row holds in these columns."""

    @contextmanager
    def steady(self, progress: Progress) -> Iterator[None]:
        """Let all queries inside see the same records, where the engine can; else changes are noticed.

        There are no snapshots of files: they are compared at the beginning, and again where something is kept.
        """
        self.refuse_changed()
        yield

    def refuse_changed(self) -> None:
        """Refuse to go on if the records were changed, where ``description.mark`` tells."""
        if self.description.mark and self.mark() != self.description.mark:
            raise changed(self.address)

    def mark(self) -> str:
        """Return the mark of the records as they are now."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """Let go of connection and small tables."""


def watched(job: Callable[[], T], cancel: Callable[[], None], progress: Progress, stage: str) -> T:
    """Do a job in a thread of its own and return its result. A stop makes the engine stop too, and waits for that."""
    future: Future[T] = Future()
    thread = threading.Thread(target=_answer, args=(job, future), name="vbas-source", daemon=True)
    thread.start()
    try:
        while True:
            progress.update(stage, None)
            wait((future,), timeout=_LOOK_SECONDS)
            if future.done():
                thread.join()
                return future.result()
    except BaseException:
        if not future.done():
            cancel()
            wait((future,), timeout=_GRACE_SECONDS)
        thread.join(timeout=1)
        raise


def watched_batches(
    first: Callable[[], Iterator[T]], cancel: Callable[[], None], progress: Progress, stage: str
) -> Iterator[T]:
    """Yield the pieces of a result, each made in a thread of its own, as by `watched`."""
    pieces = watched(first, cancel, progress, stage)
    while True:
        piece = watched(lambda: next(pieces, None), cancel, progress, stage)
        if piece is None:
            return
        yield piece


def _answer(job: Callable[[], T], future: Future[T]) -> None:
    try:
        future.set_result(job())
    except BaseException as error:  # noqa: BLE001 (it is raised where the result is asked for)
        future.set_exception(error)


def changed(address: Address) -> InputError:
    """Make the error that somebody changed the records."""
    message = "The records were changed while they were worked on."
    return refusal("input-changed", message, "Wait until nobody changes them, then load them again.", file=address)


def not_installed(address: Address, package: str) -> InputError:
    """Make the error that the engine of an address is not installed."""
    message = f"Addresses of this kind need the package {package}, which is not installed."
    remedy = "Install the extra “sources”: `make setup-sources`, or `pip install vbas-desktop[sources]`."
    return refusal("engine-missing", message, remedy, file=address)


def no_fit(address: Address, column: str | None = None) -> Finding:
    """Make the finding that values cannot be what their type says."""
    message = "Values of the table do not fit their types here (a date outside the calendar, say)."
    return Finding(
        "no-fit", message, "Cast the column to text in a view, and name that.", file=str(address), column=column
    )


def quoted(name: str) -> str:
    """Write a name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def typed_as(column: Any, kind: Any) -> Any:
    """Cast a column to a type, where that is possible: engines know fewer units of time than Parquet."""
    import pyarrow as pa

    if column.type == kind or pa.types.is_nested(kind):
        return column
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        return column.cast(plain)
    except pa.ArrowException:
        return column


def cast(found: Any, types: Any) -> Any:
    """Cast a table or batch to the names and types of a schema."""
    columns = [typed_as(column, field.type) for column, field in zip(found.columns, types, strict=True)]
    return type(found).from_arrays(columns, names=types.names)

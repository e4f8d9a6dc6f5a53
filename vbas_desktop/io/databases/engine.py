"""Declares what a database engine must be able to do, with what all engines have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from vbas_desktop.model.findings import Finding, InputError, input_error
from vbas_desktop.model.progress import Progress

from .address import Address

RECORDS = "vbas_records"
"""The name by which queries know the records; their columns are c0, c1, … in the order of the header."""

OUT_OF_MEMORY = "out-of-memory"
"""The code of the finding that an engine has not enough of it."""

DESCRIBING = "Looking at the records"
_ESTIMATE_FACTOR = 1.5
"""An estimate of distinct values is within this factor."""


@dataclass(frozen=True)
class RecordDescription:
    """Describe the records of an engine: names, Arrow types, number and size in bytes.

    ``change_mark`` changes when somebody changes the records, where the engine can tell; else it is empty.
    """

    header: tuple[str, ...]
    schema: Any
    rows: int
    size_bytes: int
    change_mark: str


class DatabaseEngine(ABC):
    """Read the records of an address by queries over `RECORDS`; results are Arrow tables and batches.

    ``random_expression`` gives a number from 0 to 1, ``nan_test`` and ``text_expression`` are formats for a column.
    ``category_numbers`` are the numbers of categories that a row before the records declares for each column (None:
    there is no such row), ``findings`` the remarks on that row.
    """

    random_expression: ClassVar[str] = "random()"
    nan_test: ClassVar[str] = "isnan({})"
    text_expression: ClassVar[str] = "{}"

    address: Address
    description: RecordDescription
    category_numbers: tuple[int | None, ...] | None = None
    findings: tuple[Finding, ...] = ()

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
    def fetch_batches(self, query: str, types: Any, progress: Progress, stage: str) -> Iterator[Any]:
        """Yield a large result batch by batch."""

    def read_rows(self, columns: Sequence[int], progress: Progress, stage: str) -> Iterator[Any]:
        """Yield all records in some columns as Arrow record batches, in no particular order.

        The columns of a batch are named c0, c1, … by their position in the header; their types are those of
        ``description``.
        """
        types = pa.schema([self.description.schema.field(column) for column in columns])
        listed = ", ".join(types.names)
        return self.fetch_batches(f"SELECT {listed} FROM {RECORDS}", types, progress, stage)

    def fetch_values(self, column: int, limit: int, progress: Progress) -> tuple[Any, Any, Any] | None:
        """Count the records with each value of a column; None if there are certainly more than ``limit`` values.

        Returns three Arrow arrays: values as the engine takes them back, values of the column's type, numbers of
        records.
        """
        name = f"c{column}"
        if self._fetch_number(f"approx_count_distinct({name})", "", progress) > limit * _ESTIMATE_FACTOR:
            return None
        table = self.fetch(
            f"SELECT {name}, count(*) AS n FROM {RECORDS} GROUP BY {name}", None, progress, DESCRIBING
        )
        keys = table.column(0).combine_chunks()
        values = cast_to_type(keys, self.description.schema.field(column).type)
        return keys, values, table.column(1).combine_chunks()

    def count_missing(self, column: int, progress: Progress) -> int:
        """Count the records without a value in a column (nulls, not-a-numbers and empty texts)."""
        name = f"c{column}"
        column_type = self.description.schema.field(column).type
        test = f"{name} IS NULL"
        if pa.types.is_floating(column_type):
            test += f" OR {self.nan_test.format(name)}"
        elif pa.types.is_string(column_type) or pa.types.is_large_string(column_type):
            test += f" OR {self.text_expression.format(name)} = ''"
        return self._fetch_number("count(*)", f" WHERE {test}", progress)

    def _fetch_number(self, expression: str, condition: str, progress: Progress) -> int:
        """Compute one number of the records that fulfil a condition (empty: of all)."""
        table = self.fetch(
            f"SELECT {expression} AS n FROM {RECORDS}{condition}", None, progress, DESCRIBING
        )
        return int(table.column(0)[0].as_py())

    def split_records(self, column: int, number: int) -> Sequence[str]:
        """Return names for ``number`` parts of the records; those with the same value in the column are in one part.

        There is always one part where the engine itself puts on its disk what does not fit into memory.
        """
        return (RECORDS,)

    def sample_expression(self, share: float) -> str:
        """Name the records in a query, or select a random share of them."""
        return (
            RECORDS
            if share >= 1
            else f"(SELECT * FROM {RECORDS} WHERE {self.random_expression} < {share:.9f}) AS sampled"
        )

    @abstractmethod
    def upload(
        self, name: str, columns: Mapping[str, Any], keys: Mapping[str, int], progress: Progress
    ) -> None:
        """Make a small table that lasts as long as the connection; ``keys`` are typed as a column of the records."""

    @abstractmethod
    def row_hash_expression(self, outputs: Sequence[str]) -> str:
        """Write an expression for a 64-bit number that depends on nothing but what a row holds in these columns."""

    @contextmanager
    def snapshot(self, progress: Progress) -> Iterator[None]:
        """Let all queries inside see the same records, where the engine can; else changes are noticed.

        There are no snapshots of files: they are compared at the beginning, and again where something is kept.
        """
        self.check_unchanged()
        yield

    def check_unchanged(self) -> None:
        """Refuse to go on if the records were changed, where ``description.change_mark`` tells."""
        if self.description.change_mark and self.read_change_mark() != self.description.change_mark:
            raise records_changed(self.address)

    def read_change_mark(self) -> str:
        """Return the mark of the records as they are now."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """Let go of connection and small tables."""


def records_changed(address: Address) -> InputError:
    """Return the error that somebody changed the records."""
    message = "The records were changed while they were worked on."
    return input_error(
        "input-changed", message, "Wait until nobody changes them, then load them again.", file=address
    )


def engine_not_installed(address: Address, package: str) -> InputError:
    """Return the error that the engine of an address is not installed."""
    message = f"Addresses of this kind need the package {package}, which is not installed."
    remedy = "Install the extra “sources”: `make setup-sources`, or `pip install vbas-desktop[sources]`."
    return input_error("engine-missing", message, remedy, file=address)


def values_do_not_fit(address: Address, column: str | None = None) -> Finding:
    """Return the finding that values cannot be what their type says."""
    message = "Values of the table do not fit their types here (a date outside the calendar, say)."
    return Finding(
        "no-fit",
        message,
        "Cast the column to text in a view, and name that.",
        file=str(address),
        column=column,
    )


def quote_name(name: str) -> str:
    """Write a name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def cast_to_type(column: Any, target: Any) -> Any:
    """Cast a column to a type, where that is possible: engines know fewer units of time than Parquet."""
    if column.type == target or pa.types.is_nested(target):
        return column
    plain = target.value_type if pa.types.is_dictionary(target) else target
    try:
        return column.cast(plain)
    except pa.ArrowException:
        return column


def cast_to_schema(table: Any, types: Any) -> Any:
    """Cast a table or batch to the names and types of a schema."""
    columns = [
        cast_to_type(column, field.type) for column, field in zip(table.columns, types, strict=True)
    ]
    return type(table).from_arrays(columns, names=types.names)

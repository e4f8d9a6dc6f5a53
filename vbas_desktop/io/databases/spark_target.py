"""Puts a released file into a table that a Spark cluster knows: staged as another one, read back, then renamed."""

from __future__ import annotations

import getpass
import importlib.util
import os
import platform
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as types

from vbas_desktop.io.output import lives
from vbas_desktop.model.errors import refusal
from vbas_desktop.model.progress import Progress

from .address import Address
from .engine import not_installed, watched
from .spark_engine import session_at, telling
from .targets import MARK, STAGE, STAGING, Target, table_parts, taken

T = TypeVar("T")

_BATCH_ROWS = 1 << 20
_OWNER, _RELEASE = "vbas.staged.by", "vbas.release"
_PLACE = "vbas.staged.at"


@dataclass(frozen=True)
class SparkTable(Target):
    """A table of the cluster's catalogue, which must be one that lasts."""

    address: Address

    def check(self, progress: Progress) -> None:
        """Refuse what names no table; the rest is looked at when Spark runs, since starting it takes long."""
        for part in table_parts(self.address):
            if not re.fullmatch(r"[A-Za-z0-9_]+", part):
                message = "Names of schemas and tables in Spark have letters, digits and _ only."
                raise refusal("bad-address", message, "Choose another name.", file=self.address)
        if importlib.util.find_spec("pyspark") is None:
            raise not_installed(self.address, "pyspark")

    @contextmanager
    def staged(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage a table beside it, with a name that tells whose it is."""
        self.check(progress)
        schema, _ = table_parts(self.address)
        with session_at(self.address, progress) as session:

            def work(job: Callable[[], T]) -> T:
                return watched(lambda: telling(job, self.address), session.sparkContext.cancelAllJobs, progress, STAGE)

            staged = f"{schema}.{STAGING}{secrets.token_hex(8)}"
            try:
                work(lambda: self._look(session))
                work(lambda: _write(session, staged, file, self.address))
                yield Address(str(self.address), self.address.kind, self.address.place, staged)
                work(lambda: self._put_in_place(session, staged))
            except BaseException:
                with suppress(Exception):
                    session.sql(f"DROP TABLE IF EXISTS {staged}")
                raise

    def _look(self, session: Any) -> None:
        if session.conf.get("spark.sql.catalogImplementation") != "hive":
            message = "This Spark keeps tables no longer than a session, so none can be a target."
            raise refusal("no-catalogue", message, "Name a folder instead.", file=self.address)
        _remove_leftovers(session, table_parts(self.address)[0])
        self._refuse_other(session)

    def _refuse_other(self, session: Any) -> None:
        schema, name = table_parts(self.address)
        if (
            session.catalog.tableExists(f"{schema}.{name}")
            and _properties(session, f"{schema}.{name}").get(_RELEASE) != MARK
        ):
            raise taken(str(self.address))

    def _put_in_place(self, session: Any, staged: str) -> None:
        schema, name = table_parts(self.address)
        self._refuse_other(session)
        session.sql(f"ALTER TABLE {staged} SET TBLPROPERTIES ('{_RELEASE}' = '{MARK}')")
        session.sql(f"DROP TABLE IF EXISTS {schema}.{name}")
        session.sql(f"ALTER TABLE {staged} RENAME TO {schema}.{name}")


def _write(session: Any, staged: str, file: Path, address: Address) -> None:
    """Write the rows a part at a time; the first makes the table, with the process that it belongs to."""
    whose = {_OWNER: getpass.getuser(), _PLACE: f"{platform.node()} {os.getpid()}"}
    with pq.ParquetFile(file) as source:
        for number, batch in enumerate(source.iter_batches(batch_size=_BATCH_ROWS)):
            frame = session.createDataFrame(_portable(pa.Table.from_batches([batch]), address))
            if not number:
                # In one step, so that there is never a staged table that does not tell whose it is.
                frame.limit(0).createOrReplaceTempView("vbas_incoming")
                listed = ", ".join(f"'{name}' = '{value}'" for name, value in whose.items())
                session.sql(
                    f"CREATE TABLE {staged} USING parquet TBLPROPERTIES ({listed}) AS SELECT * FROM vbas_incoming"
                )
            frame.write.format("parquet").mode("append").saveAsTable(staged)


def _portable(table: Any, address: Address) -> Any:
    """Cast values to types that Spark has."""
    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20)}
    columns = []
    for column in table.columns:
        kind = column.type
        if types.is_dictionary(kind):
            kind = kind.value_type
        kind = wider.get(kind, kind)
        if types.is_timestamp(kind):
            kind = pa.timestamp("us", kind.tz)
        elif types.is_time(kind) or types.is_large_string(kind):
            kind = pa.string()
        try:
            columns.append(column.cast(kind))
        except pa.ArrowException:
            message = "A released column has values that Spark has no type for."
            raise refusal("no-fit", message, "Leave the column out.", file=address) from None
    return pa.table(columns, names=table.column_names)


def _properties(session: Any, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in session.sql(f"SHOW TBLPROPERTIES {table}").collect()}


def _remove_leftovers(session: Any, schema: str) -> None:
    """Drop staged tables of this user whose process was on this machine and is gone."""
    for row in session.sql(f"SHOW TABLES IN {schema} LIKE '{STAGING}*'").collect():
        table = f"{schema}.{row['tableName']}"
        kept = _properties(session, table)
        node, _, process = kept.get(_PLACE, "").rpartition(" ")
        if kept.get(_OWNER) == getpass.getuser() and node == platform.node() and not lives(int(process)):
            session.sql(f"DROP TABLE IF EXISTS {table}")

"""A table of a Spark cluster as target of a release: staged as another one, read back, then renamed."""

from __future__ import annotations

import getpass
import importlib.util
import platform
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as types

from vbas_desktop.background import run_cancellable
from vbas_desktop.model.findings import input_error
from vbas_desktop.model.progress import Progress

from ..output import is_folder_locked
from .address import Address
from .engine import engine_not_installed
from .spark_engine import explain_spark_errors, open_session, scratch_folder
from .targets import MARK, STAGE, STAGING, ReleaseTarget, split_table_name, target_in_use

_BATCH_ROWS = 1 << 20
_RELEASE_PROPERTY = "vbas.release"
_OWNER_PROPERTY = "vbas.staged.by"
_SCRATCH_PROPERTY = "vbas.staged.at"
"""Properties of tables: that it is a release; the user who staged it, and machine and scratch folder of the session."""


@dataclass(frozen=True)
class SparkTarget(ReleaseTarget):
    """A table of the cluster's catalogue, which must be one that lasts."""

    address: Address

    def check(self, progress: Progress) -> None:
        """Refuse an address that names no table; the rest is checked when Spark runs, since starting it takes long."""
        for part in split_table_name(self.address):
            if not re.fullmatch(r"[A-Za-z0-9_]+", part):
                message = "Names of schemas and tables in Spark have letters, digits and _ only."
                raise input_error("bad-address", message, "Choose another name.", file=self.address)
        if importlib.util.find_spec("pyspark") is None:
            raise engine_not_installed(self.address, "pyspark")

    @contextmanager
    def stage(self, file: Path, progress: Progress) -> Iterator[Address]:
        """Stage a table in the same schema, with properties that name its owner."""
        self.check(progress)
        schema, _ = split_table_name(self.address)
        with open_session(self.address, progress) as session:

            def run(work: Callable[[], None]) -> None:
                with explain_spark_errors(self.address):
                    run_cancellable(work, progress, STAGE, cancel=session.sparkContext.cancelAllJobs)

            staged = f"{schema}.{STAGING}{secrets.token_hex(8)}"
            try:
                run(lambda: self._prepare(session))
                run(lambda: _write_rows(session, staged, file, self.address))
                yield Address(str(self.address), self.address.kind, self.address.location, staged)
                run(lambda: self._publish(session, staged))
            except BaseException:
                with suppress(Exception):
                    session.sql(f"DROP TABLE IF EXISTS {staged}")
                raise

    def _prepare(self, session: Any) -> None:
        if session.conf.get("spark.sql.catalogImplementation") != "hive":
            message = "This Spark keeps tables no longer than a session, so none can be a target."
            raise input_error("no-catalogue", message, "Name a folder instead.", file=self.address)
        _remove_leftovers(session, split_table_name(self.address)[0])
        self._check_target(session)

    def _check_target(self, session: Any) -> None:
        schema, name = split_table_name(self.address)
        if (
            session.catalog.tableExists(f"{schema}.{name}")
            and _read_properties(session, f"{schema}.{name}").get(_RELEASE_PROPERTY) != MARK
        ):
            raise target_in_use(str(self.address))

    def _publish(self, session: Any, staged: str) -> None:
        schema, name = split_table_name(self.address)
        self._check_target(session)
        session.sql(f"ALTER TABLE {staged} SET TBLPROPERTIES ('{_RELEASE_PROPERTY}' = '{MARK}')")
        session.sql(f"DROP TABLE IF EXISTS {schema}.{name}")
        session.sql(f"ALTER TABLE {staged} RENAME TO {schema}.{name}")


def _write_rows(session: Any, staged: str, file: Path, address: Address) -> None:
    """Write the rows a part at a time; the first makes the table, with the scratch folder of its session."""
    properties = {
        _OWNER_PROPERTY: getpass.getuser(),
        _SCRATCH_PROPERTY: f"{platform.node()} {scratch_folder(address)}",
    }
    with pq.ParquetFile(file) as source:
        for number, batch in enumerate(source.iter_batches(batch_size=_BATCH_ROWS)):
            frame = session.createDataFrame(_cast_to_spark(pa.Table.from_batches([batch]), address))
            if not number:
                # In one step, so that there is never a staged table without its owner.
                frame.limit(0).createOrReplaceTempView("vbas_incoming")
                listed = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
                session.sql(
                    f"CREATE TABLE {staged} USING parquet TBLPROPERTIES ({listed}) AS SELECT * FROM vbas_incoming"
                )
            frame.write.format("parquet").mode("append").saveAsTable(staged)


def _cast_to_spark(table: Any, address: Address) -> Any:
    """Cast values to types that Spark has."""
    wider = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20),
    }
    columns = []
    for column in table.columns:
        target = column.type
        if types.is_dictionary(target):
            target = target.value_type
        target = wider.get(target, target)
        if types.is_timestamp(target):
            target = pa.timestamp("us", target.tz)
        elif types.is_time(target) or types.is_large_string(target):
            target = pa.string()
        try:
            columns.append(column.cast(target))
        except pa.ArrowException:
            message = "A released column has values that Spark has no type for."
            raise input_error("no-fit", message, "Leave the column out.", file=address) from None
    return pa.table(columns, names=table.column_names)


def _read_properties(session: Any, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in session.sql(f"SHOW TBLPROPERTIES {table}").collect()}


def _remove_leftovers(session: Any, schema: str) -> None:
    """Drop staged tables of this user whose session was on this machine and has ended."""
    for row in session.sql(f"SHOW TABLES IN {schema} LIKE '{STAGING}*'").collect():
        table = f"{schema}.{row['tableName']}"
        properties = _read_properties(session, table)
        node, _, scratch = properties.get(_SCRATCH_PROPERTY, "").partition(" ")
        is_own = properties.get(_OWNER_PROPERTY) == getpass.getuser() and node == platform.node()
        if is_own and not is_folder_locked(Path(scratch)):
            session.sql(f"DROP TABLE IF EXISTS {table}")

"""Opens the engine of an address, and takes a row of category numbers out of its records.

Only one file has a first row that can be such a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vbas_desktop.model.findings import input_error, stop_on_errors
from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.settings.reading import RecordReading

from ..records.category_line import (
    LineTwo,
    ValueFrequencies,
    judge_line,
    looks_like_numbers,
    read_numbers,
)
from .address import Address, EngineKind
from .engine import DESCRIBING, DatabaseEngine
from .facts import FIRST_ROW, describe_column


def open_engine(address: Address, options: RecordReading, progress: Progress) -> DatabaseEngine:
    """Open the engine that reads an address; a row of category numbers is none of its records."""
    from .duckdb_engine import DuckDBEngine
    from .postgresql_engine import PostgreSQLEngine
    from .spark_engine import SparkEngine

    engines: dict[EngineKind, Callable[[], DatabaseEngine]] = {
        EngineKind.DUCKDB: lambda: DuckDBEngine(address, options, progress),
        EngineKind.POSTGRESQL: lambda: PostgreSQLEngine(address, progress),
        EngineKind.SPARK: lambda: SparkEngine(address, progress),
    }
    if address.kind is not EngineKind.DUCKDB:
        # Before a server is contacted.
        _refuse_category_row(address, options.category_counts)
    engine = engines[address.kind]()
    try:
        _drop_category_row(engine, options.category_counts, progress)
    except BaseException:
        engine.close()
        raise
    return engine


def _drop_category_row(engine: DatabaseEngine, choice: str, progress: Progress) -> None:
    """Decide by the option ``category_counts`` whether the first record holds category numbers, and drop it if so.

    Raises `InputError` if it is said to hold them but cannot, or if there is no first record.
    """
    if choice == "no":
        return
    if not engine.is_one_file:
        _refuse_category_row(engine.address, choice)
        return
    record = engine.first_record()
    if choice == "yes":
        verdict = read_numbers(record, engine.description.header, FIRST_ROW, str(engine.address))
        stop_on_errors(verdict.findings)
    elif looks_like_numbers(record):
        verdict = _judge_first_record(engine, record, progress)
    else:
        return
    engine.findings = verdict.findings
    if verdict.declared is not None:
        engine.drop_first_record(progress)
        engine.category_numbers = verdict.declared


def _refuse_category_row(address: Address, choice: str) -> None:
    """Refuse the option that an address has category numbers if it names a table or several files."""
    if choice == "yes":
        message = "Tables, and folders or patterns of several files, have no second line with category numbers."
        remedy = "Choose auto or no (--category-counts), and take such lines out of the records."
        raise input_error("bad-option", message, remedy, file=address)


def _judge_first_record(engine: DatabaseEngine, record: Sequence[str], progress: Progress) -> LineTwo:
    """Judge the first record by the values of all columns."""
    columns = []
    for column, text in enumerate(record):
        part = SubProgress(progress, column / len(record), (column + 1) / len(record))
        part.update(DESCRIBING, 0.0)
        facts, _ = describe_column(engine, column, part)
        if facts.categories is None or facts.frequencies is None:
            columns.append(ValueFrequencies(None, (), facts.distinct, 0))
            continue
        values = facts.categories.values
        columns.append(
            ValueFrequencies(values, facts.frequencies.tolist(), facts.distinct, values.index(text))
        )
    return judge_line(record, columns, engine.description.rows, FIRST_ROW, str(engine.address))

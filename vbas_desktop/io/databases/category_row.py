"""Finds a row of category numbers before the records of an address: only one file has a first row that can be one."""

from __future__ import annotations

from collections.abc import Sequence

from vbas_desktop.io.records.category_line import ColumnValues, LineTwo, judge, looks_like_numbers, read_numbers
from vbas_desktop.model.errors import refusal, stop_on_errors
from vbas_desktop.model.progress import Progress, Span

from .address import Address
from .engine import LOOKING, DatabaseEngine
from .facts import FIRST_ROW, describe_column


def settle_first_record(engine: DatabaseEngine, choice: str, progress: Progress) -> None:
    """Decide by the option ``category_counts`` whether the first record holds category numbers, and drop it if so.

    Refused if it is said to hold them but cannot, or if there is no first record.
    """
    if choice == "no":
        return
    if not engine.is_one_file:
        refuse_numbers(engine.address, choice)
        return
    record = engine.first_record()
    if choice == "yes":
        verdict = read_numbers(record, engine.description.header, FIRST_ROW, str(engine.address))
        stop_on_errors(verdict.findings)
    elif looks_like_numbers(record):
        verdict = _judge(engine, record, progress)
    else:
        return
    engine.findings = verdict.findings
    if verdict.declared is not None:
        engine.drop_first_record(progress)
        engine.category_numbers = verdict.declared


def refuse_numbers(address: Address, choice: str) -> None:
    """Refuse the option that an address has category numbers if it names a table or several files."""
    if choice == "yes":
        message = "Tables, and folders or patterns of several files, have no second line with category numbers."
        remedy = "Choose auto or no (--category-counts), and take such lines out of the records."
        raise refusal("bad-option", message, remedy, file=address)


def _judge(engine: DatabaseEngine, record: Sequence[str], progress: Progress) -> LineTwo:
    """Judge the first record by the values of all columns."""
    columns = []
    for place, text in enumerate(record):
        part = Span(progress, place / len(record), (place + 1) / len(record))
        part.update(LOOKING, 0.0)
        facts, _ = describe_column(engine, place, part)
        if facts.categories is None or facts.frequencies is None:
            columns.append(ColumnValues(None, (), facts.distinct, 0))
            continue
        values = facts.categories.values
        columns.append(ColumnValues(values, facts.frequencies.tolist(), facts.distinct, values.index(text)))
    return judge(record, columns, engine.description.rows, FIRST_ROW, str(engine.address))

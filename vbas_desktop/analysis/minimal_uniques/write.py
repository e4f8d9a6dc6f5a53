"""Output of a search and of a recoding: the list, the log, and the recoded file, verified."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from vbas_desktop.audit.recount import recount
from vbas_desktop.audit.text_form import StatedForm
from vbas_desktop.io.hashing import HashingWriter
from vbas_desktop.io.output import make_private, staged_folder, write_text
from vbas_desktop.io.random_order import create_random, shuffle_rows
from vbas_desktop.io.records.csv_writer import CsvFormat, write_csv
from vbas_desktop.io.records.row_chunks import chunk_texts
from vbas_desktop.io.records.rows import read_row_texts
from vbas_desktop.model.findings import Finding, InputError, VerificationFailed
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import MISSING, CodedRecords, RecordTable, with_label
from vbas_desktop.settings.writing import RecordWriting

from .distinct_rows import DistinctRows
from .recoding import measure_detail
from .recoding_loop import RecodingSession, RecodingState, choose_number_recoding
from .results import SearchResult, count_records_by_score


def search_as_dict(
    table: DistinctRows,
    k: int,
    search: SearchResult,
    show_values: bool = False,
    most: int | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Return the search as plain JSON data, with values only where ``show_values`` is set.

    ``most`` bounds the number of listed combinations. With the ``labels`` of a codebook, values are also listed with
    what they mean.
    """
    entries = _iterate_entries(table, search, labels, show_values)
    return {
        "records": table.records,
        "k": k,
        "anonymity": table.anonymity,
        "number": search.number,
        "combinations": list(islice(entries, most)),
        "exempted": search.exempted,
        "appearances": _count_appearances(table, search),
        "thresholds": search.thresholds.limitation if search.thresholds is not None else "",
        "complete": search.complete,
        "why_incomplete": search.why_incomplete,
        "records_in_combinations": int(table.weights[search.scores > 0].sum()),
        "records_by_score": {
            str(score): number for score, number in count_records_by_score(table, search).items()
        },
    }


def _iterate_entries(
    table: DistinctRows,
    search: SearchResult,
    labels: Mapping[str, Mapping[str, str]] | None,
    show_values: bool,
) -> Iterator[dict[str, Any]]:
    """Yield the combinations as plain data, one set of columns after the other."""
    for column_set in search.column_sets:
        names = [table.columns[column] for column in column_set.columns]
        for row, count in zip(column_set.rows, column_set.counts, strict=True):
            entry: dict[str, Any] = {"columns": names, "count": int(count), "size": column_set.size}
            if show_values:
                values = [
                    table.values[column][table.codes[column][row]] for column in column_set.columns
                ]
                entry["values"] = [value or MISSING for value in values]
                if labels is not None:
                    pairs = zip(values, names, strict=True)
                    entry["labelled"] = [
                        with_label(value, labels.get(name, {})) for value, name in pairs
                    ]
            yield entry


def _count_appearances(table: DistinctRows, search: SearchResult) -> dict[str, int]:
    """Count the combinations of any size of each column, before rules; empty without thresholds."""
    if search.thresholds is None:
        return {}
    return {name: search.thresholds.appearances[column] for column, name in enumerate(table.columns)}


def session_as_dict(session: RecodingSession) -> dict[str, Any]:
    """Return every step with its changes, and what is left, as plain JSON data."""
    start = session.start.table
    state = session.state.table
    detail = measure_detail(start, state)
    return {
        "k": session.plan.k,
        "strategy": session.plan.strategy,
        "numbers": session.plan.numbers or choose_number_recoding(session.plan.strategy),
        "trim_divisor": session.plan.trim_divisor,
        "reference_tables": len(session.start.references),
        "domain_rules": [str(rule) for rule in session.plan.domain_rules],
        "steps": [
            {
                "size": step.size,
                "combinations": step.combinations,
                "exempted": step.exempted,
                "changes": [change.as_dict() for change in step.changes],
            }
            for step in session.steps
        ],
        "exempted": session.exempted,
        "records": start.records,
        "suppressed_records": session.state.suppressed,
        "anonymity": state.anonymity,
        "k_anonymous": state.anonymity is None or state.anonymity >= session.plan.k,
        "detail": [column.as_dict() for column in detail.columns],
        "information_loss": detail.information_loss,
    }


RECODED_FILES = ("internal/log.json", "anonymized.csv")
"""Files in the folder of a recoded file."""


def write_recoded(
    session: RecodingSession,
    table: RecordTable,
    target: Path,
    form: RecordWriting,
    progress: Progress,
) -> dict[str, Any]:
    """Write ``anonymized.csv`` and ``internal/log.json`` as one new folder, after reading back and recounting.

    The rows are in random order, by a fresh secret or a seed. The log describes fewer than k records: it is readable by
    the user alone. Raises `InputError` for columns or files that cannot be written, `VerificationFailed` if the written
    file does not hold the expected records; nothing is published then.
    """
    dropped = [name for name in form.identifiers if name in session.start.table.columns]
    if dropped:
        raise InputError(
            Finding(
                "drop", "A searched column cannot be dropped.", "Search without it.", column=dropped[0]
            )
        )
    records = table.load_codes(progress)
    if records.file_format.format != "csv" and not records.source.elsewhere:
        raise InputError(
            Finding("not-csv", "Only CSV files can be coarsened.", "Convert the file to CSV.")
        )
    with staged_folder(target, RECODED_FILES) as folder:
        path = folder / "anonymized.csv"
        draw = create_random(
            form.shuffle_seed, records.source.sha256, session.start.table.columns, session.plan.k
        )
        written = _write_rows(
            session.state, session.start.table.columns, records, path, form, progress, draw
        )
        log = session_as_dict(session)
        *others, last = map(form.text, session.start.table.columns)
        recounted = recount(path, others, last, StatedForm(",", "utf-8"), progress=progress)
        expected = session.state.table
        # An escaped formula may meet a value that has been its escaped text all along: then classes only grow.
        smallest = recounted.anonymity or 0, expected.anonymity or 0
        is_equal = smallest[0] >= smallest[1] if form.escape_formulas else smallest[0] == smallest[1]
        if recounted.records != expected.records or written != expected.records or not is_equal:
            raise VerificationFailed(
                "The written file does not hold the records that were promised. It was removed."
            )
        log["verified"] = {"records": recounted.records, "anonymity": recounted.anonymity}
        (folder / "internal").mkdir(0o700)
        text = json.dumps(log, indent=2, ensure_ascii=False) + "\n"
        write_text(folder / "internal" / "log.json", text, private=True)
        make_private(folder / "internal")
    return log


def _write_rows(
    state: RecodingState,
    columns: Sequence[str],
    records: CodedRecords,
    path: Path,
    form: RecordWriting,
    progress: Progress,
    draw: random.Random,
) -> int:
    """Write the rows in random order; return their number."""
    header = records.file_format.header
    keep = [position for position, name in enumerate(header) if name not in form.identifiers]
    rows = shuffle_rows(
        _iterate_recoded_rows(state, columns, records, keep, progress), path.parent, draw
    )
    output, chunks = chunk_texts(form.row([header[position] for position in keep]), map(form.row, rows))
    with path.open("wb") as stream:
        return write_csv(HashingWriter(stream), output, chunks, CsvFormat())


def _iterate_recoded_rows(
    state: RecodingState,
    columns: Sequence[str],
    records: CodedRecords,
    keep: Sequence[int],
    progress: Progress,
) -> Iterator[list[str]]:
    """Yield the rows that are not suppressed with their new values, in the order of the file."""
    table, header = state.table, records.file_format.header
    changed = {header.index(name): number for number, name in enumerate(columns)}
    for number, row in enumerate(read_row_texts(records)):
        if number % 20_000 == 0:
            progress.update("Writing the coarsened file", number / max(records.rows, 1))
        distinct = table.row_of[number]
        if distinct < 0:
            continue
        for position, column in changed.items():
            row[position] = table.values[column][table.codes[column][distinct]]
        yield [row[position] for position in keep]

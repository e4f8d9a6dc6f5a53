"""What a search and a coarsening leave behind: the list, the log, and the file with its columns coarsened."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vbas_desktop.audit.recount import recount
from vbas_desktop.io.hashing import HashingWriter
from vbas_desktop.io.output import make_private, staged_folder, write_text
from vbas_desktop.io.records.csv_writer import CsvFormat, write_csv
from vbas_desktop.io.records.row_chunks import chunk_texts
from vbas_desktop.io.records.row_texts import row_texts
from vbas_desktop.io.written_rows import secret, shuffled
from vbas_desktop.model.errors import Finding, InputError, VerificationFailed
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import MISSING, RecordTable, with_label
from vbas_desktop.settings.writing import Writing

from .detail import measure_detail
from .found import Search, records_by_score
from .loop import Coarsener, State, default_numbers
from .table import Table


def search_dict(
    table: Table,
    k: int,
    search: Search,
    show_values: bool = False,
    most: int | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """The search as plain JSON data; values only where asked for. ``most``: list no more than so many.

    With the ``labels`` of a codebook, values are also listed with what they mean.
    """
    listed: list[dict[str, Any]] = []
    for level in search.levels:
        for found in level.found:
            for row, count in zip(found.rows, found.counts, strict=True):
                if most is not None and len(listed) >= most:
                    break
                entry: dict[str, Any] = {
                    "columns": [table.columns[column] for column in found.columns],
                    "count": int(count),
                    "size": found.size,
                }
                if show_values:
                    values = [table.values[column][table.codes[column][row]] for column in found.columns]
                    entry["values"] = [value or MISSING for value in values]
                    if labels is not None:
                        named = zip(values, entry["columns"], strict=True)
                        entry["labelled"] = [with_label(value, labels.get(name, {})) for value, name in named]
                listed.append(entry)
    return {
        "records": table.records,
        "k": k,
        "anonymity": table.anonymity,
        "number": search.number,
        "combinations": listed,
        "exempted": search.exempted,
        "appearances": _appearances(table, search),
        "thresholds": search.thresholds.limitation if search.thresholds is not None else "",
        "complete": search.complete,
        "why_incomplete": search.why_incomplete,
        "records_in_combinations": int(table.weights[search.scores > 0].sum()),
        "records_by_score": {str(score): number for score, number in records_by_score(table, search).items()},
    }


def _appearances(table: Table, search: Search) -> dict[str, int]:
    """Return in how many combinations of any size each column is, before rules; empty without thresholds."""
    if search.thresholds is None:
        return {}
    return {name: search.thresholds.appearances[column] for column, name in enumerate(table.columns)}


def log_dict(coarsener: Coarsener) -> dict[str, Any]:
    """Every step with its changes, and what is left, as plain JSON data."""
    start, state = coarsener.start.table, coarsener.state.table
    detail = measure_detail(start, state)
    return {
        "k": coarsener.plan.k,
        "strategy": coarsener.plan.strategy,
        "numbers": coarsener.plan.numbers or default_numbers(coarsener.plan.strategy),
        "trim_divisor": coarsener.plan.trim_divisor,
        "reference_tables": len(coarsener.start.references),
        "domain_rules": [str(rule) for rule in coarsener.plan.domain_rules],
        "steps": [
            {
                "size": step.size,
                "combinations": step.combinations,
                "exempted": step.exempted,
                "changes": [change.as_dict() for change in step.changes],
            }
            for step in coarsener.steps
        ],
        "exempted": coarsener.exempted,
        "records": start.records,
        "suppressed_records": coarsener.state.suppressed,
        "anonymity": state.anonymity,
        "k_anonymous": state.anonymity is None or state.anonymity >= coarsener.plan.k,
        "detail": [column.as_dict() for column in detail.columns],
        "information_loss": detail.information_loss,
    }


COARSENED = ("internal/log.json", "anonymized.csv")
"""What the folder of a coarsened file holds."""


class NotVerified(VerificationFailed):
    """The written file, read back, is not what was promised; it was removed."""


def write_coarsened(
    coarsener: Coarsener,
    records: RecordTable,
    target: Path,
    form: Writing,
    progress: Progress,
) -> dict[str, Any]:
    """Write ``anonymized.csv`` and ``internal/log.json`` as one new folder, after reading back and recounting.

    The rows are in an order that tells nothing, by a fresh secret or a seed. The log tells of fewer than k records:
    nobody but the user may read it.
    """
    checked = [name for name in form.identifiers if name in coarsener.start.table.columns]
    if checked:
        raise InputError(
            Finding("drop", "A searched column cannot be dropped.", "Search without it.", column=checked[0])
        )
    records = records.load_codes(progress)
    if records.dialect.format != "csv" and not records.source.elsewhere:
        raise InputError(Finding("not-csv", "Only CSV files can be coarsened.", "Convert the file to CSV."))
    with staged_folder(target, COARSENED) as folder:
        path = folder / "anonymized.csv"
        draw = secret(form.shuffle_seed, records.source.sha256, coarsener.start.table.columns, coarsener.plan.k)
        written = _write(coarsener.state, coarsener.start.table.columns, records, path, form, progress, draw)
        log = log_dict(coarsener)
        *others, last = map(form.text, coarsener.start.table.columns)
        found = recount(path, others, last, delimiter=",", encoding="utf-8", progress=progress)
        promised = coarsener.state.table
        # An escaped formula may meet a value that has been its escaped text all along: then classes only grow.
        smallest = found.anonymity or 0, promised.anonymity or 0
        same = smallest[0] >= smallest[1] if form.escape_formulas else smallest[0] == smallest[1]
        if found.records != promised.records or written != promised.records or not same:
            raise NotVerified("The written file does not hold the records that were promised. It was removed.")
        log["verified"] = {"records": found.records, "anonymity": found.anonymity}
        (folder / "internal").mkdir(0o700)
        text = json.dumps(log, indent=2, ensure_ascii=False) + "\n"
        write_text(folder / "internal" / "log.json", text, private=True)
        make_private(folder / "internal")
    return log


def _write(
    state: State,
    columns: Sequence[str],
    records: RecordTable,
    path: Path,
    form: Writing,
    progress: Progress,
    draw: random.Random,
) -> int:
    header = records.dialect.header
    keep = [place for place, name in enumerate(header) if name not in form.identifiers]
    rows = shuffled(_coarsened(state, columns, records, keep, progress), path.parent, draw)
    output, chunks = chunk_texts(form.row([header[place] for place in keep]), map(form.row, rows))
    with path.open("wb") as stream:
        return write_csv(HashingWriter(stream), output, chunks, CsvFormat())


def _coarsened(
    state: State, columns: Sequence[str], records: RecordTable, keep: Sequence[int], progress: Progress
) -> Iterator[list[str]]:
    """The rows that are not suppressed, with their new values, in the order of the file."""
    table, header = state.table, records.dialect.header
    changed = {header.index(name): number for number, name in enumerate(columns)}
    for number, row in enumerate(row_texts(records)):
        if number % 20_000 == 0:
            progress.update("Writing the coarsened file", number / max(records.rows, 1))
        distinct = table.row_of[number]
        if distinct < 0:
            continue
        for place, column in changed.items():
            row[place] = table.values[column][table.codes[column][distinct]]
        yield [row[place] for place in keep]

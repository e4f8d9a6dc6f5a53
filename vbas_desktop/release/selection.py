"""What reports say of the filters that chose the records."""

from __future__ import annotations

from pathlib import Path

from vbas_desktop.model.problem import Problem
from vbas_desktop.model.words import counted

from .disclosure import Share


def selection_for_recipients(columns: tuple[str, ...], share: Share) -> list[tuple[str, str]]:
    """Say by which columns records were chosen; no value is named."""
    if not columns:
        return []
    names = ", ".join(f"“{name}”" for name in columns)
    return [("Records chosen by", f"{names}; of the file’s records left out: {share}")]


def selection_in_full(problem: Problem) -> list[tuple[str, str]]:
    """List the filters with their files, for the internal report."""
    selection = problem.selection
    if selection is None:
        return []
    titles = {"keep_records": "Required combinations", "drop_records": "Unwanted combinations"}
    items = []
    for name, file in selection.files:
        columns = ", ".join(f"“{column}”" for column in file.columns)
        listed = counted(len(file.rows), "combination")
        where = f"{Path(file.source.path).name}, SHA-256 {file.source.sha256}"
        items.append((titles[name], f"{listed} of {columns} ({where})"))
    return [*items, ("Records left out by them", f"{selection.records_left_out:,}")]

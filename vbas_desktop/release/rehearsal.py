"""Small made-up files released once, without papers, so that the loops of a release are compiled before it begins."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from vbas_desktop.approaches.registry import make
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.table import load_records
from vbas_desktop.model.problem import Problem, Request
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.model.solution import RunResult

Writing = Callable[[Problem, RecordTable, RunResult, Path], None]


def rehearse_with(write: Writing) -> None:
    """Let ``write`` write and read back a regular file and one with quotes, into a folder that goes away.

    Once all columns are coded, once the texts have too many values for that and are copied from the file.
    """
    regular = [f"{i % 3},{i % 2},text number {i}" for i in range(40)]
    quoted = [f'"{i % 3}",{i % 2},"text, ""quoted"", {i}"' for i in range(40)]
    for rows in (regular, quoted):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file = folder / "records.csv"
            file.write_text("\n".join(["region,colour,text", *rows, ""]), encoding="utf-8")
            table = load_records(file)
            problem = build_problem(table, _regions(), region_column="region", quasi_identifiers=["colour"], k=2)
            result = _result(problem)
            *coded, text = table.columns
            copied = replace(text, categorical=False, categories=None, frequencies=None)
            for columns in (table.columns, (*coded, copied)):
                write(problem, replace(table, columns=columns), result, folder)


def _regions() -> Regions:
    points = np.array([(0.0, 0.0), (1.0, 0.0), (5.0, 5.0)])
    return Regions(("0", "1", "2"), points, CoordinateSystem(CoordinateKind.PLANAR))


def _result(problem: Problem) -> RunResult:
    number, location = make("site_number", "fixed", {"sites": 2}), make("site_location", "balanced-density")
    return run(Request(problem, number, location, make("construction", "voronoi"), range_reach=0))

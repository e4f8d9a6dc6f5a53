"""Small record files with real solutions, for the tests of releases."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import RegionReading, load_regions
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import Grouping, RecordTable
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.releases.folder import ReleaseReport
from vbas_desktop.releases.notation import released_notation
from vbas_desktop.releases.plan import ReleasePlan
from vbas_desktop.releases.record_writer import RecordWriter
from vbas_desktop.releases.records import find_released_records
from vbas_desktop.releases.write import WriteRequest, write_release
from vbas_desktop.releases.written_file import WrittenFile
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

GRID = 4


@dataclass
class Case:
    """A loaded file and its solutions."""

    table: RecordTable
    problem: Problem
    result: RunResult

    @property
    def solution(self) -> Solution:
        return self.result.chosen

    def release(
        self,
        target: Path,
        options: ReleaseOptions | None = None,
        tested: bool = False,
        progress: Progress = NO_PROGRESS,
        document: Mapping[str, Any] | None = None,
    ) -> ReleaseReport:
        """Write the release; unless columns are to be ``tested``, all of them are allowed."""
        options = options or ReleaseOptions(pdf=False)
        if not tested:
            options = options.replaced(allow_columns=self.table.file_format.header)
        request = WriteRequest(
            self.problem, self.table, self.result, self.solution, options, Path(target), document
        )
        return write_release(request, progress)


def write_regions(folder: Path, ids: Sequence[str] | None = None) -> Path:
    """Regions on a square grid, ``r0`` … unless named."""
    names = ids or [f"r{number}" for number in range(GRID * GRID)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "x", "y"])
    writer.writerows([name, number % GRID, number // GRID] for number, name in enumerate(names))
    path = folder / "regions.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def random_rows(records: int, seed: int = 0, regions: int = GRID * GRID) -> list[list[str]]:
    """Rows of name, age, sex, region and note, with a few rare ages."""
    generator = np.random.default_rng(seed)
    ages = generator.choice(["10", "20", "30", "99"], records, p=[0.4, 0.3, 0.29, 0.01])
    return [
        [
            f"person {number}",
            str(ages[number]),
            "fm"[generator.integers(2)],
            f"r{generator.integers(regions)}",
            "x,y",
        ]
        for number in range(records)
    ]


def write_records(folder: Path, rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> Path:
    """A plain CSV file."""
    path = folder / "records.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header or ["name", "age", "sex", "region", "note"])
        writer.writerows(rows)
    return path


def load(
    records: Path,
    regions: Path,
    quasi_identifiers: Sequence[str] = ("age", "sex"),
    k: int = 5,
    sites: int = 3,
    groupings: Sequence[Grouping] = (),
    options: RecordReading | None = None,
    region_column: str = "region",
    unknown_regions: str = "stop",
    coordinates: str = "auto",
) -> Case:
    """Load both files and run a small range of site numbers."""
    table = load_records(records, options or RecordReading(category_counts="no"))
    problem = build_problem(
        table,
        load_regions(regions, RegionReading(coordinates=coordinates)),
        region_column=region_column,
        quasi_identifiers=quasi_identifiers,
        k=k,
        unknown_regions=unknown_regions,
        groupings=groupings,
    )
    request = Request(
        problem,
        create_approach("site_number", "fixed", {"sites": sites}),
        create_approach("site_location", "balanced-density"),
        create_approach("construction", "voronoi"),
        settings=RunSettings(range_reach=1, range_step_percent=40),
    )
    return Case(table, problem, run(request))


def small_case(folder: Path, records: int = 400, seed: int = 0, **more) -> Case:
    """400 records in 16 regions."""
    return load(write_records(folder, random_rows(records, seed)), write_regions(folder), **more)


def write_rows(
    plan: ReleasePlan,
    table: RecordTable,
    options: ReleaseOptions,
    folder: Path,
    as_they_are: bool = False,
) -> tuple[WrittenFile, bytes]:
    """Write the released records alone; returns what is said of the file, and its bytes."""
    options = options.with_secret_drawn()
    records = find_released_records(plan, table, NO_PROGRESS)
    writer = RecordWriter(
        records, options, {} if as_they_are else released_notation(records, options), {}
    )
    out = io.BytesIO()
    return writer.write(out, folder, NO_PROGRESS), out.getvalue()


def without_codes(table: RecordTable, *names: str) -> RecordTable:
    """The table with these columns as if they had too many values to be coded, so that they are read again."""
    columns = (
        replace(facts, categorical=False, categories=None, frequencies=None)
        if facts.name in names
        else facts
        for facts in table.columns
    )
    return replace(table, columns=tuple(columns))


def released_rows(target: Path, delimiter: str = ",", encoding: str = "utf-8") -> list[list[str]]:
    """The released file, names first, as Python's csv module reads it."""
    with (target / "release" / "anonymized.csv").open(encoding=encoding, newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))

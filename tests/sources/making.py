"""Made-up tables with everything that real ones have, and one run with its release on them."""

from __future__ import annotations

import datetime
import string
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from vbas_desktop.approaches.registry import make
from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.problem import Problem, Request
from vbas_desktop.domain.progress import Silent
from vbas_desktop.domain.records import Grouping
from vbas_desktop.domain.solution import RunResult
from vbas_desktop.engine.run import run
from vbas_desktop.files.counting.problem import build_problem
from vbas_desktop.files.records.table import RecordTable, load_records
from vbas_desktop.files.regions.read import load_regions
from vbas_desktop.release.plan import make_plan
from vbas_desktop.release.write import _Job
from vbas_desktop.settings.reading import RecordOptions
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.sources.address import Address, record_place
from vbas_desktop.sources.table import load_source

REGIONS = ("r1", "r 2", "Łódź", 'say "x"', "a,b", "it's")
PLAIN = string.ascii_letters + string.digits + " ,;'\"\\äß漢🙂_%=-+.\n\t"
TEXTS = st.text(PLAIN, max_size=6)
NAMES = ("Region", "region", 'Größe "cm"', "age;years", "a b", "sel ect", "'quoted'", "x", "tags")
DECIMALS = st.decimals(min_value=-999, max_value=999, places=2, allow_nan=False)
DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
MOMENTS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))
FLOATS = st.floats(width=64, allow_infinity=True).map(lambda value: value + 0.0)


def drawn(draw, values, number: int, few: int) -> list:
    """So many values, few of them different and some missing."""
    pool = draw(st.lists(st.none() | values, min_size=1, max_size=few))
    return [pool[place] for place in draw(st.lists(st.integers(0, len(pool) - 1), min_size=number, max_size=number))]


@st.composite
def tables(draw) -> pa.Table:
    """A table of every type; the region column is the first, the quasi-identifiers are the three after it."""
    number = draw(st.integers(1, 60))
    columns = [
        pa.array(drawn(draw, st.sampled_from((*REGIONS, "unknown")), number, 6), pa.string()),
        pa.array(drawn(draw, st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), number, 3), pa.int64()),
        pa.array(drawn(draw, TEXTS, number, 3), pa.string()),
        pa.array(drawn(draw, FLOATS, number, 2), pa.float64()),
        pa.array(drawn(draw, DECIMALS, number, 4), pa.decimal128(8, 2)),
        pa.array(drawn(draw, DATES, number, 4), pa.date32()),
        pa.array(drawn(draw, MOMENTS, number, 4), pa.timestamp("us")),
        pa.array(drawn(draw, st.booleans(), number, 2), pa.bool_()),
        pa.array(drawn(draw, st.sampled_from(["07", "+5", " 5", "1.50", "", "x "]) | TEXTS, number, 5), pa.string()),
    ]
    return pa.table(columns, names=list(NAMES))


@dataclass
class Outcome:
    """What came of a table: the problem, the solutions, and the rows that were released."""

    problem: Problem
    result: RunResult
    rows: list[tuple]
    sizes: list[int]
    coded: list[tuple]


def regions_file(folder: Path) -> Path:
    """Six regions on a line."""
    text = "".join('"{}",{},0\n'.format(name.replace('"', '""'), x) for x, name in enumerate(REGIONS))
    path = folder / "regions.csv"
    path.write_text("id,x,y\n" + text, encoding="utf-8")
    return path


def loaded(place: str) -> RecordTable:
    """The table at a path or address."""
    found = record_place(place)
    if isinstance(found, Address):
        return load_source(found, RecordOptions(category_counts="no"))
    return load_records(found, RecordOptions(category_counts="no"))


def outcome(place: str, folder: Path, k: int, groupings: tuple[Grouping, ...] = (), form: str = "parquet"):
    """What comes of the records at a place: an `Outcome`, or the codes of what is wrong with them."""
    try:
        return _outcome(place, folder, k, groupings, form)
    except InputError as error:
        return sorted(finding.code for finding in error.findings)


def _outcome(place: str, folder: Path, k: int, groupings: tuple[Grouping, ...], form: str) -> Outcome:
    """Count, run and release what is at a place."""
    folder.mkdir()
    table = loaded(place)
    header = table.dialect.header
    try:
        problem = build_problem(
            table,
            load_regions(regions_file(folder)),
            region_column=header[0],
            quasi_identifiers=header[1:4],
            k=k,
            unknown_regions="suppress",
            groupings=groupings,
        )
        request = Request(
            problem=problem,
            site_number=make("site_number", "fixed", {"sites": 2}),
            site_location=make("site_location", "density", {}),
            construction=make("construction", "voronoi", {}),
            range_reach=0,
        )
        result = run(request)
        plan = make_plan(problem, result.chosen)
        if not plan.records_released:
            return Outcome(problem, result, [], [], coded_rows(table))
        options = ReleaseOptions(format=form, class_size="size of class", allow_columns=header, shuffle_seed="7")
        job = _Job(plan, table, result, options, options.released_columns(header), folder, {}, ())
        job.write_and_verify(folder, Silent())
        return Outcome(problem, result, released_rows(folder), sorted(plan.sizes.tolist()), coded_rows(table))
    finally:
        if hasattr(table, "engine"):
            table.close()


def coded_rows(table: RecordTable) -> list[tuple]:
    """All records as the ledger goes through them, sorted."""
    names = table.dialect.header[:5]
    parts = table.pieces(names, Silent(), "Counting")
    return sorted(row for part in parts for row in zip(*(part[name].tolist() for name in names), strict=True))


def released_rows(folder: Path) -> list[tuple]:
    """The released rows, sorted, with missing values as None; CSV as its lines."""
    if (folder / "anonymized.csv").exists():
        import csv

        with (folder / "anonymized.csv").open(encoding="utf-8", newline="") as file:
            return sorted(map(tuple, csv.reader(file)))
    table = pq.read_table(folder / "anonymized.parquet")
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True), key=repr)


def same(one: Outcome | list[str], other: Outcome | list[str]) -> None:
    """Both counted, solved and released the same, or were refused for the same."""
    if isinstance(one, list) or isinstance(other, list):
        assert one == other
        return
    # By place, not by name: where case does not tell names apart, an engine gives one of them another name.
    assert [each.values for each in one.problem.categories] == [each.values for each in other.problem.categories]
    assert one.problem.unknown_region_records == other.problem.unknown_region_records
    for first, second in zip(one.problem.counts.rows, other.problem.counts.rows, strict=True):
        assert np.array_equal(first, second)
    assert np.array_equal(one.problem.counts.classes, other.problem.counts.classes)
    before, after = one.result.chosen, other.result.chosen
    assert np.array_equal(before.membership, after.membership)
    plain = [{n: v for n, v in each.measures.items() if n != "seconds"} for each in (before, after)]
    assert plain[0] == plain[1]
    assert one.sizes == other.sizes
    assert one.rows == other.rows
    assert one.coded == other.coded

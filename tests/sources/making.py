"""Made-up tables with everything that real ones have, and one run with its release on them."""

from __future__ import annotations

import csv
import datetime
import string
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.audit.engine_recount import recount_records
from vbas_desktop.audit.recount import Recount, recount
from vbas_desktop.audit.text_form import StatedForm
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.request import Request
from vbas_desktop.engine.run import run
from vbas_desktop.io.databases.address import Address, parse_address
from vbas_desktop.io.databases.table import open_database_table
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.criteria import SensitiveColumn, parse_criterion
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.model.records import Grouping, RecordTable
from vbas_desktop.model.solution import RunResult
from vbas_desktop.releases.audited_records import write_audited_records
from vbas_desktop.releases.column_coverage import ColumnCoverage
from vbas_desktop.releases.database_records import select_released_records
from vbas_desktop.releases.notation import released_notation
from vbas_desktop.releases.plan import ReleasePlan, build_plan
from vbas_desktop.releases.preparation import PreparedRelease
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

REGIONS = ("r1", "r 2", "Łódź", 'say "x"', "a,b", "it's")
PLAIN = string.ascii_letters + string.digits + " ,;'\"\\äß漢🙂_%=-+.\n\t"
TEXTS = st.text(PLAIN, max_size=6)
NAMES = ("Region", "region", 'Größe "cm"', "age;years", "a b", "sel ect", "'quoted'", "x", "tags")
DECIMALS = st.decimals(min_value=-999, max_value=999, places=2, allow_nan=False)
DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
MOMENTS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))
FLOATS = st.floats(width=64, allow_infinity=True).map(lambda value: value + 0.0)


def drawn(draw, values, number: int, few: int, least: int = 1) -> list:
    """So many values, few of them different and some missing."""
    pool = draw(st.lists(st.none() | values, min_size=least, max_size=few, unique=least > 1))
    return [
        pool[place]
        for place in draw(st.lists(st.integers(0, len(pool) - 1), min_size=number, max_size=number))
    ]


@st.composite
def tables(draw) -> pa.Table:
    """A table of every type; the region column is the first, the quasi-identifiers are the three after it."""
    number = draw(st.integers(1, 60))
    columns = [
        pa.array(drawn(draw, st.sampled_from((*REGIONS, "unknown")), number, 6, least=3), pa.string()),
        pa.array(
            drawn(draw, st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), number, 3), pa.int64()
        ),
        pa.array(drawn(draw, TEXTS, number, 3), pa.string()),
        pa.array(drawn(draw, FLOATS, number, 2), pa.float64()),
        pa.array(drawn(draw, DECIMALS, number, 4), pa.decimal128(8, 2)),
        pa.array(drawn(draw, DATES, number, 4), pa.date32()),
        pa.array(drawn(draw, MOMENTS, number, 4), pa.timestamp("us")),
        pa.array(drawn(draw, st.booleans(), number, 2), pa.bool_()),
        pa.array(
            drawn(draw, st.sampled_from(["07", "+5", " 5", "1.50", "", "x "]) | TEXTS, number, 5),
            pa.string(),
        ),
    ]
    return pa.table(columns, names=list(NAMES))


CRITERIA = (
    "distinct:2",
    "entropy:1.5",
    "recursive:2,2",
    "closeness:0.4",
    "share:60",
    "ordered-closeness:0.4",
)
LIMITS = (
    None,
    RegionConstraints(within=("county",)),
    RegionConstraints(min_records=9),
    RegionConstraints(alone=("a,b",), max_records=30),
)
TIERS = (
    None,
    create_approach("tiers", "columns", {"columns": "county"}),
    create_approach("tiers", "auto", {"factor": 3}),
)
REFINEMENTS = (None, create_approach("refinement", "boundaries", {"effort": 20}))


@dataclass(frozen=True)
class Chosen:
    """What is asked of a run. ``column`` is the sensitive one by its place, with what must hold of it."""

    k: int = 1
    sites: int = 2
    grouped: tuple[str, ...] = ()
    column: int | None = None
    criteria: tuple[str, ...] = ()
    benign: tuple[str, ...] = ()
    limits: RegionConstraints | None = None
    tiers: object = None
    refinement: object = None

    def sensitive(self, header: tuple[str, ...]) -> tuple[SensitiveColumn, ...]:
        if self.column is None:
            return ()
        return (
            SensitiveColumn(
                header[self.column], self.benign, tuple(map(parse_criterion, self.criteria))
            ),
        )


@st.composite
def choices(draw, table: pa.Table) -> Chosen:
    """Anything that can be asked: groups, criteria with and without benign values, limits, tiers, refinement."""
    texts = pc.unique(table.column(2).fill_null("")).to_pylist()
    grouped = tuple(texts[:2]) if draw(st.booleans()) else ()
    plain = Chosen(draw(st.sampled_from([1, 2, 3])), draw(st.sampled_from([2, 4, 6])), grouped)
    if draw(st.sampled_from([False, False, False, True])):
        return plain
    # Numbers without a missing one have an order; texts can be named as benign.
    column = draw(st.sampled_from([None, 4, 7, 8]))
    kinds = CRITERIA if column == 4 and not table.column(4).null_count else CRITERIA[:-1]
    criteria = (
        draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True)) if column else []
    )
    harmless = (
        draw(st.sampled_from([None, *pc.unique(table.column(8)).to_pylist()])) if column == 8 else None
    )
    return replace(
        plain,
        column=column,
        criteria=tuple(criteria),
        benign=() if harmless is None else (harmless,),
        limits=draw(st.sampled_from(LIMITS)),
        tiers=draw(st.sampled_from(TIERS)),
        refinement=draw(st.sampled_from(REFINEMENTS)),
    )


@dataclass
class Outcome:
    """What came of a table: the problem, the solutions, the rows that were released, and what the auditor counted."""

    problem: Problem
    result: RunResult
    recounted: Recount
    coded: list[tuple]
    rows: list[tuple]
    cells: list[list]


def regions_file(folder: Path) -> Path:
    """Six regions on a line, in two counties."""
    rows = [
        '"{}",{},0,{}\n'.format(name.replace('"', '""'), x, "west" if x < 4 else "east")
        for x, name in enumerate(REGIONS)
    ]
    path = folder / "regions.csv"
    path.write_text("id,x,y,county\n" + "".join(rows), encoding="utf-8")
    return path


def loaded(place: str) -> RecordTable:
    """The table at a path or address."""
    found = parse_address(place)
    if isinstance(found, Address):
        return open_database_table(found, RecordReading(category_counts="no"))
    return load_records(found, RecordReading(category_counts="no"))


def outcome(place: str, folder: Path, chosen: Chosen, form: str = "parquet"):
    """What comes of the records at a place: an `Outcome`, or the codes of what is wrong with them."""
    try:
        return _outcome(place, folder, chosen, form)
    except InputError as error:
        return sorted(finding.code for finding in error.findings)


def _outcome(place: str, folder: Path, chosen: Chosen, form: str) -> Outcome:
    """Count, run and release what is at a place."""
    folder.mkdir()
    table = loaded(place)
    header = table.file_format.header
    try:
        problem = build_problem(
            table,
            load_regions(regions_file(folder)),
            region_column=header[0],
            quasi_identifiers=header[1:4],
            k=chosen.k,
            unknown_regions="suppress",
            groupings=(Grouping(header[2], dict.fromkeys(chosen.grouped, "some")),)
            if chosen.grouped
            else (),
            sensitive=chosen.sensitive(header),
        )
        request = Request(
            problem=problem,
            site_number=create_approach("site_number", "fixed", {"sites": chosen.sites}),
            site_location=create_approach("site_location", "density", {}),
            construction=create_approach("construction", "voronoi", {}),
            settings=RunSettings(
                range_reach=0, workers=1, **(chosen.limits.option_values() if chosen.limits else {})
            ),
            tiers=chosen.tiers,
            refinement=chosen.refinement,
        )
        result = run(request)
        plan = build_plan(problem, result.chosen)
        found = Outcome(
            problem, result, recounted(table, folder, chosen), coded_rows(table), [], cells_of(plan)
        )
        if plan.records_released:
            options = ReleaseOptions(
                format=form, class_size="size of class", allow_columns=header, shuffle_seed="7"
            )
            records = select_released_records(plan, table, options, NO_PROGRESS)
            notation = released_notation(records, options)
            coverage = ColumnCoverage(plan.problem.k, plan.records_released, (), ())
            release = PreparedRelease(result, options, records, notation, {}, coverage, ())
            (folder / "release").mkdir()
            write_audited_records(release, folder, NO_PROGRESS)
            found.rows = released_rows(folder / "release")
        return found
    finally:
        if hasattr(table, "engine"):
            table.close()


def cells_of(plan: ReleasePlan) -> list[list]:
    """Every class of every aggregated region: where it is released, or that it is suppressed."""
    return [each.tolist() for each in (plan.indptr, plan.columns, plan.counts, plan.tier_of)] + [
        list(plan.every_code)
    ]


def recounted(table: RecordTable, folder: Path, chosen: Chosen) -> Recount:
    """What the auditor counts: at an address by its queries, of a file by reading its values, written as text."""
    header = table.file_format.header
    sensitive = chosen.sensitive(header)
    if hasattr(table, "engine"):
        return recount_records(table.engine, header[1:4], header[0], NO_PROGRESS, sensitive)
    names = [*header[:4], *(each.column for each in sensitive)]
    with (folder / "texts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        for part in table.pieces(names, NO_PROGRESS, "Reading"):
            texts = [
                [table.facts(name).categories.values[code] for code in part[name]] for name in names
            ]
            writer.writerows(zip(*texts, strict=True))
    return recount(folder / "texts.csv", header[1:4], header[0], StatedForm(","), sensitive=sensitive)


def coded_rows(table: RecordTable) -> list[tuple]:
    """All records as the ledger goes through them, sorted."""
    names = table.file_format.header[:5]
    parts = table.pieces(names, NO_PROGRESS, "Counting")
    return sorted(
        row for part in parts for row in zip(*(part[name].tolist() for name in names), strict=True)
    )


def released_rows(folder: Path) -> list[tuple]:
    """The released rows, sorted, with missing values as None; CSV as its lines."""
    if (folder / "anonymized.csv").exists():
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
    assert [each.values for each in one.problem.categories] == [
        each.values for each in other.problem.categories
    ]
    assert one.problem.unknown_region_records == other.problem.unknown_region_records
    counted = [
        (each.problem.counts, *(part.cells for part in each.problem.sensitive)) for each in (one, other)
    ]
    for first, second in zip(*counted, strict=True):
        assert first.equals(second)
    before, after = one.result.chosen, other.result.chosen
    assert np.array_equal(before.membership, after.membership)
    plain = [{n: v for n, v in each.measures.items() if n != "seconds"} for each in (before, after)]
    assert plain[0] == plain[1]
    assert list(before.sensitive.values()) == list(after.sensitive.values())
    assert one.cells == other.cells
    assert one.rows == other.rows
    assert one.coded == other.coded
    same_recount(one.recounted, other.recounted)


def same_recount(one: Recount, other: Recount) -> None:
    """Both count the same; figures may be added up in another order."""
    assert replace(one, sensitive=()) == replace(other, sensitive=())
    for first, second in zip(one.sensitive, other.sensitive, strict=True):
        assert first.missing == second.missing
        assert first.figures == pytest.approx(second.figures)

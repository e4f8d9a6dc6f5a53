"""All approaches, measured: the command behind `make bench-tables`, which writes the page docs/measured.md.

Every row is kept as soon as it is measured (build/bench-rows.jsonl), with marks of the program's sources and of the
data: after an interruption, or a change of a few tables, only what is missing is measured. The page is written anew
after every table.

``VBAS_BENCH_EASTERN`` and ``VBAS_BENCH_WESTERN`` name folders with other data of the same columns. "hetero" and
"structured" are as Eastern-like, but regions differ, or children are never married and have no degree: they are looked
at if ``VBAS_BENCH_HETERO`` and ``VBAS_BENCH_STRUCTURED`` name folders. ``VBAS_BENCH_PEERS`` is a folder with pymetis
and pygeoda, if these are not installed. Names of data sets after the command restrict it to them: two at a time measure
what a third one, without names, puts together.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parents[2]),
    *filter(None, [os.environ.get("VBAS_BENCH_PEERS")]),
]

from made_data import ROOT, BenchData, made, markdown  # noqa: E402
from measuring import (  # noqa: E402
    SAMPLE,
    Row,
    at_one_percent,
    by_approach,
    by_rule,
    guesses,
    memory,
    problem_of,
    thesis_with_regions_of_both,
)
from peers import gat, metis, skater_by_classes, skater_by_place  # noqa: E402

from vbas_desktop.approaches.registry import list_approaches  # noqa: E402
from vbas_desktop.model.problem import Problem  # noqa: E402

INTRODUCTION = """# All approaches, measured

<!-- Written by `make bench-tables`; changes here are overwritten. -->

These tables compare every location approach and every refinement at the same number of sites, and the rules of other
programs: GAT (the smallest region joins its nearest neighbour), METIS (balanced parts of the graph of neighbours) and
GeoDa's skater (a spanning tree that is cut where the parts become most alike, by place or by the shares of categories).
S is the number of suppressed records. All measures except pieces, regions and CPU seconds are multiples of those of
balanced density. Skater by shares of categories is run on the sample only, since it takes too long with thousands of
initial regions, and skater is not run at all for 6,000 sites. Approaches that leave fewer regions suppress fewer
records for that reason alone, so compare them at similar numbers of regions. Records are made up, k = 5. The rule that
children are never married and have no degree affects 132 classes (age, marital status), but not 924 (age, gender,
income), whose records are the same."""
KEPT = ROOT / "build" / "bench-rows.jsonl"
PAGE = ROOT / "build" / "bench.md"
MEASURED_ROOMS = ("algorithms", "approaches", "model", "engine")
NAMES = {
    "eastern": "Eastern-like",
    "western": "Western-like",
    "hetero": "Eastern-like, regions differ (Dirichlet, 60)",
    "structured": "Eastern-like with structure (children are never married and have no degree)",
    "sample": "the sample",
}
CASES = {
    "eastern": (("44 classes", 1500), ("924 classes", 350), ("924 classes", 100)),
    "hetero": (("44 classes", 1500), ("924 classes", 350)),
    "structured": (("132 classes", 800), ("924 classes", 350)),
    "western": (("44 classes", 6000), ("924 classes", 1400)),
    "sample": (("age, sex, marital_status", 100),),
}
MADE_ELSEWHERE = ("hetero", "structured")
PEERS = {
    "smallest with the nearest (GAT)": gat,
    "METIS": metis,
    "GeoDa skater, by place": skater_by_place,
    "GeoDa skater, by shares of categories": skater_by_classes,
}
SKATER_SITES = 5000
"""For more groups skater takes minutes."""

MEASURES = (
    "average_distance",
    "alternative_average_distance",
    "precision_loss",
    "discernibility",
    "non_uniform_entropy",
    "average_anonymity_deviation",
)
SUPPRESSION, BOTH = {"objective": "suppression"}, {"objective": "both"}
OBJECTIVES = (
    ("thesis", "none", {}),
    ("suppression", "none", SUPPRESSION),
    ("suppression · boundaries", "boundaries", SUPPRESSION),
    ("both", "none", BOTH),
    ("both · boundaries", "boundaries", BOTH),
)
REMEMBERED = (
    ("refine-sites", "refine-sites", "none", {}),
    ("adc", "adc", "none", {}),
    ("adc, objective suppression", "adc", "none", SUPPRESSION),
    ("adc, objective both", "adc", "none", BOTH),
    ("boundaries", "balanced-density", "boundaries", {}),
)
GUESSED = (
    ("balanced-density", "none"),
    ("adc", "none"),
    ("refine-sites", "none"),
    ("balanced-density", "boundaries"),
)


@dataclass(frozen=True)
class Table:
    """One table: its rows by label, and how the measured ones are told."""

    title: str
    like: str
    scenario: str
    header: list[str]
    rows: dict[str, Callable[[Problem], Row | None]]
    told: Callable[[list[Row]], list[list[str]]]


def tables() -> Iterator[Table]:
    """All tables in the order of the page."""
    known = [
        like
        for like in CASES
        if like not in MADE_ELSEWHERE or os.environ.get(f"VBAS_BENCH_{like.upper()}")
    ]
    yield from (_of_approaches(like, *case) for like in known for case in CASES[like])
    yield from (_of_objectives("eastern", *case) for case in CASES["eastern"][1:])
    yield from (
        _of_guesses(like, *case)
        for like in known
        if like in ("eastern", "hetero")
        for case in CASES[like][:2]
    )
    yield from (_of_one_percent(like, CASES[like][-1][0]) for like in ("eastern", "sample"))
    for scenario, sites in (("44 classes", 1500), ("924 classes", 350), ("13,860 classes", 40)):
        yield _of_memory("eastern", scenario, sites)
    yield _of_memory("western", "924 classes", 1400)


def _of_approaches(like: str, scenario: str, sites: int) -> Table:
    rows = {
        title: partial(by_approach, sites=sites, location=location, refinement=refinement, values=values)
        for title, location, refinement, values in _contenders()
    }
    for name, rule in PEERS.items():
        if rule is not skater_by_place or sites <= SKATER_SITES:
            rows[name] = partial(by_rule, sites=sites, rule=rule)
    return _against_first(f"{NAMES[like]}, {scenario}, {sites:,} sites", like, scenario, rows)


def _of_objectives(like: str, scenario: str, sites: int) -> Table:
    rows = {
        title: partial(by_approach, sites=sites, location="adc", refinement=refinement, values=values)
        for title, refinement, values in OBJECTIVES
    }
    rows["thesis, with fewer sites: as many regions as both"] = partial(
        thesis_with_regions_of_both, sites=sites
    )
    title = (
        f"ADC by objective, in multiples of the thesis' own: {NAMES[like]}, {scenario}, {sites:,} sites"
    )
    return _against_first(title, like, scenario, rows)


def _against_first(
    title: str, like: str, scenario: str, rows: dict[str, Callable[[Problem], Row | None]]
) -> Table:
    header = [
        "",
        "S",
        "ratio",
        *(name.replace("_", " ") for name in MEASURES),
        "in pieces",
        "regions",
        "CPU s",
    ]
    return Table(
        title, like, scenario, header, rows, lambda found: [_against(row, found[0]) for row in found]
    )


def _contenders() -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """Every location approach; ADC with its other objectives; the refinements after the two that are worth it."""
    for location in list_approaches("site_location"):
        yield location, location, "none", {}
    yield "adc, objective suppression", "adc", "none", SUPPRESSION
    yield "adc, objective both", "adc", "none", BOTH
    for location in ("balanced-density", "refine-sites"):
        for refinement in list_approaches("refinement"):
            if refinement != "none":
                yield f"{location} · {refinement}", location, refinement, {}


def _against(row: Row, base: Row) -> list[str]:
    lost, first = row["suppressed_records"], base["suppressed_records"]
    ratios = [f"{row[name] / base[name]:.3f}" if base[name] and row[name] else "–" for name in MEASURES]
    pieces, regions = f"{row['regions_in_pieces']:,}", f"{row['regions']:,}"
    return [f"{lost:,}", f"{lost / max(1, first):.3f}", *ratios, pieces, regions, f"{row['cpu']:.1f}"]


def _of_guesses(like: str, scenario: str, sites: int) -> Table:
    rows = {
        f"{location} · {refinement}": partial(
            guesses, sites=sites, location=location, refinement=refinement
        )
        for location, refinement in GUESSED
    }
    header = [
        "",
        "unreleased cells",
        "records in them",
        "empty %",
        "guessed %",
        "guessed % of those with records",
    ]
    title = f"What an informed adversary guesses of unreleased cells: {NAMES[like]}, {scenario}, {sites:,} sites"
    return Table(title, like, scenario, header, rows, lambda found: [_guessed(row) for row in found])


def _guessed(row: Row) -> list[str]:
    shares = [f"{100 * row[name]:.0f}" for name in ("empty", "right", "right_with_records")]
    return [f"{row['cells']:,}", f"{row['records']:,}", *shares]


def _of_one_percent(like: str, scenario: str) -> Table:
    rows = {
        title: partial(at_one_percent, location=location, refinement=refinement)
        for title, location, refinement in (
            ("balanced-density", "balanced-density", "none"),
            ("refine-sites", "refine-sites", "none"),
            ("balanced-density · boundaries", "balanced-density", "boundaries"),
        )
    }
    title = f"Regions that 1 % of loss allows: {NAMES[like]}, {scenario}"
    header = ["", "sites", "regions", "suppressed %", "CPU s"]
    return Table(title, like, scenario, header, rows, lambda found: [_allowed(row) for row in found])


def _allowed(row: Row) -> list[str]:
    return [f"{row['sites']:,}", f"{row['regions']:,}", f"{100 * row['lost']:.3f}", f"{row['cpu']:.1f}"]


def _of_memory(like: str, scenario: str, sites: int) -> Table:
    rows = {
        title: partial(memory, sites=sites, location=location, refinement=refinement, values=values)
        for title, location, refinement, values in REMEMBERED
    }
    title = f"Memory of counts and a run / counts: {NAMES[like]}, {scenario}, {sites:,} sites"
    header = ["", "counts MB", "beside MB", "ratio"]
    return Table(title, like, scenario, header, rows, lambda found: [_remembered(row) for row in found])


def _remembered(row: Row) -> list[str]:
    counts, beside = row["counts"], row["beside"]
    return [f"{counts / 1e6:.1f}", f"{beside / 1e6:.1f}", f"{1 + beside / counts:.2f}"]


class Kept:
    """Rows that were measured with these sources and data, now or before."""

    def __init__(self, path: Path) -> None:
        self._path, self._rows = path, {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # the line that an interruption cut off
            self._rows[entry["key"]] = entry["row"]

    def get(self, table: Table, label: str) -> Row | None:
        """The row, if there is one."""
        return self._rows.get(self._key(table, label))

    def put(self, table: Table, label: str, row: Row) -> None:
        """Keep a row for now and for later."""
        key = self._key(table, label)
        self._rows[key] = row
        self._path.parent.mkdir(exist_ok=True)
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"key": key, "row": row}) + "\n")

    @staticmethod
    def _key(table: Table, label: str) -> str:
        return " | ".join([_sources(), _data(table.like), table.title, label])


@cache
def _sources() -> str:
    """A mark of all that decides a row but the data."""
    code = [
        path for room in MEASURED_ROOMS for path in sorted((ROOT / "vbas_desktop" / room).rglob("*.py"))
    ]
    here = [Path(__file__).with_name(name) for name in ("measuring.py", "peers.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in [*code, *here])).hexdigest()[:12]


@cache
def _data(like: str) -> str:
    data = (
        BenchData(SAMPLE / "records.csv", SAMPLE / "regions.geojson") if like == "sample" else made(like)
    )
    digest = hashlib.sha256()
    for path in (data.records, data.regions):
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:12]


def main() -> None:
    """Measure what is missing, tell every row, write the page."""
    chosen = sys.argv[1:] or list(CASES)
    wanted, kept, texts = (
        [table for table in tables() if table.like in chosen],
        Kept(KEPT),
        [INTRODUCTION],
    )
    number, done, start = sum(len(table.rows) for table in wanted), 0, time.perf_counter()
    for table in wanted:
        found: dict[str, Row] = {}
        for label, measure in table.rows.items():
            done += 1
            row, how = kept.get(table, label), "kept"
            if row is None:
                begin = time.perf_counter()
                row = measure(problem_of(table.like, table.scenario))
                how = (
                    f"{time.perf_counter() - begin:.1f} s"
                    if row
                    else "left out: not installed, or too large for it"
                )
                if row is not None:
                    kept.put(table, label, row)
            if row is not None:
                found[label] = row
            minutes = (time.perf_counter() - start) / 60
            _say(f"[{done}/{number}, {minutes:.1f} min] {table.title} · {label}: {how}")
        cells = [
            [label, *told] for label, told in zip(found, table.told(list(found.values())), strict=True)
        ]
        texts.append(markdown(table.title, table.header, cells))
        PAGE.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    _say(f"Written to {PAGE.relative_to(ROOT)}; it is docs/measured.md when copied there.")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

"""The thesis' comparison with seeded growth on Prince Edward Island: its tables 19 to 22.

18 scenarios: nine selections of attributes, generalised or not. Growth from seeds, as in GeoLeader, decides how many
regions there are; balanced density and ADC then get as many sites.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.approaches.registry import make
from vbas_desktop.engine.run import run
from vbas_desktop.io.places import resource
from vbas_desktop.model.problem import Problem, Request
from vbas_desktop.model.progress import Progress, Span

from .published import BESIDE, Values, beside, beside_heads, csv_of, medians, read_published, shown_beside

SELECTIONS = {
    "Age, Gender": ("age", "gender"),
    "Age, Income": ("age", "income"),
    "Highest Degree, Gender": ("education", "gender"),
    "Highest Degree, Marital Status, Gender": ("education", "marital", "gender"),
    "Age, Gender, Income": ("age", "gender", "income"),
    "Age, Income, Marital Status": ("age", "income", "marital"),
    "Highest Degree, Marital Status, Religion, Gender": ("education", "marital", "religion", "gender"),
    "Highest Degree, Marital Status, Gender, Income": ("education", "marital", "gender", "income"),
    "Age, Gender, Marital Status, Religion": ("age", "gender", "marital", "religion"),
}
"""The selections as the tables name them, and the columns that `vbas generate` writes."""

METHODS = ("growth", "balanced-density", "adc")
FIRST_TABLE = {"growth": 19, "balanced-density": 21, "adc": 21}
GROWN = {"method": "seeded", "cutoff": "maxcombs", "model": "eastern"}
"""The parameters by which our construction grows districts as GeoLeader does, with which the thesis compared."""
PUBLISHED_AS = {"geoleader": "growth"}

MEASURES = (
    "suppressed_records",
    "average_distance",
    "alternative_average_distance",
    "discernibility",
    "non_uniform_entropy",
)
SOURCE = (
    "W. L. Croft, Geographic Partitioning Techniques for the Anonymization of Health Care Data, Carleton University, "
    "2015, tables 19 to 22"
)
"""Where the published figures come from."""

COLUMNS = ("table", "scenario", "method", "sites", *MEASURES, "seconds")
"""The columns of a table as CSV; a reference file has the same."""


@dataclass(frozen=True)
class Row:
    """One row of a table."""

    table: int
    scenario: str
    method: str
    sites: int
    values: Values

    @property
    def key(self) -> tuple[int, str, str]:
        """What the row is about, whatever came out."""
        return self.table, self.scenario, self.method


def rows_of(problem: Problem, scenario: str, generalised: bool, seed: int, progress: Progress) -> Iterator[Row]:
    """The three methods on one scenario."""
    number, sites = make("site_number", "maxcombs", {"model": "eastern"}), 0
    for place, method in enumerate(METHODS):
        if method != "growth":
            number = make("site_number", "fixed", {"sites": sites})
        request = Request(
            problem=problem,
            site_number=number,
            site_location=make("site_location", method if method != "growth" else "balanced-density"),
            construction=make("construction", "growth", GROWN)
            if method == "growth"
            else make("construction", "voronoi"),
            range_reach=0,
            random_seed=seed,
            workers=1,
        )
        solution = run(request, Span(progress, place / len(METHODS), (place + 1) / len(METHODS))).solutions[0]
        if method == "growth":
            sites = solution.aggregated_regions
        values = {name: solution.measures.get(name) for name in (*MEASURES, "seconds")}
        yield Row(FIRST_TABLE[method] + generalised, scenario, method, sites, values)


def published_island() -> list[Row]:
    """The published rows that come with the program."""
    return read_island_reference(resource("published/island.csv"))


def read_island_reference(path: Path) -> list[Row]:
    """The published rows, from a CSV with the columns of `COLUMNS`."""
    return read_published(path, COLUMNS, " 19 to 22", _published)


def _published(row: Mapping[str, str]) -> Row:
    method = PUBLISHED_AS.get(row["method"], row["method"])
    values = {name: float(row[name]) if row[name] else None for name in (*MEASURES, "seconds")}
    return Row(int(row["table"]), row["scenario"], method, int(row["sites"]), values)


def island_csv(rows: Iterable[Row]) -> str:
    """Rows as CSV, in the form of a reference file."""
    return csv_of(COLUMNS, ([*row.key, row.sites, *(row.values[name] for name in COLUMNS[4:])] for row in rows))


def beside_csv(rows: Sequence[Row], published: Sequence[Row]) -> str:
    """Our rows with the published ones and the ratios."""
    known = {row.key: row for row in published}
    told = []
    for row in rows:
        other = known.get(row.key)
        sites, theirs = (None, None) if other is None else (other.sites, other.values)
        told.append([*row.key, row.sites, sites, *beside(row.values, theirs, MEASURES)])
    return csv_of([*COLUMNS[:4], "sites_published", *beside_heads(MEASURES)], told)


_CLAIMS = (
    ("Balanced density has a lower distance to the mean point than growth", "alternative_average_distance"),
    ("Balanced density suppresses fewer records than growth", "suppressed_records"),
    ("Balanced density has a lower discernibility than growth", "discernibility"),
    ("Balanced density has a lower entropy than growth", "non_uniform_entropy"),
    ("Balanced density is faster than growth", "seconds"),
)


def island_lines(rows: Sequence[Row], published: Sequence[Row]) -> list[str]:
    """Numbers of regions and measures against the published ones, then what both say of the two methods."""
    lines = []
    if published:
        known = {row.key: row for row in published}
        lines.append("Median of ours by published")
        for method in METHODS:
            mine = [row for row in rows if row.method == method and row.key in known]
            if not mine:
                continue
            sites = statistics.median(row.sites / known[row.key].sites for row in mine)
            others = medians([(row.values, known[row.key].values) for row in mine], MEASURES)
            lines.append(f"- {method}: {', '.join([f'regions {sites:.2f}', *others])}")
        lines.append("")
    lines.append("Balanced density against growth with as many regions")
    for sentence, measure in _CLAIMS:
        told = [f"{sentence}: {_decided(rows, measure)}"]
        told += [f"published: {_decided(published, measure)}"] if published else []
        lines.append(f"- {'; '.join(told)}")
    return lines


def _decided(rows: Sequence[Row], measure: str) -> str:
    of = {(row.table, row.scenario, row.method): row.values[measure] for row in rows}
    pairs = [
        (mine, of.get((table - 2, scenario, "growth")))
        for (table, scenario, method), mine in of.items()
        if method == "balanced-density"
    ]
    both = [(mine, other) for mine, other in pairs if mine is not None and other is not None]
    fewer, equal = sum(mine < other for mine, other in both), sum(mine == other for mine, other in both)
    return f"in {fewer} of {len(both)} scenarios" + (f", equal in {equal}" if equal else "")


def island_markdown(rows: Sequence[Row], published: Sequence[Row]) -> str:
    """Write the four tables for people, each figure with the published one and their ratio."""
    known = {row.key: row for row in published}
    titles = ("suppressed", "distance", "distance to the mean point", "discernibility", "entropy (bits)", "seconds")
    lines = []
    for table in sorted({row.table for row in rows}):
        lines += [f"## Table {table}{', generalised' if table % 2 == 0 else ''}", ""]
        lines += [BESIDE.strip(), ""] if known else []
        lines += ["| scenario | method | regions | " + " | ".join(titles) + " |", "| --- | --- |" + " ---: |" * 7]
        for row in (row for row in rows if row.table == table):
            lines.append(_markdown_row(row, known.get(row.key)))
        lines.append("")
    return "\n".join(lines)


def _markdown_row(row: Row, published: Row | None) -> str:
    theirs = None if published is None else published.values
    values = " | ".join(shown_beside(name, row.values, theirs) for name in (*MEASURES, "seconds"))
    sites = f"{row.sites:,}" if published is None else f"{row.sites:,} / {published.sites:,}"
    return f"| {row.scenario} | {row.method} | {sites} | {values} |"

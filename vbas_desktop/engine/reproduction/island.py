"""The thesis' comparison with seeded growth on Prince Edward Island: its tables 19 to 22.

18 scenarios: nine selections of attributes, generalised or not. Growth from seeds, as in GeoLeader, decides how many
regions there are; balanced density and ADC then get as many sites.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.engine.reproduction.published import (
    PAIR_NOTE,
    Values,
    describe_median_ratios,
    format_pair,
    list_paired_columns,
    pair_with_published,
)
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.model.text import format_csv
from vbas_desktop.settings.run import RunSettings

from ..request import Request
from ..run import run

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
class IslandRow:
    """One row of a table."""

    table: int
    scenario: str
    method: str
    sites: int
    values: Values

    @property
    def key(self) -> tuple[int, str, str]:
        """Return what identifies the row."""
        return self.table, self.scenario, self.method


def run_island_methods(
    problem: Problem, scenario: str, generalised: bool, seed: int, progress: Progress
) -> Iterator[IslandRow]:
    """Run the three methods on one scenario."""
    number = create_approach("site_number", "maxcombs", {"model": "eastern"})
    sites = 0
    for index, method in enumerate(METHODS):
        if method != "growth":
            number = create_approach("site_number", "fixed", {"sites": sites})
        request = Request(
            problem=problem,
            site_number=number,
            site_location=create_approach(
                "site_location", method if method != "growth" else "balanced-density"
            ),
            construction=create_approach("construction", "growth", GROWN)
            if method == "growth"
            else create_approach("construction", "voronoi"),
            settings=RunSettings(range_reach=0, random_seed=seed, workers=1),
        )
        solution = run(
            request, SubProgress(progress, index / len(METHODS), (index + 1) / len(METHODS))
        ).solutions[0]
        if method == "growth":
            sites = solution.aggregated_regions
        values = {name: solution.measures.get(name) for name in (*MEASURES, "seconds")}
        yield IslandRow(FIRST_TABLE[method] + generalised, scenario, method, sites, values)


def format_island_csv(rows: Iterable[IslandRow]) -> str:
    """Format rows as CSV, in the form of a reference file."""
    return format_csv(
        COLUMNS, ([*row.key, row.sites, *(row.values[name] for name in COLUMNS[4:])] for row in rows)
    )


def format_paired_island_csv(rows: Sequence[IslandRow], published: Sequence[IslandRow]) -> str:
    """Format our rows with the published ones and the ratios."""
    published_by_key = {row.key: row for row in published}
    lines = []
    for row in rows:
        other = published_by_key.get(row.key)
        sites, theirs = (None, None) if other is None else (other.sites, other.values)
        lines.append([*row.key, row.sites, sites, *pair_with_published(row.values, theirs, MEASURES)])
    return format_csv([*COLUMNS[:4], "sites_published", *list_paired_columns(MEASURES)], lines)


_CLAIMS = (
    (
        "Balanced density has a lower distance to the mean point than growth",
        "alternative_average_distance",
    ),
    ("Balanced density suppresses fewer records than growth", "suppressed_records"),
    ("Balanced density has a lower discernibility than growth", "discernibility"),
    ("Balanced density has a lower entropy than growth", "non_uniform_entropy"),
    ("Balanced density is faster than growth", "seconds"),
)


def describe_island(rows: Sequence[IslandRow], published: Sequence[IslandRow]) -> list[str]:
    """Describe numbers of regions and measures against the published ones, then balanced density against growth."""
    lines = []
    if published:
        published_by_key = {row.key: row for row in published}
        lines.append("Median of ours by published")
        for method in METHODS:
            mine = [row for row in rows if row.method == method and row.key in published_by_key]
            if not mine:
                continue
            sites = statistics.median(row.sites / published_by_key[row.key].sites for row in mine)
            others = describe_median_ratios(
                [(row.values, published_by_key[row.key].values) for row in mine], MEASURES
            )
            lines.append(f"- {method}: {', '.join([f'regions {sites:.2f}', *others])}")
        lines.append("")
    lines.append("Balanced density against growth with as many regions")
    for sentence, measure in _CLAIMS:
        parts = [f"{sentence}: {_count_decided(rows, measure)}"]
        parts += [f"published: {_count_decided(published, measure)}"] if published else []
        lines.append(f"- {'; '.join(parts)}")
    return lines


def _count_decided(rows: Sequence[IslandRow], measure: str) -> str:
    of = {(row.table, row.scenario, row.method): row.values[measure] for row in rows}
    pairs = [
        (mine, of.get((table - 2, scenario, "growth")))
        for (table, scenario, method), mine in of.items()
        if method == "balanced-density"
    ]
    both = [(mine, other) for mine, other in pairs if mine is not None and other is not None]
    fewer = sum(mine < other for mine, other in both)
    equal = sum(mine == other for mine, other in both)
    return f"in {fewer} of {len(both)} scenarios" + (f", equal in {equal}" if equal else "")


def format_island_markdown(rows: Sequence[IslandRow], published: Sequence[IslandRow]) -> str:
    """Write the four tables for people, each figure with the published one and their ratio."""
    published_by_key = {row.key: row for row in published}
    titles = (
        "suppressed",
        "distance",
        "distance to the mean point",
        "discernibility",
        "entropy (bits)",
        "seconds",
    )
    lines = []
    for table in sorted({row.table for row in rows}):
        lines += [f"## Table {table}{', generalised' if table % 2 == 0 else ''}", ""]
        lines += [PAIR_NOTE.strip(), ""] if published_by_key else []
        lines += [
            "| scenario | method | regions | " + " | ".join(titles) + " |",
            "| --- | --- |" + " ---: |" * 7,
        ]
        for row in (row for row in rows if row.table == table):
            lines.append(_markdown_row(row, published_by_key.get(row.key)))
        lines.append("")
    return "\n".join(lines)


def _markdown_row(row: IslandRow, published: IslandRow | None) -> str:
    theirs = None if published is None else published.values
    values = " | ".join(format_pair(name, row.values, theirs) for name in (*MEASURES, "seconds"))
    sites = f"{row.sites:,}" if published is None else f"{row.sites:,} / {published.sites:,}"
    return f"| {row.scenario} | {row.method} | {sites} | {values} |"

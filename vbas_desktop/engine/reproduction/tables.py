"""The tables of the thesis as Markdown, and side by side with published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vbas_desktop.engine.reproduction.published import (
    PAIR_NOTE,
    Values,
    compute_ratio,
    describe_median_ratios,
    format_pair,
    format_value,
    list_paired_columns,
    pair_with_published,
)
from vbas_desktop.model.text import format_csv

from .experiments import MEASURES, ThesisRow

_TITLES = ("suppressed", "distance", "precision loss", "discernibility", "entropy (bits)", "seconds")


@dataclass(frozen=True)
class RowPair:
    """One of our rows with the published one of the same place; None where it was not published."""

    mine: ThesisRow
    published: ThesisRow | None

    @property
    def same_sites(self) -> bool | None:
        """Test whether both have the same number of sites; None if the row was not published."""
        return None if self.published is None else self.mine.sites == self.published.sites

    @property
    def values(self) -> tuple[Values, Values | None]:
        """Return the values of both rows."""
        return self.mine.values, None if self.published is None else self.published.values

    def compute_ratio(self, measure: str) -> float | None:
        """Divide our value by the published one; None where either is missing or the published one is zero."""
        return compute_ratio(*self.values, measure)


def pair_rows(mine: Sequence[ThesisRow], published: Sequence[ThesisRow]) -> list[RowPair]:
    """Pair all our rows with their published counterparts."""
    published_by_key = {cell.key: cell for cell in published}
    return [RowPair(cell, published_by_key.get(cell.key)) for cell in mine]


def list_unpublished(sides: Sequence[RowPair]) -> list[RowPair]:
    """List the rows that the publication left out: no row, or no result in it."""
    return [
        side
        for side in sides
        if side.published is None or side.published.values["suppressed_records"] is None
    ]


def format_paired_csv(sides: Sequence[RowPair]) -> str:
    """Format both rows of each pair and the ratios as CSV."""
    own = ("table", "site_number", "site_location", "adc_seeding", "sites")
    rows = []
    for side in sides:
        sites = None if side.published is None else side.published.sites
        equal = {True: "yes", False: "no", None: None}[side.same_sites]
        cells = [getattr(side.mine, name) for name in own]
        rows.append([*cells, sites, equal, *pair_with_published(*side.values, MEASURES)])
    return format_csv([*own, "sites_published", "sites_equal", *list_paired_columns(MEASURES)], rows)


def describe_site_numbers(sides: Sequence[RowPair]) -> Iterator[str]:
    """Say for each number approach whether the numbers of sites are the published ones."""
    for number in dict.fromkeys(side.mine.site_number for side in sides):
        mine = [side for side in sides if side.mine.site_number == number and side.published is not None]
        wrong = [side for side in mine if not side.same_sites]
        tables = sorted({side.mine.table for side in wrong})
        if not mine:
            continue
        if not wrong:
            yield f"{number}: all numbers of sites are the published ones ({len(mine):,} rows)"
        else:
            first = wrong[0]
            assert first.published is not None
            listed = ", ".join(map(str, tables))
            yield (
                f"{number}: {len(wrong):,} of {len(mine):,} rows have other numbers of sites (tables {listed}; "
                f"first {first.mine.sites:,} instead of {first.published.sites:,})"
            )


def describe_ratios(sides: Sequence[RowPair]) -> Iterator[str]:
    """Describe the median ratio of each measure for each location approach."""
    for location in dict.fromkeys(side.mine.location for side in sides):
        ratios = ", ".join(
            describe_median_ratios(
                [side.values for side in sides if side.mine.location == location], MEASURES
            )
        )
        yield f"{location}: {ratios}" if ratios else f"{location}: nothing published"


def format_tables_markdown(cells: Sequence[ThesisRow], published: Sequence[ThesisRow] = ()) -> str:
    """Write all tables, each figure with the published one and their ratio; rows that were not published have a +."""
    published_by_key = {
        cell.key: cell for cell in published if cell.values["suppressed_records"] is not None
    }
    lines = []
    for table in dict.fromkeys(cell.table for cell in cells):
        mine = [cell for cell in cells if cell.table == table]
        facts = mine[0].facts
        lines += [
            f"## Table {table}: {facts['quasi_identifiers']}{', generalised' if facts['generalised'] == 'yes' else ''}",
            "",
            f"{int(facts['records']):,} records, {int(facts['regions']):,} regions, {int(facts['classes']):,} classes."
            f"{PAIR_NOTE if published else ''}",
            "",
            "| number / location | sites | " + " | ".join(_TITLES) + " |",
            "| --- |" + " ---: |" * (len(_TITLES) + 1),
        ]
        for cell in mine:
            mark = " +" if published and cell.key not in published_by_key else ""
            other = published_by_key.get(cell.key)
            theirs = None if other is None else other.values
            values = " | ".join(
                format_pair(name, cell.values, theirs) for name in (*MEASURES, "seconds")
            )
            sites = f"{cell.sites:,}" if other is None else f"{cell.sites:,} / {other.sites:,}"
            lines.append(f"| {cell.site_number} / {cell.location}{mark} | {sites} | {values} |")
        lines.append("")
    return "\n".join(lines)


def format_suppression_markdown(cells: Sequence[ThesisRow]) -> str:
    """Format the suppressed records of each table, one column per location approach, refinements included."""
    locations = list(dict.fromkeys(cell.location for cell in cells))
    cell_of = {(cell.table, cell.site_number, cell.rank, cell.location): cell for cell in cells}
    lines = [
        "# Suppressed records",
        "",
        f"| table | number | sites | {' | '.join(locations)} |",
        "| ---: | --- | ---: |" + " ---: |" * len(locations),
    ]
    for table, number, position in dict.fromkeys(
        (cell.table, cell.site_number, cell.rank) for cell in cells
    ):
        row = [cell_of.get((table, number, position, location)) for location in locations]
        sites = next(cell.sites for cell in row if cell is not None)
        values = " | ".join(
            format_value("", None if cell is None else cell.values["suppressed_records"]) for cell in row
        )
        lines.append(f"| {table} | {number} | {sites:,} | {values} |")
    return "\n".join(lines) + "\n"

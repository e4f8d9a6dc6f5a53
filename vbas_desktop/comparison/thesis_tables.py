"""The tables of the thesis as Markdown, and side by side with published ones."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .thesis import MEASURES, Cell

_TITLES = ("suppressed", "distance", "precision loss", "discernibility", "entropy (bits)", "seconds")


@dataclass(frozen=True)
class Side:
    """One of our rows with the published one of the same place; None where it was not published."""

    mine: Cell
    published: Cell | None

    @property
    def same_sites(self) -> bool | None:
        """Whether both have the same number of sites."""
        return None if self.published is None else self.mine.sites == self.published.sites

    def ratio(self, measure: str) -> float | None:
        """Ours by the published value; None where either is missing or the published one is zero."""
        mine = self.mine.values.get(measure)
        published = self.published.values.get(measure) if self.published is not None else None
        return mine / published if mine is not None and published else None


def side_by_side(mine: Sequence[Cell], published: Sequence[Cell]) -> list[Side]:
    """All our rows with their published counterparts."""
    known = {cell.key: cell for cell in published}
    return [Side(cell, known.get(cell.key)) for cell in mine]


def filled(sides: Sequence[Side]) -> list[Side]:
    """The rows that the publication left out: no row, or no result in it."""
    return [side for side in sides if side.published is None or side.published.values["suppressed_records"] is None]


def side_by_side_csv(sides: Sequence[Side]) -> str:
    """Both sides and the ratios as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = [column for name in MEASURES for column in (name, f"{name}_published", f"{name}_ratio")]
    writer.writerow(
        ["table", "site_number", "site_location", "adc_seeding", "sites", "sites_published", "sites_equal", *heads]
    )
    for side in sides:
        cell, other = side.mine, side.published
        row: list[object] = [cell.table, cell.site_number, cell.site_location, cell.adc_seeding, cell.sites]
        row += ["", ""] if other is None else [other.sites, "yes" if side.same_sites else "no"]
        for name in MEASURES:
            row += [cell.values[name], None if other is None else other.values[name], side.ratio(name)]
        writer.writerow(["" if value is None else value for value in row])
    return text.getvalue()


def sites_lines(sides: Sequence[Side]) -> Iterator[str]:
    """For each table and number approach: are the numbers of sites the published ones?"""
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


def ratio_lines(sides: Sequence[Side]) -> Iterator[str]:
    """For each location approach: the median of the ratios of each measure."""
    for location in dict.fromkeys(side.mine.location for side in sides):
        parts = []
        for name in MEASURES:
            ratios = [r for side in sides if side.mine.location == location and (r := side.ratio(name)) is not None]
            parts.append(f"{name.replace('_', ' ')} {statistics.median(ratios):.2f}" if ratios else "")
        told = ", ".join(part for part in parts if part)
        yield f"{location}: {told}" if told else f"{location}: nothing published"


def tables_markdown(cells: Sequence[Cell], published: Sequence[Cell] = ()) -> str:
    """All tables; rows that were not published are marked with +."""
    known = {cell.key for cell in published if cell.values["suppressed_records"] is not None}
    lines = []
    for table in dict.fromkeys(cell.table for cell in cells):
        mine = [cell for cell in cells if cell.table == table]
        facts = mine[0].facts
        lines += [
            f"## Table {table}: {facts['quasi_identifiers']}{', generalised' if facts['generalised'] == 'yes' else ''}",
            "",
            f"{int(facts['records']):,} records, {int(facts['regions']):,} regions, {int(facts['classes']):,} classes.",
            "",
            "| number / location | sites | " + " | ".join(_TITLES) + " |",
            "| --- |" + " ---: |" * (len(_TITLES) + 1),
        ]
        for cell in mine:
            mark = " +" if published and cell.key not in known else ""
            shown = [_shown(name, cell.values[name]) for name in (*MEASURES, "seconds")]
            lines.append(f"| {cell.site_number} / {cell.location}{mark} | {cell.sites:,} | {' | '.join(shown)} |")
        lines.append("")
    return "\n".join(lines)


def columns_markdown(cells: Sequence[Cell]) -> str:
    """The suppressed records of each table with one column for each location approach, refinements included."""
    locations = list(dict.fromkeys(cell.location for cell in cells))
    lost = {(cell.table, cell.site_number, cell.place, cell.location): cell for cell in cells}
    lines = [
        "# Suppressed records",
        "",
        f"| table | number | sites | {' | '.join(locations)} |",
        "| ---: | --- | ---: |" + " ---: |" * len(locations),
    ]
    for table, number, place in dict.fromkeys((cell.table, cell.site_number, cell.place) for cell in cells):
        row = [lost.get((table, number, place, location)) for location in locations]
        sites = next(cell.sites for cell in row if cell is not None)
        shown = ["–" if cell is None else _shown("", cell.values["suppressed_records"]) for cell in row]
        lines.append(f"| {table} | {number} | {sites:,} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _shown(name: str, value: float | int | None) -> str:
    if value is None:
        return "–"
    digits = {"average_distance": 4, "precision_loss": 4, "seconds": 2}.get(name, 0)
    return f"{value:,.{digits}f}"

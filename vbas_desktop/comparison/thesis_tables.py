"""The tables of the thesis as Markdown, and side by side with published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .published import BESIDE, Values, beside, beside_heads, csv_of, medians, ratio, shown, shown_beside
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

    @property
    def values(self) -> tuple[Values, Values | None]:
        """The values of both."""
        return self.mine.values, None if self.published is None else self.published.values

    def ratio(self, measure: str) -> float | None:
        """Ours by the published value; None where either is missing or the published one is zero."""
        return ratio(*self.values, measure)


def side_by_side(mine: Sequence[Cell], published: Sequence[Cell]) -> list[Side]:
    """All our rows with their published counterparts."""
    known = {cell.key: cell for cell in published}
    return [Side(cell, known.get(cell.key)) for cell in mine]


def filled(sides: Sequence[Side]) -> list[Side]:
    """The rows that the publication left out: no row, or no result in it."""
    return [side for side in sides if side.published is None or side.published.values["suppressed_records"] is None]


def side_by_side_csv(sides: Sequence[Side]) -> str:
    """Both sides and the ratios as CSV."""
    own = ("table", "site_number", "site_location", "adc_seeding", "sites")
    rows = []
    for side in sides:
        sites = None if side.published is None else side.published.sites
        equal = {True: "yes", False: "no", None: None}[side.same_sites]
        cells = [getattr(side.mine, name) for name in own]
        rows.append([*cells, sites, equal, *beside(*side.values, MEASURES)])
    return csv_of([*own, "sites_published", "sites_equal", *beside_heads(MEASURES)], rows)


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
        told = ", ".join(medians([side.values for side in sides if side.mine.location == location], MEASURES))
        yield f"{location}: {told}" if told else f"{location}: nothing published"


def tables_markdown(cells: Sequence[Cell], published: Sequence[Cell] = ()) -> str:
    """Write all tables, each figure with the published one and their ratio; rows that were not published have a +."""
    known = {cell.key: cell for cell in published if cell.values["suppressed_records"] is not None}
    lines = []
    for table in dict.fromkeys(cell.table for cell in cells):
        mine = [cell for cell in cells if cell.table == table]
        facts = mine[0].facts
        lines += [
            f"## Table {table}: {facts['quasi_identifiers']}{', generalised' if facts['generalised'] == 'yes' else ''}",
            "",
            f"{int(facts['records']):,} records, {int(facts['regions']):,} regions, {int(facts['classes']):,} classes."
            f"{BESIDE if published else ''}",
            "",
            "| number / location | sites | " + " | ".join(_TITLES) + " |",
            "| --- |" + " ---: |" * (len(_TITLES) + 1),
        ]
        for cell in mine:
            mark = " +" if published and cell.key not in known else ""
            other = known.get(cell.key)
            theirs = None if other is None else other.values
            values = " | ".join(shown_beside(name, cell.values, theirs) for name in (*MEASURES, "seconds"))
            sites = f"{cell.sites:,}" if other is None else f"{cell.sites:,} / {other.sites:,}"
            lines.append(f"| {cell.site_number} / {cell.location}{mark} | {sites} | {values} |")
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
        values = " | ".join(shown("", None if cell is None else cell.values["suppressed_records"]) for cell in row)
        lines.append(f"| {table} | {number} | {sites:,} | {values} |")
    return "\n".join(lines) + "\n"

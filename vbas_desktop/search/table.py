"""The table of a search (one row per node, as CSV, plain data and text), and its picture: regions against detail."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from vbas_desktop import __version__
from vbas_desktop.io.generalise import formula_findings
from vbas_desktop.model.errors import Finding
from vbas_desktop.model.listing import defuse_row
from vbas_desktop.model.words import agreeing, counted

from .run import FOUND, NEEDLESS, OUT_OF_REACH, Found, Searched

FORMAT_VERSION = 1


def numbered(searched: Searched) -> list[tuple[int, Found]]:
    """The rows with the numbers by which people call them, from 1 in the order of the walk."""
    return list(enumerate(searched.rows, 1))


def level_words(searched: Searched, row: Found) -> list[str]:
    """The level of each attribute in words: "age 22" for one as it is, "age 22 → 6" for a coarser one."""
    words = []
    for ladder, level in zip(searched.finest.lattice.ladders, row.node, strict=True):
        most, left = ladder.rungs[0].number, ladder.rungs[level].number
        words.append(f"{ladder.column} {most:,}" if level == 0 else f"{ladder.column} {most:,} → {left:,}")
    return words


def plain_rows(searched: Searched) -> list[dict[str, Any]]:
    """Every row by column; what was not computed is None."""
    records = searched.finest.problem.records
    rows = []
    for number, row in numbered(searched):
        ladders = zip(searched.finest.lattice.ladders, row.node, strict=True)
        levels: dict[str, Any] = {}
        for ladder, level in ladders:
            levels[f"{ladder.column}_level"] = level
            levels[f"{ladder.column}_categories"] = ladder.rungs[level].number
        rows.append(
            {
                "node": number,
                **levels,
                "status": row.status,
                "detail_percent": 100 * row.detail,
                "equivalence_classes": row.equivalence_classes,
                "classes_present": row.classes_present,
                "sites": row.sites,
                "aggregated_regions": row.regions,
                **({"released_places": row.places} if searched.in_tiers else {}),
                "suppressed_records": row.suppressed,
                "suppressed_percent": None if row.suppressed is None else 100 * row.suppressed / max(1, records),
                "place_information_loss": row.place_loss,
                "trials": row.trials,
                **({"unmet_wishes": row.unmet} if searched.limits.any_limit else {}),
                "front": row.node in searched.front,
                "recommended": row is searched.recommended,
            }
        )
    return rows


def csv_text(searched: Searched) -> str:
    """The table as CSV with exact values; what a spreadsheet might run gets an apostrophe."""
    rows = plain_rows(searched)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(defuse_row(rows[0]))
    writer.writerows(defuse_row(map(_yes_or_no, row.values())) for row in rows)
    return text.getvalue()


def document(searched: Searched) -> dict[str, Any]:
    """The whole search as plain data, with the ladders that the levels belong to."""
    problem = searched.finest.problem
    return {
        "format_version": FORMAT_VERSION,
        "program_version": __version__,
        "k": problem.k,
        "allowed_loss_percent": searched.allowed_loss_percent,
        "records": problem.records,
        "regions": len(problem.regions),
        "quasi_identifiers": list(problem.quasi_identifiers),
        "limits": searched.limits.chosen_limits(),
        "ladders": {
            ladder.column: [dict(zip(ladder.categories.values, rung.groups, strict=True)) for rung in ladder.rungs]
            for ladder in searched.finest.lattice.ladders
        },
        "recommended_node": next((n for n, row in numbered(searched) if row is searched.recommended), None),
        "nodes": plain_rows(searched),
    }


def summary_lines(searched: Searched) -> list[str]:
    """What the search came to, in a few sentences."""
    found = [row for row in searched.rows if row.status == FOUND]
    problem = searched.finest.problem
    percent = f"{searched.allowed_loss_percent:g} %"
    lines = [
        f"{counted(problem.records, 'record')} · {counted(len(problem.regions), 'region')} · k = {problem.k} · "
        f"at most {percent} suppressed · {counted(len(searched.rows), 'combination')} of levels"
    ]
    if searched.limits.any_limit:
        lines.append(f"Limits: {searched.limits.limits_in_words()}.")
    if not found:
        return [
            *lines,
            f"None is within {percent}: use coarser ladders, fewer attributes or a smaller k, or allow more.",
        ]
    gone = {status: sum(row.status == status for row in searched.rows) for status in (OUT_OF_REACH, NEEDLESS)}
    if gone[OUT_OF_REACH]:
        lose = agreeing(gone[OUT_OF_REACH], "loses", "lose")
        lines.append(f"{gone[OUT_OF_REACH]:,} {lose} more than {percent} even with one region in all.")
    if gone[NEEDLESS]:
        lines.append(f"{gone[NEEDLESS]:,} coarser than one that keeps every initial region were not needed.")
    best = searched.recommended
    assert best is not None
    number = next(number for number, row in numbered(searched) if row is best)
    lines.append(f"Recommended: node {number}, {', '.join(level_words(searched, best))}: {figures(searched, best)}.")
    emptied = searched.emptied_columns(best)
    if emptied:
        names = ", ".join(name[:80] for name in emptied)
        lines.append(f"It leaves only one category of {names}: nothing that keeps more is within {percent}.")
    return lines


def group_findings(searched: Searched, folder: str) -> list[Finding]:
    """Warn of formulas in the files of groups that a search writes to a folder."""
    nodes = {row.node for _, row in numbered(searched) if row.node in searched.front or row is searched.recommended}
    levels = {pair for node in nodes for pair in enumerate(node)}
    ladders = searched.finest.lattice.ladders
    groupings = (ladders[place].grouping(level) for place, level in sorted(levels))
    return formula_findings(f"{folder}/*.csv", (grouping for grouping in groupings if grouping is not None))


def figures(searched: Searched, row: Found) -> str:
    """What a node keeps and loses, in words."""
    places, what = row.released_places, "place" if searched.in_tiers else "region"
    assert places is not None
    assert row.suppressed is not None
    assert row.place_loss is not None
    share = row.suppressed / max(1, searched.finest.problem.records)
    unmet = f", {counted(row.unmet, 'wish', 'wishes')} not met" if row.unmet else ""
    return (
        f"{counted(places, what)}{unmet}, {100 * share:.2f} % suppressed, keeps {100 * row.detail:.1f} % of "
        f"the attributes and {100 * (1 - row.place_loss):.1f} % of the place"
    )


def front_rows(searched: Searched) -> list[list[str]]:
    """The front and the recommended node as cells, finest attributes first: number, levels, regions, suppressed, detail
    and place kept.
    """
    columns = [ladder.column for ladder in searched.finest.lattice.ladders]
    what = "places" if searched.in_tiers else "regions"
    rows = [["node", *columns, what, "suppressed %", "attributes kept %", "place kept %"]]
    listed = (row for row in plain_rows(searched) if row["front"] or row["recommended"])
    for row in sorted(listed, key=lambda row: (-row["detail_percent"], row["node"])):
        cells = [
            f"{'>' if row['recommended'] else ''}{row['node']}",
            *(f"{row[f'{column}_categories']:,}" for column in columns),
            f"{row['released_places' if searched.in_tiers else 'aggregated_regions']:,}",
            f"{row['suppressed_percent']:.2f}",
            f"{row['detail_percent']:.1f}",
            f"{100 * (1 - row['place_information_loss']):.1f}",
        ]
        rows.append(cells)
    return rows


def marks_in_words(searched: Searched) -> str:
    """Explain the marks of the listed nodes."""
    best = searched.recommended
    if best is None or best.node in searched.front:
        return "> recommended; no other combination beats any of these"
    return (
        "> recommended; it is beaten only by combinations that leave one category of an attribute, the others by none"
    )


def _yes_or_no(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


@dataclass(frozen=True)
class Point:
    """One node."""

    number: int
    detail: float
    regions: int
    front: bool
    recommended: bool


@dataclass(frozen=True)
class PictureLine:
    """The nodes that differ in the level of one attribute alone, from the least detail to the most."""

    title: str
    points: tuple[Point, ...]


def lines_of(searched: Searched) -> list[PictureLine]:
    """One line for each combination of the levels of all attributes but the one with the longest ladder."""
    lattice = searched.finest.lattice
    along = max(range(len(lattice.ladders)), key=lambda place: len(lattice.allowed[place]))
    groups: dict[tuple[int, ...], list[Point]] = {}
    for number, row in numbered(searched):
        places = row.released_places
        if row.status == FOUND and places is not None:
            rest = (*row.node[:along], *row.node[along + 1 :])
            is_front, is_best = row.node in searched.front, row is searched.recommended
            groups.setdefault(rest, []).append(Point(number, row.detail, places, is_front, is_best))
    others = [ladder for place, ladder in enumerate(lattice.ladders) if place != along]
    lines = []
    for rest, points in sorted(groups.items()):
        words = [f"{ladder.column} {ladder.rungs[level].number:,}" for ladder, level in zip(others, rest, strict=True)]
        title = ", ".join(words) or lattice.ladders[along].column
        lines.append(PictureLine(title, tuple(sorted(points, key=lambda point: point.detail))))
    return lines

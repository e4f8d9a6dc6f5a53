"""The VBAS paper and the thesis: their experiments beside ours."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.engine.reproduction.claims import (
    CLAIMS,
    PAPER_FIGURES,
    ClaimResult,
    check_claim,
    describe_status,
)
from vbas_desktop.engine.reproduction.experiments import MEASURES, ThesisRow
from vbas_desktop.engine.reproduction.island import MEASURES as ISLAND_MEASURES
from vbas_desktop.engine.reproduction.island import IslandRow, describe_island
from vbas_desktop.io.documents.published import read_published_canada, read_published_island

from .markdown import shown, table

_NAMES = {
    "suppressed_records": "suppressed",
    "average_distance": "distance",
    "precision_loss": "precision loss",
    "discernibility": "discernibility",
    "non_uniform_entropy": "entropy",
}


@dataclass(frozen=True)
class Half:
    """The rows of Eastern or Western Canada: ours, the published ones, and ours that were published too."""

    like: str
    file: str
    mine: list[ThesisRow]
    published: list[ThesisRow]

    @property
    def same(self) -> list[ThesisRow]:
        known = {cell.key for cell in self.published if cell.values["suppressed_records"] is not None}
        return [cell for cell in self.mine if cell.key in known]


def read_half(path: Path, like: str) -> Half:
    """Read the stored rows of one half; the place of a number of sites is its rank, as in the published tables."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    numbers: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        numbers.setdefault((row["table"], row["site_number"]), set()).add(int(row["sites"]))
    mine = []
    for row in rows:
        sites = int(row["sites"])
        place = sorted(numbers[row["table"], row["site_number"]]).index(sites)
        values = {name: float(row[name]) if row[name] else None for name in MEASURES}
        named = (row["site_number"], row["site_location"], row["adc_seeding"])
        mine.append(ThesisRow(int(row["table"]), *named, place, sites, values, {}))
    return Half(like, path.name, mine, read_published_canada(like))


def canada_tables(halves: Sequence[Half]) -> dict[str, str]:
    """Return the percentages of the paper, and for both halves sites, medians of the ratios, and claims."""
    tables = {"paper percentages": _percentages(halves), "claims": _claims(halves)}
    for half in halves:
        tables[f"{half.like} sites"] = _sites(half)
        tables[f"{half.like} medians"] = _medians(half)
    return tables


def _percentages(halves: Sequence[Half]) -> str:
    published = [cell for half in halves for cell in half.published]
    mine = [cell for half in halves for cell in half.mine]
    same = [cell for half in halves for cell in half.same]
    rows = []
    for figure in PAPER_FIGURES:
        means = [figure.mean_percent(cells) for cells in (published, mine, same)]
        rows.append(
            [figure.sentence, f"{figure.percent:.1f} %", *(f"{shown(mean, 1)} %" for mean in means)]
        )
    heads = ["percentage", "paper", "rows of the thesis", "ours", "ours, only rows that the thesis has"]
    return table(heads, rows, numbers=4)


def _claims(halves: Sequence[Half]) -> str:
    rows = []
    for claim in CLAIMS:
        cells: list[str] = []
        for half in halves:
            mine = check_claim(claim, half.mine)
            published = check_claim(claim, half.published)
            cells += [describe_status(mine, published), f"{_share(mine)} / {_share(published)}"]
        rows.append([claim.sentence, *cells])
    return table(["claim", "East", "ours / published", "West", "ours / published"], rows)


def _share(verdict: ClaimResult) -> str:
    return "–" if verdict.share is None else f"{verdict.share:.0%}"


def _sites(half: Half) -> str:
    known = {cell.key: cell for cell in half.published}
    rows = []
    for number in ("anonymity", "maxcombs", "entropy"):
        cells = [cell for cell in half.mine if cell.site_number == number and cell.key in known]
        pairs = [(cell.sites, known[cell.key].sites) for cell in cells]
        equal = sum(mine == theirs for mine, theirs in pairs)
        furthest = max((abs(mine / theirs - 1) for mine, theirs in pairs), default=0.0)
        rows.append([f"`{number}`", len(pairs), equal, f"{100 * furthest:.1f} %"])
    return table(
        ["number of sites by", "published rows", "equal", "largest difference"], rows, numbers=3
    )


def _medians(half: Half) -> str:
    known = {cell.key: cell for cell in half.published}
    rows = []
    for location in dict.fromkeys(cell.location for cell in half.mine):
        pairs = [
            (cell, known[cell.key])
            for cell in half.mine
            if cell.location == location and cell.key in known
        ]
        rows.append([location, len(pairs), *(_median_ratio(pairs, measure) for measure in MEASURES)])
    return table(
        ["sites by", "rows", *(_NAMES[name] for name in MEASURES)], rows, numbers=1 + len(MEASURES)
    )


def _median_ratio(pairs: Sequence[tuple[ThesisRow, ThesisRow]], measure: str) -> str:
    ratios = []
    for mine, published in pairs:
        own, theirs = mine.values[measure], published.values[measure]
        if own is not None and theirs:
            ratios.append(own / theirs)
    return f"{statistics.median(ratios):.2f}" if ratios else "–"


def read_island(path: Path) -> list[dict[str, str]]:
    """Read the stored rows of Prince Edward Island."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def island_tables(rows: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return Tables 19 to 22, ours with the published figures, and the medians of the ratios."""
    heads = [
        *("scenario", "method", "regions", "suppressed", "distance", "distance to the mean point"),
        *("discernibility", "entropy"),
    ]
    tables = {}
    for number in (19, 20, 21, 22):
        lines = []
        for row in rows:
            if row["table"] == str(number):
                cells = [
                    f"{row['sites']} / {row['sites_published']}",
                    *(_both(row, name) for name in ISLAND_MEASURES),
                ]
                lines.append([row["scenario"], f"`{row['method']}`", *cells])
        tables[f"table {number}"] = table(heads, lines, numbers=6)
    medians = []
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        ratios = [
            [float(row[f"{name}_ratio"]) for row in mine if row[f"{name}_ratio"]]
            for name in ISLAND_MEASURES
        ]
        regions = statistics.median(float(row["sites"]) / float(row["sites_published"]) for row in mine)
        medians.append(
            [f"`{method}`", f"{regions:.2f}", *(f"{statistics.median(values):.2f}" for values in ratios)]
        )
    tables["island medians"] = table(heads[1:], medians, numbers=6)
    tables["island claims"] = _island_claims(rows)
    return tables


def _island_claims(rows: Sequence[dict[str, str]]) -> str:
    """List what both sides say of balanced density against growth; the time of a run is not stored."""
    mine = []
    for row in rows:
        values = {name: float(row[name]) if row[name] else None for name in ISLAND_MEASURES}
        values["seconds"] = None
        mine.append(
            IslandRow(int(row["table"]), row["scenario"], row["method"], int(row["sites"]), values)
        )
    lines = describe_island(mine, read_published_island())
    return "\n".join(
        line for line in lines if line.startswith("- Balanced density ") and "is faster" not in line
    )


def _both(row: dict[str, str], name: str) -> str:
    digits = 3 if "distance" in name else 0
    mine = float(row[name]) if row[name] else None
    published = float(row[f"{name}_published"]) if row[f"{name}_published"] else None
    return f"{shown(mine, digits)} / {shown(published, digits)}"

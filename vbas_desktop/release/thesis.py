"""What a reproduction of the thesis' tables leaves behind: a comparison's folder with tables and claims in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vbas_desktop.comparison.run import Comparison
from vbas_desktop.comparison.thesis import Cell, cells_of, table_csv
from vbas_desktop.comparison.thesis_claims import CLAIMS, check_claim, verdict_line
from vbas_desktop.comparison.thesis_tables import (
    filled,
    ratio_lines,
    side_by_side,
    side_by_side_csv,
    sites_lines,
    tables_markdown,
)
from vbas_desktop.files.atomic import write_text

from .comparison import comparison_folder


def reproduction_lines(cells: Sequence[Cell], published: Sequence[Cell]) -> list[str]:
    """What came of it: sites and measures against the published ones if there are any, then the claims."""
    lines: list[str] = []
    if published:
        sides = side_by_side(cells, published)
        seconds = sum(float(side.mine.values["seconds"] or 0) for side in filled(sides))
        note = (
            "Numbers of sites (those of the entropy follow the entropy of the data, which generated data do not share)"
        )
        lines += [note, *(f"- {line}" for line in sites_lines(sides)), ""]
        lines += ["Median of ours by published", *(f"- {line}" for line in ratio_lines(sides)), ""]
        lines += [f"{len(filled(sides)):,} rows that were not published are filled, in {seconds:,.0f} s together.", ""]
    lines.append("Claims")
    known = {cell.key for cell in published if cell.values["suppressed_records"] is not None}
    same = [cell for cell in cells if cell.key in known]
    for claim in CLAIMS:
        theirs = (check_claim(claim, published), check_claim(claim, same)) if published else (None, None)
        lines.append(f"- {verdict_line(check_claim(claim, cells), *theirs)}")
    return lines


def write_reproduction(comparison: Comparison, like: str, published: Sequence[Cell], target: Path) -> list[str]:
    """Write the folder, all of it or nothing; returns what came of it, line by line."""
    cells = cells_of(comparison, like)
    lines = reproduction_lines(cells, published)
    with comparison_folder(comparison, target) as folder:
        (folder / "tables").mkdir()
        for table in dict.fromkeys(cell.table for cell in cells):
            mine = [cell for cell in cells if cell.table == table]
            write_text(folder / "tables" / f"table-{table:02d}.csv", table_csv(mine))
        write_text(folder / "tables.md", tables_markdown(cells, published))
        write_text(folder / "claims.md", "\n".join([f"# {like.capitalize()} half", "", *lines]) + "\n")
        if published:
            write_text(folder / "side-by-side.csv", side_by_side_csv(side_by_side(cells, published)))
    return lines

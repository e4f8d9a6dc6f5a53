"""What a comparison, or the reproduction of the thesis' tables, leaves behind in its folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vbas_desktop.comparison.run import Comparison
from vbas_desktop.comparison.summary import summarise
from vbas_desktop.comparison.table import csv_text
from vbas_desktop.comparison.thesis import Cell, cells_of, table_csv
from vbas_desktop.comparison.thesis_claims import CLAIMS, check_claim, paper_figure_lines, verdict_line
from vbas_desktop.comparison.thesis_tables import (
    columns_markdown,
    filled,
    ratio_lines,
    side_by_side,
    side_by_side_csv,
    sites_lines,
    tables_markdown,
)
from vbas_desktop.comparison.words import summary_lines
from vbas_desktop.io.output import check_target, staged_folder, write_text

from .report.comparison import charts_of, comparison_report
from .report.drawing import as_svg
from .report.pages import as_html

TABLE, PAGE, TEXT, CHARTS = "comparison.csv", "summary.html", "summary.txt", "charts"
NAMES = (TABLE, PAGE, TEXT, f"{CHARTS}/[0-9]*-*.svg")
CLAIMS_FILE, COLUMNS_FILE, SIDES_FILE, TABLES_FILE = "claims.md", "suppressed.md", "side-by-side.csv", "tables.md"
THESIS_NAMES = (CLAIMS_FILE, COLUMNS_FILE, SIDES_FILE, TABLES_FILE, "tables/table-[0-9]*.csv", *NAMES)
STORE_NAMES = (f"{'[0-9a-f]' * 32}.json",)


def check_comparison_target(target: Path, inputs: Iterable[Path] = (), owned: Sequence[str] = NAMES) -> None:
    """Refuse a folder that holds something else than an earlier comparison, or an input; also the one beside it."""
    inputs = list(inputs)
    check_target(target, owned, inputs)
    check_target(store_beside(target), STORE_NAMES, inputs)


def store_beside(target: Path) -> Path:
    """Where the finished combinations of a comparison are kept: a hidden folder beside its target."""
    target = target.absolute()
    return target.with_name(f".{target.name}.combinations")


def write_comparison(comparison: Comparison, target: Path, suitable_only: bool = False) -> str:
    """Write the folder, all of it or nothing; returns the summary as text. The same comparison gives the same bytes.

    ``suitable_only``: the table lists the solutions that meet the requirement; the summary is of all.
    """
    with comparison_folder(comparison, target, suitable_only) as folder:
        return (folder / TEXT).read_text(encoding="utf-8")


@contextmanager
def comparison_folder(
    comparison: Comparison, target: Path, suitable_only: bool = False, owned: Sequence[str] = NAMES
) -> Iterator[Path]:
    """The folder before it is put in place, for those who have something to add."""
    summary = summarise(comparison)
    numbers = {scenario: number for number, scenario in enumerate(comparison.plan.scenarios, 1)}
    with staged_folder(target, owned) as folder:
        write_text(folder / TABLE, csv_text(comparison, suitable_only), private=True)
        write_text(folder / TEXT, "\n".join(summary_lines(summary)) + "\n", private=True)
        write_text(folder / PAGE, as_html(comparison_report(summary)), private=True)
        (folder / CHARTS).mkdir()
        for scenario, measure, drawing in charts_of(comparison):
            write_text(folder / CHARTS / f"{numbers[scenario]}-{measure}.svg", as_svg(drawing) + "\n")
        yield folder


def reproduction_lines(cells: Sequence[Cell], published: Sequence[Cell]) -> list[str]:
    """What came of it: sites and measures against the published ones if there are any, then the claims."""
    lines: list[str] = []
    if published:
        sides = side_by_side(cells, published)
        seconds = sum(float(side.mine.values["seconds"] or 0) for side in filled(sides))
        note = "Numbers of sites (those of entropy follow that of the data, which is only nearly that of the thesis)"
        lines += [note, *(f"- {line}" for line in sites_lines(sides)), ""]
        lines += ["Median of ours by published", *(f"- {line}" for line in ratio_lines(sides)), ""]
        lines += [f"{len(filled(sides)):,} rows that were not published are filled, in {seconds:,.0f} s together.", ""]
    lines.append("Claims")
    known = {cell.key for cell in published if cell.values["suppressed_records"] is not None}
    same = [cell for cell in cells if cell.key in known]
    for claim in CLAIMS:
        theirs = (check_claim(claim, published), check_claim(claim, same)) if published else (None, None)
        lines.append(f"- {verdict_line(check_claim(claim, cells), *theirs)}")
    lines += ["", "Percentages of the paper (section 5; mean over rows with balanced density, and ADC from it)"]
    lines += [f"- {line}" for line in paper_figure_lines(cells, published, same)]
    return lines


def write_reproduction(
    comparison: Comparison, like: str, published: Sequence[Cell], target: Path, remarks: Sequence[str] = ()
) -> list[str]:
    """Write the folder, all of it or nothing; returns what came of it, line by line."""
    cells = cells_of(comparison, like)
    lines = [*reproduction_lines(cells, published), "", *remarks]
    with comparison_folder(comparison, target, owned=THESIS_NAMES) as folder:
        (folder / "tables").mkdir()
        for table in dict.fromkeys(cell.table for cell in cells):
            mine = [cell for cell in cells if cell.table == table]
            write_text(folder / "tables" / f"table-{table:02d}.csv", table_csv(mine))
        write_text(folder / TABLES_FILE, tables_markdown(cells, published))
        write_text(folder / COLUMNS_FILE, columns_markdown(cells))
        write_text(folder / CLAIMS_FILE, "\n".join([f"# {like.capitalize()} Canada", "", *lines]) + "\n")
        if published:
            write_text(folder / SIDES_FILE, side_by_side_csv(side_by_side(cells, published)))
    return lines

"""What a comparison, or the reproduction of the thesis' tables, leaves behind in its folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vbas_desktop.engine.comparison.run import Comparison
from vbas_desktop.engine.comparison.summary import (
    describe_comparison,
    format_comparison_csv,
    summarise_comparison,
)
from vbas_desktop.engine.reproduction.claims import (
    CLAIMS,
    check_claim,
    describe_claim,
    describe_paper_figures,
)
from vbas_desktop.engine.reproduction.experiments import ThesisRow, build_thesis_rows, format_thesis_csv
from vbas_desktop.engine.reproduction.tables import (
    describe_ratios,
    describe_site_numbers,
    format_paired_csv,
    format_suppression_markdown,
    format_tables_markdown,
    list_unpublished,
    pair_rows,
)
from vbas_desktop.io.output import check_target, staged_folder, write_text

from .reports.comparison import build_comparison_report, charts_of
from .reports.drawing import render_svg
from .reports.html import render_html

TABLE = "comparison.csv"
PAGE = "summary.html"
TEXT = "summary.txt"
CHARTS = "charts"
NAMES = (TABLE, PAGE, TEXT, f"{CHARTS}/[0-9]*-*.svg")
CLAIMS_FILE = "claims.md"
COLUMNS_FILE = "suppressed.md"
SIDES_FILE = "side-by-side.csv"
TABLES_FILE = "tables.md"
THESIS_NAMES = (CLAIMS_FILE, COLUMNS_FILE, SIDES_FILE, TABLES_FILE, "tables/table-[0-9]*.csv", *NAMES)
STORE_NAMES = (f"{'[0-9a-f]' * 32}.json",)


def check_comparison_target(
    target: Path, inputs: Iterable[Path] = (), owned: Sequence[str] = NAMES
) -> None:
    """Refuse a folder that holds something else than an earlier comparison, or an input; also the one beside it."""
    inputs = list(inputs)
    check_target(target, owned, inputs)
    check_target(store_beside(target), STORE_NAMES, inputs)


def store_beside(target: Path) -> Path:
    """Return the hidden folder beside a target where the finished combinations of a comparison are stored."""
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
    """Write the folder, and yield it before it is put in place for those who have something to add."""
    summary = summarise_comparison(comparison)
    numbers = {scenario: number for number, scenario in enumerate(comparison.plan.scenarios, 1)}
    with staged_folder(target, owned) as folder:
        write_text(folder / TABLE, format_comparison_csv(comparison, suitable_only), private=True)
        write_text(folder / TEXT, "\n".join(describe_comparison(summary)) + "\n", private=True)
        write_text(folder / PAGE, render_html(build_comparison_report(summary)), private=True)
        (folder / CHARTS).mkdir()
        for scenario, measure, drawing in charts_of(comparison):
            write_text(
                folder / CHARTS / f"{numbers[scenario]}-{measure}.svg", render_svg(drawing) + "\n"
            )
        yield folder


def reproduction_lines(cells: Sequence[ThesisRow], published: Sequence[ThesisRow]) -> list[str]:
    """Describe a reproduction: sites and measures against the published ones if there are any, then the claims."""
    lines: list[str] = []
    if published:
        sides = pair_rows(cells, published)
        seconds = sum(float(side.mine.values["seconds"] or 0) for side in list_unpublished(sides))
        note = "Numbers of sites (those of entropy follow that of the data, which is only nearly that of the thesis)"
        lines += [note, *(f"- {line}" for line in describe_site_numbers(sides)), ""]
        lines += ["Median of ours by published", *(f"- {line}" for line in describe_ratios(sides)), ""]
        lines += [
            f"{len(list_unpublished(sides)):,} rows that were not published are filled, in {seconds:,.0f} s together.",
            "",
        ]
    lines.append("Claims")
    published_keys = {cell.key for cell in published if cell.values["suppressed_records"] is not None}
    same = [cell for cell in cells if cell.key in published_keys]
    for claim in CLAIMS:
        theirs = (check_claim(claim, published), check_claim(claim, same)) if published else (None, None)
        lines.append(f"- {describe_claim(check_claim(claim, cells), *theirs)}")
    lines += [
        "",
        "Percentages of the paper (section 5; mean over rows with balanced density, and ADC from it)",
    ]
    lines += [f"- {line}" for line in describe_paper_figures(cells, published, same)]
    return lines


def write_reproduction(
    comparison: Comparison,
    like: str,
    published: Sequence[ThesisRow],
    target: Path,
    remarks: Sequence[str] = (),
) -> list[str]:
    """Write the folder of a reproduction, all of it or nothing; return its summary, line by line.

    like: name of the built-in spec of the data. published: their rows, empty if they are not known. remarks: lines that
    end the summary.
    """
    cells = build_thesis_rows(comparison, like)
    lines = [*reproduction_lines(cells, published), "", *remarks]
    with comparison_folder(comparison, target, owned=THESIS_NAMES) as folder:
        (folder / "tables").mkdir()
        for table in dict.fromkeys(cell.table for cell in cells):
            mine = [cell for cell in cells if cell.table == table]
            write_text(folder / "tables" / f"table-{table:02d}.csv", format_thesis_csv(mine))
        write_text(folder / TABLES_FILE, format_tables_markdown(cells, published))
        write_text(folder / COLUMNS_FILE, format_suppression_markdown(cells))
        write_text(folder / CLAIMS_FILE, "\n".join([f"# {like.capitalize()} Canada", "", *lines]) + "\n")
        if published:
            write_text(folder / SIDES_FILE, format_paired_csv(pair_rows(cells, published)))
    return lines

"""What a comparison leaves behind: the table, the summary and the charts, in one folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vbas_desktop.comparison.run import Comparison
from vbas_desktop.comparison.summary import summarise
from vbas_desktop.comparison.table import Chosen, csv_text
from vbas_desktop.comparison.words import summary_lines
from vbas_desktop.files.atomic import write_text
from vbas_desktop.files.folders import check_target_folder, new_folder

from .report.comparison import charts_of, comparison_report
from .report.drawing import as_svg
from .report.pages import as_html

TABLE, PAGE, TEXT, CHARTS = "comparison.csv", "summary.html", "summary.txt", "charts"
THESIS_NAMES = ("tables", "tables.md", "claims.md", "side-by-side.csv")
NAMES = (TABLE, PAGE, TEXT, CHARTS, *THESIS_NAMES)


def check_comparison_target(target: Path) -> None:
    """Refuse a folder that holds something else than an earlier comparison."""
    check_target_folder(target, NAMES)


def store_beside(target: Path) -> Path:
    """Where the finished combinations of a comparison are kept: a folder beside its target."""
    target = target.absolute()
    return target.with_name(f"{target.name}.combinations")


def write_comparison(comparison: Comparison, target: Path, only: Chosen | None = None) -> str:
    """Write the folder, all of it or nothing; returns the summary as text. The same comparison gives the same bytes.

    ``only``: which solutions are listed in the table; the summary is of all.
    """
    with comparison_folder(comparison, target, only) as folder:
        return (folder / TEXT).read_text(encoding="utf-8")


@contextmanager
def comparison_folder(comparison: Comparison, target: Path, only: Chosen | None = None) -> Iterator[Path]:
    """The folder before it is put in place, for those who have something to add."""
    summary = summarise(comparison)
    numbers = {scenario: number for number, scenario in enumerate(comparison.plan.scenarios, 1)}
    with new_folder(target, NAMES) as folder:
        write_text(folder / TABLE, csv_text(comparison, only))
        write_text(folder / TEXT, "\n".join(summary_lines(summary)) + "\n")
        write_text(folder / PAGE, as_html(comparison_report(summary)))
        (folder / CHARTS).mkdir()
        for scenario, measure, drawing in charts_of(comparison):
            write_text(folder / CHARTS / f"{numbers[scenario]}-{measure}.svg", as_svg(drawing) + "\n")
        yield folder

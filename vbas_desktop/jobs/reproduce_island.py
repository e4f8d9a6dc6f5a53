"""The thesis' comparison with seeded growth as one order: data, runs, tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vbas_desktop.comparison.thesis_island import (
    SELECTIONS,
    SOURCE,
    Row,
    beside_csv,
    island_csv,
    island_lines,
    island_markdown,
    published_island,
    read_island_reference,
    rows_of,
)
from vbas_desktop.domain.progress import Progress, Silent, Span

from .reproduce import ExperimentData

if TYPE_CHECKING:
    from pathlib import Path

    from vbas_desktop.domain.problem import Problem
    from vbas_desktop.domain.regions import Regions
    from vbas_desktop.files.records.table import RecordTable

NAMES = ("tables.md", "tables", "claims.md", "side-by-side.csv")
"""What the folder holds."""


@dataclass(frozen=True)
class IslandJob(ExperimentData):
    """Tables 19 to 22 into ``target``; see `ExperimentData` for the rest."""

    def execute(self, progress: Progress = Silent()) -> tuple[str, ...]:  # noqa: B008 (Silent has no state)
        """Generate or read, run the 18 scenarios, write; returns what came of it, line by line."""
        from vbas_desktop.files.atomic import write_text
        from vbas_desktop.files.folders import check_target_folder, new_folder
        from vbas_desktop.files.hashing import require_unchanged

        check_target_folder(self.target, NAMES)
        published = published_island() if self.reference is None else read_island_reference(self.reference)
        folder = self.data(Span(progress, 0.0, 0.1))
        table, regions = self.read(folder, Span(progress, 0.1, 0.2))
        rows: list[Row] = []
        scenarios = [(name, generalised) for generalised in (False, True) for name in SELECTIONS]
        for place, (name, generalised) in enumerate(scenarios):
            span = Span(progress, 0.2 + 0.8 * place / len(scenarios), 0.2 + 0.8 * (place + 1) / len(scenarios))
            problem = self._problem(table, regions, SELECTIONS[name], generalised, folder)
            rows += rows_of(problem, name, generalised, self.random_seed, span)
        require_unchanged(table.source)
        rows.sort(key=lambda row: row.table)
        lines = [*island_lines(rows, published), "", *self._remarks()]
        with new_folder(self.target, NAMES) as work:
            for each, text in self._texts(rows, published, lines).items():
                (work / each).parent.mkdir(exist_ok=True)
                write_text(work / each, text)
        return tuple(lines)

    def _remarks(self) -> list[str]:
        told = [f"Published figures: {SOURCE if self.reference is None else self.reference.name}."]
        if self.share < 1:
            share = f"{100 * self.share:g} % of the records and regions"
            told.append(f"Made with {share}: counts and numbers of regions cannot be compared with published ones.")
        return told

    def _problem(
        self, table: RecordTable, regions: Regions, names: tuple[str, ...], generalised: bool, folder: Path
    ) -> Problem:
        from vbas_desktop.files.counting.problem import build_problem
        from vbas_desktop.files.generalise import read_generalisation

        groupings = read_generalisation(self.generalise or str(folder / "generalise.csv")) if generalised else ()
        return build_problem(
            table,
            regions,
            region_column="region",
            quasi_identifiers=names,
            k=5,
            groupings=tuple(each for each in groupings if each.column in names),
        )

    @staticmethod
    def _texts(rows: list[Row], published: list[Row], lines: list[str]) -> Mapping[str, str]:
        tables = sorted({row.table for row in rows})
        texts = {f"tables/table-{table}.csv": island_csv(r for r in rows if r.table == table) for table in tables}
        texts["tables.md"] = island_markdown(rows, published)
        texts["claims.md"] = "\n".join(["# Prince Edward Island", "", *lines]) + "\n"
        texts["side-by-side.csv"] = beside_csv(rows, published)
        return texts

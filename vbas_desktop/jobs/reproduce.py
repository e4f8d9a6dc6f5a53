"""The thesis' experiments, the comparison with seeded growth included, as jobs: data, plan, run, tables and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.comparison.plan import Plan
from vbas_desktop.comparison.run import Comparison, Finished, Prepared, count_scenarios, prepare, run_prepared
from vbas_desktop.comparison.store import Store
from vbas_desktop.comparison.thesis import SOURCE as SOURCE_OF_CANADA
from vbas_desktop.comparison.thesis import (
    further_approaches,
    published_canada,
    read_reference,
    refined_plan,
    thesis_plan,
)
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
from vbas_desktop.io.records.table import RecordOptions
from vbas_desktop.io.synthetic.marginals import DEPENDENT, INDEPENDENT, load_spec_with_attributes
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Silent, Span

from .inputs import input_paths

if TYPE_CHECKING:
    from vbas_desktop.model.problem import Problem
    from vbas_desktop.model.records import RecordTable
    from vbas_desktop.model.regions import Regions


_DRAWN = {
    INDEPENDENT: "Attributes are drawn independently, by marginals that stand in for those of the thesis, whose "
    "microdata are not public; places are invented.",
    DEPENDENT: "Attributes are drawn dependent on each other by invented rules; places are invented.",
}


@dataclass(frozen=True, eq=False)
class Reproduced:
    """What came of it: the comparison, and the sites, ratios and claims line by line."""

    comparison: Comparison
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ExperimentData:
    """What an experiment of the thesis is run on; ``like`` is a built-in spec, tables go into ``target``.

    Without ``records`` and ``regions`` the data are generated beside the target; ``share`` makes them smaller.
    ``attributes`` says how they are drawn: independent of each other, as in section 5.1.1 of the thesis, or dependent.
    ``reading`` says how ``records`` is read. ``reference`` is a CSV of the published tables.
    """

    like: str
    target: Path
    records: Path | None = None
    regions: Path | None = None
    generalise: str | None = None
    reference: Path | None = None
    coordinates: str = "degrees"
    share: float = 1.0
    attributes: str = INDEPENDENT
    random_seed: int = 0
    workers: int = 0
    reading: RecordOptions = field(default_factory=RecordOptions)

    @property
    def inputs(self) -> list[Path]:
        """List the files that are read."""
        return input_paths(vars(self))

    def data(self, progress: Progress) -> Path:
        """The folder with the data, generated unless files are given."""
        from vbas_desktop.io.synthetic.make import generate

        if self.records is not None:
            return self.records.absolute().parent
        spec = load_spec_with_attributes(self.like, self.attributes)
        folder = self.target.absolute().with_name(f"{self.target.name}.data")
        records, regions = None, None
        if self.share < 1 and spec.records is not None:
            records = max(1, round(spec.records * self.share))
            regions = max(1, round(spec.regions.count * self.share))
        generate(spec, folder, records=records, regions=regions, progress=progress)
        return folder

    def read(self, folder: Path, progress: Progress) -> tuple[RecordTable, Regions]:
        """Both files."""
        from vbas_desktop.io.records.table import load_records
        from vbas_desktop.io.regions.read import RegionOptions, load_regions

        where = RegionOptions(coordinates=self.coordinates)
        regions = load_regions(self.regions or folder / "regions.csv", where, Span(progress, 0.0, 0.1))
        table = load_records(self.records or folder / "records.csv", self.reading, Span(progress, 0.1, 1.0))
        return table, regions

    def remarks(self, source: str) -> list[str]:
        """Say where the published figures come from, how the records were drawn, and what cannot be compared."""
        told = [f"Published figures: {source if self.reference is None else self.reference.name}."]
        if self.records is None:
            told.append(_DRAWN[self.attributes])
            if self.attributes == INDEPENDENT and self.like == "central":
                told.append("Those of central Canada are the mean of East and West.")
        if self.share < 1:
            share = f"{100 * self.share:g} % of the records and regions"
            told.append(f"Made with {share}: counts and numbers of regions cannot be compared with published ones.")
        return told


@dataclass(frozen=True)
class ReproduceJob(ExperimentData):
    """One half of the tables 7 to 18, eastern or western, or the same of central Canada; see `ExperimentData`.

    ``also`` names approaches that the tables get beside those of the thesis: locations, and refinements of balanced
    density.
    """

    also: tuple[str, ...] = ()

    def execute(
        self,
        progress: Progress = Silent(),  # noqa: B008 (Silent has no state)
        on_prepared: Callable[[Prepared], None] | None = None,
        on_finished: Callable[[Finished], None] | None = None,
    ) -> Reproduced:
        """Generate or read, run what is missing, write."""
        from vbas_desktop.io.hashing import require_unchanged
        from vbas_desktop.release.comparison import (
            THESIS_NAMES,
            check_comparison_target,
            store_beside,
            write_reproduction,
        )

        check_comparison_target(self.target, self.inputs, THESIS_NAMES)
        locations, refinements = further_approaches(self.also)
        published = published_canada(self.like) if self.reference is None else read_reference(self.reference, self.like)
        folder = self.data(Span(progress, 0.0, 0.1))
        plan = self._plan(folder, locations)
        table, regions = self.read(folder, Span(progress, 0.1, 0.2))
        problems = count_scenarios(plan, table, regions, Span(progress, 0.2, 0.25))
        keeper = Store(store_beside(self.target))
        prepared = prepare(plan, problems, keeper, progress)
        if on_prepared is not None:
            on_prepared(prepared)
        rest = 0.7 if refinements else 1.0
        comparison = run_prepared(prepared, keeper, Span(progress, 0.25, rest), on_finished)
        if refinements:
            further = prepare(refined_plan(plan, refinements), problems, keeper, progress)
            refined = run_prepared(further, keeper, Span(progress, rest, 1.0), on_finished)
            comparison = Comparison(plan, (*comparison.finished, *refined.finished))
        # Nothing is written on records that were rewritten while they were read.
        require_unchanged(table.source)
        remarks = self.remarks(SOURCE_OF_CANADA if published else f"none of {self.like} Canada")
        lines = write_reproduction(comparison, self.like, published, self.target, remarks)
        return Reproduced(comparison, tuple(lines))

    def _plan(self, folder: Path, locations: tuple[str, ...]) -> Plan:
        from vbas_desktop.io.generalise import read_generalisation

        groupings = read_generalisation(self.generalise or str(folder / "generalise.csv"))
        plan = thesis_plan(self.like, groupings, "region", self.workers, self.random_seed, locations)
        if len(plan.scenarios) != 6:
            raise InputError(
                Finding("groups", "Not every selection of the thesis has groups.", "Give groups for the column age.")
            )
        return plan


@dataclass(frozen=True)
class IslandJob(ExperimentData):
    """Tables 19 to 22 into ``target``; see `ExperimentData` for the rest."""

    def execute(self, progress: Progress = Silent()) -> tuple[str, ...]:  # noqa: B008 (Silent has no state)
        """Generate or read, run the 18 scenarios, write; returns what came of it, line by line."""
        from vbas_desktop.io.hashing import require_unchanged
        from vbas_desktop.io.output import check_target, staged_folder, write_text
        from vbas_desktop.release.comparison import THESIS_NAMES

        check_target(self.target, THESIS_NAMES, self.inputs)
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
        lines = [*island_lines(rows, published), "", *self.remarks(SOURCE)]
        with staged_folder(self.target, THESIS_NAMES) as work:
            for each, text in self._texts(rows, published, lines).items():
                (work / each).parent.mkdir(exist_ok=True)
                write_text(work / each, text)
        return tuple(lines)

    def _problem(
        self, table: RecordTable, regions: Regions, names: tuple[str, ...], generalised: bool, folder: Path
    ) -> Problem:
        from vbas_desktop.engine.problem import build_problem
        from vbas_desktop.io.generalise import read_generalisation

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

"""The thesis' experiments, the comparison with seeded growth included: data, plan, run, tables and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.engine.comparison.plan import ComparisonPlan
from vbas_desktop.engine.comparison.run import (
    Comparison,
    FinishedCombination,
    WorkEstimate,
    count_scenarios,
    estimate_work,
    run_comparison,
)
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.engine.reproduction.experiments import SOURCE as SOURCE_OF_CANADA
from vbas_desktop.engine.reproduction.experiments import (
    build_refined_plan,
    build_thesis_plan,
    split_further_approaches,
)
from vbas_desktop.engine.reproduction.island import (
    SELECTIONS,
    SOURCE,
    IslandRow,
    describe_island,
    format_island_csv,
    format_island_markdown,
    format_paired_island_csv,
    run_island_methods,
)
from vbas_desktop.io.documents.hierarchies import read_groupings
from vbas_desktop.io.documents.published import (
    read_canada_reference,
    read_island_reference,
    read_published_canada,
    read_published_island,
)
from vbas_desktop.io.documents.result_cache import open_run_cache
from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.io.output import check_target, staged_folder, write_text
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.reader import RegionReading, load_regions
from vbas_desktop.io.synthetic.generate import generate
from vbas_desktop.io.synthetic.marginals import DEPENDENT, INDEPENDENT, load_spec_with_attributes
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.releases.comparison import (
    THESIS_NAMES,
    check_comparison_target,
    store_beside,
    write_reproduction,
)
from vbas_desktop.settings.reading import RecordReading

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
    """The comparison of an experiment, and lines about sites, ratios and claims."""

    comparison: Comparison
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ExperimentData:
    """Data of an experiment of the thesis; ``like`` is a built-in spec, tables go into ``target``.

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
    reading: RecordReading = field(default_factory=RecordReading)

    @property
    def inputs(self) -> list[Path]:
        """List the files that are read."""
        return input_paths(vars(self))

    def data(self, progress: Progress) -> Path:
        """Return the folder with the data, which are generated unless files are given."""
        if self.records is not None:
            return self.records.absolute().parent
        spec = load_spec_with_attributes(self.like, self.attributes)
        folder = self.target.absolute().with_name(f"{self.target.name}.data")
        records = None
        regions = None
        if self.share < 1 and spec.records is not None:
            records = max(1, round(spec.records * self.share))
            regions = max(1, round(spec.regions.count * self.share))
        generate(spec, folder, records=records, regions=regions, progress=progress)
        return folder

    def read(self, folder: Path, progress: Progress) -> tuple[RecordTable, Regions]:
        """Load both files."""
        where = RegionReading(coordinates=self.coordinates)
        regions = load_regions(
            self.regions or folder / "regions.csv", where, SubProgress(progress, 0.0, 0.1)
        )
        table = load_records(
            self.records or folder / "records.csv", self.reading, SubProgress(progress, 0.1, 1.0)
        )
        return table, regions

    def remarks(self, source: str) -> list[str]:
        """Say where the published figures come from, how the records were drawn, and what cannot be compared."""
        sentences = [f"Published figures: {source if self.reference is None else self.reference.name}."]
        if self.records is None:
            sentences.append(_DRAWN[self.attributes])
            if self.attributes == INDEPENDENT and self.like == "central":
                sentences.append("Those of central Canada are the mean of East and West.")
        if self.share < 1:
            share = f"{100 * self.share:g} % of the records and regions"
            sentences.append(
                f"Made with {share}: counts and numbers of regions cannot be compared with published ones."
            )
        return sentences


@dataclass(frozen=True)
class ReproduceRequest(ExperimentData):
    """One half of the tables 7 to 18, eastern or western, or the same of central Canada; see `ExperimentData`.

    ``also`` names approaches that the tables get beside those of the thesis: locations, and refinements of balanced
    density.
    """

    also: tuple[str, ...] = ()


def reproduce_tables(
    request: ReproduceRequest,
    progress: Progress = NO_PROGRESS,
    on_prepared: Callable[[WorkEstimate], None] | None = None,
    on_finished: Callable[[FinishedCombination], None] | None = None,
) -> Reproduced:
    """Generate or read, run what is missing, write."""
    check_comparison_target(request.target, request.inputs, THESIS_NAMES)
    locations, refinements = split_further_approaches(request.also)
    published = (
        read_published_canada(request.like)
        if request.reference is None
        else read_canada_reference(request.reference, request.like)
    )
    folder = request.data(SubProgress(progress, 0.0, 0.1))
    plan = _build_plan(request, folder, locations)
    table, regions = request.read(folder, SubProgress(progress, 0.1, 0.2))
    problems = count_scenarios(plan, table, regions, SubProgress(progress, 0.2, 0.25))
    cache = open_run_cache(store_beside(request.target))
    prepared = estimate_work(plan, problems, cache, progress)
    if on_prepared is not None:
        on_prepared(prepared)
    rest = 0.7 if refinements else 1.0
    comparison = run_comparison(prepared, cache, SubProgress(progress, 0.25, rest), on_finished)
    if refinements:
        further = estimate_work(build_refined_plan(plan, refinements), problems, cache, progress)
        refined = run_comparison(further, cache, SubProgress(progress, rest, 1.0), on_finished)
        comparison = Comparison(plan, (*comparison.finished, *refined.finished))
    # Nothing is written on records that were rewritten while they were read.
    require_unchanged(table.source)
    remarks = request.remarks(SOURCE_OF_CANADA if published else f"none of {request.like} Canada")
    lines = write_reproduction(comparison, request.like, published, request.target, remarks)
    return Reproduced(comparison, tuple(lines))


def _build_plan(request: ReproduceRequest, folder: Path, locations: tuple[str, ...]) -> ComparisonPlan:
    groupings = read_groupings(request.generalise or str(folder / "generalise.csv"))
    plan = build_thesis_plan(
        request.like, groupings, "region", request.workers, request.random_seed, locations
    )
    if len(plan.scenarios) != 6:
        raise InputError(
            Finding(
                "groups",
                "Not every selection of the thesis has groups.",
                "Give groups for the column age.",
            )
        )
    return plan


@dataclass(frozen=True)
class IslandRequest(ExperimentData):
    """Tables 19 to 22 into ``target``; see `ExperimentData` for the rest."""


def reproduce_island(request: IslandRequest, progress: Progress = NO_PROGRESS) -> tuple[str, ...]:
    """Generate or read the data, run the 18 scenarios and write the tables; return a summary, line by line."""
    check_target(request.target, THESIS_NAMES, request.inputs)
    published = (
        read_published_island()
        if request.reference is None
        else read_island_reference(request.reference)
    )
    folder = request.data(SubProgress(progress, 0.0, 0.1))
    table, regions = request.read(folder, SubProgress(progress, 0.1, 0.2))
    rows: list[IslandRow] = []
    scenarios = [(name, generalised) for generalised in (False, True) for name in SELECTIONS]
    for place, (name, generalised) in enumerate(scenarios):
        span = SubProgress(
            progress, 0.2 + 0.8 * place / len(scenarios), 0.2 + 0.8 * (place + 1) / len(scenarios)
        )
        problem = _count_scenario(request, table, regions, SELECTIONS[name], generalised, folder)
        rows += run_island_methods(problem, name, generalised, request.random_seed, span)
    require_unchanged(table.source)
    rows.sort(key=lambda row: row.table)
    lines = [*describe_island(rows, published), "", *request.remarks(SOURCE)]
    with staged_folder(request.target, THESIS_NAMES) as work:
        for name, text in _format_tables(rows, published, lines).items():
            (work / name).parent.mkdir(exist_ok=True)
            write_text(work / name, text)
    return tuple(lines)


def _count_scenario(
    request: IslandRequest,
    table: RecordTable,
    regions: Regions,
    names: tuple[str, ...],
    generalised: bool,
    folder: Path,
) -> Problem:
    groupings = (
        read_groupings(request.generalise or str(folder / "generalise.csv")) if generalised else ()
    )
    return build_problem(
        table,
        regions,
        region_column="region",
        quasi_identifiers=names,
        k=5,
        groupings=tuple(grouping for grouping in groupings if grouping.column in names),
    )


def _format_tables(
    rows: list[IslandRow], published: list[IslandRow], lines: list[str]
) -> Mapping[str, str]:
    tables = sorted({row.table for row in rows})
    texts = {
        f"tables/table-{table}.csv": format_island_csv(r for r in rows if r.table == table)
        for table in tables
    }
    texts["tables.md"] = format_island_markdown(rows, published)
    texts["claims.md"] = "\n".join(["# Prince Edward Island", "", *lines]) + "\n"
    texts["side-by-side.csv"] = format_paired_island_csv(rows, published)
    return texts

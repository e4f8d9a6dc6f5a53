"""Writes a release: the anonymised file with its papers, verified, then put in place as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.adjacency import known_neighbours, pieces
from vbas_desktop.algorithms.coverage import Shapes
from vbas_desktop.algorithms.region_names import region_names
from vbas_desktop.assessment.policies import Judgement
from vbas_desktop.assessment.risk import population_column
from vbas_desktop.audit.claim import AggregationClaim, ReleaseClaim
from vbas_desktop.audit.filters import FilterClaim
from vbas_desktop.audit.last_look import look_at_release
from vbas_desktop.audit.verification import Verification
from vbas_desktop.engine.limits import limited
from vbas_desktop.engine.place import PlaceVector, place_vector
from vbas_desktop.engine.region_map import map_regions
from vbas_desktop.io.databases.table import DatabaseTable
from vbas_desktop.io.generalise import from_plain, groups_text
from vbas_desktop.io.output import make_private, require_space, staged_folder
from vbas_desktop.io.policies import find_policy
from vbas_desktop.io.population import read_population
from vbas_desktop.io.runfile import as_text, run_document, write_run_file
from vbas_desktop.model.errors import Check, Finding, InputError
from vbas_desktop.model.listing import defused
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.settings.command import GROUPS_FILE, SEED_FILE, files_to_repeat
from vbas_desktop.settings.release import ReleaseOptions

from . import representability
from .aggregation import CLASS_COUNTS, Aggregated, aggregate_columns, class_counts, with_aggregates
from .cells import cells_findings, with_cells
from .column_coverage import ColumnCoverage, cover_columns
from .database_records import (
    DatabaseRecords,
    DatabaseRecordWriter,
    refuse_aggregation,
    refuse_order,
    refuse_record_key,
)
from .disclosure import Told, tell
from .folder import NAMES, ReleasedFile, ReleaseReport
from .formulas import formula_findings, name_findings
from .geometry import WRITERS, Placed, made_up_extent, placed_for, shapes_of, with_larger_places
from .judging import judged_by, population_of
from .notation import Notation, copied_texts, notation_hints, released_notation, values_of_texts
from .patience import Beside, Save, Saving, patiently
from .plan import Plan, empty, make_plan
from .records import RecordWriter, ReleasedRecords, WrittenFile, find_released_records, input_changed
from .report import Facts, Papers, as_html, as_pdf, internal_report, recipients_report
from .report.blocks import Report
from .report.figures import Maps, make_maps
from .report.wording import file_in_words
from .shapes_check import check_shapes
from .tables import aggregated_regions, aggregated_regions_internal, checksums, crosswalk, listed
from .telltales import check_columns, refuse_disclosures, telltale_order, telltale_partition

MARGIN_BYTES = 32 << 20
RECORD_INDEX = "record_index.csv"
"""The index that leads from the released key of a record to its row: for the organisation alone."""


def write_release(
    problem: Problem,
    table: RecordTable,
    result: RunResult,
    solution: Solution,
    options: ReleaseOptions,
    target: Path | str,
    progress: Progress | None = None,
    document: Mapping[str, Any] | None = None,
) -> ReleaseReport:
    """Write ``release/``, ``internal/`` and ``run.json`` of one solution to the folder ``target``.

    The record file must still be the one that ``table`` was loaded from. ``document`` is the content of ``run.json``
    without the choices of the release, which are added to it. What was at the target before stays until the new
    release is complete and verified. Raises `InputError`, `VerificationFailed` or `Cancelled`; then nothing is left.
    """
    progress, target, options = progress or Silent(), Path(target), options.settled()
    table = map_regions(table, problem.region_column, problem.regions.mapping)
    if options.policy is not None:
        find_policy(options.policy)
    # Wrong choices of columns are refused before anything else is done.
    options.released_columns(table.dialect.header)
    with _steady(problem, table, options, progress):
        require_space(target.parent, _needed_bytes(table, options))
        plan = with_cells(_named(make_plan(problem, solution), options), options)
        if not plan.records_released:
            raise empty(problem)
        records = released_records(plan, table, options, progress)
        notation = released_notation(records, options)
        as_written = records.with_table(table.with_texts({name: texts for name, (_, texts) in notation.items()}))
        aggregated: Aggregated = {}
        if isinstance(as_written, ReleasedRecords):
            aggregated = aggregate_columns(as_written, options, progress)
            as_written = as_written.with_table(with_aggregates(as_written.table, aggregated))
        telltales = check_columns(as_written, options, progress)
        if not options.shuffle:
            telltales += telltale_order(plan, table)
        telltales += (*telltale_partition(solution), *cells_findings(plan), *made_up_extent(problem.regions))
        made = dict(document or run_document(problem, result, {}, solution.id))
        columns = cover_columns(as_written, options, progress)
        del as_written
        made["columns"] = columns.as_dict()
        judged = _complete(made, plan, options, progress)
        with staged_folder(target, NAMES) as folder:
            job = _Job(records, result, options, folder, made, telltales, notation, columns, aggregated)
            written, checks = job.run(progress)
            if isinstance(table, DatabaseTable):
                table.engine.refuse_changed()
            progress.update("Putting the release in place", 1.0)
        return job.report(target, written, checks, judged)


def released_records(
    plan: Plan, table: RecordTable, options: ReleaseOptions, progress: Progress
) -> ReleasedRecords | DatabaseRecords:
    """Return the records that a plan releases, which are in a loaded table or behind an address."""
    if isinstance(table, DatabaseTable):
        return DatabaseRecords(plan, table, options, progress)
    return find_released_records(plan, table, progress)


@contextmanager
def _steady(problem: Problem, table: RecordTable, options: ReleaseOptions, progress: Progress) -> Iterator[None]:
    """Records that are no longer those that were counted are refused; an engine keeps its own steady meanwhile."""
    if not isinstance(table, DatabaseTable):
        _refuse_changed(problem)
        yield
        return
    refuse_order(options, table.source.path)
    refuse_record_key(options, table.source.path)
    refuse_aggregation(options, table.source.path)
    with table.engine.steady(progress):
        table.require_same(problem, progress)
        yield


def _complete(made: dict[str, Any], plan: Plan, options: ReleaseOptions, progress: Progress) -> Judgement | None:
    """Add the choices of the release and what follows from them to the content of run.json; how a policy judges it."""
    made["release"] = {"solution": plan.solution.id, **options.as_dict()}
    if made.get("options"):
        made["options"] = {**made["options"], "shuffle_seed": options.shuffle_seed}
    made |= _population(plan, population_column(made), options, progress)
    if options.policy is None:
        return None
    judged = judged_by(options.policy, plan, made)
    made["policy"] = judged.as_dict()
    return judged


def _named(plan: Plan, options: ReleaseOptions) -> Plan:
    """With readable names of the aggregated regions, if they are wanted."""
    if options.name_column is None:
        return plan
    names = region_names(plan.regions, plan.membership, options.name_column)
    return replace(plan, names=tuple(map(defused, names)) if options.escape_formulas else names)


def _population(plan: Plan, column: str | None, options: ReleaseOptions, progress: Progress) -> dict[str, Any]:
    """What the inhabitants say of the release, for run.json and the internal report."""
    table = None
    if options.population is not None:
        table = read_population(Path(options.population), plan.problem, Span(progress, 0.0, 0.0))
    found = population_of(plan, column, table)
    if found is None:
        return {}
    source = {} if table is None else {"table_sha256": table.source.sha256}
    return {"population": {**found.as_dict(), **source}}


@dataclass(frozen=True, eq=False)
class _Drawn:
    """What is made beside the records: maps, pieces of each region, and what the recipient is told."""

    maps: Maps
    parts: NDArray[np.int32]
    place: PlaceVector
    told: Told
    vector: dict[str, Any]
    checks: tuple[Check, ...]


_DRAWING = "Drawing the aggregated regions"
_MANY_REGIONS = 250_000
"""The cells of more initial regions take so much memory that they are drawn after the audit, not beside it."""


@dataclass
class _Job:
    records: ReleasedRecords | DatabaseRecords
    result: RunResult
    options: ReleaseOptions
    folder: Path
    document: dict[str, Any]
    telltales: tuple[Finding, ...]
    notation: Notation
    columns: ColumnCoverage | None = None
    aggregated: Aggregated = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """The plan of the release."""
        return self.records.plan

    @property
    def table(self) -> RecordTable:
        """The records as they were loaded."""
        return self.records.table

    @cached_property
    def released(self) -> tuple[tuple[str, str], ...]:
        """The released columns and their names there."""
        return self.options.released_columns(self.table.dialect.header)

    @cached_property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of the columns that are copied."""
        return copied_texts(self.plan, self.table, self.options)

    def run(self, progress: Progress) -> tuple[WrittenFile, tuple[Check, ...]]:
        """Write everything into the hidden folder and verify it."""
        release, internal = self.folder / "release", self.folder / "internal"
        self.telltales += notation_hints(self.notation)
        release.mkdir()
        internal.mkdir(0o700)
        draw = Beside(partial(self._drawn, release, internal))
        writing, drawing = Span(progress, 0.0, 0.9), Span(progress, 0.9, 1.0)
        if len(self.plan.problem.regions) > _MANY_REGIONS:
            written, checks = self.write_and_verify(release, writing)
            with draw:
                drawn = draw.result(drawing, _DRAWING, 0.0)
        else:
            with draw:
                written, checks = self.write_and_verify(release, writing)
                drawn = draw.result(drawing, _DRAWING, 0.0)
        checks += drawn.checks
        self._reports(release, internal, written, checks, drawn, Span(progress, 0.95, 1.0))
        (release / "SHA256SUMS").write_bytes(checksums(self._hashed(release, written)))
        write_run_file(self.folder, self.document)
        make_private(internal)
        return written, checks

    def write_and_verify(self, release: Path, progress: Progress) -> tuple[WrittenFile, tuple[Check, ...]]:
        """The records with their crosswalk, read back. The input is read again while they are written."""
        (release / "crosswalk.csv").write_bytes(crosswalk(self.plan, self.options.escape_formulas))
        if self.aggregated:
            counts = class_counts(self.plan, self.options, self.table.dialect.header)
            (release / CLASS_COUNTS).write_bytes(counts)
        with Verification(self.plan.problem, self.table.dialect, self._claim(release)) as verification:
            written, saving = self._write_records(release, Span(progress, 0.0, 0.55))
            checks = verification.check(Span(progress, 0.55, 0.85), written.sha256)
            self._look_at_file(verification, Span(progress, 0.85, 0.9))
        saving.finish(progress, 0.9)
        return written, checks

    def _look_at_file(self, verification: Verification, progress: Progress) -> None:
        """Test the columns of the written file once more, and note what was found for run.json and the report."""
        problem = self.plan.problem
        used = (problem.region_column, *problem.quasi_identifiers)
        class_columns = self.options.class_columns(self.table.dialect.header, used)
        found = look_at_release(verification.files, class_columns, self.options.pair_tests, progress)
        refuse_disclosures(found.disclosures, self.options)
        self.document["last_look"] = found.as_dict()

    @property
    def _file_name(self) -> str:
        return f"anonymized.{self.options.format}"

    def _write_records(self, release: Path, progress: Progress) -> tuple[WrittenFile, Saving]:
        with (release / self._file_name).open("wb") as file:
            if isinstance(self.records, DatabaseRecords):
                written = DatabaseRecordWriter(self.records, self.options, self.notation).write(
                    file, self.folder, progress
                )
            else:
                writer = RecordWriter(self.records, self.options, self.notation, self.aggregated)
                written = writer.write(file, self.folder, progress)
                if self.options.record_key:
                    writer.write_index(self._record_index)
            return written, Saving(file)

    def _claim(self, release: Path) -> ReleaseClaim:
        """What the released file will have to be."""
        mapping = self.plan.problem.regions.mapping
        return ReleaseClaim(
            release / self._file_name,
            release / "crosswalk.csv",
            self.released,
            self.options.class_size,
            self.options.delimiter or self.table.dialect.delimiter or ",",
            self.options.escape_formulas,
            self.plan.problem.records,
            self.plan.records_released,
            {**values_of_texts(self.table, self.plan.problem.judged_columns), **self.values},
            *limited(self.plan.solution),
            source=self.table.engine if isinstance(self.table, DatabaseTable) else None,
            name_column=self.options.name_column,
            filters=self._filters,
            record_key=self.options.record_key,
            record_index=self._record_index if self.options.record_key else None,
            region_map=None if mapping is None else Path(mapping.source.path),
            aggregated=self._aggregation,
            class_counts=release / CLASS_COUNTS if self.aggregated else None,
            # What an engine orders by a hash of the row has equal rows side by side.
            shuffled=self.options.shuffle and not isinstance(self.table, DatabaseTable),
        )

    @property
    def _aggregation(self) -> tuple[AggregationClaim, ...]:
        """The columns that the auditor aggregates once more."""
        return tuple(AggregationClaim(name, self.options.aggregate_below) for name in self.aggregated)

    @property
    def _record_index(self) -> Path:
        return self.folder / "internal" / RECORD_INDEX

    @property
    def _filters(self) -> tuple[FilterClaim, ...]:
        """The filters by which the auditor chooses the records once more."""
        if self.table.selection is None:
            return ()
        return tuple(
            FilterClaim(file.source.path, file.source.sha256, name == "keep_records")
            for name, file in self.table.selection.files
        )

    def _drawn(self, release: Path, internal: Path, save: Save) -> _Drawn:
        """What does not depend on how the records are written; the shapes are read back."""
        regions = self.plan.problem.regions
        shapes, pairs = shapes_of(self.plan), known_neighbours(regions)
        parts = pieces(regions, self.plan.membership, pairs)
        place = place_vector(self.plan.problem, self.plan.solution)
        told = tell(self.plan, place, self.options, self.table.dialect.header)
        save(release / "aggregated_regions.csv", aggregated_regions(told, self.options.escape_formulas))
        save(internal / "aggregated_regions.csv", aggregated_regions_internal(self.plan, parts, escape=True))
        checks: tuple[Check, ...] = ()
        for kind in WRITERS:
            if kind in self.options.geometry:
                path, placed = release / f"aggregated_regions.{kind}", self._placed(kind, shapes)
                save(path, WRITERS[kind](told, placed))
                checks += check_shapes(self.plan, placed, path, release / "aggregated_regions.csv")
        vector = representability.recipients_vector(told, self.options, self.table.dialect.header)
        save(release / representability.FILE, representability.as_text(vector).encode())
        return _Drawn(make_maps(self.plan, shapes, pairs), parts, place, told, vector, checks)

    def _reports(
        self, release: Path, internal: Path, written: WrittenFile, checks: tuple[Check, ...], drawn: _Drawn,
        progress: Progress,
    ) -> None:  # fmt: skip
        self._for_repeating(internal)
        facts = Facts(
            self.plan, self.table, self.result, self.options, written, checks, self._hashed(release, written),
            drawn.maps, drawn.parts, self.document, drawn.place, drawn.told, self.telltales, self.columns,
        )  # fmt: skip
        for folder, make_report, done in (
            (release, partial(self._for_recipient, facts, drawn.vector), 0.0),
            (internal, partial(internal_report, facts), 0.5),
        ):
            html, pdf = patiently(partial(self._set, make_report), progress, "Writing the reports", done)
            (folder / "report.html").write_text(html, encoding="utf-8")
            if pdf is not None:
                (folder / "report.pdf").write_bytes(pdf)

    def _for_repeating(self, internal: Path) -> None:
        """What the command that repeats the release reads besides the two files."""
        document, kept = self.document, files_to_repeat(self.document)
        if "--generalise" in kept:
            groups = from_plain(document["options"]["groupings"])
            (internal / GROUPS_FILE).write_text(groups_text(groups), encoding="utf-8", newline="")
        if "--shuffle-seed" in kept:
            (internal / SEED_FILE).write_text(f"{self.options.shuffle_seed}\n", encoding="utf-8")
        for option, name in (("--requirement", "requirement"), ("--checklist", "policy_checklist")):
            if option in kept:
                (internal / kept[option]).write_text(as_text(document[name]), encoding="utf-8")

    def _placed(self, kind: str, shapes: Shapes) -> list[Placed]:
        """The shapes of each tier for a file of this kind."""
        regions = self.plan.problem.regions
        are_cells = self.plan.cell_sites is not None
        return [placed_for(kind, each, regions, are_cells) for each in with_larger_places(self.plan, shapes)]

    def _set(self, make_report: Callable[[], Report]) -> tuple[str, bytes | None]:
        """One report as HTML and, if wanted, as PDF."""
        content = make_report()
        return as_html(content), as_pdf(content) if self.options.pdf else None

    def _for_recipient(self, facts: Facts, vector: dict[str, Any]) -> Report:
        options = self.options
        named = name_findings(self.plan, options, self.table.dialect.header)
        papers = Papers(
            facts.told, vector, facts.checks, facts.files, facts.maps.regions,
            file_in_words(self.table.dialect, options, facts.written.encoding),
            self.document.get("policy"), self.document.get("population"),
            with_formulas=bool(facts.written.formulas or named) and not options.escape_formulas,
        )  # fmt: skip
        return recipients_report(papers)

    def report(
        self, target: Path, written: WrittenFile, checks: tuple[Check, ...], judged: Judgement | None
    ) -> ReleaseReport:
        """The numbers of the release that is in place now."""
        plan, found = self.plan, () if self.columns is None else self.columns.findings()
        return ReleaseReport(
            target=target,
            records=plan.problem.records,
            records_released=plan.records_released,
            records_suppressed=plan.records_suppressed,
            aggregated_regions=len(plan.codes),
            anonymity=plan.anonymity,
            checks=checks,
            files=listed(target, {f"release/{self._file_name}": written.sha256}),
            findings=(
                *found,
                *self.telltales,
                *formula_findings(written, plan, self.options, self.table.dialect.header, self.document),
            ),
            columns=self.columns,
            policy=judged,
            population=self.document.get("population"),
            regions_with_records=int(np.count_nonzero(plan.released_by_region)),
            in_tiers=bool(plan.coarser),
            last_look=self.document.get("last_look"),
        )

    def _hashed(self, release: Path, written: WrittenFile) -> tuple[ReleasedFile, ...]:
        """The files that the reports list, with their hashes; that of the large one is known from writing it."""
        return tuple(listed(release, {self._file_name: written.sha256}))


def _refuse_changed(problem: Problem) -> None:
    """A file of another size is certainly not the one that was loaded; the same size is settled by its hash later."""
    source = problem.records_source
    if source is None:
        raise InputError(Finding("no-record-file", "The counts come from no record file.", "Load the record file."))
    try:
        if Path(source.path).stat().st_size != source.size_bytes:
            raise input_changed(source)
    except FileNotFoundError:
        raise InputError(
            Finding("no-such-file", "The record file is gone.", "Put it back or load another.", file=source.path)
        ) from None


def _needed_bytes(table: RecordTable, options: ReleaseOptions) -> int:
    """The released file, its rows once more while they are shuffled, and the small files."""
    size = table.source.size_bytes * (6 if table.dialect.compressed or table.dialect.format == "parquet" else 1)
    # A key stands in the released file and in the index, which has two numbers more.
    per_row = 8 + (8 if options.class_size else 0) + (56 if options.record_key else 0)
    return (size + per_row * table.rows) * (2 if options.shuffle else 1) + MARGIN_BYTES

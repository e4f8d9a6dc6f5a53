"""Results of the Python interface: plain objects that convert to data frames, and that a notebook shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from vbas_desktop.algorithms.region_graph import count_pieces, find_neighbours
from vbas_desktop.app.data import LoadedData
from vbas_desktop.app.frames import FrameFiles, read_table, read_verified
from vbas_desktop.app.run import RunOutcome, choose_solution
from vbas_desktop.appointments.outputs import assign_people, iterate_person_ids, require_ids
from vbas_desktop.approaches.selection import approach_options, parse_assignment
from vbas_desktop.engine.comparison.summary import list_solution_rows
from vbas_desktop.engine.figures import Output, list_figures
from vbas_desktop.engine.lattice.table import list_node_rows
from vbas_desktop.model.findings import UsageError
from vbas_desktop.model.text import format_count
from vbas_desktop.releases.geometry import (
    build_shapes,
    build_tier_shapes,
    encode_geojson,
    project_shapes,
)
from vbas_desktop.releases.plan import ReleasePlan, build_plan
from vbas_desktop.releases.reports.drawing import render_svg
from vbas_desktop.releases.reports.maps import RegionMap
from vbas_desktop.releases.tables import crosswalk, list_regions_internally

if TYPE_CHECKING:
    from vbas_desktop.app.outliers import OutlierResult
    from vbas_desktop.app.representability import RepresentabilityResult
    from vbas_desktop.appointments.inputs import PeopleTable
    from vbas_desktop.appointments.outputs import PlanAssessment
    from vbas_desktop.engine.comparison.run import Comparison as ComparisonOutcome
    from vbas_desktop.engine.lattice.search import LatticeSearchResult
    from vbas_desktop.model.solution import Solution as RunSolution
    from vbas_desktop.releases.folder import ReleasedFile, ReleaseReport

_RELEASED_RECORDS = ("anonymized.csv", "anonymized.parquet", "class_counts.csv")


@dataclass(frozen=True, eq=False)
class Data:
    """Both files, read, and the roles of the columns. Made by `read`."""

    _loaded: LoadedData
    _options: Mapping[str, Any]
    _files: FrameFiles

    @property
    def records(self) -> int:
        """Number of records."""
        return self._loaded.table.rows

    @property
    def regions(self) -> int:
        """Number of initial regions."""
        return len(self._loaded.regions)

    def to_frame(self) -> pd.DataFrame:
        """Describe the columns of the records: role, distinct values, missing values. No record is in it."""
        roles = dict.fromkeys(self._options.get("quasi_identifiers", ()), "quasi-identifier")
        roles |= dict.fromkeys(self._options.get("identifiers", ()), "identifier")
        roles |= dict.fromkeys(self._options.get("sensitive", ()), "sensitive")
        roles[self._options.get("region_column", "")] = "region"
        columns = self._loaded.table.columns
        return pd.DataFrame(
            {
                "column": [facts.name for facts in columns],
                "role": [roles.get(facts.name, "released as is") for facts in columns],
                "distinct": [facts.distinct for facts in columns],
                "missing": [facts.missing for facts in columns],
            }
        )

    def __repr__(self) -> str:
        return (
            f"<Data: {format_count(self.records, 'record')} in {format_count(self.regions, 'region')}>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().to_html(index=False)}"


@dataclass(frozen=True, eq=False)
class Solution:
    """One aggregation of a run. All of this stays in the organisation; what may leave it is made by `release`."""

    _run: Run
    _solution: RunSolution

    @property
    def id(self) -> int:
        """Number of the solution within the run."""
        return self._solution.id

    @property
    def measures(self) -> dict[str, float | int | None]:
        """Every measure by its name; lower is better."""
        return dict(self._solution.measures)

    @property
    def representability(self) -> dict[str, Any]:
        """The representability vector: how much of the geography survives."""
        return {**self._solution.representability}

    @cached_property
    def _plan(self) -> ReleasePlan:
        return build_plan(self._run._outcome.problem, self._solution)

    def to_frame(self) -> pd.DataFrame:
        """List the aggregated regions: initial regions, records, suppressed records, anonymity, pieces."""
        regions = self._plan.problem.regions
        pieces = count_pieces(regions, self._plan.membership, find_neighbours(regions))
        return read_table(list_regions_internally(self._plan, pieces), ["aggregated_region"])

    def crosswalk(self) -> pd.DataFrame:
        """List the aggregated region of each initial region."""
        return read_table(crosswalk(self._plan), ["initial_region", "aggregated_region"])

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The aggregated regions as a collection of features, for GeoPandas and others."""
        regions = self._plan.problem.regions
        tiers = build_tier_shapes(self._plan, build_shapes(self._plan))
        projected = [project_shapes("geojson", shapes, regions) for shapes in tiers]
        collection: dict[str, Any] = json.loads(encode_geojson(self._plan, projected))
        return collection

    def to_geoframe(self) -> Any:
        """Return the aggregated regions as a GeoDataFrame; GeoPandas must be installed."""
        import geopandas

        has_crs = self._plan.problem.regions.system.definition is not None
        return geopandas.GeoDataFrame.from_features(self, crs=4326 if has_crs else None)

    def to_svg(self) -> str:
        """Draw a map of the aggregated regions."""
        neighbours = find_neighbours(self._plan.problem.regions)
        return render_svg(RegionMap(self._plan, build_shapes(self._plan)).distinct(neighbours))

    def __repr__(self) -> str:
        regions = format_count(self._solution.aggregated_regions, "aggregated region")
        suppressed = self._run._outcome.problem.records - self._solution.released_records
        return f"<Solution {self.id}: {regions}, {format_count(suppressed, 'record')} suppressed>"

    def _repr_svg_(self) -> str:
        return self.to_svg()


@dataclass(frozen=True, eq=False)
class Run:
    """The solutions of one run. Made by `run`."""

    _data: Data
    _outcome: RunOutcome

    @cached_property
    def solutions(self) -> tuple[Solution, ...]:
        """All solutions, by the number of sites."""
        return tuple(Solution(self, solution) for solution in self._outcome.result.solutions)

    def __getitem__(self, id: int) -> Solution:
        """Return the solution with this id. Raises `UsageError` if there is none."""
        with self._data._files.explaining_errors():
            return Solution(self, choose_solution(self._outcome, id))

    @property
    def chosen(self) -> Solution:
        """The solution that `release` takes by default."""
        return Solution(self, choose_solution(self._outcome, None))

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting in force, by keyword of `read` and `run`; of the approaches, what is not at its default."""
        settings = self._outcome.settings
        chosen = approach_options(settings)
        parameters: dict[str, dict[str, str]] = {}
        for assignment in chosen.pop("set"):
            (approach, name), value = parse_assignment(assignment)
            parameters.setdefault(approach, {})[name] = value
        return {
            **settings.as_dict(),
            "groups": {column: dict(groups) for column, groups in settings.groupings.items()},
            **{name: value for name, value in chosen.items() if value is not None},
            "parameters": parameters,
        }

    @property
    def findings(self) -> tuple[str, ...]:
        """Describe what is worth knowing about the data and the run; warnings among it were Python warnings too."""
        findings = (*self._outcome.problem.findings, *self._outcome.result.findings)
        return tuple(map(str, self._data._files.describe(dict.fromkeys(findings))))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each solution with every measure."""
        solutions = self._outcome.result.solutions
        figures = list_figures(solutions, Output.FRAME)
        rows = [
            {
                "solution": solution.id,
                **{figure.name: figure.read(solution) for figure in figures},
                "pareto": solution.pareto,
            }
            for solution in solutions
        ]
        return pd.DataFrame(rows).set_index("solution")

    def __repr__(self) -> str:
        solutions = format_count(len(self._outcome.result.solutions), "solution")
        return f"<Run of {solutions}, k = {self._outcome.problem.k}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().T.to_html()}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """The solutions of many combinations of approaches. Made by `compare`."""

    _outcome: ComparisonOutcome

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each solution with every measure, as in comparison.csv."""
        return pd.DataFrame(list_solution_rows(self._outcome)).set_index("solution")

    def __repr__(self) -> str:
        combinations = format_count(len(self._outcome.plan.combinations), "combination")
        return (
            f"<Comparison of {combinations}, {format_count(len(self._outcome.solutions), 'solution')}>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().to_html()}"


@dataclass(frozen=True, eq=False)
class Search:
    """Every combination of levels of the quasi-identifiers, with the finest regions for each. Made by `search`."""

    _outcome: LatticeSearchResult

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each combination of levels, as in search.csv; the index is its number."""
        return pd.DataFrame(list_node_rows(self._outcome)).set_index("node")

    @property
    def recommended(self) -> int | None:
        """Number of the recommended combination; None if none is within the allowed loss."""
        row = self._outcome.recommended
        return None if row is None else self._outcome.rows.index(row) + 1

    def groups(self, number: int | None = None) -> dict[str, dict[str, str]]:
        """Return the groups of a combination (default: the recommended one), as `read` and `run` take them."""
        number = self.recommended if number is None else number
        if number is None or not 1 <= number <= len(self._outcome.rows):
            raise UsageError(f"There is no combination {number} within the allowed loss.")
        groupings = self._outcome.finest.lattice.groupings(self._outcome.rows[number - 1].node)
        return {grouping.column: dict(grouping.groups) for grouping in groupings}

    def __repr__(self) -> str:
        return f"<Search of {format_count(len(self._outcome.rows), 'combination')}, recommended: {self.recommended}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().to_html()}"


@dataclass(frozen=True, eq=False)
class Release:
    """A release that was verified by reading it back. Made by `release` and `export`.

    Its numbers may be below k: they stay in the organisation. Only `folder` may leave it.
    """

    _report: ReleaseReport

    @property
    def target(self) -> Path:
        """The folder with everything, also what stays in the organisation."""
        return self._report.target

    @property
    def folder(self) -> Path:
        """The folder that may leave the organisation."""
        return self._report.folder

    @property
    def records(self) -> int:
        """Number of records that were read."""
        return self._report.records

    @property
    def records_released(self) -> int:
        """Number of released records."""
        return self._report.records_released

    @property
    def records_suppressed(self) -> int:
        """Number of suppressed records."""
        return self._report.records_suppressed

    @property
    def aggregated_regions(self) -> int:
        """Number of aggregated regions."""
        return self._report.aggregated_regions

    @property
    def anonymity(self) -> int | None:
        """Size of the smallest released class."""
        return self._report.anonymity

    @property
    def columns(self) -> Any:
        """The columns for which k holds (``counted``), those released as they are (``others``), and ``unique``."""
        return self._report.columns

    @property
    def policy(self) -> Any:
        """The judgement by a policy; None without one."""
        return self._report.policy

    @property
    def files(self) -> tuple[ReleasedFile, ...]:
        """The files with their sizes and SHA-256."""
        return self._report.files

    @property
    def findings(self) -> tuple[str, ...]:
        """Describe what is worth knowing about the release."""
        return tuple(map(str, FrameFiles().describe(self._report.findings)))

    def to_frame(self) -> pd.DataFrame:
        """Read the released records, all values as text (of Parquet: in their types), blanks as empty texts.

        Raises `InputError` if the file is not the one that was verified.
        """
        file = next(file for file in self._report.files if Path(file.path).name in _RELEASED_RECORDS)
        return read_verified(self._report.target / file.path, file.sha256)

    def __repr__(self) -> str:
        released = f"{self.records_released:,} of {format_count(self.records, 'record')}"
        return f"<Release of {released}: {escape(str(self.folder), quote=False)}>"


@dataclass(frozen=True, eq=False)
class RiskyCombinations:
    """The combinations of values that fewer than k records share. Made by `risky`.

    ``summary`` has the figures of `vbas risky --json`. If a folder was named, the coarsened records are in it.
    """

    summary: Mapping[str, Any]
    _file: Path | None = None
    _sha256: str = ""

    def to_frame(self) -> pd.DataFrame:
        """Read the coarsened records if they were written; otherwise list the combinations, without their values."""
        if self._file is not None:
            return read_verified(self._file, self._sha256)
        rows = self.summary["combinations"]
        return pd.DataFrame(rows, columns=None if rows else ["columns", "size", "count"])

    def __repr__(self) -> str:
        if self._file is not None:
            return f"<RiskyCombinations: coarsened, smallest class {self.summary['anonymity']}: {self._file}>"
        return f"<RiskyCombinations: {format_count(self.summary['number'], 'combination')}, k = {self.summary['k']}>"


@dataclass(frozen=True, eq=False)
class Outliers:
    """The classes of fewer than k records, and the file in which they were handled. Made by `outliers`."""

    _outcome: OutlierResult
    _file: Path | None = None
    _sha256: str = ""

    @property
    def text(self) -> str:
        """Sentences about the small classes, and about what was written."""
        report = self._outcome.report
        return self._outcome.text if report is None else f"{self._outcome.text}\n{report.in_words()}"

    def to_frame(self) -> pd.DataFrame:
        """Read the written records. Raises `UsageError` if nothing was written."""
        if self._file is None:
            raise UsageError("Nothing was written: name a file with out.")
        return read_verified(self._file, self._sha256)

    def __repr__(self) -> str:
        written = "" if self._file is None else f": {self._file}"
        return f"<Outliers: {self._outcome.text}{written}>"


@dataclass(frozen=True, eq=False)
class Representability:
    """The difference between an anonymised file and its original. Made by `representability`.

    Numbers of fewer than k records are not in it.
    """

    _outcome: RepresentabilityResult

    @property
    def vector(self) -> dict[str, Any]:
        """The representability vector, as in representability.json."""
        return self._outcome.vector

    def to_frame(self) -> pd.DataFrame:
        """Return the overall measures: measure, value."""
        return pd.DataFrame(self.vector["overall"].items(), columns=["measure", "value"])

    def __repr__(self) -> str:
        return f"<Representability: {len(self.vector['overall'])} measures>"


@dataclass(frozen=True, eq=False)
class Appointments:
    """A plan of screening appointments. Made by `plan_appointments`; it stays in the organisation."""

    _assessment: PlanAssessment
    _people: PeopleTable

    @property
    def measures(self) -> dict[str, Any]:
        """The figures of plan.json: anonymity vectors, k, improvement over a random plan."""
        return self._assessment.as_dict()

    def to_frame(self) -> pd.DataFrame:
        """Return the appointment of each person: id (or row), centre, time."""
        require_ids(self._people)
        slots = assign_people(self._people, self._assessment.plan)
        labels = [self._assessment.task.slot_labels[slot] for slot in slots]
        frame = pd.DataFrame(labels, columns=["centre", "time"])
        frame.insert(0, self._people.columns.id or "row", list(iterate_person_ids(self._people)))
        return frame

    def __repr__(self) -> str:
        return (
            f"<Appointments: k = {self._assessment.plan.vector.k}, planner {self.measures['planner']}>"
        )

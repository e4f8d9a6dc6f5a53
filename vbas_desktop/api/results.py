"""Results that convert to data frames and draw themselves in a notebook."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from vbas_desktop.algorithms.adjacency import neighbours, pieces
from vbas_desktop.comparison.run import Comparison as Compared
from vbas_desktop.comparison.table import rows_of
from vbas_desktop.jobs.run import Ran, chosen_solution
from vbas_desktop.model import solution as domain
from vbas_desktop.model.words import counted
from vbas_desktop.release.geometry import geojson, placed_for, shapes_of, with_larger_places
from vbas_desktop.release.plan import Plan, make_plan
from vbas_desktop.release.report.drawing import as_svg
from vbas_desktop.release.report.figures import RegionMap
from vbas_desktop.release.tables import aggregated_regions_internal, crosswalk

if TYPE_CHECKING:
    import pandas as pd

    from .data import Data

_TOLD = ("precision", "jaccard", "davies_bouldin", "mean_distance", "sample_size_ratio")
"""What a table of solutions says of their representability."""


@dataclass(frozen=True, eq=False)
class Solution:
    """One aggregation of a run. All of this stays in the house; what may leave it is made by `release`."""

    _run: Run
    _solution: domain.Solution

    @property
    def id(self) -> int:
        """Its number within the run."""
        return self._solution.id

    @property
    def measures(self) -> dict[str, float | int | None]:
        """Every measure by its name; lower is better."""
        return dict(self._solution.measures)

    @property
    def representability(self) -> dict[str, Any]:
        """How much of the geography survives."""
        return {**self._solution.representability}

    @cached_property
    def _plan(self) -> Plan:
        return make_plan(self._run._ran.problem, self._solution)

    def to_frame(self) -> pd.DataFrame:
        """The aggregated regions: place, initial regions, records, suppressed records, anonymity, pieces."""
        regions = self._plan.problem.regions
        parts = pieces(regions, self._plan.membership, neighbours(regions))
        return _frame(aggregated_regions_internal(self._plan, parts), ["aggregated_region"])

    def crosswalk(self) -> pd.DataFrame:
        """The aggregated region of each initial region."""
        return _frame(crosswalk(self._plan), ["initial_region", "aggregated_region"])

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The aggregated regions as a collection of features, for GeoPandas and others."""
        regions = self._plan.problem.regions
        shapes = with_larger_places(self._plan, shapes_of(self._plan))
        placed = [placed_for("geojson", each, regions) for each in shapes]
        found: dict[str, Any] = json.loads(geojson(self._plan, placed))
        return found

    def to_geoframe(self) -> Any:
        """The aggregated regions as a GeoDataFrame; GeoPandas must be installed."""
        import geopandas

        known = self._plan.problem.regions.system.definition is not None
        return geopandas.GeoDataFrame.from_features(self, crs=4326 if known else None)

    def to_svg(self) -> str:
        """A map of the aggregated regions."""
        return as_svg(RegionMap(self._plan, shapes_of(self._plan)).distinct(neighbours(self._plan.problem.regions)))

    def __repr__(self) -> str:
        found = counted(self._solution.aggregated_regions, "aggregated region")
        lost = counted(self._run._ran.problem.records - self._solution.released_records, "record")
        return f"<Solution {self.id}: {found}, {lost} suppressed>"

    def _repr_svg_(self) -> str:
        return self.to_svg()


@dataclass(frozen=True, eq=False)
class Run:
    """The solutions of one run. Made by `run`."""

    _data: Data
    _ran: Ran

    @cached_property
    def solutions(self) -> tuple[Solution, ...]:
        """All solutions, by the number of sites."""
        return tuple(Solution(self, each) for each in self._ran.result.solutions)

    def __getitem__(self, id: int) -> Solution:
        """The solution with this id."""
        return Solution(self, chosen_solution(self._ran, id))

    @property
    def chosen(self) -> Solution:
        """The one that `release` takes unless told otherwise."""
        return Solution(self, chosen_solution(self._ran, None))

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting in force, by the names of the command line."""
        return self._ran.settings.options()

    @property
    def findings(self) -> tuple[str, ...]:
        """What is worth knowing about the data and the run."""
        return tuple(str(each) for each in dict.fromkeys((*self._ran.problem.findings, *self._ran.result.findings)))

    def to_frame(self) -> pd.DataFrame:
        """One row for each solution with every measure."""
        import pandas as pd

        rows = []
        for solution in self._ran.result.solutions:
            told = {**solution.representability}
            row: dict[str, Any] = {"solution": solution.id, "sites": solution.site_count}
            row |= {"aggregated_regions": solution.aggregated_regions, **solution.measures}
            rows.append({**row, **{name: told.get(name) for name in _TOLD}, "pareto": solution.pareto})
        return pd.DataFrame(rows).set_index("solution")

    def __repr__(self) -> str:
        return f"<Run of {counted(len(self._ran.result.solutions), 'solution')}, k = {self._ran.problem.k}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().T.to_html()}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """The solutions of many combinations. Made by `compare`."""

    _compared: Compared

    def to_frame(self) -> pd.DataFrame:
        """One row for each solution with every measure, as in comparison.csv."""
        import pandas as pd

        return pd.DataFrame(rows_of(self._compared)).set_index("solution")

    def __repr__(self) -> str:
        made = counted(len(self._compared.plan.combinations), "combination")
        return f"<Comparison of {made}, {counted(len(self._compared.solutions), 'solution')}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().to_html()}"


def _frame(table: bytes, texts: list[str]) -> pd.DataFrame:
    import pandas as pd

    kinds = dict.fromkeys(texts, str)
    return pd.read_csv(io.BytesIO(table), dtype=kinds, keep_default_na=False, na_values={"anonymity": [""]})

"""The regions that a crosswalk lists, such as those of a solution that was edited by hand."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.model.findings import Finding, InputError, input_error
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.regions import CrosswalkPartition

from ..interface import Construction, ConstructionResult, Context, Metadata, option


class GivenConstruction(Construction):
    """Merges the initial regions as a crosswalk says: a CSV file with the columns initial_region,aggregated_region.

    The crosswalk lists each region of the region file once. There is one solution, whatever the number of sites is, and
    it has no sites. The codes of the crosswalk have no effect: the release numbers its regions as always, so the
    crosswalk.csv of a release gives the same release again. A solution that was edited on the map is stored in this
    form. O(r).

    References
    ----------
    Editing by hand, in the user guide of this program.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="given",
        title="Given",
        summary="Merges the initial regions as a crosswalk says, such as that of a solution edited by hand.",
        formula="region(i) = the aggregated region that the crosswalk names for i",
        complexity="O(r)",
        when="The regions are prescribed, or were edited by hand on the map. Needs a crosswalk. Number and locations "
        "of sites have no effect.",
        discloses="They were given as a file. Whoever drew or edited them may have moved borders after looking at "
        "small classes: the borders can then show where these are, all the more beside another version of the regions.",
        order=60,
    )
    needs_sites: ClassVar[bool] = False

    file: str = option(
        "",
        label="Crosswalk",
        help="CSV file with the columns initial_region,aggregated_region and a row for each initial region.",
        metavar="FILE",
        required=True,
    )
    origin: str = option(
        "",
        label="Origin",
        help="Where the regions come from, in a few words, such as: edited from #3. It is shown with the solution.",
        affects_result=False,
    )

    def build_partition(
        self, context: Context, sites: NDArray[np.float64], progress: Progress
    ) -> ConstructionResult:
        """Return the regions of the crosswalk, with its hash."""
        progress.update("Merging the given regions")
        given = self._find_partition(context)
        facts: dict[str, Any] = {
            "aggregated_regions": self.count_regions(context),
            "sha256": given.source.sha256,
        }
        return ConstructionResult(dense_membership(given.region)[0], {self.metadata.name: facts})

    def count_regions(self, context: Context) -> int:
        """Count the aggregated regions of the crosswalk."""
        return int(np.unique(self._find_partition(context).region).size)

    def check_result(self, context: Context, owner: NDArray[np.int32]) -> None:
        """Refuse a partition in which a refinement or a limit joined or cut regions of the crosswalk."""
        given = self._find_partition(context)
        n_pairs = np.unique(np.column_stack([given.region, owner]), axis=0).shape[0]
        if n_pairs != self.count_regions(context) or n_pairs != np.unique(owner).size:
            message = "“Given” merges regions as the crosswalk says, but a refinement or a limit would change these."
            remedy = (
                "Choose no refinement and no limits that part or join them, or change the crosswalk."
            )
            raise InputError(Finding("given", message, remedy))

    def _find_partition(self, context: Context) -> CrosswalkPartition:
        if context.given is None:
            message = (
                "No crosswalk is named: the construction “Given” does not know which regions to merge."
            )
            raise input_error("given", message, "Name a crosswalk (--set given.file=CROSSWALK.csv).")
        return context.given

"""Sites moved towards what their regions lack (anonymity-driven clustering)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress, SubProgress
from vbas_desktop.model.sensitive import with_criteria

from ..interface import Context, DiagnosedSiteLocation, Metadata, option
from ..shared import Initializer, SiteSearchOptions, anneal_sites, initializer_option

if TYPE_CHECKING:
    from vbas_desktop.algorithms.adc import AdcResult


THESIS, SUPPRESSION, BOTH = "thesis", "suppression", "both"


class AdcSiteLocation(DiagnosedSiteLocation):
    """Moves one site at a time as long as that raises the lowest anonymity or leaves fewer regions at it.

    With α the lowest anonymity of the regions that have records, the value of a state is α·s − (regions at α). For each
    region at α and each of its classes of size α the candidate place of its site is the mean of the initial regions
    inside the neighbourhood that have members of the class, weighted by these members; the first candidate that raises
    the value is accepted, and the search starts again. It ends when α reaches k or when no candidate is accepted. The
    neighbourhood is the Voronoi cell with the closed polygon through the sites of the adjacent cells (and through the
    site itself if the cell is unbounded). A move may leave a site without regions. O(r log s + non-zero counts) to
    begin, then in most cases O(points near the site) for each candidate.

    If sensitive values must meet criteria, the thesis' moves, which look at sizes only, are followed by moves as with
    the objective “suppression” that keep the number of sites: these count classes that miss the criteria, too.

    With the objective “both” the thesis' moves are followed by moves as with “suppression” that may leave sites without
    regions, as the thesis' moves may, but never raise the sum of the squared populations: regions become fewer and more
    even. Sites without regions are not returned.

    With the objective “suppression” sites move as in “Refined sites”, without regard to distances. If their number may
    change, every fifth move takes a site away or puts one at the point of an initial region; of the states within the
    allowed loss the one with most regions is the result, else the one with the smallest loss.

    References
    ----------
    The Voronoi-Based Aggregation System, anonymity-driven clustering.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="adc",
        title="Anonymity-driven clustering (ADC)",
        summary="Starts from another approach and moves sites so that their rarest classes gain members.",
        formula="maximise α·s − |regions at α|;  place = Σ wᵢ·pᵢ / Σ wᵢ over the neighbourhood's members of the class",
        complexity="O(r log s + non-zero counts), then O(points near the site) for each candidate",
        when="Fewer suppressed records are worth some time, and a few merged regions more or less do not matter.",
        discloses="Anybody who can repeat the seeding sees which aggregated regions were moved because a class was "
        "small. Given one with the smallest classes and another one, they can tell which is which in 71 % of cases (by "
        "chance 50 %); initial regions with small classes cannot be recognised.",
        order=20,
    )

    seeding: Initializer = initializer_option("--adc-seeding")

    objective: Literal["thesis", "suppression", "both"] = option(
        THESIS,
        label="Objective",
        help="“thesis”: the lowest anonymity and the number of regions at it. “suppression”: the number of records to "
        "be suppressed, by annealing; neither the sum of the squared populations nor the number of regions changes "
        "for the worse, unless you allow it below. “both”: first the one, then the other; more sites than with the "
        "thesis' objective are left without regions, and fewer records are suppressed.",
    )
    uneven_percent: float = option(
        0.0,
        label="More uneven populations (percent)",
        help="By how much the sum of the squared populations of the regions may rise. More means fewer suppressed "
        "records in regions that differ more in size, and larger classes.",
        ge=0.0,
        le=1000.0,
        enabled_when=("objective", lambda objective: objective == SUPPRESSION),
    )
    change_percent: float = option(
        0.0,
        label="Change of the number of sites (percent)",
        help="By how much the number of sites may change, up or down. Sites are taken away while more records than "
        "allowed are suppressed, and added as long as not more are; 0 keeps the number.",
        ge=0.0,
        le=90.0,
        enabled_when=("objective", lambda objective: objective == SUPPRESSION),
    )
    allowed_loss_percent: float = option(
        1.0,
        label="Allowed loss (percent)",
        help="The share of the records up to which sites may be added, if their number may change.",
        ge=0.0,
        le=100.0,
        enabled_when=("objective", lambda objective: objective == SUPPRESSION),
    )

    def locate_with_diagnostics(
        self, context: Context, sites: int, progress: Progress
    ) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
        """Move the sites of the seeding; the diagnostics have moves, tries and anonymity before and after."""
        if self.objective == SUPPRESSION:
            seeds = self.seeding.locate(context, sites, SubProgress(progress, 0.0, 0.1))
            search = SiteSearchOptions(
                uneven_percent=self.uneven_percent,
                change_percent=self.change_percent,
                allowed_percent=self.allowed_loss_percent,
            )
            moved, diagnostics = anneal_sites(
                context, seeds, sites, search, SubProgress(progress, 0.1, 1.0)
            )
            return moved, {self.metadata.name: diagnostics}
        further = self.objective == BOTH or bool(with_criteria(context.sensitive))
        clustering = self.cluster(
            context, sites, SubProgress(progress, 0.0, 0.5) if further else progress
        )
        facts: dict[str, Any] = {
            "moves": clustering.moves,
            "tries": clustering.tries,
            "computed_tries": clustering.trials,
            "passes": clustering.passes,
            "anonymity_before": clustering.anonymity_before,
            "anonymity_after": clustering.anonymity,
        }
        if not further:
            return clustering.sites, {self.metadata.name: facts}
        # From where the thesis' moves ended, further ones that count all records to be suppressed.
        search = SiteSearchOptions(uneven_percent=self.uneven_percent, leaving=self.objective == BOTH)
        moved, diagnostics = anneal_sites(
            context, clustering.sites, len(clustering.sites), search, SubProgress(progress, 0.5, 1.0)
        )
        return moved, {
            self.metadata.name: {**facts, "further": diagnostics, "stopped": diagnostics["stopped"]}
        }

    @property
    def changes_number(self) -> bool:
        """Tell whether sites may be added or removed."""
        mine = self.objective == BOTH or (self.objective == SUPPRESSION and self.change_percent > 0)
        return mine or super().changes_number

    def cluster(self, context: Context, sites: int, progress: Progress) -> AdcResult:
        """Move the sites of the seeding by the thesis' objective; return them with the accepted moves."""
        from vbas_desktop.algorithms.adc import run_adc
        from vbas_desktop.algorithms.kernels.spatial_index import spatial_order

        seeds = self.seeding.locate(context, sites, SubProgress(progress, 0.0, 0.1))
        order = context.cached("spatial order of the points", lambda: spatial_order(context.points))
        return run_adc(
            context.points, context.counts, seeds, context.k, SubProgress(progress, 0.1, 1.0), order
        )

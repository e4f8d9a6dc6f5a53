"""Base classes of approaches, one for each component, with metadata for menus and docs.

An approach is a group of options, its parameters. Everything people see of it (menus, forms, command-line options,
docs, generated tests) is made from these declarations, so adding one means adding one module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding
from vbas_desktop.model.progress import Cancelled, Progress
from vbas_desktop.model.tiers import Tiers
from vbas_desktop.settings.option import Level, Option, OptionGroup, option

from .context import AggregationOutcome, Context, Trials

__all__ = [
    "AggregationOutcome",
    "Approach",
    "Construction",
    "ConstructionResult",
    "Context",
    "DiagnosedSiteLocation",
    "Measure",
    "Metadata",
    "Option",
    "Refinement",
    "RefinementResult",
    "SiteLocation",
    "SiteNumber",
    "TierApproach",
    "Trials",
    "option",
]
"""All that a module with an approach needs, plug-ins included."""


@dataclass(frozen=True)
class Metadata:
    """Name and description of an approach.

    name: its name in scripts. title: its name in menus. summary: one sentence, the tool tip. when: when to choose it.
    formula, complexity: shown in the docs. discloses: what the released regions reveal about small classes because of
    how the approach works; empty if they reveal nothing. order: position in menus, ascending.
    """

    name: str
    title: str
    summary: str
    formula: str = ""
    complexity: str = ""
    when: str = ""
    discloses: str = ""
    order: int = 100


class Approach(OptionGroup, ABC):
    """Base of all approaches: a group of options with ``metadata``. Options without a flag are set by ``--set``."""

    has_flags: ClassVar[bool] = False
    level: ClassVar[Level] = Level.APPROACHES
    metadata: ClassVar[Metadata]
    component: ClassVar[str]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Take the title from the metadata."""
        if "metadata" in vars(cls):
            cls.title = cls.metadata.title

    @classmethod
    def from_texts(cls, values: Mapping[str, Any]) -> Self:
        """Create an instance from what a person typed. Raises `InputError` for unknown names and wrong values."""
        options = {declared.name: declared for declared in cls.options()}
        return cls(
            **{
                name: options[name].read(value) if name in options else value
                for name, value in values.items()
            }
        )

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain JSON data; a nested approach becomes its name and settings."""
        values: dict[str, Any] = {}
        for declared in self.options():
            value = getattr(self, declared.name)
            is_nested = isinstance(value, Approach)
            values[declared.name] = (
                {"name": value.metadata.name, **value.settings()} if is_nested else value
            )
        return values


class SiteNumber(Approach):
    """Component 1: how many sites."""

    component: ClassVar[str] = "site_number"

    @abstractmethod
    def approximate(self, context: Context) -> int:
        """Approximate the number of sites by a formula; the engine limits it to 1 … r."""

    def decide(self, context: Context, trials: Trials) -> int:
        """Choose the number of sites: the approximated one, unless the approach tries numbers out."""
        return self.approximate(context)

    def allowed_loss(self) -> float | None:
        """Return the percentage of the records that may be suppressed, or None if the approach has no such limit."""
        return None


class SiteLocation(Approach):
    """Component 2: where the sites are.

    With ``uses_records`` False the sites depend on the initial regions alone, so they reveal nothing about records.
    """

    component: ClassVar[str] = "site_location"
    uses_records: ClassVar[bool] = True
    remaining_loss: ClassVar[float] = 1.0
    """About which share of the suppressed records is left, compared with what trials use (see `without_search`)."""

    @property
    def changes_number(self) -> bool:
        """Tell whether `locate` may return another number of sites than requested."""
        seeding = getattr(self, "seeding", None)
        return isinstance(seeding, SiteLocation) and seeding.changes_number

    @property
    def initializer(self) -> SiteLocation:
        """Return the approach that places the first sites, if this one only moves them; else itself."""
        seeding = getattr(self, "seeding", None)
        return seeding.initializer if isinstance(seeding, SiteLocation) else self

    @property
    def without_search(self) -> SiteLocation:
        """Return the approach for trials of a number of sites: itself, or without its long search."""
        seeding = getattr(self, "seeding", None)
        if not isinstance(seeding, SiteLocation) or seeding.without_search is seeding:
            return self
        return self.replaced(seeding=seeding.without_search)

    @abstractmethod
    def locate(self, context: Context, sites: int, progress: Progress) -> NDArray[np.float64]:
        """Locate the sites: float64 (sites, 2); a region that is equally near to two goes to the first."""

    def locate_with_diagnostics(
        self, context: Context, sites: int, progress: Progress
    ) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
        """Locate the sites; return them with diagnostics (plain data by the approach's name), if there are any."""
        return self.locate(context, sites, progress), {}


class DiagnosedSiteLocation(SiteLocation):
    """Base of searches that return diagnostics; stopped, they may return the best sites so far, with ``stopped``."""

    def locate(self, context: Context, sites: int, progress: Progress) -> NDArray[np.float64]:
        """Locate the sites; raises `Cancelled` if the search was stopped."""
        located, diagnostics = self.locate_with_diagnostics(context, sites, progress)
        if any(facts.get("stopped") for facts in diagnostics.values()):
            raise Cancelled
        return located

    @abstractmethod
    def locate_with_diagnostics(
        self, context: Context, sites: int, progress: Progress
    ) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
        """Locate the sites; return them with diagnostics (plain data by the approach's name)."""


@dataclass(frozen=True, eq=False)
class ConstructionResult:
    """The site of each initial region, with diagnostics and findings.

    owner: int32 (r,), index of the site. diagnostics: plain data by the approach's name. detoured: bool (r,), the
    initial regions that an obstacle keeps from their nearest site; None without obstacles.
    """

    owner: NDArray[np.int32]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    detoured: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, returned: NDArray[np.int32] | ConstructionResult) -> ConstructionResult:
        """Wrap what `Construction.build_partition` returned, unless it is a result already."""
        return returned if isinstance(returned, ConstructionResult) else cls(returned)


class Construction(Approach):
    """Component 3: which site each initial region belongs to.

    With ``needs_sites`` False only the number of sites counts (their coordinates are NaN), and the aggregated regions
    are numbered from 0.
    """

    component: ClassVar[str] = "construction"
    needs_sites: ClassVar[bool] = True

    @abstractmethod
    def build_partition(
        self, context: Context, sites: NDArray[np.float64], progress: Progress
    ) -> NDArray[np.int32] | ConstructionResult:
        """Assign each initial region to a site; return the indices, int32 (r,), alone or with diagnostics."""

    def count_regions(self, context: Context) -> int | None:
        """Return the number of aggregated regions if it is fixed whatever the number of sites; else None."""
        return None

    def check_result(self, context: Context, owner: NDArray[np.int32]) -> None:
        """Raise `InputError` if constraints or the refinement undid what the construction guarantees."""


@dataclass(frozen=True, eq=False)
class RefinementResult:
    """A refined partition, with diagnostics.

    owner: int32 (r,), index of the site. sites: float64 (s, 2), which may have moved (None: the construction has none).
    diagnostics: plain data by the approach's name. stopped: the user ended the search, and this is the best so far.
    """

    owner: NDArray[np.int32]
    sites: NDArray[np.float64] | None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    stopped: bool = False


class Refinement(Approach):
    """Component 4: what is changed after the construction."""

    component: ClassVar[str] = "refinement"
    share: ClassVar[float] = 0.5
    """About which share of a solution's time it takes, for the progress bar."""
    remaining_loss: ClassVar[float] = 1.0
    """About which share of the suppressed records is left, compared with what trials use (see `without_search`)."""

    @property
    def without_search(self) -> Refinement | None:
        """Return the refinement for trials of a number of sites: itself, or None instead of a long search."""
        return self

    @abstractmethod
    def refine(
        self,
        context: Context,
        owner: NDArray[np.int32],
        sites: NDArray[np.float64] | None,
        progress: Progress,
    ) -> RefinementResult:
        """Reassign initial regions to the sites; every aggregated region keeps at least one of them."""


class TierApproach(Approach):
    """Component 5: larger areas in which a record may be released if its class is too small in its region."""

    component: ClassVar[str] = "tiers"
    stated: ClassVar[bool] = False
    """Whether somebody named the larger areas: only these may go across boundaries that regions keep within."""

    @abstractmethod
    def build_tiers(
        self, context: Context, membership: NDArray[np.int32], progress: Progress
    ) -> Tiers | None:
        """Build larger areas above the aggregated regions; membership: int32 (r,). None: there are none."""


class Measure(Approach):
    """Component 6: how good the result is; lower is better.

    ``unit`` as shown: "records", "distance", "bits", "share" (0 to 1, shown in percent) or "". ``pareto_default``: it
    counts for dominance unless the user chooses; ``pareto_thesis``: it does in the preset of the thesis.
    ``requires_sensitive``: it is taken only if there are sensitive columns.
    """

    component: ClassVar[str] = "rating"
    unit: ClassVar[str] = ""
    pareto_default: ClassVar[bool] = False
    pareto_thesis: ClassVar[bool] = False
    requires_sensitive: ClassVar[bool] = False

    @abstractmethod
    def rate(self, outcome: AggregationOutcome) -> float | int | None:
        """Compute the value, or None where it is undefined."""

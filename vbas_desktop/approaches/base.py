"""What an approach is: a frozen dataclass whose fields are its parameters, with a card as its menu entry.

Everything people see of an approach (menus, forms, command-line options, docs, generated tests) is made from these
declarations, so adding one means adding one module.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import smallest_classes
from vbas_desktop.algorithms.suppression import ReleasedClasses
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Cancelled, Progress
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.sensitive import SensitiveCounts
from vbas_desktop.model.tiers import Tiers

from .declaration import Card, Parameter, parameter, parameters_of

__all__ = [
    "Approach",
    "Card",
    "Constructed",
    "Construction",
    "Measure",
    "Outcome",
    "Parameter",
    "Refined",
    "Refinement",
    "SiteLocation",
    "SiteNumber",
    "Situation",
    "TellingConstruction",
    "TellingLocation",
    "Tiering",
    "Trials",
    "parameter",
]
"""All that a module with an approach needs, plug-ins included."""


@dataclass(frozen=True)
class Approach(ABC):
    """Base of all approaches. Subclasses are frozen dataclasses with a ``card``; bounds are checked on creation."""

    card: ClassVar[Card]
    component: ClassVar[str]

    def __post_init__(self) -> None:
        for declared in self.parameters():
            declared.check(getattr(self, declared.name))

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """The parameters in the order of their declaration."""
        return parameters_of(cls)

    @classmethod
    def from_texts(cls, values: Mapping[str, Any]) -> Self:
        """An instance from what a person typed; unknown names and bad values are refused with what is allowed."""
        known = {declared.name: declared for declared in cls.parameters()}
        unknown = [name for name in values if name not in known]
        if unknown:
            allowed = ", ".join(known) or "none"
            raise InputError(
                Finding(
                    "parameter", f"{cls.card.title} has no parameter “{unknown[0]}”.", f"Its parameters: {allowed}."
                )
            )
        return cls(**{name: known[name].parse(text) for name, text in values.items()})

    def settings(self) -> dict[str, Any]:
        """The parameters and their values as plain JSON data; a nested approach becomes its name and settings."""
        values: dict[str, Any] = {}
        for declared in self.parameters():
            value = getattr(self, declared.name)
            values[declared.name] = (
                {"name": value.card.name, **value.settings()} if isinstance(value, Approach) else value
            )
        return values


@dataclass(frozen=True, eq=False)
class Situation:
    """What approaches see of a problem: everything after global suppression, nothing about records.

    ``counts`` and everything derived from them exclude globally suppressed records; so do the ``sensitive`` values of
    the same records, by which classes may be suppressed too. ``weights`` are those of the initial regions in the middle
    of an aggregated region (None: all alike). ``category_penalties[q][c]`` is the certainty penalty of category c
    of quasi-identifier q (empty: categories are as they were).

    Where aggregated regions must keep within boundaries, an approach sees the regions within one of them only.
    """

    regions: Regions
    counts: ClassCounts
    k: int
    random_seed: int = 0
    weights: NDArray[np.float64] | None = None
    sensitive: tuple[SensitiveCounts, ...] = ()
    category_penalties: tuple[NDArray[np.float64], ...] = ()
    _memory: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def remember(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """What ``compute`` gives, computed once per situation: for what does not depend on the number of sites."""
        with self._lock:
            if key not in self._memory:
                self._memory[key] = compute()
            return self._memory[key]

    def __getstate__(self) -> dict[str, Any]:
        names = ("regions", "counts", "k", "random_seed", "weights", "sensitive", "category_penalties")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _memory={}, _lock=threading.RLock())

    def part(self, members: NDArray[np.intp]) -> Situation:
        """The same of some of the initial regions."""
        weights = None if self.weights is None else self.weights[members]
        regions, counts = self.regions.part(members), self.counts.select_regions(members)
        sensitive = tuple(each.with_cells(each.cells.select_regions(members)) for each in self.sensitive)
        return Situation(regions, counts, self.k, self.random_seed, weights, sensitive, self.category_penalties)

    @property
    def points(self) -> NDArray[np.float64]:
        """The initial regions' points, (r, 2)."""
        return self.regions.points

    @cached_property
    def populations(self) -> NDArray[np.int64]:
        """Remaining records of each initial region."""
        return self.counts.region_totals

    @property
    def records(self) -> int:
        """n: the records that remain after global suppression."""
        return self.counts.records

    @cached_property
    def smallest_classes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each initial region: its anonymity (0 without records) and how many classes have that size."""
        return smallest_classes(self.counts.table)

    def generator(self) -> np.random.Generator:
        """A fresh generator of the run's seed: the same draws whoever asks, in whatever order."""
        return np.random.default_rng(self.random_seed)


@dataclass(frozen=True, eq=False)
class Outcome:
    """An aggregation after local suppression: what measures rate.

    ``membership[i]`` is the dense number of initial region i's aggregated region; ``sites[j]`` the site of aggregated
    region j (None: the construction has no sites). ``release`` has the classes that remain. ``records_by_region``
    counts the records of each initial region in the file, before any suppression; ``counts`` are the classes of the
    file, before any suppression. ``sensitive`` tells figures of the sensitive columns, ``suppressed_sensitive`` how
    many records classes of k or more lose because of them.
    """

    situation: Situation
    records: int
    records_by_region: NDArray[np.int64]
    counts: ClassCounts
    membership: NDArray[np.int32]
    aggregated_regions: int
    sites: NDArray[np.float64] | None
    release: ReleasedClasses
    tiers: Tiers | None = None
    sensitive: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    suppressed_sensitive: int = 0

    @property
    def released(self) -> ClassCounts:
        """The classes that are released in the aggregated regions, one row each."""
        return self.release.classes[0]

    @property
    def released_by_tier(self) -> NDArray[np.int64]:
        """The released records by tier and initial region; without tiers there is one row."""
        return self.release.records

    @property
    def released_by_region(self) -> NDArray[np.int64]:
        """The released records of each initial region, in whatever tier."""
        return np.asarray(self.released_by_tier.sum(axis=0))

    @property
    def released_records(self) -> int:
        """All released records."""
        return int(self.released_by_tier.sum())

    def places(self) -> Iterator[tuple[NDArray[np.int32], ClassCounts]]:
        """Tier by tier the place of each initial region and what its places release; without tiers there is one."""
        if self.tiers is None:
            yield self.membership, self.released
        else:
            yield from zip(self.tiers.memberships(self.membership), self.release.classes, strict=True)


class Trials(Protocol):
    """The chosen approaches tried out with a number of sites, for approaches that decide by what it would cost.

    The same number is never computed twice, and what was computed is used again for the solutions of the run. Long
    searches are left out of trials: ``is_simplified`` says that some were, ``refined_suppressed`` and
    ``refined_penalty`` make the whole solution.
    """

    @property
    def records(self) -> int:
        """All records of the file, those that are suppressed in any case included."""

    @property
    def in_tiers(self) -> bool:
        """Whether classes that are too small in their region may be released in larger places."""

    def suppressed(self, sites: int) -> int:
        """How many of them would be suppressed, globally and locally, with 1 … r sites."""

    def penalty(self, sites: int) -> float:
        """The certainty penalty of the release with 1 … r sites, from 0 to 1."""

    @property
    def is_simplified(self) -> bool:
        """Whether trials leave out a search that solutions go through."""

    @property
    def expected_share(self) -> float:
        """About which share of the suppressed records of a trial the search leaves."""

    def refined_suppressed(self, sites: int) -> int:
        """How many records the whole solution with 1 … r sites would suppress."""

    def refined_penalty(self, sites: int) -> float:
        """The certainty penalty of the whole solution with 1 … r sites."""


class SiteNumber(Approach):
    """Component 1: how many sites."""

    component: ClassVar[str] = "site_number"

    @abstractmethod
    def approximate(self, situation: Situation) -> int:
        """The approximated number of sites, from formulas alone; the engine keeps it within 1 … r."""

    def decide(self, situation: Situation, trials: Trials) -> int:
        """The number of sites that is used: the approximated one, unless the approach tries out what it costs."""
        return self.approximate(situation)

    def allowed_loss(self) -> float | None:
        """The share of the records that may be suppressed, in percent, if the approach has one of its own."""
        return None


class SiteLocation(Approach):
    """Component 2: where the sites are.

    One with ``uses_records`` False places sites by the initial regions alone, so that the sites tell nothing of the
    records.
    """

    component: ClassVar[str] = "site_location"
    uses_records: ClassVar[bool] = True
    remaining_loss: ClassVar[float] = 1.0
    """About which share of the suppressed records is left, compared with what trials use (see `without_search`)."""

    @property
    def changes_number(self) -> bool:
        """Whether it may return another number of places than it is asked for, itself or what it starts from."""
        seeding = getattr(self, "seeding", None)
        return isinstance(seeding, SiteLocation) and seeding.changes_number

    @property
    def beginning(self) -> SiteLocation:
        """What finds the places that it starts from, if it moves those of another approach; else itself."""
        seeding = getattr(self, "seeding", None)
        return seeding.beginning if isinstance(seeding, SiteLocation) else self

    @property
    def without_search(self) -> SiteLocation:
        """What trials of a number of sites use: itself, or what a long search starts from."""
        seeding = getattr(self, "seeding", None)
        if not isinstance(seeding, SiteLocation) or seeding.without_search is seeding:
            return self
        return replace(self, seeding=seeding.without_search)  # type: ignore[call-arg]

    @abstractmethod
    def locate(self, situation: Situation, sites: int, progress: Progress) -> NDArray[np.float64]:
        """The places of that many sites, (s, 2), in the order that decides ties."""

    def locate_and_tell(
        self, situation: Situation, sites: int, progress: Progress
    ) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
        """The places, and plain data on how they were found, by the approach's name; most have nothing to tell."""
        return self.locate(situation, sites, progress), {}


class TellingLocation(SiteLocation):
    """One that tells how it found the places; stopped, it may return the best until then and tell ``stopped``."""

    def locate(self, situation: Situation, sites: int, progress: Progress) -> NDArray[np.float64]:
        """The places alone, if they were found to the end."""
        places, told = self.locate_and_tell(situation, sites, progress)
        if any(facts.get("stopped") for facts in told.values()):
            raise Cancelled
        return places

    @abstractmethod
    def locate_and_tell(
        self, situation: Situation, sites: int, progress: Progress
    ) -> tuple[NDArray[np.float64], Mapping[str, Any]]:
        """The places, and plain data on how they were found, by the approach's name."""


@dataclass(frozen=True, eq=False)
class Constructed:
    """The owner of each initial region, plain data on how it was found (by the approach's name), and remarks on it.

    ``detoured`` marks the initial regions that have another site than the nearest because something is in the way; None
    if that is nothing the approach could tell.
    """

    owner: NDArray[np.int32]
    told: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    detoured: NDArray[np.bool_] | None = None


class Construction(Approach):
    """Component 3: which site each initial region belongs to.

    One with ``needs_sites`` False merges without sites: none are placed, only their number counts (their places are
    NaN), and owners number the aggregated regions from 0.
    """

    component: ClassVar[str] = "construction"
    needs_sites: ClassVar[bool] = True

    @abstractmethod
    def construct(self, situation: Situation, sites: NDArray[np.float64], progress: Progress) -> NDArray[np.int32]:
        """The owner of each initial region: an index into ``sites``."""

    def construct_and_tell(self, situation: Situation, sites: NDArray[np.float64], progress: Progress) -> Constructed:
        """The owners with what there is to tell of them; most have nothing to tell."""
        return Constructed(self.construct(situation, sites, progress))

    def check_result(self, situation: Situation, owner: NDArray[np.int32]) -> None:
        """`InputError` if limits or the refinement undid what the construction promises of every partition."""


class TellingConstruction(Construction):
    """One that tells how it found the owners."""

    def construct(self, situation: Situation, sites: NDArray[np.float64], progress: Progress) -> NDArray[np.int32]:
        """The owners alone."""
        return self.construct_and_tell(situation, sites, progress).owner

    @abstractmethod
    def construct_and_tell(self, situation: Situation, sites: NDArray[np.float64], progress: Progress) -> Constructed:
        """The owners with what there is to tell of them."""


@dataclass(frozen=True, eq=False)
class Refined:
    """What a refinement made of a partition.

    ``sites`` may have moved with what they own (None: the construction has none); ``told`` is plain data on how it came
    about, by the approach's name. ``stopped``: the user did not wait for the end, and this is the best until then.
    """

    owner: NDArray[np.int32]
    sites: NDArray[np.float64] | None
    told: Mapping[str, Any] = field(default_factory=dict)
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
        """What trials of a number of sites use: itself, or nothing instead of a long search."""
        return self

    @abstractmethod
    def refine(
        self, situation: Situation, owner: NDArray[np.int32], sites: NDArray[np.float64] | None, progress: Progress
    ) -> Refined:
        """Other owners with the same indices; every aggregated region keeps at least one initial region."""


class Tiering(Approach):
    """Component 5: in which larger places a record may be released if its class is too small in its own."""

    component: ClassVar[str] = "tiers"
    stated: ClassVar[bool] = False
    """Whether somebody named the larger places: only these may go across boundaries that regions keep within."""

    @abstractmethod
    def arrange(self, situation: Situation, membership: NDArray[np.int32], progress: Progress) -> Tiers | None:
        """Places above the aggregated regions (``membership[i]`` is that of initial region i); None: there are none."""


class Measure(Approach):
    """Component 6: how good the result is; lower is better.

    ``unit`` as shown: "records", "distance", "bits", "share" (0 to 1, shown in percent) or "". ``pareto_default``: it
    counts for dominance unless the user chooses; ``pareto_thesis``: it does in the preset of the thesis.
    ``of_sensitive_values``: it is taken only if there are sensitive columns.
    """

    component: ClassVar[str] = "rating"
    unit: ClassVar[str] = ""
    pareto_default: ClassVar[bool] = False
    pareto_thesis: ClassVar[bool] = False
    of_sensitive_values: ClassVar[bool] = False

    @abstractmethod
    def rate(self, outcome: Outcome) -> float | int | None:
        """The value, or None where it is undefined."""

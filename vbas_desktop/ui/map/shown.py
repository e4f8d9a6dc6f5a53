"""One solution, ready to be drawn, listed and searched: made in a thread. No Qt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from vbas_desktop.algorithms.region_names import region_names, tier_codes
from vbas_desktop.engine.limits import TOLD, unmet_of
from vbas_desktop.engine.loss import suppressed_in_tiers
from vbas_desktop.engine.place import distance_scale, place_vector
from vbas_desktop.engine.region_table import RegionTable, region_table
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.solution import Solution, Unrefined

from .figures import Figure
from .geometry import BaseGeometry, MapGeometry, coloured_like, drawn_in_places, prepare_map


@dataclass(frozen=True, eq=False)
class Shown:
    """One solution, ready to be drawn and listed. ``table`` is None until the problem is counted again.

    ``lost_in_tiers`` says how many records would be suppressed in tiers, if that is fewer. ``before`` is the map before
    a refinement, if there was one. ``names`` are those of the aggregated regions, after the column ``named_after`` of
    the region file (None: after names or ids).
    """

    number: int
    solution: Solution
    problem: Problem | None
    geometry: MapGeometry
    table: RegionTable | None
    figures: tuple[Figure, ...]
    lost_in_tiers: int | None = None
    tier_maps: tuple[TierMap, ...] = ()
    codes: tuple[tuple[str, ...], ...] = ()
    before: MapGeometry | None = None
    names: tuple[str, ...] = ()
    named_after: str | None = None

    def named(self, column: str | None) -> Shown:
        """The same with names after another column."""
        names = region_names(self.geometry.base.regions, self.solution.membership, column)
        return replace(self, names=names, named_after=column)

    def geometry_by(self, name: str | None) -> MapGeometry:
        """The map as it is coloured by this name: by the places of a tier, or as it is."""
        return next((tier.geometry for tier in self.tier_maps if tier.name == name), self.geometry)

    def released_in(self, aggregated: int) -> tuple[str, ...]:
        """Where the records of an aggregated region are released, tier by tier; nothing without tiers or counts."""
        tiers, table = self.solution.tiers, self.table
        if tiers is None or table is None:
            return ()
        told = [f"{int(table.by_tier[0][aggregated]):,} released with its own code"]
        for tier in range(1, len(tiers)):
            place = int(tiers.ancestors[tier][aggregated])
            own = int(table.by_tier[tier][aggregated])
            listed = int(table.by_tier[tier][tiers.ancestors[tier] == place].sum())
            told.append(f"{own:,} in {self.codes[tier][place]} ({tiers.titles[tier]}), which lists {listed:,}")
        return tuple(told)


@dataclass(frozen=True, eq=False)
class TierMap:
    """The same map drawn in the places of one tier."""

    name: str
    title: str
    geometry: MapGeometry


def figures_of(geometry: MapGeometry, table: RegionTable | None, place: tuple[Figure, ...] = ()) -> tuple[Figure, ...]:
    """Everything that is known of each aggregated region, in the order in which people ask for it."""
    members = np.bincount(geometry.solution.membership, minlength=len(geometry.shapes))
    detoured: tuple[Figure, ...] = ()
    if geometry.detoured is not None:
        changed = np.bincount(geometry.solution.membership, geometry.detoured, len(geometry.shapes))
        detoured = (Figure("detoured", "Changed because of an obstacle", changed / members, "share"),)
    shape = (
        Figure("initial_regions", "Initial regions", members, unit="initial regions"),
        Figure("compactness", "Compactness (1 = disc)", geometry.compactness, "ratio"),
        Figure("pieces", "Pieces", geometry.pieces.astype(np.int64), unit="pieces"),
        *detoured,
        *limit_figures(geometry),
    )
    if table is None:
        return shape
    with np.errstate(invalid="ignore", divide="ignore"):
        lost = np.where(table.records > 0, table.suppressed / np.maximum(table.records, 1), np.nan)
    before = np.where(table.records > 0, table.anonymity_before.astype(np.float64), np.nan)
    after = np.where(table.released > 0, table.anonymity_after.astype(np.float64), np.nan)
    return (
        Figure("records", "Records", table.records, unit="records"),
        *(
            (Figure("raised", "Released in larger places", table.raised, unit="records"),)
            if geometry.solution.tiers is not None
            else ()
        ),
        Figure("suppressed", "Suppressed records", table.suppressed, unit="records"),
        Figure("share_suppressed", "Share suppressed", lost, "share"),
        Figure("share_of_loss", "Share of the loss", table.share_of_loss, "share"),
        Figure("anonymity_before", "Anonymity before suppression", before),
        Figure("anonymity", "Anonymity", after),
        *_sensitive_figures(table),
        *place,
        *shape,
    )


def limit_figures(geometry: MapGeometry) -> tuple[Figure, ...]:
    """The wished-for columns of the region file summed up, and how many wishes are not met; nothing without wishes."""
    solution, numbers = geometry.solution, geometry.base.regions.numbers
    wishes = solution.told.get(TOLD, {}).get("wishes", ())
    if not wishes:
        return ()
    columns = [wish["column"] for wish in wishes if wish["column"] in numbers]
    unmet = Counter(each["region"] for each in unmet_of(solution))
    return (
        *(
            Figure("population", name, np.bincount(solution.membership, numbers[name], len(geometry.shapes)))
            for name in columns
        ),
        Figure("unmet", "Wishes not met", np.array([unmet[code] for code in geometry.codes], np.int64)),
    )


def _sensitive_figures(table: RegionTable) -> tuple[Figure, ...]:
    """How surely the worst class of each aggregated region gives a harmful value away, if a column is sensitive."""
    if not np.isfinite(table.largest_share).any():
        return ()
    return (Figure("largest_share", "Share of the commonest harmful value", table.largest_share / 100, "share"),)


def refinement_figures(problem: Problem, solution: Solution, progress: Progress) -> tuple[Figure, ...]:
    """What a refinement changed in each aggregated region, and what for; nothing if there was none."""
    unrefined = solution.unrefined
    if unrefined is None:
        return ()
    moved, number = unrefined.owner != solution.owner, solution.aggregated_regions
    former = np.searchsorted(solution.owners_used, unrefined.owner[moved])
    gained = np.bincount(solution.membership[moved], minlength=number)
    given = np.bincount(former, minlength=number)
    before = unrefined_solution(solution, unrefined)
    return (
        Figure("gained", "Initial regions gained by the refinement", gained, unit="initial regions"),
        Figure("given", "Initial regions given away by the refinement", given, unit="initial regions"),
        Figure(
            "suppressed_unrefined",
            "Suppressed records before the refinement",
            region_table(problem, before, progress).suppressed,
            unit="records",
        ),
    )


def place_figures(problem: Problem, solution: Solution, progress: Progress) -> tuple[Figure, ...]:
    """How much of the geography each aggregated region keeps."""
    vector = place_vector(problem, solution, progress)
    scale, unit = distance_scale(problem.regions.system.unit)
    return (
        Figure("jaccard", "Kept together (Jaccard)", vector.region_jaccard, "ratio"),
        Figure("fowlkes_mallows", "Fowlkes–Mallows", vector.region_fowlkes_mallows, "ratio"),
        Figure("davies_bouldin", "Davies–Bouldin", vector.region_davies_bouldin, "ratio"),
        Figure("place_distance", f"Distance moved ({unit})", vector.region_distance / scale, "distance", unit),
    )


def prepare_shown(
    number: int,
    solution: Solution,
    problem: Problem | None,
    base: BaseGeometry,
    progress: Progress,
    named_after: str | None = None,
) -> Shown:
    """Prepare one solution on a base that is prepared already."""
    known = base if problem is None else base.with_records(problem.counts.region_totals)
    geometry = prepare_map(known, solution, progress)
    progress.update("Counting the aggregated regions")
    table = None if problem is None else region_table(problem, solution, progress)
    place: tuple[Figure, ...] = ()
    if problem is not None:
        place = (*refinement_figures(problem, solution, progress), *place_figures(problem, solution, progress))
    saved = None if problem is None else suppressed_in_tiers(problem, solution, progress)
    figures = figures_of(geometry, table, place)
    codes = tier_codes(base.regions, solution) if solution.tiers is not None else ()
    before = map_before(geometry, progress)
    shown = Shown(number, solution, problem, geometry, table, figures, saved, tier_maps(geometry), codes, before)
    return shown.named(named_after)


def unrefined_solution(solution: Solution, unrefined: Unrefined) -> Solution:
    """The solution as the construction made it."""
    return replace(solution, owner=unrefined.owner, sites=unrefined.sites, unrefined=None, tiers=None)


def map_before(geometry: MapGeometry, progress: Progress) -> MapGeometry | None:
    """The map before the refinement: the same codes and colours, and the initial regions that were about to move."""
    solution = geometry.solution
    if solution.unrefined is None:
        return None
    before = prepare_map(geometry.base, unrefined_solution(solution, solution.unrefined), progress)
    if len(before.codes) == len(geometry.codes):
        before = replace(before, codes=geometry.codes)
    return replace(coloured_like(before, geometry), moved=geometry.moved)


def tier_maps(geometry: MapGeometry) -> tuple[TierMap, ...]:
    """One map for each tier between the aggregated regions and the whole area; neighbouring places differ in colour."""
    tiers = geometry.solution.tiers
    if tiers is None:
        return ()
    found = []
    for tier in range(1, len(tiers)):
        places, number = tiers.ancestors[tier], tiers.places[tier]
        if number > 1:
            title = f"Tier {tier}: {tiers.titles[tier]} ({number:,})"
            found.append(TierMap(f"tier_{tier}", title, drawn_in_places(geometry, places, number)))
    return tuple(found)


@dataclass(frozen=True)
class Match:
    """An aggregated region, and why it was found."""

    region: int
    words: str


def matches(shown: Shown, text: str) -> list[Match]:
    """What a text may mean: exact codes, ids and names first, then those that begin with it, then those that hold it.

    Aggregated regions come before initial ones, which lead to the aggregated region that they are in.
    """
    geometry = shown.geometry
    wanted = text.strip().casefold()
    if not wanted:
        return []
    ranked = []
    for region, (code, name) in enumerate(zip(geometry.codes, shown.names, strict=True)):
        ranks = [rank for rank in (_rank(code, wanted), _rank(name, wanted)) if rank is not None]
        if ranks:
            ranked.append((min(ranks), 0, Match(region, f"Aggregated region {code} ({name})")))
    regions, membership = geometry.base.regions, geometry.solution.membership
    names = regions.names or ("",) * len(regions)
    for place, (id, name) in enumerate(zip(regions.ids, names, strict=True)):
        ranks = [rank for rank in (_rank(id, wanted), _rank(name, wanted)) if rank is not None]
        if ranks:
            region = int(membership[place])
            called = f"{id} ({name})" if name else id
            found = Match(region, f"Initial region {called} is in aggregated region {geometry.codes[region]}")
            ranked.append((min(ranks), 1 + place, found))
    return [match for _, _, match in sorted(ranked, key=lambda each: each[:2])]


def _rank(text: str, wanted: str) -> int | None:
    known = text.casefold()
    if known == wanted:
        return 0
    if known.startswith(wanted):
        return 1
    return 2 if wanted in known else None

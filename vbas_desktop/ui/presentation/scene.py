"""One solution, ready to be drawn, listed and searched: made in a thread. No Qt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from vbas_desktop.algorithms.region_codes import make_region_names, make_tier_codes
from vbas_desktop.engine.constraints import CONSTRAINT_DIAGNOSTICS, list_unmet_targets
from vbas_desktop.engine.geographic_representability import (
    distance_scale,
    measure_geographic_representability,
)
from vbas_desktop.engine.loss import count_suppressed_in_tiers
from vbas_desktop.engine.region_table import RegionTable, build_region_table
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.solution import Solution, UnrefinedPartition

from .region_geometry import (
    RegionGeometry,
    SolutionGeometry,
    coloured_like,
    drawn_in_places,
    prepare_solution_geometry,
)
from .region_measures import RegionMeasure


@dataclass(frozen=True, eq=False)
class MapScene:
    """One solution, ready to be drawn and listed. ``table`` is None until the problem is counted again.

    ``lost_in_tiers`` says how many records would be suppressed in tiers, if that is fewer. ``before`` is the map before
    a refinement, if there was one. ``names`` are those of the aggregated regions, after the column ``named_after`` of
    the region file (None: after names or ids).
    """

    number: int
    solution: Solution
    problem: Problem | None
    geometry: SolutionGeometry
    table: RegionTable | None
    figures: tuple[RegionMeasure, ...]
    lost_in_tiers: int | None = None
    tier_maps: tuple[TierMap, ...] = ()
    codes: tuple[tuple[str, ...], ...] = ()
    before: SolutionGeometry | None = None
    names: tuple[str, ...] = ()
    named_after: str | None = None

    def with_names(self, column: str | None) -> MapScene:
        """Return the scene with names from another column."""
        names = make_region_names(self.geometry.base.regions, self.solution.membership, column)
        return replace(self, names=names, named_after=column)

    def describe_region(self, aggregated: int) -> str:
        """Describe an aggregated region in a sentence: its code and name, records, suppressed ones, and pieces."""
        texts = {figure.name: figure.text(aggregated) for figure in self.figures}
        name = f" ({self.names[aggregated]})" if self.names else ""
        shown = ("records", "initial_regions", "pieces")
        facts = [texts[measure] for measure in shown if measure in texts]
        if "suppressed" in texts:
            facts.insert(1, f"{texts['suppressed']} suppressed")
        return f"Aggregated region {self.geometry.codes[aggregated]}{name}: {', '.join(facts)}."

    def geometry_by(self, name: str | None) -> SolutionGeometry:
        """Return the map as it is coloured by this name: by the places of a tier, or as it is."""
        return next((tier.geometry for tier in self.tier_maps if tier.name == name), self.geometry)

    def released_in(self, aggregated: int) -> tuple[str, ...]:
        """Describe where the records of an aggregated region are released, tier by tier; empty without tiers or
        counts.
        """
        tiers = self.solution.tiers
        table = self.table
        if tiers is None or table is None:
            return ()
        lines = [f"{int(table.by_tier[0][aggregated]):,} released with its own code"]
        for tier in range(1, len(tiers)):
            ancestor = int(tiers.ancestors[tier][aggregated])
            own = int(table.by_tier[tier][aggregated])
            listed = int(table.by_tier[tier][tiers.ancestors[tier] == ancestor].sum())
            lines.append(
                f"{own:,} in {self.codes[tier][ancestor]} ({tiers.titles[tier]}), which lists {listed:,}"
            )
        return tuple(lines)


@dataclass(frozen=True, eq=False)
class TierMap:
    """The map drawn with the areas of one tier."""

    name: str
    title: str
    geometry: SolutionGeometry


def figures_of(
    geometry: SolutionGeometry, table: RegionTable | None, place_measures: tuple[RegionMeasure, ...] = ()
) -> tuple[RegionMeasure, ...]:
    """Everything that is known of each aggregated region, in the order in which people ask for it."""
    members = np.bincount(geometry.solution.membership, minlength=len(geometry.shapes))
    detoured: tuple[RegionMeasure, ...] = ()
    if geometry.detoured is not None:
        changed = np.bincount(geometry.solution.membership, geometry.detoured, len(geometry.shapes))
        detoured = (
            RegionMeasure("detoured", "Changed because of an obstacle", changed / members, "share"),
        )
    shape = (
        RegionMeasure("initial_regions", "Initial regions", members, unit="initial regions"),
        RegionMeasure("compactness", "Compactness (1 = disc)", geometry.compactness, "ratio"),
        RegionMeasure("pieces", "Pieces", geometry.pieces.astype(np.int64), unit="pieces"),
        *detoured,
        *limit_figures(geometry),
    )
    if table is None:
        return shape
    with np.errstate(invalid="ignore", divide="ignore"):
        share_suppressed = np.where(
            table.records > 0, table.suppressed / np.maximum(table.records, 1), np.nan
        )
    before = np.where(table.records > 0, table.anonymity_before.astype(np.float64), np.nan)
    after = np.where(table.released > 0, table.anonymity_after.astype(np.float64), np.nan)
    return (
        RegionMeasure("records", "Records", table.records, unit="records"),
        *(
            (RegionMeasure("raised", "Released in larger areas", table.raised, unit="records"),)
            if geometry.solution.tiers is not None
            else ()
        ),
        RegionMeasure("suppressed", "Suppressed records", table.suppressed, unit="records"),
        RegionMeasure("share_suppressed", "Share suppressed", share_suppressed, "share"),
        RegionMeasure("share_of_loss", "Share of the loss", table.share_of_loss, "share"),
        RegionMeasure("anonymity_before", "Anonymity before suppression", before),
        RegionMeasure("anonymity", "Anonymity", after),
        *_sensitive_figures(table),
        *place_measures,
        *shape,
    )


def limit_figures(geometry: SolutionGeometry) -> tuple[RegionMeasure, ...]:
    """Sum up the columns of the region file that have limits, and count the unmet ones; nothing without limits."""
    solution = geometry.solution
    numbers = geometry.base.regions.numbers
    targets = solution.diagnostics.get(CONSTRAINT_DIAGNOSTICS, {}).get("size_targets", ())
    if not targets:
        return ()
    columns = [target["column"] for target in targets if target["column"] in numbers]
    unmet = Counter(target["region"] for target in list_unmet_targets(solution))
    return (
        *(
            RegionMeasure(
                "population", name, np.bincount(solution.membership, numbers[name], len(geometry.shapes))
            )
            for name in columns
        ),
        RegionMeasure(
            "unmet", "Limits not met", np.array([unmet[code] for code in geometry.codes], np.int64)
        ),
    )


def _sensitive_figures(table: RegionTable) -> tuple[RegionMeasure, ...]:
    """Return the largest share of a harmful value in any class of each aggregated region; nothing if none is known."""
    if not np.isfinite(table.largest_share).any():
        return ()
    return (
        RegionMeasure(
            "largest_share", "Share of the commonest harmful value", table.largest_share / 100, "share"
        ),
    )


def refinement_figures(
    problem: Problem, solution: Solution, progress: Progress
) -> tuple[RegionMeasure, ...]:
    """Return what a refinement changed in each aggregated region; nothing without one."""
    unrefined = solution.unrefined
    if unrefined is None:
        return ()
    moved = unrefined.owner != solution.owner
    number = solution.aggregated_regions
    former = np.searchsorted(solution.owners_used, unrefined.owner[moved])
    gained = np.bincount(solution.membership[moved], minlength=number)
    given_away = np.bincount(former, minlength=number)
    before = unrefined_solution(solution, unrefined)
    return (
        RegionMeasure(
            "gained", "Initial regions gained by the refinement", gained, unit="initial regions"
        ),
        RegionMeasure(
            "given", "Initial regions given away by the refinement", given_away, unit="initial regions"
        ),
        RegionMeasure(
            "suppressed_unrefined",
            "Suppressed records before the refinement",
            build_region_table(problem, before, progress).suppressed,
            unit="records",
        ),
    )


def place_figures(problem: Problem, solution: Solution, progress: Progress) -> tuple[RegionMeasure, ...]:
    """Return how much of the geography each aggregated region keeps."""
    vector = measure_geographic_representability(problem, solution, progress)
    scale, unit = distance_scale(problem.regions.system.unit)
    return (
        RegionMeasure("jaccard", "Kept together (Jaccard)", vector.region_jaccard, "ratio"),
        RegionMeasure("fowlkes_mallows", "Fowlkes–Mallows", vector.region_fowlkes_mallows, "ratio"),
        RegionMeasure("davies_bouldin", "Davies–Bouldin", vector.region_davies_bouldin, "ratio"),
        RegionMeasure(
            "place_distance",
            f"Distance moved ({unit})",
            vector.region_distance / scale,
            "distance",
            unit,
        ),
    )


def prepare_scene(
    number: int,
    solution: Solution,
    problem: Problem | None,
    base: RegionGeometry,
    progress: Progress,
    named_after: str | None = None,
) -> MapScene:
    """Prepare one solution on a base that is prepared already."""
    counted_base = base if problem is None else base.with_records(problem.counts.region_totals)
    geometry = prepare_solution_geometry(counted_base, solution, progress)
    progress.update("Counting the aggregated regions")
    table = None if problem is None else build_region_table(problem, solution, progress)
    place_measures: tuple[RegionMeasure, ...] = ()
    if problem is not None:
        place_measures = (
            *refinement_figures(problem, solution, progress),
            *place_figures(problem, solution, progress),
        )
    saved = None if problem is None else count_suppressed_in_tiers(problem, solution, progress)
    figures = figures_of(geometry, table, place_measures)
    codes = make_tier_codes(base.regions, solution) if solution.tiers is not None else ()
    before = map_before(geometry, progress)
    scene = MapScene(
        number, solution, problem, geometry, table, figures, saved, tier_maps(geometry), codes, before
    )
    return scene.with_names(named_after)


def unrefined_solution(solution: Solution, unrefined: UnrefinedPartition) -> Solution:
    """Return the solution as the construction made it."""
    return replace(solution, owner=unrefined.owner, sites=unrefined.sites, unrefined=None, tiers=None)


def map_before(geometry: SolutionGeometry, progress: Progress) -> SolutionGeometry | None:
    """Build the map before the refinement: same codes and colours, and the initial regions that were to move."""
    solution = geometry.solution
    if solution.unrefined is None:
        return None
    before = prepare_solution_geometry(
        geometry.base, unrefined_solution(solution, solution.unrefined), progress
    )
    if len(before.codes) == len(geometry.codes):
        before = replace(before, codes=geometry.codes)
    return replace(coloured_like(before, geometry), moved=geometry.moved)


def tier_maps(geometry: SolutionGeometry) -> tuple[TierMap, ...]:
    """Build one map for each tier between the aggregated regions and the whole area; neighbours differ in colour."""
    tiers = geometry.solution.tiers
    if tiers is None:
        return ()
    maps = []
    for tier in range(1, len(tiers)):
        ancestors = tiers.ancestors[tier]
        number = tiers.n_areas[tier]
        if number > 1:
            title = f"Tier {tier}: {tiers.titles[tier]} ({number:,})"
            maps.append(TierMap(f"tier_{tier}", title, drawn_in_places(geometry, ancestors, number)))
    return tuple(maps)


@dataclass(frozen=True)
class Match:
    """An aggregated region, and why it was found."""

    region: int
    words: str


def matches(scene: MapScene, text: str) -> list[Match]:
    """Find regions by text: exact codes, ids and names first, then prefixes, then substrings.

    Aggregated regions come before initial ones, which lead to the aggregated region that they are in.
    """
    geometry = scene.geometry
    query = text.strip().casefold()
    if not query:
        return []
    ranked = []
    for region, (code, name) in enumerate(zip(geometry.codes, scene.names, strict=True)):
        ranks = [rank for rank in (_rank(code, query), _rank(name, query)) if rank is not None]
        if ranks:
            ranked.append((min(ranks), 0, Match(region, f"Aggregated region {code} ({name})")))
    regions = geometry.base.regions
    membership = geometry.solution.membership
    names = regions.names or ("",) * len(regions)
    for index, (id, name) in enumerate(zip(regions.ids, names, strict=True)):
        ranks = [rank for rank in (_rank(id, query), _rank(name, query)) if rank is not None]
        if ranks:
            region = int(membership[index])
            called = f"{id} ({name})" if name else id
            region_match = Match(
                region, f"Initial region {called} is in aggregated region {geometry.codes[region]}"
            )
            ranked.append((min(ranks), 1 + index, region_match))
    return [match for _, _, match in sorted(ranked, key=lambda each: each[:2])]


def _rank(text: str, query: str) -> int | None:
    folded = text.casefold()
    if folded == query:
        return 0
    if folded.startswith(query):
        return 1
    return 2 if query in folded else None

"""Finding a region by its code, id or name. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from .shown import Shown


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

"""The codes of aggregated regions: the same in the window, in reports, in the crosswalk and in the released file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.solution import Solution


def region_codes(regions: Regions, solution: Solution) -> tuple[str, ...]:
    """The readable code of each aggregated region, by dense number."""
    return tier_codes(regions, solution)[0]


def tier_codes(regions: Regions, solution: Solution) -> tuple[tuple[str, ...], ...]:
    """The codes of the places of each tier; without tiers there is one, the aggregated regions."""
    tiers = solution.tiers
    memberships = [solution.membership] if tiers is None else list(tiers.memberships(solution.membership))
    prefixes = free_prefixes(regions.ids, len(memberships))
    return tuple(
        place_codes(mean_points(regions, membership), prefix)
        for membership, prefix in zip(memberships, prefixes, strict=True)
    )


def place_codes(centres: NDArray[np.float64], prefix: str) -> tuple[str, ...]:
    """The readable code of each place by its middle: ``A001`` in the north-west, then as one reads.

    Numbered by place alone: the order of the sites may tell which regions had the smallest classes.
    """
    strips = max(1, int(np.sqrt(len(centres))))
    by_north = np.lexsort((centres[:, 0], -centres[:, 1]))
    strip = np.empty(len(centres), np.int64)
    strip[by_north] = np.arange(len(centres)) * strips // len(centres)
    order = np.lexsort((-centres[:, 1], centres[:, 0], strip))
    width = max(3, len(str(len(centres))))
    codes = np.empty(len(centres), object)
    codes[order] = [f"{prefix}{number:0{width}d}" for number in range(1, len(centres) + 1)]
    return tuple(codes.tolist())


def mean_points(regions: Regions, membership: NDArray[np.int32]) -> NDArray[np.float64]:
    """The mean point of each place's initial regions.

    Released instead of the site: a site that was moved by the counts of small classes would tell of them.
    """
    members = np.bincount(membership)
    return np.column_stack([np.bincount(membership, regions.points[:, axis]) / members for axis in (0, 1)])


def free_prefixes(ids: tuple[str, ...], number: int) -> list[str]:
    """Letters that no initial region's id starts with, so that a code is never mistaken for a member; one per tier."""
    starts = {text.lstrip('"')[:1].upper() for text in ids}
    letters = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in starts]
    if len(letters) >= number:
        return letters[:number]
    start = max((text.upper() for text in ids), key=len)[:1]
    return [f"{start}_AGGREGATED_{'' if number == 1 else f'{tier}_'}" for tier in range(number)]

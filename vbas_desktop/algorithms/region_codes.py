"""Codes of aggregated regions for window, reports, crosswalk and released file, and readable names such as
“Cortland + 10”, from the region file alone.

Counts of records have no part in names: one after the member with most records would tell which member that is,
although none of its counts may be told.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.solution import Solution

from .nearest_site import weighted_centroids


def make_region_codes(regions: Regions, solution: Solution) -> tuple[str, ...]:
    """Make the readable code of each aggregated region, by dense number."""
    return make_tier_codes(regions, solution)[0]


def make_tier_codes(regions: Regions, solution: Solution) -> tuple[tuple[str, ...], ...]:
    """Make the codes of the areas of each tier; without tiers there is one, the aggregated regions."""
    tiers = solution.tiers
    memberships = (
        [solution.membership] if tiers is None else list(tiers.memberships(solution.membership))
    )
    prefixes = choose_prefixes(regions.ids, len(memberships))
    return tuple(
        number_by_location(compute_mean_points(regions, membership), prefix)
        for membership, prefix in zip(memberships, prefixes, strict=True)
    )


def number_by_location(centres: NDArray[np.float64], prefix: str) -> tuple[str, ...]:
    """Make a readable code for each area from its middle: ``A001`` in the north-west, then as one reads.

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


def compute_mean_points(regions: Regions, membership: NDArray[np.int32]) -> NDArray[np.float64]:
    """Compute the mean point of each area's initial regions.

    Released instead of the site: a site that was moved by the counts of small classes would tell of them.
    """
    return weighted_centroids(regions.points, membership)


def choose_prefixes(ids: tuple[str, ...], number: int) -> list[str]:
    """Choose one letter per tier with which no initial region's id starts, so that codes are never mistaken for ids."""
    starts = {text.lstrip('"')[:1].upper() for text in ids}
    letters = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in starts]
    if len(letters) >= number:
        return letters[:number]
    start = max((text.upper() for text in ids), key=len)[:1]
    return [f"{start}_AGGREGATED_{'' if number == 1 else f'{tier}_'}" for tier in range(number)]


def check_name_column(regions: Regions, column: str | None) -> None:
    """Refuse a column that the region file does not have."""
    if column is not None and column not in regions.columns:
        there = ", ".join(f"“{name}”" for name in regions.columns) or "none"
        message = f"The region file has no column “{column}” to name aggregated regions after."
        raise InputError(Finding("name-column", message, f"Choose one of {there}."))


def list_member_names(regions: Regions, column: str | None = None) -> tuple[str, ...]:
    """List the names of the initial regions: from the column, else the region's own, else its id; never empty."""
    check_name_column(regions, column)
    names = regions.columns[column] if column is not None else regions.names or regions.ids
    tidy = (" ".join(text.split()) for text in names)
    return tuple(text or id for text, id in zip(tidy, regions.ids, strict=True))


def make_region_names(
    regions: Regions,
    membership: NDArray[np.int32],
    column: str | None = None,
    called: tuple[str, ...] | None = None,
) -> tuple[str, ...]:
    """Name each aggregated region after most of its members, and say how many other members it has.

    Of several that are as frequent it is that of the largest member: by area, or of points the one nearest to their
    middle; then by id. ``called`` are names of the members instead of those of the column.
    """
    called = called or list_member_names(regions, column)
    names_by_region: list[Counter[str]] = [Counter() for _ in range(int(membership.max(initial=-1)) + 1)]
    owner = membership.tolist()
    for member in _largest_first(regions, membership).tolist():
        names_by_region[owner[member]][called[member]] += 1
    return tuple(_name(names) for names in names_by_region)


def _name(names: Counter[str]) -> str:
    if not names:
        return ""
    # The first of the most frequent, in the order in which they were counted.
    others = names.total() - 1
    return f"{max(names, key=names.__getitem__)}{f' + {others:,}' if others else ''}"


def _largest_first(regions: Regions, membership: NDArray[np.int32]) -> NDArray[np.intp]:
    if regions.polygons is not None:
        smallness = -np.nan_to_num(shapely.area(regions.polygons))
    else:
        smallness = np.hypot(*(regions.points - compute_mean_points(regions, membership)[membership]).T)
    # Rounded, so that equal ones are equal whatever the order in which they were summed up.
    scale = float(np.abs(smallness).max(initial=0.0)) or 1.0
    return np.lexsort((np.array(regions.ids, str), np.round(smallness / scale, 9)))

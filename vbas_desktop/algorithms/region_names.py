"""Readable names of aggregated regions, such as “Cortland + 10”, from the region file alone.

Counts of records have no part in them: a name after the member with most records would tell which member that is,
although none of its counts may be told.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.regions import Regions

from .region_codes import mean_points


def check_name_column(regions: Regions, column: str | None) -> None:
    """Refuse a column that the region file does not have."""
    if column is not None and column not in regions.columns:
        there = ", ".join(f"“{name}”" for name in regions.columns) or "none"
        message = f"The region file has no column “{column}” to name aggregated regions after."
        raise InputError(Finding("name-column", message, f"Choose one of {there}."))


def member_names(regions: Regions, column: str | None = None) -> tuple[str, ...]:
    """What each initial region is called: by the column, else by its name, else by its id; never nothing."""
    check_name_column(regions, column)
    given = regions.columns[column] if column is not None else regions.names or regions.ids
    tidy = (" ".join(text.split()) for text in given)
    return tuple(text or id for text, id in zip(tidy, regions.ids, strict=True))


def region_names(
    regions: Regions, membership: NDArray[np.int32], column: str | None = None, called: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """The name of each aggregated region: what most of its members are called, and how many other members it has.

    Of several that are as frequent it is that of the largest member: by area, or of points the one nearest to their
    middle; then by id. ``called`` are names of the members instead of those of the column.
    """
    called = called or member_names(regions, column)
    found: list[Counter[str]] = [Counter() for _ in range(int(membership.max(initial=-1)) + 1)]
    owner = membership.tolist()
    for member in _largest_first(regions, membership).tolist():
        found[owner[member]][called[member]] += 1
    return tuple(_name(names) for names in found)


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
        smallness = np.hypot(*(regions.points - mean_points(regions, membership)[membership]).T)
    # Rounded, so that equal ones are equal whatever the order in which they were summed up.
    scale = float(np.abs(smallness).max(initial=0.0)) or 1.0
    return np.lexsort((np.array(regions.ids, str), np.round(smallness / scale, 9)))

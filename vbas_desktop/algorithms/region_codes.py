"""The codes of aggregated regions: the same in the window, in reports, in the crosswalk and in the released file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.solution import Solution


def region_codes(regions: Regions, solution: Solution) -> tuple[str, ...]:
    """The readable code of each aggregated region (by dense number): ``A001`` in the north-west, then as one reads.

    Numbered by place alone: the order of the sites may tell which regions had the smallest classes. The letter is
    one that no initial region's id starts with, so that a code is never mistaken for a member.
    """
    centres = mean_points(regions, solution)
    strips = max(1, int(np.sqrt(len(centres))))
    by_north = np.lexsort((centres[:, 0], -centres[:, 1]))
    strip = np.empty(len(centres), np.int64)
    strip[by_north] = np.arange(len(centres)) * strips // len(centres)
    order = np.lexsort((-centres[:, 1], centres[:, 0], strip))
    width, prefix = max(3, len(str(len(centres)))), _free_prefix(regions.ids)
    codes = np.empty(len(centres), object)
    codes[order] = [f"{prefix}{number:0{width}d}" for number in range(1, len(centres) + 1)]
    return tuple(codes.tolist())


def mean_points(regions: Regions, solution: Solution) -> NDArray[np.float64]:
    """The mean point of each aggregated region's initial regions.

    Released instead of the site: a site that was moved by the counts of small classes would tell of them.
    """
    membership, number = solution.membership, solution.aggregated_regions
    members = np.bincount(membership, minlength=number)
    return np.column_stack(
        [np.bincount(membership, weights=regions.points[:, axis], minlength=number) / members for axis in (0, 1)]
    )


def _free_prefix(ids: tuple[str, ...]) -> str:
    starts = {text.lstrip('"')[:1].upper() for text in ids}
    letters = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in starts]
    return letters[0] if letters else max((text.upper() for text in ids), key=len)[:1] + "_AGGREGATED_"

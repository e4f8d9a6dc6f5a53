"""Regions whose ids begin alike are merged: hierarchical codes are cropped."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress

from ..interface import Construction, ConstructionResult, Context, Metadata, option

MOST_CHARACTERS = 1000


class CropConstruction(Construction):
    """Merges the initial regions whose ids have the same first N characters, as when postal codes are cropped.

    Ids must be hierarchical: those of neighbouring regions begin alike. With N = 0 the construction takes the longest
    beginning that gives at most as many regions as there are sites, so that every approach for the number of sites can
    be used; with another N the number of sites has no effect. An id that is shorter than N is a region of its own kind.
    There are no sites. O(total length of the ids).

    References
    ----------
    The Voronoi-Based Aggregation System (thesis), § 2, cutoff sizes enforced by cropping postal codes.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="crop",
        title="Crop",
        summary="Merges the initial regions whose ids begin with the same characters.",
        formula="region(i) = the first N characters of the id of i",
        complexity="O(total length of the ids)",
        when="Ids are hierarchical (postal codes, census codes) and recipients know the shorter codes. The locations "
        "of sites have no effect.",
        order=50,
    )
    needs_sites: ClassVar[bool] = False

    characters: int = option(
        0,
        label="Characters",
        help="How many characters of the region ids are kept; 0: as many as give no more regions than sites.",
        ge=0,
        le=MOST_CHARACTERS,
    )

    def build_partition(
        self, context: Context, sites: NDArray[np.float64], progress: Progress
    ) -> ConstructionResult:
        """Merge the regions, and tell how many characters are kept."""
        progress.update("Cropping the ids")
        ids = context.regions.ids
        characters = self.characters or _longest_beginning(ids, len(sites))
        return ConstructionResult(
            _crop_ids(ids, characters), {self.metadata.name: {"characters": characters}}
        )

    def check_result(self, context: Context, owner: NDArray[np.int32]) -> None:
        """Refuse a partition in which a refinement or a limit joined or cut regions of one beginning."""
        if not self.characters:
            return
        expected = _crop_ids(context.regions.ids, self.characters)
        pairs = len(set(zip(expected.tolist(), owner.tolist(), strict=True)))
        if pairs == len(set(expected.tolist())) == len(set(owner.tolist())):
            return
        message = (
            f"“Crop” merges regions by the first {self.characters:,} characters of their ids, but a refinement or a "
            "limit would change these regions."
        )
        raise InputError(
            Finding("crop", message, "Choose no refinement and no limits, or another construction.")
        )


def _crop_ids(ids: tuple[str, ...], characters: int) -> NDArray[np.int32]:
    """Number the beginnings of the ids in the order in which they occur."""
    numbers: dict[str, int] = {}
    owner = [numbers.setdefault(id[:characters], len(numbers)) for id in ids]
    return np.array(owner, np.int32)


def _longest_beginning(ids: tuple[str, ...], most_regions: int) -> int:
    """Find the largest number of characters with which there are at most ``most_regions`` different beginnings."""
    longest = min(MOST_CHARACTERS, max(len(id) for id in ids))
    longest_fitting = 0
    for characters in range(1, longest + 1):
        if len({id[:characters] for id in ids}) > most_regions:
            break
        longest_fitting = characters
    return longest_fitting

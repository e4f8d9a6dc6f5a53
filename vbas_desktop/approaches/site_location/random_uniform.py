"""Sites at random places."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress

from ..interface import Context, Metadata, SiteLocation


class RandomSiteLocation(SiteLocation):
    """Uniform draws in the bounding box of the points: lo + random((s, 2)) · (hi − lo), from the run's seed. O(s)."""

    metadata: ClassVar[Metadata] = Metadata(
        name="random",
        title="Random",
        summary="Scatters the sites uniformly over the bounding box of the regions.",
        formula="lo + U(0, 1)² · (hi − lo)",
        complexity="O(r + s)",
        when="Choose it only as the yardstick that every other approach has to beat.",
        order=50,
    )

    uses_records: ClassVar[bool] = False

    def locate(self, context: Context, sites: int, progress: Progress) -> NDArray[np.float64]:
        """Draw the sites uniformly from the rectangle around the points of the initial regions."""
        progress.update("Drawing site locations")
        low = context.points.min(axis=0)
        high = context.points.max(axis=0)
        return np.asarray(low + context.generator().random((sites, 2)) * (high - low))

"""Sites at random places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Card, SiteLocation, Situation
from vbas_desktop.model.progress import Progress


@dataclass(frozen=True)
class RandomSiteLocation(SiteLocation):
    """Uniform draws in the bounding box of the points: lo + random((s, 2)) · (hi − lo), from the run's seed. O(s)."""

    card: ClassVar[Card] = Card(
        name="random",
        title="Random",
        summary="Scatters the sites uniformly over the bounding box of the regions.",
        formula="lo + U(0, 1)² · (hi − lo)",
        complexity="O(r + s)",
        when="Choose it only as the yardstick that every other approach has to beat.",
        order=50,
    )

    uses_records: ClassVar[bool] = False

    def locate(self, situation: Situation, sites: int, progress: Progress) -> NDArray[np.float64]:
        """The draws, in order."""
        progress.update("Drawing site locations")
        low, high = situation.points.min(axis=0), situation.points.max(axis=0)
        return np.asarray(low + situation.generator().random((sites, 2)) * (high - low))

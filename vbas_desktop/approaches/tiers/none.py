"""One partition: a record is released in its aggregated region or not at all."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.progress import Progress

from ..interface import Context, Metadata, TierApproach


class NoTiers(TierApproach):
    """Classes that are too small in an aggregated region are suppressed. O(1)."""

    metadata: ClassVar[Metadata] = Metadata(
        name="none",
        title="One partition",
        summary="Releases a record in its aggregated region or not at all.",
        formula="a class of an aggregated region is released if it has k records or more",
        complexity="O(1)",
        when="The release of the thesis: one map, and every record on it. Records of small classes are lost.",
        order=10,
    )

    def build_tiers(self, context: Context, membership: NDArray[np.int32], progress: Progress) -> None:
        """Return None: there are no larger areas."""

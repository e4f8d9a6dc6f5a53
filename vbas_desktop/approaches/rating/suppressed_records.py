"""How many records are missing in the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vbas_desktop.approaches.base import Card, Measure, Outcome


@dataclass(frozen=True)
class SuppressedRecords(Measure):
    """Records in the file − records released: globally and locally suppressed ones and those of unknown regions.

    O(1).
    """

    card: ClassVar[Card] = Card(
        name="suppressed_records",
        title="Suppressed records",
        summary="Records of the file that the release leaves out, whatever the reason.",
        formula="records in the file − records released",
        complexity="O(1)",
        when="The first price of a release: every suppressed record is lost to the researcher.",
        order=10,
    )
    unit: ClassVar[str] = "records"
    pareto_default: ClassVar[bool] = True
    pareto_thesis: ClassVar[bool] = True

    def rate(self, outcome: Outcome) -> int:
        """The number of records that are not released."""
        return outcome.records - outcome.released_records

"""The people that the records are a sample of: sampling fraction, and the journalist's risk where it can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class PopulationRisk:
    """What inhabitants by region say of a release.

    The journalist looks a person up among all inhabitants: the risk of a record is 1 / the inhabitants of its region
    with its values. Only the inhabitants of regions are known, so those of a class are *estimated*: as many, among the
    inhabitants, as the class has among the region's records. An estimate protects nobody, so nothing is enforced by it.
    ``reason`` says why there is no estimate.
    """

    column: str
    inhabitants: float
    sampling_fraction: float | None
    smallest_region: float | None
    journalist_maximum: float | None = None
    journalist_average: float | None = None
    reason: str = ""

    def unknown(self, reason: str) -> PopulationRisk:
        """The same without an estimate, and why."""
        return replace(self, journalist_maximum=None, journalist_average=None, reason=reason)

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for run.json."""
        return {
            "column": self.column,
            "inhabitants": self.inhabitants,
            "sampling_fraction": self.sampling_fraction,
            "smallest_region": self.smallest_region,
            "journalist_maximum_estimated": self.journalist_maximum,
            "journalist_average_estimated": self.journalist_average,
            "not_estimated_because": self.reason,
            "k_map": "not computed: inhabitants are known by region, not by class",
        }


def population_risk(
    column: str,
    inhabitants: NDArray[np.float64],
    records: NDArray[np.int64],
    region: NDArray[np.integer],
    sizes: NDArray[np.int64],
) -> PopulationRisk:
    """The risk of released classes with these ``sizes``, each in its aggregated ``region``.

    ``inhabitants`` and ``records`` (all of the file) are those of the aggregated regions.
    """
    total, sampled = float(inhabitants.sum()), int(records.sum())
    used = np.unique(region[sizes > 0])
    smallest = float(inhabitants[used].min()) if used.size else None
    known = PopulationRisk(column, total, sampled / total if total else None, smallest)
    if not used.size:
        return known.unknown("nothing is released")
    if (inhabitants[used] < records[used]).any():
        return known.unknown("a region has more records than inhabitants, so the records are no sample of them")
    region, sizes = region[sizes > 0], sizes[sizes > 0]
    people = sizes * (inhabitants[region] / records[region])
    average = float((sizes / people).sum() / sizes.sum())
    return replace(known, journalist_maximum=float((1 / people).max()), journalist_average=average)


def population_column(document: Mapping[str, Any]) -> str | None:
    """The column with the inhabitants, as the options of a run name it."""
    return (document.get("options") or {}).get("population_column")

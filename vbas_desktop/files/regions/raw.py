"""What a region file says before its coordinates are understood, and what can be wrong with ids and points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.files.findings import FindingList


@dataclass(frozen=True, eq=False)
class RawRegions:
    """Regions in the coordinates of their file.

    ``rows[i]`` is where region i stands: the line of a text file, the number of the feature otherwise. ``points`` is
    NaN where the file says nothing usable (a finding says so). ``definition`` is the file's coordinate system;
    ``degrees`` tells that the file claims longitude and latitude, by its column names or its system.
    ``points_given`` is False if the points are to be found inside the polygons. ``over_date_line`` tells that the
    longitudes of the polygons were within ±180° and are counted on over it, which makes them continuous.
    """

    ids: tuple[str, ...]
    rows: NDArray[np.int64]
    points: NDArray[np.float64]
    degrees: bool
    definition: str | None = None
    unit: str = "unit"
    polygons: NDArray[np.object_] | None = None
    points_given: bool = True
    names: tuple[str, ...] | None = None
    x_name: str | None = None
    y_name: str | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    over_date_line: bool = False


def shared_values(columns: Iterable[tuple[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """The columns whose values are shared by two regions each on average, or more: they may name larger places."""
    found: dict[str, tuple[str, ...]] = {}
    for name, values in columns:
        once = {value: value for value in values}
        if name and name not in found and 2 * len(once) <= len(values):
            # The same text is kept once.
            found[name] = tuple(once[value] for value in values)
    return found


def check_ids(ids: Sequence[str], rows: NDArray[np.int64], column: str | None, findings: FindingList) -> None:
    """Note empty ids, ids that occur twice (an error: records could not be placed), and ids with blanks around them."""
    first: dict[str, int] = {}
    blanks = 0
    for id, row in zip(ids, rows.tolist(), strict=True):
        if not id.strip():
            findings.add("empty-id", "The region id is empty.", "Give the region an id.", row=row, column=column)
        elif id in first:
            findings.add(
                "duplicate-id",
                f"The region id stands already in row {first[id]:,}.",
                "Each region needs an id of its own.",
                row=row,
                column=column,
            )
        else:
            first[id] = row
        blanks += id != id.strip()
    if blanks:
        findings.hint(
            "id-blanks",
            f"{blanks:,} region ids begin or end with a blank.",
            "Records match only if they have the same blanks.",
            column=column,
        )


def check_identical(points: NDArray[np.float64], rows: NDArray[np.int64], findings: FindingList) -> None:
    """Hint at regions that share one point: they always end in the same aggregated region."""
    if len(points) < 2:
        return
    _, first, inverse, count = np.unique(points, axis=0, return_index=True, return_inverse=True, return_counts=True)
    shared = np.flatnonzero(count > 1)
    if not shared.size:
        return
    place = shared[np.argmin(first[shared])]
    some = rows[np.flatnonzero(inverse.ravel() == place)[:3]]
    findings.hint(
        "identical-points",
        f"{int(count[shared].sum()):,} regions share their point with another region "
        f"(for example rows {', '.join(f'{row:,}' for row in some.tolist())}).",
        "They can never be told apart by distance; check the coordinates if this is unexpected.",
        row=int(some[0]),
    )

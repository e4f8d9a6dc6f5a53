"""What a region file says before its coordinates are understood, and what can be wrong with ids, points
and polygons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.domain.records import frozen
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
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
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


def text_columns(columns: Iterable[tuple[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """All columns with a name as text, of several with the same name the first."""
    found: dict[str, tuple[str, ...]] = {}
    for name, values in columns:
        if name and name not in found:
            found[name] = tuple(values)
    return found


def number_columns(columns: Iterable[tuple[str, Sequence[str]]]) -> dict[str, NDArray[np.float64]]:
    """The columns most of whose fields are numbers, 0 or more; NaN where a field is none."""
    found: dict[str, NDArray[np.float64]] = {}
    for name, values in columns:
        if not name or name in found:
            continue
        numbers = _numbers(values)
        if 2 * np.count_nonzero(~np.isnan(numbers)) > numbers.size:
            found[name] = frozen(numbers)
    return found


def _numbers(texts: Sequence[str]) -> NDArray[np.float64]:
    """What `_number` makes of each."""
    try:
        numbers = np.array([float(text) for text in texts])
    except ValueError:
        return np.array([_number(text) for text in texts])
    if any("_" in text for text in texts):
        return np.array([_number(text) for text in texts])
    numbers[~((numbers >= 0) & (numbers < np.inf))] = np.nan
    return numbers


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return np.nan
    return number if 0 <= number < np.inf and "_" not in text else np.nan


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


POLYGONAL = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


def repaired(shapes: NDArray[np.object_], rows: NDArray[np.int64], findings: FindingList) -> NDArray[np.object_]:
    """The shapes with mended polygons, each of which is noted; empty ones are None, and single points are points."""
    single = np.array(
        [shape is not None and shape.geom_type == "MultiPoint" and len(shape.geoms) == 1 for shape in shapes]
    )
    shapes = np.where(shapely.is_empty(shapes), np.array(None, object), shapes)
    shapes[single] = [shape.geoms[0] for shape in shapes[single]]
    finite = finite_shapes(shapes)
    wrong = np.isin(shapely.get_type_id(shapes), POLYGONAL) & finite & ~shapely.is_valid(shapes)
    for i in np.flatnonzero(wrong).tolist():
        try:
            with np.errstate(all="ignore"):
                shapes[i] = _mended(shapes[i])
        except shapely.errors.GEOSException:
            # So damaged, or so near the limits of numbers, that nobody can tell what it means: it has no area.
            shapes[i] = shapely.Polygon()
        if not shapes[i].is_empty:
            what = "The polygon crosses or touches itself; it was repaired."
            findings.warn("invalid-geometry", what, "Look at it on the map.", row=int(rows[i]))
    return shapes


def finite_shapes(shapes: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Which shapes have finite coordinates only; the box around a shape leaves out what is no number."""
    xy, shape = shapely.get_coordinates(shapes, return_index=True)
    finite = np.ones(len(shapes), np.bool_)
    finite[shape[~np.isfinite(xy).all(axis=1)]] = False
    return finite


def _mended(shape: Any) -> Any:
    """The valid polygon that an invalid one means; a hole takes away from its own shell and adds nothing elsewhere."""
    parts = [
        shapely.difference(_valid(shapely.Polygon(part.exterior)), shapely.union_all([_valid(hole) for hole in holes]))
        for part in shapely.get_parts(shape)
        for holes in [[shapely.Polygon(ring) for ring in part.interiors]]
    ]
    return _polygonal_part(shapely.union_all(parts))


def _valid(shape: Any) -> Any:
    return _polygonal_part(shapely.make_valid(shape, method="structure", keep_collapsed=False))


def _polygonal_part(shape: Any) -> Any:
    if shape.geom_type in ("Polygon", "MultiPolygon"):
        return shape
    return shapely.union_all([part for part in shapely.get_parts(shape) if "Polygon" in part.geom_type])

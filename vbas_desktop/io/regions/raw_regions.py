"""What a region file says before its coordinates are understood, and what can be wrong with ids, points
and polygons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.polygons import explode_in_blocks
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.records import as_readonly, finite_number
from vbas_desktop.model.regions import LARGEST_NUMBER

from .column_names import find_name_column
from .numbers import parse_plain_numbers


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


class AttributeTable(Protocol):
    """The columns that a file has beside shapes, whatever its kind."""

    @property
    def header(self) -> Sequence[str]:
        """Return the names of the columns."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """Return the line or the number of the feature of each region."""

    def column(self, name: str) -> list[str]:
        """Return a column as text; of several with the same name the first."""


def choose_id_column(table: AttributeTable, candidates: Sequence[str], findings: FindingList) -> str:
    """Choose the first candidate without empty or repeated values, else the likeliest; note further candidates."""
    columns = {name: table.column(name) for name in candidates}
    complete = [
        name for name, values in columns.items() if all(values) and len(set(values)) == len(values)
    ]
    chosen = (complete or list(candidates))[0]
    if len(complete) > 1:
        others = ", ".join(f"“{name}”" for name in complete if name != chosen)
        message = f"It is used as the region id; {others} would be possible, too."
        findings.hint(
            "id-guessed", message, "If another column is meant, name it with --id-column.", column=chosen
        )
    return chosen


def read_attributes(
    table: AttributeTable, id_name: str, coordinates: Sequence[str | None], findings: FindingList
) -> dict[str, Any]:
    """Read what `RawRegions` has besides coordinates: ids, which are checked, names, and the other columns."""
    ids = table.column(id_name)
    check_ids(ids, table.rows, id_name, findings)
    name = find_name_column(table.header, id_name)
    unused = ("", id_name, *coordinates)
    others = {column: table.column(column) for column in table.header if column not in unused}
    labels = {}
    numbers = {}
    for column, values in others.items():
        if 2 * len(set(values)) <= len(values):
            labels[column] = _share_texts(values)
        column_numbers = _read_numbers(values)
        if _are_mostly_numbers(column_numbers):
            numbers[column] = column_numbers
    all_columns = {id_name: ids, **others}
    return {
        "ids": tuple(ids),
        "rows": table.rows,
        "names": tuple(table.column(name)) if name else None,
        "labels": labels,
        "numbers": numbers,
        "columns": {column: tuple(values) for column, values in all_columns.items() if column},
    }


def _share_texts(values: Sequence[str]) -> tuple[str, ...]:
    """Return the texts with equal ones as one object, which saves memory: most occur several times."""
    once = {value: value for value in values}
    return tuple(once[value] for value in values)


def _read_numbers(texts: Sequence[str]) -> NDArray[np.float64]:
    """Read the numbers of a column that are from 0 to `LARGEST_NUMBER`; NaN where a field has none."""
    numbers = parse_plain_numbers(texts)
    if numbers is None:
        numbers = np.array([finite_number(text) for text in texts], np.float64)
    return cast(
        "NDArray[np.float64]",
        as_readonly(np.where((numbers >= 0) & (numbers <= LARGEST_NUMBER), numbers, np.nan)),
    )


def _are_mostly_numbers(numbers: NDArray[np.float64]) -> bool:
    """Tell whether most fields of a column are numbers."""
    return bool(2 * np.count_nonzero(~np.isnan(numbers)) > numbers.size)


def check_ids(
    ids: Sequence[str], rows: NDArray[np.int64], column: str | None, findings: FindingList
) -> None:
    """Note empty ids, ids that occur twice (an error: records could not be placed), and ids with blanks around them."""
    first: dict[str, int] = {}
    blanks = 0
    for id, row in zip(ids, rows.tolist(), strict=True):
        if not id.strip():
            findings.add(
                "empty-id", "The region id is empty.", "Give the region an id.", row=row, column=column
            )
        elif id in first:
            findings.add(
                "duplicate-id",
                f"The same region id is already in row {first[id]:,}.",
                "Give every region its own id.",
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
            "Only records with the same blanks match them.",
            column=column,
        )


def check_distinct_points(
    points: NDArray[np.float64], rows: NDArray[np.int64], findings: FindingList
) -> None:
    """Hint at regions that share one point: they always end in the same aggregated region."""
    if len(points) < 2:
        return
    _, first, inverse, count = np.unique(
        points, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    shared = np.flatnonzero(count > 1)
    if not shared.size:
        return
    example = shared[np.argmin(first[shared])]
    some = rows[np.flatnonzero(inverse.ravel() == example)[:3]]
    findings.hint(
        "identical-points",
        f"{int(count[shared].sum()):,} regions share their point with another region "
        f"(for example rows {', '.join(f'{row:,}' for row in some.tolist())}).",
        "No distance can separate them; check the coordinates if this is unexpected.",
        row=int(some[0]),
    )


POLYGONAL = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


def repair_shapes(
    shapes: NDArray[np.object_], rows: NDArray[np.int64], findings: FindingList
) -> NDArray[np.object_]:
    """Repair polygons, each of which is noted; empty shapes become None, and single points become points."""
    single = np.array(
        [
            shape is not None and shape.geom_type == "MultiPoint" and len(shape.geoms) == 1
            for shape in shapes
        ]
    )
    shapes = np.where(shapely.is_empty(shapes), np.array(None, object), shapes)
    shapes[single] = [shape.geoms[0] for shape in shapes[single]]
    finite = are_finite(shapes)
    wrong = np.isin(shapely.get_type_id(shapes), POLYGONAL) & finite & ~shapely.is_valid(shapes)
    for i in np.flatnonzero(wrong).tolist():
        try:
            with np.errstate(all="ignore"):
                shapes[i] = _repair_polygon(shapes[i])
        except shapely.errors.GEOSException:
            # So damaged, or so near the limits of numbers, that its meaning is unclear: it has no area.
            shapes[i] = shapely.Polygon()
        if not shapes[i].is_empty:
            what = "The polygon crosses or touches itself; it was repaired."
            findings.warn("invalid-geometry", what, "Look at it on the map.", row=int(rows[i]))
    return shapes


def are_finite(shapes: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Tell which shapes have finite coordinates only; the bounds of a shape ignore coordinates that are not numbers."""
    xy, shape = explode_in_blocks(shapely.get_coordinates, shapes)
    finite = np.ones(len(shapes), np.bool_)
    finite[shape[~np.isfinite(xy).all(axis=1)]] = False
    return finite


def _repair_polygon(shape: Any) -> Any:
    """Make a valid polygon of an invalid one; a hole is cut from its own shell and adds nothing elsewhere."""
    parts = [
        shapely.difference(
            _valid(shapely.Polygon(part.exterior)), shapely.union_all([_valid(hole) for hole in holes])
        )
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

"""The shapes of the aggregated regions as files that maps can show."""

from __future__ import annotations

import io
import json
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from vbas_desktop.algorithms.antimeridian import (
    find_cut_of_shapes,
    split_at_antimeridian,
    unwrap_shapes,
    wrap_longitudes,
    wrap_pieces,
)
from vbas_desktop.algorithms.polygons import (
    Rings,
    Shapes,
    extract_polygons,
    list_rings,
    make_shape_array,
    remove_hairlines,
    snap_to_grid,
)
from vbas_desktop.algorithms.voronoi_cells import (
    clip_voronoi_cells,
    compute_study_area,
    dissolve_groups,
    find_disc_radius,
    outline_aggregated_regions,
)
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.model.tiers import NAME

from .plan import ReleasedPartition
from .tables import TIERS, code_order, tier_columns, to_degrees

Points = NDArray[np.float64]

DEGREE_DIGITS = (6, 8, 10, 12)
"""Decimals of degrees to be tried in turn: the sixth is about a decimetre."""
STRAIGHT_METRES = 20_000.0
"""Up to this length the two kinds of straight lines differ by metres only, far less than cells of such size matter."""
CELL_METRES = 2_000.0
"""Up to this length they differ by about a decimetre, as the grid of the file does."""

LAYER = "aggregated_regions"
NO_DATE = "2000-01-01T00:00:00.000Z"
_DATE = threading.Lock()


def build_shapes(partition: ReleasedPartition) -> Shapes:
    """Build one shape per place, in the coordinates of the computation.

    Made from the initial regions alone, unless the cells of the sites are wanted: a site that was chosen or moved by
    the counts of small classes shows in the borders of its cell.
    """
    if partition.cell_sites is not None:
        return clip_voronoi_cells(partition.cell_sites, compute_study_area(partition.regions))
    return outline_aggregated_regions(partition.regions, partition.membership)


def build_tier_shapes(partition: ReleasedPartition, shapes: Shapes) -> Iterator[Shapes]:
    """Yield the shapes of each tier; ``shapes`` are those of the aggregated regions."""
    yield shapes
    parents = partition.parents
    for tier in partition.coarser:
        number = {code: index for index, code in enumerate(tier.codes)}
        shapes = dissolve_groups(shapes, np.array([number[code] for code in parents]))
        yield shapes
        parents = tier.parents


def warn_of_made_up_extent(regions: Regions) -> tuple[Finding, ...]:
    """Warn if the shapes stand for a place without extent: points at one place have no border."""
    radius = find_disc_radius(regions)
    if radius is None:
        return ()
    unit = {"m": " m", "degree": " degrees"}.get(regions.system.unit, "")
    return (
        Finding(
            "no-extent",
            "All initial regions are points at one place. What the map and the files of shapes show is a disc around "
            f"it with a radius of {radius:g}{unit}, not a border.",
            "Check the coordinates of the regions if this is unexpected.",
            Severity.WARNING,
        ),
    )


@dataclass(frozen=True, eq=False)
class ProjectedShapes:
    """The shapes in the coordinates of a file.

    ``exact`` are continuous and unrounded, ``written`` those that the file gets. ``grid`` is the width of the grid
    that these are on (0: not rounded), ``to_file`` takes points of the computation to the coordinates of the file.
    """

    exact: Shapes
    written: Shapes
    grid: float
    to_file: Callable[[Points], Points]


def project_shapes(
    kind: str, shapes: Shapes, regions: Regions, are_cells: bool = False
) -> ProjectedShapes:
    """Return the shapes for a file of this kind: GeoJSON in longitude and latitude if the system is known, else as is.

    ``are_cells``: the shapes are the cells of the sites, whose borders must be exact.
    """
    system = regions.system
    if kind == "geojson" and system.definition is not None:
        if (are_cells or regions.polygons is None) and system.unit == "m":
            # A long straight border in the plane is a bent one in longitude and latitude.
            shapes = shapely.segmentize(shapes, CELL_METRES if are_cells else STRAIGHT_METRES)
        return _project_to_degrees(shapes, _make_degree_transform(system))
    return ProjectedShapes(shapes, remove_hairlines(shapes), 0.0, lambda points: points)


def _project_to_degrees(shapes: Shapes, to_file: Callable[[Points], Points]) -> ProjectedShapes:
    """Project to WGS 84, on a grid of about a decimetre (finer for tiny shapes), and cut at the date line."""
    projected = shapely.transform(shapes, to_file)
    exact = unwrap_shapes(projected, find_cut_of_shapes(projected))
    for number in np.flatnonzero(~shapely.is_valid(exact)).tolist():
        # What is valid in the plane may touch itself in longitude and latitude.
        exact[number] = extract_polygons(shapely.make_valid(exact[number]))
    pieces, owner = split_at_antimeridian(exact)
    rounded, grid = snap_to_grid(pieces, DEGREE_DIGITS)
    rounded = wrap_pieces(rounded)
    if grid:
        rounded = shapely.transform(rounded, lambda points: np.round(points, round(-np.log10(grid))))
    parts = (
        [rounded[owner == number] for number in range(len(shapes))]
        if len(pieces) > len(shapes)
        else rounded[:, None]
    )
    written = [
        group[0] if len(group) == 1 else shapely.multipolygons(shapely.get_parts(group))
        for group in parts
    ]
    return ProjectedShapes(exact, make_shape_array(written), grid, to_file)


def _make_degree_transform(system: CoordinateSystem) -> Callable[[Points], Points]:
    if system.kind is CoordinateKind.DEGREES:
        return lambda points: np.column_stack((wrap_longitudes(points[:, 1]), points[:, 0]))
    transform = to_degrees(system.definition)

    def project_points(points: Points) -> Points:
        x, y = transform(points[:, 0], points[:, 1])
        return np.column_stack((wrap_longitudes(x), y))

    return project_points


def encode_geojson(partition: ReleasedPartition, projected: Sequence[ProjectedShapes]) -> bytes:
    """Encode the shapes as GeoJSON with codes and counts; ``projected`` are those of each tier."""
    rows, shapes = zip(*_iterate_features(partition, projected), strict=True)
    features = (
        {"type": "Feature", "properties": properties, "geometry": _encode_geometry(shape, polygons)}
        for properties, shape, polygons in zip(
            rows, shapes, list_rings(make_shape_array(list(shapes))), strict=True
        )
    )
    lines = ",\n".join(json.dumps(feature, separators=(",", ":")) for feature in features)
    return f'{{"type":"FeatureCollection","features":[\n{lines}\n]}}\n'.encode()


def _encode_geometry(shape: Any, polygons: list[Rings]) -> dict[str, Any]:
    """Encode a shape, given the rings of its polygons, as GeoJSON has it."""
    several = shape.geom_type == "MultiPolygon"
    coordinates = polygons if several else polygons[0] if polygons else []
    return {"type": "MultiPolygon" if several else "Polygon", "coordinates": coordinates}


def encode_geopackage(partition: ReleasedPartition, projected: Sequence[ProjectedShapes]) -> bytes:
    """Encode the shapes as a GeoPackage, in the coordinates of the computation."""
    import pyogrio.raw

    rows, shapes = zip(*_iterate_features(partition, projected), strict=True)
    fields = {
        name: np.array([row[name] for row in rows], np.int64 if isinstance(value, int) else object)
        for name, value in rows[0].items()
    }
    system = partition.regions.system
    multi = [shapely.multipolygons(shapely.get_parts(shape)) for shape in shapes]
    # Made in memory: what a disk refuses is then an error of the disk, not one of the format.
    buffer = io.BytesIO()
    with _without_date(), warnings.catch_warnings():
        # A plane of unknown place has no coordinate system to tell, which pyogrio warns of.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        pyogrio.raw.write(
            buffer,
            geometry=shapely.to_wkb(np.array(multi, object)),
            field_data=list(fields.values()),
            fields=list(fields),
            geometry_type="MultiPolygon",
            crs=system.definition if system.kind is not CoordinateKind.DEGREES else None,
            layer=LAYER,
            driver="GPKG",
        )
    return buffer.getvalue()


@contextmanager
def _without_date() -> Iterator[None]:
    """Let GeoPackages have the same bytes whenever they are written.

    The setting holds for the whole program, in which one that was stopped may still be writing: one after the other.
    """
    import pyogrio

    with _DATE:
        pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": NO_DATE})
        try:
            yield
        finally:
            pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": None})


WRITERS: dict[str, Callable[[ReleasedPartition, Sequence[ProjectedShapes]], bytes]] = {
    "geojson": encode_geojson,
    "gpkg": encode_geopackage,
}
"""The kinds of file that shapes are released in, by their endings."""


def _iterate_features(
    partition: ReleasedPartition, projected: Sequence[ProjectedShapes]
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield properties and shape of every code in the order of the table, tier by tier."""
    for tier_number, (tier, drawn) in enumerate(zip(partition.tiers, projected, strict=True)):
        tier_properties = (
            [dict(zip(TIERS, row, strict=True)) for row in tier_columns(tier, tier_number)]
            if partition.coarser
            else None
        )
        for row, number in enumerate(code_order(tier)):
            properties = {
                "aggregated_region": tier.codes[number],
                "initial_regions": int(tier.members_by_region[number]),
                "records": int(tier.released_by_region[number]),
                **(
                    tier_properties[row]
                    if tier_properties is not None
                    else {NAME: tier.names[number]}
                    if tier.names
                    else {}
                ),
            }
            yield properties, drawn.written[number]

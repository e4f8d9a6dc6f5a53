"""Made-up geographies for the tests of shapes: grids, coasts, islands, points, on both sides of the date line."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Ring = list[list[float]]


def square(x: float, y: float, half: float) -> Ring:
    """A square around a point, its corners as plain floats: those of neighbours differ in the last digit."""
    return [
        [x - half, y - half],
        [x + half, y - half],
        [x + half, y + half],
        [x - half, y + half],
        [x - half, y - half],
    ]


def wrapped(longitude: float) -> float:
    """Between −180 and 180."""
    return longitude - 360 if longitude > 180 else longitude


def over_date_line(ring: Ring, cut: bool) -> dict[str, Any]:
    """A ring with longitudes up to 360 as a polygon that ends at the date line, or that jumps over it."""
    west, east = min(x for x, _ in ring), max(x for x, _ in ring)
    if west < 180 < east and cut:
        low, high = [[min(x, 180.0), y] for x, y in ring], [[max(x, 180.0) - 360, y] for x, y in ring]
        return {"type": "MultiPolygon", "coordinates": [[low], [high]]}
    turn = 360 if west >= 180 else 0
    placed = [[x - turn, y] for x, y in ring] if cut or turn else [[wrapped(x), y] for x, y in ring]
    return {"type": "Polygon", "coordinates": [placed]}


def polygon(ring: Ring) -> dict[str, Any]:
    """A GeoJSON polygon."""
    return {"type": "Polygon", "coordinates": [ring]}


def write_shapes(path: Path, geometries: Sequence[dict[str, Any]]) -> Path:
    """Regions ``r0`` … of these geometries."""
    features = [
        {"type": "Feature", "properties": {"id": f"r{number}"}, "geometry": geometry}
        for number, geometry in enumerate(geometries)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def write_points(path: Path, points: Sequence[Sequence[float]], names: tuple[str, str]) -> Path:
    """Regions ``r0`` … at these points."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *names])
        writer.writerows([f"r{number}", *point] for number, point in enumerate(points))
    return path


def random_geography(folder: Path, seed: int) -> Path:
    """One of ten kinds of geography, by the seed."""
    draw = np.random.default_rng(seed)
    kind = seed % 10
    lon, lat = float(np.round(draw.uniform(-170, 150), 2)), float(np.round(draw.uniform(-60, 65), 2))
    if kind in (3, 4, 5):
        lon = 178.3
    columns, rows, step = 9, 7, float(draw.choice([0.02, 0.1, 0.3]))
    centres = [(lon + i * step, lat + j * step) for i in range(columns) for j in range(rows)]
    if kind in (0, 3, 4):
        rings = [square(x, y, step / 2) for x, y in centres]
        shapes = [over_date_line(ring, kind == 3) if kind else polygon(ring) for ring in rings]
        return write_shapes(folder / "regions.geojson", shapes)
    if kind in (1, 2):
        return write_shapes(
            folder / "regions.geojson", _ragged(draw, lon, lat, step, overlapping=kind == 2)
        )
    if kind == 5:
        points = [(wrapped(x), y) for x, y in centres]
        return write_points(folder / "regions.csv", points, ("longitude", "latitude"))
    if kind == 6:
        points = draw.normal((lon, lat), (0.5, 0.3), (60, 2)).round(3).tolist()
        return write_points(folder / "regions.csv", [*points, *points[:9]], ("longitude", "latitude"))
    size = {7: 1e-4, 8: 1.0, 9: 3e6}[kind]
    points = (draw.random((63, 2)) * size).tolist()
    return write_points(folder / "regions.csv", points, ("x", "y"))


def _ragged(
    draw: np.random.Generator, lon: float, lat: float, step: float, overlapping: bool
) -> list[dict[str, Any]]:
    """Quadrilaterals with corners out of place and coasts with spikes finer than what is written."""
    shift = draw.uniform(-0.3, 0.3, (10, 8, 2)) * step
    corner = [
        [[lon + i * step + shift[i, j, 0], lat + j * step + shift[i, j, 1]] for j in range(8)]
        for i in range(10)
    ]
    shapes = []
    for i in range(9):
        for j in range(7):
            ring = [corner[i][j], corner[i + 1][j], corner[i + 1][j + 1], corner[i][j + 1]]
            if i == 0:
                (ax, ay), (bx, by) = corner[0][j + 1], corner[0][j]
                for t in np.sort(draw.random(40)).tolist():
                    inward, width = step * 0.1 * draw.random(), 4e-7
                    x, y = ax + (bx - ax) * t, ay + (by - ay) * t
                    ring += [[x, y + width], [x + inward, y], [x, y - width]]
            if overlapping and (i + j) % 5 == 0:
                ring = [[x + step * 0.05, y + step * 0.02] for x, y in ring]
            shapes.append(polygon([*ring, ring[0]]))
    return shapes

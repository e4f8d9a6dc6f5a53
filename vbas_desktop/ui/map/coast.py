"""The study area of points, cut off at a coast that the user has as a layer. No Qt."""

from __future__ import annotations

import numpy as np
import shapely

from vbas_desktop.algorithms.cells import study_area
from vbas_desktop.algorithms.coverage import polygonal
from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.regions import Regions
from vbas_desktop.files.regions.context import load_context

_DETAIL = 4_000.0
"""The coast is simplified to this many steps along the diagonal of the study area: finer than a screen shows."""

_DISC = 0.004
"""The radius around points off the coast, as a share of the diagonal: their cells must not vanish."""


def area_ashore(regions: Regions, coast: str) -> shapely.Geometry:
    """What lies near the points and on land; all that lies near them if the file has no area there, or is wrong.

    What is wrong with it the layer tells, which is the same file.
    """
    area = study_area(regions)
    try:
        shapes = load_context(coast, regions.system)
    except (InputError, OSError):
        return area
    low_x, low_y, high_x, high_y = shapely.bounds(area).tolist()
    diagonal = float(np.hypot(high_x - low_x, high_y - low_y))
    near = shapely.clip_by_rect(shapes[shapely.get_dimensions(shapes) == 2], low_x, low_y, high_x, high_y)
    near = shapely.make_valid(shapely.simplify(near[~shapely.is_empty(near)], diagonal / _DETAIL))
    land = polygonal(shapely.intersection(shapely.union_all(near), area))
    if land.is_empty:
        return area
    wet = regions.points[~shapely.intersects_xy(land, regions.points)]
    discs = shapely.buffer(shapely.points(wet), _DISC * diagonal, quad_segs=4)
    return polygonal(shapely.union_all([land, *discs]))

"""Ways around one small obstacle, so that the loops are compiled before they are needed."""

from __future__ import annotations

import numpy as np
import shapely

from .distances import around_obstacles
from .mesh import walls_of


def rehearse() -> None:
    """Every compiled loop once."""
    walls = walls_of(np.array([shapely.box(1, 1, 2, 2)], object))
    around_obstacles(walls, np.array([(0.5, 0.5), (2.5, 2.5)]), np.array([(0.0, 1.5), (3.0, 1.6)]))

"""The lines between cells around obstacles: where they are, the ways to two sites are equally long."""

import numpy as np
import pytest
import shapely
from shapely import LineString, box

from tests.unit.algorithms.naive_ways import naive_distances
from vbas_desktop.algorithms.geodesic import trace_cell_borders
from vbas_desktop.algorithms.geodesic_mesh import build_barriers
from vbas_desktop.algorithms.voronoi_cells import clip_voronoi_cells
from vbas_desktop.model.progress import Cancelled

SHOWN, STEP = box(0, 0, 10, 10), 10 / 120


def walls(*shapes):
    return build_barriers(np.array(shapes, object))


def test_without_anything_in_the_way_they_are_those_of_the_plain_diagram():
    sites = np.random.default_rng(1).random((6, 2)) * 10
    lines = shapely.linestrings(trace_cell_borders(walls(box(90, 90, 91, 91)), sites, SHOWN, STEP))
    area = box(0.2, 0.2, 9.8, 9.8)
    drawn = shapely.union_all(shapely.intersection(lines, area))
    cells = clip_voronoi_cells(sites, box(-20, -20, 30, 30))
    true = shapely.union_all([shapely.intersection(shapely.boundary(cell), area) for cell in cells])
    assert (
        shapely.hausdorff_distance(shapely.segmentize(drawn, STEP), shapely.segmentize(true, STEP))
        < STEP
    )


@pytest.mark.parametrize("seed", range(3))
def test_on_every_line_two_sites_are_equally_far_and_no_line_crosses_an_obstacle(seed):
    rng = np.random.default_rng(seed)
    obstacles = walls(box(2, 1, 4, 7), LineString([(6, 3), (6, 10), (9, 10)]), box(7, 1, 8, 2))
    sites = np.array([(1.0, 4.0), (5.0, 4.5), (8.0, 6.0), *rng.random((2, 2)) * (10, 0.9)])
    lines = trace_cell_borders(obstacles, sites, SHOWN, STEP)
    middle = lines.mean(axis=1)
    shown = ((middle > 0) & (middle < 10)).all(axis=1) & ~shapely.dwithin(
        shapely.union_all(obstacles.segments), shapely.points(middle), 1e-6
    )
    assert shown.sum() > 100
    some = middle[shown][:: max(1, int(shown.sum()) // 60)]
    nearest = np.sort(naive_distances(obstacles, some, sites), axis=1)
    assert (nearest[:, 1] - nearest[:, 0]).max() < 2 * STEP
    assert not shapely.contains_properly(obstacles.area, shapely.linestrings(lines)).any()
    crossing = shapely.STRtree(obstacles.segments).query(
        shapely.linestrings(lines[shown]), predicate="crosses"
    )
    assert crossing.size == 0


def test_one_site_has_no_borders_and_a_stop_is_obeyed():
    obstacles = walls(box(2, 2, 3, 3))
    assert trace_cell_borders(obstacles, np.array([(5.0, 5.0)]), SHOWN, STEP).shape == (0, 2, 2)

    class Stop:
        def update(self, stage, fraction=None):
            raise Cancelled

    with pytest.raises(Cancelled):
        trace_cell_borders(obstacles, np.array([(5.0, 5.0)]), SHOWN, STEP, Stop())

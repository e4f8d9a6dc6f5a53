"""The Voronoi diagram with obstacles: the nearest site by the shortest way around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.nearest_site import find_nearest_sites
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count

from ..interface import Construction, ConstructionResult, Context, Metadata


class ObstaclesConstruction(Construction):
    """The nearest site by the shortest way that crosses no obstacle; ties go to the site of lower index.

    Obstacles are areas (lakes, mountains, the sea) and lines without width (rivers, borders); a gap in a line is a
    bridge. The free area is triangulated with all corners, points and sites; distances run over the triangles as
    exact wave fronts that bend at the corners of obstacles. Points and sites inside an obstacle count from its nearest
    edge; an area that is cut off from all sites goes to the owner across the shortest gap. Without obstacle files, and
    wherever nothing is in the way, the result is that of “Voronoi”. O(v log v) in practice, v the corners of all.

    References
    ----------
    The Voronoi-Based Aggregation System, Voronoi diagrams with obstacles.
    J. S. B. Mitchell, D. M. Mount, C. H. Papadimitriou: The discrete geodesic problem, SIAM J. Comput. 16, 1987.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="obstacles",
        title="Obstacles",
        summary="Gives each initial region to the site with the shortest way around lakes, rivers and other obstacles.",
        formula="owner(i) = argmin over sites j of the length of the shortest way from i to j outside the obstacles",
        complexity="O(v log v) in practice, v = corners of the obstacles + r + s",
        when="People do not cross the water between places that are near on the map. Needs obstacle files.",
        order=20,
    )

    def build_partition(
        self, context: Context, sites: NDArray[np.float64], progress: Progress
    ) -> ConstructionResult:
        """Return the owners; the diagnostics say how many regions the obstacles changed."""
        obstacles = context.regions.obstacles
        if obstacles is None:
            return ConstructionResult(
                find_nearest_sites(context.points, sites, progress), findings=(_NO_FILE,)
            )
        from vbas_desktop.algorithms.geodesic import assign_around_obstacles
        from vbas_desktop.algorithms.geodesic_mesh import obstacle_barriers

        progress.update("Preparing the obstacles")
        walls = obstacle_barriers(obstacles)
        assignment = assign_around_obstacles(walls, context.points, sites, progress)
        diagnostics = {
            "obstacles": len(obstacles),
            "changed_regions": int(assignment.changed.sum()),
            "changed_percent": 100 * float(assignment.changed.mean()),
            "moved_regions": int(assignment.moved.sum()),
            "moved_sites": int(assignment.moved_sites.sum()),
            "enclosed_regions": int(assignment.enclosed.sum()),
        }
        remarks = tuple(_remarks(int(assignment.moved.sum()), int(assignment.enclosed.sum())))
        return ConstructionResult(
            assignment.owner, {self.metadata.name: diagnostics}, remarks, assignment.changed
        )


_NO_FILE = Finding(
    "no-obstacles",
    "No obstacle file is given: the construction “Obstacles” makes the same regions as “Voronoi”.",
    "Name files with --obstacles, or in Input under “Reading options”, or choose another construction.",
    severity=Severity.WARNING,
)


def _remarks(moved: int, enclosed: int) -> Iterator[Finding]:
    if moved:
        yield Finding(
            "inside-obstacles",
            f"The points of {format_count(moved, 'initial region')} lie inside obstacles; ways begin at the "
            "nearest edge.",
            severity=Severity.WARNING,
        )
    if enclosed:
        yield Finding(
            "enclosed",
            f"{format_count(enclosed, 'initial region is', 'initial regions are')} cut off from every site by "
            "obstacles; "
            "each such area went to the owner across the shortest gap.",
            severity=Severity.WARNING,
        )

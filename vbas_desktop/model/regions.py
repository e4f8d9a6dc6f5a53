"""The initial regions: ids, points, polygons where the file has them, and their coordinate system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .findings import Finding
from .records import SourceFile, as_readonly
from .text import list_names

LARGEST_NUMBER = 1e15
"""Numbers of people, weights and the like are not larger; sums of them stay exact."""


class CoordinateKind(StrEnum):
    """The interpretation of the coordinates of the file (``auto`` is decided before anything is computed)."""

    PLANAR = "planar"
    DEGREES = "degrees"
    GEOGRAPHIC = "geographic"


@dataclass(frozen=True)
class CoordinateSystem:
    """The system that ``Regions.points`` and ``polygons`` are in.

    ``definition`` is anything pyproj reads (an EPSG code or WKT) or None for a plane of unknown place; with ``DEGREES``
    x is the latitude and y the longitude, as the thesis computed. ``unit`` is ``m``, ``degree`` or ``unit``.
    """

    kind: CoordinateKind
    definition: str | None = None
    unit: str = "unit"


@dataclass(frozen=True, eq=False)
class Obstacles:
    """Areas such as lakes, and lines such as rivers, that ways must go around, in the coordinates of the regions.

    ``names`` are empty where the files have none.
    """

    shapes: NDArray[np.object_]
    names: tuple[str, ...]
    sources: tuple[SourceFile, ...]

    def __len__(self) -> int:
        return len(self.shapes)


@dataclass(frozen=True, eq=False)
class CrosswalkPartition:
    """The aggregated regions that a crosswalk lists: ``region[i]`` is the number of initial region i's, ``codes`` are
    what the crosswalk calls them.
    """

    region: NDArray[np.int32]
    codes: tuple[str, ...]
    source: SourceFile

    def part(self, members: NDArray[np.intp]) -> CrosswalkPartition:
        """Return the partition of some of the initial regions, in this order; the numbers stay."""
        return replace(self, region=as_readonly(self.region[members]))


@dataclass(frozen=True, eq=False)
class RegionMap:
    """The regions of the region file for which the ids of the records stand.

    ``targets`` has for each id of the records the ids of the region file with their shares, in the order of the file;
    the shares of an id add up to 1. An id that is not listed stands for the region of the same id.
    """

    targets: Mapping[str, tuple[tuple[str, Fraction], ...]]
    source: SourceFile


@dataclass(frozen=True, eq=False)
class Regions:
    """All initial regions in file order.

    ``points`` (r, 2) and ``polygons`` (shapely geometries, or None where a region has none) are in ``system``: the
    coordinates that everything is computed in. ``names`` are readable names where the file has them. ``labels`` are the
    file's other columns in which regions share values, such as their county: places that they lie in. ``numbers`` are
    the columns with a number, 0 or more, for every region, such as their population. ``columns`` are all columns but
    coordinates, as text. ``earlier`` says what regions were merged to in an earlier release, ``mapping`` which regions
    the ids of the records stand for (None: those of the same id). ``whole``: these are a part of other regions, and
    which of them.
    """

    ids: tuple[str, ...]
    points: NDArray[np.float64]
    system: CoordinateSystem
    polygons: NDArray[np.object_] | None = None
    source: SourceFile | None = None
    names: tuple[str, ...] | None = None
    findings: tuple[Finding, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    obstacles: Obstacles | None = None
    earlier: CrosswalkPartition | None = None
    mapping: RegionMap | None = None
    whole: tuple[Regions, NDArray[np.intp]] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def find_missing_column(self, code: str, column: str) -> Finding | None:
        """Return the finding that the file has no such column; None if it has, or if its columns are not known."""
        if not self.columns or column in {*self.columns, *self.labels, *self.numbers}:
            return None
        file = None if self.source is None else self.source.path
        message = f"The region file has no column “{column}” apart from coordinates."
        return Finding(code, message, list_names(list(self.columns)), file=file)

    def part(self, members: NDArray[np.intp]) -> Regions:
        """Return some of the regions, in this order."""
        chosen = members.tolist()
        return replace(
            self,
            ids=tuple(self.ids[i] for i in chosen),
            points=as_readonly(self.points[members]),
            polygons=None if self.polygons is None else as_readonly(self.polygons[members]),
            names=None if self.names is None else tuple(self.names[i] for i in chosen),
            labels={name: tuple(values[i] for i in chosen) for name, values in self.labels.items()},
            columns={name: tuple(values[i] for i in chosen) for name, values in self.columns.items()},
            numbers={name: as_readonly(values[members]) for name, values in self.numbers.items()},
            earlier=None if self.earlier is None else self.earlier.part(members),
            findings=(),
            whole=(self, members),
        )

"""Davies–Bouldin of a release: how wide its classes are in the original values, against the distance between them.

d_M = Σ d^h · w_q · G over the quasi-identifiers: d^h is the distance of an original value to the centre of its
released class, w_q the weight of the column, and G how far up its hierarchy the value was raised (1 where it was
replaced), so that what was left as it is costs nothing. Centres are compared without G.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from vbas_desktop.algorithms.indices import DaviesBouldin, of_rows
from vbas_desktop.model.records import finite_number

from .class_distances import smallest_distance
from .classes import Classes
from .distance_tables import Distance, DistanceTable
from .hierarchy import Hierarchy
from .pairing import Pairing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_WORK = 4_000_000_000
"""Single differences up to which the index is computed: the time grows with the square of the released classes."""

_CELLS = 2_000_000
_SAME = 1e-9
"""Means of the same values differ in their last digits; such centres are one."""


@dataclass(frozen=True, eq=False)
class _Column:
    """One quasi-identifier of the common records: the distance of each cell to its centre, and what centres are.

    ``centres`` are coordinates whose city-block distance counts, or rows of ``table``.
    """

    within: Floats
    centres: NDArray[np.generic]
    table: Floats | None = None

    @property
    def width(self) -> int:
        """Differences that one distance takes."""
        return 1 if self.table is not None else int(self.centres.shape[1])

    def between(self, rows: slice) -> Floats:
        """Distances of some centres to all."""
        if self.table is not None:
            return np.asarray(self.table[self.centres[rows]][:, self.centres])
        return np.asarray(cdist(self.centres[rows], self.centres, "cityblock"))


@dataclass(frozen=True, eq=False)
class Separation:
    """The index, and the largest (S_i + S_j)/D_ij of each released class with the class j that it is reached with.

    Classes without a ratio are missing: they have no common records, or no other class has another centre.
    """

    index: DaviesBouldin
    ratios: Mapping[int, tuple[float, int]] = field(default_factory=dict)


def davies_bouldin_of(
    paired: Pairing, hierarchies: Sequence[Hierarchy], weights: Floats, distance: Distance
) -> DaviesBouldin:
    """Compute the index over the released classes that have common records."""
    return separation_of(paired, hierarchies, weights, distance).index


def separation_of(paired: Pairing, hierarchies: Sequence[Hierarchy], weights: Floats, distance: Distance) -> Separation:
    """Compute the index over the released classes that have common records, and the part of each class."""
    used, group = np.unique(paired.cell_released, return_inverse=True)
    records = paired.cell_records
    moved = np.zeros(len(records))
    columns = []
    for q, hierarchy in enumerate(hierarchies):
        values = [label[q] for label in paired.original.labels]
        cells = [values[number] for number in paired.cell_original]
        released = [paired.released.labels[number][q] for number in used]
        column = _column(cells, group, records, released, distance, q)
        columns.append(column)
        moved += weights[q] * paired.climbed(q, hierarchy) * column.within
    if used.size**2 * sum(column.width for column in columns) > MOST_WORK:
        return Separation(DaviesBouldin(None, 0, reason="there are too many classes"))
    spread = _root_mean_square(moved, group, records, used.size)
    largest, partner, coinciding = _over_rows(columns, weights, spread)
    usable = np.flatnonzero(largest > -np.inf)
    ratios = {int(used[row]): (float(largest[row]), int(used[partner[row]])) for row in usable}
    return Separation(of_rows(largest, coinciding), ratios)


def worst_of_file(original: Classes, weights: Floats, distance: Distance) -> float | None:
    """Compute the worst case 2 · S / D of a file, the same for all its releases.

    S is the root mean square distance of all records to the centre of the file, D the smallest positive distance
    between two classes. None if all classes are at the same place, or if there are too many to find D.
    """
    sizes = original.sizes
    whole = np.zeros(sizes.size, np.intp)
    from_centre = np.zeros(sizes.size)
    for q in range(len(original.columns)):
        values = [label[q] for label in original.labels]
        from_centre += weights[q] * _column(values, whole, sizes, [None], distance, q).within
    spread = float(_root_mean_square(from_centre, whole, sizes, 1)[0])
    nearest = smallest_distance(original.labels, weights, distance)
    return 2.0 * spread / nearest if nearest else None


def _over_rows(columns: Sequence[_Column], weights: Floats, spread: Floats) -> tuple[Floats, NDArray[np.intp], int]:
    """Compute the largest ratio of each class, the class it is reached with, and the pairs with the same centre."""
    number = spread.size
    largest = np.full(number, -np.inf)
    partner = np.zeros(number, np.intp)
    coinciding, step = 0, max(1, _CELLS // number)
    for start in range(0, number, step):
        rows = slice(start, min(start + step, number))
        between = sum(
            (weight * column.between(rows) for weight, column in zip(weights, columns, strict=True)),
            start=np.zeros((rows.stop - rows.start, number)),
        )
        between[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = 0.0
        apart = between > _SAME
        coinciding += int(np.count_nonzero(~apart)) - (rows.stop - rows.start)
        far = np.where(apart, between, np.inf)
        ratios = np.where(apart, (spread[rows, None] + spread[None, :]) / far, -np.inf)
        partner[rows] = ratios.argmax(axis=1)
        largest[rows] = ratios.max(axis=1)
    return largest, partner, coinciding // 2


def _root_mean_square(distances: Floats, group: NDArray[np.intp], records: Ints, number: int) -> Floats:
    totals = np.bincount(group, records, minlength=number)
    return np.sqrt(np.bincount(group, records * distances**2, minlength=number) / np.where(totals > 0, totals, 1))


def _column(
    cells: Sequence[str],
    group: NDArray[np.intp],
    records: Ints,
    released: Sequence[str | None],
    distance: Distance,
    q: int,
) -> _Column:
    """``cells``: the original value of each cell; ``released``: the released value of each group."""
    if q in distance.tables:
        return _by_table(cells, group, records, released, distance.tables[q])
    totals = np.bincount(group, records).astype(np.float64)
    width = distance.ranges[q]
    if width is not None:
        numbers = np.array([finite_number(value) for value in cells], float) / (width or 1.0)
        centres = np.bincount(group, records * numbers) / totals
        return _Column(np.abs(numbers - centres[group]), centres[:, None])
    # Half the city-block distance of shares is 1 − the share of the value itself.
    _, code = np.unique(np.array(cells), return_inverse=True)
    shares = _shares(group, code, records, totals)
    return _Column(1.0 - shares[group, code], 0.5 * shares)


def _shares(group: NDArray[np.intp], code: NDArray[np.intp], records: Ints, totals: Floats) -> Floats:
    shares = np.zeros((totals.size, int(code.max(initial=0)) + 1))
    np.add.at(shares, (group, code), records)
    return shares / totals[:, None]


def _by_table(
    cells: Sequence[str], group: NDArray[np.intp], records: Ints, released: Sequence[str | None], table: DistanceTable
) -> _Column:
    """The centre is the released value where the table lists it, else the original value nearest to all records."""
    code = np.array([table.places[value] for value in cells])
    counts = np.zeros((len(released), len(table.values)))
    np.add.at(counts, (group, code), records)
    cost = np.where(counts > 0, counts @ table.distances, np.inf)
    centre = np.argmin(cost, axis=1)
    for place, value in enumerate(released):
        if value is not None:
            centre[place] = table.places.get(value, centre[place])
    return _Column(table.distances[code, centre[group]], centre, table.distances)

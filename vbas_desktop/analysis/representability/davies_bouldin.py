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

from vbas_desktop.algorithms.nearest_class import DistanceColumn
from vbas_desktop.algorithms.validity_indices import DaviesBouldin, summarise_ratios
from vbas_desktop.model.records import finite_number

from .distances import ClassDistance, DistanceTable
from .hierarchy import Hierarchy
from .record_classes import ClassLabel, RecordClasses
from .record_matching import RecordMatching

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_DIFFERENCES = 4_000_000_000
"""Single differences up to which the index is computed: the time grows with the square of the released classes."""

MAX_COMPARISONS = 2_000_000_000
"""Pairs of original classes, times columns, up to which all pairs are compared for the smallest distance."""

_DISTANCES_PER_BLOCK = 2_000_000

_SAME_CENTRE = 1e-9
"""Means of the same values differ in their last digits; such centres are one."""

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class _ColumnCentres:
    """One quasi-identifier of the common records: the distance of each cell to its centre, and the centres.

    ``centres`` are coordinates whose city-block distance counts, or rows of ``table``.
    """

    within: Floats
    centres: NDArray[np.generic]
    table: Floats | None = None

    @property
    def width(self) -> int:
        """Number of differences that one distance takes."""
        return 1 if self.table is not None else int(self.centres.shape[1])

    def measure(self, rows: slice) -> Floats:
        """Measure the distances of some centres to all."""
        if self.table is not None:
            return np.asarray(self.table[self.centres[rows]][:, self.centres])
        return np.asarray(cdist(self.centres[rows], self.centres, "cityblock"))


@dataclass(frozen=True, eq=False)
class ClassSeparation:
    """The index, and the largest (S_i + S_j)/D_ij of each released class with the class j that it is reached with.

    Classes without a ratio are missing: they have no common records, or no other class has another centre.
    """

    index: DaviesBouldin
    ratios: Mapping[int, tuple[float, int]] = field(default_factory=dict)


def compute_davies_bouldin(
    matching: RecordMatching, hierarchies: Sequence[Hierarchy], distance: ClassDistance
) -> DaviesBouldin:
    """Compute the index over the released classes that have common records."""
    return compute_class_separation(matching, hierarchies, distance).index


def compute_class_separation(
    matching: RecordMatching, hierarchies: Sequence[Hierarchy], distance: ClassDistance
) -> ClassSeparation:
    """Compute the index over the released classes that have common records, and the part of each class."""
    used, group = np.unique(matching.cell_released, return_inverse=True)
    records = matching.cell_records
    displacement = np.zeros(len(records))
    columns = []
    for q, hierarchy in enumerate(hierarchies):
        original = [matching.original.labels[number][q] for number in matching.cell_original]
        released = [matching.released.labels[number][q] for number in used]
        column = _measure_column(original, group, records, released, distance, q)
        columns.append(column)
        displacement += (
            distance.weights[q] * matching.compute_generalisation(q, hierarchy) * column.within
        )
    if used.size**2 * sum(column.width for column in columns) > MAX_DIFFERENCES:
        return ClassSeparation(DaviesBouldin(None, 0, reason="there are too many classes"))
    spread = _compute_root_mean_square(displacement, group, records, used.size)
    largest, partner, coinciding = _compute_largest_ratios(columns, distance.weights, spread)
    usable = np.flatnonzero(largest > -np.inf)
    ratios = {int(used[row]): (float(largest[row]), int(used[partner[row]])) for row in usable}
    return ClassSeparation(summarise_ratios(largest, coinciding), ratios)


def compute_worst_case(original: RecordClasses, distance: ClassDistance) -> float | None:
    """Compute the worst case 2 · S / D of a file, the same for all its releases.

    S is the root mean square distance of all records to the centre of the file, D the smallest positive distance
    between two classes. None if all classes are at the same place, or if there are too many to find D.
    """
    sizes = original.sizes
    one_group = np.zeros(sizes.size, np.intp)
    displacement = np.zeros(sizes.size)
    for q in range(len(original.columns)):
        values = [label[q] for label in original.labels]
        displacement += (
            distance.weights[q] * _measure_column(values, one_group, sizes, [None], distance, q).within
        )
    spread = float(_compute_root_mean_square(displacement, one_group, sizes, 1)[0])
    smallest = find_smallest_distance(original.labels, distance)
    return 2.0 * spread / smallest if smallest else None


def _compute_largest_ratios(
    columns: Sequence[_ColumnCentres], weights: Sequence[float], spread: Floats
) -> tuple[Floats, NDArray[np.intp], int]:
    """Compute the largest ratio of each class, the class it is reached with, and the pairs with the same centre."""
    n_classes = spread.size
    largest = np.full(n_classes, -np.inf)
    partner = np.zeros(n_classes, np.intp)
    coinciding = 0
    step = max(1, _DISTANCES_PER_BLOCK // n_classes)
    for start in range(0, n_classes, step):
        rows = slice(start, min(start + step, n_classes))
        n_rows = rows.stop - rows.start
        distances = np.zeros((n_rows, n_classes))
        for weight, column in zip(weights, columns, strict=True):
            distances += weight * column.measure(rows)
        distances[np.arange(n_rows), np.arange(rows.start, rows.stop)] = 0.0
        is_apart = distances > _SAME_CENTRE
        coinciding += int(np.count_nonzero(~is_apart)) - n_rows
        divisors = np.where(is_apart, distances, np.inf)
        ratios = np.where(is_apart, (spread[rows, None] + spread[None, :]) / divisors, -np.inf)
        partner[rows] = ratios.argmax(axis=1)
        largest[rows] = ratios.max(axis=1)
    return largest, partner, coinciding // 2


def _compute_root_mean_square(
    distances: Floats, group: NDArray[np.intp], records: Ints, n_groups: int
) -> Floats:
    """Compute the root mean square of the distances in each group, weighted by records; 0 without records."""
    totals = np.bincount(group, records, minlength=n_groups)
    squares = np.bincount(group, records * distances**2, minlength=n_groups)
    return np.sqrt(squares / np.where(totals > 0, totals, 1))


def _measure_column(
    values: Sequence[str],
    group: NDArray[np.intp],
    records: Ints,
    released: Sequence[str | None],
    distance: ClassDistance,
    q: int,
) -> _ColumnCentres:
    """Find the centres of the groups in column q, and the distance of each cell to that of its group.

    ``values``, ``group`` and ``records`` are those of the cells, ``released`` the released value of each group.
    """
    if q in distance.tables:
        return _measure_by_table(values, group, records, released, distance.tables[q])
    totals = np.bincount(group, records).astype(np.float64)
    width = distance.ranges[q]
    if width is not None:
        numbers = np.array([finite_number(value) for value in values], float) / (width or 1.0)
        centres = np.bincount(group, records * numbers) / totals
        return _ColumnCentres(np.abs(numbers - centres[group]), centres[:, None])
    # Half the city-block distance of shares is 1 − the share of the value itself.
    _, codes = np.unique(np.array(values), return_inverse=True)
    shares = np.zeros((totals.size, int(codes.max(initial=0)) + 1))
    np.add.at(shares, (group, codes), records)
    shares /= totals[:, None]
    return _ColumnCentres(1.0 - shares[group, codes], 0.5 * shares)


def _measure_by_table(
    values: Sequence[str],
    group: NDArray[np.intp],
    records: Ints,
    released: Sequence[str | None],
    table: DistanceTable,
) -> _ColumnCentres:
    """Measure a column whose distances are given by a table.

    The centre is the released value where the table lists it, else the original value nearest to all records.
    """
    codes = np.array([table.row_of[value] for value in values])
    counts = np.zeros((len(released), len(table.values)))
    np.add.at(counts, (group, codes), records)
    costs = np.where(counts > 0, counts @ table.distances, np.inf)
    centres = np.argmin(costs, axis=1)
    for number, value in enumerate(released):
        if value is not None:
            centres[number] = table.row_of.get(value, centres[number])
    return _ColumnCentres(table.distances[codes, centres[group]], centres, table.distances)


def find_smallest_distance(labels: Sequence[ClassLabel], distance: ClassDistance) -> float | None:
    """Find the smallest positive distance between two classes; None if there is none, or too many pairs to compare.

    First, classes that differ in one column only are compared: no pair is nearer than the smallest step of a column, so
    if that is reached, it is the answer. Otherwise all pairs are compared. O(n log n), or O(n²) for n classes.
    """
    columns = distance.code_columns(labels)
    smallest_step = min(_find_smallest_step(column) for column in columns)
    if not np.isfinite(smallest_step):
        return None
    smallest = _search_neighbours(columns)
    if smallest <= smallest_step * (1.0 + _ROUNDING):
        return smallest
    if len(labels) ** 2 * len(columns) > MAX_COMPARISONS:
        return None
    smallest = min(smallest, _search_all_pairs(columns))
    return smallest if np.isfinite(smallest) else None


def _find_smallest_step(column: DistanceColumn) -> float:
    """Find the smallest positive distance of two values; infinite if all are alike."""
    used = np.unique(column.values)
    if column.table is None:
        steps = column.measure(used[:-1], used[1:])
    else:
        steps = column.measure(used[:, None], used[None, :])
    return float(steps[steps > 0].min(initial=np.inf))


def _search_neighbours(columns: Sequence[DistanceColumn]) -> float:
    """Find the smallest positive distance of classes that follow each other when sorted, by each column last."""
    smallest = np.inf
    for last in columns:
        keys = [last.values, *(column.values for column in columns if column is not last)]
        order = np.lexsort(keys)
        smallest = min(smallest, _find_smallest_positive(columns, order[:-1], order[1:]))
    return float(smallest)


def _search_all_pairs(columns: Sequence[DistanceColumn]) -> float:
    """Find the smallest positive distance of all pairs of classes, some rows at a time."""
    smallest = np.inf
    numbers = np.arange(columns[0].values.size)
    step = max(1, _DISTANCES_PER_BLOCK // numbers.size)
    for start in range(0, numbers.size, step):
        rows = numbers[start : start + step, None]
        smallest = min(smallest, _find_smallest_positive(columns, rows, numbers[None, start:]))
    return float(smallest)


def _find_smallest_positive(
    columns: Sequence[DistanceColumn], first: NDArray[np.intp], second: NDArray[np.intp]
) -> float:
    total = sum(column.measure(column.values[first], column.values[second]) for column in columns)
    distances = np.asarray(total)
    return float(distances[distances > 0].min(initial=np.inf))

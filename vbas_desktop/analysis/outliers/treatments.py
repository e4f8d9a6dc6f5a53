"""Ways to treat k-outliers: delete, generalise, merge or fabricate. Declared like approaches."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.algorithms.nearest_class import NearestClasses
from vbas_desktop.approaches.interface import Approach, Metadata, option
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.text import format_count

from ..representability.distances import ClassDistance
from ..representability.elements import is_reportable
from ..representability.hierarchy import Hierarchy
from ..representability.record_classes import ClassLabel, RecordClasses, find_outliers
from .generalisation import (
    CodedClasses,
    generalise_everywhere,
    generalise_outliers,
    generalise_with_closest,
)


@dataclass(frozen=True, eq=False)
class TreatmentResult:
    """New label of each original class (None: deleted), and the number of records that are made up by new label."""

    labels: tuple[ClassLabel | None, ...]
    fabricated: Mapping[ClassLabel, int]


@dataclass(frozen=True, eq=False)
class TreatmentContext:
    """View of a file that treatments get: its classes, k, the hierarchy of each column, and the distance of classes."""

    classes: RecordClasses
    k: int
    hierarchies: Mapping[str, Hierarchy]
    distance: ClassDistance

    def require_records(self) -> None:
        """Raise `InputError` if the file has fewer than k records: then some class stays below k."""
        if self.classes.records < self.k:
            message = f"The file has only {format_count(self.classes.records, 'record')}, fewer than k = {self.k}."
            raise InputError(Finding("too-few-records", message, "Choose a smaller k."))


class OutlierTreatment(Approach):
    """A way to treat k-outliers. ``reasons`` speak for it (source 002, Table 5.7)."""

    component: ClassVar[str] = "outlier_handling"
    reasons: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def treat(self, context: TreatmentContext, progress: Progress = NO_PROGRESS) -> TreatmentResult:
        """Decide what becomes of each class so that no k-outlier is left. Raises `InputError` if that cannot be."""


class DeleteOutliers(OutlierTreatment):
    """Leaves the records of k-outliers out; refused if too few records would remain."""

    metadata: ClassVar[Metadata] = Metadata(
        name="delete",
        title="Delete",
        summary="Leaves the records of small classes out.",
        when="When few records are concerned and none of them is of special interest.",
        order=10,
    )
    reasons: ClassVar[tuple[str, ...]] = (
        "There are few small classes, with few records, further away than large classes are from each other.",
        "Records are taken out anyway because of their sensitive values.",
        "Nobody needs these classes.",
    )
    smallest_sample: int = option(
        1, label="Smallest sample", help="Refuse if fewer records would remain.", ge=0
    )

    def treat(self, context: TreatmentContext, progress: Progress = NO_PROGRESS) -> TreatmentResult:
        """Delete every outlier."""
        classes = context.classes
        outliers = set(find_outliers(classes, context.k).tolist())
        n_deleted = int(classes.sizes[sorted(outliers)].sum()) if outliers else 0
        n_left = classes.records - n_deleted
        if n_left < self.smallest_sample:
            # How many remain tells how many are deleted.
            number = f"Only {n_left:,}" if is_reportable((n_deleted,), context.k) else "Not enough"
            message = f"{number} records would remain, fewer than {self.smallest_sample:,}."
            raise InputError(Finding("smallest-sample", message, "Choose another way, or a smaller k."))
        labels = tuple(
            None if number in outliers else label for number, label in enumerate(classes.labels)
        )
        return TreatmentResult(labels, {})


class GeneraliseOutliers(OutlierTreatment):
    """Raises values in their hierarchies: in the whole file, or only where classes are small.

    Notes
    -----
    ``everywhere``: of all combinations of levels without outliers the one with the least loss (Σ of the shares of the
    hierarchies climbed; ties: lower levels of earlier columns). Otherwise only outliers climb, the column with the
    smallest share next; groups of k or more take their lowest common levels. Those that would be at the top and still
    be too few are generalised with the semantically closest conforming class, both to their lowest common levels.
    ``with_closest``: every outlier is generalised with the closest conforming class at once.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="generalise",
        title="Generalise",
        summary="Raises values to a coarser level of their hierarchy.",
        when="When coarser categories still answer the question.",
        order=20,
    )
    reasons: ClassVar[tuple[str, ...]] = (
        "The number of records must stay the same.",
        "There are many small classes.",
        "The small classes are near each other.",
    )
    everywhere: bool = option(
        False, label="In the whole file", help="Raise a column in every record or in none."
    )
    with_closest: bool = option(
        False,
        label="With the closest class",
        help="Raise each small class together with the closest class of k or more, not small classes among themselves.",
        enabled_when=("everywhere", lambda everywhere: not everywhere),
    )

    def treat(self, context: TreatmentContext, progress: Progress = NO_PROGRESS) -> TreatmentResult:
        """Generalise until no outlier is left."""
        context.require_records()
        classes = context.classes
        coded = CodedClasses.of_classes(
            classes, [context.hierarchies[column] for column in classes.columns]
        )
        if self.everywhere:
            levels = generalise_everywhere(coded, context.k, progress)
        else:
            columns = context.distance.code_columns(classes.labels)
            generalise = generalise_with_closest if self.with_closest else generalise_outliers
            levels = generalise(coded, context.k, columns, progress)
        return TreatmentResult(coded.labels_of(coded.codes_on(levels)), {})


class MergeOutliers(OutlierTreatment):
    """The smallest outlier takes the values of the nearest class, again and again.

    Notes
    -----
    Of several smallest outliers the first of the file is next; of several nearest classes the larger one is taken, then
    the one whose values come first when sorted.
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="merge",
        title="Merge",
        summary="Gives the records of a small class the values of the nearest class.",
        when="When no record may be lost and small shifts are harmless.",
        order=30,
    )
    reasons: ClassVar[tuple[str, ...]] = (
        "The number of records must stay the same.",
        "There are few small classes.",
        "The small classes are near other classes.",
    )

    def treat(self, context: TreatmentContext, progress: Progress = NO_PROGRESS) -> TreatmentResult:
        """Merge until no outlier is left."""
        context.require_records()
        classes = context.classes
        k = context.k
        sizes = classes.sizes.tolist()
        n_classes = len(sizes)
        ranks = np.empty(n_classes, np.int64)
        ranks[sorted(range(n_classes), key=classes.labels.__getitem__)] = np.arange(n_classes)
        columns = context.distance.code_columns(classes.labels)
        index = NearestClasses(columns, classes.sizes, ranks, np.arange(n_classes))
        host = list(range(n_classes))
        queue = [(size, number) for number, size in enumerate(sizes) if size < k]
        heapq.heapify(queue)
        n_small = max(1, len(queue))
        while queue:
            progress.update("Merging small classes", 1 - len(queue) / n_small)
            size, smallest = heapq.heappop(queue)
            if size != sizes[smallest]:
                # It has grown since, and is in the queue with its present size if that is below k.
                continue
            nearest = index.find_nearest(smallest)
            host[smallest] = nearest
            index.remove(smallest)
            index.grow(nearest, size)
            sizes[nearest] += size
            if sizes[nearest] < k:
                heapq.heappush(queue, (sizes[nearest], nearest))
        labels = tuple(classes.labels[_find_last_host(host, number)] for number in range(n_classes))
        return TreatmentResult(labels, {})


def _find_last_host(host: list[int], number: int) -> int:
    """Follow a class to the one whose values it has in the end, and shorten the way for the next time."""
    last = number
    while host[last] != last:
        last = host[last]
    while host[number] != last:
        following = host[number]
        host[number] = last
        number = following
    return last


class FabricateRecords(OutlierTreatment):
    """Adds flagged records to each outlier until it has k; their sensitive values never come from the outlier."""

    metadata: ClassVar[Metadata] = Metadata(
        name="fabricate",
        title="Fabricate",
        summary="Adds flagged, made-up records to small classes.",
        when="When every value must stay as it is and made-up records can be told apart.",
        order=40,
    )
    reasons: ClassVar[tuple[str, ...]] = (
        "There are few small classes.",
        "They lack few records.",
        "It matters more to have all records with their own values than to have no record of nobody.",
    )

    def treat(self, context: TreatmentContext, progress: Progress = NO_PROGRESS) -> TreatmentResult:
        """Add to each outlier the records that it lacks."""
        classes = context.classes
        sizes = classes.sizes
        outliers = find_outliers(classes, context.k)
        fabricated = {classes.labels[number]: int(context.k - sizes[number]) for number in outliers}
        return TreatmentResult(tuple(classes.labels), fabricated)


def list_treatments() -> dict[str, type[OutlierTreatment]]:
    """List all ways to treat outliers by name, in the order of menus."""
    kinds = (DeleteOutliers, GeneraliseOutliers, MergeOutliers, FabricateRecords)
    return {kind.metadata.name: kind for kind in kinds}

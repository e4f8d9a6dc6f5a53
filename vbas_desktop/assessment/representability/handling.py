"""What can be done about k-outliers: delete, generalise, merge or fabricate. Declared like approaches."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vbas_desktop.algorithms.nearest_class import NearestClasses
from vbas_desktop.approaches.base import Approach, Card, parameter
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.words import counted

from .classes import Classes, Label, outliers
from .coded_classes import CodedClasses, distance_columns
from .distance_tables import Distance
from .generalising import generalise_everywhere, generalise_outliers, generalise_with_closest
from .hierarchy import Hierarchy
from .words import may_tell


@dataclass(frozen=True, eq=False)
class Handled:
    """What becomes of each original class: its new label (None: deleted), and how many records are made up for it."""

    labels: tuple[Label | None, ...]
    added: Mapping[Label, int]


@dataclass(frozen=True)
class Handling(Approach):
    """A way to handle k-outliers. ``reasons`` speak for it (source 002, Table 5.7)."""

    component: ClassVar[str] = "outlier_handling"
    reasons: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def handle(
        self,
        classes: Classes,
        k: int,
        hierarchies: Mapping[str, Hierarchy],
        distance: Distance,
        progress: Progress = SILENT,
    ) -> Handled:
        """What becomes of each class so that no k-outlier is left."""


@dataclass(frozen=True)
class Delete(Handling):
    """Leaves the records of k-outliers out; refused if too few records would remain."""

    card: ClassVar[Card] = Card(
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
    smallest_sample: int = parameter(1, label="Smallest sample", help="Refuse if fewer records would remain.", low=0)

    def handle(
        self,
        classes: Classes,
        k: int,
        hierarchies: Mapping[str, Hierarchy],
        distance: Distance,
        progress: Progress = SILENT,
    ) -> Handled:
        """Delete every outlier."""
        small = set(outliers(classes, k).tolist())
        left = classes.records - int(classes.sizes[sorted(small)].sum()) if small else classes.records
        if left < self.smallest_sample:
            # How many remain tells how many are deleted.
            many = f"Only {left:,}" if may_tell((classes.records - left,), k) else "Not enough"
            message = f"{many} records would remain, fewer than {self.smallest_sample:,}."
            raise InputError(Finding("smallest-sample", message, "Choose another way, or a smaller k."))
        return Handled(tuple(None if c in small else label for c, label in enumerate(classes.labels)), {})


@dataclass(frozen=True)
class Generalise(Handling):
    """Raises values in their hierarchies: in the whole file, or only where classes are small.

    Notes
    -----
    ``everywhere``: of all combinations of levels without outliers the one with the least loss (Σ of the shares of the
    hierarchies climbed; ties: lower levels of earlier columns). Otherwise only outliers climb, the column with the
    smallest share next; groups of k or more take their lowest common levels. Those that would be at the top and still
    be too few are generalised with the semantically closest conforming class, both to their lowest common levels.
    ``with_closest``: every outlier is generalised with the closest conforming class at once.
    """

    card: ClassVar[Card] = Card(
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
    everywhere: bool = parameter(False, label="In the whole file", help="Raise a column in every record or in none.")
    with_closest: bool = parameter(
        False,
        label="With the closest class",
        help="Raise each small class together with the closest class of k or more, not small classes among themselves.",
        only_with=("everywhere", False),
    )

    def handle(
        self,
        classes: Classes,
        k: int,
        hierarchies: Mapping[str, Hierarchy],
        distance: Distance,
        progress: Progress = SILENT,
    ) -> Handled:
        """Generalise until no outlier is left."""
        if classes.records < k:
            raise _too_few_records(classes, k)
        coded = CodedClasses.of_classes(classes, [hierarchies[column] for column in classes.columns])
        if self.everywhere:
            levels = generalise_everywhere(coded, k, progress)
        elif self.with_closest:
            levels = generalise_with_closest(coded, k, classes, distance, progress)
        else:
            levels = generalise_outliers(coded, k, classes, distance, progress)
        return Handled(coded.labels_of(coded.codes_on(levels)), {})


@dataclass(frozen=True)
class Merge(Handling):
    """The smallest outlier takes the values of the nearest class, again and again.

    Notes
    -----
    Of several smallest outliers the first of the file is next; of several nearest classes the larger one is taken, then
    the one whose values come first when sorted.
    """

    card: ClassVar[Card] = Card(
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

    def handle(
        self,
        classes: Classes,
        k: int,
        hierarchies: Mapping[str, Hierarchy],
        distance: Distance,
        progress: Progress = SILENT,
    ) -> Handled:
        """Merge until no outlier is left."""
        if classes.records < k:
            raise _too_few_records(classes, k)
        sizes = classes.sizes.tolist()
        number = len(sizes)
        ranks = np.empty(number, np.int64)
        ranks[sorted(range(number), key=classes.labels.__getitem__)] = np.arange(number)
        index = NearestClasses(distance_columns(classes.labels, distance), classes.sizes, ranks, np.arange(number))
        host = list(range(number))
        waiting = [(size, c) for c, size in enumerate(sizes) if size < k]
        heapq.heapify(waiting)
        n_small = max(1, len(waiting))
        while waiting:
            progress.update("Merging small classes", 1 - len(waiting) / n_small)
            size, smallest = heapq.heappop(waiting)
            if size != sizes[smallest]:
                # It has grown since, and is in the queue with its present size if that is below k.
                continue
            nearest = index.find_nearest(smallest)
            host[smallest] = nearest
            index.remove(smallest)
            index.grow(nearest, size)
            sizes[nearest] += size
            if sizes[nearest] < k:
                heapq.heappush(waiting, (sizes[nearest], nearest))
        for c in range(number):
            host[c] = _last_host(host, c)
        return Handled(tuple(classes.labels[c] for c in host), {})


def _last_host(host: list[int], number: int) -> int:
    """Follow a class to the one whose values it has in the end, and shorten the way for the next time."""
    last = number
    while host[last] != last:
        last = host[last]
    while host[number] != last:
        host[number], number = last, host[number]
    return last


@dataclass(frozen=True)
class Fabricate(Handling):
    """Adds flagged records to each outlier until it has k; their sensitive values never come from the outlier."""

    card: ClassVar[Card] = Card(
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

    def handle(
        self,
        classes: Classes,
        k: int,
        hierarchies: Mapping[str, Hierarchy],
        distance: Distance,
        progress: Progress = SILENT,
    ) -> Handled:
        """Add what is missing to k."""
        sizes = classes.sizes
        added = {classes.labels[c]: int(k - sizes[c]) for c in outliers(classes, k)}
        return Handled(tuple(classes.labels), added)


def handlings() -> dict[str, type[Handling]]:
    """All ways to handle outliers, in menu order."""
    return {kind.card.name: kind for kind in (Delete, Generalise, Merge, Fabricate)}


def _too_few_records(classes: Classes, k: int) -> InputError:
    message = f"The file has only {counted(classes.records, 'record')}, fewer than k = {k}."
    return InputError(Finding("too-few-records", message, "Choose a smaller k."))

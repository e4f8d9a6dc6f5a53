"""What can be done about k-outliers: delete, generalise, merge or fabricate. Declared like approaches."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.base import Approach, Card, parameter
from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.words import counted

from .classes import Classes, Label, outliers
from .distance_tables import Distance
from .hierarchy import Hierarchy
from .words import may_tell


@dataclass(frozen=True, eq=False)
class Handled:
    """What becomes of each original class: its new label (None: deleted), and how many records are made up for it."""

    labels: tuple[Label | None, ...]
    added: Mapping[Label, int]


@dataclass(frozen=True)
class Handling(Approach):
    """A way to handle k-outliers."""

    component: ClassVar[str] = "outlier_handling"

    @abstractmethod
    def handle(self, classes: Classes, k: int, hierarchies: Mapping[str, Hierarchy], distance: Distance) -> Handled:
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
    smallest_sample: int = parameter(1, label="Smallest sample", help="Refuse if fewer records would remain.", low=0)

    def handle(self, classes: Classes, k: int, hierarchies: Mapping[str, Hierarchy], distance: Distance) -> Handled:
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
    smallest share next; when they are at the top and still too few, the smallest class that conforms goes with them.
    """

    card: ClassVar[Card] = Card(
        name="generalise",
        title="Generalise",
        summary="Raises values to a coarser level of their hierarchy.",
        when="When coarser categories still answer the question.",
        order=20,
    )
    everywhere: bool = parameter(False, label="In the whole file", help="Raise a column in every record or in none.")

    def handle(self, classes: Classes, k: int, hierarchies: Mapping[str, Hierarchy], distance: Distance) -> Handled:
        """Generalise until no outlier is left."""
        levels = [hierarchies[column] for column in classes.columns]
        labels = self._everywhere(classes, k, levels) if self.everywhere else _where_small(classes, k, levels)
        return Handled(labels, {})

    def _everywhere(self, classes: Classes, k: int, levels: Sequence[Hierarchy]) -> tuple[Label, ...]:
        choices = product(*(range(hierarchy.height + 1) for hierarchy in levels))
        ranked = sorted(choices, key=lambda c: (sum(h.share(n) for h, n in zip(levels, c, strict=True)), c))
        for choice in ranked:
            labels = [_raised(label, choice, levels) for label in classes.labels]
            if min(_sizes(labels, classes.sizes).values(), default=k) >= k:
                return tuple(labels)
        raise _hopeless(classes, k)


def _raised(label: Label, choice: Sequence[int], levels: Sequence[Hierarchy]) -> Label:
    return tuple(h.on_level(value, n) for h, value, n in zip(levels, label, choice, strict=True))


def _sizes(labels: Sequence[Label], sizes: NDArray[np.int64]) -> Counter[Label]:
    total: Counter[Label] = Counter()
    for label, size in zip(labels, sizes.tolist(), strict=True):
        total[label] += size
    return total


def _where_small(classes: Classes, k: int, levels: Sequence[Hierarchy]) -> tuple[Label, ...]:
    if classes.records < k:
        raise _hopeless(classes, k)
    raised = [[0] * len(levels) for _ in classes.labels]
    while True:
        labels = [_raised(label, up, levels) for label, up in zip(classes.labels, raised, strict=True)]
        total = _sizes(labels, classes.sizes)
        small = [c for c, label in enumerate(labels) if total[label] < k]
        if not small:
            return tuple(labels)
        climbing = [c for c in small if any(n < h.height for n, h in zip(raised[c], levels, strict=True))]
        if not climbing:
            # All outliers say nothing any more and are still too few: the smallest conforming class joins them.
            joining = min((size, label) for label, size in total.items() if size >= k)[1]
            climbing = [c for c, label in enumerate(labels) if label == joining]
            for c in climbing:
                raised[c] = [hierarchy.height for hierarchy in levels]
            continue
        for c in climbing:
            _climb(raised[c], levels)


def _climb(raised: list[int], levels: Sequence[Hierarchy]) -> None:
    open_columns = [q for q, hierarchy in enumerate(levels) if raised[q] < hierarchy.height]
    cheapest = min(open_columns, key=lambda q: (levels[q].share(raised[q] + 1), q))
    raised[cheapest] += 1


@dataclass(frozen=True)
class Merge(Handling):
    """The smallest outlier takes the values of the nearest class, again and again (ties: the larger class)."""

    card: ClassVar[Card] = Card(
        name="merge",
        title="Merge",
        summary="Gives the records of a small class the values of the nearest class.",
        when="When no record may be lost and small shifts are harmless.",
        order=30,
    )

    def handle(self, classes: Classes, k: int, hierarchies: Mapping[str, Hierarchy], distance: Distance) -> Handled:
        """Merge until no outlier is left."""
        if classes.records < k:
            raise _hopeless(classes, k)
        labels: list[Label] = list(classes.labels)
        while True:
            total = _sizes(labels, classes.sizes)
            small = [(size, label) for label, size in total.items() if size < k]
            if not small:
                return Handled(tuple(labels), {})
            _, smallest = min(small, key=lambda item: (item[0], classes.labels.index(item[1])))
            others = [label for label in total if label != smallest]
            nearest = min(others, key=lambda label: (distance.between(smallest, label), -total[label], label))
            labels = [nearest if label == smallest else label for label in labels]


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

    def handle(self, classes: Classes, k: int, hierarchies: Mapping[str, Hierarchy], distance: Distance) -> Handled:
        """Add what is missing to k."""
        sizes = classes.sizes
        added = {classes.labels[c]: int(k - sizes[c]) for c in outliers(classes, k)}
        return Handled(tuple(classes.labels), added)


def handlings() -> dict[str, type[Handling]]:
    """All ways to handle outliers, in menu order."""
    return {kind.card.name: kind for kind in (Delete, Generalise, Merge, Fabricate)}


def _hopeless(classes: Classes, k: int) -> InputError:
    message = f"The file has only {counted(classes.records, 'record')}, fewer than k = {k}."
    return InputError(Finding("too-few-records", message, "Choose a smaller k."))

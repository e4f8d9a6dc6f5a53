"""Prepare the classes of a file before k-outliers are handled: the first step of source 002, § 3.5, in its four modes.

*Bijective*: every class stays as it is. *Surjective*: classes are grouped, because columns start on a higher level of
their hierarchies (prm-8). *Partial*: the smallest classes are left out. *Non-surjective*: classes that lack few records
get made-up ones. What is below k after that is handled in the second step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.settings.option import OptionGroup, option

from ..representability.distances import BY_RANK, ClassDistance, DistanceTable, make_rank_distances
from ..representability.hierarchy import Hierarchy, make_flat_hierarchy, normalise_levels
from ..representability.record_classes import ClassLabel, RecordClasses
from .treatments import OutlierTreatment, TreatmentContext, TreatmentResult

BIJECTIVE = "bijective"
SURJECTIVE = "surjective"
PARTIAL = "partial"
NON_SURJECTIVE = "non-surjective"
MODES = {
    BIJECTIVE: "Every class stays as it is.",
    SURJECTIVE: "Classes are grouped: columns start on a higher level of their hierarchies.",
    PARTIAL: "The smallest classes are left out.",
    NON_SURJECTIVE: "Classes that lack few records get made-up ones.",
}
"""The modes with a sentence on each."""

_SMALLEST_RELEASED = 2


class FirstStep(OptionGroup):
    """Preparation of the classes.

    ``start_levels`` are the levels of columns to start from; they go with every mode except bijective. ``size`` divides
    the classes below k in two: partial leaves out those with fewer records (0: with one record), non-surjective fills
    up those with as many or more (0: those that lack one record).
    """

    mode: Literal["bijective", "surjective", "partial", "non-surjective"] = option(
        BIJECTIVE,
        label="First step",
        help="bijective: classes as they are; surjective: grouped by start levels; partial: the smallest classes are "
        "left out; non-surjective: classes that lack few records get made-up ones.",
    )
    size: int = option(
        0,
        label="Size in the first step",
        help="partial leaves out classes with fewer records (0: single ones), non-surjective fills up classes with as "
        "many or more (0: those that lack one).",
        ge=0,
    )
    start_levels: Mapping[str, int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.mode == SURJECTIVE and not self.start_levels:
            message = "The first step is to group classes, but no column has a start level."
            raise InputError(Finding("first-step", message, "Name a level, such as age=1."))
        if self.mode == BIJECTIVE and self.start_levels:
            message = "A start level groups classes, so the first step is not bijective."
            raise InputError(
                Finding("first-step", message, "Choose another first step, such as surjective.")
            )
        if self.mode in (BIJECTIVE, SURJECTIVE) and self.size:
            message = "A size has no effect in this first step."
            raise InputError(
                Finding("first-step", message, "Choose partial or non-surjective, or leave it out.")
            )
        return self

    def group(self, classes: RecordClasses, hierarchies: Mapping[str, Hierarchy]) -> GroupedClasses:
        """Raise the columns to their start levels."""
        self._check_levels(classes, hierarchies)
        if not any(self.start_levels.values()):
            return GroupedClasses(classes, hierarchies, np.arange(len(classes.labels)))
        levels = [(hierarchies[name], self.start_levels.get(name, 0)) for name in classes.columns]
        numbers: dict[ClassLabel, int] = {}
        group_of = np.empty(len(classes.labels), np.int64)
        for c, label in enumerate(classes.labels):
            raised = tuple(
                h.on_level(value, level) for (h, level), value in zip(levels, label, strict=True)
            )
            group_of[c] = numbers.setdefault(raised, len(numbers))
        grouped = RecordClasses(classes.columns, tuple(numbers), as_readonly(group_of[classes.class_of]))
        above = {hierarchy.column: _cut_off(hierarchy, level) for hierarchy, level in levels}
        if any(hierarchy.bounds for hierarchy in hierarchies.values()):
            # Hierarchies are lower now, so the scale of their levels is another one.
            above = normalise_levels(
                {name: replace(hierarchy, bounds=None) for name, hierarchy in above.items()}
            )
        return GroupedClasses(grouped, above, group_of)

    def raise_orders(
        self, tables: Mapping[str, DistanceTable], hierarchies: Mapping[str, Hierarchy]
    ) -> dict[str, DistanceTable]:
        """Make the distances by rank of the values on the start levels; given tables must list these values."""
        raised = dict(tables)
        for name, level in self.start_levels.items():
            if level == 0 or name not in tables or tables[name].kind != BY_RANK:
                continue
            ranked = [value for value in tables[name].values if value != ""]
            order = tuple(dict.fromkeys(hierarchies[name].on_level(value, level) for value in ranked))
            if len(order) > 1:
                raised[name] = make_rank_distances(name, order)
            else:
                del raised[name]
        return raised

    def _check_levels(self, classes: RecordClasses, hierarchies: Mapping[str, Hierarchy]) -> None:
        for name, level in self.start_levels.items():
            if name not in classes.columns:
                message = "A start level is given for a column that is not a quasi-identifier."
                raise InputError(
                    Finding("start-level", message, "Name a quasi-identifier.", column=name)
                )
            height = hierarchies[name].height
            if not 0 <= level <= height:
                message = f"The hierarchy of this column has no level {level}."
                raise InputError(Finding("start-level", message, f"Choose 0 to {height}.", column=name))

    def find_excluded(self, sizes: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
        """Tell of each class if it is left out."""
        if self.mode != PARTIAL:
            return np.zeros(len(sizes), np.bool_)
        return sizes < min(k, self.size or _SMALLEST_RELEASED)

    def count_fabricated(self, sizes: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """Count the records that are made up for each class."""
        if self.mode != NON_SURJECTIVE:
            return np.zeros(len(sizes), np.int64)
        return np.where((sizes >= (self.size or k - 1)) & (sizes < k), k - sizes, 0)


@dataclass(frozen=True, eq=False)
class GroupedClasses:
    """Classes on their start levels, the hierarchies above these, and the group of each original class."""

    classes: RecordClasses
    hierarchies: Mapping[str, Hierarchy]
    group_of: NDArray[np.int64]


def _cut_off(hierarchy: Hierarchy, level: int) -> Hierarchy:
    """Return the part of a hierarchy above a level, which becomes its level 0."""
    if level == 0:
        return hierarchy
    ancestors = {
        levels[level - 1]: levels[level:] for levels in hierarchy.ancestors.values() if levels[level:]
    }
    if not ancestors:
        return make_flat_hierarchy(hierarchy.column)
    weights = hierarchy.weights[level:]
    total = sum(weights)
    shares = tuple(weight / total for weight in weights) if total > 0 else ()
    return replace(hierarchy, ancestors=ancestors, weights=shares)


@dataclass(frozen=True, eq=False)
class TreatmentSteps:
    """Both steps: the preparation of the classes, and the treatment of those that are below k then.

    ``tables`` are the distances of columns that have given ones or an order.
    """

    treatment: OutlierTreatment
    hierarchies: Mapping[str, Hierarchy]
    tables: Mapping[str, DistanceTable] = field(default_factory=dict)
    first_step: FirstStep = field(default_factory=FirstStep)

    def apply(self, classes: RecordClasses, k: int, progress: Progress = NO_PROGRESS) -> TreatmentResult:
        """Treat the classes; the labels of the result are those of the original classes."""
        first_step = self.first_step
        grouped = first_step.group(classes, self.hierarchies)
        start = grouped.classes
        is_excluded = first_step.find_excluded(start.sizes, k)
        if is_excluded.all():
            message = "The first step leaves out every class."
            raise InputError(
                Finding("first-step", message, "Choose a smaller size, or another first step.")
            )
        n_fabricated = first_step.count_fabricated(start.sizes, k)
        remaining = np.flatnonzero(~is_excluded)
        number_of = np.full(len(is_excluded), -1, np.int64)
        number_of[remaining] = np.arange(len(remaining))
        records = number_of[start.class_of]
        fabricated_records = np.repeat(number_of[remaining], n_fabricated[remaining])
        class_of = as_readonly(np.concatenate((records[records >= 0], fabricated_records)))
        prepared = RecordClasses(
            start.columns, tuple(start.labels[c] for c in remaining.tolist()), class_of
        )
        distance = ClassDistance.of_classes(
            prepared, tables=first_step.raise_orders(self.tables, self.hierarchies)
        )
        result = self.treatment.treat(
            TreatmentContext(prepared, k, grouped.hierarchies, distance), progress
        )
        fabricated: Counter[ClassLabel] = Counter(result.fabricated)
        for c in np.flatnonzero(n_fabricated).tolist():
            label = result.labels[number_of[c]]
            if label is not None:
                fabricated[label] += int(n_fabricated[c])
        new_labels = (*result.labels, None)
        labels = tuple(new_labels[number] for number in number_of[grouped.group_of].tolist())
        return TreatmentResult(labels, dict(fabricated))

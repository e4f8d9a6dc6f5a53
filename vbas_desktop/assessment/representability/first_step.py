"""Prepare the classes of a file before k-outliers are handled: the first step of source 002, § 3.5, in its four modes.

*Bijective*: every class stays as it is. *Surjective*: classes are grouped, because columns start on a higher level of
their hierarchies (prm-8). *Partial*: the smallest classes are left out. *Non-surjective*: classes that lack few records
get made-up ones. What is below k after that is handled in the second step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.approaches.declaration import parameter, parameters_of
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import SILENT, Progress
from vbas_desktop.model.records import frozen

from .classes import Classes, Label
from .distance_tables import BY_RANK, Distance, DistanceTable, rank_distances
from .handling import Handled, Handling
from .hierarchy import Hierarchy, flat, normalise_levels

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
"""The modes, and what happens in each."""

_SMALLEST_KEPT = 2


@dataclass(frozen=True)
class FirstStep:
    """How classes are prepared.

    ``start_levels`` are the levels of columns to start from; they go with every mode except bijective. ``size`` divides
    the classes below k in two: partial leaves out those with fewer records (0: with one record), non-surjective fills
    up those with as many or more (0: those that lack one record).
    """

    mode: str = parameter(
        BIJECTIVE,
        label="First step",
        help="bijective: classes as they are; surjective: grouped by start levels; partial: the smallest classes are "
        "left out; non-surjective: classes that lack few records get made-up ones.",
        choices=tuple(MODES),
    )
    size: int = parameter(
        0,
        label="Size in the first step",
        help="partial leaves out classes with fewer records (0: single ones), non-surjective fills up classes with as "
        "many or more (0: those that lack one).",
        low=0,
    )
    start_levels: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for declared in parameters_of(type(self)):
            declared.check(getattr(self, declared.name))
        if self.mode == SURJECTIVE and not self.start_levels:
            message = "The first step is to group classes, but no column has a start level."
            raise InputError(Finding("first-step", message, "Name a level, such as age=1."))
        if self.mode == BIJECTIVE and self.start_levels:
            message = "A start level groups classes, so the first step is not bijective."
            raise InputError(Finding("first-step", message, "Choose another first step, such as surjective."))
        if self.mode in (BIJECTIVE, SURJECTIVE) and self.size:
            message = "A size has no effect in this first step."
            raise InputError(Finding("first-step", message, "Choose partial or non-surjective, or leave it out."))

    def group(self, classes: Classes, hierarchies: Mapping[str, Hierarchy]) -> GroupedClasses:
        """Raise the columns to their start levels."""
        self._check_levels(classes, hierarchies)
        if not any(self.start_levels.values()):
            return GroupedClasses(classes, hierarchies, np.arange(len(classes.labels)))
        levels = [(hierarchies[name], self.start_levels.get(name, 0)) for name in classes.columns]
        numbers: dict[Label, int] = {}
        group_of = np.empty(len(classes.labels), np.int64)
        for c, label in enumerate(classes.labels):
            raised = tuple(h.on_level(value, level) for (h, level), value in zip(levels, label, strict=True))
            group_of[c] = numbers.setdefault(raised, len(numbers))
        grouped = Classes(classes.columns, tuple(numbers), frozen(group_of[classes.class_of]))
        above = {hierarchy.column: _above(hierarchy, level) for hierarchy, level in levels}
        if any(hierarchy.bounds for hierarchy in hierarchies.values()):
            # Hierarchies are lower now, so the scale of their levels is another one.
            above = normalise_levels({name: replace(hierarchy, bounds=None) for name, hierarchy in above.items()})
        return GroupedClasses(grouped, above, group_of)

    def raise_orders(
        self, tables: Mapping[str, DistanceTable], hierarchies: Mapping[str, Hierarchy]
    ) -> dict[str, DistanceTable]:
        """Make the distances by rank of the values on the start levels; given tables must list these values."""
        found = dict(tables)
        for name, level in self.start_levels.items():
            if level == 0 or name not in tables or tables[name].kind != BY_RANK:
                continue
            ranked = [value for value in tables[name].values if value != ""]
            order = tuple(dict.fromkeys(hierarchies[name].on_level(value, level) for value in ranked))
            if len(order) > 1:
                found[name] = rank_distances(name, order)
            else:
                del found[name]
        return found

    def _check_levels(self, classes: Classes, hierarchies: Mapping[str, Hierarchy]) -> None:
        for name, level in self.start_levels.items():
            if name not in classes.columns:
                message = "A start level is given for a column that is not a quasi-identifier."
                raise InputError(Finding("start-level", message, "Name a quasi-identifier.", column=name))
            height = hierarchies[name].height
            if not 0 <= level <= height:
                message = f"The hierarchy of this column has no level {level}."
                raise InputError(Finding("start-level", message, f"Choose 0 to {height}.", column=name))

    def left_out(self, sizes: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
        """Tell which classes are left out."""
        if self.mode != PARTIAL:
            return np.zeros(len(sizes), np.bool_)
        return sizes < min(k, self.size or _SMALLEST_KEPT)

    def made_up(self, sizes: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """Count the records that are made up for each class."""
        if self.mode != NON_SURJECTIVE:
            return np.zeros(len(sizes), np.int64)
        return np.where((sizes >= (self.size or k - 1)) & (sizes < k), k - sizes, 0)


@dataclass(frozen=True, eq=False)
class GroupedClasses:
    """Classes on their start levels, the hierarchies above these, and the group of each original class."""

    classes: Classes
    hierarchies: Mapping[str, Hierarchy]
    group_of: NDArray[np.int64]


def _above(hierarchy: Hierarchy, level: int) -> Hierarchy:
    """Cut a hierarchy off below a level, which becomes its level 0."""
    if level == 0:
        return hierarchy
    ancestors = {levels[level - 1]: levels[level:] for levels in hierarchy.ancestors.values() if levels[level:]}
    if not ancestors:
        return flat(hierarchy.column)
    weights = hierarchy.weights[level:]
    total = sum(weights)
    shares = tuple(weight / total for weight in weights) if total > 0 else ()
    return replace(hierarchy, ancestors=ancestors, weights=shares)


def handle_in_steps(
    classes: Classes,
    k: int,
    first_step: FirstStep,
    handling: Handling,
    hierarchies: Mapping[str, Hierarchy],
    tables: Mapping[str, DistanceTable],
    progress: Progress = SILENT,
) -> Handled:
    """Prepare the classes, then handle what is below k; the labels are those of the original classes."""
    grouped = first_step.group(classes, hierarchies)
    start = grouped.classes
    left_out = first_step.left_out(start.sizes, k)
    made_up = first_step.made_up(start.sizes, k)
    if left_out.all():
        message = "The first step leaves out every class."
        raise InputError(Finding("first-step", message, "Choose a smaller size, or another first step."))
    remaining = np.flatnonzero(~left_out)
    number_of = np.full(len(left_out), -1, np.int64)
    number_of[remaining] = np.arange(len(remaining))
    records = number_of[start.class_of]
    filled = np.repeat(number_of[remaining], made_up[remaining])
    labels = tuple(start.labels[c] for c in remaining.tolist())
    second = Classes(start.columns, labels, frozen(np.concatenate((records[records >= 0], filled))))
    distance = Distance.of_classes(second, tables=first_step.raise_orders(tables, hierarchies))
    handled = handling.handle(second, k, grouped.hierarchies, distance, progress)
    added: Counter[Label] = Counter(handled.added)
    for c in np.flatnonzero(made_up).tolist():
        label = handled.labels[number_of[c]]
        if label is not None:
            added[label] += int(made_up[c])
    new = (*handled.labels, None)
    return Handled(tuple(new[number] for number in number_of[grouped.group_of].tolist()), dict(added))

"""Generalisation hierarchies: the value that each value becomes on each level, read from CSV as ARX writes them."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vbas_desktop.io.documents.hierarchies import read_hierarchy_file
from vbas_desktop.model.findings import Finding, InputError, Severity
from vbas_desktop.model.text import format_count
from vbas_desktop.model.tiers import CROSSWALK, code_columns

from .record_classes import RecordClasses

SUPPRESSED = "***"
"""The top of every hierarchy: the value says nothing any more. ``*`` and an empty field mean the same."""
_TOPS = frozenset({SUPPRESSED, "*", ""})


@dataclass(frozen=True)
class Hierarchy:
    """Levels of one column. ``ancestors[value]`` lists the value on level 1, 2, …; the last level is suppression.

    ``weights[h]`` is the weight of level h + 1, for precision weighted by level; empty: all alike. ``losses[value]`` is
    the share of the detail that a released value has lost, where that depends on more than the level: a place that has
    more initial regions than another on the same level has lost more. ``bounds`` are the smallest and the largest
    number of levels below suppression among all quasi-identifiers, if levels are normalised (see `normalise_levels`).
    """

    column: str
    ancestors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: tuple[float, ...] = ()
    losses: Mapping[str, float] = field(default_factory=dict)
    bounds: tuple[int, int] | None = None

    @property
    def height(self) -> int:
        """Number of levels above the original values, suppression included; 1 without any hierarchy."""
        return max((len(levels) for levels in self.ancestors.values()), default=1)

    def level(self, original: str, released: str) -> int | None:
        """Find the level on which a released value generalises an original one; None if it does not."""
        if original == released:
            return 0
        if released in _TOPS:
            return self.height
        levels = self.ancestors.get(original, ())
        return levels.index(released) + 1 if released in levels else None

    def on_level(self, value: str, level: int) -> str:
        """Return the value that a value becomes on a level."""
        if level <= 0:
            return value
        levels = self.ancestors.get(value, ())
        return levels[level - 1] if level <= len(levels) else SUPPRESSED

    def share(self, level: int) -> float:
        """Compute how much of the hierarchy lies below a level, to compare levels of different columns.

        h/|DGH|, or the sum of the weights of the levels climbed, or the normalised level.
        """
        if self.bounds is not None:
            return normalise_level(level, *self.bounds)
        return self._climbed_share(level)

    def generalisation(self, level: int) -> float:
        """Compute the factor G of the distance d_M (source 002, § 4.4.4) for a level h.

        h/|DGH|; with weights of the levels h · w_h/|DGH|; or the normalised level.
        """
        if self.bounds is not None:
            return normalise_level(level, *self.bounds)
        if self.weights:
            return level * self.weights[level - 1] / self.height if level else 0.0
        return level / self.height

    def loss(self, released: str, level: int) -> float:
        """Compute the share of the detail that a value on a level has lost, for precision. Weights of levels decide.

        With weights, it is the sum of those of the levels climbed, so that a suppressed value has lost everything.
        """
        if self.weights or level == 0:
            return self._climbed_share(level)
        return self.losses.get(released, self._climbed_share(level))

    def _climbed_share(self, level: int) -> float:
        if self.weights:
            return sum(self.weights[:level])
        return level / self.height


def normalise_level(level: int, smallest: int, largest: int) -> float:
    """Compute |h − G_min| / |G_max − G_min| (source 002, prm-4); 0 on level 0, at most 1.

    G_min and G_max are the smallest and the largest number of levels below suppression. The formula counts the distance
    from G_min, so levels below it count more than G_min itself.
    """
    if level == 0:
        return 0.0
    return min(1.0, abs(level - smallest) / abs(largest - smallest))


def normalise_levels(hierarchies: Mapping[str, Hierarchy]) -> dict[str, Hierarchy]:
    """Put the levels of all columns on one scale (source 002, prm-4); unchanged if all have as many levels."""
    highest = [hierarchy.height - 1 for hierarchy in hierarchies.values()]
    if not highest or min(highest) == max(highest):
        return dict(hierarchies)
    bounds = (min(highest), max(highest))
    return {name: replace(hierarchy, bounds=bounds) for name, hierarchy in hierarchies.items()}


def make_flat_hierarchy(column: str) -> Hierarchy:
    """Make a hierarchy with nothing between the value and its suppression."""
    return Hierarchy(column)


def read_hierarchy(path: str | Path, column: str | None = None) -> Hierarchy:
    """Read a hierarchy from CSV, ``value;level1;level2…`` for each value; the column is the file's name by default."""
    levels = read_hierarchy_file(path, column)
    ancestors = {value: _end_with_suppression(list(above)) for value, above in levels.above.items()}
    return Hierarchy(levels.column, ancestors)


def _end_with_suppression(levels: list[str]) -> tuple[str, ...]:
    """Make suppression the last level, however the file writes it."""
    if levels and levels[-1] in _TOPS:
        levels = levels[:-1]
    return (*levels, SUPPRESSED)


def with_level_weights(hierarchy: Hierarchy, weights: Sequence[float]) -> Hierarchy:
    """Return the hierarchy with a weight for each level.

    Raises `InputError` unless there is one for each and they add up to 1.
    """
    total = sum(weights)
    if len(weights) != hierarchy.height:
        message = f"There are {len(weights)} weights for {hierarchy.height} levels."
    elif min(weights) < 0 or abs(total - 1.0) > 1e-6:
        message = f"The weights of the levels add up to {total:g}."
    else:
        return replace(hierarchy, weights=tuple(weights))
    remedy = "Give one for each level, suppression included; none below 0, all adding up to 1."
    raise InputError(Finding("level-weights", message, remedy, column=hierarchy.column))


def warn_of_unlisted_values(
    classes: RecordClasses, hierarchies: Mapping[str, Hierarchy]
) -> list[Finding]:
    """Warn of columns that have values which their hierarchy does not list."""
    findings = []
    for q, name in enumerate(classes.columns):
        listed = set(hierarchies[name].ancestors)
        unlisted = {label[q] for label in classes.labels} - listed if listed else set()
        if unlisted:
            number = format_count(len(unlisted), "value is", "values are")
            message = (
                f"{number} not in the hierarchy: of these, only suppression counts as generalisation."
            )
            remedy = "Add a line for each value to the hierarchy."
            findings.append(Finding("unlisted-value", message, remedy, Severity.WARNING, column=name))
    return findings


def read_hierarchies(folder: str | Path, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """Read ``COLUMN.csv`` of a folder for each column that has one; the others get a flat hierarchy.

    Raises `InputError` if no column has one: most likely it is the wrong folder.
    """
    paths = {column: Path(folder) / f"{column}.csv" for column in columns}
    if not any(path.is_file() for path in paths.values()):
        names = ", ".join(path.name for path in paths.values())
        message = "The folder has no hierarchy for any quasi-identifier."
        raise InputError(Finding("no-hierarchy", message, f"Name the files {names}.", file=str(folder)))
    return {
        name: read_hierarchy(path, name) if path.is_file() else make_flat_hierarchy(name)
        for name, path in paths.items()
    }


def read_crosswalk_hierarchy(path: str | Path, column: str) -> Hierarchy:
    """Read the released regions as levels above the initial regions: the tiers, of which the last is the whole area.

    Without tiers there are the aggregated regions and, above them, suppression. A released region loses
    log₂(its initial regions) / log₂(all initial regions) of the detail.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
    except (OSError, ValueError, csv.Error) as error:
        message = f"The crosswalk cannot be read: {type(error).__name__}."
        raise InputError(
            Finding("crosswalk", message, "Name crosswalk.csv of a release.", file=str(path))
        ) from None
    if tuple(header[:2]) != CROSSWALK or any(len(row) != len(header) for row in rows):
        message = "This is not the crosswalk of a release."
        raise InputError(
            Finding("crosswalk", message, "Name crosswalk.csv of a release.", file=str(path))
        )
    width = code_columns(header)
    top = () if width > len(CROSSWALK) else (SUPPRESSED,)
    ancestors = {row[0]: (*row[1:width], *top) for row in rows}
    return Hierarchy(column, ancestors, losses=_compute_region_losses(ancestors))


def _compute_region_losses(ancestors: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """Compute the share of the detail that each released region has lost, from the number of its initial regions."""
    if len(ancestors) < 2:
        return {}
    numbers = Counter(code for regions in ancestors.values() for code in set(regions) - _TOPS)
    return {code: math.log2(number) / math.log2(len(ancestors)) for code, number in numbers.items()}

"""What is to be solved (`Problem`), and the people who live there (`Population`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .counts import ClassCounts
from .findings import Finding
from .records import Categories, Grouping, SourceFile, group_sizes
from .regions import CrosswalkPartition, Regions
from .selection import Selection
from .sensitive import SensitiveCounts, with_criteria

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, eq=False)
class Problem:
    """Regions, counts and k: everything the stages after loading need to know.

    ``counts`` covers the records whose region is known; ``unknown_region_records`` were left out of it because the
    user chose to suppress records of unknown regions, and count as suppressed. ``sensitive`` are the same records by
    the values of each sensitive column. ``selection`` says which records of the file are considered (None: all).
    ``category_sizes`` says of the categories of each grouped quasi-identifier how many values of the records or of its
    groupings they stand for. ``given`` is the partition of the construction “Given” (None: another construction).
    """

    regions: Regions
    counts: ClassCounts
    k: int
    quasi_identifiers: tuple[str, ...]
    categories: tuple[Categories, ...]
    region_column: str
    unknown_region_records: int = 0
    groupings: tuple[Grouping, ...] = ()
    category_sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sensitive: tuple[SensitiveCounts, ...] = ()
    records_source: SourceFile | None = None
    regions_source: SourceFile | None = None
    findings: tuple[Finding, ...] = ()
    selection: Selection | None = None
    given: CrosswalkPartition | None = None

    @property
    def records_left_out(self) -> int:
        """Return the number of records of the file that a filter leaves out; they count nowhere else."""
        return 0 if self.selection is None else self.selection.records_left_out

    @property
    def records(self) -> int:
        """Return the number of considered records of the file, those of unknown regions included."""
        return self.counts.records + self.unknown_region_records

    def sizes_of_categories(self, column: str) -> Mapping[str, int]:
        """Count the values that each category of a quasi-identifier stands for; one that is not listed is a value."""
        counted = self.category_sizes.get(column)
        return group_sizes(self.groupings, column) if counted is None else counted

    @property
    def judged_columns(self) -> tuple[str, ...]:
        """Return the sensitive columns that have criteria."""
        return tuple(counts.column for counts in with_criteria(self.sensitive))


@dataclass(frozen=True, eq=False)
class Population:
    """The number of people in each initial region, and in each class of a problem.

    ``region``, ``column`` (position of the combination among those that occur in the records) and ``people`` list the
    classes that the records have; the others count in ``by_region`` alone.
    """

    source: SourceFile
    by_region: NDArray[np.int64]
    region: NDArray[np.int64]
    column: NDArray[np.int64]
    people: NDArray[np.int64]

"""State what a released file is said to be, for the verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vbas_desktop.io.databases.engine import DatabaseEngine

from .filters import FilterClaim


@dataclass(frozen=True)
class AggregationClaim:
    """A column with one value per class of fewer than ``below`` records (None: of every class)."""

    column: str
    below: int | None


@dataclass(frozen=True)
class ReleaseClaim:
    """Properties that the released file is claimed to have.

    Parameters
    ----------
    file, crosswalk : the released file, and the code of each initial region
    columns : (name in the input, name in the release), in the order of the release
    class_size : the column with the size of each record's class, if there is one
    delimiter : that of a released CSV file
    escaped : an apostrophe stands before what looks like a formula
    records, released : numbers of records that were considered and that are released
    values : by column, the values of those columns whose numbers, dates and blanks are written in one way
    within : columns of the region file of which no aggregated region holds two values
    alone : initial regions that are merged with no other
    source : where the records of the input are, if they are in no file
    name_column : the column of the region file after which aggregated regions are named
    filters : what chose the records of the input that were considered
    region_map : which regions the ids of the records stand for
    record_key, record_index : the column with a key of each row, and the file that leads from keys to the input
    aggregated, class_counts : columns with one value per class, and the file with the size of each class
    shuffled : the rows are in random order
    """

    file: Path
    crosswalk: Path
    columns: tuple[tuple[str, str], ...]
    class_size: str | None
    delimiter: str
    escaped: bool
    records: int
    released: int
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    source: DatabaseEngine | None = None
    name_column: str | None = None
    filters: tuple[FilterClaim, ...] = ()
    record_key: str | None = None
    record_index: Path | None = None
    region_map: Path | None = None
    aggregated: tuple[AggregationClaim, ...] = ()
    class_counts: Path | None = None
    shuffled: bool = False

    @property
    def names(self) -> list[str]:
        """Return the names that the released file must have."""
        added = [name for name in (self.class_size, self.record_key) if name]
        return [name for _, name in self.columns] + added

    @property
    def is_csv(self) -> bool:
        """Return whether the released file is CSV."""
        return self.file.suffix == ".csv"

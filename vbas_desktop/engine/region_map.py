"""Give each record the region that a region map says: records of an id with several regions are split among them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.apportionment import split_rows
from vbas_desktop.model.errors import InputError, refusal
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import RegionMap


def needs_file(path: str) -> InputError:
    """Make the refusal of a region map for records behind an address."""
    message = "A region map needs a record file: records behind an address have no order to split them by."
    remedy = "Save the records as a CSV or Parquet file, or write the ids of the region file into them."
    return refusal("region-map", message, remedy, file=path)


def map_regions(table: RecordTable, column: str, mapping: RegionMap | None) -> RecordTable:
    """Return the records with the regions of the map in their region column; the same table if there is no map.

    An id that the map does not list keeps its meaning. The records of an id with several regions are numbered in the
    order of the rows. Each region gets its share of them by largest remainders, evenly spaced, so that nothing depends
    on other ids or on chance. O(n log n).
    """
    if mapping is None or table.mapped_column == column:
        return table
    if table.source.elsewhere:
        raise needs_file(mapping.source.path)
    categories = table.facts(column).categories if column in table.dialect.header else None
    if categories is None:
        # What is wrong with the column is told where it is counted.
        return table
    codes = table.codes(column)
    values = list(categories.values)
    region_of: dict[str, int] = {}
    first = np.empty(len(values), np.int64)
    split: dict[int, list[Fraction]] = {}
    numbers: dict[int, NDArray[np.int64]] = {}
    for code, value in enumerate(values):
        targets = mapping.targets.get(value, ((value, Fraction(1)),))
        places = [region_of.setdefault(region, len(region_of)) for region, _ in targets]
        first[code] = places[0]
        if len(places) > 1:
            split[code] = [share for _, share in targets]
            numbers[code] = np.array(places, np.int64)
    regions = first[codes]
    if split:
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(values)))
        for code, chosen in split_rows(codes, split).items():
            rows = order[ends[code] - chosen.size : ends[code]]
            regions[rows] = numbers[code][chosen]
    return table.with_regions(column, list(region_of), regions)

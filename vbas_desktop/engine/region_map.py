"""Give each record the region that a region map says: records of an id with several regions are split among them.

Records are divided by shares with largest remainders: totals are exact, and spread evenly over the records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import InputError, input_error
from vbas_desktop.model.records import RecordTable
from vbas_desktop.model.regions import RegionMap


def needs_file(path: str) -> InputError:
    """Make the refusal of a region map for records behind an address."""
    message = (
        "A region map needs a record file: records behind an address have no order to split them by."
    )
    remedy = "Save the records as a CSV or Parquet file, or write the ids of the region file into them."
    return input_error("region-map", message, remedy, file=path)


def map_regions(table: RecordTable, column: str, mapping: RegionMap | None) -> RecordTable:
    """Return the records with the regions of the map in their region column; the same table if there is no map.

    An id that the map does not list keeps its meaning. The records of an id with several regions are numbered in the
    order of the rows. Each region gets its share of them by largest remainders, evenly spaced, so that nothing depends
    on other ids or on chance. O(n log n).
    """
    if mapping is None:
        return table
    if table.source.elsewhere:
        raise needs_file(mapping.source.path)
    records = table.require_codes()
    if records.mapped_column == column:
        return table
    categories = table.facts(column).categories if column in table.file_format.header else None
    if categories is None:
        # What is wrong with the column is told where it is counted.
        return table
    codes = records.codes(column)
    values = list(categories.values)
    region_of: dict[str, int] = {}
    first = np.empty(len(values), np.int64)
    split: dict[int, list[Fraction]] = {}
    numbers: dict[int, NDArray[np.int64]] = {}
    for code, value in enumerate(values):
        targets = mapping.targets.get(value, ((value, Fraction(1)),))
        target_numbers = [region_of.setdefault(region, len(region_of)) for region, _ in targets]
        first[code] = target_numbers[0]
        if len(target_numbers) > 1:
            split[code] = [share for _, share in targets]
            numbers[code] = np.array(target_numbers, np.int64)
    regions = first[codes]
    if split:
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(values)))
        for code, chosen in split_rows(codes, split).items():
            rows = order[ends[code] - chosen.size : ends[code]]
            regions[rows] = numbers[code][chosen]
    return records.with_regions(column, list(region_of), regions)


def apportion(number: int, shares: Sequence[Fraction]) -> list[int]:
    """Divide a number by shares that add up to 1, by largest remainders; ties go to the share listed first."""
    quotas = [number * share for share in shares]
    parts = [int(quota) for quota in quotas]
    order = sorted(range(len(shares)), key=lambda index: (parts[index] - quotas[index], index))
    for index in order[: number - sum(parts)]:
        parts[index] += 1
    return parts


def spread(parts: Sequence[int]) -> NDArray[np.int32]:
    """List the targets of consecutive records such that each target gets its part, evenly spaced.

    Record i of the c records of a target stands at (2i + 1) / (2c) of the way; targets at the same point keep their
    order. So equal parts take turns. O(n log n) for n records.
    """
    target = np.repeat(np.arange(len(parts), dtype=np.int32), parts)
    numbers = [(2 * np.arange(part) + 1) / (2 * part) for part in parts if part]
    if not numbers:
        return target
    return target[np.argsort(np.concatenate(numbers), kind="stable")]


def split_rows(
    codes: NDArray[np.integer], split: Mapping[int, Sequence[Fraction]]
) -> dict[int, NDArray[np.int32]]:
    """Choose a target for each record of the codes that are split; the records of a code keep the order of the rows.

    Returns for each code the numbers of the targets, one for each of its records.
    """
    totals = np.bincount(codes, minlength=max(split, default=-1) + 1)
    return {code: spread(apportion(int(totals[code]), shares)) for code, shares in split.items()}

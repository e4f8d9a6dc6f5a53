"""Format durations, counts and files for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.regions import CoordinateKind, Regions
from vbas_desktop.model.text import DELIMITER_NAMES, format_count

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable


def time_left_in_words(seconds: float) -> str:
    """Describe a remaining duration, no more exactly than it can be known."""
    if seconds < 10:
        return "a few seconds left"
    if seconds < 50:
        return f"{round(seconds / 10) * 10} s left"
    if seconds < 90:
        return "about a minute left"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min left"
    return f"{seconds / 3600:.1f} h left"


def seconds_in_words(seconds: float) -> str:
    """Format a duration, no more exactly than it matters."""
    return "less than 0.1 s" if seconds < 0.1 else f"{seconds:,.1f} s"


def product_in_words(numbers: Sequence[int], product: int) -> str:
    """Format numbers of categories and their product: "7 × 2 = 14 classes"."""
    if len(numbers) < 2:
        return format_count(product, "class")
    return f"{' × '.join(f'{number:,}' for number in numbers)} = {format_count(product, 'class')}"


def data_in_words(table: RecordTable) -> str:
    """Describe a record file as it was understood."""
    file_format = table.file_format
    parts = [format_count(table.rows, "record"), format_count(len(table.columns), "column")]
    if file_format.format == "csv":
        name = DELIMITER_NAMES.get(file_format.delimiter or "", "own delimiter")
        parts += [name, file_format.encoding or "unknown encoding"]
    else:
        parts.append(file_format.format)
    if file_format.category_line:
        parts.append("category numbers in line 2")
    if table.selection is not None:
        parts.insert(1, f"{table.selection.records_left_out:,} left out by filters")
    return " · ".join(parts)


def regions_in_words(regions: Regions) -> str:
    """Describe a region file as it was understood."""
    system = regions.system
    kinds = {
        CoordinateKind.PLANAR: "planar coordinates",
        CoordinateKind.DEGREES: "raw degrees",
        CoordinateKind.GEOGRAPHIC: "geographic, projected to metres",
    }
    shape = "points" if regions.polygons is None else "polygons"
    return " · ".join([format_count(len(regions), "region"), shape, kinds[system.kind]])


_LISTED_SIZES = 3


def vector_in_words(vector: Sequence[int] | NDArray[np.int64], k: int) -> str:
    """Format an anonymity vector: how many classes have one record, two, and so on below k, and k or more."""
    sizes = np.zeros(max(k, len(vector)) + 1, np.int64)
    sizes[1 : len(vector) + 1] = vector
    alone = min(k - 1, _LISTED_SIZES)
    parts = [f"{int(sizes[size]):,} of {format_count(size, 'record')}" for size in range(1, alone + 1)]
    if alone < k - 1:
        between = f"{alone + 1:,} to {k - 1:,}" if alone + 1 < k - 1 else f"{k - 1:,}"
        parts.append(f"{int(sizes[alone + 1 : k].sum()):,} of {between}")
    return ", ".join([*parts, f"{int(sizes[k:].sum()):,} of {k:,} or more"])

"""Further columns of a region file, as numbers: populations and the like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.files.findings import FindingList

from .geo import ENDINGS, layer_numbers
from .numbers import numbers_of
from .read import RegionOptions
from .text import read_table


def region_numbers(
    path: Path,
    columns: Sequence[str],
    options: RegionOptions = RegionOptions(),  # noqa: B008
) -> dict[str, NDArray[np.float64]]:
    """The named columns in file order; raises `InputError` if one is missing or not all numbers."""
    findings = FindingList(path.name)
    if not columns:
        return {}
    if path.suffix.lower() in ENDINGS:
        found = layer_numbers(path, columns, options.layer, findings)
    else:
        table = read_table(path, options.delimiter, options.encoding, findings)
        texts = {name: table.column(name) for name in columns if name in table.header}
        found = dict(zip(texts, numbers_of(texts, table.rows, options.decimal, findings), strict=True))
    for name in columns:
        if name not in found:
            findings.add("missing-column", f"There is no column “{name}”.", "Check the name.")
    findings.stop_on_errors()
    return found

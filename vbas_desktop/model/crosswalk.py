"""The columns of ``crosswalk.csv``: id, code, the codes of larger places in tiers, and at the end perhaps a name."""

from __future__ import annotations

from collections.abc import Sequence

CROSSWALK = ("initial_region", "aggregated_region")
NAME = "name"
"""The column with the readable name of the aggregated region, if there are names."""


def code_columns(header: Sequence[str]) -> int:
    """How many columns from the left hold the id and codes: all but a name."""
    return len(header) - int(len(header) > len(CROSSWALK) and header[-1] == NAME)

"""Larger areas that the region file names: counties, provinces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import as_readonly
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.text import format_count, inflect, parse_list
from vbas_desktop.model.tiers import FIRST_TIER, WHOLE_AREA, Tiers

from ..interface import Context, Metadata, TierApproach, option


class ColumnTiers(TierApproach):
    """Each column of the region file is a tier, from small places to large ones; the whole area comes last.

    An aggregated region that lies in several places of a column is given to the one with most of its initial regions
    (ties: the one named first in the file), and so is a place of one column that lies in several of the next. O(r).
    """

    metadata: ClassVar[Metadata] = Metadata(
        name="columns",
        title="Places of the region file",
        summary="Releases classes that are too small in their region in the county, province or other place around it.",
        formula="a class of a place is released there if its records m not released in smaller places satisfy "
        "k ≤ m ≤ Σ room of the place's children − the largest of them",
        complexity="O(r + counts · tiers)",
        when="When researchers know these places and have other figures for them.",
        order=30,
    )
    stated: ClassVar[bool] = True

    columns: str = option(
        "",
        label="Columns of the region file",
        help="Columns that name larger areas, smallest places first, with commas: county,province. Put a column "
        "with a comma in its name in double quotes.",
        required=True,
        is_shorthand=True,
        choices_from="region columns",
    )

    def build_tiers(self, context: Context, membership: NDArray[np.int32], progress: Progress) -> Tiers:
        """Build one tier for each column; its areas are numbered in the order of the file."""
        progress.update("Arranging places in tiers")
        chosen = [name for name in parse_list(self.columns) if name]
        check_labels(context.regions, chosen)
        parents = []
        names = []
        assigned = []
        areas = membership
        for column in chosen:
            values = list(dict.fromkeys(context.regions.labels[column]))
            number = {value: area for area, value in enumerate(values)}
            larger_areas = np.array(
                [number[value] for value in context.regions.labels[column]], np.int32
            )
            parent, spread = _assign_to_largest_share(areas, larger_areas, len(values))
            used = np.unique(parent)
            parents.append(np.searchsorted(used, parent).astype(np.int32))
            names.append(tuple(values[area] for area in used.tolist()))
            assigned.append(spread)
            areas = parents[-1][areas]
        titles = [FIRST_TIER, *chosen]
        if len(names[-1]) > 1:
            parents.append(np.zeros(len(names[-1]), np.int32))
            titles.append(WHOLE_AREA)
        frozen_parents = tuple(as_readonly(parent) for parent in parents)
        padding = (None,) * (len(titles) - len(names) - 1)
        return Tiers(frozen_parents, tuple(titles), (None, *names, *padding), tuple(assigned))


def check_labels(regions: Regions, chosen: Sequence[str]) -> None:
    """Refuse columns that the region file does not have, that are empty somewhere, or that are named twice."""
    findings = []
    file = None if regions.source is None else regions.source.path
    if not chosen:
        findings.append(
            Finding("tiers", "No column is named for the tiers.", "Name columns of the region file.")
        )
    for column in dict.fromkeys(chosen):
        if chosen.count(column) > 1:
            findings.append(Finding("tiers", "The column is named twice for the tiers.", column=column))
        if column not in regions.labels:
            there = ", ".join(f"“{name}”" for name in regions.labels) or "none"
            findings.append(
                regions.find_missing_column("tiers", column)
                or Finding(
                    "tiers",
                    f"No column “{column}” of the region file says in which larger areas regions lie.",
                    f"Columns with values that regions share: {there}.",
                    file=file,
                )
            )
            continue
        empty = [
            id
            for id, value in zip(regions.ids, regions.labels[column], strict=True)
            if not value.strip()
        ]
        if empty:
            names = inflect(len(empty), "names", "name")
            message = f"{format_count(len(empty), 'region')} {names} no place, the first is region “{empty[0]}”."
            findings.append(
                Finding(
                    "tiers", message, "Fill the column, or choose another one.", file=file, column=column
                )
            )
    if findings:
        raise InputError(findings)


def _assign_to_largest_share(
    areas: NDArray[np.int32], larger_areas: NDArray[np.int32], number: int
) -> tuple[NDArray[np.int32], int]:
    """Find for each area the larger one with most of its initial regions; count the areas that lie in several."""
    pairs, counts = np.unique(areas.astype(np.int64) * number + larger_areas, return_counts=True)
    area = pairs // number
    larger = pairs % number
    # Sorted so that the largest share of each place comes first; of equal ones that with the lower number.
    order = np.lexsort((larger, -counts, area))
    _, first = np.unique(area[order], return_index=True)
    spread = int(np.count_nonzero(np.bincount(area) > 1))
    return larger[order[first]].astype(np.int32), spread

"""The section of the reports on how much of the geography the release keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.engine.place import PlaceVector, distance_scale
from vbas_desktop.release.plan import Plan
from vbas_desktop.release.tables import code_order

from .blocks import Block, Pairs, Paragraph, Table
from .shared import counts, region_table

_INTRODUCTION = (
    "Merging regions moves records: after it, a record’s place is known only as its aggregated region. These numbers "
    "say how much that changes."
)


def recipients_place(overall: Mapping[str, Any]) -> Iterable[Block]:
    """For the recipient, from the released vector."""
    yield Paragraph(_INTRODUCTION)
    low, high = overall["sample_size_ratio_at_least"], overall["sample_size_ratio_at_most"]
    share = "not stated" if (low, high) == (0, 1) else f"{100 * low:.0f} to {100 * high:.0f} %"
    moved = "mean distance from an initial region to the middle of its aggregated region, weighted by its records"
    yield _measures(overall, share, moved)
    yield Paragraph(
        "The same with every aggregated region is in representability.json. Widths and distances take every initial "
        "region once, because how records were spread over them is not released; two digits are given.",
        quiet=True,
    )


def _measures(overall: Mapping[str, Any], share: str, moved: str) -> Table:
    unit = overall["distance_unit"]
    items = [
        ("Detail kept", _number(overall["precision"]), "1 if every value and place is as it was: the mean over the "
         "columns"),
        ("Detail kept by column", _by_column(overall["precision_by_column"]), "0.5 for a column of grouped values; the "
         "place loses log₂(initial regions in the record’s place) / log₂(all initial regions): 1 if nothing is merged, "
         "0 for one region"),
        ("Kept together (Jaccard)", _number(overall["jaccard"]), "of the pairs of records with the same values and the "
         "same aggregated region, the share that already had the same initial region"),
        ("Fowlkes–Mallows", _number(overall["fowlkes_mallows"]), "the square root of it, as no class is ever split"),
        ("Hubert’s statistic", _number(overall["hubert"]), "the correlation of being together before and after, over "
         "all pairs of records"),
        ("Loss by entropy", _number(overall["entropy_loss"]), "how uncertain the initial region and values of a record "
         "are if its class is known: 0 nothing is lost, 1 everything"),
        ("Davies–Bouldin", _number(overall["davies_bouldin"]), "how wide the aggregated regions are against the "
         "distance of their middles: lower is better"),
        ("Davies–Bouldin, normalised", _number(overall["davies_bouldin_normalised"]), "the same between the best case "
         "(0: nothing merged) and the worst (1), which is one for all releases of a file"),
        ("Distance moved", _number(overall["mean_distance"], f" {unit}"), moved),
        ("Share of records released", share, "of the records of the file"),
    ]  # fmt: skip
    return Table(("measure", "value", "what it says"), items, 1, 2)


def place_blocks(plan: Plan, place: PlaceVector) -> Iterable[Block]:
    """For the file: exact, and with a table by region."""
    overall = place.as_dict(plan.problem.regions.system.unit)
    yield Paragraph(_INTRODUCTION)
    moved = "mean distance from the initial region to the middle of the aggregated region’s records"
    yield _measures(overall, f"{100 * overall['sample_size_ratio']:.4g} %", moved)
    yield Paragraph(
        f"With the suppressed records taken as one more class: Jaccard {_number(overall['jaccard_with_suppressed'])}, "
        f"Fowlkes–Mallows {_number(overall['fowlkes_mallows_with_suppressed'])}, detail kept "
        f"{_number(overall['precision_with_suppressed'])}. The Rand index is "
        f"{_number(overall['rand'])}; it is close to 1 whatever is merged and says little here.",
        quiet=True,
    )
    yield Pairs([("Over the aggregated regions", _spread(place, plan))])
    yield _farthest(plan, place)


def _spread(place: PlaceVector, plan: Plan) -> str:
    scale, unit = distance_scale(plan.problem.regions.system.unit)
    jaccard, distance = _quartiles(place.region_jaccard), _quartiles(place.region_distance / scale)
    if jaccard is None or distance is None:
        return "no record was released"
    told = ", ".join(f"{value:.3g}" for value in distance)
    return f"quartiles of Jaccard {', '.join(f'{value:.3f}' for value in jaccard)}; of the distance {told} {unit}"


def _quartiles(values: NDArray[np.float64]) -> list[float] | None:
    known = values[np.isfinite(values)]
    return [float(value) for value in np.quantile(known, (0.25, 0.5, 0.75))] if known.size else None


def _farthest(plan: Plan, place: PlaceVector) -> Table:
    scale, unit = distance_scale(plan.problem.regions.system.unit)
    order = sorted(code_order(plan), key=lambda number: -np.nan_to_num(place.region_distance[number], nan=-1.0))
    columns = {
        "records released": counts(plan.released_by_region),
        "kept together": lambda number: _number(float(place.region_jaccard[number])),
        "Fowlkes–Mallows": lambda number: _number(float(place.region_fowlkes_mallows[number])),
        "Davies–Bouldin": lambda number: _number(float(place.region_davies_bouldin[number])),
        f"distance moved ({unit})": lambda number: _number(float(place.region_distance[number]) / scale),
    }
    return region_table(plan, order, columns, caption="Those whose records moved farthest first.")


def _by_column(by_column: Mapping[str, float] | None) -> str:
    if by_column is None:
        return _number(None)
    return "; ".join(f"{name} {_number(value)}" for name, value in by_column.items())


def _number(value: float | None, unit: str = "") -> str:
    if value is None or not np.isfinite(value):
        return "not stated" if value is None else "–"
    return f"{value:.4g}{unit}"

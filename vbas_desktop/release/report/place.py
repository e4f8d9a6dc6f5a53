"""The section of the reports on how much of the geography the release keeps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.engine.place import PlaceVector, distance_scale

from ..plan import Plan
from ..tables import code_order
from .blocks import Block, Pairs, Paragraph, Table

_LONGEST = 300


def place_blocks(plan: Plan, place: PlaceVector, recipients: dict[str, object] | None) -> Iterable[Block]:
    """For the file (``recipients`` is None) with a table by region; for the recipient from the released vector."""
    overall = place.as_dict(plan.problem.regions.system.unit) if recipients is None else recipients["overall"]
    assert isinstance(overall, dict)
    unit = overall["distance_unit"]
    yield Paragraph(
        "Merging regions moves records: after it, a record’s place is known only as its aggregated region. These "
        "numbers say how much that changes."
    )
    items = [
        ("Precision", _number(overall["precision"]), "1 if every value and place is as it was: the mean over the "
         "columns of the share of their levels that was not climbed (value, group or aggregated region, suppressed)"),
        ("Kept together (Jaccard)", _number(overall["jaccard"]), "of the pairs of records with the same values and the "
         "same aggregated region, the share that already had the same initial region"),
        ("Fowlkes–Mallows", _number(overall["fowlkes_mallows"]), "the square root of it, as no class is ever split"),
        ("Davies–Bouldin", _number(overall["davies_bouldin"]), "how wide the aggregated regions are against the "
         "distance of their middles: lower is better"),
        ("Davies–Bouldin, normalised", _number(overall["davies_bouldin_normalised"]), "the same between the best case "
         "(0: nothing merged) and the worst (1: every region as wide as all records are spread)"),
        ("Distance moved", _number(overall["mean_distance"], f" {unit}"), "mean distance from the initial region to "
         "the middle of the aggregated region’s records"),
        ("Share of records released", _share(overall["sample_size_ratio"]), "of the records of the file"),
    ]  # fmt: skip
    yield Table(("measure", "value", "what it says"), items, 1, 2)
    if recipients is not None:
        yield Paragraph(
            "The same with every aggregated region, as far as it tells of no small group, is in representability.json.",
            quiet=True,
        )
        return
    yield Paragraph(
        f"With the suppressed records taken as one more class: Jaccard {_number(overall['jaccard_with_suppressed'])}, "
        f"Fowlkes–Mallows {_number(overall['fowlkes_mallows_with_suppressed'])}, precision "
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
    rows = [
        (
            plan.codes[number],
            f"{plan.released_by_region[number]:,}",
            _number(float(place.region_jaccard[number])),
            _number(float(place.region_fowlkes_mallows[number])),
            _number(float(place.region_distance[number]) / scale),
        )
        for number in order[:_LONGEST]
    ]
    headings = ("aggregated region", "records released", "kept together", "Fowlkes–Mallows", f"distance moved ({unit})")
    return Table(headings, rows, caption="Those whose records moved farthest first.")


def _number(value: float | None, unit: str = "") -> str:
    if value is None or not np.isfinite(value):
        return "not stated" if value is None else "–"
    return f"{value:.4g}{unit}"


def _share(value: float | None) -> str:
    return "not stated" if value is None else f"{100 * value:.4g} %"

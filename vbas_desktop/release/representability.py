"""The representability vector of a release: all of it for the file, what may leave for the recipient."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.assessment.representability.vector import FORMAT_VERSION
from vbas_desktop.engine.place import PlaceVector, distance_scale
from vbas_desktop.engine.place_parts import HEIGHT

from .options import ReleaseOptions
from .plan import Plan
from .tables import code_order

FILE = "representability.json"
_INDICES = ("jaccard", "fowlkes_mallows", "rand", "davies_bouldin", "davies_bouldin_normalised")
ENOUGH = 10
"""Indices are told only of at least so many times k released records: of fewer, a split could be worked out."""


def tellable_regions(plan: Plan, place: PlaceVector) -> NDArray[np.bool_]:
    """The aggregated regions whose distance the recipient may see.

    It depends on how the records were spread over the initial regions, so it is told only where there are many
    records, and no initial region has between 1 and k − 1 of them.
    """
    k = plan.problem.k
    few = (place.released > 0) & (place.released < k)
    with_few = np.bincount(plan.membership, few, minlength=len(plan.codes)) > 0
    return np.asarray((plan.released_by_region >= ENOUGH * k) & ~with_few)


def recipients_vector(
    plan: Plan, place: PlaceVector, options: ReleaseOptions, header: Sequence[str], total_is_told: bool
) -> dict[str, Any]:
    """The vector as it is released: rounded, and nothing in it tells of fewer than k records.

    ``total_is_told``: whether the number of suppressed records may be known; the sample ratio gives it away.
    """
    problem, system = plan.problem, plan.problem.regions.system
    scale, unit = distance_scale(system.unit)
    overall: Mapping[str, Any] = {**place.as_dict(system.unit)}
    told = tellable_regions(plan, place)
    withheld = ~told & (plan.members_by_region > 1) & (plan.released_by_region > 0)
    # What all regions give less what the others give would be the figures of the one or two that are withheld.
    enough = plan.records_released >= ENOUGH * problem.k and np.count_nonzero(withheld) not in (1, 2)
    columns = {column for column, _ in options.released_columns(header)}
    quasi = [*problem.quasi_identifiers, problem.region_column]
    return {
        "format_version": FORMAT_VERSION,
        "overall": {
            # Follows from the released file and the crosswalk alone.
            "precision": overall["precision"],
            "precision_by_column": overall["precision_by_column"],
            **{name: _index(overall[name]) if enough else None for name in _INDICES},
            "mean_distance": _rounded(overall["mean_distance"]) if enough else None,
            "distance_unit": unit,
            "sample_size_ratio": round(overall["sample_size_ratio"], 6) if total_is_told else None,
        },
        "per_class": [_region(plan, place, number, scale, bool(told[number])) for number in code_order(plan)],
        "excluded_attributes": {
            name: "identifier" if name in options.identifiers else "not chosen for the release"
            for name in header
            if name not in columns
        },
        "included_quasi_identifiers": quasi,
        "excluded_classes": {
            "classes": [],
            "unnamed_records": plan.records_suppressed if total_is_told else None,
        },
        "coding": _coding(plan, place),
        "sensitive_values": {},
        "sensitive_aggregated": False,
        "weights": {"quasi_identifiers": {name: 1 / len(quasi) for name in quasi}, "levels": {}},
        "general": {
            "k": problem.k,
            "approaches": {
                "generalise": plan.records_released,
                "delete": plan.records_suppressed if total_is_told else None,
            },
            "initial_regions": len(problem.regions),
            "aggregated_regions": len(plan.codes),
            "released_records": plan.records_released,
        },
    }


def _coding(plan: Plan, place: PlaceVector) -> dict[str, Any]:
    """What the values of each column mean, and how many released records are on which level."""
    problem = plan.problem
    grouped = {grouping.column for grouping in problem.groupings}
    meaning = {name: "grouped values" if name in grouped else "as recorded" for name in problem.quasi_identifiers}
    meaning[problem.region_column] = "aggregated region; crosswalk.csv lists its initial regions"
    return {
        name: {
            "meaning": words,
            "height": HEIGHT,
            "records_by_level": {f"level {level}": records for level, records in place.levels[name].items()},
        }
        for name, words in meaning.items()
    }


def as_text(document: dict[str, Any]) -> str:
    """The document as it is written."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _region(plan: Plan, place: PlaceVector, number: int, scale: float, told: bool) -> dict[str, Any]:
    alone = plan.members_by_region[number] == 1
    distance = float(place.region_distance[number]) / scale
    stated = (told or alone) and plan.released_by_region[number] > 0
    return {
        "class": {plan.problem.region_column: plan.codes[number]},
        "records": int(plan.released_by_region[number]),
        "original_classes": int(plan.members_by_region[number]),
        # How each single class was spread decides it, and such parts are small: told only where nothing was merged.
        "jaccard": 1.0 if stated and alone else None,
        "mean_distance": _rounded(distance) if stated else None,
    }


def _index(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(value, 2)


def _rounded(value: float | None) -> float | None:
    """Two significant digits: enough to judge, too few to count back."""
    return None if value is None or not np.isfinite(value) else float(f"{value:.2g}")

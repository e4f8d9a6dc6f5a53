"""The representability vector of a release, as the recipient gets it: made from what he is told and nothing else."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from vbas_desktop.algorithms.indices import PairCounts
from vbas_desktop.assessment.representability.attributes import REGION, ValueRange, attribute_row
from vbas_desktop.assessment.representability.vector import FORMAT_VERSION
from vbas_desktop.engine.place import HEIGHT, distance_scale
from vbas_desktop.settings.release import ReleaseOptions

from .disclosure import Told, ToldColumn, two_digits
from .tables import code_order

FILE = "representability.json"


def recipients_vector(told: Told, options: ReleaseOptions, header: Sequence[str]) -> dict[str, Any]:
    """The vector as it is released: two digits, under the names of the release."""
    columns = {column for column, _ in options.released_columns(header)}
    quasi = [*(column.name for column in told.columns), told.region_column]
    originals = {shown: column for column, shown in options.released_columns(header)}
    excluded = {
        name: options.reasons.get(name) or _usual_reason(name, options) for name in header if name not in columns
    }
    return {
        "format_version": FORMAT_VERSION,
        "overall": _overall(told),
        "per_class": [_region(told, number) for number in code_order(told)],
        "excluded_attributes": excluded,
        "included_quasi_identifiers": quasi,
        "attributes": _attributes(told, options, excluded, originals),
        "excluded_classes": {"classes": [], "unnamed_records": None},
        "coding": _coding(told, options, originals),
        "sensitive_values": {},
        "sensitive_aggregated": bool(options.aggregate),
        "weights": {"quasi_identifiers": {name: 1 / len(quasi) for name in quasi}, "levels": {}},
        "general": {
            "k": told.k,
            "approaches": {"generalise": told.records, "delete": None},
            "initial_regions": len(told.regions),
            "aggregated_regions": len(told.codes),
            "released_records": told.records,
        },
    }


def _overall(told: Told) -> dict[str, Any]:
    by_column = told.precision_by_column
    scale, unit = distance_scale(told.regions.system.unit)
    distance = told.mean_distance
    return {
        "precision": by_column and two_digits(sum(by_column.values()) / len(by_column)),
        "precision_by_column": by_column and {name: two_digits(value) for name, value in by_column.items()},
        **_indices(told),
        # It depends on how the records were spread over the initial regions, which is not released.
        "entropy_loss": None,
        "davies_bouldin": two_digits(told.separation.value),
        "davies_bouldin_normalised": two_digits(told.separation.normalised),
        "mean_distance": None if distance is None else two_digits(distance / scale),
        "distance_unit": unit,
        "sample_size_ratio": None,
        "sample_size_ratio_at_least": (100 - told.suppressed.high) / 100,
        "sample_size_ratio_at_most": (100 - told.suppressed.low) / 100,
    }


def _indices(told: Told) -> dict[str, float | None]:
    """Compute Fowlkes–Mallows, Rand and Hubert from the printed Jaccard index, so that they tell no more than it."""
    jaccard, records = told.jaccard, told.records
    if jaccard is None:
        return {"jaccard": None, "fowlkes_mallows": None, "rand": None, "hubert": None}
    joined = sum(size * (size - 1) // 2 for size in told.sizes.tolist())
    every = records * (records - 1) // 2
    rand = 1 - (1 - jaccard) * joined / every if every else None
    # Pairs that stayed together, as the printed index gives them; no class is ever split.
    together = round(jaccard * joined)
    hubert = PairCounts(together, 0, joined - together, every - joined).hubert
    return {
        "jaccard": jaccard,
        "fowlkes_mallows": two_digits(math.sqrt(jaccard)),
        "rand": two_digits(rand),
        "hubert": two_digits(hubert),
    }


def _usual_reason(column: str, options: ReleaseOptions) -> str:
    return "identifier" if column in options.identifiers else "not chosen for the release"


def _attributes(
    told: Told, options: ReleaseOptions, excluded: Mapping[str, str], originals: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Describe the excluded columns by the custodian's words, the others also by their released values."""
    rows = [attribute_row(name, "excluded", None, options.aims, excluded) for name in excluded]
    values = {column.name: column.values for column in told.columns}
    values[told.region_column] = ValueRange(REGION, {"categories": len(told.codes)})
    for shown, described in values.items():
        name = originals.get(shown, shown)
        row = attribute_row(name, "quasi-identifier", described, options.aims, options.reasons)
        rows.append({**row, "name": shown})
    return rows


def _coding(told: Told, options: ReleaseOptions, originals: Mapping[str, str]) -> dict[str, Any]:
    """What the values of each column mean, and how many released records are on which level."""
    meaning = {column.name: _values_in_words(column) for column in told.columns}
    meaning[told.region_column] = "aggregated region; crosswalk.csv lists its initial regions"
    if told.coarser:
        meaning[told.region_column] = "smallest place in which the record may be told; crosswalk.csv lists them all"
    levels = told.levels
    return {
        name: {
            "meaning": words,
            "height": told.heights.get(name, HEIGHT),
            "records_by_level": {f"level {level}": records for level, records in levels[name].items()},
            "description": options.meanings.get(originals.get(name, name), ""),
        }
        for name, words in meaning.items()
    }


def _values_in_words(column: ToldColumn) -> str:
    """Say what became of the values of a quasi-identifier."""
    if column.grouped:
        return "grouped values"
    return "other names for the recorded values" if column.renamed else "as recorded"


def _region(told: Told, number: int) -> dict[str, Any]:
    scale, _ = distance_scale(told.regions.system.unit)
    released, members = int(told.released_by_region[number]), int(told.members_by_region[number])
    return {
        "class": {told.region_column: told.codes[number]},
        "records": released,
        "original_classes": members,
        "jaccard": 1.0 if released and members == 1 else None,
        "mean_distance": two_digits(float(told.distances[number]) / scale) if released else None,
        "davies_bouldin": two_digits(float(told.ratios[number])) if released else None,
    }


def as_text(document: dict[str, Any]) -> str:
    """The document as it is written."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

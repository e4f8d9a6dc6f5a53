"""The representability vector of a release, as the recipient gets it: made from what he is told and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vbas_desktop.algorithms.validity_indices import ContingencyTable, SizeSums
from vbas_desktop.analysis.representability.attributes import REGION, ValueRange, build_attribute_row
from vbas_desktop.analysis.representability.report import FORMAT_VERSION
from vbas_desktop.engine.geographic_representability import HEIGHT, distance_scale
from vbas_desktop.settings.release import ReleaseOptions

from .recipient_facts import RecipientColumn, RecipientFacts, round_to_two_digits
from .tables import code_order

FILE = "representability.json"


def build_recipient_vector(
    facts: RecipientFacts, options: ReleaseOptions, header: Sequence[str]
) -> dict[str, Any]:
    """Build the vector as it is released: two digits, under the names of the release."""
    columns = {column for column, _ in options.released_columns(header)}
    quasi = [*(column.name for column in facts.columns), facts.region_column]
    originals = {new_name: column for column, new_name in options.released_columns(header)}
    excluded = {
        name: options.reasons.get(name) or _usual_reason(name, options)
        for name in header
        if name not in columns
    }
    return {
        "format_version": FORMAT_VERSION,
        "overall": _overall(facts),
        "per_class": [_region(facts, number) for number in code_order(facts)],
        "excluded_attributes": excluded,
        "included_quasi_identifiers": quasi,
        "attributes": _attributes(facts, options, excluded, originals),
        "excluded_classes": {"classes": [], "unnamed_records": None},
        "coding": _coding(facts, options, originals),
        "sensitive_values": {},
        "sensitive_aggregated": bool(options.aggregate),
        "weights": {"quasi_identifiers": {name: 1 / len(quasi) for name in quasi}, "levels": {}},
        "general": {
            "k": facts.k,
            "approaches": {"generalise": facts.records, "delete": None},
            "initial_regions": len(facts.regions),
            "aggregated_regions": len(facts.codes),
            "released_records": facts.records,
        },
    }


def _overall(facts: RecipientFacts) -> dict[str, Any]:
    by_column = facts.precision_by_column
    scale, unit = distance_scale(facts.regions.system.unit)
    distance = facts.mean_distance
    return {
        "precision": by_column and round_to_two_digits(sum(by_column.values()) / len(by_column)),
        "precision_by_column": by_column
        and {name: round_to_two_digits(value) for name, value in by_column.items()},
        **_indices(facts),
        "davies_bouldin": round_to_two_digits(facts.separation.value),
        "davies_bouldin_normalised": round_to_two_digits(facts.separation.normalised),
        "mean_distance": None if distance is None else round_to_two_digits(distance / scale),
        "distance_unit": unit,
        "sample_size_ratio": None,
        "sample_size_ratio_at_least": (100 - facts.suppressed.high) / 100,
        "sample_size_ratio_at_most": (100 - facts.suppressed.low) / 100,
    }


def _indices(facts: RecipientFacts) -> dict[str, float | None]:
    """Compute Fowlkes–Mallows, Rand and Hubert from the printed Jaccard index, so that they tell no more than it."""
    jaccard = facts.jaccard
    if jaccard is None:
        return {
            "jaccard": None,
            "fowlkes_mallows": None,
            "rand": None,
            "hubert": None,
            "entropy_loss": None,
        }
    released = SizeSums.of(facts.sizes)
    # Pairs that stayed together, as the printed index gives them; no class is ever split. The entropy-based loss stays
    # unknown: it depends on how the records were spread over the initial regions, which is not released.
    cells = SizeSums(released.records, pairs=round(jaccard * released.pairs))
    table = ContingencyTable(cells, cells, released)
    return {
        "jaccard": jaccard,
        "fowlkes_mallows": round_to_two_digits(table.fowlkes_mallows),
        "rand": round_to_two_digits(table.rand),
        "hubert": round_to_two_digits(table.hubert),
        "entropy_loss": table.entropy_loss,
    }


def _usual_reason(column: str, options: ReleaseOptions) -> str:
    return "identifier" if column in options.identifiers else "not chosen for the release"


def _attributes(
    facts: RecipientFacts,
    options: ReleaseOptions,
    excluded: Mapping[str, str],
    originals: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Describe the excluded columns by the custodian's words, the others also by their released values."""
    rows = [build_attribute_row(name, "excluded", None, options.aims, excluded) for name in excluded]
    values = {column.name: column.values for column in facts.columns}
    values[facts.region_column] = ValueRange(REGION, {"categories": len(facts.codes)})
    for new_name, described in values.items():
        name = originals.get(new_name, new_name)
        row = build_attribute_row(name, "quasi-identifier", described, options.aims, options.reasons)
        rows.append({**row, "name": new_name})
    return rows


def _coding(
    facts: RecipientFacts, options: ReleaseOptions, originals: Mapping[str, str]
) -> dict[str, Any]:
    """Describe the values of each column, and count the released records on each level."""
    meaning = {column.name: _values_in_words(column) for column in facts.columns}
    meaning[facts.region_column] = "aggregated region; crosswalk.csv lists its initial regions"
    if facts.coarser:
        meaning[facts.region_column] = (
            "smallest place in which the record may be released; crosswalk.csv lists them all"
        )
    levels = facts.levels
    return {
        name: {
            "meaning": words,
            "height": facts.heights.get(name, HEIGHT),
            "records_by_level": {f"level {level}": records for level, records in levels[name].items()},
            "description": options.meanings.get(originals.get(name, name), ""),
        }
        for name, words in meaning.items()
    }


def _values_in_words(column: RecipientColumn) -> str:
    """Say what became of the values of a quasi-identifier."""
    if column.grouped:
        return "grouped values"
    return "other names for the recorded values" if column.renamed else "as recorded"


def _region(facts: RecipientFacts, number: int) -> dict[str, Any]:
    scale, _ = distance_scale(facts.regions.system.unit)
    released = int(facts.released_by_region[number])
    members = int(facts.members_by_region[number])
    return {
        "class": {facts.region_column: facts.codes[number]},
        "records": released,
        "original_classes": members,
        "jaccard": 1.0 if released and members == 1 else None,
        "mean_distance": round_to_two_digits(float(facts.distances[number]) / scale)
        if released
        else None,
        "davies_bouldin": round_to_two_digits(float(facts.ratios[number])) if released else None,
    }


def format_vector(document: dict[str, Any]) -> str:
    """Format the document as it is written."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

"""The representability vector: everything a researcher should know of how a release differs from its original.

Nothing in it tells of fewer than k records: smaller numbers are left out and counted as "fewer than k".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.errors import Finding, InputError, Severity
from vbas_desktop.domain.records import MISSING, finite_number
from vbas_desktop.files.records import RecordTable

from .classes import Classes, Label
from .distances import Distance
from .hierarchy import Hierarchy, unlisted_values
from .indices import DaviesBouldin, PairCounts, davies_bouldin
from .pairing import UNEXPLAINED, Pairing, pair

_MATRIX_LIMIT = 20_000_000
"""Cells of original × released classes up to which Davies–Bouldin is computed."""

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Choices:
    """What the vector is made of: k, columns, weights of the columns (sum 1), excluded columns with their reason."""

    k: int
    key: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    excluded: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(Finding("k", "k is at least 1.", "Choose a larger k."))
        if self.weights:
            wrong = [name for name in self.weights if name not in self.quasi_identifiers]
            total = sum(self.weights.values())
            if wrong or set(self.weights) != set(self.quasi_identifiers):
                raise InputError(Finding("weights", "Every quasi-identifier needs a weight, and no other column."))
            if min(self.weights.values()) <= 0 or abs(total - 1.0) > 1e-6:
                raise InputError(
                    Finding("weights", f"The weights add up to {total:g}.", "They are above 0 and add up to 1.")
                )

    def column_weights(self) -> NDArray[np.float64]:
        """The weights in the order of the quasi-identifiers; all alike where none are given."""
        if not self.weights:
            return np.full(len(self.quasi_identifiers), 1.0 / len(self.quasi_identifiers))
        return np.array([self.weights[name] for name in self.quasi_identifiers])


def representability(
    original: RecordTable, released: RecordTable, choices: Choices, hierarchies: Mapping[str, Hierarchy]
) -> dict[str, Any]:
    """The whole vector as plain JSON data, its elements under their names in words."""
    paired = pair(original, released, choices.key, choices.quasi_identifiers, hierarchies)
    ordered = [hierarchies[name] for name in choices.quasi_identifiers]
    precisions = _cell_precision(paired, ordered, choices)
    centres = _between(paired, choices)
    sizes = paired.released.sizes
    small = int(sizes[sizes < choices.k].sum())
    warnings = [*unlisted_values(paired.original, hierarchies), *_other_changes(original, released, paired, choices)]
    return {
        "format_version": FORMAT_VERSION,
        "warnings": [finding.as_dict() for finding in warnings],
        "overall": _overall(original, released, paired, precisions, centres),
        "per_class": _per_class(paired, precisions, choices.k),
        "classes_below_k": {"records": shown(small, choices.k), "k_anonymous": small == 0},
        "excluded_attributes": _excluded(original, released, choices),
        "included_quasi_identifiers": list(choices.quasi_identifiers),
        "excluded_classes": _excluded_classes(paired, choices.k),
        "coding": _coding(paired, ordered, choices),
        "sensitive_values": {
            name: _sensitive(released, paired.released, name, choices.k)
            for name in choices.sensitive
            if name in released.dialect.header
        },
        "sensitive_columns": [name for name in choices.sensitive if name in released.dialect.header],
        "sensitive_aggregated": any(
            name in released.dialect.header and _changed(original, released, paired, name) for name in choices.sensitive
        ),
        "weights": {
            "quasi_identifiers": dict(zip(choices.quasi_identifiers, choices.column_weights().tolist(), strict=True)),
            "levels": {hierarchy.column: list(hierarchy.weights) for hierarchy in ordered if hierarchy.weights},
        },
        "general": {
            "k": choices.k,
            "approaches": {name: shown(records, choices.k) for name, records in paired.approaches().items()},
            "hierarchy_heights": {hierarchy.column: hierarchy.height for hierarchy in ordered},
            "original_records": original.rows,
            "released_records": released.rows,
            "sample_size_ratio": paired.common / original.rows,
        },
    }


def shown(records: int, k: int) -> int | None:
    """A number of records that may be told: 0 or at least k; None stands for "fewer than k"."""
    return records if records == 0 or records >= k else None


def _cell_precision(paired: Pairing, hierarchies: Sequence[Hierarchy], choices: Choices) -> NDArray[np.float64]:
    """The precision of each cell: 1 − the mean (with weights: weighted mean) share climbed; a moved value counts 1."""
    weights = choices.column_weights()
    loss = np.zeros(len(paired.cell_records))
    for q, hierarchy in enumerate(hierarchies):
        level = paired.levels[:, q]
        share = np.array([1.0 if n == UNEXPLAINED else hierarchy.share(int(n)) for n in level])
        loss += weights[q] * share
    return 1.0 - loss


def _overall(
    original: RecordTable,
    released: RecordTable,
    paired: Pairing,
    precisions: NDArray[np.float64],
    index: DaviesBouldin,
) -> dict[str, Any]:
    before = np.bincount(paired.cell_original, paired.cell_records).astype(np.int64)
    after = np.bincount(paired.cell_released, paired.cell_records).astype(np.int64)
    counts = PairCounts.of(paired.cell_records, before, after)
    return {
        "precision": float((precisions * paired.cell_records).sum() / paired.common),
        "rand": counts.rand,
        "jaccard": counts.jaccard,
        "fowlkes_mallows": counts.fowlkes_mallows,
        "davies_bouldin": index.value,
        "davies_bouldin_coinciding_classes": index.coinciding_pairs,
        "sample_size_ratio": paired.common / original.rows,
    }


def _per_class(paired: Pairing, precisions: NDArray[np.float64], k: int) -> list[dict[str, Any]]:
    """Size, precision and the share of pairs that belonged together before, for each class of at least k records."""
    sizes = paired.released.sizes
    rows = []
    for number in np.flatnonzero(sizes >= k):
        mine = paired.cell_released == number
        records = paired.cell_records[mine]
        total = int(records.sum())
        counts = PairCounts.of(records, records, [total]) if total else None
        rows.append(
            {
                "class": _named(paired.released, int(number)),
                "records": int(sizes[number]),
                "precision": float((precisions[mine] * records).sum() / total) if total else None,
                "jaccard": counts.jaccard if counts else None,
                "original_classes": int(mine.sum()),
                "levels": _class_levels(paired, mine),
            }
        )
    return rows


def _class_levels(paired: Pairing, mine: NDArray[np.bool_]) -> dict[str, int]:
    names = paired.released.columns
    if not mine.any():
        return {}
    return {name: int(paired.levels[mine, q].max()) for q, name in enumerate(names)}


def _named(classes: Classes, number: int) -> dict[str, str]:
    return dict(zip(classes.columns, (value or MISSING for value in classes.labels[number]), strict=True))


def _excluded(original: RecordTable, released: RecordTable, choices: Choices) -> dict[str, str]:
    gone = [name for name in original.dialect.header if name not in released.dialect.header]
    return {name: choices.excluded.get(name, "not in the released file") for name in gone}


def _excluded_classes(paired: Pairing, k: int) -> dict[str, Any]:
    """Original classes of which nothing was released; named only where they had at least k records."""
    released = np.zeros(len(paired.original.labels), bool)
    released[paired.cell_original] = True
    sizes = paired.original.sizes
    gone = np.flatnonzero(~released)
    named = [int(number) for number in gone if sizes[number] >= k]
    rest = int(sizes[[number for number in gone if sizes[number] < k]].sum()) if gone.size else 0
    return {
        "classes": [{"class": _named(paired.original, number), "records": int(sizes[number])} for number in named],
        "unnamed_records": shown(rest, k),
    }


def _coding(paired: Pairing, hierarchies: Sequence[Hierarchy], choices: Choices) -> dict[str, Any]:
    """What the values of each quasi-identifier mean: as in the original, on which levels, or replaced."""
    coding = {}
    for q, hierarchy in enumerate(hierarchies):
        records: dict[str, int | None] = {}
        for level in np.unique(paired.levels[:, q]):
            count = int(paired.cell_records[paired.levels[:, q] == level].sum())
            name = "replaced" if level == UNEXPLAINED else f"level {level}"
            records[name] = shown(count, choices.k)
        coding[hierarchy.column] = {"height": hierarchy.height, "records_by_level": records}
    return coding


def _sensitive(table: RecordTable, classes: Classes, column: str, k: int) -> list[dict[str, Any]]:
    """Count, mean and sample standard deviation of a numeric column per class of at least k records."""
    categories = table.facts(column).categories
    codes = table.codes(column)
    assert categories is not None
    numbers = np.array([np.nan if (n := finite_number(v)) is None else n for v in categories.values])[codes]
    rows = []
    sizes = classes.sizes
    for number in np.flatnonzero(sizes >= k):
        values = numbers[classes.class_of == number]
        usable = values[~np.isnan(values)]
        enough = usable.size >= k
        rows.append(
            {
                "class": _named(classes, int(number)),
                "count": shown(int(usable.size), k),
                "mean": float(usable.mean()) if enough else None,
                "sd": float(usable.std(ddof=1)) if enough and usable.size > 1 else None,
            }
        )
    return rows


def _changed(original: RecordTable, released: RecordTable, paired: Pairing, column: str) -> int:
    """In how many common records a column holds another value than before, such as the mean of the class."""
    before, after = original.facts(column).categories, released.facts(column).categories
    if before is None or after is None:
        return 0
    place = {value: number for number, value in enumerate(before.values)}
    translate = np.array([place.get(value, -1) for value in after.values], np.int64)
    old = original.codes(column)[paired.original_rows].astype(np.int64)
    return int(np.count_nonzero(old != translate[released.codes(column)[paired.released_rows]]))


def _other_changes(original: RecordTable, released: RecordTable, paired: Pairing, choices: Choices) -> list[Finding]:
    """A warning for each further column that differs: it should be among the quasi-identifiers, or the rows changed."""
    findings = []
    known = {choices.key, *choices.quasi_identifiers, *choices.sensitive}
    for name in original.dialect.header:
        if name in known or name not in released.dialect.header:
            continue
        changed = _changed(original, released, paired, name)
        if changed:
            number = f"{changed:,}" if changed >= choices.k else f"fewer than {choices.k:,}"
            message = f"The column differs in {number} records, although it is neither quasi-identifier nor sensitive."
            remedy = "Name it among the quasi-identifiers, or check that the key names the same record in both files."
            findings.append(Finding("changed-rows", message, remedy, Severity.WARNING, column=name))
    return findings


def _between(paired: Pairing, choices: Choices) -> DaviesBouldin:
    """Davies–Bouldin over the released classes, each with the record-weighted centre of its original values."""
    before, after = paired.original, paired.released
    if len(before.labels) * len(after.labels) > _MATRIX_LIMIT or len(after.labels) ** 2 > _MATRIX_LIMIT:
        return DaviesBouldin(None, 0)
    members = np.zeros((len(after.labels), len(before.labels)), np.int64)
    members[paired.cell_released, paired.cell_original] = paired.cell_records
    members = members[members.sum(axis=1) > 0]
    features = _features(before.labels, Distance.of_labels(before.labels), choices.column_weights())
    centres = members @ features / members.sum(axis=1, keepdims=True)
    within = np.abs(features[None, :, :] - centres[:, None, :]).sum(axis=2)
    between = np.abs(centres[:, None, :] - centres[None, :, :]).sum(axis=2)
    # Means of the same values differ in their last digits; such centres are one.
    return davies_bouldin(members, within, np.where(between > 1e-9, between, 0.0))


def _features(labels: Sequence[Label], distance: Distance, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates whose city-block distance is the weighted Gower distance: numbers by range, categories as halves."""
    columns = []
    for q, width in enumerate(distance.ranges):
        values = [label[q] for label in labels]
        if width is not None:
            numbers = np.array([finite_number(value) for value in values], float)
            columns.append(weights[q] * numbers[:, None] / (width or 1.0))
        else:
            names = sorted(set(values))
            columns.append(weights[q] * 0.5 * (np.array(values)[:, None] == np.array(names)[None, :]))
    return np.hstack(columns)

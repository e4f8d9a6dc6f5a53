"""The representability vector: everything a researcher should know of how a release differs from its original.

Nothing in it tells of fewer than k records: smaller numbers, and those they could be worked out from, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.indices import DaviesBouldin
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.records import RecordTable

from .attributes import attribute_row, describe_column
from .classes import named
from .distance_tables import BY_RANK, Distance, DistanceTable, unused_values
from .hierarchy import Hierarchy, unlisted_values
from .pairing import UNEXPLAINED, Pairing, changed_records, pair
from .per_class import class_rows, shown_ratios
from .sensitive_values import original_values, sensitive_rows, warn_of_few_values
from .separation import davies_bouldin_of, separation_of, worst_of_file
from .unmatched import count_classes, with_deleted_class
from .words import may_tell, parts_shown, share_at_least, shown

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Choices:
    """What the vector is made of: k, columns, weights of the columns (sum 1), and words on columns.

    ``excluded`` are the reasons why columns are left out or included, ``aims`` why they were collected, ``meanings``
    what their values mean. ``distances`` are tables by column; without one, categories are compared by matching,
    numbers by range.
    """

    k: int
    key: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    excluded: Mapping[str, str] = field(default_factory=dict)
    distances: Mapping[str, DistanceTable] = field(default_factory=dict)
    aims: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(Finding("k", "k is at least 1.", "Choose a larger k."))
        if self.weights:
            total = sum(self.weights.values())
            if set(self.weights) != set(self.quasi_identifiers):
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
    original: RecordTable,
    released: RecordTable,
    choices: Choices,
    hierarchies: Mapping[str, Hierarchy],
    worst: RecordTable | None = None,
) -> dict[str, Any]:
    """The whole vector as plain JSON data, its elements under their names in words.

    ``worst`` is the most distorted version of the original that Davies–Bouldin is measured against, if there is one.
    """
    known_values = {name: table.values for name, table in choices.distances.items()}
    paired = pair(original, released, choices.key, choices.quasi_identifiers, hierarchies, known_values)
    if paired.common < choices.k:
        message = f"Fewer than {choices.k:,} records are in both files, so nothing may be told of them."
        raise InputError(Finding("too-few-records", message, "Compare larger files, or choose a smaller k."))
    ordered = [hierarchies[name] for name in choices.quasi_identifiers]
    lost = _Lost.of(paired, choices.k)
    # A few deleted records would follow from figures that count them, so they are left out.
    counted = with_deleted_class(paired, ordered) if lost.deleted else paired
    distance = Distance.of_classes(paired.original, choices.column_weights().tolist(), choices.distances)
    precisions = _cell_precision(paired, ordered, choices)
    separation = separation_of(counted, ordered, choices.column_weights(), distance)
    if worst is None:
        index = replace(separation.index, worst=worst_of_file(paired.original, choices.column_weights(), distance))
    else:
        distorted = pair(original, worst, choices.key, choices.quasi_identifiers, hierarchies, known_values)
        other = davies_bouldin_of(distorted, ordered, choices.column_weights(), distance)
        index = replace(separation.index, worst=other.value)
    ratios = shown_ratios(counted, separation.ratios, choices.k)
    if lost.deleted is None:
        ratios = {number: _rounded(ratio) for number, ratio in ratios.items()}
    sizes = paired.released.sizes
    small = int(sizes[sizes < choices.k].sum())
    there = [name for name in choices.sensitive if name in released.dialect.header]
    sensitive = {name: original_values(original, released, paired, name) for name in there}
    warnings = _warnings(original, released, paired, choices, hierarchies, index)
    for name, values in sensitive.items():
        warnings += warn_of_few_values(values, paired, name, choices.k)
    return {
        "format_version": FORMAT_VERSION,
        "warnings": [finding.as_dict() for finding in warnings],
        "overall": {
            "precision": float((precisions * paired.cell_records).sum() / counted.common),
            **_indices(counted, index, lost),
            **_sample_size(original, released, paired, lost, choices.k),
        },
        "per_class": class_rows(paired, precisions, ratios, choices.k),
        "classes_below_k": {"records": shown(small, choices.k), "k_anonymous": small == 0},
        "excluded_attributes": _excluded(original, released, choices),
        "included_quasi_identifiers": list(choices.quasi_identifiers),
        "attributes": _attributes(original, released, choices),
        "excluded_classes": {"classes": lost.named, "unnamed_records": shown(lost.unnamed, choices.k)},
        "coding": _coding(paired, ordered, distance, choices),
        "sensitive_values": {name: sensitive_rows(values, paired, choices.k) for name, values in sensitive.items()},
        "sensitive_columns": there,
        "sensitive_aggregated": any(bool(values.changed.any()) for values in sensitive.values()),
        "weights": {
            "quasi_identifiers": dict(zip(choices.quasi_identifiers, choices.column_weights().tolist(), strict=True)),
            "levels": {hierarchy.column: list(hierarchy.weights) for hierarchy in ordered if hierarchy.weights},
            "levels_normalised": any(hierarchy.bounds is not None for hierarchy in ordered),
        },
        "general": {
            "k": choices.k,
            "approaches": lost.approaches,
            "hierarchy_heights": {hierarchy.column: hierarchy.height for hierarchy in ordered},
            "original_records": original.rows if lost.told else None,
            "released_records": released.rows if may_tell([small], choices.k) else None,
            "sample_size_ratio": released.rows / original.rows if lost.told else None,
        },
    }


@dataclass(frozen=True)
class _Lost:
    """What became of records that are not as they were, as far as it may be told.

    ``named``: original classes of at least k records of which nothing was released; ``unnamed``: all other deleted
    records. ``told``: whether the totals of both files may stand side by side.
    """

    named: list[dict[str, Any]]
    unnamed: int
    approaches: dict[str, int | None]
    told: bool

    @property
    def deleted(self) -> int | None:
        """The number of deleted records; None if it may not be told."""
        return self.approaches.get("delete", 0)

    @property
    def fabricated(self) -> int | None:
        """The number of made-up records; None if it may not be told."""
        return self.approaches.get("fabricate", 0)

    @classmethod
    def of(cls, paired: Pairing, k: int) -> _Lost:
        released = np.zeros(len(paired.original.labels), bool)
        released[paired.cell_original] = True
        sizes = paired.original.sizes
        gone = np.flatnonzero(~released & (sizes >= k))
        unnamed = int(paired.vanished.sum()) - int(sizes[gone].sum())
        done = paired.approaches()
        told = may_tell((unnamed, done.get("delete", 0), done.get("fabricate", 0)), k)
        approaches = {name: shown(records, k) for name, records in done.items()}
        approaches |= _tellable(paired, done, k)
        if "delete" in approaches and not may_tell([unnamed], k):
            # The named classes subtracted from all that is deleted would leave the small rest.
            approaches["delete"] = None
        rows = [{"class": named(paired.original, int(number)), "records": int(sizes[number])} for number in gone]
        return cls(rows, unnamed, approaches, told)


def _tellable(paired: Pairing, done: Mapping[str, int], k: int) -> dict[str, int | None]:
    """How many records were generalised and merged, unless a small number follows: what is left of the common records,
    or those that were touched in some column but not in one whose numbers are told as well.
    """
    touched = {name: done[name] for name in ("generalise", "merge") if name in done}
    told = parts_shown({**touched, "": paired.common - sum(touched.values())}, k)
    for name, cells in (("generalise", paired.generalised), ("merge", paired.moved)):
        changed = (paired.levels != 0) if name == "generalise" else (paired.levels == UNEXPLAINED)
        by_column = (changed[cells] * paired.cell_records[cells][:, None]).sum(axis=0)
        if name in told and not may_tell((touched[name] - by_column).tolist(), k):
            told[name] = None
    return {name: told[name] for name in touched}


def _cell_precision(paired: Pairing, hierarchies: Sequence[Hierarchy], choices: Choices) -> NDArray[np.float64]:
    """The precision of each cell: 1 − the mean (with weights: weighted mean) share lost; a moved value counts 1."""
    weights = choices.column_weights()
    loss = np.zeros(len(paired.cell_records))
    for q, hierarchy in enumerate(hierarchies):
        loss += weights[q] * paired.lost(q, hierarchy)
    return 1.0 - loss


def _indices(counted: Pairing, index: DaviesBouldin, lost: _Lost) -> dict[str, Any]:
    """Compute the indices of the whole release from all records that may count."""
    classes = count_classes(counted, with_made_up=bool(lost.fabricated))
    counts = classes.pairs
    # Ranges and the worst case come from all original values, so exact figures could give a few deleted ones away.
    exact = lost.deleted is not None
    found: dict[str, Any] = {
        "rand": counts.rand,
        "jaccard": counts.jaccard,
        "fowlkes_mallows": counts.fowlkes_mallows,
        "hubert": counts.hubert,
        "entropy_loss": classes.entropy_loss,
        "davies_bouldin": index.value if exact else _rounded(index.value),
        "davies_bouldin_normalised": index.normalised if exact else _rounded(index.normalised),
        "davies_bouldin_worst": index.worst if exact else None,
        "davies_bouldin_coinciding_classes": index.coinciding_pairs,
    }
    if index.value is None:
        found["davies_bouldin_reason"] = index.reason
    return found


def _rounded(value: float | None) -> float | None:
    """Round to two digits."""
    return None if value is None else float(f"{value:.2g}")


def _sample_size(original: RecordTable, released: RecordTable, paired: Pairing, lost: _Lost, k: int) -> dict[str, Any]:
    """Say how many records the release has more or fewer than the original, as far as it may be told."""
    found: dict[str, Any] = {
        "deleted_records": lost.deleted,
        "fabricated_records": lost.fabricated,
        "sample_size_ratio": released.rows / original.rows if lost.told else None,
    }
    if not lost.told:
        found["sample_size_ratio_at_least"] = share_at_least(original.rows - paired.common, original.rows, k)
    return found


def _excluded(original: RecordTable, released: RecordTable, choices: Choices) -> dict[str, str]:
    gone = [name for name in original.dialect.header if name not in released.dialect.header]
    return {name: choices.excluded.get(name, "not in the released file") for name in gone}


def _attributes(original: RecordTable, released: RecordTable, choices: Choices) -> list[dict[str, Any]]:
    """Describe the excluded columns and the quasi-identifiers."""
    ordinal = {name for name, table in choices.distances.items() if table.kind == BY_RANK}
    excluded = _excluded(original, released, choices)
    rows = []
    for name in excluded:
        values = describe_column(original, name, choices.k, name in ordinal)
        rows.append(attribute_row(name, "excluded", values, choices.aims, excluded))
    for name in choices.quasi_identifiers:
        values = describe_column(original, name, choices.k, name in ordinal)
        rows.append(attribute_row(name, "quasi-identifier", values, choices.aims, choices.excluded))
    return rows


def _coding(paired: Pairing, hierarchies: Sequence[Hierarchy], distance: Distance, choices: Choices) -> dict[str, Any]:
    """What the values of each quasi-identifier mean: on which levels they are, or replaced, and how they compare."""
    coding = {}
    for q, hierarchy in enumerate(hierarchies):
        level, place = np.unique(paired.levels[:, q], return_inverse=True)
        counts = np.bincount(place, paired.cell_records).astype(np.int64)
        names = ["replaced" if number == UNEXPLAINED else f"level {number}" for number in level]
        records = parts_shown(dict(zip(names, counts.tolist(), strict=True)), choices.k)
        coding[hierarchy.column] = {
            "height": hierarchy.height,
            "records_by_level": records,
            "distance": distance.meaning(q),
            "renamed": hierarchy.column in paired.renamed,
            "description": choices.meanings.get(hierarchy.column, ""),
        }
    return coding


def _warnings(
    original: RecordTable,
    released: RecordTable,
    paired: Pairing,
    choices: Choices,
    hierarchies: Mapping[str, Hierarchy],
    index: DaviesBouldin,
) -> list[Finding]:
    found = [
        *unlisted_values(paired.original, hierarchies),
        *unused_values(paired.original, paired.released, choices.distances),
        *_other_changes(original, released, paired, choices),
    ]
    if index.value is None:
        found.append(
            Finding("no-davies-bouldin", f"There is no Davies–Bouldin index: {index.reason}.", "", Severity.HINT)
        )
    elif index.normalised is None:
        message = "The Davies–Bouldin index is not normalised: its worst case is not known."
        remedy = "Name the most distorted file that you would release (--worst)."
        found.append(Finding("no-worst-case", message, remedy, Severity.HINT))
    return found


def _other_changes(original: RecordTable, released: RecordTable, paired: Pairing, choices: Choices) -> list[Finding]:
    """A warning for each further column that differs: it should be among the quasi-identifiers, or the rows changed."""
    findings = []
    known = {choices.key, *choices.quasi_identifiers, *choices.sensitive}
    for name in original.dialect.header:
        if name in known or name not in released.dialect.header:
            continue
        changed = int(np.count_nonzero(changed_records(original, released, paired, name)))
        if changed:
            number = f"{changed:,}" if changed >= choices.k else f"fewer than {choices.k:,}"
            message = f"The column differs in {number} records, although it is neither quasi-identifier nor sensitive."
            remedy = "Name it among the quasi-identifiers, or check that the key names the same record in both files."
            findings.append(Finding("changed-rows", message, remedy, Severity.WARNING, column=name))
    return findings

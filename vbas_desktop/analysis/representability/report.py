"""The representability vector: everything a researcher should know of how a release differs from its original.

Nothing in it tells of fewer than k records: smaller numbers, and those they could be worked out from, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.validity_indices import DaviesBouldin
from vbas_desktop.model.findings import Finding, InputError, Severity
from vbas_desktop.model.records import CodedRecords

from . import class_descriptions, elements, record_matching
from .attributes import build_attribute_row, describe_column
from .davies_bouldin import compute_class_separation, compute_davies_bouldin, compute_worst_case
from .distances import BY_RANK, ClassDistance, DistanceTable, warn_of_unused_values
from .hierarchy import Hierarchy, warn_of_unlisted_values

FORMAT_VERSION = 1


@dataclass(frozen=True)
class RepresentabilityOptions:
    """Options of a report: k, columns, weights of the quasi-identifiers (sum 1), and the custodian's words on columns.

    ``excluded`` are the reasons why columns are left out or included, ``aims`` why they were collected, ``meanings``
    what their values mean. ``distances`` are tables by column; without one, categories are compared by matching,
    numbers by range. Raises `InputError` for a k or weights that cannot be.
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
                raise InputError(
                    Finding("weights", "Every quasi-identifier needs a weight, and no other column.")
                )
            if min(self.weights.values()) <= 0 or abs(total - 1.0) > 1e-6:
                raise InputError(
                    Finding(
                        "weights",
                        f"The weights add up to {total:g}.",
                        "They are above 0 and add up to 1.",
                    )
                )

    def column_weights(self) -> NDArray[np.float64]:
        """Return the weights in the order of the quasi-identifiers; all alike where none are given."""
        if not self.weights:
            return np.full(len(self.quasi_identifiers), 1.0 / len(self.quasi_identifiers))
        return np.array([self.weights[name] for name in self.quasi_identifiers])


def build_representability_report(
    original: CodedRecords,
    released: CodedRecords,
    options: RepresentabilityOptions,
    hierarchies: Mapping[str, Hierarchy],
    worst: CodedRecords | None = None,
) -> dict[str, Any]:
    """Build the whole vector as plain JSON data, its elements under their names in words.

    ``worst`` is the most distorted version of the original that Davies–Bouldin is measured against, if there is one.
    Raises `InputError` if fewer than k records are in both files.
    """
    comparison = _Comparison.of(original, released, options, hierarchies)
    matching = comparison.matching
    changes = comparison.changes
    k = options.k
    separation = compute_class_separation(
        comparison.counted, comparison.hierarchies, comparison.distance
    )
    index = replace(separation.index, worst=_compute_worst(comparison, worst))
    ratios = class_descriptions.mask_ratios(comparison.counted, separation.ratios, k)
    if changes.deleted is None:
        ratios = {number: _round_to_two_digits(ratio) for number, ratio in ratios.items()}
    precision = _compute_cell_precision(comparison)
    sizes = matching.released.sizes
    n_small = int(sizes[sizes < k].sum())
    sensitive_columns = [name for name in options.sensitive if name in released.file_format.header]
    sensitive = {
        name: class_descriptions.read_original_values(original, released, matching, name)
        for name in sensitive_columns
    }
    excluded = _explain_excluded_columns(comparison)
    weights = options.column_weights().tolist()
    sample_size_ratio = released.rows / original.rows if changes.are_totals_reportable else None
    return {
        "format_version": FORMAT_VERSION,
        "warnings": [finding.as_dict() for finding in _collect_warnings(comparison, sensitive, index)],
        "overall": {
            "precision": float(
                (precision * matching.cell_records).sum() / comparison.counted.common_records
            ),
            **_compute_indices(comparison, index),
            "deleted_records": changes.deleted,
            "fabricated_records": changes.fabricated,
            "sample_size_ratio": sample_size_ratio,
            **_bound_sample_size_ratio(comparison),
        },
        "per_class": class_descriptions.describe_classes(matching, precision, ratios, k),
        "classes_below_k": {
            "records": elements.mask_small_count(n_small, k),
            "k_anonymous": n_small == 0,
        },
        "excluded_attributes": excluded,
        "included_quasi_identifiers": list(options.quasi_identifiers),
        "attributes": _describe_columns(comparison, excluded),
        "excluded_classes": {
            "classes": changes.excluded_classes,
            "unnamed_records": elements.mask_small_count(changes.other_deleted, k),
        },
        "coding": _describe_coding(comparison),
        "sensitive_values": {
            name: class_descriptions.describe_sensitive_values(values, matching, k)
            for name, values in sensitive.items()
        },
        "sensitive_columns": sensitive_columns,
        "sensitive_aggregated": any(bool(values.changed.any()) for values in sensitive.values()),
        "weights": {
            "quasi_identifiers": dict(zip(options.quasi_identifiers, weights, strict=True)),
            "levels": {
                hierarchy.column: list(hierarchy.weights)
                for hierarchy in comparison.hierarchies
                if hierarchy.weights
            },
            "levels_normalised": any(
                hierarchy.bounds is not None for hierarchy in comparison.hierarchies
            ),
        },
        "general": {
            "k": k,
            "approaches": changes.approaches,
            "hierarchy_heights": {
                hierarchy.column: hierarchy.height for hierarchy in comparison.hierarchies
            },
            "original_records": original.rows if changes.are_totals_reportable else None,
            "released_records": released.rows if elements.is_reportable([n_small], k) else None,
            "sample_size_ratio": sample_size_ratio,
        },
    }


@dataclass(frozen=True)
class _RecordChanges:
    """Numbers of records that are not as they were, None where they may not be reported.

    ``excluded_classes``: original classes of at least k records of which nothing was released; ``other_deleted``: all
    other deleted records, not masked. ``are_totals_reportable``: the sizes of both files may stand side by side.
    """

    excluded_classes: list[dict[str, Any]]
    other_deleted: int
    approaches: dict[str, int | None]
    are_totals_reportable: bool

    @property
    def deleted(self) -> int | None:
        """Number of deleted records."""
        return self.approaches.get("delete", 0)

    @property
    def fabricated(self) -> int | None:
        """Number of made-up records."""
        return self.approaches.get("fabricate", 0)

    @classmethod
    def of(cls, matching: record_matching.RecordMatching, k: int) -> _RecordChanges:
        """Count the changes, and mask the numbers that are, or give away, a number of fewer than k records."""
        original = matching.original
        sizes = original.sizes
        is_released = np.zeros(len(original.labels), bool)
        is_released[matching.cell_original] = True
        excluded = np.flatnonzero(~is_released & (sizes >= k))
        other_deleted = int(matching.deleted.sum()) - int(sizes[excluded].sum())
        numbers = matching.count_by_approach()
        totals = (other_deleted, numbers.get("delete", 0), numbers.get("fabricate", 0))
        approaches = {name: elements.mask_small_count(records, k) for name, records in numbers.items()}
        approaches |= _mask_changed_records(matching, numbers, k)
        if "delete" in approaches and not elements.is_reportable([other_deleted], k):
            # The excluded classes subtracted from all that is deleted would leave the small rest.
            approaches["delete"] = None
        rows = [
            {"class": original.label_as_dict(int(number)), "records": int(sizes[number])}
            for number in excluded
        ]
        return cls(rows, other_deleted, approaches, elements.is_reportable(totals, k))


def _mask_changed_records(
    matching: record_matching.RecordMatching, numbers: Mapping[str, int], k: int
) -> dict[str, int | None]:
    """Mask the numbers of generalised and of merged records from which a small number follows.

    That may be the rest of the common records, or those that were changed in some column but not in one whose numbers
    are reported as well.
    """
    changed = {name: numbers[name] for name in ("generalise", "merge") if name in numbers}
    masked = elements.mask_small_parts(
        {**changed, "": matching.common_records - sum(changed.values())}, k
    )
    for name, cells in (("generalise", matching.is_generalised), ("merge", matching.is_moved)):
        is_changed = (
            (matching.levels != 0)
            if name == "generalise"
            else (matching.levels == record_matching.REPLACED)
        )
        by_column = (is_changed[cells] * matching.cell_records[cells][:, None]).sum(axis=0)
        if name in masked and not elements.is_reportable((changed[name] - by_column).tolist(), k):
            masked[name] = None
    return {name: masked[name] for name in changed}


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Both files with all that the elements of the vector are computed from.

    ``hierarchies`` are in the order of the quasi-identifiers. ``counted`` is the matching that the indices count: with
    the deleted records as one released class, unless so few are deleted that their number would follow.
    """

    original: CodedRecords
    released: CodedRecords
    options: RepresentabilityOptions
    hierarchies: tuple[Hierarchy, ...]
    matching: record_matching.RecordMatching
    counted: record_matching.RecordMatching
    changes: _RecordChanges
    distance: ClassDistance

    @classmethod
    def of(
        cls,
        original: CodedRecords,
        released: CodedRecords,
        options: RepresentabilityOptions,
        hierarchies: Mapping[str, Hierarchy],
    ) -> _Comparison:
        """Join both files by their key."""
        ordered = tuple(hierarchies[name] for name in options.quasi_identifiers)
        matching = _match(original, released, options, ordered)
        if matching.common_records < options.k:
            message = f"Fewer than {options.k:,} records are in both files, so nothing may be reported on them."
            raise InputError(
                Finding("too-few-records", message, "Compare larger files, or choose a smaller k.")
            )
        changes = _RecordChanges.of(matching, options.k)
        counted = matching.with_deleted_class(ordered) if changes.deleted else matching
        distance = ClassDistance.of_classes(
            matching.original, options.column_weights().tolist(), options.distances
        )
        return cls(original, released, options, ordered, matching, counted, changes, distance)


def _match(
    original: CodedRecords,
    released: CodedRecords,
    options: RepresentabilityOptions,
    hierarchies: Sequence[Hierarchy],
) -> record_matching.RecordMatching:
    by_column = {hierarchy.column: hierarchy for hierarchy in hierarchies}
    listed_values = {name: table.values for name, table in options.distances.items()}
    return record_matching.match_records(
        original, released, options.key, options.quasi_identifiers, by_column, listed_values
    )


def _compute_worst(comparison: _Comparison, worst: CodedRecords | None) -> float | None:
    """Compute the Davies–Bouldin index of the worst case: of a file if there is one, else by the original alone."""
    if worst is None:
        return compute_worst_case(comparison.matching.original, comparison.distance)
    matching = _match(comparison.original, worst, comparison.options, comparison.hierarchies)
    return compute_davies_bouldin(matching, comparison.hierarchies, comparison.distance).value


def _compute_cell_precision(comparison: _Comparison) -> NDArray[np.float64]:
    """Compute the precision of each cell: 1 − the weighted mean of the shares lost; a moved value counts 1."""
    weights = comparison.options.column_weights()
    loss = np.zeros(len(comparison.matching.cell_records))
    for q, hierarchy in enumerate(comparison.hierarchies):
        loss += weights[q] * comparison.matching.compute_loss(q, hierarchy)
    return 1.0 - loss


def _compute_indices(comparison: _Comparison, index: DaviesBouldin) -> dict[str, Any]:
    """Compute the indices of the whole release from all records that may count."""
    table = comparison.counted.tabulate(include_fabricated=bool(comparison.changes.fabricated))
    # Ranges and the worst case come from all original values, so exact figures could give a few deleted ones away.
    is_exact = comparison.changes.deleted is not None
    indices: dict[str, Any] = {
        "rand": table.rand,
        "jaccard": table.jaccard,
        "fowlkes_mallows": table.fowlkes_mallows,
        "hubert": table.hubert,
        "entropy_loss": table.entropy_loss,
        "davies_bouldin": index.value if is_exact else _round_to_two_digits(index.value),
        "davies_bouldin_normalised": index.normalised
        if is_exact
        else _round_to_two_digits(index.normalised),
        "davies_bouldin_worst": index.worst if is_exact else None,
        "davies_bouldin_coinciding_classes": index.coinciding_pairs,
    }
    if index.value is None:
        indices["davies_bouldin_reason"] = index.reason
    return indices


def _round_to_two_digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.2g}")


def _bound_sample_size_ratio(comparison: _Comparison) -> dict[str, float]:
    """Bound the share of released records from below where the exact share may not be reported."""
    if comparison.changes.are_totals_reportable:
        return {}
    n_original = comparison.original.rows
    n_missing = n_original - comparison.matching.common_records
    return {
        "sample_size_ratio_at_least": elements.bound_share(n_missing, n_original, comparison.options.k)
    }


def _explain_excluded_columns(comparison: _Comparison) -> dict[str, str]:
    """List the columns that the released file lacks with the reasons."""
    released = comparison.released.file_format.header
    missing = [name for name in comparison.original.file_format.header if name not in released]
    return {name: comparison.options.excluded.get(name, "not in the released file") for name in missing}


def _describe_columns(comparison: _Comparison, excluded: Mapping[str, str]) -> list[dict[str, Any]]:
    """Describe the excluded columns and the quasi-identifiers."""
    options = comparison.options
    ordinal = {name for name, table in options.distances.items() if table.kind == BY_RANK}
    uses = {
        **dict.fromkeys(excluded, ("excluded", excluded)),
        **dict.fromkeys(options.quasi_identifiers, ("quasi-identifier", options.excluded)),
    }
    rows = []
    for name, (use, reasons) in uses.items():
        values = describe_column(comparison.original, name, options.k, name in ordinal)
        rows.append(build_attribute_row(name, use, values, options.aims, reasons))
    return rows


def _describe_coding(comparison: _Comparison) -> dict[str, Any]:
    """Describe the values of each quasi-identifier: the levels they are on, and how they are compared."""
    matching = comparison.matching
    coding = {}
    for q, hierarchy in enumerate(comparison.hierarchies):
        levels, codes = np.unique(matching.levels[:, q], return_inverse=True)
        numbers = np.bincount(codes, matching.cell_records).astype(np.int64)
        names = [
            "replaced" if level == record_matching.REPLACED else f"level {level}" for level in levels
        ]
        records = elements.mask_small_parts(
            dict(zip(names, numbers.tolist(), strict=True)), comparison.options.k
        )
        coding[hierarchy.column] = {
            "height": hierarchy.height,
            "records_by_level": records,
            "distance": comparison.distance.describe_column(q),
            "renamed": hierarchy.column in matching.renamed,
            "description": comparison.options.meanings.get(hierarchy.column, ""),
        }
    return coding


def _collect_warnings(
    comparison: _Comparison,
    sensitive: Mapping[str, class_descriptions.OriginalValues],
    index: DaviesBouldin,
) -> list[Finding]:
    """Collect warnings about hierarchies, distances, other columns, and figures that are missing or tell much."""
    matching = comparison.matching
    hierarchies = {hierarchy.column: hierarchy for hierarchy in comparison.hierarchies}
    findings = [
        *warn_of_unlisted_values(matching.original, hierarchies),
        *warn_of_unused_values(matching.original, matching.released, comparison.options.distances),
        *_warn_of_other_changes(comparison),
    ]
    if index.value is None:
        message = f"There is no Davies–Bouldin index: {index.reason}."
        findings.append(Finding("no-davies-bouldin", message, "", Severity.HINT))
    elif index.normalised is None:
        message = "The Davies–Bouldin index is not normalised: its worst case is not known."
        remedy = "Name the most distorted file that you would release (--worst)."
        findings.append(Finding("no-worst-case", message, remedy, Severity.HINT))
    for name, values in sensitive.items():
        findings += class_descriptions.warn_of_few_values(values, matching, name, comparison.options.k)
    return findings


def _warn_of_other_changes(comparison: _Comparison) -> list[Finding]:
    """Warn of each further column that differs: it should be a quasi-identifier, or the keys do not match."""
    options = comparison.options
    findings = []
    used = {options.key, *options.quasi_identifiers, *options.sensitive}
    for name in comparison.original.file_format.header:
        if name in used or name not in comparison.released.file_format.header:
            continue
        is_changed = record_matching.find_changed_records(
            comparison.original, comparison.released, comparison.matching, name
        )
        n_changed = int(np.count_nonzero(is_changed))
        if n_changed:
            number = f"{n_changed:,}" if n_changed >= options.k else f"fewer than {options.k:,}"
            message = f"The column differs in {number} records, although it is neither quasi-identifier nor sensitive."
            remedy = "Name it among the quasi-identifiers, or check that the key names the same record in both files."
            findings.append(Finding("changed-rows", message, remedy, Severity.WARNING, column=name))
    return findings

"""Sensitive values that are released as one value per class: the mean of numbers, the most frequent category.

All of it depends on released records alone, so that nothing tells of suppressed ones.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.value_groups import find_most_frequent, format_mean
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import CodedRecords, category_order, finite_number, not_categorical
from vbas_desktop.model.text import escape_formula
from vbas_desktop.settings.release import ReleaseOptions

from .plan import ReleasePlan
from .records import ReleasedRecords

CLASS_COUNTS = "class_counts.csv"
_STAGE = "Aggregating sensitive values"


@dataclass(frozen=True, eq=False)
class AggregatedColumn:
    """Values of an aggregated column: the texts in the order of values, and the code of each considered record."""

    texts: tuple[str, ...]
    codes: NDArray[np.int32]


Aggregated = Mapping[str, AggregatedColumn]


def check_aggregation(plan: ReleasePlan, table: CodedRecords, options: ReleaseOptions) -> None:
    """Refuse columns that cannot be aggregated."""
    used = (plan.problem.region_column, *plan.problem.quasi_identifiers)
    for name in options.aggregate:
        if name in used:
            message = "The region column and quasi-identifiers make up the classes, so they cannot be aggregated."
            raise InputError(Finding("aggregate", message, "Name sensitive columns.", column=name))
        facts = table.facts(name)
        if facts.categories is None:
            raise InputError(not_categorical(table, facts))


def aggregate_columns(
    records: ReleasedRecords, options: ReleaseOptions, progress: Progress
) -> Aggregated:
    """Give the records of each class one value; the table of ``records`` has the values as they are written.

    A class is what has the same released place and quasi-identifiers. It takes O(records) steps for each column.
    """
    if not options.aggregate:
        return {}
    plan = records.plan
    check_aggregation(plan, records.table, options)
    # In tiers, classes of several aggregated regions may be released as one.
    number_of = plan.areas.astype(np.int64) * (plan.problem.counts.n_combinations + 1) + plan.columns
    is_released = records.classes >= 0
    cells = np.where(is_released, number_of[records.classes], -1)
    below = options.aggregate_below
    chosen = is_released
    if below is not None:
        chosen = is_released & (plan.class_sizes[records.classes] < below)
    aggregated = {}
    for name in options.aggregate:
        progress.update(_STAGE, 0.0)
        aggregated[name] = _aggregate(records.table, name, cells, chosen)
    return aggregated


def _aggregate(
    table: CodedRecords, name: str, cells: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> AggregatedColumn:
    categories = table.facts(name).categories
    assert categories is not None
    values = categories.values
    codes = table.codes(name).astype(np.int64)
    released = np.unique(codes[cells >= 0])
    numeric = all(finite_number(values[code]) is not None for code in released.tolist() if values[code])
    distinct_cells, cell_number = np.unique(cells[chosen], return_inverse=True)
    pairs, counts = np.unique(cell_number.ravel() * len(values) + codes[chosen], return_counts=True)
    cell_of_pair, value_of_pair = np.divmod(pairs, len(values))
    borders = np.searchsorted(cell_of_pair, np.arange(distinct_cells.size + 1))
    aggregates = []
    for low, high in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        listed = [
            (values[code], n) for code, n in zip(value_of_pair[low:high], counts[low:high], strict=True)
        ]
        aggregates.append(format_mean(listed) if numeric else find_most_frequent(listed))
    texts = tuple(category_order(sorted({*aggregates, *values})))
    code_of_text = {text: code for code, text in enumerate(texts)}
    new_codes = np.array([code_of_text[value] for value in values], np.int32)[codes]
    new_codes[chosen] = np.array([code_of_text[text] for text in aggregates], np.int32)[
        cell_number.ravel()
    ]
    return AggregatedColumn(texts, new_codes)


def with_aggregates(table: CodedRecords, aggregated: Aggregated) -> CodedRecords:
    """Return the table with the values that are written, for the tests of columns."""
    for name, column in aggregated.items():
        table = table.with_codes(name, column.texts, column.codes)
    return table


def class_counts(plan: ReleasePlan, options: ReleaseOptions, header: Sequence[str]) -> bytes:
    """List the number of released records of each class, by what the released columns show of it."""
    problem = plan.problem
    names = dict(options.released_columns(header))
    columns = [name for name in (problem.region_column, *problem.quasi_identifiers) if name in names]
    format_text = escape_formula if options.escape_formulas else str
    counts = problem.counts
    totals: dict[tuple[str, ...], int] = {}
    released = np.flatnonzero(plan.released > 0)
    listed = zip(
        plan.areas[released].tolist(),
        plan.columns[released].tolist(),
        plan.released[released].tolist(),
        strict=True,
    )
    for area, column, number in listed:
        codes = counts.decode_combination(column)
        texts = {problem.region_column: plan.every_code[area]}
        texts |= {
            categories.column: categories.values[code]
            for categories, code in zip(problem.categories, codes, strict=True)
        }
        key = tuple(
            texts[name] if name == problem.region_column else format_text(texts[name])
            for name in columns
        )
        totals[key] = totals.get(key, 0) + number
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(names[name] for name in columns), "records"])
    writer.writerows([*key, number] for key, number in sorted(totals.items()))
    return text.getvalue().encode()

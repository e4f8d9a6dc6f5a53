"""Count the classes of a written file from scratch, to say whether it is k-anonymous.

An independent reading: it shares no code with the loader or with whatever wrote the file, so that a fault in those
cannot hide itself here. What does not fit into memory goes to a nameless file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vbas_desktop.io.input_checks import check_readable
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress

from .coded_file import CsvForm, FileColumn, ReadOptions, read_csv
from .combinations import Ints, PairCounts, count_pairs, number_combinations, regroup
from .criteria import SensitiveRecount, ValueDistribution, evaluate_criteria, order_of
from .csv_stream import UnreadableFile
from .expected_values import alone, expected_forms
from .text_form import StatedForm, find_form, find_reason, unreadable
from .text_hashes import TextHasher

STAGE = "Recounting classes"


@dataclass(frozen=True)
class Recount:
    """Content of a file: ``vector[size]`` is the number of classes of that size (a class never spans regions).

    ``sensitive`` tells of each sensitive column how its values are spread over the classes. ``smallest_region`` are the
    fewest records of a region; None if that was not counted.
    """

    records: int
    regions: int
    classes: int
    vector: Mapping[int, int]
    sensitive: tuple[SensitiveRecount, ...] = ()
    smallest_region: int | None = None

    @property
    def anonymity(self) -> int | None:
        """Return the size of the smallest class; None if there are no records."""
        return min(self.vector, default=None)

    def violating_records(self, k: int) -> int:
        """Count the records in classes smaller than k."""
        return sum(size * number for size, number in self.vector.items() if size < k)

    def violating_classes(self, k: int) -> int:
        """Count the classes that are smaller than k."""
        return sum(number for size, number in self.vector.items() if size < k)

    def is_anonymous(self, k: int) -> bool:
        """Return whether every class has at least k records."""
        return self.violating_records(k) == 0


def recount(
    path: str | Path,
    quasi_identifiers: Sequence[str],
    region_column: str,
    stated: StatedForm | None = None,
    *,
    sensitive: Sequence[SensitiveColumn] = (),
    progress: Progress | None = None,
) -> Recount:
    """Read any CSV and count the records of each region and combination of quasi-identifiers.

    ``stated`` says what is known of its format. The values of ``sensitive`` columns are judged by their criteria; all
    records of the file are what classes are compared with.
    """
    path = Path(path)
    check_readable(path)
    columns = [
        region_column,
        *dict.fromkeys(quasi_identifiers),
        *(chosen.column for chosen in sensitive),
    ]
    stated = stated or StatedForm()
    form, positions = find_form(path, columns, stated)
    return _count(path, form, positions, sensitive, stated.encoding is not None, progress or NO_PROGRESS)


def _count(
    path: Path,
    form: CsvForm,
    columns_needed: Sequence[int],
    sensitive: Sequence[SensitiveColumn],
    is_strict: bool,
    progress: Progress,
) -> Recount:
    """Count the records by the wanted columns, of which the last are the sensitive ones."""
    size = max(1, path.stat().st_size)
    done = 0

    def advance(number: int) -> None:
        nonlocal done
        done += number
        progress.update(STAGE, min(1.0, done / size))

    options = ReadOptions(columns_needed, TextHasher(), unlimited=columns_needed, advance=advance)
    try:
        file = read_csv(path, form, options)
    except UnreadableFile:
        raise InputError(find_reason(path, form)) from None
    if is_strict and not all(map(_is_decodable, file.columns)):
        raise InputError(unreadable(path))
    columns = file.columns[: len(columns_needed) - len(sensitive)]
    classes = number_combinations(file, columns)
    results = []
    for chosen, column in zip(sensitive, file.columns[len(columns) :], strict=True):
        progress.update(STAGE, 1.0)
        pairs = count_pairs(file, classes.column, column)
        texts = [
            text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            for text in column.known_texts
        ]
        results.append(evaluate_values(pairs, classes.counts.size, texts, chosen))
    file.store.close()
    return summarise_classes(classes.counts, columns[0].frequencies, results)


def summarise_classes(sizes: Ints, by_region: Ints, results: Sequence[SensitiveRecount]) -> Recount:
    """Sum up the records of each class and of each region."""
    size, number = np.unique(sizes, return_counts=True)
    vector = dict(zip(size.tolist(), number.tolist(), strict=True))
    by_region = by_region[by_region > 0]
    fewest = int(by_region.min()) if by_region.size else None
    return Recount(int(sizes.sum()), by_region.size, sizes.size, vector, tuple(results), fewest)


def evaluate_values(
    pairs: PairCounts, groups: int, texts: Sequence[str], chosen: SensitiveColumn
) -> SensitiveRecount:
    """Evaluate the criteria for a sensitive column by the number of records of each class and value.

    Values that differ in notation alone (7 and 07) are one value, as they are for a release.
    """
    number_of: dict[str, int] = {}
    value_of = np.array([number_of.setdefault(alone(text), len(number_of)) for text in texts], np.int64)
    harmful = np.ones(len(number_of), np.bool_)
    for text, code in zip(texts, value_of.tolist(), strict=True):
        if any(map(chosen.is_benign, expected_forms(text))):
            harmful[code] = False
    order = order_of(list(number_of))
    if order is None and any(criterion.kind == "ordered-closeness" for criterion in chosen.criteria):
        message = (
            "Not all values of the column are numbers (an empty one is none), so they have no order."
        )
        remedy = "Use closeness instead of ordered-closeness."
        raise InputError(Finding("sensitive-not-ordered", message, remedy, column=chosen.column))
    pairs = regroup(pairs, np.arange(groups), value_of)
    distribution = ValueDistribution(groups, pairs.group, pairs.value, pairs.counts, harmful, order)
    return evaluate_criteria(chosen.column, distribution, chosen.criteria)


def _is_decodable(column: FileColumn) -> bool:
    return not any(
        "\udc80" <= letter <= "\udcff"
        for text in column.known_texts
        for letter in text
        if letter > "\x7f"
    )

"""Compare what must have been released, worked out from the input, with what the released file holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial

import numpy as np

from vbas_desktop.model.findings import Check

from .aggregates import check_class_counts
from .chunk_store import THREADS
from .expected import ClassOutcomes, ExpectedRows
from .fingerprints import RowSummary, hash_rows, summarise_rows
from .record_keys import KeyedRows, check_record_keys
from .release_files import Case, Crosswalk, InputRecords, WrittenRecords, find_csv_fault, find_type_fault
from .row_order import follows_order, is_sorted_by
from .sensitive import check_criteria, sensitive_columns


class Comparison:
    """Compares what must have been released with what was."""

    def __init__(
        self,
        case: Case,
        before: InputRecords,
        after: WrittenRecords,
        crosswalk: Crosswalk,
        outcomes: ClassOutcomes,
    ) -> None:
        self._case = case
        self._before = before
        self._after = after
        self._crosswalk = crosswalk
        self._outcomes = outcomes

    def checks(self) -> list[Check]:
        """Make all checks of the records."""
        claim = self._case.claim
        checks = [
            Check("the columns are those that were chosen", list(self._after.file.names) == claim.names),
            self._check_anonymity(),
            self._check_numbers(),
            self._check_codes(),
            self._check_rows(),
        ]
        if claim.class_size is not None:
            checks.append(self._check_sizes())
        checks += self._check_tiers()
        if claim.record_key is not None and claim.record_index is not None:
            checks += check_record_keys(claim, self._keyed_rows())
        checks += self._check_criteria()
        if claim.class_counts is not None:
            names = dict(claim.columns)
            class_columns = [names[name] for name in self._after.class_columns]
            checks.append(
                check_class_counts(claim.class_counts, class_columns, self._released_classes())
            )
        return checks

    def _check_anonymity(self) -> Check:
        names = dict(self._case.claim.columns)
        listed = ", ".join(f"“{names[name][:80]}”" for name in self._after.class_columns) or "values"
        sizes = self._after.classes.counts
        k = self._case.problem.k
        smallest = int(sizes.min()) if sizes.size else None
        return Check(
            f"every combination of {listed} has at least {k:,} records",
            smallest is None or smallest >= k,
            "nothing is released" if smallest is None else f"smallest: {smallest:,}",
        )

    def _check_numbers(self) -> Check:
        claim = self._case.claim
        records = self._before.file.rows
        released = self._after.file.rows
        suppressed = records - int(self._outcomes.sizes.sum())
        return Check(
            "released and suppressed records together are the records of the input",
            released + suppressed == records == claim.records and released == claim.released,
            f"{released:,} + {suppressed:,} = {records:,}",
        )

    def _check_codes(self) -> Check:
        column = self._after.columns.get(self._case.problem.region_column)
        codes = {code for codes in self._crosswalk.values() for code in codes}
        unknown = set() if column is None else set(column.known_texts) - codes
        return Check("every region of the released file is in the crosswalk", not unknown)

    def _check_rows(self) -> Check:
        with ThreadPoolExecutor(THREADS, "compare") as pool:
            released = pool.submit(lambda: self._released.total)
            fault = "" if self._expected.total.equals(released.result()) else "they are not the same"
        fault = fault or find_csv_fault(self._before, self._after) or find_type_fault(self._case)
        if not fault and self._case.claim.shuffled:
            fault = self._find_order()
        name = "every released row is an input row with only the stated changes"
        return Check(name, not fault, fault or f"{self._after.file.rows:,} rows compared")

    def _find_order(self) -> str:
        """Say which order the rows are in if it is not at chance level; empty: it is."""
        if follows_order(self._released.order, self._expected.order):
            return "the rows are in the order of the input"
        columns = self._after.file.columns[: len(self._case.claim.columns)]
        with ThreadPoolExecutor(THREADS, "compare") as pool:
            is_sorted = pool.map(partial(is_sorted_by, self._after.file), columns)
            for (_, name), column_is_sorted in zip(self._case.claim.columns, is_sorted, strict=False):
                if column_is_sorted:
                    return f"the rows are sorted by “{name[:80]}”"
        return ""

    @cached_property
    def _expected(self) -> RowSummary:
        rows = ExpectedRows(self._before, self._outcomes).chunks(with_sizes=False)
        return summarise_rows(rows, self._case.claim.record_key is not None)

    @cached_property
    def _released(self) -> RowSummary:
        rows = hash_rows(self._after.file, self._case.hasher, len(self._case.claim.columns))
        return summarise_rows(rows, self._case.claim.record_key is not None)

    def _check_sizes(self) -> Check:
        rows = hash_rows(self._after.file, self._case.hasher, len(self._case.claim.columns) + 1)
        written = summarise_rows(rows)
        expected = summarise_rows(ExpectedRows(self._before, self._outcomes).chunks(with_sizes=True))
        return Check(
            "the class sizes are those of the released file", expected.total.equals(written.total)
        )

    def _check_tiers(self) -> list[Check]:
        problem = self._case.problem
        if self._tiers == 1 or not {problem.region_column, *problem.quasi_identifiers} <= set(
            self._after.columns
        ):
            return []
        sizes = self._after.classes.counts
        is_same = np.array_equal(np.sort(sizes), np.sort(self._outcomes.sizes))
        name = "every combination is released in the smallest place where that is safe"
        return [Check(name, is_same, f"{sizes.size:,} combinations")]

    @property
    def _tiers(self) -> int:
        return len(next(iter(self._crosswalk.values()), ("",)))

    def _check_criteria(self) -> list[Check]:
        # An aggregated class has one value; its own values were judged when it was decided what is released.
        aggregated = {aggregated_column.column for aggregated_column in self._case.claim.aggregated}
        columns = {
            name: column for name, column in self._after.columns.items() if name not in aggregated
        }
        classes = self._after.classes
        every = np.arange(classes.counts.size)
        written = sensitive_columns(
            self._case, self._after.file, classes.column, columns, every, every.size
        )
        return check_criteria(written, dict(self._case.claim.columns))

    def _released_classes(self) -> dict[tuple[str, ...], int]:
        classes = self._after.classes
        columns = [self._after.columns[name] for name in self._after.class_columns]
        texts = [
            [column.known_texts[code] for code in codes]
            for column, codes in zip(columns, classes.codes, strict=True)
        ]
        # Where nothing of a class is released, all records are one class without a name.
        labels = zip(*texts, strict=True) if texts else [()]
        return dict(zip(labels, classes.counts.tolist(), strict=True))

    def _keyed_rows(self) -> KeyedRows:
        """Return the released rows, and where the records that must have been released stand."""
        rows = ExpectedRows(self._before, self._outcomes)
        masks = [rows.find_released(number) for number in range(len(self._before.file.sizes))]
        positions = np.flatnonzero(np.concatenate(masks)) if masks else np.zeros(0, np.int64)
        if self._before.positions is not None:
            positions = self._before.positions[positions]
        return KeyedRows(self._released.rows, positions, self._expected.rows)

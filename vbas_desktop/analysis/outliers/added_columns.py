"""Further columns of a file without small classes: keys of the records, and one value per class."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.value_groups import find_most_frequent, format_mean
from vbas_desktop.io.records.row_order import RecordKeys, write_key_index
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.records import CodedRecords, finite_number, not_categorical
from vbas_desktop.settings.writing import AddedColumns, RecordWriting

from ..representability.record_classes import ClassLabel, RecordClasses
from .treatments import TreatmentResult

_BLOCK_ROWS = 1 << 16


def get_key_index_path(target: Path) -> Path:
    """Return the path of the index of keys of a file. It stays in the organisation."""
    return target.with_name(f"{target.stem}.index.csv")


def get_class_counts_path(target: Path) -> Path:
    """Return the path of the list of the classes of a file."""
    return target.with_name(f"{target.stem}.class_counts.csv")


def check_added_columns(
    table: CodedRecords, chosen: AddedColumns, writing: RecordWriting, used: Sequence[str]
) -> None:
    """Refuse columns that cannot be aggregated, and a name of the keys that another column has.

    ``used`` are the quasi-identifiers and the column of the records' own keys.
    """
    for name in chosen.aggregate:
        facts = table.facts(name)
        if name in used or name in writing.identifiers:
            message = "Quasi-identifiers, keys and identifiers cannot be aggregated."
            raise InputError(Finding("aggregate", message, "Name sensitive columns.", column=name))
        if facts.categories is None:
            raise InputError(not_categorical(table, facts))
    header = table.file_format.header
    if chosen.record_key is not None and writing.text(chosen.record_key) in {
        *header,
        *writing.row(header),
    }:
        message = "A column of the records has this name."
        raise InputError(
            Finding("record-key", message, "Choose another name.", column=chosen.record_key)
        )


class RecordKeyColumn:
    """Keys of the records that are written: of those of the file in its order, then of the made-up ones."""

    def __init__(
        self, table: CodedRecords, classes: RecordClasses, result: TreatmentResult, order_key: bytes
    ) -> None:
        is_written = np.array([label is not None for label in result.labels], np.bool_)[classes.class_of]
        self._table = table
        self._written = table.positions_of(slice(0, table.rows))[is_written]
        fabricated = table.file_rows + np.arange(sum(result.fabricated.values()))
        self._positions: NDArray[np.int64] = np.concatenate([self._written, fabricated]).astype(np.int64)
        self._keys = RecordKeys(order_key)

    def iterate_keys(self) -> Iterator[str]:
        """Yield the key of each record."""
        for start in range(0, self._positions.size, _BLOCK_ROWS):
            keys = self._keys.compute(self._positions[start : start + _BLOCK_ROWS])
            yield from keys.view(f"S{keys.shape[1]}").ravel().astype(str).tolist()

    def write_index(self, path: Path) -> None:
        """Write which record has which key."""
        keys = self._keys.compute(self._positions)
        write_key_index(path, keys, self._written, self._table.row_numbers(self._written))


class AggregatedColumns:
    """Counts the values of all records that are written, by class; then gives each class one value.

    A class is a combination of quasi-identifiers as the file is written. Made-up records count like the others.
    """

    def __init__(
        self, header: Sequence[str], quasi: Sequence[int], chosen: AddedColumns, writing: RecordWriting
    ) -> None:
        self._positions = {name: header.index(name) for name in chosen.aggregate}
        self._header = header
        self._quasi = quasi
        self._below = chosen.aggregate_below
        self._writing = writing
        self._sizes: Counter[ClassLabel] = Counter()
        self._values: dict[str, dict[ClassLabel, Counter[str]]] = {
            name: defaultdict(Counter) for name in self._positions
        }
        self.fabricated_values: dict[str, dict[ClassLabel, Counter[str]]] = {
            name: defaultdict(Counter) for name in self._positions
        }

    def count(self, row: Sequence[str], is_fabricated: bool) -> None:
        """Count the values of a record that is written."""
        if not self._positions:
            return
        label = tuple(row[position] for position in self._quasi)
        written = tuple(self._writing.row(label))
        self._sizes[written] += 1
        for name, position in self._positions.items():
            self._values[name][written][row[position]] += 1
            if is_fabricated:
                self.fabricated_values[name][label][row[position]] += 1

    @cached_property
    def _aggregates(self) -> dict[ClassLabel, list[tuple[int, str]]]:
        """Columns and values of the classes that get one value; columns are positions in a row."""
        aggregates: dict[ClassLabel, list[tuple[int, str]]] = defaultdict(list)
        for name, by_class in self._values.items():
            texts = {text for counter in by_class.values() for text in counter if text}
            is_numeric = all(finite_number(text) is not None for text in texts)
            choose = format_mean if is_numeric else find_most_frequent
            for label, counter in by_class.items():
                if self._below is None or self._sizes[label] < self._below:
                    aggregates[label].append((self._positions[name], choose(list(counter.items()))))
        return aggregates

    def aggregate(self, row: list[str]) -> list[str]:
        """Put the values of its class into a record, after all records were counted."""
        if self._positions:
            label = tuple(self._writing.row([row[position] for position in self._quasi]))
            for position, text in self._aggregates.get(label, ()):
                row[position] = text
        return row

    def write_counts(self, path: Path) -> None:
        """List the number of records of each class."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        names = self._writing.row([self._header[position] for position in self._quasi])
        writer.writerow([*names, "records"])
        writer.writerows([*label, number] for label, number in sorted(self._sizes.items()))
        path.write_bytes(text.getvalue().encode())

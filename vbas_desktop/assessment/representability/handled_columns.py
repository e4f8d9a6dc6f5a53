"""Columns that a file without small classes has besides: keys of the records, and one value per class."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.class_values import mean_text, most_frequent
from vbas_desktop.io.records.key_index import write_key_index
from vbas_desktop.io.records.row_order import RecordKeys
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.records import RecordTable, finite_number, not_categorical
from vbas_desktop.settings.writing import HandledColumns, Writing

from .classes import Classes, Label
from .handling import Handled

_BLOCK_ROWS = 1 << 16


def index_file(target: Path) -> Path:
    """Return the path of the index of keys of a file. It stays in the organisation."""
    return target.with_name(f"{target.stem}.index.csv")


def class_counts_file(target: Path) -> Path:
    """Return the path of the list of the classes of a file."""
    return target.with_name(f"{target.stem}.class_counts.csv")


def check_columns(table: RecordTable, chosen: HandledColumns, writing: Writing, used: Sequence[str]) -> None:
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
    header = table.dialect.header
    if chosen.record_key is not None and writing.text(chosen.record_key) in {*header, *writing.row(header)}:
        message = "A column of the records has this name."
        raise InputError(Finding("record-key", message, "Choose another name.", column=chosen.record_key))


class RecordKeyColumn:
    """The keys of the records that are written: of the file in its order, then of those that are made up."""

    def __init__(self, table: RecordTable, classes: Classes, handled: Handled, order_key: bytes) -> None:
        is_kept = np.array([label is not None for label in handled.labels], np.bool_)[classes.class_of]
        self._table = table
        self._kept = table.positions_of(slice(0, table.rows))[is_kept]
        made_up = table.file_rows + np.arange(sum(handled.added.values()))
        self._positions: NDArray[np.int64] = np.concatenate([self._kept, made_up]).astype(np.int64)
        self._keys = RecordKeys(order_key)

    def texts(self) -> Iterator[str]:
        """Yield the key of each record."""
        for start in range(0, self._positions.size, _BLOCK_ROWS):
            keys = self._keys.of_rows(self._positions[start : start + _BLOCK_ROWS])
            yield from keys.view(f"S{keys.shape[1]}").ravel().astype(str).tolist()

    def write_index(self, path: Path) -> None:
        """Write which record has which key."""
        keys = self._keys.of_rows(self._positions)
        write_key_index(path, keys, self._kept, self._table.row_numbers(self._kept))


class AggregatedColumns:
    """Counts the values of all records that are written, by class; then gives each class one value.

    A class is what the written file shows as one. Made-up records count like the others.
    """

    def __init__(self, header: Sequence[str], quasi: Sequence[int], chosen: HandledColumns, writing: Writing) -> None:
        self._places = {name: header.index(name) for name in chosen.aggregate}
        self._header = header
        self._quasi = quasi
        self._below = chosen.aggregate_below
        self._writing = writing
        self._sizes: Counter[Label] = Counter()
        self._values: dict[str, dict[Label, Counter[str]]] = {name: defaultdict(Counter) for name in self._places}
        self.made_up_values: dict[str, dict[Label, Counter[str]]] = {
            name: defaultdict(Counter) for name in self._places
        }

    def see(self, row: Sequence[str], made_up: bool) -> None:
        """Count the values of a record that is written."""
        if not self._places:
            return
        label = tuple(row[place] for place in self._quasi)
        written = tuple(self._writing.row(label))
        self._sizes[written] += 1
        for name, place in self._places.items():
            self._values[name][written][row[place]] += 1
            if made_up:
                self.made_up_values[name][label][row[place]] += 1

    @cached_property
    def _one_value(self) -> dict[Label, list[tuple[int, str]]]:
        """What the records of each class that gets one value have, by the number of the column."""
        found: dict[Label, list[tuple[int, str]]] = defaultdict(list)
        for name, by_class in self._values.items():
            texts = {text for counter in by_class.values() for text in counter if text}
            is_numeric = all(finite_number(text) is not None for text in texts)
            choose = mean_text if is_numeric else most_frequent
            for label, counter in by_class.items():
                if self._below is None or self._sizes[label] < self._below:
                    found[label].append((self._places[name], choose(list(counter.items()))))
        return found

    def aggregate(self, row: list[str]) -> list[str]:
        """Put the values of its class into a record, after all records were counted."""
        if self._places:
            label = tuple(self._writing.row([row[place] for place in self._quasi]))
            for place, text in self._one_value.get(label, ()):
                row[place] = text
        return row

    def write_counts(self, path: Path) -> None:
        """List the number of records of each class."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        names = self._writing.row([self._header[place] for place in self._quasi])
        writer.writerow([*names, "records"])
        writer.writerows([*label, number] for label, number in sorted(self._sizes.items()))
        path.write_bytes(text.getvalue().encode())

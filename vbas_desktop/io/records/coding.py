"""Turn the values of columns into small integer codes, one dictionary per column, while batches pass by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vbas_desktop.model.records import Categories, ColumnFacts, as_readonly, category_order

Codes = NDArray[np.unsignedinteger]
"""The category of each record, as an index into the categories of its column."""


class ColumnCoder:
    """Numbers the values of one column in the order of their first appearance, and keeps the number of each record.

    ``encode`` turns an Arrow array into a dictionary array without missing values; the dictionaries of all batches are
    of one type, binary or string. They are merged when they have as many values as the merged one: the time for
    that is in proportion to their sizes, and few values are held twice. ``_parts`` has for each batch the index of each
    record into the dictionary of the batch, and the number of each entry of that dictionary. A column of more than
    ``most_values`` values (None: there is no limit) is given up: it is counted on, but not coded.
    """

    def __init__(self, encode: Callable[[Any], Any], most_values: int | None) -> None:
        self._encode = encode
        self._most_values = most_values
        self._values: Any = None
        self._frequencies = np.zeros(0, np.int64)
        self._parts: list[tuple[Codes, NDArray[np.integer]]] = []
        self._waiting: list[tuple[Codes, Any]] = []
        self._waiting_values = 0
        self._uncoded_distinct = 0
        self._uncoded_missing = 0
        self.is_coded = True

    def add(self, array: Any) -> None:
        """Code the next batch."""
        if not len(array):
            return
        encoded = self._encode(array)
        indices = pack_codes(_to_numpy(encoded.indices), len(encoded.dictionary))
        self._waiting.append((indices, encoded.dictionary))
        self._waiting_values += len(encoded.dictionary)
        if self._waiting_values > self._frequencies.size or not self.is_coded:
            self._merge()

    def _merge(self) -> None:
        """Give the values of the waiting batches their numbers."""
        if not self.is_coded:
            self._uncoded_missing += sum(
                _count_empty(indices, values) for indices, values in self._waiting
            )
        elif self._waiting:
            earlier = [] if self._values is None else [self._values]
            merged = pa.chunked_array(
                [*earlier, *(values for _, values in self._waiting)]
            ).dictionary_encode()
            self._values = merged.chunk(0).dictionary
            number = len(self._values)
            self._frequencies = np.append(
                self._frequencies, np.zeros(number - self._frequencies.size, np.int64)
            )
            for (indices, values), chunk in zip(
                self._waiting, merged.chunks[len(earlier) :], strict=True
            ):
                code_of = _to_numpy(chunk.indices)
                np.add.at(self._frequencies, code_of, np.bincount(indices, minlength=len(values)))
                self._parts.append((indices, code_of))
        self._waiting = []
        self._waiting_values = 0
        if self.is_coded and self._most_values is not None and self.distinct > self._most_values:
            self._give_up()

    def _give_up(self) -> None:
        self._uncoded_distinct = self.distinct
        self._uncoded_missing = self._count_missing()
        self.is_coded = False
        self._values = None
        self._parts = []

    def _count_missing(self) -> int:
        return 0 if self._values is None else int(self._frequencies[_find_empty(self._values)].sum())

    @property
    def distinct(self) -> int:
        """Return the number of values so far; a lower bound once the column was given up."""
        return int(np.count_nonzero(self._frequencies)) if self.is_coded else self._uncoded_distinct

    def count_values(self, encoding: str) -> tuple[list[str], NDArray[np.int64]]:
        """Return the values in the order of their first appearance, and how many records have each."""
        self._merge()
        return ([] if self._values is None else _decode(self._values, encoding)), self._frequencies

    def finish(
        self, name: str, rows: int, encoding: str, declared: int | None, identifier_from: int
    ) -> tuple[ColumnFacts, Codes | None]:
        """Return the facts of the column and its codes in the order of its categories; None if it has none.

        Values of no record are left out. From ``identifier_from`` values on, a limited column with a value of its own
        for every second record has no categories.
        """
        self._merge()
        distinct = self.distinct
        is_identifier = (
            self._most_values is not None and distinct > identifier_from and 2 * distinct > rows
        )
        if not self.is_coded or is_identifier:
            missing = self._count_missing() if self.is_coded else self._uncoded_missing
            return ColumnFacts(name, distinct, missing, categorical=False), None
        texts, frequencies = self.count_values(encoding)
        facts, code_of = order_categories(name, texts, frequencies, declared)
        codes: Codes = np.empty(rows, code_type(facts.distinct))
        table = code_of.astype(codes.dtype)
        done = 0
        for indices, code_of_index in self._parts:
            np.take(table[code_of_index], indices, out=codes[done : done + indices.size], mode="clip")
            done += indices.size
        self._parts = []
        return facts, as_readonly(codes)


def _to_numpy(numbers: Any) -> NDArray[np.integer]:
    """Return an Arrow array of whole numbers; its own method would import pandas, which takes longer than a file."""
    array: Any = np.from_dlpack(numbers)
    return array


def _decode(values: Any, encoding: str) -> list[str]:
    if encoding == "iso8859-1" and pa.types.is_binary(values.type):
        return [value.decode(encoding) for value in values.to_pylist()]
    return values.cast(pa.string()).to_pylist()


def _find_empty(values: Any) -> NDArray[np.int64]:
    return np.flatnonzero(_to_numpy(pc.binary_length(values)) == 0)


def _count_empty(indices: Codes, values: Any) -> int:
    return int(np.isin(indices, _find_empty(values)).sum())


def code_batches(batches: Iterable[Any], coders: Mapping[int, ColumnCoder], threads: int) -> int:
    """Code columns of Arrow batches, by their positions in the batch, and return the number of rows.

    While a batch is coded, the next is read; the batches of a column are coded in order.
    """
    rows = 0
    with ThreadPoolExecutor(max(1, threads), "coding") as pool:
        busy: list[Future[None]] = []
        for batch in batches:
            rows += batch.num_rows
            for future in busy:
                future.result()
            if threads > 1:
                busy = [
                    pool.submit(coder.add, batch.column(position)) for position, coder in coders.items()
                ]
                continue
            for position, coder in coders.items():
                coder.add(batch.column(position))
        for future in busy:
            future.result()
    return rows


def code_type(values: int) -> type[np.unsignedinteger]:
    """Return the smallest unsigned type for this number of codes."""
    return np.uint8 if values <= 1 << 8 else np.uint16 if values <= 1 << 16 else np.uint32


def pack_codes(codes: NDArray[np.integer], values: int) -> Codes:
    """Return codes of this number of values as the smallest type that has room for them, read-only."""
    return as_readonly(codes.astype(code_type(values)))


def order_categories(
    name: str, texts: Sequence[str], frequencies: NDArray[np.int64], declared: int | None = None
) -> tuple[ColumnFacts, NDArray[np.int64]]:
    """Return the facts of a column whose values have these texts and numbers of records, and the code of each.

    Equal texts become one category; those of no record become none, and their code means nothing.
    """
    present = {text for text, number in zip(texts, frequencies.tolist(), strict=True) if number}
    ordered = tuple(category_order(sorted(present)))
    code_by_text = {text: code for code, text in enumerate(ordered)}
    code_of = np.array([code_by_text.get(text, 0) for text in texts], np.int64)
    counts = np.zeros(len(ordered), np.int64)
    np.add.at(counts, code_of[frequencies > 0], frequencies[frequencies > 0])
    missing = int(counts[0]) if ordered[:1] == ("",) else 0
    categories = Categories(name, ordered, declared)
    return ColumnFacts(name, len(ordered), missing, True, categories, as_readonly(counts)), code_of


def select_categories(
    facts: ColumnFacts, frequencies: NDArray[np.int64]
) -> tuple[ColumnFacts, NDArray[np.int64]]:
    """Return the facts of a column whose categories have these frequencies now, and the new code of each old one.

    Categories that no record has any more are left out; the others keep their order.
    """
    assert facts.categories is not None
    is_present = frequencies > 0
    code_of = np.maximum(np.cumsum(is_present) - 1, 0)
    values = tuple(
        value for value, stays in zip(facts.categories.values, is_present.tolist(), strict=True) if stays
    )
    missing = int(frequencies[is_present][0]) if values[:1] == ("",) else 0
    categories = replace(facts.categories, values=values)
    return ColumnFacts(
        facts.name, len(values), missing, True, categories, as_readonly(frequencies[is_present])
    ), code_of

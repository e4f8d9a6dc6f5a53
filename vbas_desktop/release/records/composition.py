"""How a released row is put together: which columns are copied, which are replaced, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import RecordTable
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions

from .canonical import Canonical
from .fields import Bytes, FieldTable, bounds_of, quoted, unquoted
from .rows import COPY, KEY, SIZE, TEXT, decide, is_formula

DIRECT_CLASSES = 1 << 24
DENSE_CELLS = 1 << 24
UNKNOWN = -1
_NEVER_FORMULAS = frozenset(bytes([byte]) for byte in b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""What no formula begins with: most values need no closer look."""


class Lookup:
    """From the texts of a column, after all its groupings, to the places of its values."""

    def __init__(self, values: Sequence[str], chain: Sequence[Mapping[str, str]] = ()) -> None:
        self._codes, self._chain = {value: code for code, value in enumerate(values)}, chain
        self._known = [*values, *(text for groups in chain for text in groups)]

    def grouped(self, text: str) -> str:
        """What a value is called after all groupings."""
        for groups in self._chain:
            text = groups.get(text, text)
        return text

    def code(self, text: str) -> int:
        """The place of the value that a text stands for; `UNKNOWN` if it stands for none."""
        return self._codes.get(self.grouped(text), UNKNOWN)

    def table(self, encoding: str, delimiter: bytes) -> FieldTable:
        """The same from raw fields."""
        plain = ((_encoded(text, encoding), text) for text in self._known)
        known = ((raw, self.code(text)) for raw, text in plain if raw is not None and quoted(raw, delimiter) == raw)
        return FieldTable(known, lambda raw: self.code(unquoted(raw).decode(encoding, "replace")))


def lookups(problem: Problem) -> list[Lookup]:
    """From texts to initial regions, and to the categories of each quasi-identifier."""
    chains = [
        [grouping.groups for grouping in problem.groupings if grouping.column == name]
        for name in problem.quasi_identifiers
    ]
    categories = (Lookup(each.values, chain) for each, chain in zip(problem.categories, chains, strict=True))
    return [Lookup(problem.regions.ids), *categories]


def region_and_category_codes(
    problem: Problem, table: RecordTable
) -> tuple[NDArray[np.int32], list[NDArray[np.int32]]]:
    """The initial region of each code of the table's region column, and the category of each code of the others."""
    found = []
    for name, lookup in zip((problem.region_column, *problem.quasi_identifiers), lookups(problem), strict=True):
        categories = table.facts(name).categories
        assert categories is not None
        found.append(np.array([lookup.code(value) for value in categories.values], np.int32))
    return found[0], found[1:]


def mapped_regions(problem: Problem, table: RecordTable) -> NDArray[np.int32] | None:
    """List the initial region of each record of the file if a region map decides it; None if the file tells it.

    Below 0: the record has none, or is not considered.
    """
    if table.mapped_column != problem.region_column:
        return None
    categories = table.facts(problem.region_column).categories
    assert categories is not None
    known = Lookup(problem.regions.ids)
    region_of = np.array([known.code(value) for value in categories.values], np.int32)
    regions = np.full(table.file_rows, UNKNOWN, np.int32)
    regions[table.positions_of(slice(0, table.rows))] = region_of[table.codes(problem.region_column)]
    return regions


def _encoded(text: str, encoding: str) -> bytes | None:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return None


class Decision(NamedTuple):
    """What says whether a record is released: the arrays that `rows.decide` needs, in the order of its parameters."""

    strides: NDArray[np.int64]
    membership: NDArray[np.int32]
    direct: NDArray[np.int32]
    classes: NDArray[np.int64]
    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    sizes: NDArray[np.int64]
    areas: NDArray[np.int32]
    dense: NDArray[np.int32]
    dense_areas: NDArray[np.int32]

    @classmethod
    def of(cls, plan: Plan) -> Decision:
        """From the plan, with direct tables where they stay small."""
        counts = plan.problem.counts
        numbers = counts.n_categories
        strides = np.array([int(np.prod(numbers[q + 1 :], dtype=object)) for q in range(len(numbers))], np.int64)
        direct = np.empty(0, np.int32)
        if counts.max_combinations <= DIRECT_CLASSES:
            direct = np.full(max(1, counts.max_combinations), -1, np.int32)
            direct[counts.combinations] = np.arange(counts.n_combinations)
        dense, dense_areas = np.empty((0, 0), np.int32), np.empty((0, 0), np.int32)
        # Without tiers the place of a record is its aggregated region, which needs no table.
        areas = plan.areas if plan.coarser else np.empty(0, np.int32)
        if len(plan.codes) * counts.n_combinations <= DENSE_CELLS and plan.sizes.max(initial=0) < 1 << 31:
            dense = np.zeros((len(plan.codes), counts.n_combinations), np.int32)
            dense[plan.places, plan.columns] = plan.class_sizes
            if plan.coarser:
                dense_areas = np.zeros_like(dense)
                dense_areas[plan.places, plan.columns] = plan.areas
        listed = counts.combinations, plan.indptr, plan.columns, plan.class_sizes
        return cls(strides, plan.membership, direct, *listed, areas, dense, dense_areas)

    def places(
        self, region: NDArray[np.int32], codes: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The place of each record (below 0: it is not released) and its class size, by region and categories."""
        area, size = np.empty(region.size, np.int32), np.empty(region.size, np.int64)
        decide(region, codes, *self, area, size)
        return area, size


class Texts:
    """The texts that are written for codes: in quotes where they need them, formulas defused if so wished."""

    def __init__(self, encoding: str, delimiter: bytes, escape: bool) -> None:
        self._encoding, self._delimiter, self._escape = encoding, delimiter, escape
        self.fields: list[bytes] = []
        self.formulas: list[bool] = []

    def add(self, values: Iterable[str], column: str) -> int:
        """Append the values of a column; returns the number of the first."""
        start = len(self.fields)
        for value in values:
            raw = required_bytes(value, self._encoding, column)
            field = quoted(raw, self._delimiter)
            formula = raw[:1] not in _NEVER_FORMULAS and bool(is_formula(np.frombuffer(field, np.uint8), 0, len(field)))
            self.fields.append(quoted(b"'" + raw, self._delimiter) if formula and self._escape else field)
            self.formulas.append(formula)
        return start


@dataclass(frozen=True, eq=False)
class Composition:
    """The parts of a released row as `rows.compose` takes them.

    ``columns`` is where each part's column stands in the input, ``formulas`` which texts a spreadsheet might run.
    """

    kinds: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    columns: NDArray[np.int32]
    pool: Bytes
    bounds: NDArray[np.int64]
    formulas: NDArray[np.bool_]
    delimiter: int
    requote: bool
    escape: bool
    longest: int


def make_composition(
    plan: Plan,
    options: ReleaseOptions,
    header: tuple[str, ...],
    delimiter: str,
    encoding: str,
    canonical: Canonical,
    aggregated: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Composition:
    """What is copied, replaced and added, in the order of the release; ``aggregated`` has the texts of such columns."""
    new = (options.delimiter or delimiter).encode()
    requote = new != delimiter.encode()
    problem = plan.problem
    grouped = {grouping.column for grouping in problem.groupings}
    texts = Texts(encoding, new, options.escape_formulas)
    parts: list[tuple[int, int, int, int]] = []
    replaced_texts = {**{name: texts for name, (_, texts) in canonical.items()}, **aggregated}
    rewritten = {name: len(problem.quasi_identifiers) + place for place, name in enumerate(replaced_texts)}
    places = {column: place for place, column in enumerate(header)}
    for column, _ in options.released_columns(header):
        place = places[column]
        if column == problem.region_column:
            parts.append((TEXT, texts.add(plan.every_code, column), -1, place))
        elif column in grouped and column in problem.quasi_identifiers:
            q = problem.quasi_identifiers.index(column)
            parts.append((TEXT, texts.add(problem.categories[q].values, column), q, place))
        elif column in rewritten:
            parts.append((TEXT, texts.add(replaced_texts[column], column), rewritten[column], place))
        elif parts and not requote and parts[-1][0] == COPY and parts[-1][2] == place - 1:
            parts[-1] = (COPY, parts[-1][1], place, place)
        else:
            parts.append((COPY, place, place, place))
    if options.class_size:
        parts.append((SIZE, 0, 0, -1))
    if options.record_key:
        parts.append((KEY, 0, 0, -1))
    kinds, first, last, columns = (np.array(values, np.int32) for values in zip(*parts, strict=True))
    replaced = int(np.count_nonzero(kinds != COPY))
    longest = max(map(len, texts.fields), default=0)
    return Composition(
        kinds,
        first,
        last,
        columns,
        np.frombuffer(b"".join(texts.fields) + b"\0", np.uint8),
        bounds_of(texts.fields),
        np.array([*texts.formulas, False], np.bool_),
        new[0],
        requote,
        options.escape_formulas,
        replaced * (max(longest, 20) + 1) + 2,
    )


def names_row(options: ReleaseOptions, header: Sequence[str], encoding: str, delimiter: str) -> bytes:
    """The names of the released columns as a row of a CSV file, without its end."""
    own = ((name, name) for name in options.added_columns)
    raw = (required_bytes(name, encoding, column) for column, name in (*options.released_columns(header), *own))
    return delimiter.encode().join(quoted(name, delimiter.encode()) for name in raw)


def required_bytes(text: str, encoding: str, column: str) -> bytes:
    """The text in the encoding of the record file; refused if it cannot be written in it."""
    raw = _encoded(text, encoding)
    if raw is None:
        raise InputError(
            Finding(
                "release-option",
                f"A name or label cannot be written in {encoding}, the encoding of the record file.",
                "Use plain letters, or save the record file as UTF-8.",
                column=column,
            )
        )
    return raw

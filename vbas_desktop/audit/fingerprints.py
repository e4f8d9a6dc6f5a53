"""The two sides of the verification: what the input should have become, and what the released file holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.io.databases.engine import DatabaseEngine
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.problem import Problem

from .aggregates import AggregationClaim
from .blocks import Unreadable
from .expected_values import alone, expected_forms, expected_values
from .file_columns import UnreadableFile
from .readback import (
    Batch,
    Stretch,
    escaped,
    hashed_batches,
    hashes_of,
    plain_parts,
    quotes_in,
    read_csv,
    read_parquet,
    read_wide,
)
from .region_map import Assignment, read_lines
from .selection import FilterClaim, ReadFilter, read_filters
from .source_records import every_record
from .tally import Hashes, Tally, Translation, combine, fingerprints

_NO_HASHES: Hashes = np.empty(0, np.uint64)

Tick = Callable[[int], None]
"""Called with the number of rows of every batch; raises to stop."""


@dataclass(frozen=True)
class Claim:
    """What the released file is said to be; ``columns`` are (name in the input, name in the release) in order.

    ``values`` are those of the columns whose numbers, dates and blanks are written in one way. No aggregated region
    holds two values of the region file's columns ``within``, or one of the initial regions ``alone`` and another one.
    ``source`` is where the records of the input are if they are in no file. Aggregated regions are named after the
    region file's ``name_column``, if at all. ``filters`` chose the records of the input that were considered,
    ``region_map`` says which regions their ids stand for. The column ``record_key`` has a key of each row, which
    ``record_index`` leads back to the input. Columns in ``aggregated`` have one value per class, whose numbers of
    records ``class_counts`` lists.
    """

    file: Path
    crosswalk: Path
    columns: tuple[tuple[str, str], ...]
    class_size: str | None
    delimiter: str
    escaped: bool
    records: int
    released: int
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    source: DatabaseEngine | None = None
    name_column: str | None = None
    filters: tuple[FilterClaim, ...] = ()
    record_key: str | None = None
    record_index: Path | None = None
    region_map: Path | None = None
    aggregated: tuple[AggregationClaim, ...] = ()
    class_counts: Path | None = None

    @property
    def names(self) -> list[str]:
        """The names that the released file must have."""
        added = [name for name in (self.class_size, self.record_key) if name]
        return [name for _, name in self.columns] + added


@dataclass(frozen=True)
class Case:
    """A release to be verified: what was counted, how the record file is written, and what is claimed."""

    problem: Problem
    dialect: Dialect
    claim: Claim

    @cached_property
    def filters(self) -> tuple[ReadFilter, ...]:
        """The filters of the input, read anew."""
        try:
            return read_filters(self.claim.filters)
        except UnreadableFile as error:
            raise Unreadable(str(error)) from None

    @property
    def by_csv(self) -> bool:
        """Whether both files are CSV."""
        return self.dialect.format == "csv" and self.claim.file.suffix == ".csv"

    @property
    def encoding(self) -> str:
        """The encoding of the values that are compared: that of the input where the released file has it too."""
        encoding = self.dialect.encoding or "utf-8"
        return encoding if self.by_csv and not read_wide(encoding) else "utf-8"


Crosswalk = Mapping[str, tuple[str, ...]]
"""The code of each initial region: of its aggregated region, and in tiers of each larger place."""


@dataclass
class Seen:
    """What one file came down to. ``strangers`` are rows whose region the crosswalk does not know.

    ``sizes`` counts the rows by the hash of the added class size. In several ``tiers`` the tally adds up what the rows
    would be with the code of each of them, and notes aggregated region and class of each key. ``values`` counts by
    class and value of each sensitive column that has criteria, and notes both. ``aggregated``
    counts the values of columns that have one value per class in the release. If the release has keys of records,
    ``keyed`` has parts of rows: their fingerprints, with their numbers in the input or the hashes of their keys.
    """

    tally: Tally = field(default_factory=Tally)
    tiers: int = 1
    values: dict[str, Tally] = field(default_factory=dict)
    rows: int = 0
    strangers: int = 0
    names_fit: bool = True
    quotes_fit: bool = True
    sizes: Counter[int] = field(default_factory=Counter)
    aggregated: dict[str, Tally] = field(default_factory=dict)
    keyed: list[tuple[NDArray[np.integer], NDArray[np.uint64]]] = field(default_factory=list)


def hashed(texts: Iterable[str], encoding: str, escape: bool = False) -> Hashes:
    """The hashes of a few texts, with their formulas escaped if so wished."""
    values = pa.array([text.encode(encoding) for text in texts], pa.binary())
    return hashes_of(escaped(values) if escape else values)


Notation = Mapping[str, Mapping[str, str]]
"""By column, what is written for values that are not written as they are."""


def seen_input(
    case: Case,
    crosswalk: Crosswalk,
    tick: Tick,
    notation: Notation,
    aggregates: Mapping[str, Translation] = MappingProxyType({}),
) -> Seen:
    """The input by classes of aggregated region and all quasi-identifiers, its values changed as stated.

    ``aggregates`` has, by column, the value of all records of a class.
    """
    problem, claim, encoding, seen = case.problem, case.claim, case.encoding, Seen()
    place = {name: index for index, name in enumerate(case.dialect.header)}
    regions, *larger = (
        Translation(hashed(crosswalk, encoding), hashed(codes, encoding))
        for codes in zip(*crosswalk.values(), strict=True)
    )
    if larger:
        seen.tiers = 1 + len(larger)
        seen.tally = Tally(seen.tiers, notes=2)
    regrouped = _regrouped(case)
    rewritten = [(place[name], _changes(texts, encoding, claim.escaped)) for name, texts in notation.items()]
    meanings = _meanings(case)
    at, kinds_at = place[problem.region_column], [place[name] for name in problem.quasi_identifiers]
    released = [place[name] for name, _ in claim.columns]
    for columns, positions in _input_batches(case):
        tick(columns.shape[1])
        seen.rows += columns.shape[1]
        above = [codes.of(columns[at])[0] for codes in larger]
        missing = regions.of(columns[at], columns[at])[1]
        seen.strangers += missing
        if missing:
            known = columns[at] != 0
            columns, above = np.compress(known, columns, axis=1), [codes[known] for codes in above]
            positions = positions[known]
        for column, groups in regrouped:
            columns[column] = groups.where_any(columns[column])
        keys = fingerprints(columns, [*kinds_at, at])
        notes = np.stack((columns[at], fingerprints(columns, kinds_at))) if larger else None
        for name in problem.judged_columns:
            _add_values(seen.values, name, keys, meanings[name].where_any(columns[place[name]]))
        for one in claim.aggregated:
            _add_values(seen.aggregated, one.column, keys, columns[place[one.column]])
        for column, texts in rewritten:
            columns[column] = texts.where_any(columns[column])
        for name, value_of_class in aggregates.items():
            values = value_of_class.of(keys)[0]
            columns[place[name]] = np.where(values != 0, values, columns[place[name]])
        rows = _rows(columns, released, at, above)
        if claim.record_key is not None:
            seen.keyed.append((positions, rows))
        seen.tally.add(keys, rows, notes)
    return seen


def certain_notation(case: Case) -> tuple[Notation, tuple[str, ...]]:
    """Tell what is written for the values of each column, and in which columns that depends on what is released."""
    certain, open_columns = {}, []
    released = {name for name, _ in case.claim.columns}
    for name, values in case.claim.values.items():
        bare = {value: value.strip(" \t") for value in values}
        if name not in released or all(alone(value) == bare[value] for value in values):
            certain[name] = {value: text for value, text in bare.items() if value != text}
        else:
            open_columns.append(name)
    return certain, tuple(open_columns)


def expected_notation(
    case: Case, crosswalk: Crosswalk, classes: Hashes, columns: Sequence[str], tick: Tick
) -> Notation:
    """Read the input once more and tell what is written for the values that records of these classes have."""
    encoding = case.encoding
    place = {name: index for index, name in enumerate(case.dialect.header)}
    codes = [codes[0] for codes in crosswalk.values()]
    regions = Translation(hashed(crosswalk, encoding), hashed(codes, encoding))
    at, kinds_at = place[case.problem.region_column], [place[name] for name in case.problem.quasi_identifiers]
    regrouped, classes = _regrouped(case), np.sort(classes)
    found: dict[str, list[Hashes]] = {name: [] for name in columns}
    for batch, _ in _input_batches(case):
        tick(batch.shape[1])
        regions.of(batch[at], batch[at])
        for column, groups in regrouped:
            batch[column] = groups.where_any(batch[column])
        kept = (batch[at] != 0) & np.isin(fingerprints(batch, [*kinds_at, at]), classes)
        for name in columns:
            found[name].append(np.unique(batch[place[name]][kept]))
    notation = {}
    for name in columns:
        values = case.claim.values[name]
        there = np.isin(hashed(values, encoding, case.claim.escaped), np.concatenate([*found[name], _NO_HASHES]))
        present = [value for value, released in zip(values, there.tolist(), strict=True) if released]
        pairs = zip(present, expected_values(present), strict=True)
        notation[name] = {before: after for before, after in pairs if before != after}
    return notation


def _regrouped(case: Case) -> list[tuple[int, Translation]]:
    """The quasi-identifiers whose values are grouped, by their place, with the groups."""
    return [
        (case.dialect.header.index(one.column), _changes(one.groups, case.encoding, case.claim.escaped))
        for one in case.problem.groupings
        if one.column in case.problem.quasi_identifiers
    ]


def _meanings(case: Case) -> dict[str, Translation]:
    """For the columns with criteria: from any form of a value to the one that stands for all of them."""
    found = {}
    for name in case.problem.judged_columns:
        values = case.claim.values.get(name, ())
        forms = {form: alone(value) for value in values for form in expected_forms(value)}
        found[name] = _changes(forms, case.encoding, case.claim.escaped)
    return found


def _add_values(tallies: dict[str, Tally], name: str, classes: Hashes, values: Hashes) -> None:
    """Count rows by class and sensitive value."""
    keys = classes.copy()
    combine(keys, values)
    tally = tallies.setdefault(name, Tally(0, 2))
    tally.add(keys, np.zeros((0, keys.size), np.uint64), np.stack((classes, values)))


def _rows(columns: Batch, released: Sequence[int], region: int | None, above: Sequence[Hashes] = ()) -> Hashes:
    """The fingerprints of rows with the code of each tier in turn; the region goes in last, all else but once."""
    others = [place for place in released if place != region]
    if region is None or region not in released:
        return np.stack([fingerprints(columns, others)] * (1 + len(above)))
    rows = [fingerprints(columns, [*others, region])]
    for codes in above:
        rows.append(fingerprints(columns, others))
        combine(rows[-1], codes)
    return np.stack(rows)


def output_parts(case: Case, number: int) -> list[Stretch | None]:
    """The parts of the released file that may be read side by side."""
    return plain_parts(case.claim.file, number) if case.by_csv else [None]


def seen_output(case: Case, crosswalk: Crosswalk, tick: Tick, part: Stretch | None = None) -> Seen:
    """The released file, or a part of it, by classes of what it holds of the region column and quasi-identifiers."""
    problem, claim, encoding, seen = case.problem, case.claim, case.encoding, Seen()
    codes = hashed(sorted({code for codes in crosswalk.values() for code in codes}), encoding)
    known = Translation(codes, codes)
    names = [name for name, _ in claim.columns]
    counted = [names.index(name) for name in (problem.region_column, *problem.quasi_identifiers) if name in names]
    region = names.index(problem.region_column) if problem.region_column in names else None
    quotes: list[int] | None = [] if case.by_csv else None
    meanings = _meanings(case)
    for columns in _output_batches(claim, encoding, seen, quotes, part):
        tick(columns.shape[1])
        seen.rows += columns.shape[1]
        keys = fingerprints(columns, counted)
        rows = _rows(columns, range(len(names)), region)
        if claim.record_key is not None:
            seen.keyed.append((columns[-1].copy(), rows))
        seen.tally.add(keys, rows)
        for name in problem.judged_columns:
            if name in names:
                _add_values(seen.values, name, keys, meanings[name].where_any(columns[names.index(name)]))
        if region is not None:
            seen.strangers += known.of(columns[region])[1]
        if claim.class_size is not None:
            found, counts = np.unique(columns[len(names)], return_counts=True)
            seen.sizes.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
    if quotes:
        # Otherwise the file has no quote at all.
        seen.quotes_fit = sum(quotes) == quotes_in(claim.file)
    return seen


def taken_together(parts: Sequence[Seen]) -> Seen:
    """What the parts of a file come down to."""
    whole, *others = parts
    for part in others:
        whole.tally.absorb(part.tally)
        for name, values in part.values.items():
            if name in whole.values:
                whole.values[name].absorb(values)
            else:
                whole.values[name] = values
        whole.sizes.update(part.sizes)
        whole.rows += part.rows
        whole.strangers += part.strangers
        whole.keyed += part.keyed
    return whole


def _changes(groups: Mapping[str, str], encoding: str, escape: bool) -> Translation:
    """From the hashes of values to those of what they became."""
    return Translation(hashed(groups, encoding, escape), hashed(groups.values(), encoding, escape))


def _input_batches(case: Case) -> Iterator[tuple[Batch, NDArray[np.int64]]]:
    """Read the records of the input that are to be considered, with their numbers among all, counted from 0.

    If there is a region map, the regions that it gives them are in the region column.
    """
    if case.claim.region_map is None:
        yield from _considered_batches(case)
        return
    at = case.dialect.header.index(case.problem.region_column)
    counts: Counter[int] = Counter()
    for batch, _ in _considered_batches(case):
        ids, numbers = np.unique(batch[at], return_counts=True)
        counts.update(dict(zip(ids.tolist(), numbers.tolist(), strict=True)))
    assignment = Assignment(read_lines(case.claim.region_map), counts, lambda texts: hashed(texts, case.encoding))
    for batch, positions in _considered_batches(case):
        assignment.replace(batch[at])
        yield batch, positions


def _considered_batches(case: Case) -> Iterator[tuple[Batch, NDArray[np.int64]]]:
    """Read the records that are to be considered as the file has them, with their numbers among all."""
    rows = 0
    header, region = case.dialect.header, case.problem.region_column
    listed = []
    for one in case.filters:
        unknown = [name for name in one.columns if name not in header]
        if unknown:
            raise Unreadable("a filter of records names a column that the input does not have")
        texts = [[combination[place] for combination in one.combinations] for place in range(len(one.columns))]
        columns = [
            hashed(values, case.encoding, case.claim.escaped and name != region)
            for name, values in zip(one.columns, texts, strict=True)
        ]
        places = [header.index(name) for name in one.columns]
        listed.append((places, fingerprints(np.stack(columns), range(len(columns))), one.is_required))
    for batch in _every_input_batch(case):
        considered = np.ones(batch.shape[1], np.bool_)
        for places, combinations, is_required in listed:
            found = np.isin(fingerprints(batch, places), combinations)
            considered &= found if is_required else ~found
        positions = rows + np.flatnonzero(considered)
        rows += batch.shape[1]
        yield np.ascontiguousarray(np.compress(considered, batch, axis=1)) if listed else batch, positions


def _every_input_batch(case: Case) -> Iterator[Batch]:
    problem, dialect, claim = case.problem, case.dialect, case.claim
    # The region column is compared with the crosswalk, which holds the ids as they are.
    others = [place for place, name in enumerate(dialect.header) if name != problem.region_column]
    escape = others if claim.escaped else []
    if claim.source is not None:
        yield from hashed_batches(every_record(claim.source), escape)
        return
    assert problem.records_source is not None
    path = Path(problem.records_source.path)
    skip = 2 if dialect.category_line else 1
    if dialect.format == "parquet":
        yield from _without_first(read_parquet(path, escape), skip)
        return
    encoding = dialect.encoding or "utf-8"
    recode = encoding if case.encoding != encoding else None
    batches = read_csv(path, dialect.delimiter or ",", len(dialect.header), dialect.compressed, recode, escape)
    yield from _without_first(batches, skip)


def _output_batches(
    claim: Claim, encoding: str, seen: Seen, quotes: list[int] | None, part: Stretch | None
) -> Iterator[Batch]:
    expected = hashed(claim.names, encoding)
    if claim.file.suffix == ".parquet":
        batches = read_parquet(claim.file)
    else:
        batches = read_csv(claim.file, claim.delimiter, len(claim.names), needed=quotes, part=part)
    if part is not None and part.low > 0:
        yield from batches
        return
    first = next(batches, None)
    if first is None:
        raise Unreadable("the file is empty")
    seen.names_fit = bool(np.array_equal(first[:, 0], expected))
    yield np.ascontiguousarray(first[:, 1:])
    yield from batches


def _without_first(batches: Iterator[Batch], skip: int) -> Iterator[Batch]:
    for columns in batches:
        dropped = min(skip, columns.shape[1])
        skip -= dropped
        yield np.ascontiguousarray(columns[:, dropped:])

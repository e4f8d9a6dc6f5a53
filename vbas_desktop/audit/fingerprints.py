"""The two sides of the verification: what the input should have become, and what the released file holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vbas_desktop.domain.problem import Problem
from vbas_desktop.files.dialect import Dialect

from .blocks import Unreadable
from .expected_values import expected_values
from .readback import Batch, escaped, hashes_of, quotes_in, read_csv, read_parquet, read_wide
from .tally import Hashes, Tally, Translation, combine

Tick = Callable[[int], None]
"""Called with the number of rows of every batch; raises to stop."""


class Cells:
    """Which aggregated region and which class each key stands for."""

    def __init__(self) -> None:
        self._found: list[NDArray[np.uint64]] = []
        self._held, self._most = 0, _MOST_CELLS

    def add(self, keys: Hashes, region: Hashes, kind: Hashes) -> None:
        """Note each key of a batch once."""
        _, first = np.unique(keys, return_index=True)
        self._found.append(np.stack((keys[first], region[first], kind[first])))
        self._held += first.size
        if self._held > self._most:
            self._found = [self.sorted()]
            self._held = self._found[0].shape[1]
            self._most = max(_MOST_CELLS, 2 * self._held)

    def sorted(self) -> NDArray[np.uint64]:
        """Keys, aggregated regions and classes, by ascending key."""
        everything = np.concatenate(self._found, axis=1) if self._found else np.zeros((3, 0), np.uint64)
        _, first = np.unique(everything[0], return_index=True)
        return everything[:, first]


_MOST_CELLS = 4_000_000
"""Notes that are kept before those that repeat each other are thrown away."""


@dataclass(frozen=True)
class Claim:
    """What the released file is said to be; ``columns`` are (name in the input, name in the release) in order.

    ``values`` are those of the columns whose numbers, dates and blanks are written in one way. No aggregated region
    holds two values of the region file's columns ``within``, or one of the initial regions ``alone`` and another one.
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

    @property
    def names(self) -> list[str]:
        """The names that the released file must have."""
        return [name for _, name in self.columns] + ([self.class_size] if self.class_size else [])


Crosswalk = Mapping[str, tuple[str, ...]]
"""The code of each initial region: of its aggregated region, and in tiers of each larger place."""


@dataclass
class Seen:
    """What one file came down to. ``strangers`` are rows whose region the crosswalk does not know.

    ``sizes`` counts the rows by the hash of the added class size. In tiers, ``coarser`` adds up what the rows would be
    with the code of each tier above, and ``cells`` keeps aggregated region and class of each key.
    """

    tally: Tally = field(default_factory=Tally)
    coarser: list[Tally] = field(default_factory=list)
    cells: Cells = field(default_factory=lambda: Cells())
    rows: int = 0
    strangers: int = 0
    names_fit: bool = True
    quotes_fit: bool = True
    sizes: Counter[int] = field(default_factory=Counter)


def hashed(texts: Iterable[str], encoding: str, escape: bool = False) -> Hashes:
    """The hashes of a few texts, with their formulas escaped if so wished."""
    values = pa.array([text.encode(encoding) for text in texts], pa.binary())
    return hashes_of(escaped(values) if escape else values)


def text_encoding(dialect: Dialect, claim: Claim) -> str:
    """The encoding of the values that are compared: that of the input where the released file has it too."""
    encoding = dialect.encoding or "utf-8"
    by_bytes = dialect.format == "csv" and claim.file.suffix == ".csv" and not read_wide(encoding)
    return encoding if by_bytes else "utf-8"


def seen_input(problem: Problem, dialect: Dialect, claim: Claim, crosswalk: Crosswalk, tick: Tick) -> Seen:
    """The input by classes of aggregated region and all quasi-identifiers, its values changed as stated."""
    seen, encoding = Seen(), text_encoding(dialect, claim)
    place = {name: index for index, name in enumerate(dialect.header)}
    regions, *larger = (
        Translation(hashed(crosswalk, encoding), hashed(codes, encoding))
        for codes in zip(*crosswalk.values(), strict=True)
    )
    seen.coarser = [Tally() for _ in larger]
    groups = {
        name: [_Groups(one.groups, encoding, claim.escaped) for one in problem.groupings if one.column == name]
        for name in problem.quasi_identifiers
    }
    rewritten = {name: _rewritten(values, encoding, claim.escaped) for name, values in claim.values.items()}
    for columns in _input_batches(problem, dialect, claim):
        tick(columns[0].size)
        region, missing = regions.of(columns[place[problem.region_column]])
        seen.rows += region.size
        seen.strangers += missing
        if missing:
            known = region != 0
            columns, region = [column[known] for column in columns], region[known]
        keys = np.zeros(region.size, np.uint64)
        changed = {problem.region_column: region}
        for name in problem.quasi_identifiers:
            changed[name] = columns[place[name]]
            for group in groups[name]:
                changed[name] = group.applied(changed[name])
        for name in (problem.region_column, *problem.quasi_identifiers):
            combine(keys, changed[name])
        for name, groups_of_values in rewritten.items():
            if groups_of_values is not None:
                changed[name] = groups_of_values.applied(columns[place[name]])
        seen.tally.add(keys, _rows(claim, changed, columns, place))
        if larger:
            kinds = np.zeros(region.size, np.uint64)
            for name in problem.quasi_identifiers:
                combine(kinds, changed[name])
            seen.cells.add(keys, region, kinds)
        for codes, tally in zip(larger, seen.coarser, strict=True):
            changed[problem.region_column], _ = codes.of(columns[place[problem.region_column]])
            tally.add(keys, _rows(claim, changed, columns, place))
    return seen


def _rows(claim: Claim, changed: Mapping[str, Hashes], columns: Batch, place: Mapping[str, int]) -> Hashes:
    """The fingerprints of rows with the changed values in their places."""
    rows = np.zeros(columns[0].size, np.uint64)
    for name, _ in claim.columns:
        combine(rows, changed[name] if name in changed else columns[place[name]])
    return rows


def seen_output(problem: Problem, dialect: Dialect, claim: Claim, crosswalk: Crosswalk, tick: Tick) -> Seen:
    """The released file by classes of what it holds of the region column and the quasi-identifiers."""
    seen, encoding = Seen(), text_encoding(dialect, claim)
    codes = hashed(sorted({code for codes in crosswalk.values() for code in codes}), encoding)
    known = Translation(codes, codes)
    names = [name for name, _ in claim.columns]
    quotes: list[int] | None = [] if claim.file.suffix == ".csv" and dialect.format == "csv" else None
    for columns in _output_batches(claim, encoding, seen, quotes):
        tick(columns[0].size)
        seen.rows += columns[0].size
        keys, rows = np.zeros(columns[0].size, np.uint64), np.zeros(columns[0].size, np.uint64)
        for name in (problem.region_column, *problem.quasi_identifiers):
            if name in names:
                combine(keys, columns[names.index(name)])
        for values in columns[: len(names)]:
            combine(rows, values)
        seen.tally.add(keys, rows)
        if problem.region_column in names:
            seen.strangers += known.of(columns[names.index(problem.region_column)])[1]
        if claim.class_size is not None:
            found, counts = np.unique(columns[-1], return_counts=True)
            seen.sizes.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
    if quotes is not None:
        seen.quotes_fit = sum(quotes) == quotes_in(claim.file)
    return seen


class _Groups:
    """A grouping, applied to hashes."""

    def __init__(self, groups: Mapping[str, str], encoding: str, escape: bool) -> None:
        before, after = hashed(groups, encoding, escape), hashed(groups.values(), encoding, escape)
        self._translation = Translation(before, after)

    def applied(self, column: Hashes) -> Hashes:
        translated, missing = self._translation.of(column)
        return np.where(translated == 0, column, translated) if missing else translated


def _rewritten(values: tuple[str, ...], encoding: str, escape: bool) -> _Groups | None:
    """What must have become of a column's values, if any of them is not to be as it was."""
    pairs = zip(values, expected_values(values), strict=True)
    different = {before: after for before, after in pairs if before != after}
    return _Groups(different, encoding, escape) if different else None


def _input_batches(problem: Problem, dialect: Dialect, claim: Claim) -> Iterator[Batch]:
    assert problem.records_source is not None
    path = Path(problem.records_source.path)
    # The region column is compared with the crosswalk, which holds the ids as they are.
    others = [place for place, name in enumerate(dialect.header) if name != problem.region_column]
    escape = others if claim.escaped else []
    if dialect.format == "parquet":
        yield from _without_first(read_parquet(path, escape), 1)
        return
    skip = 2 if dialect.category_line else 1
    encoding = dialect.encoding or "utf-8"
    recode = encoding if text_encoding(dialect, claim) != encoding else None
    batches = read_csv(path, dialect.delimiter or ",", len(dialect.header), dialect.compressed, recode, escape)
    yield from _without_first(batches, skip)


def _output_batches(claim: Claim, encoding: str, seen: Seen, quotes: list[int] | None) -> Iterator[Batch]:
    expected = hashed(claim.names, encoding)
    if claim.file.suffix == ".parquet":
        batches = read_parquet(claim.file)
    else:
        batches = read_csv(claim.file, claim.delimiter, len(claim.names), needed=quotes)
    first = next(batches, None)
    if first is None:
        raise Unreadable("the file is empty")
    names = np.array([column[0] for column in first], np.uint64)
    seen.names_fit = bool(np.array_equal(names, expected))
    yield [column[1:] for column in first]
    yield from batches


def _without_first(batches: Iterator[Batch], skip: int) -> Iterator[Batch]:
    for columns in batches:
        dropped = min(skip, columns[0].size)
        skip -= dropped
        yield [column[dropped:] for column in columns] if dropped else columns

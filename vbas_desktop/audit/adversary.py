"""Look at the written file as a recipient could: which columns, alone or together, undo the protection?

Only files are used, never the plan of the release:

- the written file gives the records by released place, quasi-identifiers and value, and so the size of every group that
  a recipient can form;
- the crosswalk gives the places that each initial region lies in, tier by tier;
- the original gives the initial region and the ungrouped values of each released record. Rows are shuffled, so there is
  no link from row to row, and none is needed: all records of an initial region with the same quasi-identifiers are
  released under one code, that of the smallest of their places in which the written file has this class.

The tests of columns are those that are made before writing, on the same sample of rows; so they come to the same
verdicts unless the file is not what was planned.
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vbas_desktop.io.databases.engine import RECORDS, DatabaseEngine
from vbas_desktop.model.crosswalk import code_columns
from vbas_desktop.model.errors import VerificationFailed
from vbas_desktop.model.file_format import Dialect
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Cancelled, Progress, Silent

from .agreement import DENSE_CELLS, Ints
from .column_tests import Combinations, Disclosure, combinations_to_try, disclosing_columns, disclosing_combinations
from .expected_values import expected_values
from .file_columns import CodedColumn, UnreadableFile, encoding_of_release, read_arrays, read_csv, read_parquet
from .region_map import mapped_codes, read_lines
from .released_records import (
    SAMPLE_ROWS,
    ReleasedColumn,
    Sample,
    rare_combination_share,
    released_cells,
    sampled_rows,
    text_hashes,
    whole_cells,
)
from .selection import FilterClaim, read_filters, select_coded

STAGE = "Looking at the written file"


@dataclass(frozen=True)
class WrittenRelease:
    """Where a release and its original are.

    ``columns`` are (name in the original, name in the release) in order, ``width`` counts an added column, too.
    ``escaped``: an apostrophe stands before what looks like a formula. ``source`` holds the original records if they
    are in no file. ``filters`` chose the original records that were considered, ``region_map`` says which regions
    their ids stand for. ``class_columns`` are said to have one value in every class, and are not tested if that is so.
    """

    file: Path
    crosswalk: Path
    columns: tuple[tuple[str, str], ...]
    width: int
    delimiter: str
    escaped: bool
    source: DatabaseEngine | None = None
    filters: tuple[FilterClaim, ...] = ()
    region_map: Path | None = None
    class_columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupCount:
    """The groups of (released place, quasi-identifiers, values of these columns), blank being a value.

    ``below_k`` records are in groups of fewer than k, ``unique`` ones alone in theirs. ``smallest`` is the smallest
    group (None: not counted).
    """

    columns: tuple[str, ...]
    below_k: int
    unique: int | None = None
    smallest: int | None = None


@dataclass(frozen=True)
class LastLook:
    """What was found in the written file.

    ``compared``: the columns were tested with the original for what they tell of place, categories and people.
    """

    k: int
    records: int
    columns: tuple[GroupCount, ...]
    combinations: tuple[GroupCount, ...]
    not_tried: int
    pair_tests: bool
    compared: bool
    disclosures: tuple[Disclosure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data: the entry ``last_look`` of ``run.json``."""
        return {
            "records": self.records,
            "compared_with_original": self.compared,
            "pair_tests": self.pair_tests,
            "columns": [
                {
                    "column": found.columns[0],
                    "records_below_k": found.below_k,
                    "unique_records": found.unique,
                    "smallest_group": found.smallest,
                }
                for found in self.columns
            ],
            "combinations": [
                {"columns": list(found.columns), "records_below_k": found.below_k} for found in self.combinations
            ],
            "combinations_not_tried": self.not_tried,
            "disclosing": ["+".join(found.columns) for found in self.disclosures],
        }


def look_at_release(
    problem: Problem, dialect: Dialect, release: WrittenRelease, pair_tests: bool, progress: Progress
) -> LastLook:
    """Test all released columns of the written file, and pairs and triples if wanted; see `docs/release.md`.

    Raises `VerificationFailed` if a file cannot be read, or if original and written file do not fit together.
    """
    names = [name for name, _ in release.columns]
    used = [problem.region_column, *problem.quasi_identifiers]
    plain = [name for name in names if name not in {*used, *release.class_columns}]
    compared = all(name in names for name in used)
    if not plain and not release.class_columns:
        return LastLook(problem.k, 0, (), (), 0, pair_tests, compared, ())
    try:
        written, original = _read_both(problem, dialect, release, compared, progress)
    except UnreadableFile as error:
        raise VerificationFailed(f"The written file could not be looked at: {error}. Nothing was released.") from None
    progress.update(STAGE, 0.5)
    groups = _Groups(written, [name for name in used if name in names], problem.k)
    for name in release.class_columns:
        if not compared or not groups.is_constant(name):
            message = f"The aggregated column “{name[:80]}” has several values in a class"
            raise VerificationFailed(f"{message}. Nothing was released.")
    singles = tuple(groups.count_column(name) for name in plain)
    found: list[Disclosure] = []
    columns = [_plain_column(name, written[name]) for name in plain]
    records = None
    if original is not None:
        crosswalk = _read_crosswalk(release, problem.regions.ids)
        records = OriginalRecords(problem, crosswalk, written, original, plain, release.escaped, release.region_map)
        columns = [records.column(name) for name in plain]
        found += disclosing_columns(records, columns, progress)
    disclosing = {name for disclosure in found for name in disclosure.columns}
    others = [column for column in columns if column.name not in disclosing]
    chosen = combinations_to_try(others)
    if not pair_tests:
        chosen = Combinations((), len(chosen.tried) + chosen.not_tried)
    elif records is not None:
        found += disclosing_combinations(records, chosen.tried, progress)
    together = []
    for number, combination in enumerate(chosen.tried):
        progress.update(STAGE, 0.5 + 0.5 * number / len(chosen.tried))
        together.append(groups.count_combination([column.name for column in combination]))
    rows = next(iter(written.values())).codes.size
    return LastLook(problem.k, rows, singles, tuple(together), chosen.not_tried, pair_tests, compared, tuple(found))


def _plain_column(name: str, column: CodedColumn) -> ReleasedColumn:
    blank = column.texts.index("") if "" in column.texts else -1
    missing = int(np.count_nonzero(column.codes == blank)) if blank >= 0 else 0
    return ReleasedColumn(name, len(column.texts), blank, column.codes.size - missing, missing, len(column.texts))


Columns = dict[str, CodedColumn]


def _read_both(
    problem: Problem, dialect: Dialect, release: WrittenRelease, compared: bool, progress: Progress
) -> tuple[Columns, Columns | None]:
    """Read the original in a thread of its own and the written file in this one."""
    stop = threading.Event()

    def tick() -> None:
        if stop.is_set():
            raise Cancelled

    with ThreadPoolExecutor(1, "original") as pool:
        original = pool.submit(_read_original, problem, dialect, release, tick) if compared else None
        try:
            written = _read_written(dialect, release, lambda: progress.update(STAGE, 0.0))
            while original is not None and not original.done():
                progress.update(STAGE, 0.3)
                stop.wait(0.02)
        except BaseException:
            stop.set()
            raise
        return written, None if original is None else original.result()


def _read_written(dialect: Dialect, release: WrittenRelease, tick: Callable[[], None]) -> Columns:
    wanted = range(len(release.columns))
    if release.file.suffix == ".parquet":
        names, columns = read_parquet(release.file, wanted, tick)
    else:
        encoding = encoding_of_release(dialect.encoding)
        names, columns = read_csv(release.file, wanted, release.width, release.delimiter, encoding, tick)
    if names[: len(wanted)] != [name for _, name in release.columns]:
        raise UnreadableFile("its columns are not those that were chosen")
    return {name: column for (name, _), column in zip(release.columns, columns, strict=True)}


def _read_original(problem: Problem, dialect: Dialect, release: WrittenRelease, tick: Callable[[], None]) -> Columns:
    """Read the released columns of the considered records."""
    filters = read_filters(release.filters)
    names = list(dict.fromkeys([name for name, _ in release.columns] + [n for one in filters for n in one.columns]))
    columns = dict(zip(names, _read_columns(problem, dialect, release, names, tick), strict=True))
    if filters:
        rows = np.flatnonzero(select_coded(filters, columns, columns[names[0]].codes.size))
        columns = {name: column.at(rows) for name, column in columns.items()}
    found = columns[names[0]].codes.size
    if found != problem.records:
        raise UnreadableFile(f"the record file has {found:,} records instead of {problem.records:,}")
    return {name: columns[name] for name, _ in release.columns}


def _read_columns(
    problem: Problem, dialect: Dialect, release: WrittenRelease, names: Sequence[str], tick: Callable[[], None]
) -> list[CodedColumn]:
    """Read some columns of all original records."""
    header = dialect.header
    wanted = [header.index(name) for name in names]
    if release.source is not None:
        about = release.source.description
        batches = release.source.batches(f"SELECT * FROM {RECORDS}", about.schema, Silent(), STAGE)
        return read_arrays(([batch.column(place) for place in wanted] for batch in batches), len(wanted), tick)
    assert problem.records_source is not None
    path = Path(problem.records_source.path)
    if dialect.format == "parquet":
        _, columns = read_parquet(path, wanted, tick)
        if dialect.category_line:
            return [CodedColumn(column.codes[1:], column.texts) for column in columns]
        return columns
    skipped = 2 if dialect.category_line else 1
    form = dialect.delimiter or ",", dialect.encoding or "utf-8", tick, dialect.compressed, skipped
    _, columns = read_csv(path, wanted, len(header), *form)
    return columns


def _read_crosswalk(release: WrittenRelease, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read the codes of each initial region, tier by tier."""
    with release.crosswalk.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    codes = {row[0]: tuple(row[1 : code_columns(header)]) for row in rows}
    found = {}
    for region in ids:
        known = codes.get(region, codes.get(f"'{region}") if release.escaped else None)
        if known is not None:
            found[region] = known
    return found


class _Groups:
    """Counts the groups that a recipient can form in the written file."""

    def __init__(self, written: Columns, used: Sequence[str], k: int) -> None:
        self._written, self._k = written, k
        rows = next(iter(written.values())).codes.size
        self._cell, self._cells = _combined(np.zeros(rows, np.int64), 1, [written[name] for name in used])
        self._below: dict[str, NDArray[np.bool_]] = {}

    def is_constant(self, name: str) -> bool:
        """Return whether all rows of a class have one value in a column."""
        divided, _ = _combined(self._cell, self._cells, [self._written[name]])
        return np.unique(divided).size == np.unique(self._cell).size

    def count_column(self, name: str) -> GroupCount:
        """Count the groups of one column."""
        group, number = _combined(self._cell, self._cells, [self._written[name]])
        sizes = np.bincount(group, minlength=number)
        self._below[name] = (sizes < self._k)[group]
        sizes = sizes[sizes > 0]
        below, unique = int(sizes[sizes < self._k].sum()), int(np.count_nonzero(sizes == 1))
        return GroupCount((name,), below, unique, int(sizes.min()) if sizes.size else 0)

    def count_combination(self, names: Sequence[str]) -> GroupCount:
        """Count the records below k by several columns; those below k by one of them are so by all together."""
        small = self._below[names[0]].copy()
        for name in names[1:]:
            small |= self._below[name]
        rest = np.flatnonzero(~small)
        columns = (self._written[name] for name in names)
        keys = _combination_keys(
            self._cell[rest], self._cells, [CodedColumn(column.codes[rest], column.texts) for column in columns]
        )
        # Half as many bytes are sorted in half the time.
        keys = keys.astype(np.int32) if keys.max(initial=0) < 1 << 31 else keys
        keys.sort()
        borders = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1], [True])) if keys.size else [True])
        sizes = np.diff(borders)
        below = int(np.count_nonzero(small)) + int(sizes[sizes < self._k].sum())
        return GroupCount(tuple(names), below)


def _combination_keys(group: Ints, groups: int, columns: Sequence[CodedColumn]) -> Ints:
    """Return a number for each combination of group and values, as large as 64 bits allow."""
    for column in columns:
        values = max(1, len(column.texts))
        if groups * values >= 1 << 62:
            numbered, found = pd.factorize(group)
            group, groups = np.asarray(numbered, np.int64), max(1, found.size)
        group, groups = group * values + column.codes, groups * values
    return group


def _combined(group: Ints, groups: int, columns: Sequence[CodedColumn]) -> tuple[Ints, int]:
    """Number the combinations of groups and values; returns the number of each record, and how many there may be.

    Numbers are made dense where they would leave the range that is cheap to count.
    """
    for column in columns:
        values = max(1, len(column.texts))
        group, groups = group * values + column.codes, groups * values
        if groups > DENSE_CELLS:
            numbered, found = pd.factorize(group)
            group, groups = np.asarray(numbered, np.int64), max(1, found.size)
    return group, groups


class OriginalRecords:
    """The released records with their initial regions, as the tests of columns need them."""

    def __init__(
        self,
        problem: Problem,
        crosswalk: dict[str, tuple[str, ...]],
        written: Columns,
        original: Columns,
        plain: Sequence[str],
        escaped: bool,
        region_map: Path | None = None,
    ) -> None:
        self.k, self.quasi_identifiers = problem.k, problem.quasi_identifiers
        self._escaped = escaped
        self._rows = original[problem.region_column].codes.size
        places, self.memberships = _numbered_places(crosswalk)
        groups = {name: _grouped(problem, name, original[name]) for name in self.quasi_identifiers}
        known = {name: self._without_apostrophes(written[name]) for name in self.quasi_identifiers}
        codes = {name: self._as_written(groups[name], known[name]) for name in self.quasi_identifiers}
        region = _regions(original[problem.region_column], crosswalk, region_map)
        # A record whose region or values the written file does not have is not released.
        there = region >= 0
        for column in codes.values():
            there &= column.codes >= 0
        rows = np.flatnonzero(there)
        codes = {name: CodedColumn(column.codes[rows], column.texts) for name, column in codes.items()}
        cells, classes, number = _class_numbers(known, codes, self.quasi_identifiers)
        place_of = np.array([places.get(text, -1) for text in written[problem.region_column].texts], np.int64)
        place = place_of[written[problem.region_column].codes]
        tier = _released_tiers(region[rows], classes, self.memberships, place, cells, number)
        released = tier >= 0
        if int(np.count_nonzero(released)) != cells.size and not problem.judged_columns:
            raise VerificationFailed(
                "The written file could not be looked at: its records are not those of the record file. Nothing was "
                "released."
            )
        self._kept = rows[released]
        self._region, self._tier = region[self._kept], tier[released]
        self._classes = classes[released]
        self._categories = [codes[name].codes[released] for name in self.quasi_identifiers]
        self._originals = [
            original[name].codes[self._kept] if groups[name].texts != original[name].texts else None
            for name in self.quasi_identifiers
        ]
        self._distinct = {name: len(original[name].texts) for name in plain}
        self._columns = {name: self._values(original[name].at(self._kept), written[name]) for name in plain}
        self._hashes: dict[str, NDArray[np.uint64]] = {}

    def _without_apostrophes(self, column: CodedColumn) -> CodedColumn:
        return column.renamed([self._bare(text) for text in column.texts])

    def _bare(self, text: str) -> str:
        """Return a value without the apostrophe that defuses formulas."""
        return text.removeprefix("'") if self._escaped else text

    def _as_written(self, group: CodedColumn, known: CodedColumn) -> CodedColumn:
        """Give the values the codes that they have in the written file; −1: it has no such value."""
        number = {text: code for code, text in enumerate(known.texts)}
        to = np.array([number.get(self._bare(text), -1) for text in group.texts], np.int32)
        return CodedColumn(to[group.codes], known.texts)

    def _values(self, original: CodedColumn, written: CodedColumn) -> CodedColumn:
        """Return the values as they are written: with the notation that gives the counts of the written file."""
        expected = _counts_by_text(written, [self._bare(text) for text in written.texts])
        for notation in (list, _stripped, expected_values):
            texts = notation(original.texts)
            if _counts_by_text(original, [self._bare(text) for text in texts]) == expected:
                return original.renamed(texts)
        return original

    def column(self, name: str) -> ReleasedColumn:
        """Describe a released column."""
        return replace(_plain_column(name, self._columns[name]), distinct=self._distinct[name])

    def values_at(self, column: ReleasedColumn, rows: Ints) -> Ints:
        """Return the codes of a column in these rows."""
        return self._columns[column.name].codes[rows].astype(np.int64)

    def frequencies(self, column: ReleasedColumn) -> Ints:
        """Count the released records with each code of a column."""
        return np.bincount(self._columns[column.name].codes, minlength=column.values).astype(np.int64)

    def rare_combinations(self, columns: Sequence[ReleasedColumn], blanks: bool) -> float:
        """Return the share of the released records whose combination of values fewer than k have."""
        codes = [self._columns[column.name].codes.astype(np.int64) for column in columns]
        for column in columns:
            if column.name not in self._hashes:
                self._hashes[column.name] = text_hashes(self._columns[column.name].texts)
        hashes = [self._hashes[column.name] for column in columns]
        return rare_combination_share([codes], columns, hashes, self._rows, self.k, blanks)

    @cached_property
    def sample(self) -> Sample:
        """Released records from all over the file."""
        wanted = sampled_rows(self._rows)
        at = np.minimum(np.searchsorted(self._kept, wanted), self._kept.size - 1)
        return self._sample(at[self._kept[at] == wanted])

    @cached_property
    def larger(self) -> Sample:
        """Records released under a larger place, in whole classes."""
        found = self._sample(np.flatnonzero(self._tier > 0))
        return found.at(whole_cells(released_cells(found, self.memberships), SAMPLE_ROWS))

    def _sample(self, rows: Ints) -> Sample:
        return Sample(
            rows,
            self._region[rows],
            self._tier[rows],
            np.stack([codes[rows].astype(np.int64) for codes in self._categories]),
            tuple(None if codes is None else codes[rows].astype(np.int64) for codes in self._originals),
            self._classes[rows],
        )


def _stripped(texts: Sequence[str]) -> list[str]:
    return [text.strip(" \t") for text in texts]


def _counts_by_text(column: CodedColumn, texts: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text, number in zip(texts, np.bincount(column.codes, minlength=len(texts)).tolist(), strict=True):
        counts[text] = counts.get(text, 0) + number
    return {text: number for text, number in counts.items() if number}


def _numbered_places(crosswalk: dict[str, tuple[str, ...]]) -> tuple[dict[str, int], tuple[Ints, ...]]:
    """Number the codes of all tiers; returns their numbers, and tier by tier the place of each initial region.

    The numbers of a tier follow those of the finer ones; the places of a tier are counted from its first number on.
    """
    numbers: dict[str, int] = {}
    memberships = []
    for codes in zip(*crosswalk.values(), strict=True):
        start = len(numbers)
        for code in codes:
            numbers.setdefault(code, len(numbers))
        memberships.append(np.array([numbers[code] - start for code in codes], np.int64))
    return numbers, tuple(memberships)


def _regions(column: CodedColumn, crosswalk: dict[str, tuple[str, ...]], region_map: Path | None) -> Ints:
    """Return the number of each record's initial region; −1: the crosswalk does not have it."""
    if region_map is not None:
        column = CodedColumn(*mapped_codes(column.codes, column.texts, read_lines(region_map)))
    number = {region: place for place, region in enumerate(crosswalk)}
    return np.array([number.get(text, -1) for text in column.texts], np.int64)[column.codes]


def _grouped(problem: Problem, name: str, column: CodedColumn) -> CodedColumn:
    """Put groups in place of the values of a quasi-identifier; the codes stay."""
    texts = column.texts
    for grouping in problem.groupings:
        if grouping.column == name:
            texts = [grouping.groups.get(text, text) for text in texts]
    return CodedColumn(column.codes, texts)


def _class_numbers(written: Columns, original: Columns, names: Sequence[str]) -> tuple[Ints, Ints, int]:
    """Number the combinations of quasi-identifiers in both files alike; returns also how many there may be.

    Both must have the same codes for the same texts.
    """
    rows = written[names[0]].codes.size
    both = [
        CodedColumn(np.concatenate((written[name].codes, original[name].codes)), written[name].texts) for name in names
    ]
    number, classes = _combined(np.zeros(both[0].codes.size, np.int64), 1, both)
    return number[:rows], number[rows:], classes


def _released_tiers(
    region: Ints, classes: Ints, memberships: Sequence[Ints], places: Ints, cells: Ints, number: int
) -> Ints:
    """Return the finest tier in which the written file has each record's class at its place; −1: in none.

    ``places`` and ``cells`` are place and class of each written record, ``number`` that of the classes.
    """
    # What holds for a record holds for all with the same initial region and class.
    one_of_each, kind = _distinct(region * number + classes)
    region, classes = region[one_of_each], classes[one_of_each]
    written = places * number + cells
    released = np.sort(written[_distinct(written)[0]])
    tier = np.full(region.size, -1, np.int64)
    start = 0
    for level, membership in enumerate(memberships):
        rows = np.flatnonzero(tier < 0)
        keys = (start + membership[region[rows]]) * number + classes[rows]
        at = np.minimum(np.searchsorted(released, keys), released.size - 1)
        tier[rows[released[at] == keys]] = level
        start += int(membership.max(initial=0)) + 1
    return tier[kind]


def _distinct(keys: Ints) -> tuple[Ints, Ints]:
    """Return the position of one record with each key, and the number of each record's key."""
    if keys.max(initial=0) < DENSE_CELLS:
        last = np.full(int(keys.max(initial=0)) + 1, -1, np.int64)
        last[keys] = np.arange(keys.size)
        there = last >= 0
        number = np.cumsum(there) - 1
        return last[there], number[keys]
    number, found = pd.factorize(keys)
    first = np.zeros(found.size, np.int64)
    first[number] = np.arange(keys.size)
    return first, np.asarray(number, np.int64)

"""The two sides of the verification: what the input should have become, and what the released file holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vbas_desktop.domain.problem import Problem
from vbas_desktop.files.dialect import Dialect

from .readback import Columns, Unreadable, buffers, read_csv, read_parquet, read_wide
from .tally import Hashes, Tally, combine, hash_values

Tick = Callable[[int], None]
"""Called with the number of rows of every batch; raises to stop."""

_RUN = r"^[=@\t\r]"
_SIGNED = r"^[+-]"
_NUMBER = r"^[+-][ .,]*[0-9][0-9 .,]*$"


@dataclass(frozen=True)
class Claim:
    """What the released file is said to be; ``columns`` are (name in the input, name in the release) in order."""

    file: Path
    crosswalk: Path
    columns: tuple[tuple[str, str], ...]
    class_size: str | None
    delimiter: str
    escaped: bool
    records: int
    released: int


@dataclass
class Seen:
    """What one file came down to. ``strangers`` are rows whose region the crosswalk does not know."""

    tally: Tally = field(default_factory=Tally)
    rows: int = 0
    strangers: int = 0
    names: list[str] = field(default_factory=list)
    sizes: Counter[int] = field(default_factory=Counter)


def text_encoding(dialect: Dialect) -> str:
    """The encoding of the values that are compared."""
    encoding = dialect.encoding or "utf-8"
    return "utf-8" if dialect.format != "csv" or read_wide(encoding) else encoding


def seen_input(problem: Problem, dialect: Dialect, claim: Claim, crosswalk: Mapping[str, str], tick: Tick) -> Seen:
    """The input by classes of aggregated region and all quasi-identifiers, its values changed as stated."""
    seen, encoding = Seen(), text_encoding(dialect)
    place = {name: index for index, name in enumerate(dialect.header)}
    ids = pa.array([text.encode(encoding) for text in crosswalk], pa.binary())
    codes = _hashes(pa.array([text.encode(encoding) for text in crosswalk.values()], pa.binary()))
    groups = _Groups(problem, encoding)
    for columns in _input_batches(problem, dialect):
        tick(len(columns[0]))
        found = pc.index_in(columns[place[problem.region_column]], value_set=ids)
        known = found.is_valid().to_numpy(zero_copy_only=False)
        if not known.all():
            columns, found = [column.filter(pa.array(known)) for column in columns], found.drop_null()
        seen.rows += known.size
        seen.strangers += int(known.size - known.sum())
        region = codes[found.to_numpy(zero_copy_only=False)]
        changed = {name: groups.applied(name, columns[place[name]]) for name in problem.quasi_identifiers}
        keys = np.zeros(region.size, np.uint64)
        for part in (region, *(_hashes(changed[name]) for name in problem.quasi_identifiers)):
            combine(keys, part)
        rows = np.zeros(region.size, np.uint64)
        for name, _ in claim.columns:
            if name == problem.region_column:
                combine(rows, region)
            else:
                value = changed[name] if name in changed else columns[place[name]]
                combine(rows, _hashes(_escaped(value) if claim.escaped else value))
        seen.tally.add(keys, rows)
    return seen


def seen_output(problem: Problem, dialect: Dialect, claim: Claim, crosswalk: Mapping[str, str], tick: Tick) -> Seen:
    """The released file by classes of what it holds of the region column and the quasi-identifiers."""
    seen, encoding = Seen(), text_encoding(dialect)
    codes = pa.array(sorted({text.encode(encoding) for text in crosswalk.values()}), pa.binary())
    names = [name for name, _ in claim.columns]
    for columns in _output_batches(claim, encoding, seen):
        tick(len(columns[0]))
        seen.rows += len(columns[0])
        values = [_hashes(column) for column in columns[: len(names)]]
        keys, rows = np.zeros(len(columns[0]), np.uint64), np.zeros(len(columns[0]), np.uint64)
        for name in (problem.region_column, *problem.quasi_identifiers):
            if name in names:
                combine(keys, values[names.index(name)])
        for value in values:
            combine(rows, value)
        seen.tally.add(keys, rows)
        if problem.region_column in names:
            region = columns[names.index(problem.region_column)]
            seen.strangers += len(region) - int(pc.sum(pc.is_in(region, value_set=codes)).as_py() or 0)
        if claim.class_size is not None:
            for entry in columns[-1].value_counts():
                seen.sizes[_whole(entry["values"].as_py())] += entry["counts"].as_py()
    return seen


class _Groups:
    """The groupings of the problem, applied to values."""

    def __init__(self, problem: Problem, encoding: str) -> None:
        self._chains: dict[str, list[tuple[Any, Any]]] = {}
        for grouping in problem.groupings:
            before = pa.array([value.encode(encoding) for value in grouping.groups], pa.binary())
            after = pa.array([value.encode(encoding) for value in grouping.groups.values()], pa.binary())
            self._chains.setdefault(grouping.column, []).append((before, after))

    def applied(self, name: str, column: Any) -> Any:
        for before, after in self._chains.get(name, ()):
            column = pc.coalesce(after.take(pc.index_in(column, value_set=before)), column)
        return column


def _input_batches(problem: Problem, dialect: Dialect) -> Iterator[Columns]:
    assert problem.records_source is not None
    path = Path(problem.records_source.path)
    if dialect.format == "parquet":
        yield from (columns for _, columns in read_parquet(path))
        return
    skip = 2 if dialect.category_line else 1
    encoding = dialect.encoding or "utf-8"
    batches = read_csv(path, dialect.delimiter or ",", len(dialect.header), dialect.compressed, encoding)
    yield from _without_first(batches, skip)


def _output_batches(claim: Claim, encoding: str, seen: Seen) -> Iterator[Columns]:
    if claim.file.suffix == ".parquet":
        for names, columns in read_parquet(claim.file):
            seen.names = names
            yield columns
        return
    width = len(claim.columns) + (claim.class_size is not None)
    batches = read_csv(claim.file, claim.delimiter, width)
    first = next(batches, None)
    if first is None:
        raise Unreadable("the file is empty")
    seen.names = [column[0].as_py().decode(encoding, "replace") for column in first]
    yield [column[1:] for column in first]
    yield from batches


def _without_first(batches: Iterator[Columns], skip: int) -> Iterator[Columns]:
    for columns in batches:
        dropped = min(skip, len(columns[0]))
        skip -= dropped
        yield [column[dropped:] for column in columns] if dropped else columns


def _hashes(column: Any) -> Hashes:
    out = np.empty(len(column), np.uint64)
    hash_values(*buffers(column), out)
    return out


def _escaped(column: Any) -> Any:
    """The column with an apostrophe before everything that a spreadsheet might run."""
    runs = pc.match_substring_regex(column, _RUN)
    signed = pc.and_not(pc.match_substring_regex(column, _SIGNED), pc.match_substring_regex(column, _NUMBER))
    risky = pc.or_(runs, signed)
    if not pc.any(risky).as_py():
        return column
    apostrophe = pa.scalar(b"'", pa.binary())
    return pc.if_else(risky, pc.binary_join_element_wise(apostrophe, column, pa.scalar(b"", pa.binary())), column)


def _whole(text: bytes) -> int:
    return int(text) if text.isdigit() else -1


def released_names(claim: Claim) -> Sequence[str]:
    """The names that the released file must have."""
    return [name for _, name in claim.columns] + ([claim.class_size] if claim.class_size else [])

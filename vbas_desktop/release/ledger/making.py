"""Entries from a release that is planned, and from one that was written."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.records.table import RecordOptions, load_records
from vbas_desktop.io.runfile import read_run_file
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.crosswalk import code_columns
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.listing import defused
from vbas_desktop.model.progress import Progress, Silent, Span
from vbas_desktop.model.records import Grouping, RecordTable
from vbas_desktop.model.source import identify
from vbas_desktop.model.value_notation import plain_value
from vbas_desktop.release.plan import Plan
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.sensitive import Harm, sensitive_columns

from .entry import Cells, Entry, RowColumn, Rows, cell_keys
from .guarded import Guarded
from .keyed import Hashes, class_hashes, region_hashes, value_hashes
from .numbering import matches

MOST_ROWS = 4_000_000
"""More different rows than these are not kept: cells of another year are then compared by their counts alone."""

_STAGE = "Counting the rows"


def entry_of_plan(plan: Plan, table: RecordTable, options: ReleaseOptions, key: bytes, audience: str) -> Entry:
    """The release that a plan would write. Its rows are counted by `planned_rows` when they are needed."""
    problem = plan.problem
    columns = tuple(name for name, _ in options.released_columns(table.dialect.header))
    kept, tiers = plan.released > 0, plan.solution.tiers
    hashed = {
        q: value_hashes(key, categories.column, categories.values)
        for q, categories in enumerate(problem.categories)
        if categories.column in columns
    }
    classes = class_hashes(problem.counts, hashed)
    assert problem.records_source is not None
    return Entry(
        id=0,
        audience=audience,
        date="",
        source=problem.records_source.identity,
        released="",
        region_column=problem.region_column,
        quasi_identifiers=problem.quasi_identifiers,
        k=problem.k,
        columns=columns,
        regions=region_hashes(key, problem.regions.ids),
        membership=plan.membership,
        parents=() if tiers is None else tiers.parents,
        cells=_merged(plan.areas[kept], classes[plan.columns[kept]], plan.released[kept]),
        groups=_groups(key, problem.groupings),
        guarded=Guarded.of(key, [each.chosen for each in problem.sensitive]),
        source_rows=table.rows_hash,
        aggregated=options.aggregate,
    )


def _merged(place: NDArray[np.int32], classes: Hashes, counts: NDArray[np.int64]) -> Cells:
    """Cells that the released columns do not tell apart become one."""
    _, first, cell = np.unique(cell_keys(place, classes), return_index=True, return_inverse=True)
    return Cells(place[first], classes[first], np.bincount(cell, counts, minlength=first.size).astype(np.int32))


def planned_rows(entry: Entry, table: RecordTable, key: bytes, progress: Progress) -> Rows | None:
    """The rows of a planned release, as they will be written, by cell; None if the columns do not tell them."""
    if entry.visible != entry.quasi_identifiers:
        return None
    place_of = {int(each): number for each, number in zip(entry.regions, entry.membership.tolist(), strict=True)}
    ids = _values(table, entry.region_column)
    places = np.array([place_of.get(int(each), -1) for each in region_hashes(key, ids)], np.int32)
    hashed = {
        name: entry.grouped(name, value_hashes(key, name, _values(table, name))) for name in entry.quasi_identifiers
    }
    for name in _others(entry):
        if table.facts(name).categorical:
            hashed[name] = _hash_other_column(key, name, _values(table, name))
    rows = _Hashed(table, places, hashed, {}).rows(entry, progress)
    if rows is None or not entry.parents:
        return rows
    # In tiers, what is taken out after others went up would be counted with these.
    sizes = np.bincount(rows.cell, rows.counts, len(entry.cells))
    return rows if np.array_equal(sizes, entry.cells.counts) else None


def entry_of_folder(folder: Path, key: bytes, audience: str, date: str, progress: Progress | None = None) -> Entry:
    """The release in the folder of a run, read from its files; `InputError` if they are not as they were written."""
    progress = progress or Silent()
    document = read_run_file(folder)
    options, problem = ReleaseOptions.from_dict(document.get("release") or {}), document["problem"]
    path, walked = (folder / "release" / name for name in (f"anonymized.{options.format}", "crosswalk.csv"))
    if not path.is_file():
        raise InputError(Finding("ledger", "There is no release in this folder.", "Run with --out.", file=str(folder)))
    table = load_records(path, _reading(document, options), Span(progress, 0.0, 0.7))
    _check_sum(path, table.source.sha256, "released records are not those that were written: their")
    walk_hash = hashlib.sha256(walked.read_bytes()).hexdigest()
    _check_sum(walked, walk_hash, "crosswalk is not the one that was written: its")
    walk, region = _crosswalk(walked), problem["region_column"]
    renamed = {new: old for old, new in options.renames.items()}
    columns = tuple(renamed.get(name, name) for name in table.dialect.header if name not in options.added_columns)
    compared = document.get("ledger_check") or {}
    selection = document.get("selection") or {}
    bare = Entry(
        id=0,
        audience=audience,
        date=date,
        source=identify(document["inputs"]["records"]["sha256"], str(selection.get("sha256", ""))),
        released=table.source.sha256,
        region_column=region,
        quasi_identifiers=tuple(problem["quasi_identifiers"]),
        k=int(problem["k"]),
        columns=columns,
        regions=region_hashes(key, walk.regions),
        membership=walk.membership,
        parents=walk.parents,
        cells=Cells(np.zeros(0, np.int32), np.zeros(0, np.uint64), np.zeros(0, np.int32)),
        groups=_groups(key, _kept_groupings(document)),
        folder=str(folder.resolve()),
        override=str(compared.get("override", "")),
        guarded=Guarded.of(key, _kept_criteria(document)),
        source_rows=str(document.get("rows_hash", "")),
        released_rows=table.rows_hash,
        compared_k=compared.get("k") if compared.get("k_reason") else None,
        k_reason=str(compared.get("k_reason", "")),
        aggregated=options.aggregate,
    )
    records = _Hashed.of_release(table, bare, walk, options, key)
    full = replace(bare, cells=records.cells(bare, Span(progress, 0.7, 0.85)))
    return replace(full, rows=records.rows(full, Span(progress, 0.85, 1.0)))


@dataclass(frozen=True, eq=False)
class _Hashed:
    """Records by what an entry knows of them: the place of each region that they name (-1: none), and the hashes of
    the values of other columns, both in the order of the table's codes. ``names`` has what the table calls renamed
    columns.
    """

    table: RecordTable
    places: NDArray[np.int32]
    hashed: Mapping[str, Hashes]
    names: Mapping[str, str]

    @classmethod
    def of_release(cls, table: RecordTable, entry: Entry, walk: _Walk, options: ReleaseOptions, key: bytes) -> _Hashed:
        """Those of a released file."""
        names, region = options.renames, entry.region_column
        place_of = {code: number for number, code in enumerate(walk.codes)}
        given = _values(table, names.get(region, region))
        if any(code not in place_of for code in given):
            raise _otherwise("The released file names regions that its crosswalk does not have.")
        told = {name: names.get(name, name) for name in entry.columns if name != region}
        hashed = {}
        for name, called in told.items():
            if table.facts(called).categorical:
                values = _unescaped(_values(table, called), options)
                hash_column = value_hashes if name in entry.quasi_identifiers else _hash_other_column
                hashed[name] = hash_column(key, name, values)
        return cls(table, np.array([place_of[code] for code in given], np.int32), hashed, names)

    def cells(self, entry: Entry, progress: Progress) -> Cells:
        """The cells of a file in which every record is released."""
        used = self._called(entry.region_column, *entry.visible)
        keys = [cell_keys(*self._classified(entry, codes)) for codes in self.table.pieces(used, progress, _STAGE)]
        _, first, counts = np.unique(np.concatenate(keys), return_index=True, return_counts=True)
        found = self._classified(entry, {name: self.table.codes(name)[first] for name in used})
        return Cells(*found, counts.astype(np.int32))

    def _spots_of(self, entry: Entry, keys: Hashes, codes: Mapping[str, NDArray[np.integer]]) -> NDArray[np.int64]:
        """Return where the cell of each record of a part stands among the keys of all; -1: it is not released."""
        place, classes = self._classified(entry, codes)
        spot = _spots(keys, place, classes)
        for _ in entry.parents:
            # The smallest place around a record that lists its class.
            left = np.flatnonzero((spot < 0) & (place >= 0))
            place[left] = entry.above[place[left]]
            spot[left] = _spots(keys, place[left], classes[left])
        return spot

    def rows(self, entry: Entry, progress: Progress) -> Rows | None:
        """The released records by cell and by the values of all other columns that have few enough to be coded."""
        keys, order = entry.cell_keys
        tally = _Tally()
        if not order.size:
            return tally.rows()
        others = [name for name in _others(entry) if name in self.hashed]
        for codes in self.table.pieces(self._called(entry.region_column, *entry.visible, *others), progress, _STAGE):
            spot = self._spots_of(entry, keys, codes)
            there = np.flatnonzero(spot >= 0)
            columns = {
                name: RowColumn(self.hashed[name], codes[called][there].astype(np.int32))
                for name, called in zip(others, self._called(*others), strict=True)
            }
            tally.add(Rows(order[spot[there]].astype(np.int32), np.ones(there.size, np.int32), columns))
            if tally.too_many:
                return None
        progress.update(_STAGE)
        return tally.rows()

    def _called(self, *names: str) -> list[str]:
        """Columns as the table calls them."""
        return [self.names.get(name, name) for name in names]

    def _classified(self, entry: Entry, codes: Mapping[str, NDArray[np.integer]]) -> tuple[NDArray[np.int32], Hashes]:
        """The place and the class of each record of a part."""
        (region,) = self._called(entry.region_column)
        place = self.places[codes[region]]
        return place, self._summed(codes, entry.visible, place.size)

    def _summed(self, codes: Mapping[str, NDArray[np.integer]], names: Sequence[str], size: int) -> Hashes:
        total = np.zeros(size, np.uint64)
        for name, called in zip(names, self._called(*names), strict=True):
            total += self.hashed[name][codes[called]]
        return total


def _spots(keys: Hashes, place: NDArray[np.int32], classes: Hashes) -> NDArray[np.int64]:
    """Where the cell of each record stands among the keys of all; -1: it is not there."""
    found = np.full(place.size, -1, np.int64)
    at, spot = matches(keys, cell_keys(place, classes))
    found[at] = spot
    found[place < 0] = -1
    return found


class _Tally:
    """Rows that are counted as they come: what is kept grows with the different ones, not with all."""

    def __init__(self) -> None:
        self._parts: list[Rows] = []
        self._waiting = 0
        self.too_many = False

    def add(self, rows: Rows) -> None:
        """Some more; only now and then they are counted, since that sorts them all."""
        self._parts.append(rows)
        self._waiting += rows.cell.size
        if self._waiting > 2 * MOST_ROWS:
            self.rows()

    def rows(self) -> Rows | None:
        """The different ones so far; None if they are too many."""
        if not self._parts:
            return Rows(np.zeros(0, np.int32), np.zeros(0, np.int32))
        every = _joined_rows(self._parts)
        keys = cell_keys(every.cell, every.hashes(every.columns))
        _, first, row = np.unique(keys, return_index=True, return_inverse=True)
        sums = np.bincount(row.ravel(), every.counts, minlength=first.size).astype(np.int32)
        columns = {name: RowColumn(column.values, column.codes[first]) for name, column in every.columns.items()}
        found = Rows(every.cell[first], sums, columns)
        self._parts, self._waiting = [found], 0
        self.too_many = first.size > MOST_ROWS
        return None if self.too_many else found


def _joined_rows(parts: Sequence[Rows]) -> Rows:
    """Put parts of the same table one after the other."""
    cell, counts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("cell", "counts"))
    columns = {
        name: RowColumn(column.values, np.concatenate([part.columns[name].codes for part in parts]))
        for name, column in parts[0].columns.items()
    }
    return Rows(cell, counts, columns)


def _others(entry: Entry) -> list[str]:
    used = {entry.region_column, *entry.quasi_identifiers}
    return [name for name in entry.columns if name not in used]


def _hash_other_column(key: bytes, name: str, values: Sequence[str]) -> Hashes:
    """Hash values without habits of notation, since two releases may write the same values in different ones."""
    return value_hashes(key, name, [plain_value(value) for value in values])


def _values(table: RecordTable, name: str) -> Sequence[str]:
    categories = table.facts(name).categories
    return () if categories is None else categories.values


def _unescaped(values: Sequence[str], options: ReleaseOptions) -> Sequence[str]:
    """Values as they were before cells that a spreadsheet would run got an apostrophe."""
    if not options.escape_formulas:
        return values
    bare = [value.removeprefix("'") for value in values]
    written = [defused(value) for value in bare]
    return [before if form == value else value for value, before, form in zip(values, bare, written, strict=True)]


def _groups(key: bytes, groupings: Sequence[Grouping]) -> dict[str, NDArray[np.uint64]]:
    """By column, the hash of each value and of the group that it is in at last."""
    chained: dict[str, dict[str, str]] = {}
    for each in groupings:
        before = chained.get(each.column, {})
        after = {value: each.groups.get(group, group) for value, group in before.items()}
        chained[each.column] = {**{v: g for v, g in each.groups.items() if v not in before}, **after}
    return {
        column: np.column_stack(
            (
                value_hashes(key, column, sorted(groups)),
                value_hashes(key, column, [groups[value] for value in sorted(groups)]),
            )
        )
        for column, groups in chained.items()
        if groups
    }


def _kept_groupings(document: Mapping[str, Any]) -> tuple[Grouping, ...]:
    kept = (document.get("options") or {}).get("groupings") or {}
    own = set(document["problem"]["quasi_identifiers"])
    return tuple(Grouping(column, groups) for column, groups in kept.items() if column in own)


def _kept_criteria(document: Mapping[str, Any]) -> tuple[Sensitive, ...]:
    kept = document.get("options") or {}
    return sensitive_columns(kept.get("sensitive") or (), Harm.from_options(kept))


def _reading(document: Mapping[str, Any], options: ReleaseOptions) -> RecordOptions:
    given = document.get("options") or {}
    return RecordOptions(options.delimiter or given.get("delimiter"), given.get("encoding"), "no")


def _check_sum(path: Path, sha256: str, what: str) -> None:
    sums = path.with_name("SHA256SUMS")
    known = {line.split()[0] for line in sums.read_text().splitlines() if line.strip()} if sums.is_file() else set()
    if sha256 not in known:
        raise _otherwise(f"The {what} checksum differs.", path)


def _otherwise(message: str, file: Path | None = None) -> InputError:
    """The refusal of files that are not as they were written."""
    remedy = "Record the folder as it was handed over."
    return InputError(Finding("ledger", message, remedy, file=None if file is None else str(file)))


@dataclass(frozen=True, eq=False)
class _Walk:
    """The initial regions, the number of each one's aggregated region, the larger places, and the codes of all."""

    regions: list[str]
    membership: NDArray[np.int32]
    parents: tuple[NDArray[np.int32], ...]
    codes: list[str]


def _crosswalk(path: Path) -> _Walk:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    regions, *tiers = map(list, zip(*(row[: code_columns(header)] for row in rows), strict=True))
    numbered = [np.unique(np.array(tier, object), return_inverse=True) for tier in tiers]
    memberships = [number.ravel().astype(np.int32) for _, number in numbered]
    parents = []
    for below, above in pairwise(memberships):
        parent = np.zeros(int(below.max()) + 1, np.int32)
        parent[below] = above
        if (parent[below] != above).any():
            raise _otherwise("A place of the crosswalk lies in several larger ones.", path)
        parents.append(parent)
    return _Walk(regions, memberships[0], tuple(parents), [code for codes, _ in numbered for code in codes])

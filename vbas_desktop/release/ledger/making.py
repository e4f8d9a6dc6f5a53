"""Entries from a release that is planned, and from one that was written."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.criteria import Sensitive
from vbas_desktop.domain.crosswalk import code_columns
from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress, Silent, Span
from vbas_desktop.domain.records import Grouping
from vbas_desktop.engine.place import codes_of
from vbas_desktop.files.records.table import RecordOptions, RecordTable, load_records
from vbas_desktop.files.runfile import read_run_file
from vbas_desktop.release.plan import Plan
from vbas_desktop.release.records.canonical import canonical_columns, values_of_texts
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.sensitive import Harm, sensitive_columns

from .entry import Cells, Entry, Rows, cell_keys
from .guarded import Guarded
from .keyed import Hashes, region_hashes, value_hashes

MOST_ROWS = 4_000_000
"""More different rows than these are not kept: cells of another year are then compared by their counts alone."""

_STAGE = "Counting the rows"
_RUNS = "=+-@\t\r"


def entry_of_plan(plan: Plan, table: RecordTable, options: ReleaseOptions, key: bytes, audience: str) -> Entry:
    """The release that a plan would write. Its rows are counted by `planned_rows` when they are needed."""
    problem = plan.problem
    columns = tuple(name for name, _ in options.released_columns(table.dialect.header))
    kept, tiers = plan.released > 0, plan.solution.tiers
    total = np.zeros(problem.counts.classes.size, np.uint64)
    for q, categories in enumerate(problem.categories):
        if categories.column in columns:
            hashed = value_hashes(key, categories.column, categories.values)
            total += hashed[codes_of(problem.counts, q)]
    assert problem.records_source is not None
    return Entry(
        id=0,
        audience=audience,
        date="",
        source=problem.records_source.sha256,
        released="",
        region_column=problem.region_column,
        quasi_identifiers=problem.quasi_identifiers,
        k=problem.k,
        columns=columns,
        regions=region_hashes(key, problem.regions.ids),
        membership=plan.membership,
        parents=() if tiers is None else tiers.parents,
        cells=_merged(plan.areas[kept], total[plan.columns[kept]], plan.released[kept]),
        groups=_groups(key, problem.groupings),
        guarded=Guarded.of(key, [each.chosen for each in problem.sensitive]),
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
    others = _others(entry)
    written = canonical_columns(values_of_texts(table, others))
    for name in others:
        if table.facts(name).categorical:
            values = written[name][1] if name in written else _values(table, name)
            hashed[name] = value_hashes(key, name, values)
    rows = _rows(entry, table, places, hashed, lambda name: name, progress)
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
    path = folder / "release" / f"anonymized.{options.format}"
    if not path.is_file():
        raise InputError(Finding("ledger", "There is no release in this folder.", "Run with --out.", file=str(folder)))
    table = load_records(path, _reading(document, options), Span(progress, 0.0, 0.7))
    _check_sum(folder, path, table.source.sha256, "released records are not those that were written: their")
    renamed = {new: old for old, new in options.renames.items()}
    columns = tuple(renamed.get(name, name) for name in table.dialect.header if name != options.class_size)
    walked = folder / "release" / "crosswalk.csv"
    _check_sum(
        folder,
        walked,
        hashlib.sha256(walked.read_bytes()).hexdigest(),
        "crosswalk is not the one that was written: its",
    )
    walk = _crosswalk(walked)

    def named(name: str) -> str:
        return options.renames.get(name, name)

    region, own = problem["region_column"], tuple(problem["quasi_identifiers"])
    place_of = {code: number for number, code in enumerate(walk.codes)}
    given = _values(table, named(region))
    if any(code not in place_of for code in given):
        message = "The released file names regions that its crosswalk does not have."
        raise InputError(Finding("ledger", message, "Record the folder as it was handed over."))
    hashed = {
        name: value_hashes(key, name, _unescaped(_values(table, named(name)), options))
        for name in columns
        if name != region and table.facts(named(name)).categorical
    }
    places = np.array([place_of[code] for code in given], np.int32)
    bare = Entry(
        id=0,
        audience=audience,
        date=date,
        source=document["inputs"]["records"]["sha256"],
        released=table.source.sha256,
        region_column=region,
        quasi_identifiers=own,
        k=int(problem["k"]),
        columns=columns,
        regions=region_hashes(key, walk.regions),
        membership=walk.membership,
        parents=walk.parents,
        cells=Cells(np.zeros(0, np.int32), np.zeros(0, np.uint64), np.zeros(0, np.int32)),
        groups=_groups(key, _kept_groupings(document)),
        folder=str(folder.resolve()),
        override=str((document.get("ledger_check") or {}).get("override", "")),
        guarded=Guarded.of(key, _kept_criteria(document)),
    )
    full = replace(bare, cells=_cells(bare, table, places, hashed, named, Span(progress, 0.7, 0.85)))
    return replace(full, rows=_rows(full, table, places, hashed, named, Span(progress, 0.85, 1.0)))


def _cells(
    entry: Entry,
    table: RecordTable,
    places: NDArray[np.int32],
    hashed: Mapping[str, Hashes],
    named: Callable[[str], str],
    progress: Progress,
) -> Cells:
    """The cells of a file in which every record is released."""
    keys = [
        cell_keys(*_classified(entry, codes, places, hashed, named))
        for codes in table.pieces(_used(entry, named), progress, _STAGE)
    ]
    _, first, counts = np.unique(np.concatenate(keys), return_index=True, return_counts=True)
    place = places[table.codes(named(entry.region_column))[first]]
    classes = np.zeros(first.size, np.uint64)
    for name in entry.visible:
        classes += hashed[name][table.codes(named(name))[first]]
    return Cells(place, classes, counts.astype(np.int32))


def _used(entry: Entry, named: Callable[[str], str]) -> list[str]:
    """The columns that tell the cell of a record, as the table calls them."""
    return [named(name) for name in (entry.region_column, *entry.visible)]


def _classified(
    entry: Entry,
    codes: Mapping[str, NDArray[np.integer]],
    places: NDArray[np.int32],
    hashed: Mapping[str, Hashes],
    named: Callable[[str], str],
) -> tuple[NDArray[np.int32], Hashes]:
    """The place and the class of each record of a part."""
    place = places[codes[named(entry.region_column)]]
    return place, _summed(codes, hashed, entry.visible, named, place.size)


def _summed(
    codes: Mapping[str, NDArray[np.integer]],
    hashed: Mapping[str, Hashes],
    names: Sequence[str],
    named: Callable[[str], str],
    size: int,
) -> Hashes:
    total = np.zeros(size, np.uint64)
    for name in names:
        total += hashed[name][codes[named(name)]]
    return total


def _rows(
    entry: Entry,
    table: RecordTable,
    places: NDArray[np.int32],
    hashed: Mapping[str, Hashes],
    named: Callable[[str], str],
    progress: Progress,
) -> Rows | None:
    """The released records by cell and by the values of all other columns that have few enough to be coded."""
    sorted_keys, order = entry.cell_keys
    tally = _Tally()
    if not order.size:
        return tally.rows()
    others = [name for name in _others(entry) if name in hashed]
    used = [*_used(entry, named), *(named(name) for name in others)]
    for codes in table.pieces(used, progress, _STAGE):
        place, classes = _classified(entry, codes, places, hashed, named)
        spot, there = _looked_up(sorted_keys, place, classes)
        for _ in entry.parents:
            # The smallest place around a record that lists its class.
            left = np.flatnonzero(~there & (place >= 0))
            place[left] = entry.above[place[left]]
            spot[left], there[left] = _looked_up(sorted_keys, place[left], classes[left])
        values = _summed(codes, hashed, others, named, place.size)
        tally.add(Rows(order[spot[there]].astype(np.int32), values[there], np.ones(int(there.sum()), np.int32)))
        if tally.too_many:
            return None
    progress.update(_STAGE)
    return tally.rows()


def _looked_up(keys: Hashes, place: NDArray[np.int32], classes: Hashes) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where the cell of each record stands among the keys of all, and whether it is there."""
    wanted = cell_keys(place, classes)
    spot = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return spot, (keys[spot] == wanted) & (place >= 0)


class _Tally:
    """Rows that are counted as they come: what is kept grows with the different ones, not with all."""

    def __init__(self) -> None:
        self._parts = [Rows(np.zeros(0, np.int32), np.zeros(0, np.uint64), np.zeros(0, np.int32))]
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
        cell, values, counts = (
            np.concatenate([getattr(part, name) for part in self._parts]) for name in ("cell", "values", "counts")
        )
        _, first, row = np.unique(cell_keys(cell, values), return_index=True, return_inverse=True)
        sums = np.bincount(row.ravel(), counts, minlength=first.size).astype(np.int32)
        found = Rows(cell[first], values[first], sums)
        self._parts, self._waiting = [found], 0
        self.too_many = first.size > MOST_ROWS
        return None if self.too_many else found


def _others(entry: Entry) -> list[str]:
    used = {entry.region_column, *entry.quasi_identifiers}
    return [name for name in entry.columns if name not in used]


def _values(table: RecordTable, name: str) -> Sequence[str]:
    categories = table.facts(name).categories
    return () if categories is None else categories.values


def _unescaped(values: Sequence[str], options: ReleaseOptions) -> Sequence[str]:
    """Values as they were before cells that a spreadsheet would run got an apostrophe."""
    if not options.escape_formulas:
        return values
    return [value[1:] if value[:1] == "'" and value[1:2] and value[1] in _RUNS else value for value in values]


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


def _check_sum(folder: Path, path: Path, sha256: str, what: str) -> None:
    if sha256 not in _sums(folder / "release"):
        message = f"The {what} checksum differs."
        raise InputError(Finding("ledger", message, "Record the folder as it was handed over.", file=str(path)))


def _sums(release: Path) -> set[str]:
    path = release / "SHA256SUMS"
    return {line.split()[0] for line in path.read_text().splitlines() if line.strip()} if path.is_file() else set()


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
            message = "A place of the crosswalk lies in several larger ones."
            raise InputError(Finding("ledger", message, "Record the folder as it was handed over.", file=str(path)))
        parents.append(parent)
    return _Walk(regions, memberships[0], tuple(parents), [code for codes, _ in numbered for code in codes])

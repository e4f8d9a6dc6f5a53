"""One release that was handed over, as the ledger keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.io.solutions import pack, unpack
from vbas_desktop.model.tiers import Tiers

from .audiences import PUBLIC, same_audience
from .guarded import Guarded
from .keyed import Hashes
from .numbering import matches


@dataclass(frozen=True, eq=False)
class Cells:
    """The released classes by place: which they are, and how many records each has."""

    place: NDArray[np.int32]
    classes: Hashes
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return int(self.place.size)


class RowColumn(NamedTuple):
    """The hashes of a column's values, and the number of the value of each row."""

    values: Hashes
    codes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Rows:
    """Records by cell and by the values of all other released columns that have few enough to be coded."""

    cell: NDArray[np.int32]
    counts: NDArray[np.int32]
    columns: Mapping[str, RowColumn] = field(default_factory=dict)

    def hashes(self, names: Iterable[str]) -> Hashes:
        """Hash the values of each row in these columns."""
        total = np.zeros(self.cell.size, np.uint64)
        for name in names:
            column = self.columns[name]
            total += column.values[column.codes]
        return total

    def as_json(self) -> dict[str, Any]:
        """Describe the rows as plain data."""
        columns = {name: [pack(column.values), pack(column.codes)] for name, column in self.columns.items()}
        return {"cell": pack(self.cell), "counts": pack(self.counts), "columns": columns}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rows:
        """Read the rows again; KeyError, TypeError or ValueError if the data are damaged."""
        columns = {str(name): RowColumn(*map(unpack, pair)) for name, pair in data["columns"].items()}
        rows = cls(unpack(data["cell"]), unpack(data["counts"]), columns)
        for column in columns.values():
            if column.values.dtype != np.uint64 or column.codes.dtype != np.int32:
                raise ValueError("arrays of the wrong kind")
            if column.codes.shape != rows.cell.shape or column.values.ndim != 1:
                raise ValueError("arrays of different lengths")
            if column.codes.min(initial=0) < 0 or column.codes.max(initial=-1) >= column.values.size:
                raise ValueError("numbers out of range")
        return rows


@dataclass(frozen=True, eq=False)
class Entry:
    """A release: who has it, what it was made from, its regions and classes.

    ``regions`` are the initial regions (hashed), ``membership`` the number of the aggregated region of each. In
    tiers, ``parents[t]`` has the place of tier t + 1 that each place of tier t lies in (tier 0 are the aggregated
    regions); in ``cells`` the places of all tiers are numbered one tier after the other. ``source`` is the SHA-256
    of the record file, ``released`` that of the released records; ``source_rows`` and ``released_rows`` are hashes of
    their rows in any order, empty for records on a server. ``groups`` has, by column, pairs of a value's and
    its group's hash. ``columns`` are the released ones by the names of the record file. ``rows`` is None if there
    are too many to keep. ``override`` is the reason why it was handed over although the ledger advised against it.
    ``guarded`` are the criteria for sensitive values that its classes met. ``compared_k`` is the k that was demanded in
    place of the largest one when it was compared with earlier releases, ``k_reason`` why. ``aggregated`` are columns
    that have one value per class.
    """

    id: int
    audience: str
    date: str
    source: str
    released: str
    region_column: str
    quasi_identifiers: tuple[str, ...]
    k: int
    columns: tuple[str, ...]
    regions: Hashes
    membership: NDArray[np.int32]
    cells: Cells
    rows: Rows | None = None
    parents: tuple[NDArray[np.int32], ...] = ()
    groups: Mapping[str, NDArray[np.uint64]] = field(default_factory=dict)
    folder: str = ""
    note: str = ""
    override: str = ""
    guarded: tuple[Guarded, ...] = ()
    source_rows: str = ""
    released_rows: str = ""
    compared_k: int | None = None
    k_reason: str = ""
    aggregated: tuple[str, ...] = ()

    @property
    def visible(self) -> tuple[str, ...]:
        """The quasi-identifiers that are among the released columns: those that `cells` tell apart."""
        return tuple(name for name in self.quasi_identifiers if name in self.columns)

    @property
    def title(self) -> str:
        """The release in words."""
        to = f"handed to {self.audience}" if self.audience else "handed over"
        return f"release {self.id} ({to} on {self.date})"

    @property
    def remark(self) -> str:
        """Why it was handed over although the ledger advised against it, or compared with another k; else the note."""
        reasons = [f"despite the ledger: {self.override}"] if self.override else []
        if self.compared_k is not None:
            reasons.append(f"compared with k = {self.compared_k:,}: {self.k_reason}")
        return "; ".join(reasons) or self.note

    @property
    def records(self) -> int:
        """Released records."""
        return int(self.cells.counts.sum())

    @property
    def aggregated_regions(self) -> int:
        """How many aggregated regions it has."""
        return int(self.membership.max(initial=-1)) + 1

    @property
    def places(self) -> tuple[int, ...]:
        """How many places each tier has; without tiers, how many aggregated regions there are."""
        return (*(parent.size for parent in self.parents), 1) if self.parents else (self.aggregated_regions,)

    @property
    def tiers(self) -> Tiers:
        """The larger places of a release in tiers; nobody asks here what they are called."""
        number = len(self.places)
        return Tiers(self.parents, ("",) * number, (None,) * number)

    @cached_property
    def above(self) -> NDArray[np.int64]:
        """The larger place that each place lies in, with the places of all tiers in one numbering; -1: in none."""
        starts = np.cumsum(self.places)
        within = [parent + start for parent, start in zip(self.parents, starts, strict=False)]
        return np.concatenate([*within, np.full(self.places[-1], -1)]).astype(np.int64)

    @property
    def places_in_words(self) -> str:
        """How many aggregated regions it has, and how many larger places."""
        own = f"{self.aggregated_regions:,}"
        return own if not self.parents else f"{own}, and {sum(self.places[1:]):,} larger"

    @cached_property
    def cell_keys(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The cells' keys in ascending order, and where each cell stands in `cells`."""
        keys = cell_keys(self.cells.place, self.cells.classes)
        order = np.argsort(keys)
        return keys[order], order

    @cached_property
    def known_regions(self) -> tuple[Hashes, NDArray[np.int64]]:
        """The initial regions in ascending order, and where each one stands in `regions`."""
        order = np.argsort(self.regions)
        return self.regions[order], order

    def grouped(self, column: str, values: Hashes) -> Hashes:
        """What the values of a column are in this release: themselves, or their groups."""
        pairs = self.groups.get(column)
        if pairs is None:
            return values
        order, found = np.argsort(pairs[:, 0]), values.copy()
        at, place = matches(pairs[order, 0], values)
        found[at] = pairs[order[place], 1]
        return found

    def has_classes_of(self, other: Entry) -> bool:
        """Whether both have the same quasi-identifiers, with the same groups."""
        return set(self.quasi_identifiers) == set(other.quasi_identifiers) and self._groups == other._groups

    @cached_property
    def _groups(self) -> dict[str, set[tuple[int, int]]]:
        """By column, the values that have another group than themselves, with their groups."""
        found = {name: {(int(a), int(b)) for a, b in pairs if a != b} for name, pairs in self.groups.items()}
        return {name: pairs for name, pairs in found.items() if pairs}

    def has_records_of(self, other: Entry) -> bool:
        """Whether both were made from the same records, in whatever order."""
        if self.source_rows and other.source_rows:
            return self.source_rows == other.source_rows
        return self.source == other.source

    def is_made_from(self, other: Entry) -> bool:
        """Whether the records of this release are what another one released, in whatever order."""
        if self.source_rows and other.released_rows:
            return self.source_rows == other.released_rows
        return self.source == other.released

    def shared_with(self, audience: str) -> bool:
        """Whether this audience has it, or may come to have it: without a name, anybody may."""
        names = self.audience, audience
        anybody = any(not name.strip() or same_audience(name, PUBLIC) for name in names)
        return anybody or same_audience(*names)

    def as_json(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {
            "id": self.id,
            "audience": self.audience,
            "date": self.date,
            "note": self.note,
            "override": self.override,
            "folder": self.folder,
            "source_sha256": self.source,
            "released_sha256": self.released,
            "source_rows": self.source_rows,
            "released_rows": self.released_rows,
            **({"compared_k": self.compared_k, "k_reason": self.k_reason} if self.compared_k is not None else {}),
            "records": self.records,
            "region_column": self.region_column,
            "quasi_identifiers": list(self.quasi_identifiers),
            "k": self.k,
            "columns": list(self.columns),
            "regions": pack(self.regions),
            "membership": pack(self.membership),
            **({"parents": [pack(parent) for parent in self.parents]} if self.parents else {}),
            "cells": [pack(each) for each in (self.cells.place, self.cells.classes, self.cells.counts)],
            "rows": None if self.rows is None else self.rows.as_json(),
            "groups": {name: pack(pairs) for name, pairs in self.groups.items()},
            **({"aggregated": list(self.aggregated)} if self.aggregated else {}),
            **({"sensitive": [each.as_json() for each in self.guarded]} if self.guarded else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Entry:
        """The entry again; KeyError, TypeError or ValueError if the data are damaged."""
        made = cls(
            id=int(data["id"]),
            audience=str(data["audience"]),
            date=str(data["date"]),
            note=str(data.get("note", "")),
            override=str(data.get("override", "")),
            folder=str(data.get("folder", "")),
            source=str(data["source_sha256"]),
            released=str(data["released_sha256"]),
            source_rows=str(data["source_rows"]),
            released_rows=str(data["released_rows"]),
            compared_k=None if data.get("compared_k") is None else int(data["compared_k"]),
            k_reason=str(data.get("k_reason", "")),
            region_column=str(data["region_column"]),
            quasi_identifiers=tuple(map(str, data["quasi_identifiers"])),
            k=int(data["k"]),
            columns=tuple(map(str, data["columns"])),
            regions=unpack(data["regions"]),
            membership=unpack(data["membership"]),
            parents=tuple(map(unpack, data.get("parents", ()))),
            cells=Cells(*map(unpack, data["cells"])),
            rows=None if data["rows"] is None else Rows.from_json(data["rows"]),
            groups={str(name): unpack(pairs) for name, pairs in data["groups"].items()},
            guarded=tuple(map(Guarded.from_json, data.get("sensitive", ()))),
            aggregated=tuple(map(str, data.get("aggregated", ()))),
        )
        made._check()
        return made

    def _check(self) -> None:
        rows = self.rows or Rows(np.zeros(0, np.int32), np.zeros(0, np.int32))
        sizes = [
            {self.regions.shape, self.membership.shape},
            {self.cells.place.shape, self.cells.classes.shape, self.cells.counts.shape},
            {rows.cell.shape, rows.counts.shape},
        ]
        hashed = (self.regions, self.cells.classes, *self.groups.values())
        numbered = (self.membership, self.cells.place, self.cells.counts, rows.cell, rows.counts, *self.parents)
        if any(len(shapes) > 1 for shapes in sizes):
            raise ValueError("arrays of different lengths")
        if any(each.ndim != 1 for each in numbered) or any(pairs.shape[1:] != (2,) for pairs in self.groups.values()):
            raise ValueError("arrays of the wrong shape")
        if any(each.dtype != np.uint64 for each in hashed) or any(each.dtype != np.int32 for each in numbered):
            raise ValueError("arrays of the wrong kind")
        if any(each.min(initial=0) < 0 for each in numbered) or rows.cell.max(initial=-1) >= len(self.cells):
            raise ValueError("numbers out of range")
        above = [parent.max(initial=-1) + 1 for parent in (self.membership, *self.parents)]
        if above != list(self.places) or self.cells.place.max(initial=-1) >= sum(self.places):
            raise ValueError("places that are in no other")


def cell_keys(place: NDArray[np.integer], classes: Hashes) -> NDArray[np.uint64]:
    """One number for a class of an aggregated region."""
    # An odd factor spreads the places over all 64 bits; hashes of classes do not know of it.
    return place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ classes

"""Criteria for sensitive values, as the ledger keeps them, and what a release with such criteria lists.

Where a release in one partition shows all its quasi-identifiers, its own cells say what was left out. Where it lacks
one, or has tiers, that has to be worked out from the records again, by k and by the criteria.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vbas_desktop.algorithms.suppression import Aggregation, suppress_locally
from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.solutions import pack, unpack
from vbas_desktop.model.criteria import Sensitive, criterion_of
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.records import Grouping, RecordTable
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.tiers import NOWHERE
from vbas_desktop.model.value_notation import plain_value, possible_values
from vbas_desktop.model.words import MISSING

from .keyed import Hashes, Listed, class_hashes, region_hashes, value_hashes

if TYPE_CHECKING:
    from .entry import Entry


@dataclass(frozen=True, eq=False)
class Guarded:
    """A sensitive column with the criteria that every released class met.

    ``benign`` are the hashes of benign values as they were named, ``plain_benign`` without habits of notation.
    """

    column: str
    criteria: tuple[str, ...]
    benign: Hashes
    plain_benign: Hashes

    @classmethod
    def of(cls, key: bytes, sensitive: Iterable[Sensitive]) -> tuple[Guarded, ...]:
        """Those columns of which something had to hold."""
        found = []
        for each in sensitive:
            if each.criteria:
                named, plain = each.benign, map(plain_value, each.benign)
                benign, plain_benign = (value_hashes(key, each.column, values) for values in (named, plain))
                found.append(cls(each.column, tuple(one.text for one in each.criteria), benign, plain_benign))
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        benign = {"benign": pack(self.benign), "plain_benign": pack(self.plain_benign)}
        return {"column": self.column, "criteria": list(self.criteria), **benign}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Guarded:
        """From plain data; ValueError, KeyError or TypeError if they are damaged."""
        criteria = tuple(map(str, data["criteria"]))
        for text in criteria:
            criterion_of(text)
        benign, plain_benign = unpack(data["benign"]), unpack(data["plain_benign"])
        if benign.dtype != np.uint64 or plain_benign.dtype != np.uint64:
            raise ValueError("arrays of the wrong kind")
        if benign.ndim != 1 or plain_benign.ndim != 1:
            raise ValueError("arrays of the wrong shape")
        return cls(str(data["column"]), criteria, benign, plain_benign)

    def chosen(self, key: bytes, values: Sequence[str]) -> Sensitive:
        """The criteria again, with the benign ones among these values of the column."""
        known = dict.fromkeys([*(form for value in values for form in possible_values(value)), MISSING])
        hashed = value_hashes(key, self.column, known)
        benign = tuple(value for value, each in zip(known, np.isin(hashed, self.benign), strict=True) if each)
        return Sensitive(self.column, benign, tuple(criterion_of(text).of(self.column) for text in self.criteria))


def listed_by_criteria(key: bytes, table: RecordTable, regions: Regions, entry: Entry) -> Listed | None:
    """All cells that a release with criteria lists, by all its quasi-identifiers; None if its own say it.

    `InputError` if the records do not have what is needed.
    """
    from .fates import places_in

    if not entry.guarded or (entry.visible == entry.quasi_identifiers and not entry.parents):
        return None
    place = places_in(entry, region_hashes(key, regions.ids))
    if (place < 0).any():
        raise InputError([])
    problem = build_problem(
        table,
        regions,
        region_column=entry.region_column,
        quasi_identifiers=entry.quasi_identifiers,
        k=entry.k,
        unknown_regions="suppress",
        groupings=[_grouping(key, table, entry, name) for name in entry.groups],
        sensitive=[each.chosen(key, _values(table, each.column)) for each in entry.guarded],
    )
    merged = place, entry.aggregated_regions, entry.tiers if entry.parents else None
    found = suppress_locally(Aggregation(problem.counts, entry.k, *merged, problem.sensitive))
    hashed = {
        q: np.array([_hash(key, categories.column, value) for value in categories.values], np.uint64)
        for q, categories in enumerate(problem.categories)
    }
    classes = class_hashes(problem.counts, hashed)
    kept = found.tier_of != NOWHERE
    region = found.aggregated.list_class_regions()
    columns = found.aggregated.table.indices
    return Listed(region[kept], classes[columns[kept]], found.tier_of[kept])


_MARK = "\0group "
"""Begins the name of a group of which only the hash is known; no value does."""


def _grouping(key: bytes, table: RecordTable, entry: Entry, column: str) -> Grouping:
    """The groups of a release again, each named after its hash."""
    values = _values(table, column)
    before = value_hashes(key, column, values)
    after = entry.grouped(column, before)
    pairs = zip(values, before.tolist(), after.tolist(), strict=True)
    return Grouping(column, {value: f"{_MARK}{new}" for value, old, new in pairs if old != new})


def _hash(key: bytes, column: str, value: str) -> int:
    if value.startswith(_MARK):
        return int(value.removeprefix(_MARK))
    return int(value_hashes(key, column, [value])[0])


def _values(table: RecordTable, name: str) -> Sequence[str]:
    if name not in table.dialect.header:
        raise InputError([])
    categories = table.facts(name).categories
    return () if categories is None else categories.values

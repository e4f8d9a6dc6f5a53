"""What the columns of a record file probably are, so that most roles need no click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vbas_desktop.domain.records import ColumnFacts, Role
from vbas_desktop.domain.regions import Regions

if TYPE_CHECKING:
    from vbas_desktop.files.records import RecordTable

_REGION_SHARE = 0.5
_MOST_CATEGORIES = 12
_FIRST_QUASI_IDENTIFIERS = 3


def guess_roles(table: RecordTable, regions: Regions) -> dict[str, Role]:
    """A role for every column, in file order.

    Region: the column most of whose values are ids of the region file. Identifier: a different value in (nearly) every
    record. Quasi-identifier: the first few columns with a handful of categories; the user decides which others count.
    """
    region = _region_column(table, regions)
    roles: dict[str, Role] = {}
    quasi_identifiers = 0
    for facts in table.columns:
        role = Role.PLAIN
        if facts.name == region:
            role = Role.REGION
        elif _looks_like_identifier(facts, table.rows):
            role = Role.IDENTIFIER
        elif (
            facts.categorical
            and 1 < facts.distinct <= _MOST_CATEGORIES
            and quasi_identifiers < _FIRST_QUASI_IDENTIFIERS
        ):
            role = Role.QUASI_IDENTIFIER
            quasi_identifiers += 1
        roles[facts.name] = role
    return roles


def _region_column(table: RecordTable, regions: Regions) -> str | None:
    ids = set(regions.ids)
    best, best_matches = None, 0
    for facts in table.columns:
        if facts.categories is None:
            continue
        present = [value for value in facts.categories.values if value]
        matches = sum(value in ids for value in present)
        if present and matches >= _REGION_SHARE * len(present) and matches > best_matches:
            best, best_matches = facts.name, matches
    return best


def _looks_like_identifier(facts: ColumnFacts, rows: int) -> bool:
    if rows < 20:
        return False
    return not facts.categorical or facts.distinct >= 0.9 * rows

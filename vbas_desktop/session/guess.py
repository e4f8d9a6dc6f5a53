"""What the columns of a record file probably are, so that most roles need no click."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vbas_desktop.domain.records import ColumnFacts, Role
from vbas_desktop.domain.regions import Regions

if TYPE_CHECKING:
    from vbas_desktop.files.records.table import RecordTable

_REGION_SHARE = 0.5
_MOST_CATEGORIES = 130
_FEW_CATEGORIES = 12
_FIRST_COLUMNS = 2
_KNOWN_OF_PEOPLE = ("age", "sex", "gender", "birth", "born", "marital", "race", "ethnic")
"""Parts of names of columns that neighbours, colleagues or voter lists know of a person."""


def guess_roles(table: RecordTable, regions: Regions) -> dict[str, Role]:
    """A role for every column, in file order.

    Region: the column most of whose values are ids of the region file. Identifier: a different value in (nearly) every
    record. Quasi-identifier: columns named like what others know of a person; if there are none, the first two with a
    handful of categories. The user decides which others count.
    """
    region = _region_column(table, regions)
    roles = {facts.name: Role.PLAIN for facts in table.columns}
    open_columns = []
    for facts in table.columns:
        if facts.name == region:
            roles[facts.name] = Role.REGION
        elif _looks_like_identifier(facts, table.rows):
            roles[facts.name] = Role.IDENTIFIER
        elif facts.categorical and 1 < facts.distinct <= _MOST_CATEGORIES:
            open_columns.append(facts)
    known = [facts.name for facts in open_columns if _known_of_people(facts.name)]
    few = [facts.name for facts in open_columns if facts.distinct <= _FEW_CATEGORIES]
    for name in known or few[:_FIRST_COLUMNS]:
        roles[name] = Role.QUASI_IDENTIFIER
    return roles


def _known_of_people(name: str) -> bool:
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return any(word.startswith(part) for word in words for part in _KNOWN_OF_PEOPLE)


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

"""Records that are made up so that no class is below k, and that nobody can tell from the real ones by their looks.

A quasi-identifier has the value of its class; a sensitive column the mean or the most frequent value of the whole file
or of a larger population, never of the class, which has fewer than k records; a key is a new one in the pattern of the
others; every other column has a value of some record of the file, drawn by chance. A column that is different in almost
every record cannot be filled like that: it is refused.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.records import finite_number
from vbas_desktop.files.records.row_texts import coded_texts
from vbas_desktop.files.records.table import RecordTable

from .handling import Handled

_PLAIN = re.compile(r"-?[0-9]+(?:\.([0-9]+))?")
_DONORS = 1000


@dataclass(frozen=True)
class Places:
    """Where in a row what is: quasi-identifiers, the key if there is one, and the values of sensitive columns."""

    quasi: Sequence[int]
    sensitive: Mapping[int, str]
    key: int | None


class MadeUp:
    """Sees the real records pass by, then makes up those that are lacking."""

    def __init__(self, handled: Handled, places: Places, width: int, draw: random.Random) -> None:
        self._added = handled.added
        self._places = places
        self._width = width
        self._draw = draw
        self._donors: list[list[str]] = []
        self._passed = 0

    def see(self, row: Sequence[str]) -> None:
        """Keep a record of the file by chance: of all rows so far a few, each as likely as any other."""
        if not self._added:
            return
        self._passed += 1
        if len(self._donors) < _DONORS:
            self._donors.append(list(row))
        elif (place := self._draw.randrange(self._passed)) < _DONORS:
            self._donors[place] = list(row)

    def records(self, keys: Iterator[str]) -> Iterator[list[str]]:
        """Make up the records; ``keys`` are new ones."""
        for label, missing in self._added.items():
            for _ in range(missing):
                row = [self._draw.choice(self._donors)[place] for place in range(self._width)]
                for place, value in self._places.sensitive.items():
                    row[place] = value
                for place, value in zip(self._places.quasi, label, strict=True):
                    row[place] = value
                if self._places.key is not None:
                    row[self._places.key] = next(keys)
                yield row


def typical_values(
    table: RecordTable, columns: Sequence[str], k: int, population: RecordTable | None
) -> dict[str, str]:
    """Find the value that made-up records have in each sensitive column: of the population, else of the whole file.

    Refused if fewer than k records have a value there.
    """
    source = table if population is None else population
    findings = []
    found = {}
    for name in columns:
        values = _count_values(source, name)
        if values.total() < k:
            message = f"Fewer than {k:,} records have a value here, so it may not be used for made-up records."
            remedy = "Take the values from a larger population (--population), or leave the column out."
            findings.append(Finding("few-values", message, remedy, file=source.source.path, column=name))
            continue
        value = typical_value(values, _count_values(table, name))
        if value is None:
            message = "None of its values occurs in the records: made-up records could be told by them."
            remedy = "Choose a population whose values are written as in the records."
            findings.append(Finding("other-values", message, remedy, file=source.source.path, column=name))
            continue
        found[name] = value
    if findings:
        raise InputError(findings)
    return found


def _count_values(table: RecordTable, column: str) -> Counter[str]:
    """Count the values of a column; blanks are none."""
    codes, distinct = coded_texts(table, column)
    numbers = np.bincount(codes, minlength=len(distinct))
    return Counter({str(text): int(n) for text, n in zip(distinct, numbers, strict=True) if n and text != ""})


def typical_value(source: Counter[str], own: Counter[str]) -> str | None:
    """Find the mean of numbers, written as the records write them (``own``), or else the most frequent value.

    None if no value of the source occurs in the records.
    """
    numbers = {text: finite_number(text) for text in source}
    own_numbers = {text: finite_number(text) for text in own}
    if None not in numbers.values() and None not in own_numbers.values() and own:
        mean = sum((numbers[text] or 0.0) * number for text, number in source.items()) / source.total()
        forms = [_PLAIN.fullmatch(text) for text in own]
        if all(forms):
            decimals = max(len(form.group(1) or "") for form in forms if form)
            return f"{mean:.{decimals}f}"
        # Numbers in another form: the nearest one of the file is in the right one.
        return min(own, key=lambda text: (abs((own_numbers[text] or 0.0) - mean), text))
    shared = [text for text in source if text in own]
    return min(shared, key=lambda text: (-source[text], text), default=None)


def refuse_telling_columns(table: RecordTable, filled: Sequence[str], dropped: Sequence[str]) -> None:
    """A column with a value of its own for almost every record would give away which were made up."""
    for name in table.dialect.header:
        if name in filled or name in dropped:
            continue
        facts = table.facts(name)
        if not facts.categorical or 10 * facts.distinct > 9 * table.rows:
            message = "Almost every record has a value of its own here: made-up records could be told by it."
            remedy = "Name it with --key, or leave the column out with --identifiers."
            raise InputError(Finding("telling-column", message, remedy, file=table.source.path, column=name))

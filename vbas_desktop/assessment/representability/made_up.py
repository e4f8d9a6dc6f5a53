"""Records that are made up so that no class is below k, and that nobody can tell from the real ones by their looks.

A quasi-identifier has the value of its class, a sensitive column the mean or the commonest value, written as the column
writes its numbers; every other column has a value of some record of the file, drawn by chance; a key is a new one of
the same form. A column that is different in almost every record cannot be filled like that: it is refused.
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.records import finite_number
from vbas_desktop.files.records.row_texts import column_texts
from vbas_desktop.files.records.table import RecordTable

from .classes import Label
from .handling import Handled

_PLAIN = re.compile(r"-?[0-9]+(?:\.([0-9]+))?")
_WHOLE = re.compile(r"[1-9][0-9]{0,17}|0")
_ALIKE = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_TRIES = 1000
_DONORS = 1000


@dataclass(frozen=True)
class Places:
    """Where in a row what is: quasi-identifiers, sensitive columns, the key if there is one."""

    quasi: Sequence[int]
    sensitive: Sequence[int]
    key: int | None


class MadeUp:
    """Sees the real records pass by, then makes up those that are lacking."""

    def __init__(self, handled: Handled, places: Places, width: int, whole: bool, draw: random.Random) -> None:
        """``whole``: the mean or the commonest value is taken of the whole file, not of the class."""
        self._added, self._places, self._width, self._whole, self._draw = handled.added, places, width, whole, draw
        self._seen: dict[Label, list[list[str]]] = {label: [] for label in handled.added}
        self._donors: list[list[str]] = []
        self._passed = 0
        self._file = {place: Counter[str]() for place in places.sensitive} if whole and handled.added else {}

    def see(self, label: Label, row: Sequence[str]) -> None:
        """A record of the file, of the class that it had there."""
        for place, values in self._file.items():
            values[row[place]] += 1
        if label in self._seen:
            self._seen[label].append(list(row))
        if self._added:
            self._keep_by_chance(row)

    def _keep_by_chance(self, row: Sequence[str]) -> None:
        """Of all rows so far a few, each as likely as any other."""
        self._passed += 1
        if len(self._donors) < _DONORS:
            self._donors.append(list(row))
        elif (place := self._draw.randrange(self._passed)) < _DONORS:
            self._donors[place] = list(row)

    def records(self, keys: Iterator[str]) -> Iterator[list[str]]:
        """The made-up records; ``keys`` are new ones."""
        averages = {place: average(values) for place, values in self._file.items()}
        for label, missing in self._added.items():
            real = self._seen[label]
            if not self._whole:
                averages = {p: average(Counter(row[p] for row in real)) for p in self._places.sensitive}
            for _ in range(missing):
                row = [self._draw.choice(self._donors)[place] for place in range(self._width)]
                for place, value in averages.items():
                    row[place] = value
                for place, value in zip(self._places.quasi, label, strict=True):
                    row[place] = value
                if self._places.key is not None:
                    row[self._places.key] = next(keys)
                yield row


def average(values: Counter[str]) -> str:
    """The mean where all values are numbers, with as many decimals as they have; else the commonest value."""
    numbers = {text: finite_number(text) for text in values}
    forms = [_PLAIN.fullmatch(text) for text in values]
    if all(number is not None for number in numbers.values()):
        total = sum(number * values[text] for text, number in numbers.items() if number is not None)
        mean = total / values.total()
        if all(form is not None for form in forms):
            return f"{mean:.{max(len(form.group(1) or '') for form in forms if form)}f}"
        # Numbers in another form: the one that is nearest is in the right one.
        return min(values, key=lambda text: (abs((numbers[text] or 0.0) - mean), text))
    return min(values, key=lambda text: (-values[text], text))


def new_keys(table: RecordTable, key: str, draw: random.Random) -> Iterator[str]:
    """Keys that no record has, each of the form of one that a record has."""
    known = list(dict.fromkeys(column_texts(table, key).tolist()))
    taken = set(known)
    numbered = all(_WHOLE.fullmatch(text) for text in known)
    low, high = (min(map(int, known)), max(map(int, known))) if numbered else (0, 0)
    while True:
        if numbered and high - low + 1 == len(taken):
            # Numbered without a gap: what is added goes on where the numbers end.
            high += 1
        for _ in range(_TRIES):
            made = str(draw.randint(low, high)) if numbered else _alike(draw.choice(known), draw)
            if made not in taken:
                break
        else:
            made = next(text for text in map(str, range(low, high + 2)) if text not in taken) if numbered else ""
        if not made:
            message = "There is no room for new keys of the form that this column has."
            raise InputError(Finding("keys", message, "Leave the column out (--identifiers).", column=key))
        taken.add(made)
        yield made


def _alike(text: str, draw: random.Random) -> str:
    """Another text of the same form: digits for digits, letters for letters, all else as it is."""
    return "".join(next((draw.choice(kind) for kind in _ALIKE if sign in kind), sign) for sign in text)


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

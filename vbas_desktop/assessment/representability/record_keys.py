"""Make new record keys that follow the pattern of the real ones and that no record has."""

from __future__ import annotations

import math
import random
import re
import string
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vbas_desktop.io.records.row_texts import column_texts
from vbas_desktop.model.errors import Finding, InputError, Severity
from vbas_desktop.model.records import RecordTable

_RUN = re.compile(r"[0-9]+|[^0-9]")
_COUNTED = re.compile(r"[1-9][0-9]{0,17}|0")
_KINDS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_MOST_DIGITS = 18
_TRIES = 200
_LISTED = 1000
"""Numbers are listed, not drawn, if they are at most this many more than twice the keys."""


@dataclass(frozen=True)
class _Number:
    """A run of digits: the range of its numbers, and how many digits they have (0: as many as they need)."""

    low: int
    high: int
    width: int

    @property
    def varies(self) -> bool:
        """Whether keys differ in it."""
        return self.low < self.high

    @property
    def largest(self) -> int:
        """The largest number that has so many digits."""
        return int(10 ** (self.width or _MOST_DIGITS)) - 1

    def text(self, value: int) -> str:
        """Write a number as the keys do."""
        return f"{value:0{self.width}d}"

    def count(self, widened: bool) -> int:
        """Count the numbers of the range, or all that are not below it and have as many digits."""
        high = self.largest if widened and self.varies else self.high
        return high - self.low + 1

    def choose(self, index: int, widened: bool) -> str:
        """Write one of the counted numbers."""
        return self.text(self.low + index)


@dataclass(frozen=True)
class _Character:
    """One character: those that occur at its place."""

    seen: str

    @property
    def varies(self) -> bool:
        """Whether keys differ in it."""
        return len(self.seen) > 1

    def count(self, widened: bool) -> int:
        """Count the characters that occur there, or all of the same kind; one that is constant stays."""
        return len(self._choices(widened))

    def choose(self, index: int, widened: bool) -> str:
        """Return one of the counted characters."""
        return self._choices(widened)[index]

    def _choices(self, widened: bool) -> str:
        alike = "".join(kind for kind in _KINDS if set(kind) & set(self.seen))
        return alike if widened and self.varies and alike else self.seen


@dataclass(frozen=True)
class KeyPattern:
    """What some keys have in common: constant characters, numbers in a range, other characters by their place."""

    parts: tuple[_Number | _Character, ...]
    number_of_keys: int

    @classmethod
    def of(cls, keys: Sequence[str]) -> KeyPattern:
        """Find the pattern of keys that all have the same length or are all plain numbers."""
        if len({len(key) for key in keys}) > 1:
            numbers = [int(key) for key in keys]
            return cls((_Number(min(numbers), max(numbers), 0),), len(keys))
        split = [_RUN.findall(key) for key in keys]
        if len({tuple(map(len, runs)) for runs in split}) > 1:
            # Digits and letters stand anywhere, as in hexadecimal keys: every character is taken by itself.
            split = [list(key) for key in keys]
            return cls(tuple(_Character(_distinct(seen)) for seen in zip(*split, strict=True)), len(keys))
        return cls(tuple(_part(runs) for runs in zip(*split, strict=True)), len(keys))

    def free_keys(self, taken: set[str], draw: random.Random) -> Iterator[str]:
        """Yield keys that are not ``taken`` at that moment, within the range of the real ones first."""
        varying = [part for part in self.parts if part.varies]
        if len(varying) == 1 and isinstance(varying[0], _Number):
            yield from self._numbered(varying[0], taken, draw)
            return
        for widened in (False, True):
            while (new := self._drawn(taken, draw, widened)) is not None:
                yield new

    def _drawn(self, taken: set[str], draw: random.Random, widened: bool) -> str | None:
        """Draw a key that is not taken; None only if all of the pattern are taken."""
        counts = [part.count(widened) for part in self.parts]
        for _ in range(_TRIES):
            new = self._key([draw.randrange(count) for count in counts], widened)
            if new not in taken:
                return new
        # Nearly all keys are taken: go through them, from anywhere. A free one comes within as many as are taken.
        size = math.prod(counts)
        start = draw.randrange(size)
        for step in range(min(size, len(taken) + 1)):
            new = self._key(_digits((start + step) % size, counts), widened)
            if new not in taken:
                return new
        return None

    def _key(self, indices: Sequence[int], widened: bool) -> str:
        return "".join(part.choose(index, widened) for part, index in zip(self.parts, indices, strict=True))

    def _numbered(self, number: _Number, taken: set[str], draw: random.Random) -> Iterator[str]:
        """Yield keys that differ in one number: gaps of the range in random order, then what follows the range."""
        if number.high - number.low <= 2 * self.number_of_keys + _LISTED:
            inside = list(range(number.low, number.high + 1))
            draw.shuffle(inside)
            gaps = (self._with(number, value) for value in inside)
            yield from (new for new in gaps if new not in taken)
        else:
            while (new := self._drawn(taken, draw, widened=False)) is not None:
                yield new
        after = (self._with(number, value) for value in range(number.high + 1, number.largest + 1))
        yield from (new for new in after if new not in taken)

    def _with(self, number: _Number, value: int) -> str:
        return "".join(
            part.seen if isinstance(part, _Character) else part.text(value if part is number else part.low)
            for part in self.parts
        )


def _digits(number: int, bases: Sequence[int]) -> list[int]:
    """Write a number with digits of different bases, the last one changing fastest."""
    digits = []
    for base in reversed(bases):
        number, digit = divmod(number, base)
        digits.append(digit)
    return digits[::-1]


def _distinct(characters: Sequence[str]) -> str:
    return "".join(sorted(set(characters)))


def _part(runs: Sequence[str]) -> _Number | _Character:
    """Describe what keys have at one place: ASCII digits as a number, anything else as a character."""
    if all(run.isascii() and run.isdigit() for run in runs):
        numbers = [int(run) for run in runs]
        return _Number(min(numbers), max(numbers), len(runs[0]))
    return _Character(_distinct(runs))


def make_keys(table: RecordTable, key: str, draw: random.Random) -> Iterator[str]:
    """Yield new keys in the pattern of the real ones; refused when the pattern has no room for another one.

    Keys of each length have a pattern of their own and are made as often as they occur. Plain numbers have one.
    """
    known = _real_keys(table, key)
    groups: dict[int, list[str]] = defaultdict(list)
    plain = all(_COUNTED.fullmatch(text) for text in known)
    for text in known:
        groups[0 if plain else len(text)].append(text)
    taken = set(known)
    sources = {group: KeyPattern.of(keys).free_keys(taken, draw) for group, keys in groups.items()}
    while groups:
        (group,) = draw.choices(list(groups), [len(keys) for keys in groups.values()])
        new = next(sources[group], None)
        if new is None:
            del groups[group]
            continue
        taken.add(new)
        yield new
    message = "There is no room for new keys of the form that this column has: their range is used up."
    remedy = "Leave the column out (--identifiers), or give the records longer keys."
    raise InputError(Finding("keys", message, remedy, file=table.source.path, column=key))


def warn_of_gapless_keys(table: RecordTable, key: str) -> list[Finding]:
    """Warn if keys are numbered without a gap: made-up records then have the last numbers."""
    known = _real_keys(table, key)
    if not known or not all(text.isascii() and text.isdigit() for text in known):
        return []
    numbers = [int(text) for text in known]
    if max(numbers) - min(numbers) + 1 > len(numbers):
        return []
    message = (
        "The keys are numbered without gaps, so made-up records have the last numbers: who knows how many real "
        "records there are can tell them."
    )
    remedy = "Leave the column out (--identifiers) before you hand the file on."
    return [Finding("gapless-keys", message, remedy, Severity.WARNING, file=table.source.path, column=key)]


def _real_keys(table: RecordTable, key: str) -> list[str]:
    return [text for text in dict.fromkeys(column_texts(table, key).tolist()) if text]

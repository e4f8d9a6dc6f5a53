"""Make new record keys that follow the pattern of the real ones and that no record has."""

from __future__ import annotations

import math
import random
import re
import string
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vbas_desktop.io.records.rows import read_column_texts
from vbas_desktop.model.findings import Finding, InputError, Severity
from vbas_desktop.model.records import CodedRecords

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
        """True if keys differ in it."""
        return self.low < self.high

    @property
    def largest(self) -> int:
        """Return the largest number with this number of digits."""
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
    """One character of a key; ``observed`` are all that occur in its position."""

    observed: str

    @property
    def varies(self) -> bool:
        """True if keys differ in it."""
        return len(self.observed) > 1

    def count(self, widened: bool) -> int:
        """Count the characters that occur there, or all of the same kind; one that is constant stays."""
        return len(self._choices(widened))

    def choose(self, index: int, widened: bool) -> str:
        """Return one of the counted characters."""
        return self._choices(widened)[index]

    def _choices(self, widened: bool) -> str:
        alike = "".join(kind for kind in _KINDS if set(kind) & set(self.observed))
        return alike if widened and self.varies and alike else self.observed


@dataclass(frozen=True)
class KeyPattern:
    """Pattern of some keys: constant characters, numbers in a range, and the characters that occur elsewhere."""

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
            return cls(
                tuple(_Character(_join_distinct(column)) for column in zip(*split, strict=True)),
                len(keys),
            )
        return cls(tuple(_describe_part(runs) for runs in zip(*split, strict=True)), len(keys))

    def free_keys(self, used: set[str], draw: random.Random) -> Iterator[str]:
        """Yield keys that are not ``used`` at that moment, within the range of the real ones first."""
        varying = [part for part in self.parts if part.varies]
        if len(varying) == 1 and isinstance(varying[0], _Number):
            yield from self._iterate_numbered(varying[0], used, draw)
            return
        for widened in (False, True):
            while (new := self._draw_key(used, draw, widened)) is not None:
                yield new

    def _draw_key(self, used: set[str], draw: random.Random, widened: bool) -> str | None:
        """Draw a key that is not used; None only if all of the pattern are used."""
        counts = [part.count(widened) for part in self.parts]
        for _ in range(_TRIES):
            new = self._build_key([draw.randrange(count) for count in counts], widened)
            if new not in used:
                return new
        # Nearly all keys are used: go through them, from anywhere. A free one comes within as many as are used.
        size = math.prod(counts)
        start = draw.randrange(size)
        for step in range(min(size, len(used) + 1)):
            new = self._build_key(_split_digits((start + step) % size, counts), widened)
            if new not in used:
                return new
        return None

    def _build_key(self, indices: Sequence[int], widened: bool) -> str:
        return "".join(
            part.choose(index, widened) for part, index in zip(self.parts, indices, strict=True)
        )

    def _iterate_numbered(self, number: _Number, used: set[str], draw: random.Random) -> Iterator[str]:
        """Yield keys that differ in one number: gaps of the range in random order, then what follows the range."""
        if number.high - number.low <= 2 * self.number_of_keys + _LISTED:
            inside = list(range(number.low, number.high + 1))
            draw.shuffle(inside)
            gaps = (self._build_numbered(number, value) for value in inside)
            yield from (new for new in gaps if new not in used)
        else:
            while (new := self._draw_key(used, draw, widened=False)) is not None:
                yield new
        after = (
            self._build_numbered(number, value) for value in range(number.high + 1, number.largest + 1)
        )
        yield from (new for new in after if new not in used)

    def _build_numbered(self, number: _Number, value: int) -> str:
        return "".join(
            part.observed
            if isinstance(part, _Character)
            else part.text(value if part is number else part.low)
            for part in self.parts
        )


def _split_digits(number: int, bases: Sequence[int]) -> list[int]:
    """Write a number with digits of different bases, the last one changing fastest."""
    digits = []
    for base in reversed(bases):
        number, digit = divmod(number, base)
        digits.append(digit)
    return digits[::-1]


def _join_distinct(characters: Sequence[str]) -> str:
    return "".join(sorted(set(characters)))


def _describe_part(runs: Sequence[str]) -> _Number | _Character:
    """Describe one part of all keys: ASCII digits as a number, anything else as a character."""
    if all(run.isascii() and run.isdigit() for run in runs):
        numbers = [int(run) for run in runs]
        return _Number(min(numbers), max(numbers), len(runs[0]))
    return _Character(_join_distinct(runs))


def generate_keys(table: CodedRecords, key: str, draw: random.Random) -> Iterator[str]:
    """Yield new keys in the pattern of the real ones; raises `InputError` when no key of the pattern is free.

    Keys of each length have a pattern of their own and are made as often as they occur. Plain numbers have one.
    """
    existing = _list_keys(table, key)
    groups: dict[int, list[str]] = defaultdict(list)
    plain = all(_COUNTED.fullmatch(text) for text in existing)
    for text in existing:
        groups[0 if plain else len(text)].append(text)
    used = set(existing)
    sources = {group: KeyPattern.of(keys).free_keys(used, draw) for group, keys in groups.items()}
    while groups:
        (group,) = draw.choices(list(groups), [len(keys) for keys in groups.values()])
        new = next(sources[group], None)
        if new is None:
            del groups[group]
            continue
        used.add(new)
        yield new
    message = "There is no room for new keys of the form that this column has: their range is used up."
    remedy = "Leave the column out (--identifiers), or give the records longer keys."
    raise InputError(Finding("keys", message, remedy, file=table.source.path, column=key))


def warn_of_gapless_keys(table: CodedRecords, key: str) -> list[Finding]:
    """Warn if keys are numbered without a gap: made-up records then have the last numbers."""
    existing = _list_keys(table, key)
    if not existing or not all(text.isascii() and text.isdigit() for text in existing):
        return []
    numbers = [int(text) for text in existing]
    if max(numbers) - min(numbers) + 1 > len(numbers):
        return []
    message = (
        "The keys are numbered without gaps, so made-up records have the last numbers: who knows how many real "
        "records there are can tell them."
    )
    remedy = "Leave the column out (--identifiers) before you hand the file on."
    return [
        Finding("gapless-keys", message, remedy, Severity.WARNING, file=table.source.path, column=key)
    ]


def _list_keys(table: CodedRecords, key: str) -> list[str]:
    return [text for text in dict.fromkeys(read_column_texts(table, key).tolist()) if text]

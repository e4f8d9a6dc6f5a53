"""One table of a spec file: hands out values of the right kind, notes everything that is not right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from vbas_desktop.files.findings import FindingList


class Words:
    """A TOML table whose keys are asked for one by one; `no_others` notes what nobody asked for."""

    def __init__(self, data: Any, place: str, findings: FindingList, column: str | None = None) -> None:
        self._data: dict[str, Any] = data if isinstance(data, dict) else {}
        self._place, self._findings, self.column = place, findings, column
        self._asked: set[str] = set()
        if not isinstance(data, dict):
            self.wrong("", "a table is expected")

    def wrong(self, key: str, why: str) -> None:
        """Note that a value is not right."""
        place = ".".join(part for part in (self._place, key) if part)
        self._findings.add("wrong-value", f"{place}: {why}.", "Correct the spec.", column=self.column)

    def names(self) -> list[str]:
        """All keys of the table."""
        return list(self._data)

    def no_others(self) -> None:
        """Note keys that were never asked for: most are misspelt."""
        for key in self._data.keys() - self._asked:
            self.wrong(key, "this key is not known")

    def table(self, key: str) -> Words:
        """A table within this one; an empty one if it is not there."""
        return Words(self._get(key, {}), self._inner(key), self._findings, self.column)

    def tables(self, key: str) -> list[Words]:
        """The entries of an array of tables."""
        entries = self._get(key, [])
        if not isinstance(entries, list):
            self.wrong(key, "an array of tables is expected")
            return []
        return [
            Words(entry, f"{self._inner(key)} {number}", self._findings, self.column)
            for number, entry in enumerate(entries, 1)
        ]

    def text(self, key: str, default: str | None = None) -> str:
        """A text; an error if it is missing and there is no default."""
        value = self._get(key, default)
        if not isinstance(value, str) or (default is None and not value):
            self.wrong(key, "a text is expected" if value is not None else "is missing")
            return ""
        return value

    def choice(self, key: str, default: str, choices: Sequence[str]) -> str:
        """One of a few words."""
        value = self.text(key, default)
        if value not in choices:
            self.wrong(key, f"use one of {', '.join(choices)}")
            return default
        return value

    def flag(self, key: str) -> bool:
        """True or false (false if it is missing)."""
        value = self._get(key, False)
        if not isinstance(value, bool):
            self.wrong(key, "true or false is expected")
        return value is True

    def whole(self, key: str, default: int | None, low: int) -> int | None:
        """A whole number that is not too low."""
        value = self._get(key, default)
        if value is default:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < low:
            self.wrong(key, f"a whole number of at least {low} is expected")
            return default
        return value

    def number(self, key: str, default: float, low: float = -math.inf) -> float:
        """A finite number that is not too low."""
        value = self._get(key, default)
        if not _is_number(value) or value < low:
            self.wrong(key, "a number is expected" if low == -math.inf else f"a number of at least {low:g} is expected")
            return default
        return float(value)

    def texts(self, key: str, size: int | None = None) -> tuple[str, ...]:
        """A list of texts; empty if it is missing."""
        values = self._get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self.wrong(key, "a list of texts is expected")
            return ()
        return self._sized(key, tuple(values), size)

    def numbers(self, key: str, size: int) -> tuple[float, ...]:
        """A list of finite numbers; empty if it is missing."""
        values = self._get(key, [])
        if not isinstance(values, list) or not all(_is_number(value) for value in values):
            self.wrong(key, "a list of numbers is expected")
            return ()
        return self._sized(key, tuple(float(value) for value in values), size)

    def weights(self, key: str, size: int) -> tuple[float, ...] | None:
        """As many weights as there are categories, none negative, not all zero; None if they are missing."""
        values = self.numbers(key, size)
        if values and (min(values) < 0 or sum(values) <= 0):
            self.wrong(key, "weights must not be negative, nor all zero")
            return None
        return values or None

    def _sized(self, key: str, values: tuple[Any, ...], size: int | None) -> tuple[Any, ...]:
        if values and size is not None and len(values) != size:
            self.wrong(key, f"has {len(values)} entries instead of {size}")
            return ()
        return values

    def _get(self, key: str, default: Any) -> Any:
        self._asked.add(key)
        return self._data.get(key, default)

    def _inner(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

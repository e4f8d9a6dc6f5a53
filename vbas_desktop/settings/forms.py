"""How the values of settings are written: as text on the command line, as plain data in ``run.json``.

Each form reads what a person typed into plain data (`parse`; ValueError says what would be allowed), turns plain data
into the value that the program works with (`value`) and back (`plain`), and writes the words of a command line.
A project keeps values as they are rather than as they are typed (`kept`, `from_kept`). `schema` is true of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from vbas_desktop.model.criteria import Criterion, criterion_of
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.listing import listed, parts_of, quoted, unquoted
from vbas_desktop.model.words import DELIMITER_NAMES

T = TypeVar("T")
Schema = Mapping[str, Any]
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_DELIMITERS = {name: mark for mark, name in DELIMITER_NAMES.items()} | {"\\t": "\t", "space": " "}


@dataclass(frozen=True)
class Form:
    """Any text, such as the name of a column; None where nothing is given."""

    metavar: str = "NAME"
    data: ClassVar[Schema] = _TEXT

    @property
    def schema(self) -> Schema:
        """What the data in a document are, as JSON schema."""
        return self.data

    def kept(self, value: Any) -> Any:
        """The value as JSON data in a project."""
        return self.plain(value)

    def from_kept(self, data: Any) -> Any:
        """The value again."""
        return self.value(data)

    def parse(self, text: str) -> Any:
        """Plain data from what a person typed."""
        return text

    def value(self, plain: Any) -> Any:
        """What the program works with."""
        return plain

    def plain(self, value: Any) -> Any:
        """The value as plain JSON data."""
        return value

    def words(self, flag: str, plain: Any) -> list[str]:
        """The words of a command line that give this value."""
        return _option(flag, self.text(plain))

    def text(self, plain: Any) -> str:
        """What `parse` reads as this."""
        return str(plain)


@dataclass(frozen=True)
class Whole(Form):
    """A whole number."""

    metavar: str = "N"
    low: int = 0

    @property
    def schema(self) -> Schema:
        """A number from the least on."""
        return {"type": "integer", "minimum": self.low}

    def parse(self, text: str) -> int:
        """The number; ValueError below the least."""
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"“{text}” is not a whole number") from None
        if number < self.low:
            raise ValueError(f"{number} is too low; the least is {self.low}")
        return number


@dataclass(frozen=True)
class Percent(Form):
    """A percentage above 0, with or without its sign."""

    metavar: str = "PERCENT"
    data: ClassVar[Schema] = {"type": "number", "exclusiveMinimum": 0}

    def parse(self, text: str) -> float:
        """The number."""
        try:
            number = float(text.rstrip("%"))
        except ValueError:
            raise ValueError(f"“{text}” is not a number") from None
        if not (math.isfinite(number) and number > 0):
            raise ValueError("must be above 0")
        return number

    def text(self, plain: Any) -> str:
        """The shortest text that is read as the same number."""
        return repr(float(plain)).removesuffix(".0")


@dataclass(frozen=True)
class Delimiter(Form):
    """One character, by itself or by its name."""

    metavar: str = "CHAR"

    def value(self, plain: Any) -> Any:
        """The character."""
        return None if plain is None else _DELIMITERS.get(plain.lower(), plain)

    def text(self, plain: Any) -> str:
        """Its name if it has one: a bare tab is easily lost."""
        return DELIMITER_NAMES.get(self.value(plain), str(plain))


@dataclass(frozen=True)
class Digits(Form):
    """Hexadecimal digits, or ``@FILE`` for a file that holds them, so that a secret stays out of command histories."""

    metavar: str = "HEX|@FILE"
    most: int = 64
    data: ClassVar[Schema] = {"type": ["string", "integer"], "pattern": "^[0-9a-f]+$", "minimum": 0}
    """Version 0.1 kept a number."""

    def parse(self, text: str) -> str:
        """Return the digits, read from the file if one is named."""
        if not text.strip().startswith("@"):
            return self.check(text)
        file = text.strip()[1:]
        try:
            with open(file, encoding="utf-8-sig") as stream:
                return self.check(stream.read(4 * self.most))
        except (OSError, ValueError):
            raise ValueError(f"the file “{file}” does not hold up to {self.most} hexadecimal digits") from None

    def check(self, text: str) -> str:
        """Return the digits in lower case; `ValueError` if there are others."""
        found = text.strip().lower()
        if not found or len(found) > self.most or found.strip("0123456789abcdef"):
            raise ValueError(f"“{text}” is not made of up to {self.most} hexadecimal digits (0 to 9, a to f)")
        return found


@dataclass(frozen=True)
class Flag(Form):
    """Yes or no, said by naming it; ``negated``: naming it says no (``--no-global-suppression``)."""

    negated: bool = False
    data: ClassVar[Schema] = {"type": "boolean"}

    def kept(self, value: Any) -> bool:
        """What it says, not whether it is named."""
        return bool(value)

    def from_kept(self, data: Any) -> bool:
        """The value again."""
        return bool(data)

    def value(self, plain: Any) -> bool:
        """The program's view of it."""
        return bool(plain) is not self.negated

    def plain(self, value: Any) -> bool:
        """Whether it is named."""
        return bool(value) is not self.negated

    def words(self, flag: str, plain: Any) -> list[str]:
        """The flag alone."""
        return [flag] if plain else []


@dataclass(frozen=True)
class Switch(Form):
    """Yes or no, each with a word of its own: ``--pdf`` and ``--no-pdf``."""

    data: ClassVar[Schema] = {"type": "boolean"}

    def words(self, flag: str, plain: Any) -> list[str]:
        """The one or the other."""
        return [flag if plain else f"--no-{flag.removeprefix('--')}"]


@dataclass(frozen=True)
class Names(Form):
    """Names separated by commas."""

    metavar: str = "A,B"
    data: ClassVar[Schema] = _TEXTS

    def parse(self, text: str) -> list[str]:
        """The names; one with a comma, a quote or spaces around it is put in double quotes, quotes in it doubled."""
        found = listed(text)
        if not found or not all(found):
            raise ValueError("a name is missing; write them as a,b,c")
        repeated = [name for name in dict.fromkeys(found) if found.count(name) > 1]
        if repeated:
            raise ValueError(f"“{repeated[0]}” is there twice")
        return found

    def value(self, plain: Any) -> Any:
        """A tuple; None stays None."""
        return None if plain is None else tuple(plain)

    def plain(self, value: Any) -> Any:
        """A list; None stays None."""
        return None if value is None else list(value)

    def text(self, plain: Any) -> str:
        """The names with commas."""
        return ",".join(quoted(str(name), ",;") for name in plain)


def _is_table(lines: Sequence[str]) -> bool:
    """Tell whether most lines have several fields, as in a record file that was named by mistake."""
    return any(2 * sum(delimiter in line for line in lines) > len(lines) for delimiter in ",;\t|")


@dataclass(frozen=True)
class Ids(Names):
    """Ids separated by commas, or ``@FILE`` for a file with one on each line; the file is read when it is named."""

    metavar: str = "ID,ID|@FILE"

    def parse(self, text: str) -> list[str]:
        """The ids."""
        if not text.strip().startswith("@"):
            return super().parse(text)
        file = text.strip()[1:]
        try:
            lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError):
            raise ValueError(f"the file “{file}” cannot be read as text") from None
        found = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
        if not found:
            raise ValueError(f"the file “{file}” has no ids")
        if _is_table(found):
            raise ValueError(f"the file “{file}” is a table; write one id on each line and nothing else")
        return found


@dataclass(frozen=True)
class Texts(Form):
    """Any number of texts, each given by itself."""

    data: ClassVar[Schema] = _TEXTS
    between: ClassVar[str] = ", "

    def value(self, plain: Any) -> Any:
        """A tuple."""
        return tuple(plain or ())

    def plain(self, value: Any) -> list[str]:
        """A list."""
        return list(value)

    def words(self, flag: str, plain: Any) -> list[str]:
        """The flag once for each text."""
        return [word for text in plain for word in _option(flag, text)]

    def text(self, plain: Any) -> str:
        """All of them."""
        return self.between.join(plain)


@dataclass(frozen=True)
class Renames(Texts):
    """Pairs of a name and another one: OLD=NEW; in a document also the new names by the old ones."""

    metavar: str = "OLD=NEW"
    data: ClassVar[Schema] = {"type": ["array", "object"], "items": _TEXT, "additionalProperties": _TEXT}

    def value(self, plain: Any) -> dict[str, str]:
        """The new names by the old ones."""
        return dict(plain) if isinstance(plain, Mapping) else dict(_pair(text) for text in plain or ())

    def plain(self, value: Any) -> list[str]:
        """The pairs as they are typed."""
        return [f"{quoted(old, '=')}={new}" for old, new in value.items()]


@dataclass(frozen=True)
class WordsByColumn(Renames):
    """Words on columns: COLUMN=TEXT; in a document also the texts by column."""

    metavar: str = "COLUMN=TEXT"

    def value(self, plain: Any) -> dict[str, str]:
        """Read the texts by column."""
        return dict(plain) if isinstance(plain, Mapping) else dict(_pair(text, self.metavar) for text in plain or ())


@dataclass(frozen=True)
class ValuesByColumn(Texts):
    """Values of columns: COLUMN=VALUE,VALUE; in a document also the values by column."""

    metavar: str = "COLUMN=VALUE,…"
    data: ClassVar[Schema] = {"type": ["array", "object"], "items": _TEXT, "additionalProperties": _TEXTS}
    between: ClassVar[str] = "; "

    def kept(self, value: Any) -> dict[str, list[str]]:
        """The values by column."""
        return {name: list(values) for name, values in value.items()}

    def value(self, plain: Any) -> dict[str, tuple[str, ...]]:
        """The values by column; a column that is given twice has the values of both."""
        if isinstance(plain, Mapping):
            return {name: tuple(values) for name, values in plain.items()}
        found: dict[str, tuple[str, ...]] = {}
        for text in plain or ():
            name, values = _pair(text, "COLUMN=VALUE")
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *Names().parse(values))))
        return found

    def plain(self, value: Any) -> list[str]:
        """As they are typed."""
        return [f"{quoted(name, '=')}={Names().text(values)}" for name, values in value.items() if values]


@dataclass(frozen=True)
class Criteria(Texts):
    """Criteria for sensitive values: ``share:50``, or ``COLUMN=share:50`` for one column."""

    metavar: str = "[COLUMN=]CRITERION"
    between: ClassVar[str] = "; "

    def value(self, plain: Any) -> tuple[Criterion, ...]:
        """The criteria, each once."""
        return tuple(dict.fromkeys(_criterion(text) for text in plain or ()))

    def plain(self, value: Any) -> list[str]:
        """As they are typed."""
        return [(f"{quoted(each.column, '=')}=" if each.column else "") + each.text for each in value]


def _option(flag: str, text: str) -> list[str]:
    """``--option value`` where it can be read so; a value that begins with a dash stays with its option."""
    return [flag, text] if text and not text.startswith("-") else [f"{flag}={text}"]


def _criterion(text: str) -> Criterion:
    column, *rest = parts_of(text, "=")
    if not rest:
        return criterion_of(text)
    return criterion_of(text[len(column) + 1 :]).of(unquoted(column))


def names_in(text: str) -> tuple[str, ...]:
    """The names between commas; where nothing stands there is none."""
    return tuple(name for name in listed(text) if name)


def pairs_in(
    parts: Iterable[str], read: Callable[[str], T], message: str, remedy: str, code: str = "form"
) -> dict[str, T]:
    """What parts as NAME=VALUE say by name; `InputError` with the message, “{}” being the part, if one is none."""
    found = {}
    for part in parts:
        name, _, text = (each.strip() for each in part.partition("="))
        try:
            if not name or not text:
                raise ValueError
            found[name] = read(text)
        except ValueError:
            raise InputError(Finding(code, message.format(part), remedy)) from None
    return found


def numbers_in(text: str) -> list[float]:
    """The numbers between slashes."""
    return [float(number) for number in text.split("/")]


def orders_in(parts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read orders of values by column: ``COLUMN``, or ``COLUMN=first/second/third``."""
    orders: dict[str, tuple[str, ...]] = {}
    for part in parts:
        name, _, values = part.partition("=")
        orders[name.strip()] = tuple(value.strip() for value in values.split("/")) if values.strip() else ()
    return orders


def sets_of_names(text: str) -> list[list[str]]:
    """Lists of names separated by semicolons: ``age,sex;age,income``."""
    return [Names().parse(part) for part in parts_of(text, ";")]


def _pair(text: str, form: str = "OLD=NEW") -> tuple[str, str]:
    old, *rest = parts_of(text, "=")
    if not old or not rest or not "=".join(rest):
        raise ValueError(f"“{text}” is not understood; write it as {form}")
    return unquoted(old), text[len(old) + 1 :]

"""Types of option values: how each is typed on the command line, and what it is in JSON.

A type is an annotation: pydantic validates and serialises it, and a `TextForm` in it says how people type the value.
Where plain `str`, `int`, `float`, `bool` or `Literal` say enough, options use those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, InstanceOf, PlainSerializer, WithJsonSchema

from vbas_desktop.model.criteria import Criterion, parse_criterion
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.text import DELIMITER_NAMES, parse_list, quote_name, split_quoted, unquote_name

T = TypeVar("T")
_DELIMITERS = {name: mark for mark, name in DELIMITER_NAMES.items()} | {"\\t": "\t", "space": " "}
_SECRET_DIGITS = 64


@dataclass(frozen=True)
class TextForm:
    """Text form of a value, as people type it.

    parse: reads a text; its `ValueError` says what is allowed.
    format: returns the texts that `parse` reads as this value.
    is_repeated: the flag is given once for each text, and `parse` reads one item of the value.
    separator: stands between the texts where they are shown to people as one.
    """

    metavar: str
    parse: Callable[[str], Any]
    format: Callable[[Any], Sequence[str]]
    is_repeated: bool = False
    separator: str = ", "

    def join(self, value: Any) -> str:
        """Format a value as one text for people."""
        return self.separator.join(self.format(value))


def parse_integer(text: str, low: int | None = None) -> int:
    """Read a whole number. Raises `ValueError` for any other text and for numbers below ``low``."""
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"“{text}” is not a whole number") from None
    if low is not None and number < low:
        raise ValueError(f"{number} is too low; the least is {low}")
    return number


def parse_number(text: str) -> float:
    """Read a number, with or without a percent sign. Raises `ValueError`."""
    try:
        return float(text.rstrip("%"))
    except ValueError:
        raise ValueError(f"“{text}” is not a number") from None


def format_number(number: float) -> str:
    """Format a number as the shortest text that is read as the same number."""
    return repr(float(number)).removesuffix(".0")


def parse_switch(text: str) -> bool:
    """Read yes or no. Raises `ValueError`."""
    try:
        return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[
            text.lower()
        ]
    except KeyError:
        raise ValueError(f"“{text}” is neither yes nor no") from None


def format_switch(value: bool) -> str:
    """Format yes or no."""
    return "yes" if value else "no"


def parse_name_list(text: str) -> tuple[str, ...]:
    """Read names separated by commas; one with a comma, a quote or spaces around it stands in double quotes.

    Raises `ValueError` if a name is missing or there twice.
    """
    names = parse_list(text)
    if not names or not all(names):
        raise ValueError("a name is missing; write them as a,b,c")
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(f"“{repeated[0]}” is there twice")
    return tuple(names)


def format_names(names: Iterable[object]) -> str:
    """Format names with commas, so that `parse_name_list` reads them again."""
    return ",".join(quote_name(str(name), ",;") for name in names)


def parse_id_list(text: str) -> tuple[str, ...]:
    """Read ids separated by commas, or from a file with one on each line that is named as ``@FILE``.

    Raises `ValueError`.
    """
    if not text.strip().startswith("@"):
        return parse_name_list(text)
    file = text.strip()[1:]
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        raise ValueError(f"the file “{file}” cannot be read as text") from None
    ids = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not ids:
        raise ValueError(f"the file “{file}” has no ids")
    if _is_table(ids):
        raise ValueError(f"the file “{file}” is a table; write one id on each line and nothing else")
    return ids


def _is_table(lines: Sequence[str]) -> bool:
    """Tell whether most lines have several fields, as in a record file that was named by mistake."""
    return any(2 * sum(delimiter in line for line in lines) > len(lines) for delimiter in ",;\t|")


def parse_pair(text: str, form: str = "OLD=NEW") -> tuple[str, str]:
    """Split OLD=NEW into both parts; the first may stand in double quotes. Raises `ValueError`."""
    first, *rest = split_quoted(text, "=")
    if not first or not rest or not "=".join(rest):
        raise ValueError(f"“{text}” is not understood; write it as {form}")
    return unquote_name(first), text[len(first) + 1 :]


def format_pairs(pairs: Mapping[str, str]) -> list[str]:
    """Format pairs so that `parse_pair` reads each."""
    return [f"{quote_name(first, '=')}={second}" for first, second in pairs.items()]


def parse_column_text(text: str) -> tuple[str, str]:
    """Split COLUMN=TEXT. Raises `ValueError`."""
    return parse_pair(text, "COLUMN=TEXT")


def parse_column_values(text: str) -> tuple[str, tuple[str, ...]]:
    """Split COLUMN=VALUE,VALUE into the column and its values. Raises `ValueError`."""
    column, values = parse_pair(text, "COLUMN=VALUE")
    return column, parse_name_list(values)


def format_column_values(values: Mapping[str, Sequence[str]]) -> list[str]:
    """Format values by column so that `parse_column_values` reads each."""
    return [
        f"{quote_name(column, '=')}={format_names(listed)}"
        for column, listed in values.items()
        if listed
    ]


def parse_column_criterion(text: str) -> Criterion:
    """Read a criterion such as ``share:50``, or ``COLUMN=share:50`` for one column. Raises `ValueError`."""
    column, *rest = split_quoted(text, "=")
    if not rest:
        return parse_criterion(text)
    return parse_criterion(text[len(column) + 1 :]).of(unquote_name(column))


def format_criteria(criteria: Iterable[Criterion]) -> list[str]:
    """Format criteria so that `parse_column_criterion` reads each."""
    return [
        (f"{quote_name(criterion.column, '=')}=" if criterion.column else "") + criterion.text
        for criterion in criteria
    ]


def parse_delimiter(text: str) -> str:
    """Return a delimiter, given by itself or by its name."""
    return _DELIMITERS.get(text.lower(), text)


def format_delimiter(delimiter: str) -> str:
    """Return the name of a delimiter if it has one: a bare tab is easily lost."""
    return DELIMITER_NAMES.get(delimiter, delimiter)


def parse_secret(text: str) -> str:
    """Read hexadecimal digits, or the file that holds them and is named as ``@FILE``. Raises `ValueError`."""
    if not text.strip().startswith("@"):
        return check_secret(text)
    file = text.strip()[1:]
    try:
        with open(file, encoding="utf-8-sig") as stream:
            return check_secret(stream.read(4 * _SECRET_DIGITS))
    except (OSError, ValueError):
        raise ValueError(
            f"the file “{file}” does not hold up to {_SECRET_DIGITS} hexadecimal digits"
        ) from None


def check_secret(text: str) -> str:
    """Return hexadecimal digits in lower case. Raises `ValueError`, which never quotes them, if there are others."""
    digits = text.strip().lower()
    if not digits or len(digits) > _SECRET_DIGITS or digits.strip("0123456789abcdef"):
        raise ValueError(f"write up to {_SECRET_DIGITS} hexadecimal digits (0 to 9, a to f)")
    return digits


def as_tuple(value: Any) -> Any:
    """Turn a list into a tuple; leave anything else for pydantic to judge."""
    return tuple(value) if isinstance(value, list) else value


def _is_list_of_items(value: Any, item: type) -> bool:
    """Tell whether a value is a list of items or of texts that are read as items."""
    return isinstance(value, list | tuple) and all(isinstance(part, (str, item)) for part in value)


def _as_pairs(value: Any) -> Any:
    """Turn a list of pairs, or of texts with pairs, into a mapping."""
    if not _is_list_of_items(value, tuple):
        return value
    return dict(parse_pair(item) if isinstance(item, str) else item for item in value)


def _as_values_by_column(value: Any) -> Any:
    """Turn a list of columns with values into a mapping; a column that is there twice has the values of both."""
    if isinstance(value, Mapping):
        return {column: as_tuple(values) for column, values in value.items()}
    if not _is_list_of_items(value, tuple):
        return value
    merged: dict[str, tuple[str, ...]] = {}
    for item in value:
        column, values = parse_column_values(item) if isinstance(item, str) else item
        merged[column] = tuple(dict.fromkeys((*merged.get(column, ()), *values)))
    return merged


def _as_criteria(value: Any) -> Any:
    if not _is_list_of_items(value, Criterion):
        return value
    return tuple(
        dict.fromkeys(parse_column_criterion(item) if isinstance(item, str) else item for item in value)
    )


def _as_one(format: Callable[[Any], str]) -> Callable[[Any], list[str]]:
    """Make the `TextForm.format` of a value that is typed as one text."""
    return lambda value: [format(value)]


TEXT = TextForm("NAME", str, _as_one(str))
INTEGER = TextForm("N", parse_integer, _as_one(str))
NUMBER = TextForm("X", parse_number, _as_one(format_number))
SWITCH = TextForm("yes|no", parse_switch, _as_one(format_switch))
NAMES = TextForm("A,B", parse_name_list, _as_one(format_names))

_names = BeforeValidator(as_tuple)
NameList = Annotated[tuple[str, ...], _names, NAMES]
"""Names; on the command line with commas."""

IdList = Annotated[
    tuple[str, ...], _names, TextForm("ID,ID|@FILE", parse_id_list, _as_one(format_names))
]
"""Ids; on the command line with commas, or the name of a file, which is read when it is named."""

TextList = Annotated[tuple[str, ...], _names, TextForm("TEXT", str, list, is_repeated=True)]
"""Any number of texts; on the command line each by itself."""

RenameMap = Annotated[
    Mapping[str, str],
    BeforeValidator(_as_pairs),
    TextForm("OLD=NEW", parse_pair, format_pairs, is_repeated=True),
]
"""New names by the old ones; on the command line OLD=NEW, repeated."""

TextByColumn = Annotated[
    Mapping[str, str],
    BeforeValidator(_as_pairs),
    TextForm("COLUMN=TEXT", parse_column_text, format_pairs, is_repeated=True),
]
"""Words on columns; on the command line COLUMN=TEXT, repeated."""

ValuesByColumn = Annotated[
    Mapping[str, tuple[str, ...]],
    BeforeValidator(_as_values_by_column),
    TextForm(
        "COLUMN=VALUE,…", parse_column_values, format_column_values, is_repeated=True, separator="; "
    ),
]
"""Values by column; on the command line COLUMN=VALUE,VALUE, repeated."""

CriterionList = Annotated[
    tuple[InstanceOf[Criterion], ...],
    BeforeValidator(_as_criteria),
    PlainSerializer(format_criteria),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
    TextForm(
        "[COLUMN=]CRITERION", parse_column_criterion, format_criteria, is_repeated=True, separator="; "
    ),
]
"""Criteria for sensitive values; on the command line and in JSON as text, such as ``share:50``."""

Delimiter = Annotated[
    str,
    BeforeValidator(lambda value: parse_delimiter(value) if isinstance(value, str) else value),
    TextForm("CHAR", parse_delimiter, _as_one(format_delimiter)),
]
"""One character, which may be given by its name."""

Secret = Annotated[
    str,
    BeforeValidator(lambda value: check_secret(value) if isinstance(value, str) else value),
    TextForm("HEX|@FILE", parse_secret, _as_one(str)),
]
"""Hexadecimal digits; on the command line also a file that holds them, so that they stay out of command histories."""


def parse_names(text: str) -> tuple[str, ...]:
    """Read the names between commas; where nothing stands there is none."""
    return tuple(name for name in parse_list(text) if name)


def parse_pairs(
    parts: Iterable[str], read: Callable[[str], T], message: str, remedy: str, code: str = "form"
) -> dict[str, T]:
    """Read NAME=VALUE of each part. Raises `InputError` with the message, in which “{}” becomes the part."""
    values = {}
    for part in parts:
        name, _, text = (piece.strip() for piece in part.partition("="))
        try:
            if not name or not text:
                raise ValueError
            values[name] = read(text)
        except ValueError:
            raise InputError(Finding(code, message.format(part), remedy)) from None
    return values


def parse_numbers(text: str) -> list[float]:
    """Read the numbers between slashes."""
    return [float(number) for number in text.split("/")]


def parse_orders(parts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read orders of values by column: ``COLUMN``, or ``COLUMN=first/second/third``."""
    orders: dict[str, tuple[str, ...]] = {}
    for part in parts:
        name, _, values = part.partition("=")
        orders[name.strip()] = (
            tuple(value.strip() for value in values.split("/")) if values.strip() else ()
        )
    return orders


def parse_name_lists(text: str) -> list[list[str]]:
    """Read lists of names separated by semicolons: ``age,sex;age,income``."""
    return [list(parse_name_list(part)) for part in split_quoted(text, ";")]

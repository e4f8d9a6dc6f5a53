"""Format and parse short texts: numbers with nouns, durations, lists of names, CSV, spreadsheet formulas."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence

MISSING = "(missing)"
"""The category of empty fields as it is shown. In `Categories` it is the empty string."""

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}


def format_count(number: int, singular: str, plural: str | None = None) -> str:
    """Format a number with its noun: "1 record", "2,433,221 records"; ``plural`` where the noun is irregular."""
    return f"{number:,} {inflect(number, singular, plural or _plural(singular))}"


def inflect(number: int, singular: str, plural: str) -> str:
    """Choose the word that agrees with a number: "is" or "are"."""
    return singular if number == 1 else plural


def _plural(noun: str) -> str:
    if noun.endswith("person"):
        return noun.removesuffix("person") + "people"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith("s") else "s")


def capitalise(text: str) -> str:
    """Begin a line with a capital; the name of a file stays as it is."""
    first = text.partition(" ")[0].rstrip(":")
    return text if "." in first or "_" in first else text[:1].upper() + text[1:]


def format_share(part: int, whole: int) -> str:
    """Format a share in percent that is never rounded up to all or down to nothing."""
    if whole == 0 or part in (0, whole):
        return "100 %" if part else "0 %"
    percent = 100 * part / whole
    return (
        f"{min(max(percent, 0.01), 99.99):.2f} %" if percent > 99 or percent < 1 else f"{percent:.1f} %"
    )


def format_within_limit(value: float, text: str, limit: float, is_within: bool) -> str:
    """Return the text of a rounded value, or another one if rounding contradicts a limit.

    value, limit: in the same unit. is_within: whether the exact value keeps to the limit.
    """
    rounded = float(text.replace(",", ""))
    if not is_within:
        return text if rounded > limit else f"> {limit:g}"
    if rounded < limit or (rounded == limit and value >= limit):
        return text
    return f"< {limit:g}" if value < limit else f"{limit:g}"


_BLANKS = (
    r'[ \t\r\n\v\f"\u0085\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff]*'
)
"""Blanks of all kinds, also those that nobody sees: programs may leave them out before they look at a cell."""
_RUNS = re.compile(rf"[\t\r]|{_BLANKS}[=@＝＠]")
_SIGNED = re.compile(rf"{_BLANKS}[+\-＋－]")
_NUMBER = re.compile(rf"{_BLANKS}[+\-＋－][ .,]*[0-9][0-9 .,]*\Z")


def quote_name(name: str, marks: str = ",") -> str:
    """Quote a name if it has one of the marks, a double quote, or blanks around it."""
    special = any(mark in name for mark in f'{marks}"\r\n') or name != name.strip()
    return '"' + name.replace('"', '""') + '"' if special else name


def unquote_name(part: str) -> str:
    """Remove the quotes that `quote_name` wrote."""
    return part[1:-1].replace('""', '"') if len(part) > 1 and part[0] == part[-1] == '"' else part


def split_quoted(text: str, mark: str) -> list[str]:
    """Split a text at a mark, but not within double quotes; a quote counts where a name begins."""
    parts = [""]
    inside = False
    begins = True
    position = 0
    while position < len(text):
        letter = text[position]
        if letter == '"' and inside and text[position + 1 : position + 2] == '"':
            letter = '""'
            position += 1
        elif letter == '"' and (inside or begins):
            inside = not inside
        if letter == mark and not inside:
            parts.append("")
        else:
            parts[-1] += letter
        begins = not inside and (letter in (mark, ",") or (begins and letter.isspace()))
        position += 1
    return parts


def parse_list(text: str) -> list[str]:
    """Split a text into the names between commas; an empty text between two commas is an empty name."""
    return [unquote_name(part.strip()) for part in split_quoted(text, ",")]


def escape_formulas(row: Iterable[object]) -> list[object]:
    """Escape the formulas in a row of a table; numbers stay as they are."""
    return [escape_formula(cell) if isinstance(cell, str) else cell for cell in row]


def count_formulas(texts: Iterable[str]) -> int:
    """Count the texts that a spreadsheet might run."""
    return sum(escape_formula(text) != text for text in texts)


def describe_formulas(count: int, singular: str, plural: str | None = None) -> str:
    """Describe in a sentence how many texts a spreadsheet might run."""
    return f"{format_count(count, singular, plural)} {inflect(count, 'starts', 'start')} like a formula (= + - @)."


def escape_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet might run; plain signed numbers stay as they are."""
    runs = _RUNS.match(text) or (_SIGNED.match(text) and not _NUMBER.match(text))
    return f"'{text}" if runs else text


LONGEST_NAME = 80
"""Longer names are cut in messages."""

LISTED_NAMES = 20
"""Number of names that a message lists."""

NO_NAMES = "Line 1 looks like a record, not like names: put the names of the columns above it."

NOT_UTF8 = "“{name}” is not valid UTF-8. Rename the file or folder, and write the name in UTF-8."

_UNSHOWN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Control and bidirectional characters, invisible ones, and halves of characters. A terminal obeys some of them, others
reorder the text around them or make two names look alike. The joiners U+200C and U+200D belong to several scripts.
"""

_QUOTED = re.compile(r"“([^“”]*)”")
_VALUE = re.compile(r"\s*[+\-]?[0-9][0-9\s.,:/\-T]*\s*")
"""Numbers, dates, times and codes of digits: they begin records, hardly ever columns."""


def is_valid_text(name: str) -> bool:
    """Tell whether a name can be written as UTF-8: names of files need not be."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def escape_controls(name: str) -> str:
    """Write control, bidirectional and invisible characters of a name as escapes, such as ``\\u001b`` or ``\\n``.

    The escapes are those of JSON: a JSON text says the same afterwards.
    """
    return _UNSHOWN.sub(lambda match: json.dumps(match[0])[1:-1], name)


def escape_lines(text: str) -> str:
    """Escape the controls of a text of several lines, which keeps its line breaks and tabs."""
    return _UNSHOWN.sub(
        lambda match: match[0] if match[0] in "\n\t" else escape_controls(match[0]), text
    )


def shorten(name: str) -> str:
    """Cut a long name for a message, and escape what a terminal would run instead of showing."""
    escaped = escape_controls(name[: LONGEST_NAME + 1])
    return escaped if len(escaped) <= LONGEST_NAME else f"{escaped[: LONGEST_NAME - 1]}…"


def shorten_quotes(text: str) -> str:
    """Cut the long names that a message has in quotation marks."""
    return _QUOTED.sub(lambda match: f"“{shorten(match[1])}”", text)


def may_be_record(header: Sequence[str]) -> bool:
    """Tell whether line 1 may hold values instead of names: numbers, dates, nothing, or the same text twice."""
    return len(set(header)) < len(header) or any(
        not name.strip() or _VALUE.fullmatch(name) for name in header
    )


def list_names(names: Sequence[str]) -> str:
    """List the columns of a file in a sentence."""
    listed = ", ".join(f"“{shorten(name)}”" for name in names[:LISTED_NAMES])
    return f"The columns are {listed}{' …' if len(names) > LISTED_NAMES else ''}."


def list_first_line(header: Sequence[str]) -> str:
    """List the columns of a file in a sentence, or say that line 1 looks like a record."""
    if not header:
        return "The file has no columns."
    return NO_NAMES if may_be_record(header) else list_names(header)


def format_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format rows as CSV under these names; None is an empty field, formulas of spreadsheets are escaped."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(map(escape_formulas, [columns, *rows]))
    return buffer.getvalue()


_UNITS = ((1, "second", 90), (60, "minute", 5400), (3600, "hour", math.inf))
"""Seconds in the unit, its name, and the number of seconds from which on the next unit is used."""


def format_duration_range(low: float, high: float) -> str:
    """Format a range of seconds in one unit, rounded outwards: “20 to 60 seconds”."""
    seconds, unit = next((size, name) for size, name, most in _UNITS if high < most)
    least = max(1, math.floor(low / seconds))
    most = max(1, math.ceil(high / seconds))
    return format_count(most, unit) if least == most else f"{least:,} to {format_count(most, unit)}"


def format_duration(seconds: float) -> str:
    """Format seconds in seconds, minutes or hours, rounded as estimates deserve."""
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return format_count(round(seconds), "second")
    return (
        format_count(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:,.1f} hours"
    )

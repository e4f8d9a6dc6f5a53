"""Names in one line of text (one with a mark in it stands in double quotes, as in a CSV file), and texts that a
spreadsheet program might run instead of showing them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .words import agreeing, counted

_BLANKS = r'[ \t\r\n\v\f"\u0085\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff]*'
"""Blanks of all kinds, also those that nobody sees: programs may leave them out before they look at a cell."""
_RUNS = re.compile(rf"[\t\r]|{_BLANKS}[=@＝＠]")
_SIGNED = re.compile(rf"{_BLANKS}[+\-＋－]")
_NUMBER = re.compile(rf"{_BLANKS}[+\-＋－][ .,]*[0-9][0-9 .,]*\Z")


def quoted(name: str, marks: str = ",") -> str:
    """The name, in double quotes if it has one of the marks, a quote, or blanks around it."""
    special = any(mark in name for mark in f'{marks}"\r\n') or name != name.strip()
    return '"' + name.replace('"', '""') + '"' if special else name


def unquoted(part: str) -> str:
    """The name again."""
    return part[1:-1].replace('""', '"') if len(part) > 1 and part[0] == part[-1] == '"' else part


def parts_of(text: str, mark: str) -> list[str]:
    """The text cut at a mark, but not within double quotes; a quote counts where a name begins."""
    parts, inside, begins, place = [""], False, True, 0
    while place < len(text):
        letter = text[place]
        if letter == '"' and inside and text[place + 1 : place + 2] == '"':
            letter, place = '""', place + 1
        elif letter == '"' and (inside or begins):
            inside = not inside
        if letter == mark and not inside:
            parts.append("")
        else:
            parts[-1] += letter
        begins = not inside and (letter in (mark, ",") or (begins and letter.isspace()))
        place += 1
    return parts


def listed(text: str) -> list[str]:
    """The names between commas; where nothing stands there is an empty one."""
    return [unquoted(part.strip()) for part in parts_of(text, ",")]


def defuse_row(row: Iterable[object]) -> list[object]:
    """Defuse the texts of a row of a table; numbers stay as they are."""
    return [defused(cell) if isinstance(cell, str) else cell for cell in row]


def count_formulas(texts: Iterable[str]) -> int:
    """Count the texts that a spreadsheet might run."""
    return sum(defused(text) != text for text in texts)


def formulas_in_words(count: int, singular: str, plural: str | None = None) -> str:
    """Say how many of something a spreadsheet might run."""
    return f"{counted(count, singular, plural)} {agreeing(count, 'starts', 'start')} like a formula (= + - @)."


def defused(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet might run it; plain signed numbers stay as they are."""
    runs = _RUNS.match(text) or (_SIGNED.match(text) and not _NUMBER.match(text))
    return f"'{text}" if runs else text

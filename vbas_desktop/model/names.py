"""Names of columns in messages: cut where they are long, and left out where line 1 may be a record instead of names."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

LONGEST_NAME = 80
"""Longer names are cut in messages."""

LISTED_NAMES = 20
"""How many names a message lists."""

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
    """Do the same for a text of several lines, which keeps its line breaks and tabs."""
    return _UNSHOWN.sub(lambda match: match[0] if match[0] in "\n\t" else escape_controls(match[0]), text)


def shorten(name: str) -> str:
    """Cut a long name for a message, and escape what a terminal would run instead of showing."""
    shown = escape_controls(name[: LONGEST_NAME + 1])
    return shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"


def shorten_quotes(text: str) -> str:
    """Cut the long names that a message has in quotation marks."""
    return _QUOTED.sub(lambda match: f"“{shorten(match[1])}”", text)


def may_be_record(header: Sequence[str]) -> bool:
    """Tell whether line 1 may hold values instead of names: numbers, dates, nothing, or the same text twice."""
    return len(set(header)) < len(header) or any(not name.strip() or _VALUE.fullmatch(name) for name in header)


def list_names(names: Sequence[str]) -> str:
    """List the columns of a file in a sentence."""
    listed = ", ".join(f"“{shorten(name)}”" for name in names[:LISTED_NAMES])
    return f"The columns are {listed}{' …' if len(names) > LISTED_NAMES else ''}."


def list_first_line(header: Sequence[str]) -> str:
    """List the columns of a file in a sentence, or say that line 1 looks like a record."""
    if not header:
        return "The file has no columns."
    return NO_NAMES if may_be_record(header) else list_names(header)

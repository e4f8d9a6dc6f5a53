"""Texts that a spreadsheet program might run instead of showing them."""

from __future__ import annotations

import re

_BLANKS = r'[ \t\r\n\v\f"\u0085\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff]*'
"""Blanks of all kinds, also those that nobody sees: programs may leave them out before they look at a cell."""
_RUNS = re.compile(rf"[\t\r]|{_BLANKS}[=@＝＠]")
_SIGNED = re.compile(rf"{_BLANKS}[+\-＋－]")
_NUMBER = re.compile(rf"{_BLANKS}[+\-＋－][ .,]*[0-9][0-9 .,]*\Z")


def defused(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet might run it; plain signed numbers stay as they are."""
    runs = _RUNS.match(text) or (_SIGNED.match(text) and not _NUMBER.match(text))
    return f"'{text}" if runs else text

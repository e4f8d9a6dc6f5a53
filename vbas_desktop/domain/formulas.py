"""Texts that a spreadsheet program might run instead of showing them."""

from __future__ import annotations

import re

_BLANKS = r'[ \t\r\n"]*'
_RUNS = re.compile(rf"[\t\r]|{_BLANKS}[=@＝＠]")
_SIGNED = re.compile(rf"{_BLANKS}[+\-＋－]")
_NUMBER = re.compile(rf"{_BLANKS}[+\-＋－][ .,]*[0-9][0-9 .,]*\Z")


def defused(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet might run it; plain signed numbers stay as they are."""
    runs = _RUNS.match(text) or (_SIGNED.match(text) and not _NUMBER.match(text))
    return f"'{text}" if runs else text

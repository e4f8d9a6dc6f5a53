"""Escape texts that a spreadsheet might run, for the verification. Shares no code with the writer."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

_LEAD = (
    r'^(?:[ \t\r\n\x0B\x0C"]|\xC2[\x85\xA0\xAD]|\xE1\x9A\x80|\xE1\xA0\x8E|'
    r"\xE2\x80[\x80-\x8F\xA8-\xAF]|\xE2\x81[\x9F-\xA9]|\xE3\x80\x80|\xEF\xBB\xBF)*"
)
"""Blanks, line breaks and quotes, and what else nobody sees, in UTF-8."""
_RUN = rf"^[\t\r]|{_LEAD}(?:[=@]|\xEF\xBC\x9D|\xEF\xBC\xA0)"
_SIGN = r"(?:[+-]|\xEF\xBC\x8B|\xEF\xBC\x8D)"
_SIGNED = rf"{_LEAD}{_SIGN}"
_NUMBER = rf"{_LEAD}{_SIGN}[ .,]*[0-9][0-9 .,]*$"


def escape_formulas(texts: Sequence[str]) -> list[str]:
    """Put an apostrophe before every text that a spreadsheet might run; plain signed numbers stay as they are."""
    values = pa.array([text.encode("utf-8", "surrogateescape") for text in texts], pa.binary())
    runs = pc.match_substring_regex(values, _RUN)
    signed = pc.and_not(
        pc.match_substring_regex(values, _SIGNED), pc.match_substring_regex(values, _NUMBER)
    )
    is_formula = pc.or_(runs, signed).to_pylist()
    return [f"'{text}" if escape else text for text, escape in zip(texts, is_formula, strict=True)]

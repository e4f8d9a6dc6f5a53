"""Rows of texts as lines of a CSV file, each text always in the same form, wherever it came from."""

from __future__ import annotations

import re
from collections.abc import Sequence


class CsvLines:
    """Turns rows into lines. A field is quoted only where a reader needs it: delimiter, quote, line break, return."""

    def __init__(self, delimiter: str = ",") -> None:
        self._delimiter = delimiter
        self._special = re.compile(f'["\r\n{re.escape(delimiter)}]')

    def line(self, row: Sequence[str]) -> str:
        """One row with its line end."""
        if len(row) == 1 and not row[0]:
            # An empty line would be no row at all.
            return '""\n'
        special = self._special.search
        fields = (f'"{text.replace(chr(34), chr(34) * 2)}"' if special(text) else text for text in row)
        return self._delimiter.join(fields) + "\n"

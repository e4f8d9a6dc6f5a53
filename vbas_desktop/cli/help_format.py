"""How help is laid out: paragraphs and examples fit the terminal, and examples can still be copied."""

from __future__ import annotations

import argparse
import re
import textwrap

_NARROWEST = 40


class HelpFormatter(argparse.HelpFormatter):
    """Fills descriptions paragraph by paragraph; lines of examples stay, the long ones go on after a backslash."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if re.match(r"Examples?:\n", text):
            return "\n".join(part for line in text.splitlines() for part in folded(line, max(width, _NARROWEST)))
        return "\n\n".join(super(HelpFormatter, self)._fill_text(part, width, indent) for part in text.split("\n\n"))


def folded(line: str, width: int) -> list[str]:
    """A line of a shell example, broken between its words; what follows is indented further."""
    goes_on = line.endswith("\\")
    # An option and its value stay together.
    together = re.sub(r"(?<=\s)(--?[\w-]+) (?=[^\s-])", "\\1\0", line.removesuffix("\\").rstrip())
    lines = textwrap.wrap(
        together,
        width - 2,
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if not lines:
        return [line]
    lines = [part.replace("\0", " ") for part in lines]
    return [f"{part} \\" for part in lines[:-1]] + [lines[-1] + (" \\" if goes_on else "")]

"""Output: results to stdout, everything else to stderr; a bar on a terminal, plain lines otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO

from vbas_desktop.app.text_progress import TextProgress as TerminalProgress
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.text import escape_lines, shorten_quotes

__all__ = [
    "OutputError",
    "TerminalProgress",
    "discard_output",
    "flush_output",
    "open_closed_streams",
    "print_findings",
    "say",
    "show",
]


def say(text: str) -> None:
    """Print one line for the person on stderr; long names are cut. If nobody reads it, the work goes on."""
    with suppress(OSError):
        print(escape_lines(shorten_quotes(text)), file=sys.stderr, flush=True)


class OutputError(Exception):
    """Raised when results cannot be printed, for example because the disk behind stdout is full."""


def print_findings(findings: Iterable[Finding], hints: bool = False) -> None:
    """Print each finding once, on stderr; hints only with ``hints``."""
    for finding in dict.fromkeys(findings):
        if hints or finding.severity is not Severity.HINT:
            say(f"{finding.severity}: {finding}")


def show(text: str) -> None:
    """Print results on stdout; names in it are shown without what a terminal would obey."""
    try:
        print(escape_lines(text), flush=True)
    except BrokenPipeError:
        # Whoever reads the output has seen enough (`vbas approaches | head`).
        discard_output()
    except OSError as error:
        raise OutputError(error.strerror or "unknown reason") from None


def discard_output(stream: TextIO | None = None) -> None:
    """Let everything that is still printed to a stream (stdout) go nowhere; Python does not complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, (stream or sys.stdout).fileno())
    os.close(nowhere)


def flush_output() -> None:
    """Hand over all that was printed. If nobody reads it any more, the exit code stays what it is."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard_output(stream)


def open_closed_streams() -> None:
    """Open what the shell closed (`>&-`): the next file would get its number, and be written to by mistake."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is the one that was closed.
            os.open(os.devnull, os.O_RDWR)
            setattr(
                sys,
                name,
                os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False),
            )

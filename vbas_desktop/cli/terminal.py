"""Output: results to stdout, everything else to stderr; a bar on a terminal, plain lines otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress

from vbas_desktop.jobs.text_progress import TextProgress as TerminalProgress
from vbas_desktop.model.errors import Finding, Severity
from vbas_desktop.model.names import escape_lines, shorten_quotes

__all__ = ["OutputError", "TerminalProgress", "discard_output", "say", "say_findings", "show"]


def say(text: str) -> None:
    """Print one line for the person on stderr; long names are cut. If nobody reads it, the work goes on."""
    with suppress(OSError):
        print(escape_lines(shorten_quotes(text)), file=sys.stderr, flush=True)


class OutputError(Exception):
    """What was to be shown cannot be: whoever takes the output has no room for it."""


def say_findings(findings: Iterable[Finding], hints: bool = False) -> None:
    """Each finding once; hints only if they are wanted."""
    for finding in dict.fromkeys(findings):
        if hints or finding.severity is not Severity.HINT:
            say(f"{finding.severity}: {finding}")


def show(text: str) -> None:
    """One line of result, on stdout; names in it are shown without what a terminal would obey."""
    try:
        print(escape_lines(text), flush=True)
    except BrokenPipeError:
        # Whoever reads the output has seen enough (`vbas approaches | head`).
        discard_output()
    except OSError as error:
        raise OutputError(error.strerror or "unknown reason") from None


def discard_output() -> None:
    """Let everything that is still printed go nowhere; Python must not complain of it when it ends, either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)

"""Output: results to stdout, everything else to stderr; a bar on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable
from typing import TextIO

from vbas_desktop.domain.errors import Finding, Severity


def say(text: str) -> None:
    """One line for the person, on stderr."""
    print(text, file=sys.stderr, flush=True)


class OutputError(Exception):
    """What was to be shown cannot be: whoever takes the output has no room for it."""


def say_findings(findings: Iterable[Finding], hints: bool = False) -> None:
    """Each finding once; hints only if they are wanted."""
    for finding in dict.fromkeys(findings):
        if hints or finding.severity is not Severity.HINT:
            say(f"{finding.severity}: {finding}")


def show(text: str) -> None:
    """One line of result, on stdout."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or "unknown reason") from None


class TerminalProgress:
    """A bar that redraws itself on a terminal; otherwise each stage as a line, once; nothing when quiet."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._quiet, self._stream = quiet, stream or sys.stderr
        self._bar = self._stream.isatty()
        self._stage, self._drawn = "", 0.0
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Show the stage and how much of it is done."""
        if self._quiet:
            return
        with self._lock:
            now = time.monotonic()
            if not self._bar:
                # Parallel work alternates between stages, and details after a colon change all the time: a log needs
                # neither.
                name = stage.partition(":")[0]
                if name not in self._told:
                    self._told.add(name)
                    print(name, file=self._stream, flush=True)
            elif stage != self._stage or now - self._drawn > 0.1:
                done = "" if fraction is None else f" {'█' * int(24 * fraction):<24} {fraction:4.0%}"
                print(f"\r\x1b[K{stage}{done}", end="", file=self._stream, flush=True)
                self._drawn = now
            self._stage = stage

    def close(self) -> None:
        """Leave the terminal on a fresh line."""
        if self._bar and self._stage and not self._quiet:
            print("\r\x1b[K", end="", file=self._stream, flush=True)

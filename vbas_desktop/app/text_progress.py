"""Progress as text: a bar on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TextIO

from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.text import escape_controls


class TextProgress:
    """A bar that redraws itself on a terminal; otherwise each stage as a line, once; nothing when quiet."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._quiet = quiet
        self._stream = stream or sys.stderr
        self._bar = self._stream.isatty()
        self._stage = ""
        self._drawn = 0.0
        self._shown_stages: set[str] = set()
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
                if name not in self._shown_stages:
                    self._shown_stages.add(name)
                    self._write(f"{escape_controls(name)}\n")
            elif stage != self._stage or now - self._drawn > 0.1:
                done = "" if fraction is None else f" {'█' * int(24 * fraction):<24} {fraction:4.0%}"
                self._write(f"\r\x1b[K{escape_controls(stage)}{done}")
                self._drawn = now
            self._stage = stage

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the terminal on a fresh line."""
        if self._bar and self._stage and not self._quiet:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            # Nobody reads it any more; the work goes on.
            self._quiet = True


@contextmanager
def progress_from(value: Any) -> Iterator[Progress]:
    """Yield a progress: for None a bar on a terminal, for False none; a function or a `Progress` is called."""
    if callable(value):
        yield CallbackProgress(value)
        return
    if hasattr(value, "update"):
        yield value
        return
    if value is False or (value is None and not sys.stderr.isatty()):
        yield NO_PROGRESS
        return
    with TextProgress() as text:
        yield text


class CallbackProgress:
    """Calls a function with each stage and fraction."""

    def __init__(self, callback: Callable[[str, float | None], None]) -> None:
        self._callback = callback

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Call the function."""
        self._callback(stage, fraction)

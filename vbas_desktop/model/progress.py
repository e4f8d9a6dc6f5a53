"""How long work tells where it is, and how it is told to stop."""

from __future__ import annotations

import time
from typing import Protocol


class Cancelled(Exception):
    """The user stopped the work. Whoever catches it cleans up and leaves nothing half done."""


class Progress(Protocol):
    """The one thing that long work knows of its listener.

    `update` is called at least every 50 ms of work. It is cheap, may be called from several threads, and raises
    `Cancelled` when the user wants to stop.
    """

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Say what is being done and which share of it (0 to 1; None: unknown) is complete."""


class Silent:
    """Progress that nobody watches and nobody stops."""

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Do nothing."""


SILENT = Silent()
"""What work tells its progress to if nobody asked."""


class Grace:
    """Progress of what is finished quickly although the user wants to stop: it ends the work after some seconds."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Raise `Cancelled` once the time is over."""
        if time.monotonic() > self._end:
            raise Cancelled


class Span:
    """Progress of one part of a larger job: its 0…1 becomes ``start``…``end`` of the whole."""

    def __init__(self, whole: Progress, start: float, end: float) -> None:
        self._whole, self._start, self._width = whole, start, end - start

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Pass the part's progress on as progress of the whole."""
        self._whole.update(stage, None if fraction is None else self._start + self._width * fraction)


class Steady:
    """Progress that remembers how far it is, so that what happens between two steps can be told without moving it."""

    def __init__(self, whole: Progress) -> None:
        self._whole = whole
        self._fraction: float | None = None

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Pass progress on; without a fraction, with the one before."""
        if fraction is not None:
            self._fraction = fraction
        self._whole.update(stage, self._fraction)

    def aside(self) -> Progress:
        """Progress for work in between: it can be stopped, and its fractions mean nothing to the whole."""
        return _Aside(self)


class _Aside:
    def __init__(self, steady: Steady) -> None:
        self._steady = steady

    def update(self, stage: str, fraction: float | None = None) -> None:
        self._steady.update(stage)

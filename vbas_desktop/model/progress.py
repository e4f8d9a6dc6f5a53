"""Progress of long work: reports how much is done, and raises `Cancelled` when the user wants to stop."""

from __future__ import annotations

import time
from typing import Protocol


class Cancelled(Exception):
    """The user stopped the work. Whoever catches it cleans up and leaves nothing half done."""


class Progress(Protocol):
    """The listener of long work.

    `update` is called at least every 50 ms of work. It is cheap, may be called from several threads, and raises
    `Cancelled` when the user wants to stop.
    """

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Report what is being done and which share of it (0 to 1; None: unknown) is complete."""


class NullProgress:
    """Progress that nobody watches and nobody stops."""

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Do nothing."""


NO_PROGRESS = NullProgress()
"""The progress of work whose caller wants no reports."""


class DeadlineProgress:
    """Progress of what is finished quickly although the user wants to stop: it ends the work after some seconds."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Raise `Cancelled` once the time is over."""
        if time.monotonic() > self._end:
            raise Cancelled


class SubProgress:
    """Progress of one part of a larger job: its 0…1 becomes ``start``…``end`` of the whole.

    With a ``stage`` of its own the part is shown under that name, whatever is done in it.
    """

    def __init__(
        self, whole: Progress, start: float = 0.0, end: float = 1.0, stage: str | None = None
    ) -> None:
        self._whole = whole
        self._start = start
        self._width = end - start
        self._stage = stage

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Pass the part's progress on as progress of the whole."""
        own_fraction = None if fraction is None else self._start + self._width * fraction
        self._whole.update(self._stage or stage, own_fraction)


class RepeatingProgress:
    """Progress that remembers how far it is, so that work between two steps can report without moving it."""

    def __init__(self, whole: Progress) -> None:
        self._whole = whole
        self._fraction: float | None = None

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Pass progress on; if no fraction is given, repeat the last one."""
        if fraction is not None:
            self._fraction = fraction
        self._whole.update(stage, self._fraction)

    def aside(self) -> Progress:
        """Return a progress for work in between: it can be stopped, and its fractions do not move the whole."""
        return _Aside(self)


class _Aside:
    def __init__(self, steady: RepeatingProgress) -> None:
        self._steady = steady

    def update(self, stage: str, fraction: float | None = None) -> None:
        self._steady.update(stage)

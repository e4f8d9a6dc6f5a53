"""What every part of the window is handed: the state, the runner, the looks, and a few ways to talk to the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vbas_desktop.session.session import Session

from .model import SessionModel
from .theme import Theme
from .worker import JobRunner


def _nothing(*_: object) -> None:
    """For parts that are shown outside a window."""


@dataclass(frozen=True, eq=False)
class Context:
    """Handed to the map, the tabs and the pages when they are created.

    ``runner`` is for jobs that the user waits for (progress bar, Stop); ``quiet_runner`` for short ones that nobody
    watches. ``say`` puts a sentence into the status line and the log; ``show_map`` brings the map back to the front;
    ``show_tab`` brings a tab to the front by its title. ``run`` runs the choices in force and then does what it is
    handed, ``export`` asks where the release of the shown solution goes.
    """

    model: SessionModel
    runner: JobRunner
    quiet_runner: JobRunner
    theme: Theme
    say: Callable[[str], None]
    show_map: Callable[[], None]
    show_tab: Callable[[str], None]
    run: Callable[[Callable[[], None] | None], None] = _nothing
    export: Callable[[], None] = _nothing

    @property
    def session(self) -> Session:
        """The application state."""
        return self.model.session

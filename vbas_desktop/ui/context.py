"""What every part of the window is handed: the state, the runner, the looks, and a few ways to talk to the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from vbas_desktop.session.events import Event
from vbas_desktop.session.session import Session

from .theme import Theme
from .worker import JobRunner

if TYPE_CHECKING:
    from vbas_desktop.release.ledger import Entry


class SessionModel(QObject):
    """Re-emits the session's events as signals. Read and change the state through `session`.

    The signals carry nothing: a slot asks the session what is true now, so a late slot never shows an old state.
    """

    data_loaded = Signal()
    problem_counted = Signal()
    choices_changed = Signal()
    run_started = Signal()
    solution_added = Signal()
    run_finished = Signal()
    solutions_changed = Signal()
    selection_changed = Signal()
    region_chosen = Signal()
    colouring_changed = Signal()
    look_changed = Signal()
    requirement_changed = Signal()
    policy_changed = Signal()
    saved = Signal()

    def __init__(self, session: Session | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session or Session()
        self._unsubscribe = self.session.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        getattr(self, event.value).emit()

    def close(self) -> None:
        """Stop listening."""
        self._unsubscribe()


def _nothing(*_: object) -> None:
    """For parts that are shown outside a window."""


@dataclass(frozen=True, eq=False)
class Context:
    """Handed to the map, the tabs and the pages when they are created.

    ``runner`` is for jobs that the user waits for (progress bar, Stop); ``quiet_runner`` for short ones that nobody
    watches. ``say`` puts a sentence into the status line and the log; ``show_map`` brings the map back to the front;
    ``show_tab`` brings a tab to the front by its title. ``run`` runs the choices in force and then does what it is
    handed, ``export`` asks where the release of the shown solution goes. ``use_earlier`` makes the regions of a release
    in the ledger once more, or opens it so that they can be joined; ``extract`` asks for some columns of it, for an
    audience.
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
    use_earlier: Callable[[Entry, bool], None] = _nothing
    extract: Callable[[Entry, str], None] = _nothing

    @property
    def session(self) -> Session:
        """The application state."""
        return self.model.session

"""The session as a QObject: one signal for everything that can happen in it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from vbas_desktop.session.events import Event
from vbas_desktop.session.session import Session


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

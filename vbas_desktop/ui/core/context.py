"""The context of every part of the window: state, workers, theme, and a few ways to address the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ..state.app_state import AppState
from ..state.events import Event
from ..state.scenario import ResultRow
from .theme import Theme
from .worker import Worker

if TYPE_CHECKING:
    from vbas_desktop.releases.ledger import LedgerEntry


class StateSignals(QObject):
    """Re-emits the state's events as signals. Read and change the state through `state`.

    The signals carry nothing: a slot asks the state what is true now, so a late slot never shows an old state.
    """

    data_loaded = Signal()
    problem_counted = Signal()
    choices_changed = Signal()
    solution_added = Signal()
    run_finished = Signal()
    solutions_changed = Signal()
    selection_changed = Signal()
    region_chosen = Signal()
    colouring_changed = Signal()
    map_style_changed = Signal()
    requirement_changed = Signal()
    policy_changed = Signal()
    edited = Signal()
    saved = Signal()
    research_shown = Signal()
    view_changed = Signal()

    def __init__(self, state: AppState | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = state or AppState()
        self._unsubscribe = self.state.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        getattr(self, event.value).emit()

    def close(self) -> None:
        """Stop listening."""
        self._unsubscribe()


def _nothing(*_: object) -> None:
    """Do nothing: for parts that are shown outside a window."""


@dataclass(frozen=True, eq=False)
class UiContext:
    """Links every part of the window to state, workers, theme and window.

    worker: for jobs that the user waits for (progress bar, Stop). background: for short ones that nobody watches.
    show_message: put a sentence into the status line and the log.
    show_map, show_tab: bring the map, or a tab by its title, to the front.
    run: run the settings in force, then call the argument.
    run_edited: list the regions of a crosswalk as a solution that was edited from another one.
    export: ask where the release of the shown solution goes.
    use_earlier: make the regions of a release in the ledger once more, or open it so that they can be joined.
    extract: ask for some columns of a release in the ledger, for an audience.
    show_page: show the page with this title.
    open_data, open_sample: open record file and region file, or the sample data.
    """

    model: StateSignals
    worker: Worker
    background: Worker
    theme: Theme
    show_message: Callable[[str], None]
    show_map: Callable[[], None]
    show_tab: Callable[[str], None]
    run: Callable[[Callable[[], None] | None], None] = _nothing
    export: Callable[[], None] = _nothing
    run_edited: Callable[[ResultRow, Path], None] = _nothing
    use_earlier: Callable[[LedgerEntry, bool], None] = _nothing
    extract: Callable[[LedgerEntry, str], None] = _nothing
    show_page: Callable[[str], None] = _nothing
    open_data: Callable[[], None] = _nothing
    open_sample: Callable[[], None] = _nothing

    @property
    def state(self) -> AppState:
        """The application state."""
        return self.model.state

"""Projects: open, save, recover. Reading and writing happen off the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QWidget

from vbas_desktop.app.inputs import check_saved_file
from vbas_desktop.io.input_checks import is_on_other_computer
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.text import format_count

from ..core.context import UiContext
from ..core.worker import Worker
from ..dialogs.messages import ask_question, show_failure, show_information
from ..dialogs.open_data import OpenDataDialog
from ..presentation.messages import TaskFailure
from ..state.opening import OpenedProject, OpenProjectRequest, Recovery, open_project
from ..state.project import SUFFIX
from ..widgets.file_dialogs import PROJECT_FILES, ask_to_open, ask_to_save, documents_folder, is_sample
from ..widgets.layouts import with_properties
from .preferences import Preferences, data_folder

_AUTOSAVE_MS = 1500
"""How long after the last change the recovery file is written."""


def _nothing() -> None:
    """Do nothing."""


class ProjectCommands(QObject):
    """The project commands, and the recovery file behind them."""

    def __init__(self, context: UiContext, settings: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._settings = settings
        self._window = window
        self._state = context.state
        self.worker = Worker(self)
        self.recovery = Recovery(data_folder() / "recovery")
        self._autosave = with_properties(QTimer(self), singleShot=True, interval=_AUTOSAVE_MS)
        self._autosave.timeout.connect(self._on_autosave)
        for signal in (
            context.model.choices_changed,
            context.model.solutions_changed,
            context.model.run_finished,
        ):
            signal.connect(self._on_changed)

    # Opening

    @Slot()
    def open_project(self) -> None:
        """Ask for a project file."""
        recent = self._settings.recent_projects
        start = recent[0].parent if recent else None
        self.confirm_unsaved_then(
            lambda: ask_to_open(self._window, "Open project", PROJECT_FILES, start, self._on_chosen)
        )

    def _on_chosen(self, path: str) -> None:
        self.open_project_file(Path(path))

    def open_project_file(
        self, path: Path, records: Path | None = None, regions: Path | None = None
    ) -> None:
        """Open a project in the background; the two places replace files that have moved."""
        request = OpenProjectRequest(path, records, regions)
        self._context.worker.start(
            f"Opening {path.name}", partial(open_project, request), self._on_opened
        )

    def _on_opened(self, opened: OpenedProject) -> None:
        if opened.missing:
            self._ask_where(opened)
            return
        self._state.accept_project(opened)
        if opened.path.parent == self.recovery.path.parent:
            self._state.project_path = None
            self._state.modified = True
            self.recovery.discard([opened.path])
            self._context.show_message("Recovered. Save the project under a name of its own.")
        else:
            self._settings.remember_project(opened.path)
            self._context.show_message(f"Opened {opened.path.name}.")
        self._context.show_tab("Results" if opened.entries else "Input")
        self._tell_what_changed(opened)

    def _ask_where(self, opened: OpenedProject) -> None:
        names = " and ".join(path.name for path in opened.missing)
        elsewhere = any(
            is_on_other_computer(str(path), str(opened.path.absolute())) for path in opened.missing
        )
        remote = "is on another computer, which is contacted only if you choose the file"
        why = remote if elsewhere else "is no longer where it was"
        self._context.show_message(f"{names} {why}. Choose where it is now.")
        there = [
            None if Path(s.path) in opened.missing else Path(s.path)
            for s in (opened.state.records, opened.state.regions)
        ]
        dialog = with_properties(
            OpenDataDialog(self._window, *there), windowTitle=f"Where is {names} now?"
        )
        dialog.chosen.connect(partial(self.open_project_file, opened.path))
        dialog.open()

    def _tell_what_changed(self, opened: OpenedProject) -> None:
        if not opened.changed and not opened.left_out:
            return
        text = [f"{name} changed since the project was saved." for name in opened.changed]
        if opened.left_out:
            text.append(
                f"{format_count(opened.left_out, 'solution')} left out: they were made for other regions."
            )
        if opened.entries:
            text.append(
                "The results are those of the earlier files. Run again before you release anything."
            )
        show_information(self._window, "Some files have changed.", "\n".join(text))

    # Saving

    @Slot()
    def save_project(self) -> None:
        """Save under the known name, or ask for one."""
        self.save()

    @Slot()
    def save_project_as(self) -> None:
        """Ask for a name and save."""
        self._ask_name(_nothing)

    def save(self, then: Callable[[], object] = _nothing) -> None:
        """Save, asking for a name if there is none yet; ``then`` follows once it is written."""
        if self._state.project_path is None:
            self._ask_name(then)
        else:
            self.save_to(self._state.project_path, then)

    def _ask_name(self, then: Callable[[], object]) -> None:
        current = self._state.project_path
        records = self._state.records_path or Path("project.csv")
        own = documents_folder() / f"sample{SUFFIX}" if is_sample(records) else None
        suggested = current or own or records.with_name(records.name.partition(".")[0] + SUFFIX)
        ask_to_save(
            self._window,
            "Save project",
            PROJECT_FILES,
            suggested,
            lambda path: self.save_to(Path(path), then),
        )

    def save_to(self, path: Path, then: Callable[[], object] = _nothing) -> None:
        """Write a project file in the background."""
        snapshot = self._state.snapshot()
        if snapshot is None:
            return

        files = self._state.records_path, self._state.regions_path

        def on_saved(_: None) -> None:
            # Writing may have waited for a hash: other files may be open by now, or there may be more to save.
            if files == (self._state.records_path, self._state.regions_path):
                now = self._state.snapshot()
                self._state.saved_as(path, everything=now is not None and snapshot.holds_all_of(now))
            self._settings.remember_project(path)
            self._context.show_message(f"Saved {path.name}.")
            then()

        self._autosave.stop()
        self.worker.shut_down()
        inputs = {**self._state.named_inputs(), "file": None}

        def job(progress: Progress) -> None:
            check_saved_file(path, inputs)
            snapshot.write(path, progress)

        self.worker.start(f"Saving {path.name}", job, on_saved, on_failure=self._on_save_failed)

    def confirm_unsaved_then(self, then: Callable[[], object]) -> None:
        """Call what would lose unsaved work, after asking if there is any."""
        if not self._state.modified or not self._state.entries:
            then()
            return
        answers: dict[str, Callable[[], object]] = {
            "&Save": partial(self.save, then),
            "&Do not save": then,
            "Cancel": _nothing,
        }
        ask_question(
            self._window,
            "Save the project?",
            "The latest settings and results are not saved yet.",
            answers,
        )

    def _on_save_failed(self, failure: TaskFailure) -> None:
        self._context.show_message(f"{failure.title} failed.")
        show_failure(self._window, failure)

    # Recovery

    @Slot()
    def _on_changed(self) -> None:
        if self._state.has_data and self._state.modified:
            self._autosave.start()

    @Slot()
    def _on_autosave(self) -> None:
        snapshot = self._state.snapshot()
        if snapshot is None or not self._state.modified:
            return
        if self.worker.busy:
            self._autosave.start()
            return
        job = partial(self.recovery.write, snapshot)
        self.worker.start("Saving a recovery copy", job, on_failure=self._on_save_failed)

    def offer_recovery(self) -> bool:
        """Ask whether to go on with what an earlier window could not save; False if there is nothing."""
        copies = self.recovery.left_behind()
        if not copies:
            return False
        answers = {
            "&Recover": lambda: self.open_project_file(copies[0]),
            "&Discard": lambda: self.recovery.discard(copies),
            "Later": _nothing,
        }
        ask_question(
            self._window,
            "Recover the last session?",
            "The program ended before its work was saved.",
            answers,
        )
        return True

    def close(self) -> None:
        """Stop timer and thread, and remove the recovery file."""
        self._autosave.stop()
        self.worker.shut_down()
        self.recovery.remove()

"""Projects: open, save, recover. Reading and writing happen off the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QWidget

from vbas_desktop.io.access import is_elsewhere
from vbas_desktop.jobs.inputs import check_saved_file
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.words import counted
from vbas_desktop.session.opening import OpenedProject, OpenProjectOrder, Recovery
from vbas_desktop.session.project import SUFFIX
from vbas_desktop.ui.widgets.building import dress

from .context import Context
from .dialogs.messages import ask, show_failure, tell
from .dialogs.open_data import OpenDataDialog
from .settings import Settings, data_folder
from .widgets.file_dialogs import PROJECT_FILES, ask_to_open, ask_to_save, documents, is_sample
from .worker import Failure, JobRunner

_AUTOSAVE_MS = 1500
"""How long after the last change the recovery file is written."""


def _nothing() -> None:
    """What follows when nothing follows."""


class Projects(QObject):
    """The project commands, and the recovery file behind them."""

    def __init__(self, context: Context, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._settings, self._window = context, settings, window
        self._session = context.session
        self.save_runner = JobRunner(self)
        self.save_runner.job_failed.connect(self._on_save_failed)
        self.recovery = Recovery(data_folder() / "recovery")
        self._autosave = dress(QTimer(self), singleShot=True, interval=_AUTOSAVE_MS)
        self._autosave.timeout.connect(self._on_autosave)
        for signal in (context.model.choices_changed, context.model.solutions_changed, context.model.run_finished):
            signal.connect(self._on_changed)

    # Opening

    @Slot()
    def open_project(self) -> None:
        """Ask for a project file."""
        recent = self._settings.recent_projects
        start = recent[0].parent if recent else None
        self.guarded(lambda: ask_to_open(self._window, "Open project", PROJECT_FILES, start, self._on_chosen))

    def _on_chosen(self, path: str) -> None:
        self.open_project_file(Path(path))

    def open_project_file(self, path: Path, records: Path | None = None, regions: Path | None = None) -> None:
        """Open a project in the background; the two places replace files that have moved."""
        order = OpenProjectOrder(path, records, regions)
        self._context.runner.start(f"Opening {path.name}", order.execute, self._on_opened)

    def _on_opened(self, opened: OpenedProject) -> None:
        if opened.missing:
            self._ask_where(opened)
            return
        self._session.accept_project(opened)
        if opened.path.parent == self.recovery.path.parent:
            self._session.project_path, self._session.modified = None, True
            self.recovery.discard([opened.path])
            self._context.say("Recovered. Save the project under a name of its own.")
        else:
            self._settings.remember_project(opened.path)
            self._context.say(f"Opened {opened.path.name}.")
        self._context.show_tab("Results" if opened.entries else "Input")
        self._tell_what_changed(opened)

    def _ask_where(self, opened: OpenedProject) -> None:
        names = " and ".join(path.name for path in opened.missing)
        elsewhere = any(is_elsewhere(str(path), str(opened.path.absolute())) for path in opened.missing)
        why = (
            "is on another computer, which is not asked unless you say so" if elsewhere else "is no longer where it was"
        )
        self._context.say(f"{names} {why}. Say where it is now.")
        there = [
            None if Path(s.path) in opened.missing else Path(s.path)
            for s in (opened.state.records, opened.state.regions)
        ]
        dialog = dress(OpenDataDialog(self._window, *there), windowTitle=f"Where is {names} now?")
        dialog.chosen.connect(partial(self.open_project_file, opened.path))
        dialog.open()

    def _tell_what_changed(self, opened: OpenedProject) -> None:
        if not opened.changed and not opened.left_out:
            return
        text = [f"{name} changed since the project was saved." for name in opened.changed]
        if opened.left_out:
            text.append(f"{counted(opened.left_out, 'solution')} left out: made for other regions.")
        if opened.entries:
            text.append("The results are those of the earlier files. Run again before you release anything.")
        tell(self._window, "The files are not what they were.", "\n".join(text))

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
        if self._session.project_path is None:
            self._ask_name(then)
        else:
            self.save_to(self._session.project_path, then)

    def _ask_name(self, then: Callable[[], object]) -> None:
        known = self._session.project_path
        beside = self._session.records_path or Path("project.csv")
        own = documents() / f"sample{SUFFIX}" if is_sample(beside) else None
        suggested = known or own or beside.with_name(beside.name.partition(".")[0] + SUFFIX)
        ask_to_save(self._window, "Save project", PROJECT_FILES, suggested, lambda path: self.save_to(Path(path), then))

    def save_to(self, path: Path, then: Callable[[], object] = _nothing) -> None:
        """Write a project file in the background."""
        state = self._session.snapshot()
        if state is None:
            return

        files = self._session.records_path, self._session.regions_path

        def on_saved(_: None) -> None:
            # Writing may have waited for a hash: other files may be open by now, or there may be more to save.
            if files == (self._session.records_path, self._session.regions_path):
                now = self._session.snapshot()
                self._session.saved_as(path, everything=now is not None and state.holds_all_of(now))
            self._settings.remember_project(path)
            self._context.say(f"Saved {path.name}.")
            then()

        self._autosave.stop()
        self.save_runner.shut_down()
        inputs = {**self._session.named_inputs(), "file": None}

        def job(progress: Progress) -> None:
            check_saved_file(path, inputs)
            state.write(path, progress)

        self.save_runner.start(f"Saving {path.name}", job, on_saved)

    def guarded(self, then: Callable[[], object]) -> None:
        """Do something that would lose unsaved work: ask first if there is any."""
        if not self._session.modified or not self._session.entries:
            then()
            return
        answers: dict[str, Callable[[], object]] = {
            "&Save": partial(self.save, then),
            "&Do not save": then,
            "Cancel": _nothing,
        }
        ask(self._window, "Save the project?", "Its latest choices and results are not saved yet.", answers)

    @Slot(object)
    def _on_save_failed(self, failure: Failure) -> None:
        self._context.say(f"{failure.title} failed.")
        show_failure(self._window, failure)

    # Recovery

    @Slot()
    def _on_changed(self) -> None:
        if self._session.has_data and self._session.modified:
            self._autosave.start()

    @Slot()
    def _on_autosave(self) -> None:
        state = self._session.snapshot()
        if state is None or not self._session.modified:
            return
        if self.save_runner.busy:
            self._autosave.start()
            return
        self.save_runner.start("Keeping a copy", lambda progress: self.recovery.write(state, progress))

    def offer_recovery(self) -> bool:
        """Ask whether to go on with what an earlier window could not save; False if there is nothing."""
        found = self.recovery.left_behind()
        if not found:
            return False
        answers = {
            "&Recover": lambda: self.open_project_file(found[0]),
            "&Discard": lambda: self.recovery.discard(found),
            "Later": _nothing,
        }
        ask(self._window, "Recover the last session?", "The program ended before its work was saved.", answers)
        return True

    def close(self) -> None:
        """End properly: no timer, no thread, no recovery file."""
        self._autosave.stop()
        self.save_runner.shut_down()
        self.recovery.remove()

"""What the actions of a run do: start, stop, undo, redo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from vbas_desktop.app.run import RunRequest, run_configuration
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.text import format_count

from ..core.context import UiContext
from ..core.worker import JobProgress
from ..state.history import Step
from ..state.requests import RunTask
from ..state.scenario import ResultRow
from ..state.words import seconds_in_words


class RunCommands(QObject):
    """Runs the settings in force. `undo_applied(tab)`: where a step that was undone or redone can be seen."""

    undo_applied = Signal(str)

    def __init__(self, context: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._state = context.state
        context.worker.job_refused.connect(self._on_job_refused)
        context.worker.job_stopped.connect(self._on_job_stopped)

    @Slot()
    def run(self) -> None:
        """Start the chosen combination, or say why it cannot start."""
        self.run_then(None)

    def run_then(self, then: Callable[[], None] | None) -> None:
        """Show the map and run the settings in force, then call ``then``."""
        self._context.show_map()
        reason = self._state.why_not_run()
        if reason is not None:
            self._context.show_message(reason)
            self._context.show_tab("Input")
            return
        if self._context.worker.busy:
            self._on_job_refused(self._context.worker.title)
            return
        listed = self._state.listed_before(self._state.choices)
        if listed:
            self._show_listed(listed)
            return
        self._start_run(self._state.request_run(), then)

    def run_edited(self, entry: ResultRow, crosswalk: Path) -> None:
        """List the regions of a crosswalk as a solution that was edited from another one."""
        if self._context.worker.busy:
            self._on_job_refused(self._context.worker.title)
            return
        self._start_run(self._state.request_edited_run(entry, crosswalk), None)

    def _start_run(self, task: RunTask, then: Callable[[], None] | None) -> None:
        """Run the request in the worker. The run's id goes along, so that the state ignores items of an earlier run."""
        self._context.worker.start(
            f"Running {self._state.combination}",
            partial(_execute_run, task.request),
            on_result=partial(self._on_run_finished, task.run_id, then),
            on_items=partial(self._on_run_items, task.run_id),
            on_abort=partial(self._state.close_run, task.run_id),
        )

    def _on_run_items(self, run_id: int, items: Sequence[Problem | Solution]) -> None:
        """List what came since the last time in one step: ranking and drawing cost the same for one and for many."""
        for problem in (item for item in items if isinstance(item, Problem)):
            self._state.begin_counted(run_id, problem)
        added = self._state.add_solutions(run_id, [item for item in items if isinstance(item, Solution)])
        if added and self._state.selected is None:
            self._state.select(added[0].number)

    def _on_run_finished(self, run_id: int, then: Callable[[], None] | None, result: RunResult) -> None:
        self._state.finish_run(run_id, result)
        self._context.show_message(describe_finished_run(result))
        self._context.show_tab("Results")
        if then is not None:
            # The worker is free again by then.
            QTimer.singleShot(0, self, then)

    def _show_listed(self, entries: Sequence[ResultRow]) -> None:
        """Show the existing solutions: the same settings would give the same ones again."""
        self._state.select_best(entries)
        first = entries[0].number
        last = entries[-1].number
        which = f"#{first:,}" if first == last else f"#{first:,} to #{last:,}"
        self._context.show_message(
            f"These settings were run before: {which}. Change a setting, or remove them to run again."
        )
        self._context.show_tab("Results")

    @Slot()
    def stop(self) -> None:
        """Stop the job that is running."""
        if self._context.worker.busy:
            self._context.show_message("Stopping…")
            self._context.worker.stop()

    @Slot()
    def undo(self) -> None:
        """Undo the last step, and show where it can be seen."""
        self._show_step("Undone", self._state.undo())

    @Slot()
    def redo(self) -> None:
        """Redo the last step that was undone, and show where it can be seen."""
        self._show_step("Redone", self._state.redo())

    def _show_step(self, how: str, step: Step | None) -> None:
        if step is not None:
            self._context.show_message(f"{how}: {step.name}.")
            self.undo_applied.emit(step.seen_at)

    @Slot(str)
    def _on_job_stopped(self, title: str) -> None:
        self._context.show_message("Stopped. Finished results are kept.")

    @Slot(str)
    def _on_job_refused(self, title: str) -> None:
        self._context.show_message(f"Still busy: {title}. Stop it first, or wait.")


def _execute_run(request: RunRequest, progress: JobProgress) -> RunResult:
    """Run in the worker's thread: emit the counted problem, then each solution."""
    return run_configuration(request, progress, progress.emit_item, progress.emit_item).result


def describe_finished_run(result: RunResult) -> str:
    """Say how many solutions a run found, and how long it took without and with loading."""
    duration = f"{format_count(len(result.solutions), 'solution')} in {seconds_in_words(result.seconds)}"
    if result.total_seconds is None:
        return f"{duration}."
    return (
        f"{duration}; {seconds_in_words(result.total_seconds)} from start to finish, loading included."
    )

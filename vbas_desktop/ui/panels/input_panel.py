"""The input tab: files, column roles, protection, and one line on the approaches, behind which all their settings are.

Under it stand what a run would come to, counted in a thread a moment after the last change, and Run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from vbas_desktop.analysis.policy_demands import Forecast, forecast_policy
from vbas_desktop.app.policy import JudgeRequest, Outcome, judge_solution
from vbas_desktop.model.findings import Finding

from ..core.context import UiContext
from ..core.theme import GRID, with_tabular_figures
from ..core.worker import Worker
from ..presentation.messages import TaskFailure
from ..state.choices import Choices
from ..state.estimate import Estimate, estimate
from ..state.remedies import Action, Remedy, list_loss_remedies
from ..state.scenario import ResultRow
from ..widgets.fields import hint_label, message_label, set_variant
from ..widgets.layouts import VerticalScrollArea, vbox, with_properties
from ..widgets.plain_text import Label, set_tool_tip
from .columns_section import ColumnsSection
from .files_section import FilesSection
from .remedy_bar import RemedyBar
from .settings_sections import ApproachesSection, ApproachLine, ProtectionSection

_PAUSE_MS = 150
"""A spin box that is turned changes several times a second; only where it stops counts."""

_LOOKS = {Forecast.PASS: "good", Forecast.FAIL: "error", Forecast.UNKNOWN: "warning"}

_READING = "The files are being read."
"""Said in place of what is missing while it is on its way."""


class InputPanel(QWidget):
    """Shows the choices and lets them be changed. `search_requested()`: show the page Find a release."""

    search_requested = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._state = context.state
        self._estimate: Estimate | None = None
        """The forecast of the settings in force."""
        self.files = FilesSection(context)
        self.columns = ColumnsSection(context.state)
        self.privacy = ProtectionSection(context)
        self.approach = ApproachLine(context.state)
        self.approaches = ApproachesSection(context.state)
        self.approaches.hide()
        self._sections = (self.files, self.columns, self.privacy, self.approach, self.approaches)
        self.live = Label()
        self.more = hint_label()
        self.judgement = message_label()
        self._judged: tuple[object, ...] = ()
        self.reason = Label()
        self.remedies = RemedyBar()
        self.run = QPushButton("▶  R&un")
        self.estimator = Estimator(context, self)
        self._build()
        self._connect()
        self._on_data_loaded()
        self._on_choices_changed()

    def _build(self) -> None:
        body = QWidget()
        margins = (2 * GRID, GRID, 2 * GRID, GRID)
        self._column = vbox(*self._sections, 1, within=body, margins=margins, spacing=GRID)
        self._scroll = VerticalScrollArea(body)
        self.live.setFont(with_tabular_figures(self.live.font()))
        with_properties(self.live, wordWrap=True, look="live", accessibleName="What a run would come to")
        with_properties(self.reason, wordWrap=True, look="warning")
        self.run.setProperty("look", "primary")
        foot = vbox(
            self.live,
            self.more,
            self.judgement,
            self.reason,
            self.remedies,
            self.run,
            margins=margins,
            spacing=GRID // 2,
        )
        vbox((self._scroll, 1), foot, within=self, margins=0, spacing=0)

    def _connect(self) -> None:
        self.approach.toggled.connect(self._on_change_toggled)
        model = self._context.model
        worker = self._context.worker
        model.data_loaded.connect(self._on_data_loaded)
        for signal in (model.choices_changed, model.research_shown):
            signal.connect(self._on_choices_changed)
        worker.job_started.connect(self._refresh_run)
        worker.job_ended.connect(self._refresh_run)
        self.estimator.estimated.connect(self._on_estimated)
        model.problem_counted.connect(self._refresh_run)
        self.remedies.chosen.connect(self._on_remedy_chosen)
        for signal in (
            model.policy_changed,
            model.selection_changed,
            model.run_finished,
            self.privacy.policy_read,
        ):
            signal.connect(self._refresh_judgement)

    @Slot()
    def _on_data_loaded(self) -> None:
        self.files.reload()
        self.columns.reload()
        self._scroll.verticalScrollBar().setValue(0)

    @Slot(bool)
    def _on_change_toggled(self, are_shown: bool) -> None:
        """Show all settings of the approaches, and bring their beginning into sight."""
        self.approaches.setVisible(are_shown)
        if are_shown:
            QTimer.singleShot(0, self._scroll_to_approaches)

    @Slot()
    def _scroll_to_approaches(self) -> None:
        self._column.activate()
        self._scroll.verticalScrollBar().setValue(self.approach.y())

    @Slot()
    def _on_choices_changed(self) -> None:
        for section in self._sections:
            section.refresh()
        self.live.setEnabled(False)  # until the look ahead has caught up with the choices
        self._estimate = None
        self._refresh_run()
        self._refresh_judgement()

    @Slot()
    def _refresh_run(self) -> None:
        reason = self._state.why_not_run()
        reading = not self._state.has_data and self._context.worker.busy
        self.reason.setText(_READING if reading else reason or "")
        set_variant(self.reason, "muted" if reading else "warning")
        self.reason.setVisible(reason is not None)
        self.live.setVisible(reason is None)
        self.more.setVisible(reason is None and bool(self.more.text()))
        self._refresh_remedies(reason)
        self.run.setEnabled(reason is None and not self._context.worker.busy)
        set_tool_tip(self.run, reason or "Run the chosen combination (Ctrl+R)")

    def _refresh_remedies(self, reason: str | None) -> None:
        """Show the ways out of what stops a run, or of a loss that is too large whatever is done."""
        if reason is not None:
            self.remedies.show_remedies(self._state.list_remedies())
        elif self._estimate is not None:
            self.remedies.show_remedies(
                list_loss_remedies(self._state.choices, self._state.table, self._estimate)
            )
        else:
            self.remedies.show_remedies(())

    @Slot(object)
    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        if remedy.choices is not None:
            self._state.change(remedy.choices)
        elif remedy.action is Action.GROUP:
            self.columns.open_categories(remedy.name)
        elif remedy.action is Action.CHOOSE_FILE:
            self.files.unfold.setChecked(True)
            self.files.options.ask_for(remedy.name)
        elif remedy.action is Action.READ_AGAIN:
            self.files.reload_requested.emit()
        elif remedy.action is Action.SEARCH:
            self.search_requested.emit()

    @Slot(object)
    def _on_estimated(self, result: Estimate) -> None:
        self.live.setEnabled(True)
        self.live.setText(result.in_words)
        runs = dict.fromkeys(entry.run for entry in self._state.entries)
        self.more.setText(f"{result.expected(runs).in_words} {result.more_in_words}".strip())
        self._estimate = result
        self._refresh_run()
        self._refresh_judgement()

    # The policy

    @Slot()
    def _refresh_judgement(self) -> None:
        """Judge the shown solution if it was made with the settings in force; before that, forecast."""
        policy = self.privacy.policy
        self.judgement.setVisible(policy is not None and self._state.has_data)
        if policy is None:
            return
        entry = self._find_current_solution()
        if entry is None:
            self._judged = ()
            expected = None if self._estimate is None else self._estimate.expected_loss_percent
            forecast = forecast_policy(policy, self._state.choices.k, expected)
            self.judgement.setText(forecast.text)
            set_variant(self.judgement, _LOOKS[forecast.outcome])
            return
        notes = self._state.policy
        request = JudgeRequest(
            notes.policy,
            entry.problem,
            entry.solution,
            entry.run.choices.population_column,
            notes.population,
            dict(notes.notes),
        )
        judged = (policy, entry.number, entry.solution, notes)
        if judged != self._judged:
            self._judged = judged
            title = "Judging by the policy"
            self._context.background.start_latest(
                self, title, partial(judge_solution, request), partial(self._on_judged, entry.number)
            )

    def _find_current_solution(self) -> ResultRow | None:
        entry = self._state.selected
        if (
            entry is None
            or entry.problem is None
            or entry.run.outdated
            or entry.run.key != self._state.problem_key
        ):
            return None
        return (
            entry
            if self._state.why_not_run() is None and self._state.choices.same_run(entry.run.choices)
            else None
        )

    def _on_judged(self, number: int, outcome: Outcome) -> None:
        judgement = outcome.judgement
        if judgement is None:
            self.judgement.setText(" ".join(outcome.problems))
            set_variant(self.judgement, "error")
            return
        self.judgement.setText(f"#{number}: {judgement.in_words}")
        result = {True: Forecast.PASS, False: Forecast.FAIL, None: Forecast.UNKNOWN}[judgement.met]
        set_variant(self.judgement, _LOOKS[result])

    def show_findings(self, findings: Sequence[Finding], of: str = "") -> None:
        """List what is wrong or odd about the files, and bring the list into sight."""
        self.files.show_findings(findings, of)
        if findings:
            # The list gets its place first when the layout is made, which may be later than now.
            QTimer.singleShot(0, self._scroll_to_findings)

    @Slot()
    def _scroll_to_findings(self) -> None:
        self._column.activate()
        self._scroll.ensureWidgetVisible(self.files.findings, 0, GRID)

    def close_part(self) -> None:
        """Stop looking ahead: the window closes."""
        self.estimator.close()


class Estimator(QObject):
    """`estimated` brings a new estimate; if there is none, the state says why as a reason not to run."""

    estimated = Signal(object)

    def __init__(self, context: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._state = context.state
        self.worker = Worker(self)
        self._postponed = False
        self._timer = with_properties(QTimer(self), singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self._on_timeout)
        context.worker.job_started.connect(self._on_user_job_started)
        context.worker.job_ended.connect(self._on_user_job_ended)
        context.model.data_loaded.connect(self._timer.start)
        context.model.choices_changed.connect(self._timer.start)

    @Slot()
    def _on_timeout(self) -> None:
        request = self._state.request_estimate()
        if request is not None:
            on_failure = partial(self._on_failed, request.choices)
            self.worker.start_latest(
                self, "Looking ahead", partial(estimate, request), self._on_result, on_failure=on_failure
            )

    def _on_result(self, result: Estimate) -> None:
        self._state.accept_problem(result.key, result.problem)
        if result.key == self._state.problem_key:
            self.estimated.emit(result)

    def _on_failed(self, choices: Choices, failure: TaskFailure) -> None:
        self._state.refuse_problem(choices, failure.message, failure.findings)

    @Slot()
    def _on_user_job_started(self) -> None:
        """Let a run, which counts the same things, have the processor; look ahead again afterwards."""
        if self.worker.busy or self._timer.isActive():
            self._timer.stop()
            self.worker.forget(self)
            self._postponed = True

    @Slot()
    def _on_user_job_ended(self) -> None:
        if self._postponed:
            self._postponed = False
            self._timer.start()

    def close(self) -> None:
        """Stop timer and thread."""
        self._timer.stop()
        self.worker.shut_down()

"""The input tab: files, column roles, protection and approaches; under it what a run would come to, counted in a thread
a moment after the last change, and Run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QWidget

from vbas_desktop.model.errors import Finding
from vbas_desktop.session.choices import Choices
from vbas_desktop.session.estimate import Estimate, estimate
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.building import dress, in_column
from vbas_desktop.ui.widgets.fields import muted, set_look
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip
from vbas_desktop.ui.worker import Failure, JobRunner

from .approaches_section import ApproachesSection
from .columns_section import ColumnsSection
from .files_section import FilesSection
from .limits_section import LimitsSection
from .privacy_section import PrivacySection

_PAUSE_MS = 150
"""A spin box that is turned changes several times a second; only where it stops counts."""

_READING = "The files are being read."
"""Said in place of what is missing while it is on its way."""


class _UpAndDown(QScrollArea):
    """Scrolls upright only: never narrower than what it holds."""

    def minimumSizeHint(self) -> QSize:
        """As wide as the content and the scroll bar."""
        body, least = self.widget(), super().minimumSizeHint()
        wide = body.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width() if body else 0
        return QSize(max(wide, least.width()), least.height())


class InputTab(QWidget):
    """Shows the choices and lets them be changed."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._session = context, context.session
        self.files = FilesSection(context)
        self.columns = ColumnsSection(context.session)
        self.privacy = PrivacySection(context.session)
        self.limits = LimitsSection(context.session)
        self.approaches = ApproachesSection(context.session)
        self._sections = (self.files, self.columns, self.privacy, self.limits, self.approaches)
        self.live, self.more, self.reason = Label(), muted(), Label()
        self.run = QPushButton("▶  R&un")
        self.estimator = Estimator(context, self)
        self._build()
        self._connect()
        self._on_data_loaded()
        self._on_choices_changed()

    def _build(self) -> None:
        body, margins = QWidget(), (2 * GRID, GRID, 2 * GRID, GRID)
        self._column = in_column(*self._sections, 1, within=body, margins=margins, spacing=GRID)
        self._scroll = dress(_UpAndDown(), widgetResizable=True, focusPolicy=Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(body)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.live.setFont(tabular(self.live.font()))
        dress(self.live, wordWrap=True, look="live", accessibleName="What a run would come to")
        dress(self.reason, wordWrap=True, look="warning")
        self.run.setProperty("look", "primary")
        foot = in_column(self.live, self.more, self.reason, self.run, margins=margins, spacing=GRID // 2)
        in_column((self._scroll, 1), foot, within=self, margins=0, spacing=0)

    def _connect(self) -> None:
        model, runner = self._context.model, self._context.runner
        model.data_loaded.connect(self._on_data_loaded)
        model.choices_changed.connect(self._on_choices_changed)
        runner.job_started.connect(self._refresh_run)
        runner.job_ended.connect(self._refresh_run)
        self.estimator.estimated.connect(self._on_estimated)
        model.problem_counted.connect(self._refresh_run)

    @Slot()
    def _on_data_loaded(self) -> None:
        self.files.reload()
        self.columns.reload()
        self.limits.reload()

    @Slot()
    def _on_choices_changed(self) -> None:
        for section in self._sections:
            section.refresh()
        self.live.setEnabled(False)  # until the look ahead has caught up with the choices
        self._refresh_run()

    @Slot()
    def _refresh_run(self) -> None:
        reason = self._session.why_not_run()
        reading = not self._session.has_data and self._context.runner.busy
        self.reason.setText(_READING if reading else reason or "")
        set_look(self.reason, "muted" if reading else "warning")
        self.reason.setVisible(reason is not None)
        self.live.setVisible(reason is None)
        self.more.setVisible(reason is None and bool(self.more.text()))
        self.run.setEnabled(reason is None and not self._context.runner.busy)
        set_tool_tip(self.run, reason or "Run the chosen combination (Ctrl+R)")

    @Slot(object)
    def _on_estimated(self, result: Estimate) -> None:
        self.live.setEnabled(True)
        self.live.setText(result.in_words)
        runs = dict.fromkeys(entry.run for entry in self._session.entries)
        self.more.setText(f"{result.expected(runs).in_words} {result.more_in_words}".strip())
        self._refresh_run()

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
        """The window closes: stop looking ahead."""
        self.estimator.close()


class Estimator(QObject):
    """`estimated` brings a new estimate; if there is none, the session says why as a reason not to run."""

    estimated = Signal(object)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._session = context.session
        self.runner = JobRunner(self)
        self._again = self._postponed = False
        self._asked: Choices | None = None
        self._timer = dress(QTimer(self), singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self._on_timeout)
        self.runner.job_failed.connect(self._on_failed)
        self.runner.job_ended.connect(self._on_ended)
        context.runner.job_started.connect(self._on_user_job_started)
        context.runner.job_ended.connect(self._on_user_job_ended)
        context.model.data_loaded.connect(self._timer.start)
        context.model.choices_changed.connect(self._timer.start)

    @Slot()
    def _on_timeout(self) -> None:
        if self.runner.busy:
            self._again = True
            self.runner.stop()
            return
        order = self._session.order_estimate()
        if order is not None:
            self._asked = order.choices
            self.runner.start("Looking ahead", partial(estimate, order), self._on_result)

    def _on_result(self, result: Estimate) -> None:
        self._session.accept_problem(result.key, result.problem)
        if result.key == self._session.problem_key:
            self.estimated.emit(result)

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        if self._asked is not None:
            self._session.refuse_problem(self._asked, failure.message)

    @Slot()
    def _on_ended(self) -> None:
        if self._again:
            self._again = False
            self._timer.start()

    @Slot()
    def _on_user_job_started(self) -> None:
        """A run counts the same things: let it have the processor, and look ahead again afterwards."""
        if self.runner.busy or self._timer.isActive():
            self._timer.stop()
            self.runner.stop()
            self._postponed = True

    @Slot()
    def _on_user_job_ended(self) -> None:
        if self._postponed:
            self._postponed = False
            self._timer.start()

    def close(self) -> None:
        """Stop timer and thread."""
        self._timer.stop()
        self.runner.shut_down()

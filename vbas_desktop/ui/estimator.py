"""Keeps the look ahead up to date: counts in a thread, a moment after the last change."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from vbas_desktop.domain.progress import Progress
from vbas_desktop.session.choices import Choices
from vbas_desktop.session.estimate import Estimate, estimate
from vbas_desktop.session.orders import RunOrder

from .context import Context
from .worker import Failure, JobRunner

_PAUSE_MS = 150
"""A spin box that is turned changes several times a second; only where it stops counts."""


class Estimator(QObject):
    """`estimated` brings a new look ahead; why there is none the session tells as a reason not to run."""

    estimated = Signal(object)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._session = context.session
        self.runner = JobRunner(self)
        self._again = self._postponed = False
        self._asked: Choices | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
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
            self.runner.start("Looking ahead", _Job(order), self._on_result)

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


class _Job:
    """The look ahead as a job."""

    def __init__(self, order: RunOrder) -> None:
        self._order = order

    def __call__(self, progress: Progress) -> Estimate:
        """Runs in the thread."""
        return estimate(self._order, progress)

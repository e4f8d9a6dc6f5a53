"""The command Export…: asks, writes in the background, shows what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from vbas_desktop.app.handover import OCCUPIED, RECORDED, SimilarAudience
from vbas_desktop.app.ledger import RecordRequest, record_release_or_ask
from vbas_desktop.app.release import ExportRequest, ReleaseRefusal, ReleaseRequest, try_release
from vbas_desktop.engine.loss import EXCEED_HINT, LOSS
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.text import format_count
from vbas_desktop.releases.disclosure_checks import SITES_REVEALED
from vbas_desktop.releases.ledger import DIFFERENCING, LedgerEntry

from ..core.context import UiContext
from ..dialogs.messages import ask_question, ask_which_audience
from ..map.map_cache import map_cache_of
from ..panels.notices import run_in_tiers
from ..presentation.messages import EXPORTING, describe_finding
from .actions import export_blocker

if TYPE_CHECKING:
    from vbas_desktop.releases.folder import ReleaseReport

    from ..dialogs.export import ExportDialog
    from ..dialogs.handover import ExtractDialog, ReleaseDone
    from ..dialogs.release_dialog import ReleaseDialog
    from ..presentation.messages import TaskFailure


Request = ReleaseRequest | ExportRequest
WriteAgain = Callable[[Request], None]

_COLUMNS_REVEAL = "columns would reveal too much"
_REASONS = {
    RECORDED: "the ledger records the release in this folder",
    DIFFERENCING: "people would be singled out beside earlier releases",
}
"""Why nothing was exported, by the code of the first finding."""


class ReleaseCommands(QObject):
    """Owns the flow from the dialog to the written release."""

    def __init__(self, context: UiContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._window = window

    @Slot()
    def export(self) -> None:
        """Ask what to export."""
        # Imported when first needed: what writes reports takes a moment to load, and few sessions begin with it.
        from ..dialogs.export import ExportDialog

        reason = export_blocker(self._context.state)
        if reason is not None:
            self._context.show_message(reason)
            return
        scene = map_cache_of(self._context).shown
        lost_in_tiers = None if scene is None else scene.lost_in_tiers
        dialog = ExportDialog(self._context.state, self._window, lost_in_tiers, self._context.background)
        dialog.tiers_requested.connect(lambda: run_in_tiers(self._context))
        dialog.run_requested.connect(lambda: self._context.run(None))
        dialog.earlier_requested.connect(self._context.use_earlier)
        dialog.extract_requested.connect(lambda request: self._write(None, request))
        self._open(dialog)

    def extract(self, entry: LedgerEntry, audience: str) -> None:
        """Ask which columns of an earlier release are written once more."""
        from ..dialogs.handover import ExtractDialog
        from ..dialogs.release_target import find_ledger

        self._open(ExtractDialog(entry, find_ledger(self._context.state), audience, self._window))

    def _open(self, dialog: ExportDialog | ExtractDialog) -> None:
        dialog.order_made.connect(partial(self._write, dialog))
        dialog.stop_requested.connect(self._context.worker.stop)
        self._context.worker.progressed.connect(dialog.show_progress)
        dialog.target.propose_new(self._context.background)
        dialog.open()

    def _write(self, dialog: ReleaseDialog | None, request: Request) -> None:
        """Write a release in the background; the dialog that asked for it stays open meanwhile."""

        def end_writing(message: str = "") -> None:
            if dialog is not None and isValid(dialog):
                dialog.end_writing(message)

        def on_failure(failure: TaskFailure) -> None:
            end_writing(f"{failure.heading} {failure.message}")

        is_started = self._context.worker.start(
            f"{EXPORTING}{request.target.name}",
            partial(try_release, request),
            partial(self._on_done, dialog, request),
            on_abort=end_writing,
            on_failure=on_failure,
        )
        if not is_started:
            end_writing(f"Wait until this is done: {self._context.worker.title}.")

    def _on_done(
        self, dialog: ReleaseDialog | None, request: Request, result: ReleaseReport | ReleaseRefusal
    ) -> None:
        if not isinstance(result, ReleaseRefusal):
            if dialog is not None:
                dialog.close_written()
            self._on_written(request, result)
            return
        if dialog is not None:
            dialog.end_writing()
        again = partial(self._write_again, dialog)
        code = result.findings[0].code
        if result.similar is not None:
            self._ask_about_audience(request, result.similar, again)
        elif code == OCCUPIED:
            self._ask_about_replacing(request, result.findings[0], again)
        elif isinstance(request, ReleaseRequest) and code == LOSS:
            self._ask_about_loss(request, result.findings[0], again)
        elif isinstance(request, ReleaseRequest) and code == SITES_REVEALED:
            self._ask_about_sites(request, result.findings[0], again)
        else:
            self._context.show_message(f"Nothing was exported: {_REASONS.get(code, _COLUMNS_REVEAL)}.")
            if dialog is not None:
                dialog.show_refusal(result)

    def _write_again(self, dialog: ReleaseDialog | None, request: Request) -> None:
        if dialog is not None:
            dialog.begin_writing()
        self._write(dialog, request)

    def _ask_about_audience(self, request: Request, recorded: str, again: WriteAgain) -> None:
        """Ask whether a name that is nearly that of an audience in the ledger means this audience."""

        def answer(**changes: Any) -> Callable[[], None]:
            return lambda: again(replace(request, handing=request.handing.replaced(**changes)))

        self._context.show_message("Nothing was exported yet: the ledger has a similar recipient.")
        same = answer(audience=recorded)
        other = answer(new_audience=True)
        ask_which_audience(self._window, request.handing.audience or "", recorded, same, other)

    def _ask_about_replacing(self, request: Request, finding: Finding, again: WriteAgain) -> None:
        """Ask whether an earlier release is replaced, which is lost by that."""
        self._context.show_message("Nothing was exported yet: the folder holds an earlier release.")
        # The first answer is the one that Return gives: it must not lose anything.
        ask_question(
            self._window,
            finding.message,
            f"{request.target}\nIf it is replaced, what is there now is lost.",
            {
                "Choose another folder…": lambda: None,
                "Replace it": partial(again, replace(request, replaces=True)),
                "Cancel": lambda: None,
            },
        )

    def _ask_about_loss(self, request: ReleaseRequest, finding: Finding, again: WriteAgain) -> None:
        """Ask whether a release is written although it loses more than is allowed."""
        knowingly = replace(request, options=request.options.replaced(exceed_loss=True))
        message = describe_finding(replace(finding, remedy=finding.remedy.removesuffix(EXCEED_HINT)))
        self._context.show_message("Nothing was exported: more records would be lost than are allowed.")
        ask_question(
            self._window,
            "This release loses more records than are allowed.",
            message,
            {
                "Change the export…": lambda: None,
                "Export all the same": partial(again, knowingly),
                "Cancel": lambda: None,
            },
        )

    def _ask_about_sites(self, request: ReleaseRequest, finding: Finding, again: WriteAgain) -> None:
        """Ask whether cells are released although they reveal sites that were placed by the records."""
        confirmed = replace(request, options=request.options.replaced(confirm_sites=True))
        union = replace(request, options=request.options.replaced(shapes="union"))
        self._context.show_message("Nothing was exported yet: the cells would reveal the sites.")
        ask_question(
            self._window,
            "The cells of the sites reveal something about the records.",
            finding.message,
            {
                "Export the union instead": partial(again, union),
                "Export the cells all the same": partial(again, confirmed),
                "Cancel": lambda: None,
            },
        )

    def _on_written(self, request: Request, report: ReleaseReport) -> None:
        self._context.show_message(
            f"Released {format_count(report.records_released, 'record')} to {report.target}."
        )
        from ..dialogs.handover import ReleaseDone

        done = ReleaseDone(report, self._context.theme, self._window)
        done.record_requested.connect(partial(self._on_record_requested, done, request))
        done.open()

    def _on_record_requested(self, done: ReleaseDone, request: Request) -> None:
        from ..dialogs.handover import RecordDialog
        from ..dialogs.release_target import find_ledger

        ledger = find_ledger(self._context.state)
        dialog = RecordDialog(request.target, ledger, request.handing.audience or "", done)
        dialog.record_requested.connect(partial(self._on_record, done))
        dialog.open()

    def _on_record(self, done: ReleaseDone, request: RecordRequest) -> None:
        def report_result(result: LedgerEntry | SimilarAudience) -> None:
            if isinstance(result, SimilarAudience):
                same = partial(self._on_record, done, replace(request, audience=result.known))
                other = partial(self._on_record, done, replace(request, new_audience=True))
                ask_which_audience(self._window, request.audience, result.known, same, other)
                return
            self._context.show_message(f"Recorded in the ledger as {result.title}.")
            if isValid(done):
                done.show_recorded(result.title)

        self._context.worker.start(
            "Recording the release", partial(record_release_or_ask, request), report_result
        )

"""The command Export…: asks, writes in the background, shows what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from vbas_desktop.engine.loss import EXCEED_HINT, LOSS
from vbas_desktop.jobs.handover import OCCUPIED, RECORDED, NewFolderJob, SimilarAudience
from vbas_desktop.jobs.ledger import RecordJob
from vbas_desktop.jobs.release import ExportJob, ReleaseJob, Stopped
from vbas_desktop.model.errors import Finding
from vbas_desktop.model.words import counted
from vbas_desktop.release.cells import SITES
from vbas_desktop.release.ledger import Entry
from vbas_desktop.session.releasing import why_not_release

from .context import Context
from .dialogs.messages import ask, ask_which_audience
from .map.preparer import preparer_of
from .panel.results_lines import run_in_tiers
from .worker import Latest, in_window_words

if TYPE_CHECKING:
    from vbas_desktop.release import ReleaseReport

    from .dialogs.export import ExportDialog
    from .dialogs.handing_over import ExtractDialog


class Exporting(QObject):
    """Owns the flow from the dialog to the written release."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        self._new_folder = Latest(context.quiet_runner, "Looking for a new folder", self)

    def why_not(self) -> str | None:
        """Why nothing can be exported now."""
        session = self._context.session
        entry = session.selected or (session.entries[-1] if session.entries else None)
        return why_not_release(entry)

    @Slot()
    def export(self) -> None:
        """Ask what to export."""
        self._ask()

    def _ask(self, stopped: tuple[ReleaseJob, Stopped] | None = None) -> None:
        # Imported when first needed: what writes reports takes a moment to load, and few sessions begin with it.
        from .dialogs.export import ExportDialog

        reason = self.why_not()
        if reason is not None:
            self._context.say(reason)
            return
        shown = preparer_of(self._context).shown
        lost = None if shown is None else shown.lost_in_tiers
        dialog = ExportDialog(self._context.session, self._window, lost, self._context.quiet_runner)
        dialog.order_made.connect(self._on_order_made)
        dialog.tiers_wanted.connect(lambda: run_in_tiers(self._context))
        dialog.earlier_wanted.connect(self._context.use_earlier)
        dialog.extract_wanted.connect(self._on_extract_wanted)
        if stopped is not None:
            dialog.take_up(*stopped)
        else:
            self._propose_new_folder(dialog)
        dialog.open()

    def _propose_new_folder(self, dialog: ExportDialog | ExtractDialog) -> None:
        """Number the proposed folder if there is one of that name, unless another one was chosen meanwhile."""
        wanted = dialog.target.text()

        def propose(folder: Path) -> None:
            if dialog.target.text() == wanted:
                dialog.target.setText(str(folder))

        dialog.finished.connect(lambda _: self._new_folder.forget())
        self._new_folder.want(NewFolderJob(Path(wanted)).execute, propose)

    def extract(self, entry: Entry, audience: str) -> None:
        """Ask which columns of an earlier release are written once more."""
        from .dialogs.export import ledger_of
        from .dialogs.handing_over import ExtractDialog

        dialog = ExtractDialog(entry, ledger_of(self._context.session), audience, self._window)
        dialog.order_made.connect(self._on_extract_wanted)
        self._propose_new_folder(dialog)
        dialog.open()

    @Slot(object)
    def _on_extract_wanted(self, order: ExportJob) -> None:
        """Write some columns of an earlier release, which tell those who have it nothing new."""
        self._context.runner.start(_doing(order), order.execute_or_tell, partial(self._on_done, order))

    @Slot(object)
    def _on_order_made(self, order: ReleaseJob) -> None:
        self._context.runner.start(_doing(order), order.execute_or_tell, partial(self._on_done, order))

    def _on_done(self, order: ReleaseJob | ExportJob, result: ReleaseReport | Stopped) -> None:
        if not isinstance(result, Stopped):
            self._on_written(order, result)
        elif result.similar is not None:
            self._ask_about_audience(order, result.similar)
        elif result.findings[0].code == OCCUPIED:
            self._ask_about_replacing(order, result.findings[0])
        elif isinstance(order, ReleaseJob):
            self._on_stopped(order, result)

    def _on_stopped(self, order: ReleaseJob, result: Stopped) -> None:
        code = result.findings[0].code
        if code == LOSS:
            self._ask_about_loss(order, result.findings[0])
        elif code == SITES:
            self._ask_about_sites(order, result.findings[0])
        elif code == RECORDED:
            self._context.say("Nothing was exported: the ledger records the release in this folder.")
            self._ask((order, result))
        else:
            by_columns = all(finding.column for finding in result.findings)
            told = (
                "columns would tell too much" if by_columns else "people would be singled out beside earlier releases"
            )
            self._context.say(f"Nothing was exported: {told}.")
            self._ask((order, result))

    def _order_again(self, order: ReleaseJob | ExportJob) -> None:
        if isinstance(order, ReleaseJob):
            self._on_order_made(order)
        else:
            self._on_extract_wanted(order)

    def _ask_about_audience(self, order: ReleaseJob | ExportJob, known: str) -> None:
        """Ask whether a name that is nearly that of an audience in the ledger means this audience."""

        def answer(**changes: Any) -> Callable[[], None]:
            return lambda: self._order_again(replace(order, handing=replace(order.handing, **changes)))

        self._context.say("Nothing was exported yet: the ledger has a similar audience.")
        same, other = answer(audience=known), answer(new_audience=True)
        ask_which_audience(self._window, order.handing.audience or "", known, same, other)

    def _ask_about_replacing(self, order: ReleaseJob | ExportJob, found: Finding) -> None:
        """Ask whether an earlier release is replaced, which is lost by that."""
        self._context.say("Nothing was exported yet: the folder holds an earlier release.")
        # The first answer is the one that Return gives: it must not lose anything.
        answers: dict[str, Callable[[], object]] = {"Keep it": lambda: None}
        if isinstance(order, ReleaseJob):
            answers = {"Choose another folder…": partial(self._ask, (order, Stopped(())))}
        answers |= {"Replace it": partial(self._order_again, replace(order, replaces=True)), "Cancel": lambda: None}
        ask(self._window, found.message, f"{order.target}\nIf it is replaced, what is there now is lost.", answers)

    def _ask_about_loss(self, order: ReleaseJob, found: Finding) -> None:
        """Ask whether a release is written although it loses more than is allowed."""
        knowingly = replace(order, options=replace(order.options, exceed_loss=True))
        told = in_window_words(replace(found, remedy=found.remedy.removesuffix(EXCEED_HINT)))
        self._context.say("Nothing was exported: more records would be lost than are allowed.")
        ask(
            self._window,
            "This release loses more records than are allowed.",
            told,
            {
                "Change the export…": partial(self._ask, (order, Stopped(()))),
                "Export all the same": partial(self._on_order_made, knowingly),
                "Cancel": lambda: None,
            },
        )

    def _ask_about_sites(self, order: ReleaseJob, found: Finding) -> None:
        """Ask whether cells are released although they reveal sites that were placed by the records."""
        confirmed = replace(order, options=replace(order.options, confirm_sites=True))
        union = replace(order, options=replace(order.options, shapes="union"))
        self._context.say("Nothing was exported yet: the cells would reveal the sites.")
        ask(
            self._window,
            "The cells of the sites reveal something about the records.",
            found.message,
            {
                "Export the union instead": partial(self._on_order_made, union),
                "Export the cells all the same": partial(self._on_order_made, confirmed),
                "Cancel": lambda: None,
            },
        )

    def _on_written(self, order: ReleaseJob | ExportJob, report: ReleaseReport) -> None:
        self._context.say(f"Released {counted(report.records_released, 'record')} to {report.target}.")
        from .dialogs.handing_over import ReleaseDone

        done = ReleaseDone(report, self._context.theme, self._window)
        done.record_wanted.connect(partial(self._on_record_wanted, order))
        done.open()

    def _on_record_wanted(self, order: ReleaseJob | ExportJob) -> None:
        from .dialogs.export import ledger_of
        from .dialogs.handing_over import RecordDialog

        ledger = ledger_of(self._context.session)
        dialog = RecordDialog(order.target, ledger, order.handing.audience or "", self._window)
        dialog.order_made.connect(self._on_record)
        dialog.open()

    @Slot(object)
    def _on_record(self, order: RecordJob) -> None:
        def told(result: Entry | SimilarAudience) -> None:
            if isinstance(result, SimilarAudience):
                same = partial(self._on_record, replace(order, audience=result.known))
                other = partial(self._on_record, replace(order, new_audience=True))
                ask_which_audience(self._window, order.audience, result.known, same, other)
            else:
                self._context.say(f"Recorded in the ledger as {result.title}.")

        self._context.runner.start("Recording the release", order.execute_or_ask, told)


def _doing(order: ReleaseJob | ExportJob) -> str:
    return f"Exporting to {order.target.name}"

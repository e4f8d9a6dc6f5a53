"""The page itself: turns what the user wants into jobs and shows what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QSizePolicy, QWidget

from vbas_desktop.io.databases.address import record_place
from vbas_desktop.io.databases.records import load_records_at
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable, Role
from vbas_desktop.model.words import counted
from vbas_desktop.session import risky
from vbas_desktop.session.risky import RiskySetup, Work
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.dialogs.messages import ask
from vbas_desktop.ui.pages.job_page import JobPage
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row, split
from vbas_desktop.ui.widgets.file_dialogs import ask_to_save, beside
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip

from .combinations import CombinationsView
from .settings import SettingsPanel
from .timeline import Timeline


class RiskyPage(JobPage):
    """Settings at the left, the list and the timeline at the right."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "Stop the running job; finished steps are kept")
        self._own: RecordTable | None = None
        self.work: Work | None = None
        self.settings = SettingsPanel(context)
        self.list = CombinationsView(context)
        self.timeline = Timeline(context)
        self.search = button(
            "Search",
            lambda: self._start("Searching risky combinations", risky.search),
            "List all minimal combinations that fewer than k records share (Ctrl+Enter)",
            look="primary",
            shortcut="Ctrl+Return",
        )
        self.use = button("Use as &quasi-identifiers", self._on_use)
        self.reason = dress(Label(), look="muted")
        self.reason.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        upper = QWidget()
        bar = in_row(self.search, self.stop, (self.reason, 1), self.use, spacing=GRID)
        in_column(bar, (self.list, 1), within=upper, margins=0, spacing=GRID)
        self.lay_out(self.settings, split(upper, self.timeline, upright=True, sizes=(480, 200)), sizes=(300, 660))
        self._connect()
        self._follow_session()

    def _connect(self) -> None:
        settings, timeline = self.settings, self.timeline
        self._context.model.data_loaded.connect(self._on_data_loaded)
        settings.changed.connect(self._on_changed)
        settings.columns.dataChanged.connect(self._tell_unsearched)
        settings.file_chosen.connect(self.open_file)
        settings.file_cleared.connect(self._on_file_cleared)
        settings.column_wanted.connect(self.list.filter.setText)
        self.list.arranged.connect(self._refresh)
        self.list.scores.clicked.connect(self._on_scores)
        timeline.step_wanted.connect(lambda: self._start("Coarsening", risky.step))
        timeline.run_wanted.connect(self._on_run)
        timeline.undo_wanted.connect(self._on_undo)
        timeline.export_wanted.connect(self._on_export)

    # The file

    def _follow_session(self) -> None:
        session = self._session
        roles = dict(session.choices.roles) if session.table is not None else {}
        if session.table is not None:
            self.settings.k.setValue(session.choices.k)
        self.settings.show_table(session.table, roles, own=False)

    @Slot()
    def _on_data_loaded(self) -> None:
        if self._own is None:
            self._follow_session()

    @Slot()
    def _on_file_cleared(self) -> None:
        self._own = None
        self._follow_session()

    @Slot(Path)
    def open_file(self, path: Path) -> None:
        """Load a table for this page alone."""
        self.load(path, lambda progress: load_records_at(path, progress=progress), self._on_loaded)

    def _on_loaded(self, table: RecordTable) -> None:
        self._own = table
        self.settings.show_table(table, {}, own=True)
        self._context.say(f"Loaded {counted(table.rows, 'record')}.")

    # What the user wants

    @Slot()
    def _on_changed(self) -> None:
        setup = self.settings.setup()
        if self.work is not None and (setup is None or not self.work.setup.same_table(setup)):
            self._show(None)
        self._refresh()

    @Slot()
    def _on_run(self) -> None:
        setup, work = self.settings.setup(), self.work
        if setup is not None:
            # The reporter of a worker hands out each step.
            def job(progress: Any) -> Work:
                return risky.run(setup, work, progress, progress.hand_out)

            self._context.runner.start("Coarsening", job, self._show, on_item=self._show)

    def _start(self, title: str, what: Callable[[RiskySetup, Work | None, Progress], Work]) -> None:
        setup = self.settings.setup()
        if setup is not None:
            self._context.runner.start(title, partial(what, setup, self.work), self._show)

    @Slot()
    def _on_undo(self) -> None:
        if self.work is not None:
            self._show(self.work.undone())

    @Slot()
    def _on_export(self) -> None:
        work = self.work
        if work is None:
            return
        # The field may ask for more by now than the steps were made for.
        k = max(work.coarsener.plan.k, self.settings.k.value())
        if work.is_anonymous(k):
            self._ask_for_target()
            return
        answers = {"Write all the &same…": self._ask_for_target, "Cancel": lambda: None}
        box = ask(
            self, f"The result is not {k:,}-anonymous in the searched columns.", work.why_not_anonymous(), answers
        )
        box.setDefaultButton(box.escapeButton())  # type: ignore[call-overload]

    def _ask_for_target(self) -> None:
        title = "Write the coarsened file into a new folder"
        ask_to_save(self, title, "Folder (*)", self._suggested("-coarsened"), self.export)

    def _suggested(self, ending: str) -> Path:
        assert self.work is not None
        source = Path(self.work.setup.records.source.path)
        return beside(source, f"{record_place(source).name.partition('.')[0]}{ending}")

    def export(self, target: str) -> None:
        """Write the coarsened file and its log into a folder."""
        assert self.work is not None
        form = self.settings.writing.value(self.settings.columns.dropped())
        job = partial(risky.export, self.work, Path(target), form)
        self._context.runner.start("Writing the coarsened file", job, partial(self._on_exported, target))

    def _on_exported(self, target: str, log: dict[str, Any]) -> None:
        facts = log["verified"]
        kept = "" if log["k_anonymous"] else f" They are NOT {log['k']}-anonymous."
        self._context.say(
            f"Written to {target}: {counted(facts['records'], 'record')}, read back, smallest class "
            f"{facts['anonymity']} in the searched columns.{kept}"
        )

    @Slot()
    def _on_scores(self) -> None:
        if self.work is not None:
            title = "Save the scores of the records"
            ask_to_save(self, title, "Scores (*.csv)", self._suggested("-scores.csv"), self.save_scores)

    def save_scores(self, target: str) -> None:
        """Write in how many of the listed combinations each record is."""
        assert self.work is not None
        self.save("Saving scores", partial(risky.save_scores, self.work, Path(target)))

    @Slot()
    def _on_use(self) -> None:
        choices = self._session.choices
        names = [name for name in self.list.columns_shown() if choices.roles.get(name) is not Role.REGION]
        for name in names:
            choices = choices.with_role(name, Role.QUASI_IDENTIFIER)
        self._session.change(choices)
        self._context.show_tab("Input")
        self._context.say(f"Quasi-identifiers now: {', '.join(choices.quasi_identifiers)}. Ctrl+Z takes it back.")

    # What came of it

    def _show(self, work: Work | None) -> None:
        self.work = work
        self.list.show_listing(work.listing if work is not None else None)
        self.timeline.show_work(work)
        self.settings.columns.show_listing(work.listing if work is not None else None)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        busy, setup = self._context.runner.busy, self.settings.setup()
        if self.settings.table is None:
            reason = "Load data, or choose a file at the left."
        else:
            reason = "" if setup is not None else "Tick at least one column."
        self.reason.setText(reason)
        self.allow(self.search, setup is not None)
        self.timeline.enable(setup, self.work, busy)
        self._tell_unsearched()
        listed = self.work is not None and self.work.listing.all_sizes and len(self.work.listing) > 0
        self.list.scores.setEnabled(listed and not busy)
        table, shown = self._session.table, self.list.columns_shown()
        usable = table is not None and table is self.settings.table and bool(shown)
        self.use.setEnabled(usable and not busy)
        tip = f"Makes these columns quasi-identifiers in Input: {', '.join(shown)}" if usable else (
            "Makes the columns of the combinations shown quasi-identifiers of the loaded record file")  # fmt: skip
        set_tool_tip(self.use, tip)

    @Slot()
    def _tell_unsearched(self) -> None:
        self.timeline.tell_unsearched(self.settings.columns.unsearched() if self.work is not None else ())

"""The page "Risky combinations": starts the jobs that its buttons ask for, and shows their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.loading import load_records_at
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import RecordTable, Role
from vbas_desktop.model.text import format_count

from ...core.context import UiContext
from ...core.theme import GRID
from ...core.worker import JobProgress
from ...dialogs.messages import ask_question
from ...state import risky
from ...state.risky import RiskyPageState, RiskySetup
from ...widgets.file_dialogs import ask_to_save, sibling_path
from ...widgets.layouts import button, hbox, splitter, vbox
from ...widgets.notice_bar import NoticeAction, NoticeBar
from ...widgets.plain_text import set_tool_tip
from ..page import TaskPage
from .combinations import CombinationsView
from .recoding_steps import RecodingStepsView
from .settings_panel import SettingsPanel


class RiskyPage(TaskPage):
    """Settings at the left, the list and the timeline at the right."""

    def __init__(self, context: UiContext) -> None:
        super().__init__(context, "Stop the running job; finished steps are kept")
        self._own: RecordTable | None = None
        self.page_state: RiskyPageState | None = None
        self.settings = SettingsPanel(context)
        self.list = CombinationsView(context)
        self.timeline = RecodingStepsView(context)
        self.search = button(
            "Search",
            lambda: self._start("Searching risky combinations", risky.search),
            "List all minimal combinations that fewer than k records share (Ctrl+Enter)",
            look="primary",
            shortcut="Ctrl+Return",
        )
        self.use = button("Use as &quasi-identifiers", self._on_use)
        self.notice = NoticeBar()
        upper = QWidget()
        bar = hbox(self.search, self.stop, 1, self.use, spacing=GRID)
        vbox(bar, self.notice, (self.list, 1), within=upper, margins=0, spacing=GRID)
        self.lay_out(
            self.settings,
            splitter(upper, self.timeline, upright=True, sizes=(480, 200)),
            sizes=(340, 660),
        )
        self._connect()
        self._follow_session()

    def _connect(self) -> None:
        settings = self.settings
        timeline = self.timeline
        self._context.model.data_loaded.connect(self._on_data_loaded)
        settings.changed.connect(self._on_changed)
        settings.columns.dataChanged.connect(self._warn_of_unsearched)
        settings.file_chosen.connect(self.open_file)
        settings.file_cleared.connect(self._on_file_cleared)
        settings.column_requested.connect(self.list.filter.setText)
        self.list.arranged.connect(self._refresh)
        self.list.scores.clicked.connect(self._on_scores)
        timeline.step_requested.connect(lambda: self._start("Coarsening", risky.step))
        timeline.run_requested.connect(self._on_run)
        timeline.undo_requested.connect(self._on_undo)
        timeline.export_requested.connect(self._on_export)

    # The file

    def _follow_session(self) -> None:
        state = self._state
        roles = dict(state.choices.roles) if state.table is not None else {}
        if state.table is not None:
            self.settings.form.show_values(k=state.choices.k)
        self.settings.show_table(state.table, roles, own=False)

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
        self._context.show_message(f"Loaded {format_count(table.rows, 'record')}.")

    # The buttons

    @Slot()
    def _on_changed(self) -> None:
        setup = self.settings.setup()
        if self.page_state is not None and (
            setup is None or not self.page_state.setup.has_same_table(setup)
        ):
            self._show(None)
        self._refresh()

    @Slot()
    def _on_run(self) -> None:
        setup = self.settings.setup()
        previous = self.page_state
        if setup is not None:

            def job(progress: JobProgress) -> RiskyPageState:
                return risky.run(setup, previous, progress, progress.emit_item)

            self._context.worker.start("Coarsening", job, self._show, on_items=self._on_steps)

    def _on_steps(self, steps: Sequence[RiskyPageState]) -> None:
        """Show the last step; those before it are past."""
        self._show(steps[-1])

    def _start(
        self,
        title: str,
        function: Callable[[RiskySetup, RiskyPageState | None, Progress], RiskyPageState],
    ) -> None:
        """Run one of the functions of the page's state as a job."""
        setup = self.settings.setup()
        if setup is not None:
            self._context.worker.start(title, partial(function, setup, self.page_state), self._show)

    @Slot()
    def _on_undo(self) -> None:
        if self.page_state is not None:
            self._show(self.page_state.without_last_step())

    @Slot()
    def _on_export(self) -> None:
        state = self.page_state
        if state is None:
            return
        # The field may ask for more by now than the steps were made for.
        k = max(state.session.plan.k, self.settings.form.values().k)
        if state.is_anonymous(k):
            self._ask_for_target()
            return
        answers = {"Write all the &same…": self._ask_for_target, "Cancel": lambda: None}
        message = f"The result is not {k:,}-anonymous in the searched columns."
        box = ask_question(self, message, state.explain_missing_anonymity(), answers)
        box.setDefaultButton(box.escapeButton())  # type: ignore[call-overload]

    def _ask_for_target(self) -> None:
        title = "Write the coarsened file into a new folder"
        ask_to_save(self, title, "Folder (*)", self._suggest_target("-coarsened"), self.export)

    def _suggest_target(self, ending: str) -> Path:
        assert self.page_state is not None
        source = Path(self.page_state.setup.records.source.path)
        return sibling_path(source, f"{parse_address(source).name.partition('.')[0]}{ending}")

    def export(self, target: str) -> None:
        """Write the coarsened file and its log into a folder."""
        assert self.page_state is not None
        form = self.settings.writing.values().replaced(identifiers=self.settings.columns.dropped())
        job = partial(risky.export, self.page_state, Path(target), form)
        self._context.worker.start("Writing the coarsened file", job, partial(self._on_exported, target))

    def _on_exported(self, target: str, log: dict[str, Any]) -> None:
        facts = log["verified"]
        warning = "" if log["k_anonymous"] else f" They are NOT {log['k']}-anonymous."
        self._context.show_message(
            f"Written to {target}: {format_count(facts['records'], 'record')}, read back, smallest class "
            f"{facts['anonymity']} in the searched columns.{warning}"
        )

    @Slot()
    def _on_scores(self) -> None:
        if self.page_state is not None:
            title = "Save the scores of the records"
            ask_to_save(
                self, title, "Scores (*.csv)", self._suggest_target("-scores.csv"), self.save_scores
            )

    def save_scores(self, target: str) -> None:
        """Write the number of listed combinations that each record is in."""
        assert self.page_state is not None
        self.save("Saving scores", partial(risky.save_scores, self.page_state, Path(target)))

    @Slot()
    def _on_use(self) -> None:
        choices = self._state.choices
        names = [
            name for name in self.list.columns_shown() if choices.roles.get(name) is not Role.REGION
        ]
        for name in names:
            choices = choices.with_role(name, Role.QUASI_IDENTIFIER)
        self._state.change(choices)
        self._context.show_tab("Input")
        self._context.show_message(
            f"Quasi-identifiers now: {', '.join(choices.quasi_identifiers)}. Ctrl+Z takes it back."
        )

    # The results

    def _show(self, state: RiskyPageState | None) -> None:
        self.page_state = state
        listing = state.listing if state is not None else None
        self.list.show_listing(listing)
        self.timeline.show_state(state)
        self.settings.columns.show_listing(listing)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        busy = self._context.worker.busy
        setup = self.settings.setup()
        self._show_notice(setup)
        self.allow(self.search, setup is not None)
        self.timeline.enable(setup, self.page_state, busy)
        self._warn_of_unsearched()
        listed = (
            self.page_state is not None
            and self.page_state.listing.all_sizes
            and len(self.page_state.listing) > 0
        )
        self.list.scores.setEnabled(listed and not busy)
        table = self._state.table
        columns = self.list.columns_shown()
        usable = table is not None and table is self.settings.table and bool(columns)
        self.use.setEnabled(usable and not busy)
        tip = f"Makes these columns quasi-identifiers in Input: {', '.join(columns)}" if usable else (
            "Makes the columns of the combinations shown quasi-identifiers of the loaded record file")  # fmt: skip
        set_tool_tip(self.use, tip)

    def _show_notice(self, setup: RiskySetup | None) -> None:
        """Offer what is missing before a search, or tell that the results are of other settings."""
        settings = self.settings
        if settings.table is None:
            choose = NoticeAction(
                "Choose a f&ile…", settings.file.choose.click, "Any table; regions are not needed"
            )
            self.notice.show_notice("Load data, or choose a file to search.", [choose])
        elif setup is None:
            every = NoticeAction(
                "Tick &all columns", settings.columns.search_all, "All that can be searched"
            )
            self.notice.show_notice("Tick at least one column.", [every])
        elif self.page_state is not None and not self.page_state.setup.has_same_listing(setup):
            text = "These results are of other settings. Press Search to list those of the settings at the left."
            self.notice.show_notice(text, variant="warning")
        else:
            self.notice.show_notice("")

    @Slot()
    def _warn_of_unsearched(self) -> None:
        self.timeline.warn_of_unsearched(
            self.settings.columns.unsearched() if self.page_state is not None else ()
        )

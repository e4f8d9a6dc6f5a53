"""Comparing many combinations: tick, see how much that is, run, stop, go on, look at what came of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QMenu, QTabWidget, QWidget

from vbas_desktop.comparison.run import Finished, Prepared
from vbas_desktop.comparison.thesis_claims import CLAIMS
from vbas_desktop.comparison.words import plan_in_words, prepared_in_words
from vbas_desktop.io.synthetic.marginals import DEPENDENT, INDEPENDENT
from vbas_desktop.jobs.compare import Compared
from vbas_desktop.jobs.reproduce import IslandJob, Reproduced, ReproduceJob
from vbas_desktop.model.words import counted
from vbas_desktop.session.choices import Choices
from vbas_desktop.session.comparing import ComparisonOrder, Ticked, order_comparison, why_not_compare
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.pages.job_page import FolderPage
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row, pause, scrolled
from vbas_desktop.ui.widgets.fields import set_look
from vbas_desktop.ui.widgets.file_dialogs import ask_for_folder
from vbas_desktop.ui.widgets.plain_text import set_tool_tip
from vbas_desktop.ui.widgets.visible_refresh import VisibleRefresh
from vbas_desktop.ui.worker import Failure

from .form import CompareForm, suggested_target
from .results import ComparisonCharts, SummaryView

_PAUSE_MS = 300
_LOOKING = "Looking at the comparison"
_THESIS = {
    "eastern": "Like &Eastern Canada (tables 7–12)…",
    "central": "Like &Central Canada (no published tables)…",
    "western": "Like &Western Canada (tables 13–18)…",
    "pei": "Like &Prince Edward Island, against growth (tables 19–22)…",
}


class ComparePage(FolderPage):
    """Plan, summary and charts of a comparison. Results go to the Results tab as they come."""

    def __init__(self, context: Context) -> None:
        kept = "Stop; finished combinations are kept and not run again"
        super().__init__(context, kept, "Result of the comparison", flush_ms=200)
        self.form, self.summary, self.charts = CompareForm(), SummaryView(context.theme), ComparisonCharts(context)
        self.start = button("▶  Co&mpare", self.compare, look="primary")
        self.thesis = button(
            "Published e&xperiments",
            tip="Repeat the experiments of the thesis that introduced the approaches on generated data and check its "
            "claims",
        )
        self.tabs = dress(QTabWidget(), documentMode=True)
        self.done = 0
        self._told: tuple[Ticked, Choices, str] | None = None
        """The plan whose result the line tells: an estimate that comes late does not take its place."""
        self._timer = pause(_PAUSE_MS, self._look_ahead, self)
        self._build()
        self.form.changed.connect(self._on_changed)
        self.target.textChanged.connect(self._on_changed)
        context.model.data_loaded.connect(self._on_data_loaded)
        context.model.choices_changed.connect(VisibleRefresh(self, self._on_choices_changed).request)
        context.quiet_runner.job_failed.connect(self._on_failed)
        self.form.start_from(self._session.choices)
        self._on_data_loaded()

    def _build(self) -> None:
        menu = QMenu(self.thesis)
        for like, text in _THESIS.items():
            menu.addAction(text, partial(self._ask_for_thesis, like))
        menu.addSeparator()
        self.dependent = menu.addAction("Draw attributes &dependent on each other")
        self.dependent.setCheckable(True)
        set_tool_tip(self.dependent, "Off: each attribute is drawn on its own by published shares, as in the thesis")
        menu.setToolTipsVisible(True)
        self.thesis.setMenu(menu)
        kept = "What is finished is kept beside it until all is, so that a stopped comparison can go on"
        folder = self.folder_field("Folder for the tables", kept, "Choose another folder for the tables")
        plan = QWidget()
        in_column(self.form, folder, 1, within=plan, margins=GRID)
        scroll = scrolled(plan, focusPolicy=Qt.FocusPolicy.NoFocus)
        for widget, text in ((scroll, "Plan"), (self.summary, "Summary"), (self.charts, "Charts")):
            self.tabs.addTab(widget, text)
        buttons = in_row(self.start, self.stop, self.thesis, 1, self.opening("Open the summar&y page"))
        in_column((self.tabs, 1), self.live, buttons, within=self, margins=(2 * GRID, GRID, 2 * GRID, GRID))

    # What is planned

    @Slot()
    def _on_data_loaded(self) -> None:
        self.target.setText(str(suggested_target(self._session)))
        self._on_choices_changed()

    @Slot()
    def _on_choices_changed(self) -> None:
        table, region = self._session.table, self._session.choices.region_column
        columns = () if table is None else (facts.name for facts in table.columns if facts.categorical)
        self.form.offer(name for name in columns if name != region)
        self.form.follow(self._session.choices)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        reason, self._told = self.reason(), None
        set_look(self.live, "live" if reason is None else "warning")
        self.live.setText(reason or plan_in_words(self._order().plan))
        self._refresh()
        if reason is None:
            self._timer.start()

    def reason(self) -> str | None:
        """Why nothing can be compared now."""
        reason = why_not_compare(self.form.ticked(), self._session)
        if reason is None and not self.target.text().strip():
            return "Choose a folder for the tables."
        return reason

    def _order(self) -> ComparisonOrder:
        return order_comparison(self.form.ticked(), self._session, self._folder)

    @Slot()
    def _look_ahead(self) -> None:
        """Count in the background what the plan makes and how long it will take."""
        if self.reason() is not None or self._context.runner.busy:
            return
        job, then = self._order().job.look_ahead, partial(self._on_looked, self._asked)
        if not self._context.quiet_runner.start(_LOOKING, job, then):
            self._timer.start()

    @property
    def _asked(self) -> tuple[Ticked, Choices, str]:
        return self.form.ticked(), self._session.choices, self.target.text()

    def _on_looked(self, asked: tuple[Ticked, Choices, str], prepared: Prepared) -> None:
        if asked == self._asked != self._told and not self._context.runner.busy:
            self.live.setText(prepared_in_words(prepared))
            self.start.setText("▶  &Go on" if 0 < sum(prepared.kept) < len(prepared.kept) else "▶  Co&mpare")

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        if failure.title == _LOOKING:
            set_look(self.live, "error")
            self.live.setText(failure.message)

    @Slot()
    def _refresh(self) -> None:
        self.tell(self.reason(), "Run every combination that is not finished yet")
        self.thesis.setEnabled(not self._context.runner.busy)

    # Running

    @Slot()
    def compare(self) -> None:
        """Run the plan."""
        if self.reason() is not None or self._context.runner.busy:
            return
        order, self.done = self._order(), 0
        self._context.runner.start(
            "Comparing combinations",
            lambda progress: order.job.execute(progress, progress.hand_out),  # type: ignore[attr-defined]
            self._on_compared,
            partial(self._on_finished, order),
            self._on_aborted,
        )

    def _on_finished(self, order: ComparisonOrder, finished: Finished) -> None:
        self.done += 1
        self.live.setText(f"{self.done:,} of {len(order.plan.combinations):,} combinations are finished.")
        self.arrive((order.run_of(finished), finished.result))

    @Slot()
    def _on_flush(self) -> None:
        arrived, self._arrived = self._arrived, []
        self._session.add_complete(arrived)

    def _on_compared(self, compared: Compared) -> None:
        self.flush()
        self._show(compared, compared.text)
        solutions = counted(len(compared.comparison.solutions), "solution")
        self._context.say(f"Compared {solutions}; tables and charts are in {compared.target}.")
        self._context.show_tab("Results")

    def _on_aborted(self) -> None:
        self.flush()
        self._timer.start()

    def _show(self, compared: Compared, text: str) -> None:
        if compared.summary is not None:
            self.summary.show_summary(compared.summary)
        else:
            self.summary.show_text(text)
        self.charts.show_comparison(compared.comparison)
        self._page = None if compared.target is None else compared.target / "summary.html"
        self.live.setText(text.partition("\n")[0])
        self._told = self._asked
        self.tabs.setCurrentWidget(self.summary)
        self._refresh()

    # The published experiments

    def _ask_for_thesis(self, like: str) -> None:
        def then(folder: str) -> None:
            kind = IslandJob if like == "pei" else ReproduceJob
            attributes = DEPENDENT if self.dependent.isChecked() else INDEPENDENT
            self.reproduce(kind(like, Path(folder) / f"thesis-{like}", attributes=attributes))

        ask_for_folder(self, "Folder for the tables", self._folder.parent, then)

    def reproduce(self, order: ReproduceJob | IslandJob) -> None:
        """Run the published experiments into a folder."""
        self.done = 0
        done: Any = self._on_island if isinstance(order, IslandJob) else self._on_reproduced
        self._context.runner.start(f"The published experiments ({order.like})", order.execute, partial(done, order))

    def _on_island(self, order: IslandJob, lines: tuple[str, ...]) -> None:
        self.summary.show_text("\n".join(lines))
        self.tabs.setCurrentWidget(self.summary)
        self.live.setText("Growth and the Voronoi diagram are compared in 18 scenarios.")
        self._context.say(f"The tables are in {order.target}.")

    def _on_reproduced(self, order: ReproduceJob, done: Reproduced) -> None:
        self._show(Compared(done.comparison, "", order.target), "\n".join(done.lines))
        here = sum(line.startswith("- held") for line in done.lines)
        published = sum(line.startswith("- held: ") for line in done.lines)
        self.live.setText(f"{here} of {len(CLAIMS)} claims are held here, {published} in the published rows too.")
        self._context.say(f"The tables and claims are in {order.target}.")

"""Comparing many combinations: tick, see how much that is, run, stop, go on, look at what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QMenu, QTabWidget, QWidget

from vbas_desktop.app.compare import Compared, compare_combinations, estimate_comparison
from vbas_desktop.app.reproduce import (
    IslandRequest,
    Reproduced,
    ReproduceRequest,
    reproduce_island,
    reproduce_tables,
)
from vbas_desktop.engine.comparison.run import FinishedCombination, WorkEstimate
from vbas_desktop.engine.comparison.summary import describe_estimate, describe_plan
from vbas_desktop.engine.reproduction.claims import CLAIMS
from vbas_desktop.io.synthetic.marginals import DEPENDENT, INDEPENDENT
from vbas_desktop.model.text import format_count

from ...core.context import UiContext
from ...core.theme import GRID
from ...presentation.messages import TaskFailure
from ...state.choices import Choices
from ...state.comparing import (
    ComparisonForm,
    RequestedComparison,
    reason_not_to_compare,
    request_comparison,
)
from ...widgets.fields import set_variant
from ...widgets.file_dialogs import ask_for_folder
from ...widgets.layouts import button, hbox, scroll_area, single_shot_timer, vbox, with_properties
from ...widgets.plain_text import set_tool_tip
from ...widgets.visible_refresh import VisibleRefresh
from ..page import FolderPage
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

    def __init__(self, context: UiContext) -> None:
        stop_tip = "Stop; finished combinations are kept and not run again"
        super().__init__(context, stop_tip, "Result of the comparison", flush_ms=200)
        self.form = CompareForm()
        self.summary = SummaryView(context.theme)
        self.charts = ComparisonCharts(context)
        self.start = button("▶  Co&mpare", self.compare, look="primary")
        self.thesis = button(
            "Published e&xperiments",
            tip="Repeat the experiments of the thesis that introduced the approaches on generated data and check its "
            "claims",
        )
        self.tabs = with_properties(QTabWidget(), documentMode=True)
        self.done = 0
        self._told: tuple[ComparisonForm, Choices, str] | None = None
        """The plan whose result the line tells: an estimate that comes late does not take its place."""
        self._timer = single_shot_timer(_PAUSE_MS, self._look_ahead, self)
        self._build()
        self.form.changed.connect(self._on_changed)
        self.target.textChanged.connect(self._on_changed)
        context.model.data_loaded.connect(self._on_data_loaded)
        context.model.choices_changed.connect(VisibleRefresh(self, self._on_choices_changed).request)
        context.model.research_shown.connect(self._on_research_shown)
        self.form.start_from(self._state.choices)
        self._on_research_shown()
        self._on_data_loaded()

    def _build(self) -> None:
        menu = QMenu(self.thesis)
        for like, text in _THESIS.items():
            menu.addAction(text, partial(self._ask_for_thesis, like))
        menu.addSeparator()
        self.dependent = menu.addAction("Draw attributes &dependent on each other")
        self.dependent.setCheckable(True)
        set_tool_tip(
            self.dependent,
            "Off: each attribute is drawn on its own by published shares, as in the thesis",
        )
        menu.setToolTipsVisible(True)
        self.thesis.setMenu(menu)
        folder_tip = (
            "What is finished is kept beside it until all is, so that a stopped comparison can go on"
        )
        folder = self.folder_field(
            "Folder for the tables", folder_tip, "Choose another folder for the tables"
        )
        plan = QWidget()
        vbox(self.form, folder, 1, within=plan, margins=GRID)
        scroll = scroll_area(plan, focusPolicy=Qt.FocusPolicy.NoFocus)
        for widget, text in ((scroll, "Plan"), (self.summary, "Summary"), (self.charts, "Charts")):
            self.tabs.addTab(widget, text)
        buttons = hbox(
            self.start,
            self.stop,
            self.thesis,
            1,
            self.opening("Open re&port", "The tables and charts of the comparison as a page"),
        )
        vbox(
            (self.tabs, 1),
            self.live,
            self.blocker,
            buttons,
            within=self,
            margins=(2 * GRID, GRID, 2 * GRID, GRID),
        )

    @Slot()
    def _on_research_shown(self) -> None:
        self.thesis.setVisible(self._state.shows_research)

    # What is planned

    @Slot()
    def _on_data_loaded(self) -> None:
        self.target.setText(str(suggested_target(self._state)))
        self._on_choices_changed()

    @Slot()
    def _on_choices_changed(self) -> None:
        table = self._state.table
        region = self._state.choices.region_column
        columns = () if table is None else (facts.name for facts in table.columns if facts.categorical)
        self.form.offer(name for name in columns if name != region)
        self.form.follow(self._state.choices)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        reason = self.reason()
        self._told = None
        set_variant(self.live, "live" if reason is None else "warning")
        self.live.setText(reason or describe_plan(self._requested_comparison().plan))
        self._refresh()
        if reason is None:
            self._timer.start()

    def reason(self) -> str | None:
        """Why nothing can be compared now."""
        reason = reason_not_to_compare(self.form.ticked(), self._state)
        if reason is None and not self.target.text().strip():
            return "Choose a folder for the tables."
        return reason

    def _requested_comparison(self) -> RequestedComparison:
        return request_comparison(self.form.ticked(), self._state, self._folder)

    @Slot()
    def _look_ahead(self) -> None:
        """Count in the background what the plan makes and how long it will take."""
        if self.reason() is not None or self._context.worker.busy:
            return
        job = partial(estimate_comparison, self._requested_comparison().request)
        then = partial(self._on_looked, self._asked)
        self._context.background.start_latest(self, _LOOKING, job, then, on_failure=self._on_failed)

    @property
    def _asked(self) -> tuple[ComparisonForm, Choices, str]:
        return self.form.ticked(), self._state.choices, self.target.text()

    def _on_looked(self, query: tuple[ComparisonForm, Choices, str], prepared: WorkEstimate) -> None:
        if query == self._asked != self._told and not self._context.worker.busy:
            self.live.setText(describe_estimate(prepared))
            self.start.setText(
                "▶  &Go on" if 0 < sum(prepared.cached) < len(prepared.cached) else "▶  Co&mpare"
            )

    def _on_failed(self, failure: TaskFailure) -> None:
        set_variant(self.live, "error")
        self.live.setText(failure.message)

    @Slot()
    def _refresh(self) -> None:
        self.show_blocker(self.reason(), "Run every combination that is not finished yet")
        self.thesis.setEnabled(not self._context.worker.busy)

    # Running

    @Slot()
    def compare(self) -> None:
        """Run the plan."""
        if self.reason() is not None or self._context.worker.busy:
            return
        requested = self._requested_comparison()
        self.done = 0
        self._context.worker.start(
            "Comparing combinations",
            lambda progress: compare_combinations(requested.request, progress, progress.emit_item),
            self._on_compared,
            partial(self._on_finished, requested),
            self._on_aborted,
        )

    def _on_finished(
        self, requested: RequestedComparison, finished: Sequence[FinishedCombination]
    ) -> None:
        self.done += len(finished)
        self.live.setText(
            f"{self.done:,} of {len(requested.plan.combinations):,} combinations are finished."
        )
        for combination in finished:
            self.arrive((requested.run_of(combination), combination.result))

    @Slot()
    def _on_flush(self) -> None:
        arrived = self._arrived
        self._arrived = []
        self._state.add_complete(arrived)

    def _on_compared(self, compared: Compared) -> None:
        self.flush()
        self._show(compared, compared.text)
        solutions = format_count(len(compared.comparison.solutions), "solution")
        self._context.show_message(f"Compared {solutions}; tables and charts are in {compared.target}.")
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
            kind = IslandRequest if like == "pei" else ReproduceRequest
            attributes = DEPENDENT if self.dependent.isChecked() else INDEPENDENT
            self.reproduce(kind(like, Path(folder) / f"thesis-{like}", attributes=attributes))

        ask_for_folder(self, "Folder for the tables", self._folder.parent, then)

    def reproduce(self, request: ReproduceRequest | IslandRequest) -> None:
        """Run the published experiments into a folder."""
        self.done = 0
        title = f"The published experiments ({request.like})"
        if isinstance(request, IslandRequest):
            self._context.worker.start(
                title, partial(reproduce_island, request), partial(self._on_island, request)
            )
        else:
            self._context.worker.start(
                title, partial(reproduce_tables, request), partial(self._on_reproduced, request)
            )

    def _on_island(self, request: IslandRequest, lines: tuple[str, ...]) -> None:
        self.summary.show_text("\n".join(lines))
        self.tabs.setCurrentWidget(self.summary)
        self.live.setText("Growth and the Voronoi diagram are compared in 18 scenarios.")
        self._context.show_message(f"The tables are in {request.target}.")

    def _on_reproduced(self, request: ReproduceRequest, done: Reproduced) -> None:
        self._show(Compared(done.comparison, "", request.target), "\n".join(done.lines))
        here = sum(line.startswith("- held") for line in done.lines)
        published = sum(line.startswith("- held: ") for line in done.lines)
        self.live.setText(
            f"{here} of {len(CLAIMS)} claims are held here, {published} in the published rows too."
        )
        self._context.show_message(f"The tables and claims are in {request.target}.")

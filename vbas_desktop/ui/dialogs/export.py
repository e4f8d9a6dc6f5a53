"""Export: which solution, what becomes of each column, for whom, and where to."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QWidget

from vbas_desktop.app.copies import CopyRequest
from vbas_desktop.app.handover import RECORDED
from vbas_desktop.app.release import CoverageRequest, ReleaseRefusal, ReleaseRequest
from vbas_desktop.io.databases.address import is_address
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Role
from vbas_desktop.model.text import format_share
from vbas_desktop.releases.column_coverage import names_in_words
from vbas_desktop.releases.ledger import DIFFERENCING, LedgerEntry
from vbas_desktop.settings.release import ReleaseOptions

from ..core.theme import GRID
from ..core.worker import Worker
from ..presentation.messages import describe_finding
from ..state.app_state import AppState
from ..state.releasing import explain_why_not_releasable
from ..state.scenario import ResultRow
from ..widgets.fields import CollapsibleSection, Field, heading_label, hint_label
from ..widgets.layouts import scroll_area, set_items, vbox
from ..widgets.notice_bar import NoticeAction, NoticeBar
from .handover import make_extract_request
from .release_columns import ReleaseColumns, describe_needed_run
from .release_dialog import ReleaseDialog
from .release_form import RecipientForm, ReleaseForm
from .release_summary import ReleaseSummary
from .release_target import TargetField, find_ledger, propose_target

_DISCLOSIVE = (
    "Nothing was written: columns would reveal more than the release does. Leave them out, make them "
    "quasi-identifiers, group their values, or tick “Allowed” to release them knowingly (of a pair or triple, A+B or "
    "A+B+C, all of them)."
)
_DIFFERENCING = (
    "Nothing was written: beside what this recipient has, the release would single people out. Use the regions and "
    "quasi-identifiers of the earlier release, or join its regions. Or give a reason below to release it all the same; "
    "the reason is kept."
)
_RECORDED = "Nothing was written. Choose another folder:"
_MOST_FINDINGS = 40
_LETTERS_WIDE = 108
_LEAST_HEIGHT = 640


class ExportDialog(ReleaseDialog):
    """Makes the request for a release of one solution.

    Signals for what can be done instead: `tiers_requested`, `run_requested` (with the roles chosen here),
    `earlier_requested(entry, join)` to use or join an earlier release, `extract_requested(ExportRequest)` to hand over
    some of its columns.
    """

    tiers_requested = Signal()
    run_requested = Signal()
    earlier_requested = Signal(object, bool)
    extract_requested = Signal(object)

    def __init__(
        self,
        state: AppState,
        parent: QWidget,
        lost_in_tiers: int | None = None,
        background: Worker | None = None,
    ) -> None:
        super().__init__(parent, "Export a release", (480, 0))
        assert state.table is not None
        self._state = state
        self._shown = state.selected
        self._lost_in_tiers = lost_in_tiers
        names = [facts.name for facts in state.table.columns]
        self.refusal = NoticeBar()
        self.solution = QComboBox()
        self.summary = ReleaseSummary(background)
        self.tiers = NoticeBar()
        self.columns = ReleaseColumns(names)
        self.decisions = NoticeBar()
        self.recipient = RecipientForm(
            state.records_path is not None and is_address(str(state.records_path))
        )
        self.form = ReleaseForm(
            self._first_options(), names, tuple(state.regions.columns) if state.regions else ()
        )
        self.more = CollapsibleSection("More options: file, order, reports, map", self.form)
        self.target = TargetField(propose_target(state))
        set_items(self.solution, ((entry.title, entry.number) for entry in state.entries))
        selected = state.selected or state.entries[-1]
        self.solution.setCurrentIndex(self.solution.findData(selected.number))
        self._build()
        self.resize(_LETTERS_WIDE * self.fontMetrics().averageCharWidth(), 0)
        self._connect()
        self._on_solution_changed()

    def _first_options(self) -> ReleaseOptions:
        policy = self._state.policy
        columns = self._state.regions.columns if self._state.regions is not None else ()
        names = self._state.map_style.names
        return ReleaseOptions(
            shuffle=policy.export.shuffle,
            policy=policy.policy or None,
            name_column=names if names in columns else None,
        )

    def _build(self) -> None:
        vbox(
            self.refusal,
            Field("&Solution", self.solution, "One of the solutions in Results"),
            self.summary,
            self.tiers,
            heading_label("Columns"),
            (self.columns, 1),
            self.decisions,
            self.recipient,
            self.more,
            self.form,
            within=self.content,
            margins=(0, 0, GRID, 0),
            spacing=GRID,
        )
        self._scroll = scroll_area(self.content, focusPolicy=Qt.FocusPolicy.NoFocus)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        foot = vbox(
            self.target,
            hint_label("The files appear in the folder only after they were read back and verified."),
            self.problem,
            self.stage,
            self.progress,
            self.buttons,
            margins=(0, 0, GRID, 0),
            spacing=GRID,
        )
        # The bar that scrolls what is above has the outer half of the margin.
        vbox(
            (self._scroll, 1),
            foot,
            within=self,
            margins=(2 * GRID, 2 * GRID, GRID, 2 * GRID),
            spacing=GRID,
        )

    def _connect(self) -> None:
        self.solution.currentIndexChanged.connect(self._on_solution_changed)
        self.columns.changed.connect(self._on_changed)
        self.columns.decided.connect(self._on_decided)
        self.summary.changed.connect(self._fit_height)
        self.finished.connect(self.summary.forget)
        self.more.toggled.connect(self._fit_height)
        for part in (self.recipient, self.form, self.target):
            part.changed.connect(self._on_changed)

    # What is entered

    @property
    def entry(self) -> ResultRow | None:
        """The solution that is chosen."""
        return self._state.entry(self.solution.currentData())

    def options(self) -> ReleaseOptions:
        """Return the options as chosen. Raises `InputError` if they do not go together."""
        assert self._state.table is not None
        options = ReleaseOptions(
            columns=self.columns.kept,
            identifiers=self.columns.dropped,
            renames=self.columns.renames,
            allow_columns=self.columns.allowed,
            population=self._state.policy.population or None,
            **self.form.values(),
        )
        options.released_columns(self._state.table.file_format.header)
        return options

    def make_request(self) -> ReleaseRequest:
        """Return the request for the chosen release."""
        entry = self.entry
        target = self.target.path
        assert entry is not None
        assert target is not None
        return self._state.request_release(
            entry, self.options(), target, self.recipient.handing(self._ledger)
        )

    @property
    def _ledger(self) -> Path:
        return find_ledger(self._state)

    def _find_problem(self) -> str:
        """Say why nothing can be exported; empty if it can."""
        reason = explain_why_not_releasable(self.entry)
        if reason is not None:
            return reason
        if self.columns.undecided:
            return f"Decide first what becomes of {names_in_words(self.columns.undecided)}."
        if self.columns.needing_run:
            return "Run again with the roles that are chosen here, or go back to those of the solution."
        if self.target.path is None:
            return "Choose a target folder."
        if self.recipient.error or self.form.errors:
            return self.recipient.error or next(iter(self.form.errors.values()))
        try:
            options = self.options()
            also = self.recipient.handing(self._ledger).also
            _ = CopyRequest(also, options.format).target if also else None
        except InputError as error:
            return describe_finding(error.findings[0])
        return ""

    # What follows

    @Slot()
    def _on_solution_changed(self) -> None:
        entry = self.entry
        if entry is not None:
            self.columns.show_solution(entry, self._state.choices)
        self._on_changed()

    @Slot(object, object)
    def _on_decided(self, names: tuple[str, ...], role: Role) -> None:
        """Keep in Input what is decided here of columns that are in no class: it needs no other run."""
        roles = self._state.choices.roles
        kinds = (Role.AS_IS, Role.LEAVE_OUT, Role.IDENTIFIER)
        kept = [name for name in names if role in kinds and roles.get(name, Role.AS_IS) in kinds]
        if kept:
            self._state.change(self._state.choices.with_roles(kept, role))

    @Slot()
    def _on_changed(self) -> None:
        entry = self.entry
        problem = self._find_problem()
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.export.setEnabled(not problem and not self.is_writing)
        self.summary.show_release(entry, self._coverage_request(entry))
        self._show_tiers(entry)
        self._show_decisions()
        self._fit_height()

    def _coverage_request(self, entry: ResultRow | None) -> CoverageRequest | None:
        """Ask what is chosen does to the columns; None if that cannot be released."""
        table = self._state.table
        if entry is None or entry.problem is None or table is None or not self.columns.kept:
            return None
        options = ReleaseOptions(columns=self.columns.kept, identifiers=self.columns.dropped)
        return CoverageRequest(entry.problem, table, entry.solution, options)

    def _show_tiers(self, entry: ResultRow | None) -> None:
        """Offer the fallback to larger areas where the shown solution loses records, with what it would save."""
        problem = None if entry is None else entry.problem
        if entry is None or problem is None or self._lost_in_tiers is None or entry != self._shown:
            self.tiers.show_notice("")
            return
        lost = format_share(entry.solution.suppressed_records, problem.records)
        in_tiers = format_share(self._lost_in_tiers, problem.records)
        self.tiers.show_notice(
            f"{lost} of the records are lost because their groups are too small in their region.",
            [
                NoticeAction(
                    f"Fall back to larger areas: {in_tiers}",
                    self._on_tiers,
                    "Run again with the fallback",
                )
            ],
        )

    def _show_decisions(self) -> None:
        undecided = self.columns.undecided
        needing_run = self.columns.needing_run
        if undecided:
            self.decisions.show_notice(
                f"Decide what becomes of {names_in_words(undecided)}. Released as they are, they are not protected.",
                [
                    NoticeAction("Release them as they are", self._on_release_undecided),
                    NoticeAction("Leave them out", self._on_leave_out_undecided),
                ],
                "warning",
            )
        elif needing_run:
            self.decisions.show_notice(
                describe_needed_run(needing_run),
                [
                    NoticeAction("Run again with these roles", self._on_run_again),
                    NoticeAction("Back to the solution’s roles", self.columns.return_to_counted),
                ],
                "warning",
            )
        else:
            self.decisions.show_notice("")

    def _on_release_undecided(self) -> None:
        self.columns.decide(self.columns.undecided, Role.AS_IS)

    def _on_leave_out_undecided(self) -> None:
        self.columns.decide(self.columns.undecided, Role.LEAVE_OUT)

    def _on_run_again(self) -> None:
        choices = self._state.choices
        for row in self.columns.needing_run:
            assert row.role is not None
            choices = choices.with_role(row.name, row.role)
        self._state.change(choices)
        self.run_requested.emit()
        self.reject()

    def _on_tiers(self) -> None:
        self.tiers_requested.emit()
        self.reject()

    # What came of it

    def show_refusal(self, refusal: ReleaseRefusal) -> None:
        """Show why nothing was written, with what can be done instead; all entries stay."""
        self.end_writing()
        findings = refusal.findings
        is_differencing = any(finding.code == DIFFERENCING for finding in findings)
        messages = [
            f"“{finding.column}”: {finding.message}" if finding.column else finding.message
            for finding in findings[:_MOST_FINDINGS]
        ]
        if len(findings) > _MOST_FINDINGS:
            messages.append(f"… and {len(findings) - _MOST_FINDINGS:,} more of this kind.")
        recorded = any(finding.code == RECORDED for finding in findings)
        head = _RECORDED if recorded else _DIFFERENCING if is_differencing else _DISCLOSIVE
        self.refusal.show_notice(
            "\n".join([head, *messages]), self._list_instead(refusal.earlier), "error"
        )
        if is_differencing:
            self.recipient.overrule.show()
        self._on_changed()
        self._scroll.ensureWidgetVisible(self.refusal)

    def _list_instead(self, earlier: LedgerEntry | None) -> list[NoticeAction]:
        """List what can be done with the release that this recipient has already."""
        if earlier is None:
            return []
        use = partial(self._on_earlier, earlier, False)
        join = partial(self._on_earlier, earlier, True)
        again = "Run again with the regions and quasi-identifiers of the earlier release"
        opened = "Open the earlier release as data, so that its regions can be joined further"
        fewer = "Write the earlier release once more, with those of its columns that are released above"
        actions = [NoticeAction("Use the earlier regions", use, again)]
        if not earlier.parents:
            actions.append(NoticeAction("Join the earlier regions", join, opened))
        if earlier.folder:
            actions.append(NoticeAction("Only columns of it", partial(self._on_extract, earlier), fewer))
        return actions

    def _on_extract(self, earlier: LedgerEntry) -> None:
        target = self.target.path
        if target is not None:
            handing = self.recipient.handing(self._ledger)
            self.extract_requested.emit(
                make_extract_request(earlier, target, self.columns.kept, handing)
            )
            self.reject()

    def _on_earlier(self, earlier: LedgerEntry, join: bool) -> None:
        self.earlier_requested.emit(earlier, join)
        self.reject()

    # Size

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the height: only now it is known how wide the texts are."""
        super().showEvent(event)
        self._fit_height()

    @Slot()
    def _fit_height(self) -> None:
        """Make the dialog as high as its content at this width, as far as the screen has room: the rest scrolls."""
        outer = self.layout()
        inner = self.content.layout()
        if outer is None or inner is None or not self.isVisible():
            return
        inner.activate()
        outer.activate()
        bar_width = self._scroll.verticalScrollBar().sizeHint().width()
        least_width = self.content.minimumSizeHint().width() + bar_width
        width = min(max(self.width(), least_width + 3 * GRID), self.screen().availableGeometry().width())
        foot = outer.totalMinimumHeightForWidth(width) - self._scroll.minimumSizeHint().height()
        needed = foot + self.content.heightForWidth(self._scroll.width() - bar_width)
        self.resize(width, min(max(self.height(), needed), self.highest()))
        # It grows downwards, and its buttons are at the bottom.
        screen = self.screen().availableGeometry()
        lowest = screen.top() + self.highest() - self.height()
        if self.y() > lowest:
            self.move(self.x(), max(lowest, screen.top()))

    def highest(self) -> int:
        """Return the height of the window, or that of the screen less the frame that window managers add."""
        window = self.parentWidget()
        height = (
            max(window.window().height(), _LEAST_HEIGHT)
            if isinstance(window, QWidget)
            else _LEAST_HEIGHT
        )
        return min(height, self.screen().availableGeometry().height() - 5 * GRID)

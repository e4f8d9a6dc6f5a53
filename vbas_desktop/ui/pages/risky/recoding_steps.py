"""The recoding steps made so far with their changes, and a footer with the anonymity and the detail that is left."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton, QWidget

from vbas_desktop.analysis.minimal_uniques.recoding_loop import RecodingChange, RecodingStep
from vbas_desktop.model.text import escape_controls, format_count

from ...core.context import UiContext
from ...core.theme import GRID
from ...state.risky import RiskyPageState, RiskySetup
from ...widgets.fields import heading_label, hint_label, message_label, set_variant
from ...widgets.layouts import button, vbox, with_properties
from ...widgets.notice_bar import FlowLayout
from ...widgets.plain_text import set_tool_tip

_STEP = "Coarsen the columns of the smallest risky combinations"
_ABOUT = "“Next step” coarsens the columns of the smallest risky combinations; “All steps” goes on to the end."
_EXPORT = "Write the coarsened file, verified by reading back"


class RecodingStepsView(QWidget):
    """List of steps with the buttons for the next ones; the signals tell which was pressed."""

    step_requested = Signal()
    run_requested = Signal()
    undo_requested = Signal()
    export_requested = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self.buttons: dict[str, QPushButton] = {}
        bar = FlowLayout(GRID // 2)
        bar.addWidget(heading_label("Steps"))
        for name, text, icon, tip, keys, signal in (
            ("step", "Next step", "", _STEP, "Alt+Right", self.step_requested),
            (
                "run",
                "All steps",
                "run",
                "Coarsen until nothing risky is left",
                "Alt+End",
                self.run_requested,
            ),
            ("undo", "Undo", "undo", "Take the last step back", "Alt+Left", self.undo_requested),
            ("export", "E&xport…", "export", _EXPORT, "", self.export_requested),
        ):
            self.buttons[name] = button(text, signal, tip, keys)
            context.theme.set_icon(self.buttons[name], icon)
            bar.addWidget(self.buttons[name])
        self.steps = with_properties(
            QListWidget(),
            wordWrap=True,
            alternatingRowColors=True,
            accessibleName="Steps made so far",
            minimumHeight=48,
        )
        self.empty = hint_label(_ABOUT)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        vbox(self.empty, within=self.steps.viewport())
        self.anonymity = message_label()
        self.information = message_label()
        self.exempted = message_label(look="error")
        self.unsearched = message_label(look="warning")
        foot = (self.anonymity, self.information, self.exempted, self.unsearched)
        vbox(bar, (self.steps, 1), *foot, within=self, margins=0, spacing=GRID // 2)
        self.show_state(None)

    def show_state(self, state: RiskyPageState | None) -> None:
        """Show the steps, and the anonymity that they led to."""
        self.steps.clear()
        self.empty.setVisible(state is None)
        for label in (self.anonymity, self.exempted, self.information):
            label.setVisible(state is not None)
        if state is None:
            return
        start = state.session.start.table
        k = start.anonymity
        self._add(
            f"Start: {format_count(start.records, 'record')}, smallest class {'–' if k is None else f'{k:,}'}"
        )
        for number, step in enumerate(state.session.steps, 1):
            self._add(describe_step(number, step))
        self.steps.scrollToBottom()
        self._show_foot(state)

    def _add(self, text: str) -> None:
        item = QListWidgetItem(escape_controls(text))
        set_tool_tip(item, text)
        self.steps.addItem(item)

    def _show_foot(self, state: RiskyPageState) -> None:
        table = state.state.table
        k = state.session.plan.k
        reached = table.anonymity is None or table.anonymity >= k
        smallest = (
            "no record is left" if table.anonymity is None else f"smallest class {table.anonymity:,}"
        )
        searched = format_count(len(table.columns), "searched column")
        self.anonymity.setText(
            f"{smallest.capitalize()}: {'' if reached else 'not yet '}{k}-anonymous, counting the {searched} only"
        )
        set_tool_tip(
            self.anonymity, f"Over {', '.join(table.columns)} together, whatever rules let pass"
        )
        set_variant(self.anonymity, "good" if reached else "warning")
        suppressed = state.state.suppressed
        suppression = f", {format_count(suppressed, 'record')} suppressed" if suppressed else ""
        detail = state.listing.detail
        changed = [
            column.in_words() for column in detail.columns if column.values_after < column.values_before
        ]
        left = f"; distinct values: {'; '.join(changed)}" if changed else ""
        self.information.setText(
            f"{100 * detail.information_loss:.0f} % of the information lost{suppression}{left}"
        )
        set_tool_tip(
            self.information,
            "Mean over the searched columns; for each column the entropy of the values given the coarsened ones, "
            "divided by the entropy of the values",
        )
        passed = state.listing.search.exempted
        self.exempted.setVisible(passed > 0)
        rules = "; ".join(str(rule) for rule in state.session.plan.domain_rules)
        not_anonymous = "" if reached else f" The result is not {k}-anonymous in the searched columns."
        self.exempted.setText(
            f"Domain rules let {format_count(passed, 'risky combination')} pass.{not_anonymous}"
        )
        set_tool_tip(self.exempted, rules)

    def warn_of_unsearched(self, names: tuple[str, ...]) -> None:
        """Warn of columns that are written without having been searched: statements about k do not cover them."""
        self.unsearched.setText(
            f"Written without having been searched: {', '.join(names)}. With these, people may still stand out."
        )
        set_tool_tip(self.unsearched, "Search them too, or remove their ticks under Write")
        self.unsearched.setVisible(bool(names))

    def enable(self, setup: RiskySetup | None, state: RiskyPageState | None, busy: bool) -> None:
        """Enable the buttons that make sense now; after other settings there may be steps to repeat."""
        finished = state is not None and state.is_finished and state.setup == setup
        self.buttons["step"].setEnabled(setup is not None and not busy and not finished)
        self.buttons["run"].setEnabled(self.buttons["step"].isEnabled())
        self.buttons["undo"].setEnabled(state is not None and bool(state.session.steps) and not busy)
        self.buttons["export"].setEnabled(state is not None and not busy)


def describe_step(number: int, step: RecodingStep) -> str:
    """Describe a step on one line."""
    head = f"{number}. {step.combinations:,} of size {step.size}"
    return f"{head} → {'; '.join(describe_change(change) for change in step.changes)}"


def describe_change(change: RecodingChange) -> str:
    """Describe what was done to one column, or to records."""
    if change.column is None:
        return f"{format_count(change.records, 'record')} suppressed"
    values = f"{change.values_before:,} → {format_count(change.values_after, 'value')}"
    return f"{change.column}: {change.description} ({values})"

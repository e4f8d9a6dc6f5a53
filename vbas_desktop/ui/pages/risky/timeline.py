"""The steps made so far, what each changed, and a footer that says where that has led."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton, QWidget

from vbas_desktop.assessment.risky.loop import Change, Step
from vbas_desktop.model.names import escape_controls
from vbas_desktop.model.words import counted
from vbas_desktop.session.risky import RiskySetup, Work
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row
from vbas_desktop.ui.widgets.fields import muted, set_look, title, told
from vbas_desktop.ui.widgets.plain_text import set_tool_tip

_STEP = "Coarsen the columns of the smallest risky combinations"
_EXPORT = "Write the coarsened file, verified by reading back"


class Timeline(QWidget):
    """Signals: what the user wants next."""

    step_wanted = Signal()
    run_wanted = Signal()
    undo_wanted = Signal()
    export_wanted = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.buttons: dict[str, QPushButton] = {}
        bar = in_row((dress(title("Steps"), minimumWidth=1), 1), spacing=GRID // 2)
        for name, text, icon, tip, keys, signal in (
            ("step", "Step", "", _STEP, "Alt+Right", self.step_wanted),
            ("run", "Run", "run", "Step until nothing risky is left", "Alt+End", self.run_wanted),
            ("undo", "Undo", "undo", "Take the last step back", "Alt+Left", self.undo_wanted),
            ("export", "E&xport…", "export", _EXPORT, "", self.export_wanted),
        ):
            self.buttons[name] = button(text, signal, tip, keys, minimumWidth=5 * GRID)
            context.theme.set_icon(self.buttons[name], icon)
            bar.addWidget(self.buttons[name])
        self.steps = dress(
            QListWidget(),
            wordWrap=True,
            alternatingRowColors=True,
            accessibleName="Steps made so far",
            minimumHeight=48,
        )
        self.empty = muted("Step coarsens the columns of the smallest risky combinations; Run goes on to the end.")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        in_column(self.empty, within=self.steps.viewport())
        self.anonymity, self.kept = told(), told()
        self.exempted, self.unsearched = told(look="error"), told(look="warning")
        foot = (self.anonymity, self.kept, self.exempted, self.unsearched)
        in_column(bar, (self.steps, 1), *foot, within=self, margins=0, spacing=GRID // 2)
        self.show_work(None)

    def show_work(self, work: Work | None) -> None:
        """Show the history and where it stands."""
        self.steps.clear()
        self.empty.setVisible(work is None)
        for label in (self.anonymity, self.exempted, self.kept):
            label.setVisible(work is not None)
        if work is None:
            return
        start = work.coarsener.start.table
        k = start.anonymity
        self._add(f"Start: {counted(start.records, 'record')}, smallest class {'–' if k is None else f'{k:,}'}")
        for number, step in enumerate(work.coarsener.steps, 1):
            self._add(step_in_words(number, step))
        self.steps.scrollToBottom()
        self._show_foot(work)

    def _add(self, text: str) -> None:
        item = QListWidgetItem(escape_controls(text))
        set_tool_tip(item, text)
        self.steps.addItem(item)

    def _show_foot(self, work: Work) -> None:
        table, k = work.state.table, work.coarsener.plan.k
        reached = table.anonymity is None or table.anonymity >= k
        smallest = "no record is left" if table.anonymity is None else f"smallest class {table.anonymity:,}"
        searched = counted(len(table.columns), "searched column")
        self.anonymity.setText(
            f"{smallest.capitalize()}: {'' if reached else 'not yet '}{k}-anonymous, counting the {searched} only"
        )
        set_tool_tip(self.anonymity, f"Over {', '.join(table.columns)} together, whatever rules let pass")
        set_look(self.anonymity, "good" if reached else "warning")
        suppressed = work.state.suppressed
        lost = f", {counted(suppressed, 'record')} suppressed" if suppressed else ""
        detail = work.listing.detail
        changed = [column.in_words() for column in detail.columns if column.values_after < column.values_before]
        left = f"; distinct values: {'; '.join(changed)}" if changed else ""
        self.kept.setText(f"{100 * detail.information_loss:.0f} % of the information lost{lost}{left}")
        set_tool_tip(
            self.kept,
            "Mean over the searched columns; for each column the entropy of the values given the coarsened ones, "
            "divided by the entropy of the values",
        )
        passed = work.listing.search.exempted
        self.exempted.setVisible(passed > 0)
        rules = "; ".join(str(rule) for rule in work.coarsener.plan.domain_rules)
        not_anonymous = "" if reached else f" The result is not {k}-anonymous in the searched columns."
        self.exempted.setText(f"Domain rules let {counted(passed, 'risky combination')} pass.{not_anonymous}")
        set_tool_tip(self.exempted, rules)

    def tell_unsearched(self, names: tuple[str, ...]) -> None:
        """Say which columns the file is written with that nobody searched: what is said of k does not cover them."""
        self.unsearched.setText(
            f"Written without having been searched: {', '.join(names)}. With these, people may still stand out."
        )
        set_tool_tip(self.unsearched, "Search them too, or remove their ticks under Write")
        self.unsearched.setVisible(bool(names))

    def enable(self, setup: RiskySetup | None, work: Work | None, busy: bool) -> None:
        """Which buttons make sense now; with other settings there may be something to do again."""
        finished = work is not None and work.finished and work.setup == setup
        self.buttons["step"].setEnabled(setup is not None and not busy and not finished)
        self.buttons["run"].setEnabled(self.buttons["step"].isEnabled())
        self.buttons["undo"].setEnabled(work is not None and bool(work.coarsener.steps) and not busy)
        self.buttons["export"].setEnabled(work is not None and not busy)


def step_in_words(number: int, step: Step) -> str:
    """One line of the timeline."""
    found = f"{number}. {step.combinations:,} of size {step.size}"
    return f"{found} → {'; '.join(change_in_words(change) for change in step.changes)}"


def change_in_words(change: Change) -> str:
    """What was done to one column, or to records."""
    if change.column is None:
        return f"{counted(change.records, 'record')} suppressed"
    return f"{change.column}: {change.words} ({change.values_before:,} → {counted(change.values_after, 'value')})"

"""The part of the page Policy that judges the shown solution: which policy, all criteria, the inhabitants."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget

from vbas_desktop.analysis.policy_evaluation import (
    CriterionResult,
    CriterionStatus,
    PolicyEvaluation,
    make_answer_key,
)
from vbas_desktop.app.policy import CopyPolicyRequest, JudgeRequest, Outcome, copy_policy, judge_solution
from vbas_desktop.io.documents.policies import load_bundled_policies
from vbas_desktop.model.text import escape_controls
from vbas_desktop.releases.reports.protection import population_rows

from ...core.context import UiContext
from ...core.theme import GRID
from ...widgets.fields import Field, clear_layout, heading_label, hint_label, message_label, set_variant
from ...widgets.file_dialogs import POLICY_FILES, ask_to_open, ask_to_save, open_outside, sibling_path
from ...widgets.file_field import FileField
from ...widgets.layouts import button, grid_layout, hbox, set_items, vbox, with_properties
from ...widgets.plain_text import Label, tool_tip

_LOOKS = {
    CriterionStatus.HELD: "good",
    CriterionStatus.MISSED: "error",
    CriterionStatus.ANSWERED: "good",
}
_NONE = "No policy"
_NO_POPULATION = "Choose a table, or a population column among the limits; then the k-map and the risk are shown here."


class PolicyResultView(QWidget):
    """Choose a policy, see how the shown solution fares by each criterion, answer what is asked of a person."""

    judged = Signal()

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._wanted: tuple[Any, ...] | None = None
        self.policy = QComboBox()
        policies = (
            (f"{item.name} ({item.date})", item.id, item.origin)
            for item in load_bundled_policies().values()
        )
        set_items(self.policy, [(_NONE, ""), *policies])
        self.policy.activated.connect(lambda: self.judge_by(self.policy.currentData()))
        # No letters: they would be those of the panel beside the page.
        copied = "Write the chosen policy, or an example, to a file, and open it to be changed"
        self.open = button(
            "Open a file…", self._on_open, "Judge by the policy in a file of your own", "Ctrl+Alt+P"
        )
        self.copy = button("Edit a copy…", self._on_copy, copied, "Ctrl+Alt+E")
        self.again = button(
            "Judge again", self._on_again, "Read the files again and judge again", "Ctrl+Alt+A"
        )
        table = "CSV file with region, quasi-identifiers and the number of people: k-map and risk are exact then"
        self.population = FileField("Table of the population", table, context.theme, clearable=True)
        with_properties(self.population.choose, shortcut="Ctrl+Alt+T", toolTip=f"{table} (Ctrl+Alt+T)")
        self.population.chosen.connect(lambda path: self._count_by(str(path)))
        self.population.cleared.connect(lambda: self._count_by(""))
        self.outcome = message_label()
        self.source = hint_label()
        self.problems = message_label(look="error")
        self.problems.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.answers: dict[str, QLineEdit] = {}
        self.lines: list[tuple[QLabel, QLabel]] = []
        self.risks: dict[str, QLabel] = {}
        self._criteria = grid_layout(across=2 * GRID, down=GRID // 2, shares=(3, 2))
        self._inhabitants = grid_layout(across=2 * GRID, down=GRID // 2, shares=(0, 1))
        by = Field("Judged by", self.policy, "Rules with their sources and dates, or one of your own")
        bottom = Qt.AlignmentFlag.AlignBottom
        vbox(
            heading_label("Policy"),
            hbox((by, 1), *((item, 0, bottom) for item in (self.open, self.copy, self.again))),
            self.problems,
            self.outcome,
            self.source,
            self._criteria,
            heading_label("Population risk"),
            self.population,
            self._inhabitants,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )

    @Slot()
    def refresh(self) -> None:
        """Judge what is shown now, unless it is judged."""
        state = self._context.state
        notes = state.policy
        entry = state.selected
        self._show_choice(notes.policy)
        self.population.show_file(Path(notes.population) if notes.population else None)
        is_counted = entry is not None and entry.problem is not None and not entry.run.outdated
        request = JudgeRequest(
            notes.policy,
            entry.problem if is_counted and entry is not None else None,
            entry.solution if is_counted and entry is not None else None,
            (entry.run.choices if entry is not None else state.choices).population_column,
            notes.population,
            dict(notes.notes),
        )
        # What is judged already is not judged again; files that were changed are read again by the button.
        key = (
            request.policy,
            request.problem,
            request.solution,
            request.column,
            request.population,
            tuple(sorted(request.answers.items())),
        )
        if key != self._wanted:
            self._wanted = key
            self._context.background.start_latest(
                self, "Judging by the policy", partial(judge_solution, request), self._on_judged
            )

    @Slot()
    def _on_again(self) -> None:
        self._wanted = None
        self.refresh()

    def _show_choice(self, chosen: str) -> None:
        position = self.policy.findData(chosen)
        if position < 0:
            self.policy.addItem(escape_controls(Path(chosen).name), chosen)
            position = self.policy.count() - 1
            self.policy.setItemData(position, tool_tip(chosen), Qt.ItemDataRole.ToolTipRole)
        self.policy.setCurrentIndex(position)

    def _on_judged(self, outcome: Outcome) -> None:
        self.problems.setText("\n".join(outcome.problems))
        self.problems.setVisible(bool(outcome.problems))
        judgement = outcome.judgement
        self.outcome.setVisible(judgement is not None)
        self.source.setVisible(judgement is not None)
        if judgement is not None:
            self.outcome.setText(judgement.in_words)
            set_variant(
                self.outcome, "live" if judgement.met is None else "good" if judgement.met else "error"
            )
            policy = judgement.policy
            look_up = f" Check before you rely on it: {policy.check}" if policy.check else ""
            self.source.setText(f"{policy.origin}. {policy.source}{look_up}")
        if not any(answer.hasFocus() for answer in self.answers.values()):
            self._show_criteria(judgement)
        self._show_inhabitants(outcome)
        self.judged.emit()

    def _show_criteria(self, judgement: PolicyEvaluation | None) -> None:
        clear_layout(self._criteria)
        self.answers = {}
        self.lines = []
        for number, result in enumerate(judgement.criteria if judgement is not None else ()):
            assert judgement is not None
            criterion = message_label(result.demand.text, toolTip=result.demand.note)
            verdict = message_label(_verdict(result), _LOOKS.get(result.verdict, "warning"))
            self._criteria.addWidget(criterion, number, 0, Qt.AlignmentFlag.AlignTop)
            self.lines.append((criterion, verdict))
            if result.demand.question:
                self._criteria.addWidget(
                    self._answer(make_answer_key(judgement.policy, number), result), number, 1
                )
            else:
                self._criteria.addWidget(verdict, number, 1, Qt.AlignmentFlag.AlignTop)

    def _answer(self, key: str, result: CriterionResult) -> QLineEdit:
        answer = with_properties(
            QLineEdit(result.actual),
            placeholderText="For a person to answer",
            accessibleName=f"Answer: {result.demand.question}",
        )
        answer.editingFinished.connect(lambda: self._on_answered(key, answer.text()))
        self.answers[key] = answer
        return answer

    def _show_inhabitants(self, outcome: Outcome) -> None:
        clear_layout(self._inhabitants)
        self.risks = {}
        if outcome.population is None:
            self._inhabitants.addWidget(hint_label(_NO_POPULATION), 0, 0, 1, 2)
            return
        for number, (name, value) in enumerate(population_rows(outcome.population)):
            self.risks[name] = message_label(value)
            self._inhabitants.addWidget(Label(name), number, 0, Qt.AlignmentFlag.AlignTop)
            self._inhabitants.addWidget(self.risks[name], number, 1)

    def _on_answered(self, key: str, text: str) -> None:
        state = self._context.state
        state.set_policy_notes(state.policy.with_note(key, text))

    def judge_by(self, policy: str) -> None:
        """Judge by another policy: an id or the path of a file."""
        state = self._context.state
        state.set_policy_notes(state.policy.with_policy(policy=policy))

    def _count_by(self, population: str) -> None:
        state = self._context.state
        state.set_policy_notes(state.policy.with_policy(population=population))

    @Slot()
    def _on_open(self) -> None:
        source = self._context.state.records_path
        folder = None if source is None else source.parent
        ask_to_open(self, "Judge by a policy of your own", POLICY_FILES, folder, self.judge_by)

    @Slot()
    def _on_copy(self) -> None:
        source = self._context.state.records_path or Path("records.csv")
        ask_to_save(
            self,
            "Write a copy of the policy",
            POLICY_FILES,
            sibling_path(source, "our-policy.toml"),
            self.copy_to,
        )

    def copy_to(self, chosen: str) -> None:
        """Write the chosen policy, or an example, to a file, judge by that, and open it to be changed."""
        state = self._context.state
        request = CopyPolicyRequest(state.policy.policy, Path(chosen), state.named_inputs())
        self._context.worker.start("Writing the policy", partial(copy_policy, request), self._on_copied)

    def _on_copied(self, path: Path) -> None:
        self.judge_by(str(path))
        self._context.show_message(
            f"{path.name} is the policy now. Change it, save it, and press “Judge again”."
        )
        open_outside(path)


def _verdict(result: CriterionResult) -> str:
    actual = f": {result.actual}" if result.actual else ""
    return f"{result.verdict}{actual}" + (f" ({result.reason})" if result.reason else "")

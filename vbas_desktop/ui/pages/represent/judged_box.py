"""The part of the page Policy that judges the shown solution: which policy, all criteria, the inhabitants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget

from vbas_desktop.assessment.policies import Judged, Judgement, Verdict, answer_key
from vbas_desktop.io.policies import bundled
from vbas_desktop.jobs.policy import CopyPolicyJob, JudgeJob, Outcome
from vbas_desktop.model.names import escape_controls
from vbas_desktop.release.report.policy import population_rows
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_grid, in_row, offer
from vbas_desktop.ui.widgets.fields import Field, clear, muted, set_look, title, told
from vbas_desktop.ui.widgets.file_dialogs import ask_to_open, ask_to_save, beside, open_outside
from vbas_desktop.ui.widgets.file_row import FileRow
from vbas_desktop.ui.widgets.plain_text import Label, tool_tip
from vbas_desktop.ui.worker import Latest

POLICY_FILES = "Policies (*.toml);;All files (*)"
_LOOKS = {Verdict.HELD: "good", Verdict.MISSED: "error", Verdict.ANSWERED: "good"}
_NONE = "No policy"
_NO_POPULATION = "Choose a table, or a population column among the limits; then the k-map and the risk are shown here."


class JudgedBox(QWidget):
    """Choose a policy, see how the shown solution fares by each criterion, answer what is asked of a person."""

    judged = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._latest = Latest(context.quiet_runner, "Judging by the policy", self)
        self._wanted: tuple[Any, ...] | None = None
        self.policy = QComboBox()
        policies = ((f"{each.name} ({each.date})", each.id, each.origin) for each in bundled().values())
        offer(self.policy, [(_NONE, ""), *policies])
        self.policy.activated.connect(lambda: self.judge_by(self.policy.currentData()))
        # No letters: they would be those of the panel beside the page.
        copied = "Write the chosen policy, or an example, to a file, and open it to be changed"
        self.open = button("Open a file…", self._on_open, "Judge by the policy in a file of your own", "Ctrl+Alt+P")
        self.copy = button("Edit a copy…", self._on_copy, copied, "Ctrl+Alt+E")
        self.again = button("Judge again", self._on_again, "Read the files again and judge again", "Ctrl+Alt+A")
        table = "CSV file with region, quasi-identifiers and the number of people: k-map and risk are exact then"
        self.population = FileRow("Table of the population", table, context.theme, clearable=True)
        dress(self.population.choose, shortcut="Ctrl+Alt+T", toolTip=f"{table} (Ctrl+Alt+T)")
        self.population.chosen.connect(lambda path: self._count_by(str(path)))
        self.population.cleared.connect(lambda: self._count_by(""))
        self.outcome, self.source, self.problems = told(), muted(), told(look="error")
        self.problems.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.answers: dict[str, QLineEdit] = {}
        self.lines: list[tuple[QLabel, QLabel]] = []
        self.risks: dict[str, QLabel] = {}
        self._criteria = in_grid(across=2 * GRID, down=GRID // 2, shares=(3, 2))
        self._inhabitants = in_grid(across=2 * GRID, down=GRID // 2, shares=(0, 1))
        by = Field("Judged by", self.policy, "Rules with their sources and dates, or one of your own")
        bottom = Qt.AlignmentFlag.AlignBottom
        in_column(
            title("Policy"),
            in_row((by, 1), *((each, 0, bottom) for each in (self.open, self.copy, self.again))),
            self.problems,
            self.outcome,
            self.source,
            self._criteria,
            title("Risk among the inhabitants"),
            self.population,
            self._inhabitants,
            within=self,
            margins=0,
            spacing=GRID // 2,
        )

    @Slot()
    def refresh(self) -> None:
        """Judge what is shown now, unless it is judged."""
        session = self._context.session
        notes, entry = session.policy, session.selected
        self._show_choice(notes.policy)
        self.population.show_file(Path(notes.population) if notes.population else None)
        known = entry is not None and entry.problem is not None and not entry.run.outdated
        job = JudgeJob(
            notes.policy,
            entry.problem if known and entry is not None else None,
            entry.solution if known and entry is not None else None,
            (entry.run.choices if entry is not None else session.choices).population_column,
            notes.population,
            dict(notes.notes),
        )
        # What is judged already is not judged again; files that were changed are read again by the button.
        wanted = (job.policy, job.problem, job.solution, job.column, job.population, tuple(sorted(job.answers.items())))
        if wanted != self._wanted:
            self._wanted = wanted
            self._latest.want(job.execute, self._on_judged)

    @Slot()
    def _on_again(self) -> None:
        self._wanted = None
        self.refresh()

    def _show_choice(self, chosen: str) -> None:
        place = self.policy.findData(chosen)
        if place < 0:
            self.policy.addItem(escape_controls(Path(chosen).name), chosen)
            place = self.policy.count() - 1
            self.policy.setItemData(place, tool_tip(chosen), Qt.ItemDataRole.ToolTipRole)
        self.policy.setCurrentIndex(place)

    def _on_judged(self, outcome: Outcome) -> None:
        self.problems.setText("\n".join(outcome.problems))
        self.problems.setVisible(bool(outcome.problems))
        judgement = outcome.judgement
        self.outcome.setVisible(judgement is not None)
        self.source.setVisible(judgement is not None)
        if judgement is not None:
            self.outcome.setText(judgement.in_words)
            set_look(self.outcome, "live" if judgement.met is None else "good" if judgement.met else "error")
            policy = judgement.policy
            look_up = f" Check before you rely on it: {policy.check}" if policy.check else ""
            self.source.setText(f"{policy.origin}. {policy.source}{look_up}")
        if not any(answer.hasFocus() for answer in self.answers.values()):
            self._show_criteria(judgement)
        self._show_inhabitants(outcome)
        self.judged.emit()

    def _show_criteria(self, judgement: Judgement | None) -> None:
        clear(self._criteria)
        self.answers, self.lines = {}, []
        for number, each in enumerate(judgement.criteria if judgement is not None else ()):
            assert judgement is not None
            criterion = told(each.demand.text, toolTip=each.demand.note)
            verdict = told(_verdict(each), _LOOKS.get(each.verdict, "warning"))
            self._criteria.addWidget(criterion, number, 0, Qt.AlignmentFlag.AlignTop)
            self.lines.append((criterion, verdict))
            if each.demand.question:
                self._criteria.addWidget(self._answer(answer_key(judgement.policy, number), each), number, 1)
            else:
                self._criteria.addWidget(verdict, number, 1, Qt.AlignmentFlag.AlignTop)

    def _answer(self, key: str, each: Judged) -> QLineEdit:
        answer = dress(
            QLineEdit(each.actual),
            placeholderText="For a person to answer",
            accessibleName=f"Answer: {each.demand.question}",
        )
        answer.editingFinished.connect(lambda: self._on_answered(key, answer.text()))
        self.answers[key] = answer
        return answer

    def _show_inhabitants(self, outcome: Outcome) -> None:
        clear(self._inhabitants)
        self.risks = {}
        if outcome.population is None:
            self._inhabitants.addWidget(muted(_NO_POPULATION), 0, 0, 1, 2)
            return
        for number, (name, value) in enumerate(population_rows(outcome.population)):
            self.risks[name] = told(value)
            self._inhabitants.addWidget(Label(name), number, 0, Qt.AlignmentFlag.AlignTop)
            self._inhabitants.addWidget(self.risks[name], number, 1)

    def _on_answered(self, key: str, text: str) -> None:
        session = self._context.session
        session.note_policy(session.policy.noted(key, text))

    def judge_by(self, policy: str) -> None:
        """Judge by another policy: an id or the path of a file."""
        session = self._context.session
        session.note_policy(session.policy.judging(policy=policy))

    def _count_by(self, population: str) -> None:
        session = self._context.session
        session.note_policy(session.policy.judging(population=population))

    @Slot()
    def _on_open(self) -> None:
        source = self._context.session.records_path
        folder = None if source is None else source.parent
        ask_to_open(self, "Judge by a policy of your own", POLICY_FILES, folder, self.judge_by)

    @Slot()
    def _on_copy(self) -> None:
        source = self._context.session.records_path or Path("records.csv")
        ask_to_save(self, "Write a copy of the policy", POLICY_FILES, beside(source, "our-policy.toml"), self.copy_to)

    def copy_to(self, chosen: str) -> None:
        """Write the chosen policy, or an example, to a file, judge by that, and open it to be changed."""
        session = self._context.session
        job = CopyPolicyJob(session.policy.policy, Path(chosen), session.named_inputs())
        self._context.runner.start("Writing the policy", job.execute, self._on_copied)

    def _on_copied(self, path: Path) -> None:
        self.judge_by(str(path))
        self._context.say(f"{path.name} is the policy now. Change it, save it, and press “Judge again”.")
        open_outside(path)


def _verdict(each: Judged) -> str:
    found = f": {each.actual}" if each.actual else ""
    return f"{each.verdict}{found}" + (f" ({each.reason})" if each.reason else "")

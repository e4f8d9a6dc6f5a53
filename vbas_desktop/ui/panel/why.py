"""Why an aggregated region lost records: its classes below k, in the words of the file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from vbas_desktop.engine.limits import in_words, unmet_of
from vbas_desktop.engine.region_table import Handover, SmallClass, anonymity_vector, handovers, in_sentences, why
from vbas_desktop.model.names import escape_controls
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.words import agreeing, counted
from vbas_desktop.session.words import vector_in_words
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.map.preparer import Key, key_of, preparer_of
from vbas_desktop.ui.map.shown import Shown
from vbas_desktop.ui.theme import GRID, tabular
from vbas_desktop.ui.widgets.building import dress, in_column
from vbas_desktop.ui.widgets.fields import muted
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip
from vbas_desktop.ui.widgets.tables import set_up_table
from vbas_desktop.ui.worker import Latest, Recent

HELP = (
    "Classes of one record, of two, and so on below k, then all others: of two solutions, the one with fewer small "
    "classes hides people better"
)


class VectorLine(Label):
    """Follows the solution that is shown; hidden while there is none or its records are not counted."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._preparer = preparer_of(context)
        dress(self, look="muted", wordWrap=True, toolTip=HELP, font=tabular(self.font()))
        self.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        self._preparer.changed.connect(self._on_prepared)
        self._on_prepared()

    @Slot()
    def _on_prepared(self) -> None:
        shown = self._preparer.shown
        table, problem = (shown.table, shown.problem) if shown is not None else (None, None)
        self.setVisible(table is not None)
        if shown is not None and table is not None and problem is not None:
            words = vector_in_words(table.vector, problem.k)
            self.setText(f"Solution {shown.number:,} before suppression has these classes: {words}.")


_STAGE = "Looking for classes below k"
_NOTHING_CHOSEN = "Choose a row, or click on the map, to see which classes cost records there."

_LISTED = 500
"""How many classes are listed; the rest are summed up in one row."""

_MOVED = 2
"""How many neighbours are named at once; the tip names all."""

_BACK = "Records fewer: than if those of this neighbour were handed back and all else stayed."

_KEPT = 64
"""How many explanations are kept."""


@dataclass(frozen=True, eq=False)
class Reason:
    """Why a region lost records, and what a refinement handed over.

    It holds on to what it was found in, so that their identities stay theirs.
    """

    solution: Solution
    problem: Problem
    classes: list[SmallClass]
    vector: NDArray[np.int64]
    handovers: tuple[Handover, ...]


def reason_of(problem: Problem, solution: Solution, region: int, progress: Progress) -> Reason:
    """Why a region lost records; runs in the thread."""
    progress.update(_STAGE)
    classes, vector = why(problem, solution, region), anonymity_vector(problem, solution, region)
    return Reason(solution, problem, classes, vector, handovers(problem, solution, region))


class WhyView(QWidget):
    """Lists the classes of one region that cost records. They are found in the background."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._wanted: tuple[Shown, int] | None = None
        self._latest = Latest(context.quiet_runner, _STAGE, self)
        self._known: Recent[tuple[Key, int], Reason] = Recent(_KEPT)
        self.headline = dress(Label(), wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.unmet = dress(Label(), wordWrap=True, look="warning")
        self.vector = dress(muted(), toolTip=HELP)
        self.moved = muted()
        self.classes = QTableWidget()
        set_up_table(self.classes, "Classes below k")
        in_column(
            self.unmet,
            self.headline,
            self.vector,
            self.moved,
            (self.classes, 1),
            0,
            within=self,
            margins=(GRID, GRID, GRID, 0),
        )
        self._tell(_NOTHING_CHOSEN)

    def show_region(self, shown: Shown | None, region: int | None) -> None:
        """Explain another aggregated region; None: none."""
        wanted = None if shown is None or region is None else (shown, region)
        if wanted is not None and wanted == self._wanted:
            return
        self._wanted = wanted
        self._latest.forget()
        self._tell_unmet()
        if wanted is None:
            self._tell(_NOTHING_CHOSEN)
        elif wanted[0].problem is None:
            self._tell("The records are not counted yet. Press Run or open the files to see why records were lost.")
        else:
            self._find(wanted[0], wanted[0].problem, wanted[1])

    def _tell_unmet(self) -> None:
        """The wishes that the region does not meet."""
        unmet: list[str] = []
        if self._wanted is not None:
            shown, region = self._wanted
            code = shown.geometry.codes[region]
            unmet = [in_words(each) for each in unmet_of(shown.solution) if each["region"] == code]
        self.unmet.setText("; ".join(unmet) + "." if unmet else "")
        self.unmet.setVisible(bool(unmet))

    def _tell(self, text: str) -> None:
        self.headline.setText(text)
        self.vector.hide()
        self.moved.hide()
        self.classes.setRowCount(0)
        self.classes.setVisible(False)

    def _find(self, shown: Shown, problem: Problem, region: int) -> None:
        key = key_of(shown), region

        def found(reason: Reason) -> None:
            self._known.put(key, reason)
            self._show(shown, region, reason.classes)
            self.vector.setText(f"Classes before suppression: {vector_in_words(reason.vector, problem.k)}.")
            self.vector.show()
            moved = in_sentences(reason.handovers, shown.geometry.codes, _MOVED)
            self.moved.setText(" ".join(("By the refinement:", *moved)))
            every = in_sentences(reason.handovers, shown.geometry.codes)
            set_tool_tip(self.moved, "\n".join((*every, _BACK)))
            self.moved.setVisible(bool(moved))

        known = self._known.get(key)
        if known is not None:
            found(known)
        else:
            self._latest.want(partial(reason_of, problem, shown.solution, region), found)

    def _show(self, shown: Shown, region: int, classes: list[SmallClass]) -> None:
        assert shown.problem is not None
        lost, k = sum(each.size for each in classes), shown.problem.k
        code = shown.geometry.codes[region]
        if not classes:
            self._tell(f"Aggregated region {code} lost no records: all its classes have {k:,} or more.")
            return
        few = f"with fewer than {k:,} records"
        if shown.problem.judged_columns:
            few = f"with fewer than {k:,} records or with sensitive values that do not meet the criteria"
        places = _places_above(shown, region)
        if places:
            raised = sum(each.size for each in classes if each.tier is not None)
            self._tell(
                f"Aggregated region {code} has {counted(len(classes), 'class', 'classes')} {few}: "
                f"{counted(raised, 'record')} {agreeing(raised, 'is', 'are')} released in larger places, "
                f"{lost - raised:,} suppressed."
            )
        else:
            self._tell(
                f"Aggregated region {code} lost {counted(lost, 'record')} in "
                f"{counted(len(classes), 'class', 'classes')} {few}:"
            )
        self.classes.setVisible(True)
        judged = shown.problem.judged_columns
        titles = [*shown.problem.quasi_identifiers, *(["Released in"] if places else [])]
        titles += [*(["Because of"] if judged else []), "Records"]
        self.classes.setColumnCount(len(titles))
        self.classes.setHorizontalHeaderLabels([escape_controls(title) for title in titles])
        self.classes.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.classes.setRowCount(min(len(classes), _LISTED) + (len(classes) > _LISTED))
        for row, each in enumerate(classes[:_LISTED]):
            where = ("–" if each.tier is None else places[each.tier - 1],) if places else ()
            reason = ("sensitive values" if each.harmful else f"below {k:,}",) if judged else ()
            self._fill(row, (*each.labels, *where, *reason, f"{each.size:,}"))
        if len(classes) > _LISTED:
            rest = classes[_LISTED:]
            text = f"{len(rest):,} more classes"
            blank = [""] * (len(titles) - 2)
            self._fill(_LISTED, (text, *blank, f"{sum(each.size for each in rest):,}"))

    def _fill(self, row: int, texts: tuple[str, ...]) -> None:
        for column, text in enumerate(texts):
            item = QTableWidgetItem(escape_controls(text))
            if column == len(texts) - 1:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.classes.setItem(row, column, item)


def _places_above(shown: Shown, region: int) -> list[str]:
    """The codes of the larger places that an aggregated region lies in, tier by tier; none without tiers."""
    tiers, problem = shown.solution.tiers, shown.problem
    if tiers is None or problem is None:
        return []
    return [shown.codes[tier][int(tiers.ancestors[tier][region])] for tier in range(1, len(tiers))]

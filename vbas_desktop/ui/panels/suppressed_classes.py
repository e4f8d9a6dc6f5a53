"""Why an aggregated region lost records: its classes below k, in the words of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QHeaderView,
    QTableView,
    QWidget,
)

from vbas_desktop.engine.constraints import describe_unmet_target, list_unmet_targets
from vbas_desktop.engine.region_table import (
    RegionTransfer,
    SmallClass,
    count_class_sizes,
    describe_transfers,
    explain_suppression,
    list_transfers,
)
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.text import format_count, inflect

from ..core.context import UiContext
from ..core.theme import GRID, with_tabular_figures
from ..core.worker import LruCache
from ..map.map_cache import Key, key_of, map_cache_of
from ..presentation.scene import MapScene
from ..presentation.tables import TableColumn
from ..state.words import vector_in_words
from ..widgets.fields import hint_label
from ..widgets.layouts import vbox, with_properties
from ..widgets.plain_text import Label, set_tool_tip
from ..widgets.tables import TableModel, set_up_table, title_width

HELP = (
    "Classes of one record, of two, and so on below k, then all others: of two solutions, the one with fewer small "
    "classes hides people better"
)


class VectorLine(Label):
    """Follows the solution that is shown; hidden while there is none or its records are not counted."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._map_cache = map_cache_of(context)
        with_properties(
            self, look="muted", wordWrap=True, toolTip=HELP, font=with_tabular_figures(self.font())
        )
        self.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        self._map_cache.changed.connect(self._on_prepared)
        self._on_prepared()

    @Slot()
    def _on_prepared(self) -> None:
        scene = self._map_cache.shown
        table, problem = (scene.table, scene.problem) if scene is not None else (None, None)
        self.setVisible(table is not None)
        if scene is not None and table is not None and problem is not None:
            words = vector_in_words(table.vector, problem.k)
            self.setText(f"#{scene.number:,} before suppression has these classes: {words}.")


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
    handovers: tuple[RegionTransfer, ...]


def describe_region_loss(
    problem: Problem, solution: Solution, region: int, progress: Progress
) -> Reason:
    """Collect why a region lost records, in the worker's thread."""
    progress.update(_STAGE)
    classes = explain_suppression(problem, solution, region)
    vector = count_class_sizes(problem, solution, region)
    return Reason(solution, problem, classes, vector, list_transfers(problem, solution, region))


class SuppressedClassesView(QWidget):
    """Lists the classes of one region that cost records. They are found in the background."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._wanted: tuple[MapScene, int] | None = None
        self._background = context.background
        self._known: LruCache[tuple[Key, int], Reason] = LruCache(_KEPT)
        self.headline = with_properties(Label(), wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.unmet = with_properties(Label(), wordWrap=True, look="warning")
        self.vector = with_properties(hint_label(), toolTip=HELP)
        self.moved = hint_label()
        self._model: TableModel[_ClassRow] = TableModel((), self)
        self.classes = QTableView()
        self.classes.setModel(self._model)
        set_up_table(self.classes, "Classes below k")
        vbox(
            self.unmet,
            self.headline,
            self.vector,
            self.moved,
            (self.classes, 1),
            0,
            within=self,
            margins=(GRID, GRID, GRID, 0),
        )
        self._show_headline(_NOTHING_CHOSEN)

    def show_region(self, scene: MapScene | None, region: int | None) -> None:
        """Explain another aggregated region; None: none."""
        target = None if scene is None or region is None else (scene, region)
        if target is not None and target == self._wanted:
            return
        self._wanted = target
        self._background.forget(self)
        self._show_unmet_targets()
        if target is None:
            self._show_headline(_NOTHING_CHOSEN)
        elif target[0].problem is None:
            self._show_headline(
                "The records are not counted yet. Press Run or open the files to see why records were lost."
            )
        else:
            self._find(target[0], target[0].problem, target[1])

    def _show_unmet_targets(self) -> None:
        """List the targets of the constraints that the region does not meet."""
        unmet: list[str] = []
        if self._wanted is not None:
            scene, region = self._wanted
            code = scene.geometry.codes[region]
            unmet = [
                describe_unmet_target(target)
                for target in list_unmet_targets(scene.solution)
                if target["region"] == code
            ]
        self.unmet.setText("; ".join(unmet) + "." if unmet else "")
        self.unmet.setVisible(bool(unmet))

    def _show_headline(self, text: str) -> None:
        """Show a sentence and hide the classes below it."""
        self.headline.setText(text)
        self.vector.hide()
        self.moved.hide()
        self._model.set_rows(())
        self.classes.setVisible(False)

    def _find(self, scene: MapScene, problem: Problem, region: int) -> None:
        key = key_of(scene), region

        def show_reason(reason: Reason) -> None:
            self._known.put(key, reason)
            self._show(scene, region, reason.classes)
            self.vector.setText(
                f"Classes before suppression: {vector_in_words(reason.vector, problem.k)}."
            )
            self.vector.show()
            moved = describe_transfers(reason.handovers, scene.geometry.codes, _MOVED)
            self.moved.setText(" ".join(("By the refinement:", *moved)))
            every = describe_transfers(reason.handovers, scene.geometry.codes)
            set_tool_tip(self.moved, "\n".join((*every, _BACK)))
            self.moved.setVisible(bool(moved))

        cached = self._known.get(key)
        if cached is not None:
            show_reason(cached)
        else:
            work = partial(describe_region_loss, problem, scene.solution, region)
            self._background.start_latest(self, _STAGE, work, show_reason)

    def _show(self, scene: MapScene, region: int, classes: list[SmallClass]) -> None:
        assert scene.problem is not None
        records = sum(small_class.size for small_class in classes)
        k = scene.problem.k
        code = scene.geometry.codes[region]
        if not classes:
            self._show_headline(
                f"Aggregated region {code} lost no records: all its classes have {k:,} or more."
            )
            return
        few = f"with fewer than {k:,} records"
        if scene.problem.judged_columns:
            few = f"with fewer than {k:,} records or with sensitive values that do not meet the criteria"
        ancestors = _places_above(scene, region)
        if ancestors:
            raised = sum(small_class.size for small_class in classes if small_class.tier is not None)
            self._show_headline(
                f"Aggregated region {code} has {format_count(len(classes), 'class', 'classes')} {few}: "
                f"{format_count(raised, 'record')} {inflect(raised, 'is', 'are')} released in larger areas, "
                f"{records - raised:,} suppressed."
            )
        else:
            self._show_headline(
                f"Aggregated region {code} lost {format_count(records, 'record')} in "
                f"{format_count(len(classes), 'class', 'classes')} {few}:"
            )
        self.classes.setVisible(True)
        self._model.set_rows(_list_class_rows(classes), _make_class_columns(scene.problem, ancestors))
        header = self.classes.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        # Where the titles need more room, the table is scrolled.
        header.setMinimumSectionSize(
            max(title_width(self.classes, column) for column in range(header.count()))
        )


@dataclass(frozen=True)
class _ClassRow:
    """A class below k, or ``n_classes`` more of them in one row."""

    size: int
    suppressed: SmallClass | None = None
    n_classes: int = 1


def _list_class_rows(classes: Sequence[SmallClass]) -> list[_ClassRow]:
    rows = [_ClassRow(small_class.size, small_class) for small_class in classes[:_LISTED]]
    rest = classes[_LISTED:]
    if rest:
        rows.append(_ClassRow(sum(small_class.size for small_class in rest), n_classes=len(rest)))
    return rows


def _make_class_columns(problem: Problem, ancestors: Sequence[str]) -> list[TableColumn[_ClassRow]]:
    """Make a column for each quasi-identifier, the larger area, the reason and the records."""

    def get_label(position: int, row: _ClassRow) -> str:
        if row.suppressed is not None:
            return row.suppressed.labels[position]
        return f"{row.n_classes:,} more classes" if position == 0 else ""

    def get_area(row: _ClassRow) -> str:
        if row.suppressed is None:
            return ""
        return "–" if row.suppressed.tier is None else ancestors[row.suppressed.tier - 1]

    def get_reason(row: _ClassRow) -> str:
        if row.suppressed is None:
            return ""
        return "sensitive values" if row.suppressed.harmful else f"below {problem.k:,}"

    columns: list[TableColumn[_ClassRow]] = [
        TableColumn(name, name, partial(get_label, position))
        for position, name in enumerate(problem.quasi_identifiers)
    ]
    if ancestors:
        columns.append(TableColumn("area", "Released in", get_area))
    if problem.judged_columns:
        columns.append(TableColumn("reason", "Because of", get_reason))
    columns.append(TableColumn("records", "Records", attrgetter("size"), side="right"))
    return columns


def _places_above(scene: MapScene, region: int) -> list[str]:
    """List the codes of the larger areas that an aggregated region lies in, tier by tier; none without tiers."""
    tiers = scene.solution.tiers
    problem = scene.problem
    if tiers is None or problem is None:
        return []
    return [scene.codes[tier][int(tiers.ancestors[tier][region])] for tier in range(1, len(tiers))]

"""The page Releases: the ledger beside the records, the check of the solution that is shown, and maps of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QTableView, QWidget

from vbas_desktop.app.ledger import LedgerComparison, compare_with_ledger, list_releases, remove_release
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.text import format_count
from vbas_desktop.releases.ledger import (
    Ledger,
    LedgerEntry,
    LedgerVerdict,
    find_membership,
    similar_audience,
)

from ...core.context import UiContext
from ...core.theme import GRID
from ...dialogs.messages import ask_question, ask_which_audience
from ...dialogs.release_target import find_ledger
from ...map.differences import changed_regions
from ...map.linked_maps import LinkedViews, RegionMap
from ...map.map_cache import map_cache_of
from ...presentation.region_geometry import RegionGeometry, coloured_like, prepare_solution_geometry
from ...presentation.scene import MapScene
from ...presentation.tables import TableColumn
from ...widgets.fields import Field, hint_label, message_label, set_variant
from ...widgets.layouts import button, hbox, splitter, vbox, with_properties
from ...widgets.notice_bar import NoticeAction, NoticeBar
from ...widgets.tables import TableModel, fit_columns, set_up_table

_NONE = "Nothing is recorded as handed over yet. After an export, choose “Record as handed over…”."
_LEAST_HEIGHT = 360
_CUT = "cut otherwise than in the release"
_NO_SOLUTION = "No solution is shown"
_CHECK = "Compare the solution that is shown with what this audience has"
_REUSE = "Run the open records with the regions and columns of the chosen release"
_JOIN = "Open the chosen release as data, so that its regions can be joined further"
_EXTRACT = "Write the chosen release once more, with those of its columns that you tick"
_REMOVING = (
    "Later exports are no longer compared with it, so that they may single out people beside what was handed over. "
    "Remove it only if it was never handed over. The files of the release stay."
)
_CHECKED = "Whether the solution that was checked would single people out beside this release"


def make_release_columns(verdict: LedgerVerdict | None) -> list[TableColumn[LedgerEntry]]:
    """Make the columns of the ledger's releases, the last with how the checked solution fares beside each."""
    k_tip = "Every combination of the quasi-identifiers in a region has at least so many records"
    names_tip = "Columns whose values together could single somebody out; counted for k"
    return [
        TableColumn("id", "Number", attrgetter("id"), format=str),
        TableColumn("date", "Date", attrgetter("date"), format=str),
        TableColumn("audience", "Recipient", attrgetter("audience")),
        TableColumn("records", "Records", attrgetter("records")),
        TableColumn("regions", "Regions", LedgerEntry.describe_regions),
        TableColumn("k", "k", attrgetter("k"), k_tip, str),
        TableColumn(
            "names", "Quasi-identifiers", lambda entry: ", ".join(entry.quasi_identifiers), names_tip
        ),
        TableColumn("remark", "Remark", attrgetter("comment"), "The note of whoever recorded it"),
        TableColumn("verdict", "Checked solution", partial(_describe_comparison, verdict), _CHECKED),
    ]


def _describe_comparison(verdict: LedgerVerdict | None, entry: LedgerEntry) -> str:
    against = () if verdict is None else verdict.comparisons
    comparison = next((candidate for candidate in against if candidate.entry.id == entry.id), None)
    if comparison is None:
        return ""
    if comparison.is_safe:
        return "safe"
    return f"{comparison.people:,} people" if comparison.people else "not safe"


class LedgerPage(QWidget):
    """Reads the ledger whenever it is opened; checks on demand."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self.model: TableModel[LedgerEntry] = TableModel(make_release_columns(None), self)
        self._ledger = Ledger()
        self._verdict = LedgerVerdict("")
        self.table = QTableView()
        self.said = message_label(alignment=Qt.AlignmentFlag.AlignTop)
        self.nothing = NoticeBar()
        self.maps = ReleaseMaps(context)
        self.beside = hint_label()
        set_up_table(self.table, "Releases that were handed over")
        self.table.setModel(self.model)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.audience = with_properties(QLineEdit(), placeholderText="anyone")
        # No letters: they would be those of the panel beside the page.
        self.check, self.reuse, self.join, self.extract, self.remove = (
            button(text, clicked, tip, keys)
            for text, keys, tip, clicked in (
                ("Check the shown solution", "Ctrl+Return", _CHECK, self._on_check),
                ("Use its regions", "Ctrl+Alt+U", _REUSE, lambda: self._use(join=False)),
                ("Join its regions", "Ctrl+Alt+J", _JOIN, lambda: self._use(join=True)),
                ("Only columns of it…", "Ctrl+Alt+K", _EXTRACT, self._on_extract),
                (
                    "Remove from the ledger",
                    "Ctrl+Del",
                    "Remove the chosen release from the ledger",
                    self._on_remove,
                ),
            )
        )
        audience = Field("Recipient", self.audience, "Who would get the solution that is shown")
        # Two rows: side by side they would not fit into a small window.
        check = hbox((audience, 1), (self.check, 0, Qt.AlignmentFlag.AlignBottom))
        chosen = hbox(self.reuse, self.join, self.extract, self.remove, 1)
        below = QWidget()
        parts = (check, chosen, self.said, self.beside, (self.maps, 1), 0)
        vbox(*parts, within=below, margins=(0, GRID // 2, 0, 0), spacing=GRID)
        handed = hint_label(
            "What was handed to whom. Every export from these records is compared with it."
        )
        self._whole = splitter(self.table, below, upright=True, sizes=(160, 640), growing=1)
        # The blank at the end takes the room while there is no release: what is said stands at the top.
        # Less than the maps would ask for: they take what is left, and the page fits into the window.
        self._whole.setMinimumHeight(_LEAST_HEIGHT)
        self._whole.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        whole = (self._whole, 1)
        margins = (2 * GRID, GRID, 2 * GRID, 2 * GRID)
        vbox(handed, self.nothing, whole, 0, within=self, margins=margins, spacing=GRID)
        self.table.selectionModel().selectionChanged.connect(self._on_chosen)
        self._on_chosen()

    def showEvent(self, event: QShowEvent) -> None:
        """Read the ledger again: others may have recorded something."""
        super().showEvent(event)
        self._read()

    def _show_ledger(self, ledger: Ledger, verdict: LedgerVerdict) -> None:
        self._ledger = ledger
        self._verdict = verdict
        self.model.set_rows(ledger.releases, make_release_columns(verdict))
        self._whole.setVisible(len(ledger) > 0)
        self.nothing.show_notice("" if len(ledger) else _NONE, self._list_first_steps())

    def _list_first_steps(self) -> list[NoticeAction]:
        """List what leads to a first release: exporting the shown solution, or looking for one."""
        if self._context.state.entries:
            return [NoticeAction("Export…", self._context.export, "Export the shown solution (Ctrl+E)")]
        return [NoticeAction("Back to the map", self._context.show_map, "Run a combination first (Esc)")]

    def _read(self) -> None:
        read = partial(list_releases, find_ledger(self._context.state))
        self._context.worker.start("Reading the ledger", read, self._on_read)

    def _on_read(self, ledger: Ledger) -> None:
        self._show_ledger(ledger, LedgerVerdict(""))
        fit_columns(self.table)
        self._say("", "muted")
        self._choose(len(ledger) - 1)
        self._on_chosen()

    def _choose(self, row: int) -> None:
        """Choose a release, so that its map is shown."""
        if row >= 0 and self._chosen is None:
            self.table.selectRow(row)

    @property
    def _chosen(self) -> LedgerEntry | None:
        rows = self.table.selectionModel().selectedRows()
        return self._ledger.releases[rows[0].row()] if rows else None

    def _use(self, join: bool) -> None:
        chosen = self._chosen
        if chosen is not None:
            self._context.use_earlier(chosen, join)

    @Slot()
    def _on_extract(self) -> None:
        chosen = self._chosen
        if chosen is not None:
            self._context.extract(chosen, self.audience.text().strip())

    def _say(self, text: str, look: str) -> None:
        self.said.setText(text)
        set_variant(self.said, look)

    @Slot()
    def _on_chosen(self) -> None:
        entry = self._context.state.selected
        chosen = self._chosen
        self.remove.setEnabled(chosen is not None)
        self.reuse.setEnabled(chosen is not None and not chosen.parents)
        self.join.setEnabled(chosen is not None and not chosen.parents)
        self.extract.setEnabled(chosen is not None and bool(chosen.folder) and len(chosen.columns) > 1)
        self.check.setEnabled(
            bool(len(self._ledger)) and entry is not None and entry.problem is not None
        )
        against = [
            comparison
            for comparison in self._verdict.comparisons
            if chosen is not None and comparison.entry.id == chosen.id
        ]
        # What would expose people is among what is said of all of them.
        self.beside.setText(against[0].text if against and against[0].is_safe else "")
        self.beside.setVisible(bool(self.beside.text()))
        self.maps.show_entry(chosen, self._ledger.key)

    @Slot()
    def _on_check(self) -> None:
        name = self.audience.text().strip()
        similar = similar_audience(name, (entry.audience for entry in self._ledger))
        if similar is None:
            self._compare()
        else:
            ask_which_audience(self, name, similar, partial(self._compare, similar), self._compare)

    def _compare(self, audience: str | None = None) -> None:
        """Compare the shown solution with what an audience has; None: the one in the field."""
        if audience is not None:
            self.audience.setText(audience)
        state = self._context.state
        entry = state.selected
        if entry is None or entry.problem is None or state.table is None:
            return
        request = LedgerComparison(
            find_ledger(state), self.audience.text().strip(), entry.problem, state.table, entry.solution
        )
        compare = partial(compare_with_ledger, request)
        self._context.worker.start("Comparing with earlier releases", compare, self._on_compared)

    def _on_compared(self, verdict: LedgerVerdict) -> None:
        chosen = self._chosen
        self._show_ledger(self._ledger, verdict)
        fit_columns(self.table)
        # The first that it would expose people beside, else the one that was chosen.
        ids = [comparison.entry.id for comparison in verdict.comparisons if not comparison.is_safe] + (
            [] if chosen is None else [chosen.id]
        )
        rows = [row for row, entry in enumerate(self._ledger) if entry.id in ids[:1]]
        self._choose(rows[0] if rows else len(self._ledger) - 1)
        self._on_chosen()
        safe = "Nobody would be singled out beside what this audience has."
        self._say(
            safe if verdict.is_safe else "\n".join(verdict.list_risks()),
            "good" if verdict.is_safe else "error",
        )

    @Slot()
    def _on_remove(self) -> None:
        chosen = self._chosen
        if chosen is not None:
            answers: dict[str, Callable[[], object]] = {
                "&Remove it": partial(self._remove, chosen),
                "Cancel": lambda: None,
            }
            box = ask_question(self, f"Remove {chosen.title} from the ledger?", _REMOVING, answers)
            box.setDefaultButton(box.escapeButton())  # type: ignore[call-overload]

    def _remove(self, entry: LedgerEntry) -> None:
        remove = partial(remove_release, find_ledger(self._context.state), entry.id)
        self._context.worker.start("Writing the ledger", remove, self._on_read)


@dataclass(frozen=True, eq=False)
class Pictures:
    """The map of a release, and the initial regions that the shown solution has elsewhere (None: there is none)."""

    earlier: MapScene
    changed: NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class PicturesJob:
    """Shape the aggregated regions of a release in the ledger, in the colours of the shown solution."""

    entry: LedgerEntry
    key: bytes
    base: RegionGeometry
    shown: MapScene | None

    def __call__(self, progress: Progress) -> Pictures:
        """Prepare."""
        owner = find_membership(self.entry, self.key, self.base.regions.ids)
        number = int(owner.max(initial=-1)) + 1
        solution = Solution(0, {}, {}, number, number, None, owner, {}, 0.0, 0, 0)
        geometry = prepare_solution_geometry(self.base, solution, progress)
        if self.shown is None:
            return Pictures(MapScene(0, solution, None, geometry, None, ()), None)
        changed = changed_regions(self.base, solution, self.shown.solution)
        geometry = coloured_like(geometry, self.shown.geometry)
        return Pictures(MapScene(0, solution, None, geometry, None, ()), changed)


class ReleaseMaps(QWidget):
    """The chosen release on the left, the shown solution on the right: same view, same hovering, same colours."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._map_cache = map_cache_of(context)
        self._entry: LedgerEntry | None = None
        self._key = b""
        self.earlier = RegionMap(context.theme)
        self.now = RegionMap(context.theme)
        self.earlier.canvas.setAccessibleName("Map of the earlier release")
        self.now.canvas.setAccessibleName("Map of the shown solution")
        self.earlier_title = message_label()
        self.now_title = message_label(_NO_SOLUTION)
        earlier = vbox(self.earlier_title, (self.earlier, 1), spacing=GRID // 2)
        now = vbox(self.now_title, (self.now, 1), spacing=GRID // 2)
        hbox((earlier, 1), (now, 1), within=self, margins=0, spacing=GRID)
        LinkedViews({linked.canvas: linked.show_hover_card for linked in (self.earlier, self.now)}, self)
        self._map_cache.changed.connect(self.refresh)
        self.hide()

    def show_entry(self, entry: LedgerEntry | None, key: bytes) -> None:
        """Show another release of a ledger with this key; None: nothing."""
        self._entry = entry
        self._key = key
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Draw what is shown now; nothing without data or without a release."""
        entry = self._entry
        base = self._map_cache.base
        scene = self._map_cache.shown
        self.setVisible(entry is not None and base is not None)
        if entry is None or base is None:
            self._context.background.forget(self)
            return
        base = base if scene is None else scene.geometry.base
        job = PicturesJob(entry, self._key, base, scene)
        on_result = partial(self._on_drawn, entry, scene)
        self._context.background.start_latest(self, "Drawing the earlier release", job, on_result)

    def _on_drawn(self, entry: LedgerEntry, scene: MapScene | None, pictures: Pictures) -> None:
        title = f"{entry.title[:1].upper()}{entry.title[1:]}"
        self.earlier_title.setText(
            f"{title}: {format_count(entry.aggregated_regions, 'aggregated region')}"
        )
        self.earlier.show_solution(pictures.earlier, None)
        if scene is None or pictures.changed is None:
            self.now_title.setText(_NO_SOLUTION)
            self.now.show_solution(None, None)
            return
        moved = int(pictures.changed.sum())
        cut = (
            f"{format_count(moved, 'initial region is', 'initial regions are')} {_CUT}"
            if moved
            else "the same regions"
        )
        regions = format_count(scene.solution.aggregated_regions, "aggregated region")
        self.now_title.setText(f"Solution #{scene.number:,}: {regions}; {cut}")
        self.now.show_solution(replace(scene, figures=()), None, pictures.changed, _CUT)

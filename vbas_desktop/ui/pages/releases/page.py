"""The page Releases: the ledger beside the records, the check of the solution that is shown, and maps of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QTableView, QWidget

from vbas_desktop.jobs.ledger import CompareJob, ReadLedgerJob, RemoveJob
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.solution import Solution
from vbas_desktop.model.words import counted
from vbas_desktop.release.ledger import Entry, Ledger, Verdict, partition_of, similar_audience
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.dialogs.export import ledger_of
from vbas_desktop.ui.dialogs.messages import ask_which_audience
from vbas_desktop.ui.map.differences import changed_regions
from vbas_desktop.ui.map.geometry import BaseGeometry, coloured_like, prepare_map
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.map.region_map import Link, RegionMap
from vbas_desktop.ui.map.shown import Shown
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row, split
from vbas_desktop.ui.widgets.fields import Field, muted, set_look, told
from vbas_desktop.ui.widgets.tables import Heading, TableModel, fit_columns, set_up_table
from vbas_desktop.ui.worker import Latest

_NONE = "Nothing is recorded as handed over. After an export, choose “Record as handed over…”."
_CUT = "cut otherwise than in the release"
_NO_SOLUTION = "No solution is shown"
_CHECK = "Compare the solution that is shown with what this audience has"
_REUSE = "Run the open records with the regions and columns of the chosen release"
_JOIN = "Open the chosen release as data, so that its regions can be joined further"
_EXTRACT = "Write the chosen release once more, with those of its columns that you tick"
_HEADINGS = (
    *map(Heading, ("Number", "Date", "Audience", "Records", "Regions")),
    Heading("k", "Every combination of the quasi-identifiers in a region has at least so many records"),
    Heading("Quasi-identifiers", "Columns whose values together could single somebody out; counted for k"),
    Heading("Remark", "The note of whoever recorded it"),
    Heading("Checked solution", "Whether the solution that was checked would single people out beside this release"),
)


class EntriesModel(TableModel):
    """One row for each release of the ledger, with how the checked solution fares beside it."""

    heads = _HEADINGS

    def __init__(self) -> None:
        super().__init__()
        self.ledger, self.verdict = Ledger(), Verdict("")

    def show_ledger(self, ledger: Ledger, verdict: Verdict | None = None) -> None:
        """Show another ledger, or another result of the check."""
        with self.anew():
            self.ledger, self.verdict, self.rows = ledger, verdict or Verdict(""), ledger.entries

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        entry = self.rows[row]
        beside = next((each for each in self.verdict.against if each.entry.id == entry.id), None)
        fares = "" if beside is None else "safe" if beside.safe else f"{beside.people:,} people" * bool(beside.people)
        cells: tuple[Any, ...] = (
            entry.id, entry.date, entry.audience, f"{entry.records:,}", entry.places_in_words, entry.k,
            ", ".join(entry.quasi_identifiers), entry.remark, fares or ("" if beside is None else "not safe"),
        )  # fmt: skip
        return str(cells[column])


class ReleasesPage(QWidget):
    """Reads the ledger whenever it is opened; checks on demand."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.model, self.table = EntriesModel(), QTableView()
        self.said = told(_NONE, alignment=Qt.AlignmentFlag.AlignTop)
        self.maps, self.beside = ReleaseMaps(context), muted()
        set_up_table(self.table, "Releases that were handed over")
        self.table.setModel(self.model)
        self.audience = dress(QLineEdit(), placeholderText="anybody")
        # No letters: they would be those of the panel beside the page.
        self.check, self.reuse, self.join, self.extract, self.remove = (
            button(text, clicked, tip, keys)
            for text, keys, tip, clicked in (
                ("Check the shown solution", "Ctrl+Return", _CHECK, self._on_check),
                ("Use its regions", "Ctrl+Alt+U", _REUSE, lambda: self._use(join=False)),
                ("Join its regions", "Ctrl+Alt+J", _JOIN, lambda: self._use(join=True)),
                ("Only columns of it…", "Ctrl+Alt+K", _EXTRACT, self._on_extract),
                ("Remove from the ledger", "Ctrl+Del", "Remove the chosen release from the ledger", self._on_remove),
            )
        )
        audience = Field("Audience", self.audience, "Who would get the solution that is shown")
        # Two rows: side by side they would not fit into a small window.
        check = in_row((audience, 1), (self.check, 0, Qt.AlignmentFlag.AlignBottom))
        chosen = in_row(self.reuse, self.join, self.extract, self.remove, 1)
        below = QWidget()
        parts = (check, chosen, self.said, self.beside, (self.maps, 1), 0)
        in_column(*parts, within=below, margins=(0, GRID // 2, 0, 0), spacing=GRID)
        handed = muted("What was handed to whom. Every export from these records is compared with it.")
        whole = split(self.table, below, upright=True, sizes=(120, 680), growing=1)
        in_column(handed, (whole, 1), within=self, margins=(2 * GRID, GRID, 2 * GRID, 2 * GRID), spacing=GRID)
        self.table.selectionModel().selectionChanged.connect(self._on_chosen)
        self._on_chosen()

    def showEvent(self, event: QShowEvent) -> None:
        """Read the ledger again: others may have recorded something."""
        super().showEvent(event)
        self._read()

    def _read(self) -> None:
        job = ReadLedgerJob(ledger_of(self._context.session))
        self._context.runner.start("Reading the ledger", job.execute, self._on_read)

    def _on_read(self, ledger: Ledger) -> None:
        self.model.show_ledger(ledger)
        fit_columns(self.table)
        self._say("" if len(ledger) else _NONE, "muted")
        self._choose(len(ledger) - 1)
        self._on_chosen()

    def _choose(self, row: int) -> None:
        """Choose a release, so that its map is shown."""
        if row >= 0 and self._chosen is None:
            self.table.selectRow(row)

    @property
    def _chosen(self) -> Entry | None:
        rows = self.table.selectionModel().selectedRows()
        return self.model.ledger.entries[rows[0].row()] if rows else None

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
        set_look(self.said, look)

    @Slot()
    def _on_chosen(self) -> None:
        entry = self._context.session.selected
        chosen = self._chosen
        self.remove.setEnabled(chosen is not None)
        self.reuse.setEnabled(chosen is not None and not chosen.parents)
        self.join.setEnabled(chosen is not None and not chosen.parents)
        self.extract.setEnabled(chosen is not None and bool(chosen.folder) and len(chosen.columns) > 1)
        self.check.setEnabled(bool(len(self.model.ledger)) and entry is not None and entry.problem is not None)
        against = [each for each in self.model.verdict.against if chosen is not None and each.entry.id == chosen.id]
        # What would expose people is among what is said of all of them.
        self.beside.setText(against[0].text if against and against[0].safe else "")
        self.beside.setVisible(bool(self.beside.text()))
        self.maps.show_entry(chosen, self.model.ledger.key)

    @Slot()
    def _on_check(self) -> None:
        name = self.audience.text().strip()
        known = similar_audience(name, (entry.audience for entry in self.model.ledger))
        if known is None:
            self._compare()
        else:
            ask_which_audience(self, name, known, partial(self._compare, known), self._compare)

    def _compare(self, audience: str | None = None) -> None:
        """Compare the shown solution with what an audience has; None: the one in the field."""
        if audience is not None:
            self.audience.setText(audience)
        session = self._context.session
        entry = session.selected
        if entry is None or entry.problem is None or session.table is None:
            return
        job = CompareJob(ledger_of(session), self.audience.text().strip(), entry.problem, session.table, entry.solution)
        self._context.runner.start("Comparing with earlier releases", job.execute, self._on_compared)

    def _on_compared(self, verdict: Verdict) -> None:
        chosen = self._chosen
        self.model.show_ledger(self.model.ledger, verdict)
        fit_columns(self.table)
        # The first that it would expose people beside, else the one that was chosen.
        wanted = [each.entry.id for each in verdict.against if not each.safe] + ([] if chosen is None else [chosen.id])
        rows = [row for row, entry in enumerate(self.model.ledger) if entry.id in wanted[:1]]
        self._choose(rows[0] if rows else len(self.model.ledger) - 1)
        self._on_chosen()
        safe = "Nobody would be singled out beside what this audience has."
        self._say(safe if verdict.safe else "\n".join(verdict.words), "good" if verdict.safe else "error")

    @Slot()
    def _on_remove(self) -> None:
        chosen = self._chosen
        if chosen is not None:
            job = RemoveJob(ledger_of(self._context.session), chosen.id)
            self._context.runner.start("Writing the ledger", job.execute, self._on_read)


@dataclass(frozen=True, eq=False)
class Pictures:
    """The map of a release, and the initial regions that the shown solution has elsewhere (None: there is none)."""

    earlier: Shown
    changed: NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class PicturesJob:
    """Shape the aggregated regions of a release in the ledger, in the colours of the shown solution."""

    entry: Entry
    key: bytes
    base: BaseGeometry
    shown: Shown | None

    def __call__(self, progress: Progress) -> Pictures:
        """Prepare."""
        owner = partition_of(self.entry, self.key, self.base.regions.ids)
        number = int(owner.max(initial=-1)) + 1
        solution = Solution(0, {}, {}, number, number, None, owner, {}, 0.0, 0, 0)
        geometry = prepare_map(self.base, solution, progress)
        if self.shown is None:
            return Pictures(Shown(0, solution, None, geometry, None, ()), None)
        changed = changed_regions(self.base, solution, self.shown.solution)
        geometry = coloured_like(geometry, self.shown.geometry)
        return Pictures(Shown(0, solution, None, geometry, None, ()), changed)


class ReleaseMaps(QWidget):
    """The chosen release on the left, the shown solution on the right: same view, same hovering, same colours."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._preparer = preparer_of(context)
        self._latest = Latest(context.quiet_runner, "Drawing the earlier release", self)
        self._entry: Entry | None = None
        self._key = b""
        self.earlier, self.now = RegionMap(context.theme), RegionMap(context.theme)
        self.earlier.canvas.setAccessibleName("Map of the earlier release")
        self.now.canvas.setAccessibleName("Map of the shown solution")
        self.earlier_title, self.now_title = told(), told(_NO_SOLUTION)
        earlier = in_column(self.earlier_title, (self.earlier, 1), spacing=GRID // 2)
        now = in_column(self.now_title, (self.now, 1), spacing=GRID // 2)
        in_row((earlier, 1), (now, 1), within=self, margins=0, spacing=GRID)
        Link({each.canvas: each.tell for each in (self.earlier, self.now)}, self)
        self._preparer.changed.connect(self.refresh)
        self.hide()

    def show_entry(self, entry: Entry | None, key: bytes) -> None:
        """Show another release of a ledger with this key; None: nothing."""
        self._entry, self._key = entry, key
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Draw what is shown now; nothing without data or without a release."""
        entry, base, shown = self._entry, self._preparer.base, self._preparer.shown
        self.setVisible(entry is not None and base is not None)
        if entry is None or base is None:
            self._latest.forget()
            return
        base = base if shown is None else shown.geometry.base
        self._latest.want(PicturesJob(entry, self._key, base, shown), lambda found: self._on_drawn(entry, shown, found))

    def _on_drawn(self, entry: Entry, shown: Shown | None, found: Pictures) -> None:
        title = f"{entry.title[:1].upper()}{entry.title[1:]}"
        self.earlier_title.setText(f"{title}: {counted(entry.aggregated_regions, 'aggregated region')}")
        self.earlier.show_solution(found.earlier, None)
        if shown is None or found.changed is None:
            self.now_title.setText(_NO_SOLUTION)
            self.now.show_solution(None, None)
            return
        moved = int(found.changed.sum())
        cut = f"{counted(moved, 'initial region is', 'initial regions are')} {_CUT}" if moved else "the same regions"
        regions = counted(shown.solution.aggregated_regions, "aggregated region")
        self.now_title.setText(f"Solution {shown.number}: {regions}; {cut}")
        self.now.show_solution(replace(shown, figures=()), None, found.changed, _CUT)

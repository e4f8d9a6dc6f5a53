"""The page Releases: the ledger beside the records, the check of the solution that is shown, and maps of both."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QPushButton,
    QTableView,
    QWidget,
)

from vbas_desktop.jobs.ledger import CompareJob, ReadLedgerJob, RemoveJob
from vbas_desktop.release.ledger import Entry, Ledger, Verdict
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.dialogs.export import ledger_of
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import dress, in_column, in_row, split
from vbas_desktop.ui.widgets.fields import Field, muted, set_look
from vbas_desktop.ui.widgets.tables import Heading, TableModel, fit_columns, set_up_table

from .maps import ReleaseMaps

_NONE = "Nothing is recorded as handed over. After an export, choose “Record as handed over…”."
_HEADINGS = (
    *map(Heading, ("Number", "Date", "Audience", "Records", "Regions")),
    Heading("k", "Every combination of the quasi-identifiers in a region has at least so many records"),
    Heading("Quasi-identifiers", "Columns whose values together could single somebody out; counted for k"),
    Heading("Remark", "The note of whoever recorded it"),
    Heading("Beside it", "Whether the solution that was checked would single people out beside this release"),
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
        remark = f"despite the ledger: {entry.override}" if entry.override else entry.note
        told = "" if beside is None else "safe" if beside.safe else f"{beside.people:,} people" * bool(beside.people)
        cells: tuple[Any, ...] = (
            entry.id, entry.date, entry.audience, f"{entry.records:,}", entry.places_in_words, entry.k,
            ", ".join(entry.quasi_identifiers), remark, told or ("" if beside is None else "not safe"),
        )  # fmt: skip
        return str(cells[column])


class ReleasesPage(QWidget):
    """Reads the ledger whenever it is opened; checks on demand."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.model, self.table, self.said = EntriesModel(), QTableView(), QLabel(_NONE)
        self.maps, self.beside = ReleaseMaps(context), muted()
        set_up_table(self.table, "Releases that were handed over")
        self.table.setModel(self.model)
        dress(self.said, wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.audience = dress(QLineEdit(), placeholderText="anybody")
        self.check = QPushButton("Check the shown solution")
        self.remove = QPushButton("Remove from the ledger")
        self.reuse, self.join = QPushButton("Use its regions"), QPushButton("Join its regions")
        self.extract = QPushButton("Only columns of it…")
        # No letters: they would be those of the panel beside the page.
        for button, keys, told in (
            (self.check, "Ctrl+Return", "Compare the solution that is shown with what this audience has"),
            (self.reuse, "Ctrl+Alt+U", "Run the open records with the regions and columns of the chosen release"),
            (self.join, "Ctrl+Alt+J", "Open the chosen release as data, so that its regions can be joined further"),
            (self.extract, "Ctrl+Alt+K", "Write the chosen release once more, with those of its columns that you tick"),
            (self.remove, "Ctrl+Del", "Remove the chosen release from the ledger"),
        ):
            dress(button, shortcut=keys, toolTip=f"{told} ({keys})")
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
        self.check.clicked.connect(self._on_check)
        self.remove.clicked.connect(self._on_remove)
        self.reuse.clicked.connect(lambda: self._use(join=False))
        self.join.clicked.connect(lambda: self._use(join=True))
        self.extract.clicked.connect(self._on_extract)
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

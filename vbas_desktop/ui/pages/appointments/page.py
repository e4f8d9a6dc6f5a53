"""The page itself: turns what the user wants into jobs and shows what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtWidgets import QMenu, QTableView

from vbas_desktop.io.databases.records import load_records_at
from vbas_desktop.io.regions.read import load_regions
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.words import counted
from vbas_desktop.screening.inputs import People
from vbas_desktop.screening.slots import SlotTable
from vbas_desktop.session import appointments
from vbas_desktop.session.appointments import Alternatives, ClassesFound, Planned
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.pages.job_page import JobPage
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, in_row, passing_menu, split
from vbas_desktop.ui.widgets.fields import muted
from vbas_desktop.ui.widgets.file_dialogs import ask_to_save, beside
from vbas_desktop.ui.widgets.plain_text import menu_text
from vbas_desktop.ui.widgets.tables import fit_columns, set_up_table
from vbas_desktop.ui.widgets.two_lists import TwoLists
from vbas_desktop.ui.worker import Latest

from .results import PlanResults, proof_in_words
from .settings import PlanSettings
from .tables import AlternativesDialog, LabelsModel, show_classes, show_slots

_LISTED = 20


class AppointmentsPage(JobPage):
    """Settings at the left; classes, slots and results at the right."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "Stop; the best plan so far is kept")
        self._classes_wanted = Latest(context.quiet_runner, "Forming classes", self)
        self._others_wanted = Latest(context.quiet_runner, "Looking for other slots", self)
        self.planned: Planned | None = None
        self._problem = ""
        self.settings = PlanSettings(context)
        self.results = PlanResults(context)
        self._people: People | None = None
        self.classes, self.slots = LabelsModel(), LabelsModel()
        self.class_table, self.slot_table = QTableView(), QTableView()
        give = "Give everybody a slot (Ctrl+Enter)"
        self.plan = button("Plan", self._on_plan, give, look="primary", shortcut="Ctrl+Return")
        self.reason = muted()
        self._build()
        self._connect()
        self._on_regions_cleared()
        self._show_tables()
        self._refresh()

    def _build(self) -> None:
        lists = {"Classes": self.class_table, "Slots": self.slot_table}
        for (name, table), model in zip(lists.items(), (self.classes, self.slots), strict=True):
            table.setModel(model)
            set_up_table(table, name)
        self.lists = TwoLists(lists, room=560, shares=(440, 240), titled=True)
        self.class_table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        bar = in_row(self.plan, self.stop, (self.reason, 1), spacing=GRID)
        right = split(self.lists, self.results, upright=True, sizes=(240, 400))
        self.lay_out(self.settings, bar, (right, 1), sizes=(280, 680))

    def _connect(self) -> None:
        settings = self.settings
        self._context.model.data_loaded.connect(self._on_data_loaded)
        settings.people_file.chosen.connect(self.open_people)
        settings.slots_file.chosen.connect(self.open_slots)
        settings.columns_changed.connect(self._on_columns_changed)
        settings.changed.connect(self._refresh)
        settings.constraints.regions.chosen.connect(self.open_regions)
        settings.constraints.regions.cleared.connect(self._on_regions_cleared)
        self.class_table.customContextMenuRequested.connect(self._on_class_menu)
        self.results.export_wanted.connect(self._on_export)
        self.results.person_wanted.connect(self._on_person)
        self.results.heat.cannot_attend_wanted.connect(self.show_other_slots)

    # Files

    @Slot(Path)
    def open_people(self, path: Path) -> None:
        """Load a people file."""
        self.load(path, lambda progress: load_records_at(path, progress=progress), self.settings.show_people)

    @Slot(Path)
    def open_slots(self, path: Path) -> None:
        """Load a slots file."""
        self.load(path, partial(appointments.read_slots, path), self._on_slots)

    def _on_slots(self, slots: SlotTable) -> None:
        self._forget_plan()
        self.settings.show_slots(slots)
        self._show_tables()

    @Slot(Path)
    def open_regions(self, path: Path) -> None:
        """Load a region file for the distances."""
        self.load(path, lambda progress: load_regions(path, progress=progress), partial(self._on_regions, path))

    def _on_regions(self, path: Path, regions: Regions) -> None:
        self.settings.regions = regions
        self.settings.constraints.regions.show_file(path, counted(len(regions), "region"))

    @Slot()
    def _on_regions_cleared(self) -> None:
        self.settings.regions = self._session.regions
        used = "Those of the loaded data are used." if self._session.regions is not None else ""
        self.settings.constraints.regions.show_file(None, used)

    @Slot()
    def _on_data_loaded(self) -> None:
        if self.settings.constraints.regions.path is None:
            self._on_regions_cleared()

    # Classes

    @Slot()
    def _on_columns_changed(self) -> None:
        self._forget_plan()
        table = self.settings.people
        if table is not None:
            job = partial(appointments.find_classes, table, self.settings.columns())
            self._classes_wanted.want(job, self._on_classes)
        self._refresh()

    def _on_classes(self, found: ClassesFound) -> None:
        self._problem, self._people = found.problem, found.people
        self._show_tables()
        self._refresh()

    # Planning

    @Slot()
    def _on_plan(self) -> None:
        setup = self.settings.setup()
        if setup is not None:
            job = partial(appointments.make_plan, setup)
            self._context.runner.start("Planning appointments", job, self._on_planned)

    def _on_planned(self, planned: Planned) -> None:
        self.planned, self._people = planned, planned.people
        self._show_tables()
        self.results.show_plan(planned)
        people = int(planned.assessment.task.people.sum())
        self._context.say(f"{counted(people, 'person')} have a slot; {proof_in_words(planned.assessment.plan.proof)}.")
        self._refresh()

    def _forget_plan(self) -> None:
        if self.planned is not None:
            self.planned = None
            self.results.show_plan(None)
            self._show_tables()

    def _show_tables(self) -> None:
        show_classes(self.classes, self._people, self.planned)
        show_slots(self.slots, self.settings.slots, self.planned)
        for table in (self.class_table, self.slot_table):
            fit_columns(table)

    @Slot()
    def _on_export(self) -> None:
        if self.planned is not None:
            suggested = beside(Path(self.planned.setup.people.source.path), "plan")
            ask_to_save(self, "Write the plan into a new folder", "Folder (*)", suggested, self.export)

    def export(self, target: str) -> None:
        """Write the plan into a folder."""
        assert self.planned is not None
        job = partial(appointments.export, self.planned, Path(target))
        self._context.runner.start("Writing the plan", job, lambda path: self._context.say(f"Written to {path}."))

    # Cannot attend

    @Slot(int, int)
    def show_other_slots(self, class_number: int, slot: int) -> None:
        """List other slots for somebody of a class."""
        if self.planned is not None:
            self._look_for(partial(appointments.other_slots, self.planned, class_number, slot))

    @Slot(str)
    def _on_person(self, person: str) -> None:
        if self.planned is not None and person:
            self._look_for(partial(appointments.other_slots_of, self.planned, person))

    def _look_for(self, job: Callable[[Progress], Alternatives]) -> None:
        self._others_wanted.want(job, lambda found: AlternativesDialog(found, self).open())

    @Slot(QPoint)
    def _on_class_menu(self, position: QPoint) -> None:
        menu = self.class_menu(self.class_table.rowAt(position.y()))
        if menu is not None:
            menu.popup(self.class_table.viewport().mapToGlobal(position))

    def class_menu(self, row: int) -> QMenu | None:
        """The menu of a class: somebody cannot attend one of its slots."""
        if self.planned is None or row < 0:
            return None
        menu = passing_menu(self)
        inner = menu.addMenu("&Cannot attend")
        for slot, name, people in appointments.slots_of(self.planned, row, _LISTED):
            inner.addAction(f"{menu_text(name)} ({people:,})…", partial(self.show_other_slots, row, slot))
        return menu

    # State

    @Slot()
    def _refresh(self) -> None:
        setup = self.settings.setup()
        told = "" if setup is not None else "Choose a people file, its quasi-identifiers and a slots file."
        if self._problem and self.settings.people is not None:
            told = self._problem
        elif not told and self._people is not None and self.settings.slots is not None:
            people, seats = int(self._people.sizes.sum()), int(self.settings.slots.seats.sum())
            classes = counted(self.classes.rowCount(), "class")
            told = f"{counted(people, 'person')} in {classes}, {counted(seats, 'seat')}"
            told += f": {counted(people - seats, 'seat is', 'seats are')} missing." if people > seats else "."
        self.reason.setText(told)
        self.allow(self.plan, setup is not None and not self._problem)

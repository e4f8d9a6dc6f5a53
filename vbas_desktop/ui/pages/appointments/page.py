"""The page itself: turns what the user wants into jobs and shows what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtWidgets import QMenu, QTableView

from vbas_desktop.appointments.inputs import PeopleTable, SlotTable
from vbas_desktop.io.databases.loading import load_records_at
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.text import format_count

from ...core.context import UiContext
from ...core.theme import GRID
from ...state import appointments
from ...state.appointments import AlternativeSlots, PlanClasses, PlannedAppointments, PlanSetup
from ...widgets.fields import hint_label
from ...widgets.file_dialogs import ask_to_save, sibling_path
from ...widgets.layouts import button, hbox, popup_menu, splitter
from ...widgets.notice_bar import NoticeAction, NoticeBar
from ...widgets.plain_text import menu_text
from ...widgets.tables import TableModel, fit_columns, set_up_table
from ...widgets.two_lists import ResponsivePair
from ..page import TaskPage
from .results import PlanResults, proof_in_words
from .settings_panel import PlanSettings
from .tables import AlternativesDialog, make_class_rows, make_slot_rows

_LISTED = 20


class AppointmentsPage(TaskPage):
    """Settings at the left; classes, slots and results at the right."""

    def __init__(self, context: UiContext) -> None:
        super().__init__(context, "Stop; the best plan so far is kept")
        self.planned: PlannedAppointments | None = None
        self._problem = ""
        self.settings = PlanSettings(context)
        self.results = PlanResults(context)
        self._people: PeopleTable | None = None
        self.classes: TableModel[int] = TableModel((), self)
        self.slots: TableModel[int] = TableModel((), self)
        self.class_table = QTableView()
        self.slot_table = QTableView()
        give = "Give everybody a slot (Ctrl+Enter)"
        self.plan = button("Plan", self._on_plan, give, look="primary", shortcut="Ctrl+Return")
        self.reason = hint_label()
        self.notice = NoticeBar()
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
        self.lists = ResponsivePair(lists, width=560, shares=(440, 240), titled=True)
        self.class_table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        bar = hbox(self.plan, self.stop, (self.reason, 1), spacing=GRID)
        right = splitter(self.lists, self.results, upright=True, sizes=(240, 400))
        self.lay_out(self.settings, bar, self.notice, (right, 1), sizes=(320, 680))

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
        self.results.export_requested.connect(self._on_export)
        self.results.person_requested.connect(self._on_person)
        self.results.cannot_attend_requested.connect(self.show_other_slots)

    # Files

    @Slot(Path)
    def open_people(self, path: Path) -> None:
        """Load a people file."""
        self.load(
            path, lambda progress: load_records_at(path, progress=progress), self.settings.show_people
        )

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
        self.load(
            path, lambda progress: load_regions(path, progress=progress), partial(self._on_regions, path)
        )

    def _on_regions(self, path: Path, regions: Regions) -> None:
        self.settings.regions = regions
        self.settings.constraints.regions.show_file(path, format_count(len(regions), "region"))

    @Slot()
    def _on_regions_cleared(self) -> None:
        self.settings.regions = self._state.regions
        used = "Those of the loaded data are used." if self._state.regions is not None else ""
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
            job = partial(appointments.form_classes, table, self.settings.columns())
            self._context.background.start_latest(self, "Forming classes", job, self._on_classes)
        self._refresh()

    def _on_classes(self, classes: PlanClasses) -> None:
        self._problem = classes.problem
        self._people = classes.people
        self._show_tables()
        self._refresh()

    # Planning

    @Slot()
    def _on_plan(self) -> None:
        setup = self.settings.setup()
        if setup is not None:
            job = partial(appointments.make_plan, setup)
            self._context.worker.start("Planning appointments", job, self._on_planned)

    def _on_planned(self, planned: PlannedAppointments) -> None:
        self.planned = planned
        self._people = planned.people
        self._show_tables()
        self.results.show_plan(planned)
        people = int(planned.assessment.task.people.sum())
        self._context.show_message(
            f"{format_count(people, 'person')} have a slot; {proof_in_words(planned.assessment.plan.proof)}."
        )
        self._refresh()

    def _forget_plan(self) -> None:
        if self.planned is not None:
            self.planned = None
            self.results.show_plan(None)
            self._show_tables()

    def _show_tables(self) -> None:
        self.classes.set_rows(*make_class_rows(self._people, self.planned))
        self.slots.set_rows(*make_slot_rows(self.settings.slots, self.planned))
        for table in (self.class_table, self.slot_table):
            fit_columns(table)

    @Slot()
    def _on_export(self) -> None:
        if self.planned is not None:
            suggested = sibling_path(Path(self.planned.setup.people.source.path), "plan")
            ask_to_save(self, "Write the plan into a new folder", "Folder (*)", suggested, self.export)

    def export(self, target: str) -> None:
        """Write the plan into a folder."""
        assert self.planned is not None
        job = partial(appointments.export_plan, self.planned, Path(target))
        self._context.worker.start(
            "Writing the plan", job, lambda path: self._context.show_message(f"Written to {path}.")
        )

    # Cannot attend

    @Slot(int, int)
    def show_other_slots(self, class_number: int, slot: int) -> None:
        """List other slots for somebody of a class."""
        if self.planned is not None:
            self._look_for(
                partial(appointments.find_alternatives_for_class, self.planned, class_number, slot)
            )

    @Slot(str)
    def _on_person(self, person: str) -> None:
        if self.planned is not None and person:
            self._look_for(partial(appointments.find_alternatives_for_person, self.planned, person))

    def _look_for(self, job: Callable[[Progress], AlternativeSlots]) -> None:
        self._context.background.start_latest(
            self, "Looking for other slots", job, self._on_alternatives
        )

    def _on_alternatives(self, alternatives: AlternativeSlots) -> None:
        AlternativesDialog(alternatives, self).open()

    @Slot(QPoint)
    def _on_class_menu(self, position: QPoint) -> None:
        menu = self.class_menu(self.class_table.rowAt(position.y()))
        if menu is not None:
            menu.popup(self.class_table.viewport().mapToGlobal(position))

    def class_menu(self, row: int) -> QMenu | None:
        """Make the menu of a class, for somebody who cannot attend one of its slots."""
        if self.planned is None or row < 0:
            return None
        menu = popup_menu(self)
        inner = menu.addMenu("&Cannot attend")
        for slot, name, people in appointments.list_slots_of_class(self.planned, row, _LISTED):
            inner.addAction(
                f"{menu_text(name)} ({people:,})…", partial(self.show_other_slots, row, slot)
            )
        return menu

    # State

    @Slot()
    def _refresh(self) -> None:
        setup = self.settings.setup()
        reason = ""
        if self._problem and self.settings.people is not None:
            reason = self._problem
        elif self._people is not None and self.settings.slots is not None:
            people = int(self._people.sizes.sum())
            seats = int(self.settings.slots.seats.sum())
            classes = format_count(self.classes.rowCount(), "class")
            reason = f"{format_count(people, 'person')} in {classes}, {format_count(seats, 'seat')}"
            reason += (
                f": {format_count(people - seats, 'seat is', 'seats are')} missing."
                if people > seats
                else "."
            )
        self.reason.setText(reason)
        self._show_notice(setup)
        self.allow(self.plan, setup is not None and not self._problem)

    def _show_notice(self, setup: PlanSetup | None) -> None:
        """Offer the files that are missing, or tell that the plan is of other settings."""
        settings = self.settings
        missing = []
        if settings.people is None:
            missing.append(
                NoticeAction("&Add people…", settings.people_file.choose.click, "One row per person")
            )
        if settings.slots is None:
            missing.append(
                NoticeAction("A&dd slots…", settings.slots_file.choose.click, "Centre, time, capacity")
            )
        if missing:
            self.notice.show_notice("Planning needs a file of people and a file of slots.", missing)
        elif self.planned is not None and self.planned.setup != setup:
            text = "This plan is of other settings. Press Plan to use those at the left."
            self.notice.show_notice(text, variant="warning")
        else:
            self.notice.show_notice("")

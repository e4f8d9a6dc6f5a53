"""Brings everything that the window can show to the front, one thing after the other: each tab, page, dialog and menu.

The test of words walks it, and ``photograph.py`` takes pictures of it in all looks and sizes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget

from vbas_desktop.model.findings import Finding
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.handover import ReleaseDone
from vbas_desktop.ui.dialogs.messages import ask_question, show_failure
from vbas_desktop.ui.dialogs.open_data import TablesDialog
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.presentation.messages import TaskFailure
from vbas_desktop.ui.shell.main_window import MainWindow

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
LONGEST = 300.0

Shown = tuple[str, QWidget]


class Tour:
    """``stops`` yields names and widgets; what was opened for a stop is closed when the next is asked for.

    Without ``data`` it goes through the sample data; they need columns named age and sex. ``examples`` holds the files
    for risky combinations and appointments, ``grouped`` is the column whose categories are grouped, as it is shown.
    """

    def __init__(
        self,
        window: MainWindow,
        folder: Path,
        data: tuple[Path, Path] | None = None,
        examples: Path = EXAMPLES,
        grouped: str = "age",
    ) -> None:
        self.window, self.folder, self.data = window, folder, data
        self.examples, self.grouped = examples, grouped

    def stops(self) -> Iterator[Shown]:
        """Everything, from the first start to a written release."""
        yield from self._empty()
        self._until_idle(self._load)
        yield from self._input()
        yield from self._before_results()
        self._until_idle(self.window.run_commands.run)
        self._until_idle(self._run_another)
        yield from self._map_and_results()
        yield from self._tools()
        yield from self._dialogs()
        yield from self._menus()

    # Waiting

    def _until(self, true: Callable[[], object]) -> None:
        end = time.monotonic() + LONGEST
        while not true():
            assert time.monotonic() < end, "the window did not come to rest"
            QApplication.processEvents()
            time.sleep(0.002)

    def _rest(self) -> None:
        """Nothing runs and nothing is left to draw."""
        window = self.window
        runners = (window.worker, window.background, window.input.estimator.worker)
        for _ in range(3):
            QApplication.processEvents()
            self._until(lambda: not any(worker.busy for worker in runners))

    def _until_idle(self, action: Callable[[], object]) -> None:
        action()
        self._rest()

    def _load(self) -> None:
        if self.data is None:
            self.window.data_commands.load_sample(run=False)
        else:
            self.window.data_commands.load(*self.data)

    def _run_another(self) -> None:
        state = self.window.state
        state.change(state.choices.with_approach("site_location", "density"))
        self.window.run_commands.run()

    # What is shown

    def _empty(self) -> Iterator[Shown]:
        yield "welcome", self.window
        for page in PAGES:
            if not page.needs_data:
                yield f"empty {page.title}", self._page(page.title)
        self.window.area.show_map()
        for tab in ("Results", "Regions", "Log"):
            self.window.show_tab(tab)
            yield f"empty tab {tab}", self.window
        self.window.show_tab("Input")

    def _input(self) -> Iterator[Shown]:
        tab = self.window.input
        yield "input", self.window
        bar = tab._scroll.verticalScrollBar()
        tab.files.unfold.setChecked(True)
        self._rest()
        yield "input reading options", self.window
        tab.files.unfold.setChecked(False)
        tab.approach.change.setChecked(True)
        tab.approaches.constraints.unfold.setChecked(True)
        self._rest()
        bar.setValue(bar.maximum() // 2)
        yield "input limits", self.window
        tab.approaches.constraints.unfold.setChecked(False)
        self._rest()
        bar.setValue(bar.maximum())
        yield "input approaches", self.window
        bar.setValue(0)
        tab.approach.change.setChecked(False)

    def _before_results(self) -> Iterator[Shown]:
        for page in PAGES:
            yield f"before a run {page.title}", self._page(page.title)
        self.window.area.show_map()

    def _map_and_results(self) -> Iterator[Shown]:
        window, state = self.window, self.window.state
        state.select(state.entries[2].number)
        for tab in ("Results", "Regions", "Log"):
            window.show_tab(tab)
            self._rest()
            yield f"tab {tab}", window
        window.show_tab("Regions")
        state.choose_region(3)
        state.colour_by("suppressed")
        self._rest()
        yield "map by loss", window
        window.show_tab("Results")
        charts = window.tab("Results").charts
        kinds = [charts.kind.itemData(index) for index in range(charts.kind.count())]
        for kind in kinds:
            charts.show_kind(kind)
            self._rest()
            yield f"chart {kind}", window
        charts.show_kind(kinds[0])
        window.area.map._compare.setChecked(True)
        self._rest()
        yield "two maps", window
        window.area.map._compare.setChecked(False)
        state.colour_by(None)
        window.menus.actions["edit_by_hand"].trigger()
        editor = window.area.map.editor
        self._until(lambda: editor.scene is not None)
        state.choose_region(3)
        editor.show_table.setChecked(True)
        self._rest()
        yield "edit by hand", window
        editor.show_table.setChecked(False)
        editor.discard_edit()

    def _tools(self) -> Iterator[Shown]:
        page = self._page("Find a release")
        page.target.setText(str(self.folder / "found"))
        self._until_idle(page.search)
        yield "found", page
        yield from self._compare()
        page = self._page("Risky combinations")
        self._until_idle(lambda: page.open_file(self.examples / "clients.csv"))
        self._until_idle(page.search.click)
        yield "risky list", page
        self._until_idle(page.timeline.buttons["step"].click)
        self._until_idle(page.search.click)
        yield "risky step", page
        yield from self._appointments()
        page = self._page("Representability")
        yield "representability solution", page
        page.source.setCurrentText("Two files")
        yield "representability files", page
        page.source.setCurrentText("Solution")
        for title in ("Requirements", "Policy", "Releases"):
            yield title.lower(), self._page(title)
        self.window.area.show_map()

    def _compare(self) -> Iterator[Shown]:
        page = self._page("Compare combinations")
        page.form.components["site_number"].tick(["maxcombs"])
        page.form.components["site_location"].tick(["anonymity", "density"])
        page.target.setText(str(self.folder / "comparison"))
        self._rest()
        yield "compare plan", page
        self._until_idle(page.compare)
        for index in range(page.tabs.count()):
            page.tabs.setCurrentIndex(index)
            yield f"compare {page.tabs.tabText(index)}".replace("&", ""), page

    def _appointments(self) -> Iterator[Shown]:
        page = self._page("Appointments")
        self._until_idle(lambda: page.open_people(self.examples / "people.csv"))
        self._until_idle(lambda: page.open_slots(self.examples / "slots.csv"))
        self._until_idle(page.plan.click)
        for index in range(page.results.tabs.count()):
            page.results.tabs.setCurrentIndex(index)
            yield f"appointments {page.results.tabs.tabText(index)}".replace("&", ""), page
        self._until_idle(page.class_menu(0).actions()[0].menu().actions()[0].trigger)
        yield from self._dialog("cannot attend")

    def _dialogs(self) -> Iterator[Shown]:
        window, data_commands = self.window, self.window.data_commands
        data_commands._ask_for(None, None)
        yield from self._dialog("open data")
        TablesDialog(window, "postgresql://me@host/data").open()
        yield from self._dialog("tables")
        columns = window.input.columns
        rows = range(columns.model.rowCount())
        age = next(row for row in rows if columns.model.index(row, 0).data() == self.grouped)
        columns.view.setCurrentIndex(columns.model.index(age, 0))
        columns.open_grouping()
        yield from self._dialog("grouping")
        window.input.privacy.open_sensitive()
        yield from self._dialog("sensitive values")
        window.area.map.save()
        yield from self._dialog("save the map")
        yield from self._releasing()
        window.menus.actions["show_about"].trigger()
        yield from self._dialog("about")
        window.help.show_guide()
        yield from self._dialog("guide")
        finding = Finding(
            "missing-file", "There is no such file.", "Check the path.", file="records.csv"
        )
        show_failure(window, TaskFailure("Loading records.csv", "There is no such file.", (finding,)))
        yield from self._dialog("failure")
        ask_question(
            window,
            "Something is still running.",
            "Running a combination.",
            {"&Stop": int, "&Keep running": int},
        )
        yield from self._dialog("question")

    def _releasing(self) -> Iterator[Shown]:
        window = self.window
        window.exporting.export()
        dialog = window.findChild(ExportDialog)
        dialog.target.edit.setText(str(self.folder / "release"))
        yield "export", dialog
        if dialog.columns.undecided:
            dialog.decisions.button("Release").click()
        self._until_idle(dialog.export.click)
        done = window.findChild(ReleaseDone)
        yield "released", done
        done.record_requested.emit()
        yield from self._dialog("record as handed over")
        done.close()

    def _menus(self) -> Iterator[Shown]:
        for action in self.window.menuBar().actions():
            menu = action.menu()
            assert isinstance(menu, QMenu)
            menu.popup(self.window.mapToGlobal(QPoint(20, 40)))
            QApplication.processEvents()
            yield f"menu {menu.title()}".replace("&", ""), menu
            menu.close()

    # Ways there

    def _page(self, title: str) -> QWidget:
        page = self.window.area.show_page(next(each for each in PAGES if each.title == title))
        self._rest()
        return page

    def _dialog(self, name: str) -> Iterator[Shown]:
        """The dialog that was opened last; it is closed afterwards."""
        self._rest()
        shown = [
            each
            for each in QApplication.topLevelWidgets()
            if isinstance(each, QDialog) and each.isVisible()
        ]
        assert shown, name
        dialog = QApplication.activeModalWidget() or shown[-1]
        yield name, dialog
        dialog.close()
        QApplication.processEvents()

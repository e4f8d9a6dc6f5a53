"""Make the pictures of the user guide from the real window: ``QT_QPA_PLATFORM=offscreen:configfile=tests/ui/screen.json
python docs/make_screenshots.py``.

They show the sample data, so anyone can make them again.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
# The pictures must not depend on the settings of whoever makes them.
for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
    os.environ[name] = tempfile.mkdtemp()

import numpy as np  # noqa: E402
from PySide6.QtCore import QTimer  # noqa: E402
from PySide6.QtGui import QImage, Qt  # noqa: E402
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QWidget  # noqa: E402

from vbas_desktop.ui.core.theme import ALWAYS_DARK, ALWAYS_LIGHT  # noqa: E402
from vbas_desktop.ui.dialogs.export import ExportDialog  # noqa: E402
from vbas_desktop.ui.dialogs.grouping import GroupingDialog  # noqa: E402
from vbas_desktop.ui.pages import PAGES  # noqa: E402
from vbas_desktop.ui.pages.compare.page import ComparePage  # noqa: E402
from vbas_desktop.ui.shell.main_window import MainWindow  # noqa: E402

SETTLE_MS = 800
"""So long the window gets to draw itself before a picture is taken."""

AGES = {
    "0-14": "0-24",
    "15-24": "0-24",
    "25-39": "25-54",
    "40-54": "25-54",
    "55-64": "55+",
    "65-79": "55+",
    "80+": "55+",
}
MARRIED = {"Single": "Not married", "Divorced": "Not married", "Widowed": "Not married"}


class Photographer:
    """Goes through the scenes one after the other, each a moment after the last."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.scenes: list[Callable[[], None]] = [
            self.run_others,
            self.run_random,
            self.take_results,
            self.compare_two,
            self.take_comparison,
            self.edit_by_hand,
            self.choose_region,
            self.show_everything,
            self.take_edit,
            self.take_input,
            self.export,
            self.take_export,
            self.group,
            self.take_group,
            self.compare,
            self.take_plan,
            self.take_summary,
            self.take_charts,
            self.open_clients,
            self.search_clients,
            self.step_clients,
            self.take_risky,
            self.open_people,
            self.open_slots,
            self.plan_appointments,
            self.show_people,
            self.take_appointments,
            self.dark,
            self.take_dark,
            self.end,
        ]

    def next(self) -> None:
        """Play the next scene once the window is at rest."""
        if self.window.worker.busy or self.window.background.busy:
            QTimer.singleShot(SETTLE_MS, self.next)
            return
        self.scenes.pop(0)()
        if self.scenes:
            QTimer.singleShot(SETTLE_MS, self.next)

    def run_others(self) -> None:
        """Run a second combination, so that there is something to compare."""
        self.run_location("density")

    def run_random(self) -> None:
        """Run a third combination."""
        self.run_location("random")

    def run_location(self, name: str) -> None:
        """Run another way of locating sites over a range of numbers."""
        state = self.window.state
        state.change(state.choices.with_approach("site_location", name))
        self.window.run_commands.run()

    def take_results(self) -> None:
        """Take the whole window: the trade-off chart beside the map."""
        state = self.window.state
        state.change(state.choices.with_approach("site_location", "balanced-density"))
        state.select(next(number for number, marks in state.marks.items() if marks.recommended))
        self.window.show_tab("Results")
        QTimer.singleShot(SETTLE_MS // 2, lambda: save(self.window, "results", 1440))

    def compare_two(self) -> None:
        """Show the recommended solutions of two combinations side by side."""
        state = self.window.state
        shown = state.selected
        assert shown is not None
        others = [entry for entry in state.entries if entry.run is not shown.run]
        state.compare_with(others[len(others) // 4].number)

    def take_comparison(self) -> None:
        """Take two maps side by side."""
        save(self.window, "compare-two", 1200)
        self.window.state.compare_with(None)

    def edit_by_hand(self) -> None:
        """Begin to edit the shown solution."""
        self.window.menus.actions["edit_by_hand"].trigger()

    def choose_region(self) -> None:
        """Choose a region and list its initial regions."""
        self.window.state.choose_region(5)
        self.window.area.map.editor.show_table.setChecked(True)
        self.window.show_tab("Regions")

    def show_everything(self) -> None:
        """Show the whole map again."""
        self.window.area.map.canvas.fit()

    def take_edit(self) -> None:
        """Take the map while it is edited."""
        save(self.window, "edit", 1200)
        self.window.area.map.editor.discard_edit()

    def take_input(self) -> None:
        """The input tab."""
        self.window.show_tab("Input")
        QTimer.singleShot(SETTLE_MS // 2, lambda: save(self.window.input, "input", 440))

    def export(self) -> None:
        """Open the export dialog."""
        self.window.exporting.export()

    def take_export(self) -> None:
        """The export dialog."""
        dialog = self.window.findChild(ExportDialog)
        dialog.target.edit.setText("~/sample release 2026-11-19")
        save(dialog, "export", 640)
        dialog.reject()

    def group(self) -> None:
        """Open the dialog that groups ages."""
        self.window.state.change(self.window.state.choices.with_grouping("marital_status", MARRIED))
        columns = self.window.input.columns
        rows = range(columns.model.rowCount())
        age = next(row for row in rows if columns.model.index(row, 0).data() == "age")
        columns.view.setCurrentIndex(columns.model.index(age, 0))
        columns.open_grouping()

    def take_group(self) -> None:
        """The dialog that groups ages."""
        dialog = self.window.findChild(GroupingDialog)
        dialog.show_groups(AGES)
        save(dialog, "grouping", 480)
        dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok).click()

    def compare(self) -> None:
        """The page that compares, filled in."""
        self.window.menus.actions["compare_combinations"].trigger()
        page = self.compare_page()
        page.form.components["site_number"].tick(["maxcombs", "entropy"])
        page.form.components["site_location"].tick(["anonymity", "density", "balanced-density", "adc"])
        page.form.seedings.tick(["balanced-density", "density"])
        page.form.ks.setText("5, 10")
        page.form.sets.setPlainText("age, sex, marital_status")
        page.form.generalised.setCurrentIndex(page.form.generalised.findData("both"))
        page.target.setText(str(Path(tempfile.mkdtemp()) / "comparison"))

    def take_plan(self) -> None:
        """The plan with the size of the work, then run it."""
        page = self.compare_page()
        target = page.target.text()
        page.target.blockSignals(True)
        page.target.setText("~/comparison")
        save(page, "compare-plan", 1100)
        page.target.setText(target)
        page.target.blockSignals(False)
        page.compare()

    def take_summary(self) -> None:
        """The summary of the comparison."""
        save(self.compare_page(), "compare-summary", 1100)
        page = self.compare_page()
        page.tabs.setCurrentWidget(page.charts)
        page.charts.scenario.setCurrentIndex(1)
        page.charts.number.setCurrentIndex(1)
        page.charts.scenario.activated.emit(1)

    def take_charts(self) -> None:
        """The charts beside the results."""
        save(self.window, "compare-charts", 1200)
        self.window.area.show_map()

    def compare_page(self) -> ComparePage:
        """The page that compares."""
        page = self.window.findChild(ComparePage)
        assert page is not None
        return page

    def page(self, title: str) -> Any:
        """A whole-page tool, brought to the front."""
        return self.window.area.show_page(next(page for page in PAGES if page.title == title))

    def open_clients(self) -> None:
        """The page of risky combinations with a table of its own."""
        self.page("Risky combinations").open_file(HERE / "examples" / "clients.csv")

    def search_clients(self) -> None:
        """All minimal combinations for k = 3."""
        page = self.page("Risky combinations")
        page.settings.form.editors["k"].setValue(3)
        page.timeline.buttons["step"].click()

    def step_clients(self) -> None:
        """What is left after a step."""
        self.page("Risky combinations").search.click()

    def take_risky(self) -> None:
        """The list and the first step."""
        save(self.page("Risky combinations"), "risky-combinations", 1200)

    def open_people(self) -> None:
        """The page of appointments."""
        self.page("Appointments").open_people(HERE / "examples" / "people.csv")

    def open_slots(self) -> None:
        """Where they can go."""
        self.page("Appointments").open_slots(HERE / "examples" / "slots.csv")

    def plan_appointments(self) -> None:
        """The best possible plan."""
        page = self.page("Appointments")
        page.settings.effort.setCurrentIndex(page.settings.effort.findData("optimal"))
        page.settings.effort.activated.emit(page.settings.effort.currentIndex())
        page.results.tabs.setCurrentWidget(page.results.heat)
        page.plan.click()

    def show_people(self) -> None:
        """Bring the picture of the plan to the front, drawn at its final size."""
        results = self.page("Appointments").results
        results.tabs.setCurrentIndex(0)
        results.tabs.setCurrentWidget(results.heat)

    def take_appointments(self) -> None:
        """Who sits where."""
        save(self.page("Appointments"), "appointments", 1200)
        self.window.area.show_map()

    def dark(self) -> None:
        """Dark colours, lost records shown."""
        self.window.theme.choose(ALWAYS_DARK)
        self.window.area.map.canvas.fit()
        self.window.show_tab("Regions")
        self.window.state.colour_by("suppressed")

    def take_dark(self) -> None:
        """The whole window in the dark."""
        save(self.window, "dark", 1200)

    def end(self) -> None:
        """Close without questions."""
        self.window.state.modified = False
        self.window.close()
        QApplication.quit()


def save(widget: QWidget, name: str, width: int) -> None:
    """Save a picture with its 256 most frequent colours, so that the repository stays small."""
    picture = widget.grab().toImage().scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
    picture = picture.convertToFormat(QImage.Format.Format_RGB32)
    small = picture.convertToFormat(
        QImage.Format.Format_Indexed8, frequent_colours(picture), Qt.ImageConversionFlag.ThresholdDither
    )
    path = HERE / "images" / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    small.save(str(path), "PNG", 0)


def frequent_colours(picture: QImage) -> list[int]:
    """The colours that occur most, each standing for those that differ from it by less than the eye sees."""
    pixels = np.frombuffer(picture.constBits(), np.uint32)
    _, first, number = np.unique(pixels & 0x00F8F8F8, return_index=True, return_counts=True)
    order = np.argsort(-number, kind="stable")[:256]
    return [int(pixels[first[place]]) | 0xFF000000 for place in order]


def main() -> int:
    """Open the sample, go through the scenes, close."""
    app = QApplication(sys.argv[:1])
    app.setApplicationName("vbas-screenshots")
    window = MainWindow()
    window.theme.choose(ALWAYS_LIGHT)
    window.settings.put("hints/off", True)
    window.area.hints.refresh()
    window.resize(1440, 900)
    window.show()
    photographer = Photographer(window)
    window.data_commands.load_sample(run=True)
    QTimer.singleShot(SETTLE_MS, photographer.next)
    return app.exec()


if __name__ == "__main__":
    sys.exit(main())

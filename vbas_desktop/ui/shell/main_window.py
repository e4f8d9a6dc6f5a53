"""The main window: puts the parts together and remembers its shape; what commands do is in `…_commands`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QMainWindow,
    QSizePolicy,
    QSplitter,
    QTabWidget,
    QToolBar,
    QWidget,
)

from vbas_desktop.model.text import escape_controls

from ..core.context import StateSignals, UiContext
from ..core.theme import FOLLOW_SYSTEM, Theme
from ..core.worker import Worker
from ..dialogs.messages import ask_question
from ..pages import PAGES
from ..panels import TABS
from ..panels.input_panel import InputPanel
from ..panels.regions_panel import RegionsPanel
from ..panels.results_panel import ResultsPanel
from ..state.app_state import AppState
from ..state.project import SUFFIX
from ..widgets.fields import ElidedLabel
from ..widgets.focus_frame import FocusTracker
from ..widgets.layouts import splitter, with_properties
from .central_area import CentralArea
from .data_commands import DataCommands
from .help import Help, set_guide_section
from .menus import Menus
from .preferences import Preferences
from .project_commands import ProjectCommands
from .release_commands import ReleaseCommands
from .run_commands import RunCommands
from .status_bar import LogPanel, StatusLine

_USUAL_FRAME = QSize(2, 32)
"""What most window managers put around a window; what this one does is known once it is shown."""

PANEL_WIDTH = 464
"""At first, with a font of lines of 14 pixels: the results table shows there what matters."""

_LINE_HEIGHT = 14


class MainWindow(QMainWindow):
    """Menus, toolbar, map, tabs, status line."""

    def __init__(self) -> None:
        super().__init__()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.settings = Preferences()
        self.theme = Theme(app, str(self.settings.get("theme", FOLLOW_SYSTEM)), self)
        self.focus_ring = FocusTracker(app, self.theme, self)
        self.model = StateSignals(parent=self)
        self.worker = Worker(self)
        self.background = Worker(self)
        self._closing = False
        self.context = UiContext(
            self.model,
            self.worker,
            self.background,
            self.theme,
            self.show_message,
            lambda: self.area.show_map(),
            self.show_tab,
            lambda then: self.run_commands.run_then(then),
            lambda: self.exporting.export(),
            lambda entry, crosswalk: self.run_commands.run_edited(entry, crosswalk),
            lambda entry, join: self.data_commands.use_earlier(entry, join),
            lambda entry, audience: self.exporting.extract(entry, audience),
            self.show_page,
            lambda: self.data_commands.open_data(),
            lambda: self.data_commands.open_sample(),
        )
        self.log = LogPanel(self.context)
        self.status = StatusLine(self.model, self.worker, self)
        self.setStatusBar(self.status)
        self.projects = ProjectCommands(self.context, self.settings, self)
        self.data_commands = DataCommands(
            self.context, self.settings, self.projects.confirm_unsaved_then, self
        )
        self.run_commands = RunCommands(self.context, self)
        self.exporting = ReleaseCommands(self.context, self)
        self.help = Help(self.context, self)
        self.area = CentralArea(self.context, self.settings)
        self.input = InputPanel(self.context)
        self.tabs = self._make_tabs(
            self.input, ResultsPanel(self.context), RegionsPanel(self.context), self.log
        )
        self.splitter = self._make_splitter()
        self.setCentralWidget(self.splitter)
        self.menus = Menus(self)
        self.toolbar = self._make_toolbar()
        self._connect()
        self._set_guide_sections()
        self.setAcceptDrops(True)
        self.theme.dress()
        self._restore_shape()
        self.area.start_page.offer_recent(self.recent())
        self._on_state_changed()

    @property
    def state(self) -> AppState:
        """The application state."""
        return self.model.state

    def _make_tabs(self, *widgets: QWidget) -> QTabWidget:
        tabs = with_properties(QTabWidget(), documentMode=True)
        for widget, (title, tip) in zip(widgets, TABS.items(), strict=True):
            index = tabs.addTab(widget, title)
            tabs.setTabToolTip(index, f"{tip} (Alt+{index + 1})")
        return tabs

    def _set_guide_sections(self) -> None:
        """Name the section of the guide for each part of the window; pages name theirs in `PAGES`."""
        sections = {
            self.area.start_page: "user-guide.md#the-first-five-minutes",
            self.area.map: "map.md#the-map",
            self.input: "user-guide.md#3-choose-the-protection-and-the-approaches",
            self.input.files: "user-guide.md#1-open-your-data",
            self.input.columns: "user-guide.md#2-choose-the-roles-of-the-columns",
            self.tab("Results"): "map.md#results",
            self.tab("Regions"): "map.md#regions",
            self.log: "user-guide.md#when-something-goes-wrong",
        }
        for widget, section in sections.items():
            set_guide_section(widget, section)

    def _make_splitter(self) -> QSplitter:
        panel_width = PANEL_WIDTH * self.fontMetrics().height() // _LINE_HEIGHT
        beside = splitter(self.area, self.tabs, sizes=(1440 - panel_width, panel_width), growing=0)
        return with_properties(beside, handleWidth=1)

    def _make_toolbar(self) -> QToolBar:
        bar = with_properties(
            QToolBar("Main"),
            objectName="main_toolbar",
            movable=False,
            iconSize=QSize(18, 18),
            toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon,
        )
        bar.addActions(self.menus.toolbar_actions())
        self.combination = with_properties(
            ElidedLabel(), look="muted", minimumWidth=120, accessibleName="Chosen combination"
        )
        self.combination.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar.addSeparator()
        bar.addWidget(self.combination)
        self.addToolBar(bar)
        return bar

    def _connect(self) -> None:
        start_page = self.area.start_page
        start_page.data_requested.connect(self.data_commands.open_data)
        start_page.project_requested.connect(self.projects.open_project)
        start_page.sample_requested.connect(self.data_commands.open_sample)
        self.input.files.choose.clicked.connect(self.data_commands.open_data)
        self.input.files.options.again.clicked.connect(self.data_commands.reload)
        self.input.files.reload_requested.connect(self.data_commands.reload)
        self.input.run.clicked.connect(self.run_commands.run)
        self.input.search_requested.connect(self.menus.actions["find_a_release"].trigger)
        self.run_commands.undo_applied.connect(self.open_tab)
        self.data_commands.findings_changed.connect(self._on_findings_changed)
        model = self.model
        worker = self.worker
        for signal in (
            model.choices_changed,
            model.data_loaded,
            model.problem_counted,
            model.solutions_changed,
        ):
            signal.connect(self._on_state_changed)
        for signal in (
            model.solution_added,
            model.selection_changed,
            model.saved,
            model.edited,
            worker.job_started,
            worker.job_ended,
        ):
            signal.connect(self._on_state_changed)
        self.area.page_changed.connect(self.status.turn_to)
        self.area.page_changed.connect(self.arrange)

    @Slot()
    def _on_findings_changed(self) -> None:
        self.input.show_findings(self.data_commands.findings, self.data_commands.findings_of)

    # What parts ask of the window

    def show_message(self, text: str) -> None:
        """Show a sentence in the status line and keep it in the log."""
        self.status.show_message(text)
        self.log.add(text)

    def show_tab(self, title: str) -> None:
        """Bring a tab to the front."""
        self.tabs.setCurrentWidget(self.tab(title))

    def show_page(self, title: str) -> None:
        """Show the page with this title."""
        self.area.show_page(next(page for page in PAGES if page.title == title))

    def open_tab(self, title: str) -> None:
        """Bring a tab to the front, and map and panel with it."""
        if self.area.page is not None:
            self.area.show_map()
        self.menus.panel.setChecked(True)
        self.show_tab(title)

    def tab(self, title: str) -> QWidget:
        """Return a tab's widget by its title."""
        widget = self.tabs.widget(list(TABS).index(title))
        assert widget is not None
        return widget

    @Slot()
    def _on_state_changed(self) -> None:
        state = self.state
        path = self.state.project_path
        self.combination.setText(state.combination)
        name = path.name if path else (state.records_path.name if state.records_path else "")
        self.setWindowTitle(f"{escape_controls(name)}[*] – VBAS Desktop" if name else "VBAS Desktop[*]")
        self.setWindowModified(state.modified)
        self.menus.refresh()
        self.arrange()

    @Slot()
    def arrange(self) -> None:
        """Leave the start page alone while nothing is loaded, and a page without the panel."""
        is_page_shown = self.area.page is not None
        is_started = self.state.has_data or self.state.failed_load is not None
        self.toolbar.setVisible(is_started or is_page_shown or self.worker.busy)
        self.tabs.setVisible(is_started and not is_page_shown and self.menus.panel.isChecked())
        self.menus.actions["show_map"].setEnabled(is_page_shown)

    # Files dropped on the window

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take local files."""
        if event.mimeData().hasUrls() and all(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        self.open_files([Path(url.toLocalFile()) for url in event.mimeData().urls()])
        event.acceptProposedAction()

    def open_files(self, paths: list[Path]) -> None:
        """Open a project, or data files."""
        projects = [path for path in paths if path.suffix == SUFFIX]
        follow = partial(self.projects.open_project_file, projects[0]) if projects else None
        self.projects.confirm_unsaved_then(follow or partial(self.data_commands.open_files, paths))

    def recent(self) -> list[tuple[str, str, Callable[[], object]]]:
        """List what was opened recently, projects first: name, location, and what opens it."""
        entries: list[tuple[str, str, Callable[[], object]]] = []
        for path in self.settings.recent_projects:
            follow: Callable[[], object] = partial(self.projects.open_project_file, path)
            entries.append((path.name, str(path), partial(self.projects.confirm_unsaved_then, follow)))
        for records, regions in self.settings.recent_data:
            follow = partial(self.data_commands.load, records, regions)
            name = f"{records.parent.name}/{records.name} + {regions.name}"
            entries.append((name, str(records), partial(self.projects.confirm_unsaved_then, follow)))
        return entries

    # Shape and closing

    def _restore_shape(self) -> None:
        self.resize(1440, 900)
        self._stay_on_screen()
        for name, restore in (
            ("window/geometry", self.restoreGeometry),
            ("window/state", self.restoreState),
            ("window/splitter", self.splitter.restoreState),
        ):
            value = self.settings.get(name)
            if isinstance(value, QByteArray):
                restore(value)
        self._stay_on_screen()

    def showEvent(self, event: QShowEvent) -> None:
        """Move the window onto the screen: the size of its frame is known only now."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self._stay_on_screen)

    @Slot()
    def _stay_on_screen(self) -> None:
        """Keep the whole window on the screen, frame and title included, however small the screen is."""
        if self.isMaximized() or self.isFullScreen():
            return
        screen = self.screen().availableGeometry()
        inner = self.geometry()
        frame = self.frameGeometry()
        around = frame.size() - inner.size()
        if not self.isVisible():
            around = _USUAL_FRAME
        available = (screen.size() - around).expandedTo(self.minimumSizeHint())
        if inner.width() > available.width() or inner.height() > available.height():
            self.resize(inner.size().boundedTo(available))
            frame = QRect(frame.topLeft(), self.size() + around)
        if self.isVisible() and not screen.contains(frame):
            self.move(
                max(screen.left(), min(frame.left(), screen.right() - frame.width() + 1)),
                max(screen.top(), min(frame.top(), screen.bottom() - frame.height() + 1)),
            )

    def _remember_shape(self) -> None:
        self.settings.put("window/geometry", self.saveGeometry())
        self.settings.put("window/state", self.saveState())
        if self.tabs.isVisible():
            self.settings.put("window/splitter", self.splitter.saveState())
        self.settings.sync()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask before a running job or unsaved work is thrown away; then stop the threads and remember the shape."""
        if self.worker.busy:
            event.ignore()
            answers = {"&Stop and close": self._stop_and_close, "&Keep running": lambda: None}
            ask_question(
                self,
                "Something is still running.",
                f"{self.worker.title}. Finished solutions are kept.",
                answers,
            )
            return
        if self.state.modified and self.state.entries and not self._closing:
            event.ignore()
            self.projects.confirm_unsaved_then(self._close_now)
            return
        self.background.shut_down()
        self.input.close_part()
        self.projects.close()
        self.model.close()
        self._remember_shape()
        event.accept()

    def _stop_and_close(self) -> None:
        self.worker.shut_down()
        self.close()

    def _close_now(self) -> None:
        self._closing = True
        self.close()

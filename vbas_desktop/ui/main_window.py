"""The main window: puts the parts together and remembers its shape. What the commands do is in `controller`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QSizePolicy, QTabWidget, QToolBar, QWidget

from vbas_desktop.model.names import escape_controls
from vbas_desktop.session.project import SUFFIX
from vbas_desktop.session.session import Session
from vbas_desktop.ui.widgets.building import dress

from .central import MakingRoom, MapArea, YieldingSplitter
from .context import Context, SessionModel
from .controller import Controller
from .dialogs.messages import ask
from .exporting import Exporting
from .help import Help
from .menus import Menus
from .panel import TABS
from .panel.input_tab import InputTab
from .panel.regions_tab import RegionsTab
from .panel.results_tab import ResultsTab
from .projects import Projects
from .settings import Settings
from .status import LogTab, StatusLine
from .theme import FOLLOW_SYSTEM, Theme
from .widgets.fields import ElidedLabel
from .widgets.focus_ring import FocusRing
from .worker import JobRunner

_USUAL_FRAME = QSize(2, 32)
"""What most window managers put around a window; what this one does is known once it is shown."""

PANEL_WIDTH = 464
"""At first: the results table shows there what matters."""


class MainWindow(QMainWindow):
    """Menus, toolbar, map, tabs, status line."""

    def __init__(self) -> None:
        super().__init__()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.settings = Settings()
        self.theme = Theme(app, str(self.settings.get("theme", FOLLOW_SYSTEM)), self)
        self.focus_ring = FocusRing(app, self.theme, self)
        self.model = SessionModel(parent=self)
        self.runner, self.quiet_runner = JobRunner(self), JobRunner(self)
        self._closing = False
        self.context = Context(
            self.model,
            self.runner,
            self.quiet_runner,
            self.theme,
            self.say,
            lambda: self.area.show_map(),
            self.show_tab,
            lambda then: self.controller.run_then(then),
            lambda: self.exporting.export(),
            lambda entry, join: self.controller.use_earlier(entry, join),
            lambda entry, audience: self.exporting.extract(entry, audience),
        )
        self.log = LogTab(self.context)
        self.status = StatusLine(self.model, self.runner, self)
        self.setStatusBar(self.status)
        self.projects = Projects(self.context, self.settings, self)
        self.controller = Controller(self.context, self.settings, self.projects.guarded, self)
        self.exporting = Exporting(self.context, self)
        self.help = Help(self.context, self)
        self.area = MapArea(self.context, self.settings)
        self.input = InputTab(self.context)
        self.tabs = self._make_tabs(self.input, ResultsTab(self.context), RegionsTab(self.context), self.log)
        self.splitter = self._make_splitter()
        self.setCentralWidget(self.splitter)
        self.menus = Menus(self)
        self.room = MakingRoom(self.menus.panel, self.splitter, self)
        self._make_toolbar()
        self._connect()
        self.setAcceptDrops(True)
        self.theme.dress()
        self._restore_shape()
        self.area.welcome.offer_recent(self.recent())
        self._on_state_changed()

    @property
    def session(self) -> Session:
        """The application state."""
        return self.model.session

    def _make_tabs(self, *widgets: QWidget) -> QTabWidget:
        tabs = dress(QTabWidget(), documentMode=True)
        for widget, (title, tip) in zip(widgets, TABS.items(), strict=True):
            index = tabs.addTab(widget, title)
            tabs.setTabToolTip(index, f"{tip} (Alt+{index + 1})")
        return tabs

    def _make_splitter(self) -> YieldingSplitter:
        splitter = YieldingSplitter()
        splitter.addWidget(self.area)
        splitter.addWidget(self.tabs)
        splitter.setHandleWidth(1)
        splitter.setCollapsible(0, False)
        splitter.setStretchFactor(0, 1)
        splitter.setStretchFactor(1, 0)
        splitter.setSizes([1440 - PANEL_WIDTH, PANEL_WIDTH])
        return splitter

    def _make_toolbar(self) -> None:
        bar = dress(
            QToolBar("Main"),
            objectName="main_toolbar",
            movable=False,
            iconSize=QSize(18, 18),
            toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon,
        )
        bar.addActions(self.menus.toolbar_actions())
        self.combination = dress(ElidedLabel(), look="muted", minimumWidth=120, accessibleName="Chosen combination")
        self.combination.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar.addSeparator()
        bar.addWidget(self.combination)
        self.addToolBar(bar)

    def _connect(self) -> None:
        welcome = self.area.welcome
        welcome.data_wanted.connect(self.controller.open_data)
        welcome.project_wanted.connect(self.projects.open_project)
        welcome.sample_wanted.connect(self.controller.open_sample)
        self.input.files.choose.clicked.connect(self.controller.open_data)
        self.input.files.options.again.clicked.connect(self.controller.reload)
        self.input.run.clicked.connect(self.controller.run)
        self.controller.step_walked.connect(self.open_tab)
        self.controller.findings_changed.connect(self._on_findings_changed)
        model, runner = self.model, self.runner
        for signal in (model.choices_changed, model.data_loaded, model.problem_counted, model.solutions_changed):
            signal.connect(self._on_state_changed)
        for signal in (
            model.solution_added,
            model.selection_changed,
            model.saved,
            runner.job_started,
            runner.job_ended,
        ):
            signal.connect(self._on_state_changed)
        self.area.wide_changed.connect(self.room.show_wide)
        self.area.page_changed.connect(self.status.turn_to)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a small window the panel makes room for tools."""
        super().resizeEvent(event)
        self.room.resize(self.width())

    @Slot()
    def _on_findings_changed(self) -> None:
        self.input.show_findings(self.controller.findings, self.controller.findings_of)

    # What parts ask of the window

    def say(self, text: str) -> None:
        """Show a sentence in the status line and keep it in the log."""
        self.status.say(text)
        self.log.add(text)

    def show_tab(self, title: str) -> None:
        """Bring a tab to the front."""
        self.tabs.setCurrentWidget(self.tab(title))

    def open_tab(self, title: str) -> None:
        """Bring a tab to the front, and the panel with it."""
        if not self.menus.panel.isChecked():
            self.menus.panel.trigger()
        self.show_tab(title)

    def tab(self, title: str) -> QWidget:
        """A tab's widget by its title."""
        widget = self.tabs.widget(list(TABS).index(title))
        assert widget is not None
        return widget

    @Slot()
    def _on_state_changed(self) -> None:
        session, path = self.session, self.session.project_path
        self.combination.setText(session.combination)
        name = path.name if path else (session.records_path.name if session.records_path else "")
        self.setWindowTitle(f"{escape_controls(name)}[*] – VBAS Desktop" if name else "VBAS Desktop[*]")
        self.setWindowModified(session.modified)
        self.menus.refresh()

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
        self.projects.guarded(follow or partial(self.controller.open_files, paths))

    def recent(self) -> list[tuple[str, str, Callable[[], object]]]:
        """What was opened lately, projects first: name, where it is, and what opens it."""
        found: list[tuple[str, str, Callable[[], object]]] = []
        for path in self.settings.recent_projects:
            follow: Callable[[], object] = partial(self.projects.open_project_file, path)
            found.append((path.name, str(path), partial(self.projects.guarded, follow)))
        for records, regions in self.settings.recent_data:
            follow = partial(self.controller.load, records, regions)
            name = f"{records.parent.name}/{records.name} + {regions.name}"
            found.append((name, str(records), partial(self.projects.guarded, follow)))
        return found

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
        """Only now it is known how much room a window manager takes for its frame."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self._stay_on_screen)

    @Slot()
    def _stay_on_screen(self) -> None:
        """Whole on the screen, frame and title included, however small that is and wherever it was last time."""
        if self.isMaximized() or self.isFullScreen():
            return
        screen, inner, frame = self.screen().availableGeometry(), self.geometry(), self.frameGeometry()
        around = frame.size() - inner.size()
        if not self.isVisible():
            around = _USUAL_FRAME
        room = (screen.size() - around).expandedTo(self.minimumSizeHint())
        if inner.width() > room.width() or inner.height() > room.height():
            self.resize(inner.size().boundedTo(room))
            frame = QRect(frame.topLeft(), self.size() + around)
        if self.isVisible() and not screen.contains(frame):
            self.move(
                max(screen.left(), min(frame.left(), screen.right() - frame.width() + 1)),
                max(screen.top(), min(frame.top(), screen.bottom() - frame.height() + 1)),
            )

    def _remember_shape(self) -> None:
        self.settings.put("window/geometry", self.saveGeometry())
        self.settings.put("window/state", self.saveState())
        if not self.room.aside:
            self.settings.put("window/splitter", self.splitter.saveState())
        self.settings.sync()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask before a running job or unsaved work is thrown away; then stop the threads and remember the shape."""
        if self.runner.busy:
            event.ignore()
            answers = {"&Stop and close": self._stop_and_close, "&Keep running": lambda: None}
            ask(self, "Something is still running.", f"{self.runner.title}. Finished solutions are kept.", answers)
            return
        if self.session.modified and self.session.entries and not self._closing:
            event.ignore()
            self.projects.guarded(self._close_now)
            return
        self.quiet_runner.shut_down()
        self.input.close_part()
        self.projects.close()
        self.model.close()
        self._remember_shape()
        event.accept()

    def _stop_and_close(self) -> None:
        self.runner.shut_down()
        self.close()

    def _close_now(self) -> None:
        self._closing = True
        self.close()

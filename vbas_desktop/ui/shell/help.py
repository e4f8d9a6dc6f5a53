"""The menu Help: the user guide at the section that matches what is shown, and About."""

from __future__ import annotations

import importlib.metadata
import platform

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QTabWidget, QWidget

from vbas_desktop import __version__

from ..core.context import UiContext
from ..core.theme import GRID
from ..widgets.layouts import scroll_area, vbox, with_properties
from ..widgets.plain_text import Label
from .guide import GUIDE, GuideWindow

_LIBRARIES = (
    "PySide6-Essentials",
    "pyqtgraph",
    "numpy",
    "scipy",
    "shapely",
    "pandas",
    "pyarrow",
    "numba",
    "pyproj",
)

GUIDE_PROPERTY = "guide"
"""The property of a widget that names its section of the guide, such as "user-guide.md#5-export"."""


def set_guide_section(widget: QWidget, section: str) -> None:
    """Name the section of the guide that F1 opens while the focus is in a widget."""
    widget.setProperty(GUIDE_PROPERTY, section)


def find_guide_section(widget: QWidget | None) -> str:
    """Return the section of a widget, or of the nearest one around it that has one."""
    while widget is not None:
        shown = widget.currentWidget() if isinstance(widget, QTabWidget) else None
        for candidate in (widget, shown):
            section = candidate.property(GUIDE_PROPERTY) if candidate is not None else None
            if section:
                return str(section)
        widget = widget.parentWidget()
    return GUIDE


def versions() -> list[tuple[str, str]]:
    """List the versions of the program and of what it is built on."""
    versions_ = [("VBAS Desktop", __version__), ("Python", platform.python_version())]
    for name in _LIBRARIES:
        try:
            versions_.append((name.removesuffix("-Essentials"), importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions_


class AboutDialog(QDialog):
    """Versions and licence; can be selected and copied for a message to whoever helps."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("About VBAS Desktop")
        heading = with_properties(Label("VBAS Desktop"), look="heading")
        what = Label(
            "Makes record files k-anonymous by merging small regions. Works without any network."
        )
        text = Label("\n".join(f"{name} {version}" for name, version in versions()))
        with_properties(what, wordWrap=True)
        with_properties(
            text, look="muted", textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        vbox(
            heading,
            what,
            (scroll_area(text, frameShape=QFrame.Shape.NoFrame), 1),
            Label("MIT licence."),
            buttons,
            within=self,
            margins=(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID),
            spacing=2 * GRID,
        )


class Help(QObject):
    """The commands of the menu Help."""

    def __init__(self, context: UiContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self._guide: GuideWindow | None = None

    @Slot()
    def show_guide(self) -> None:
        """Open the user guide at the section of what has the focus, or bring it to the front there."""
        section = find_guide_section(self._window.focusWidget())
        if self._guide is None:
            self._guide = GuideWindow(self._context.theme, self._window)
            self._guide.destroyed.connect(self._on_guide_destroyed)
        self._guide.show_page(section)
        self._guide.show()
        self._guide.raise_()

    @Slot()
    def _on_guide_destroyed(self) -> None:
        self._guide = None

    @Slot()
    def show_about(self) -> None:
        """Open About."""
        AboutDialog(self._window).open()

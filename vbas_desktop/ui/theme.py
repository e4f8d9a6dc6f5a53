"""How the window looks: Fusion with our own palettes, light and dark, one accent, an 8 px grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QColor, QFont, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QApplication

from vbas_desktop.io.places import resource

from .stylesheet import stylesheet

_SIZES = (16, 24, 32, 48)


@cache
def icon(name: str, colour: str, disabled: str, selected: str) -> QIcon:
    """The icon ``resources/icons/<name>.svg`` with its ``currentColor`` replaced."""
    source = resource(f"icons/{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    modes = {QIcon.Mode.Normal: colour, QIcon.Mode.Disabled: disabled, QIcon.Mode.Selected: selected}
    for mode, paint in modes.items():
        renderer = QSvgRenderer(QByteArray(source.replace("currentColor", paint).encode()))
        for size in _SIZES:
            result.addPixmap(_drawn(renderer, size, 0.4 if mode is QIcon.Mode.Disabled else 1.0), mode)
    return result


def _drawn(renderer: QSvgRenderer, size: int, opacity: float) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setOpacity(opacity)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap


GRID = 8
"""Distances are multiples of this many pixels (half of it inside a field)."""


@dataclass(frozen=True)
class Colours:
    """Named colours; everything that is drawn takes its colours from here.

    ``line`` parts what belongs together; ``field`` frames what can be filled in, moved or scrolled, and is easy to see.
    ``fills`` are for aggregated regions: muted, told apart by colour-blind eyes, neighbours get different ones.
    ``mark`` lifts something out without saying that it is wrong. ``sequence`` runs from little to much and survives a
    greyscale print.
    """

    window: str
    base: str
    raised: str
    text: str
    muted: str
    line: str
    field: str
    accent: str
    on_accent: str
    good: str
    warning: str
    error: str
    mark: str
    canvas: str
    region_border: str
    site: str
    water: str
    context: tuple[str, ...]
    fills: tuple[str, ...]
    sequence: tuple[str, ...]


LIGHT = Colours(
    window="#f4f6f8",
    base="#ffffff",
    raised="#ffffff",
    text="#1b2530",
    muted="#5c6975",
    line="#d5dbe1",
    field="#848e98",
    accent="#0f6b8f",
    on_accent="#ffffff",
    good="#2a7a4b",
    warning="#946200",
    error="#b3261e",
    mark="#6a1fb0",
    canvas="#fbfcfd",
    region_border="#51606d",
    site="#17212b",
    water="#d3e3ee",
    context=("#1f6fb2", "#8a4b14", "#1d7a43", "#555f69", "#7a2fa8"),
    fills=(
        "#a9c6de", "#f0cfa0", "#a8d5c2", "#e3b3b0", "#c9c3e0", "#d9dca0",
        "#8fb8c9", "#e8bfd2", "#bcd6a4", "#d8c3ab", "#9fcfd6", "#cfd4da",
    ),
    sequence=("#fff3e0", "#fdd9a5", "#f7b267", "#e58237", "#bf5413", "#7f2d04"),
)  # fmt: skip

DARK = Colours(
    window="#1d2228",
    base="#15191e",
    raised="#262c34",
    text="#e3e8ed",
    muted="#98a5b1",
    line="#39424c",
    field="#6f7c89",
    accent="#4fb0d6",
    on_accent="#0c1419",
    good="#6cc492",
    warning="#e0b04a",
    error="#f28b82",
    mark="#cfa8ff",
    canvas="#14181c",
    region_border="#b4c0cb",
    site="#f2f5f7",
    water="#1b3140",
    context=("#74bdf2", "#e2a86b", "#7fd6a0", "#b9c3cc", "#d2a6f5"),
    fills=(
        "#3f6685", "#8a6a37", "#3d7763", "#86514e", "#645c8f", "#73763a",
        "#2f6073", "#85526c", "#577a3d", "#75604a", "#3a737b", "#5b6570",
    ),
    sequence=("#2a211a", "#54361b", "#86511d", "#bb7126", "#e59a45", "#fdd49a"),
)  # fmt: skip

FOLLOW_SYSTEM, ALWAYS_LIGHT, ALWAYS_DARK = "system", "light", "dark"


class _Icon(QObject):
    """Draws the icon of its parent anew whenever the colours change; goes away with it."""

    def __init__(self, theme: Theme, holder: QAbstractButton | QAction, name: str) -> None:
        super().__init__(holder)
        self._theme, self._holder, self._name = theme, holder, name
        theme.changed.connect(self.draw)
        self.draw()

    @Slot()
    def draw(self) -> None:
        """In the colours in force."""
        self._holder.setIcon(self._theme.icon(self._name))


class Theme(QObject):
    """The looks in force. `changed` is emitted after the application's palette has changed: redraw then.

    The style sheet waits for `dress`: with it in force, Qt would style every widget anew whenever it gets a parent.
    """

    changed = Signal()

    def __init__(self, app: QApplication, choice: str = FOLLOW_SYSTEM, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app, self._font = app, app.font()
        self.choice, self._system = choice, app.styleHints().colorScheme()
        """What the user chose (system, light or dark), and what the system says."""
        app.setStyle("Fusion")
        app.setStyleSheet("")
        app.setPalette(palette(self.colours))
        app.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    @property
    def dark(self) -> bool:
        """Whether dark colours are in force."""
        if self.choice == FOLLOW_SYSTEM:
            return self._system is Qt.ColorScheme.Dark
        return self.choice == ALWAYS_DARK

    @property
    def colours(self) -> Colours:
        """The colours in force."""
        return DARK if self.dark else LIGHT

    def colour(self, name: str) -> QColor:
        """One of the named colours, such as ``accent``."""
        return QColor(getattr(self.colours, name))

    def choose(self, choice: str) -> None:
        """Follow the system, or stay light or dark."""
        if choice != self.choice:
            self.choice = choice
            self.dress()
            self.changed.emit()

    def icon(self, name: str) -> QIcon:
        """One of our icons in the colours in force."""
        return icon(name, self.colours.text, self.colours.muted, self.colours.on_accent)

    def set_icon(self, holder: QAbstractButton | QAction, name: str) -> None:
        """Give a button or an action one of our icons, which follows the colours in force; "": none."""
        if name:
            _Icon(self, holder, name)

    @Slot(Qt.ColorScheme)
    def _on_system_changed(self, scheme: Qt.ColorScheme) -> None:
        self._system = scheme
        self._keep_font()
        QTimer.singleShot(0, self, self._keep_font)
        if self.choice == FOLLOW_SYSTEM:
            self.dress()
            self.changed.emit()

    @Slot()
    def _keep_font(self) -> None:
        """Now, and again when Qt is through: left to itself it takes the fixed-width font for that of the program, once
        a text with one (the user guide) has been shown.
        """
        self._app.setFont(self._font)

    def dress(self) -> None:
        """Put palette and style sheet into force; called once the window is complete."""
        self._app.setPalette(palette(self.colours))
        self._app.setStyleSheet(stylesheet(self.colours))


def palette(colours: Colours) -> QPalette:
    """The palette of the standard widgets."""
    result = QPalette()
    role = QPalette.ColorRole
    for name, colour in {
        role.Window: colours.window,
        role.WindowText: colours.text,
        role.Base: colours.base,
        role.AlternateBase: colours.window,
        role.Text: colours.text,
        role.PlaceholderText: colours.muted,
        role.Button: colours.raised,
        role.ButtonText: colours.text,
        role.ToolTipBase: colours.raised,
        role.ToolTipText: colours.text,
        role.Highlight: colours.accent,
        role.HighlightedText: colours.on_accent,
        role.Link: colours.accent,
        role.Mid: colours.line,
        role.Light: colours.raised,
        role.Accent: colours.accent,
    }.items():
        result.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, name, _between(colours.muted, colours.window))
    return result


def _between(one: str, other: str) -> QColor:
    a, b = QColor(one), QColor(other)
    return QColor((a.red() * 2 + b.red()) // 3, (a.green() * 2 + b.green()) // 3, (a.blue() * 2 + b.blue()) // 3)


def tabular(font: QFont) -> QFont:
    """The same font with figures of equal width, for columns of numbers."""
    result = QFont(font)
    result.setFeature(QFont.Tag("tnum"), 1)
    return result

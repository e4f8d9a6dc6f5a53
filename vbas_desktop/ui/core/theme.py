"""How the window looks: Fusion with our own palettes, light and dark, one accent, an 8 px grid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QColor, QFont, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QApplication

from vbas_desktop.io.paths import resource_path

from .stylesheet import build_stylesheet

_SIZES = (16, 24, 32, 48)


@cache
def icon(name: str, colour: str, disabled: str, selected: str) -> QIcon:
    """Draw the icon ``resources/icons/<name>.svg`` with its ``currentColor`` replaced."""
    source = resource_path(f"icons/{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    modes = {QIcon.Mode.Normal: colour, QIcon.Mode.Disabled: disabled, QIcon.Mode.Selected: selected}
    for mode, paint in modes.items():
        renderer = QSvgRenderer(QByteArray(source.replace("currentColor", paint).encode()))
        for size in _SIZES:
            result.addPixmap(
                _render_icon(renderer, size, 0.4 if mode is QIcon.Mode.Disabled else 1.0), mode
            )
    return result


def _render_icon(renderer: QSvgRenderer, size: int, opacity: float) -> QPixmap:
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
class ColourScheme:
    """Named colours; everything that is drawn takes its colours from here.

    ``line`` parts what belongs together; ``field`` frames what can be filled in, moved or scrolled, and is easy to see.
    ``fills`` are for aggregated regions: muted, told apart by colour-blind eyes, neighbours get different ones.
    ``lines`` are for lines and marks of charts: all have a contrast of at least 3:1 to ``base``.
    ``region_border`` on a casing of ``base`` has a contrast of at least 3:1 to every fill.
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
    lines: tuple[str, ...]
    sequence: tuple[str, ...]

    def series_colour(self, number: int) -> str:
        """Return the colour of a line or mark of charts by its number."""
        return self.lines[number % len(self.lines)]

    def faint(self, colour: str) -> str:
        """Mix a colour with that of the ground, as faint as is still seen well: a contrast of at least 3:1."""
        for share in (0.5, 0.6, 0.7, 0.8, 0.9):
            mixed = mix(colour, self.base, share)
            if contrast(mixed, self.base) >= 3:
                return mixed
        return colour


def mix(colour: str, ground: str, share: float) -> str:
    """Mix a share of a colour with another one."""
    pairs = zip(_components(colour), _components(ground), strict=True)
    return "#" + "".join(f"{round(255 * (share * a + (1 - share) * b)):02x}" for a, b in pairs)


def contrast(colour: str, ground: str) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it, from 1 to 21."""
    high, low = sorted((_luminance(colour), _luminance(ground)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in _components(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _components(colour: str) -> tuple[float, float, float]:
    parsed = QColor(colour)
    return parsed.redF(), parsed.greenF(), parsed.blueF()


LIGHT = ColourScheme(
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
    region_border="#36434f",
    site="#17212b",
    water="#d3e3ee",
    context=("#1f6fb2", "#8a4b14", "#1d7a43", "#555f69", "#7a2fa8"),
    fills=(
        "#a9c6de", "#f0cfa0", "#a8d5c2", "#e3b3b0", "#c9c3e0", "#d9dca0",
        "#8fb8c9", "#e8bfd2", "#bcd6a4", "#d8c3ab", "#9fcfd6", "#cfd4da",
    ),
    lines=(
        "#1f6fb2", "#b3560b", "#1d7a43", "#b3261e", "#7a2fa8", "#6b6b00",
        "#007a87", "#b0307f", "#7a4b1e", "#555f69", "#3d4db8", "#4f7a12",
    ),
    sequence=("#fff3e0", "#fdd9a5", "#f7b267", "#e58237", "#bf5413", "#7f2d04"),
)  # fmt: skip

DARK = ColourScheme(
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
    region_border="#dfe6ec",
    site="#f2f5f7",
    water="#1b3140",
    context=("#74bdf2", "#e2a86b", "#7fd6a0", "#b9c3cc", "#d2a6f5"),
    fills=(
        "#3f6685", "#8a6a37", "#3d7763", "#86514e", "#645c8f", "#73763a",
        "#2f6073", "#85526c", "#577a3d", "#75604a", "#3a737b", "#5b6570",
    ),
    lines=(
        "#74bdf2", "#f0a860", "#7fd6a0", "#f28b82", "#d2a6f5", "#d6d066",
        "#5fd0d8", "#f59ac8", "#cfae8a", "#b9c3cc", "#a3aef5", "#b5d978",
    ),
    sequence=("#2a211a", "#54361b", "#86511d", "#bb7126", "#e59a45", "#fdd49a"),
)  # fmt: skip

FOLLOW_SYSTEM = "system"
ALWAYS_LIGHT = "light"
ALWAYS_DARK = "dark"


class _Icon(QObject):
    """Draws the icon of its parent anew whenever the colours change; goes away with it."""

    def __init__(self, theme: Theme, holder: QAbstractButton | QAction, name: str) -> None:
        super().__init__(holder)
        self._theme = theme
        self._holder = holder
        self._name = name
        theme.changed.connect(self.draw)
        self.draw()

    @Slot()
    def draw(self) -> None:
        """Draw the icon in the colours in force."""
        self._holder.setIcon(self._theme.icon(self._name))


class Theme(QObject):
    """The looks in force. `changed` is emitted after the application's palette has changed: redraw then.

    The style sheet waits for `dress`: with it in force, Qt would style every widget anew whenever it gets a parent.
    """

    changed = Signal()

    def __init__(
        self, app: QApplication, choice: str = FOLLOW_SYSTEM, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._app = app
        self._font = app.font()
        self.choice = choice
        self._system = app.styleHints().colorScheme()
        """What the user chose (system, light or dark), and what the system says."""
        self._system_palette = app.palette()
        self._hints = app.styleHints()  # its accessibility hints live as long as this reference
        accessibility = self._hints.accessibility()
        self._is_high_contrast = accessibility.contrastPreference() is Qt.ContrastPreference.HighContrast
        accessibility.contrastPreferenceChanged.connect(self._on_contrast_changed)
        app.setStyle("Fusion")
        app.setStyleSheet("")
        app.setPalette(palette(self.colours))
        app.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    @property
    def dark(self) -> bool:
        """Say if the dark colours are in force."""
        if self.choice == FOLLOW_SYSTEM:
            return self._system is Qt.ColorScheme.Dark
        return self.choice == ALWAYS_DARK

    @property
    def colours(self) -> ColourScheme:
        """The colours in force."""
        colours = DARK if self.dark else LIGHT
        if self._is_high_contrast and self.choice == FOLLOW_SYSTEM:
            return follow_palette(colours, self._system_palette)
        return colours

    def colour(self, name: str) -> QColor:
        """Return one of the named colours, such as ``accent``."""
        return QColor(getattr(self.colours, name))

    def choose(self, choice: str) -> None:
        """Follow the system, or stay light or dark."""
        if choice != self.choice:
            self.choice = choice
            self.dress()
            self.changed.emit()

    def icon(self, name: str) -> QIcon:
        """Draw an icon in the colours in force."""
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

    @Slot(Qt.ContrastPreference)
    def _on_contrast_changed(self, preference: Qt.ContrastPreference) -> None:
        self._app.setPalette(QPalette())  # that of the system
        self._system_palette = self._app.palette()
        self._is_high_contrast = preference is Qt.ContrastPreference.HighContrast
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
        self._app.setStyleSheet(build_stylesheet(self.colours))


def follow_palette(colours: ColourScheme, system: QPalette) -> ColourScheme:
    """Return the colours with those of the system's palette, and everything that is muted as clear as text."""
    text = system.windowText().color().name()
    window = system.window().color().name()
    return replace(
        colours,
        window=window,
        base=system.base().color().name(),
        raised=window,
        canvas=window,
        text=text,
        muted=text,
        line=text,
        field=text,
        region_border=text,
        accent=system.highlight().color().name(),
        on_accent=system.highlightedText().color().name(),
    )


def palette(colours: ColourScheme) -> QPalette:
    """Build the palette of the standard widgets."""
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


def _between(first: str, other: str) -> QColor:
    a = QColor(first)
    b = QColor(other)
    return QColor(
        (a.red() * 2 + b.red()) // 3, (a.green() * 2 + b.green()) // 3, (a.blue() * 2 + b.blue()) // 3
    )


def with_tabular_figures(font: QFont) -> QFont:
    """Return the font with figures of equal width, for columns of numbers."""
    result = QFont(font)
    result.setFeature(QFont.Tag("tnum"), 1)
    return result

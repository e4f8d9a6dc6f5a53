"""The ring around whatever the keyboard acts on: one look for buttons, fields, lists, tabs and the map."""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QEvent, QObject, QRect, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QTabBar, QWidget

from ..core.theme import Theme

_AWAY = 3
_THICK = 2
"""The ring begins so many pixels outside of the widget, and is so thick; what remains is a gap."""

_SHAPE = {
    QEvent.Type.Move,
    QEvent.Type.Resize,
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.StyleChange,
}


class FocusFrame(QWidget):
    """Draws nothing but its frame, lets the mouse through, and covers nothing in the middle."""

    def __init__(self, theme: Theme, holder: QWidget) -> None:
        super().__init__(holder)
        self._theme = theme
        self.holder = holder
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def lie_around(self, area: QRect) -> None:
        """Frame an area of the holder, as far as the holder reaches."""
        whole = area.adjusted(-_AWAY, -_AWAY, _AWAY, _AWAY) & self.holder.rect()
        self.setGeometry(whole)
        inner = self.rect().adjusted(_THICK, _THICK, -_THICK, -_THICK)
        # Without the hole the map would be painted anew together with its ring.
        self.setMask(QRegion(self.rect()) - QRegion(inner))
        self.raise_()
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the frame; the mask leaves the middle out."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.colour("accent"))
        painter.end()


class FocusTracker(QObject):
    """Follows the keyboard focus through all windows and dialogs. After a click of the mouse no ring is shown."""

    def __init__(self, app: QApplication, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._ring: FocusFrame | None = None
        self._watched: tuple[QWidget, ...] = ()
        app.focusChanged.connect(self._on_focus_changed)
        theme.changed.connect(self._on_theme_changed)

    @property
    def around(self) -> QWidget | None:
        """The widget that has the ring."""
        return self._watched[0] if self._watched else None

    @property
    def ring(self) -> FocusFrame | None:
        """The ring; it goes with the window that it is in."""
        return self._ring if self._ring is not None and shiboken6.isValid(self._ring) else None

    @Slot("QWidget*", "QWidget*")
    def _on_focus_changed(self, _: QWidget | None, focused: QWidget | None) -> None:
        self._let_go()
        if focused is None or not _wants_ring(focused):
            return
        chain = _up_to_holder(focused)
        holder = chain[-1].parentWidget()
        if holder is None:
            return
        self._watched = chain
        for widget in chain:
            widget.installEventFilter(self)
        if isinstance(focused, QTabBar):
            focused.currentChanged.connect(self._place)
        self._ring = FocusFrame(self._theme, holder)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go along when the widget, or something that it is in, moves or changes its size."""
        if event.type() in _SHAPE:
            self._place()
        return False

    @Slot()
    def _place(self) -> None:
        ring = self.ring
        widget = self.around
        if ring is None or widget is None or not shiboken6.isValid(widget):
            return
        if not widget.isVisible():
            ring.hide()
            return
        area = widget.tabRect(widget.currentIndex()) if isinstance(widget, QTabBar) else widget.rect()
        ring.lie_around(QRect(widget.mapTo(ring.holder, area.topLeft()), area.size()))

    def _let_go(self) -> None:
        for widget in self._watched:
            if shiboken6.isValid(widget):
                widget.removeEventFilter(self)
        if isinstance(self.around, QTabBar) and shiboken6.isValid(self.around):
            self.around.currentChanged.disconnect(self._place)
        if self.ring is not None:
            self.ring.hide()
            self.ring.deleteLater()
        self._watched = ()
        self._ring = None

    @Slot()
    def _on_theme_changed(self) -> None:
        if self.ring is not None:
            self.ring.update()


def _wants_ring(widget: QWidget) -> bool:
    """Say if a widget that accepts input got the focus by keyboard."""
    window = widget.window()
    return (
        window.testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
        and QApplication.mouseButtons() == Qt.MouseButton.NoButton
        and window.windowType() is not Qt.WindowType.Popup
        and widget.focusPolicy() is not Qt.FocusPolicy.NoFocus
        and not _is_content(widget)
    )


def _is_content(widget: QWidget) -> bool:
    """Say if a scroll area moves the widget (an editor inside a table counts, too: it stands out by itself)."""
    viewport = widget.parentWidget()
    area = viewport.parentWidget() if viewport is not None else None
    return isinstance(area, QAbstractScrollArea) and area.viewport() is viewport


def _up_to_holder(widget: QWidget) -> tuple[QWidget, ...]:
    """List the widget and what it is in, up to below what holds the ring: the window, or what a scroll area moves."""
    chain = [widget]
    while (
        (above := chain[-1].parentWidget()) is not None
        and not above.isWindow()
        and not _is_content(above)
    ):
        chain.append(above)
    return tuple(chain)

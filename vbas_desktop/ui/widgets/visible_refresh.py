"""Refreshing a page only while somebody sees it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtWidgets import QWidget


class VisibleRefresh(QObject):
    """Calls ``refresh`` at every request while a page is visible, and else once when it is shown next."""

    def __init__(self, page: QWidget, refresh: Callable[[], None]) -> None:
        super().__init__(page)
        self._page = page
        self._refresh = refresh
        self._is_due = False
        page.installEventFilter(self)

    @Slot()
    def request(self) -> None:
        """Refresh now, or when the page is shown."""
        self._is_due = not self._page.isVisible()
        if not self._is_due:
            self._refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Make up for the requests that came while the page was hidden."""
        if event.type() is QEvent.Type.Show and self._is_due:
            self._is_due = False
            self._refresh()
        return False

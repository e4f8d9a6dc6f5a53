"""Our icons: SVG files with one stroke width, drawn in the colours of the theme."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from vbas_desktop.files.places import resource

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

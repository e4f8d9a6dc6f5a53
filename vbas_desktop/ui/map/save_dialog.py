"""What a saved map gets: title, north arrow, size and resolution."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from vbas_desktop.ui.pictures import MM_PER_INCH, Drawing, Paper, record
from vbas_desktop.ui.theme import GRID, Colours
from vbas_desktop.ui.widgets.building import dress, in_column, in_row, offer
from vbas_desktop.ui.widgets.fields import Field
from vbas_desktop.ui.widgets.plain_text import Label

_USUAL_MM, _USUAL_DPI = 170.0, 300
_MOST_PIXELS = 20_000


@dataclass(frozen=True)
class MapWish:
    """How a map is to be saved."""

    title: str
    north: bool
    paper: Paper


class SaveMapDialog(QDialog):
    """Asks before the file is named; `wanted` when the user goes on."""

    wanted = Signal()

    def __init__(self, size: QSize, title: str, placed: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Save the map")
        self.setMinimumWidth(420)
        self._ratio = size.height() / max(1, size.width())
        self.title = dress(QLineEdit(title), placeholderText="none", cursorPosition=0)
        why_not = "" if placed else "The region file does not tell where on Earth it lies"
        self.north = dress(QCheckBox("&North arrow"), checked=placed, enabled=placed, toolTip=why_not)
        self.width_box = dress(QDoubleSpinBox(), minimum=1, maximum=_MOST_PIXELS, decimals=0, value=_USUAL_MM)
        self.unit = QComboBox()
        offer(self.unit, (("mm", "mm"), ("pixels", "px")))
        dress(self.unit, accessibleName="Unit of the width", toolTip="Millimetres on paper, or pixels on a screen")
        self.resolution = dress(QSpinBox(), minimum=36, maximum=1200, value=_USUAL_DPI)
        self.told = dress(Label(), look="muted")
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.go = self._buttons.addButton("&Save…", QDialogButtonBox.ButtonRole.AcceptRole)
        self._build()
        self.width_box.valueChanged.connect(self._on_changed)
        self.resolution.valueChanged.connect(self._on_changed)
        self.unit.currentIndexChanged.connect(self._on_unit)
        self._buttons.accepted.connect(self._on_accepted)
        self._buttons.rejected.connect(self.reject)
        self._on_changed()

    def _build(self) -> None:
        layout = in_column(
            Field("&Title", self.title, "Stands above the map; empty: none"),
            self.north,
            within=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        row = in_row(
            (Field("&Width", self.width_box, "Of the picture; its height follows from the window"), 1),
            (self.unit, 0, Qt.AlignmentFlag.AlignBottom),
            (Field("&Dots per inch", self.resolution, "How fine the picture is printed; 300 is usual"), 1),
        )
        layout.addLayout(row)
        layout.addWidget(self.told)
        layout.addWidget(self._buttons)

    @property
    def paper(self) -> Paper:
        """Size and resolution as chosen."""
        width, dpi = self.width_box.value(), self.resolution.value()
        return Paper(width if self.unit.currentData() == "mm" else width / dpi * MM_PER_INCH, dpi)

    @property
    def wish(self) -> MapWish:
        """All that was chosen."""
        return MapWish(self.title.text().strip(), self.north.isChecked(), self.paper)

    @Slot()
    def _on_changed(self) -> None:
        paper = self.paper
        high = round(paper.pixels * self._ratio)
        fits = max(paper.pixels, high) <= _MOST_PIXELS
        size = f"{paper.width_mm:,.0f} × {paper.width_mm * self._ratio:,.0f} mm, {paper.pixels:,} × {high:,} pixels"
        self.told.setText(size if fits else f"{size}: too large, at most {_MOST_PIXELS:,} pixels")
        self.go.setEnabled(fits)

    @Slot()
    def _on_unit(self) -> None:
        """Keep the size when the unit is another one."""
        factor = self.resolution.value() / MM_PER_INCH
        width = self.width_box.value()
        self.width_box.setValue(width * factor if self.unit.currentData() == "px" else width / factor)
        self._on_changed()

    @Slot()
    def _on_accepted(self) -> None:
        self.wanted.emit()
        self.accept()


def titled(drawing: Drawing, title: str, font: QFont, colours: Colours) -> Drawing:
    """A drawing with a title above it, in as many lines as it needs."""
    large = QFont(font)
    large.setBold(True)
    large.setPointSizeF(font.pointSizeF() * 1.3 if font.pointSizeF() > 0 else 13)
    width = drawing.size.width() - 4 * GRID
    flags = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
    text = QFontMetricsF(large).boundingRect(QRectF(0, 0, width, 10_000), int(flags), title)
    above = round(text.height()) + 2 * GRID

    def paint(painter: QPainter, area: QRectF) -> None:
        painter.fillRect(area, QColor(colours.canvas))
        painter.setFont(large)
        painter.setPen(QColor(colours.text))
        painter.drawText(QRectF(2 * GRID, GRID, width, text.height()), int(flags), title)
        painter.drawPicture(QPointF(0, above), drawing.picture)

    return record(drawing.size + QSize(0, above), paint)

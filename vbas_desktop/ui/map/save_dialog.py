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

from ..core.theme import GRID, ColourScheme
from ..widgets.fields import Field
from ..widgets.image_export import MM_PER_INCH, Drawing, PageSize, record
from ..widgets.layouts import hbox, set_items, vbox, with_properties
from ..widgets.plain_text import Label

_USUAL_MM = 170.0
_USUAL_DPI = 300
_MOST_PIXELS = 20_000


@dataclass(frozen=True)
class MapExportOptions:
    """Size, title and resolution of a saved map."""

    title: str
    north: bool
    paper: PageSize


class SaveMapDialog(QDialog):
    """Asks before the file is named; `save_requested` when the user goes on."""

    save_requested = Signal()

    def __init__(self, size: QSize, title: str, placed: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Save the map")
        self.setMinimumWidth(420)
        self._ratio = size.height() / max(1, size.width())
        self.title = with_properties(QLineEdit(title), placeholderText="none", cursorPosition=0)
        why_not = "" if placed else "The region file does not tell where on Earth it lies"
        self.north = with_properties(
            QCheckBox("&North arrow"), checked=placed, enabled=placed, toolTip=why_not
        )
        self.width_box = with_properties(
            QDoubleSpinBox(), minimum=1, maximum=_MOST_PIXELS, decimals=0, value=_USUAL_MM
        )
        self.unit = QComboBox()
        set_items(self.unit, (("mm", "mm"), ("pixels", "px")))
        self.resolution = with_properties(QSpinBox(), minimum=36, maximum=1200, value=_USUAL_DPI)
        self.told = with_properties(Label(), look="muted")
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
        layout = vbox(
            Field("&Title", self.title, "Stands above the map; empty: none"),
            self.north,
            within=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        row = hbox(
            (Field("&Width", self.width_box, "Of the picture; its height follows from the window"), 1),
            Field("&Unit", self.unit, "Millimetres on paper, or pixels on a screen"),
            (
                Field(
                    "&Dots per inch", self.resolution, "How fine the picture is printed; 300 is usual"
                ),
                1,
            ),
        )
        layout.addLayout(row)
        layout.addWidget(self.told)
        layout.addWidget(self._buttons)

    @property
    def paper(self) -> PageSize:
        """Size and resolution as chosen."""
        width = self.width_box.value()
        dpi = self.resolution.value()
        return PageSize(width if self.unit.currentData() == "mm" else width / dpi * MM_PER_INCH, dpi)

    @property
    def export_options(self) -> MapExportOptions:
        """Title, north arrow and size as chosen."""
        return MapExportOptions(self.title.text().strip(), self.north.isChecked(), self.paper)

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
        self.save_requested.emit()
        self.accept()


def add_title(drawing: Drawing, title: str, font: QFont, colours: ColourScheme) -> Drawing:
    """Return a drawing with a title above it, in as many lines as it needs."""
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

"""Saving what is drawn as PNG, SVG or PDF, and copying it.

The window's thread records the drawing, which is quick; a job replays it into a file beside the target and renames it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PySide6.QtCore import QMarginsF, QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import (
    QFont,
    QFontInfo,
    QGuiApplication,
    QImage,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPicture,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from vbas_desktop.app.inputs import check_saved_file
from vbas_desktop.io.output import check_target
from vbas_desktop.model.progress import NO_PROGRESS, Progress

from ..core.context import UiContext
from .file_dialogs import ask_to_save

Paint = Callable[[QPainter, QRectF], None]
"""Paints into a rectangle given in pixels of the screen."""

FILTERS = {"png": "PNG image (*.png)", "svg": "SVG drawing (*.svg)", "pdf": "PDF document (*.pdf)"}

MM_PER_INCH = 25.4

SAVING = "Saving the picture"
"""What the window says meanwhile."""

_PNG_SCALE = 2


@dataclass(frozen=True)
class PageSize:
    """Width of a picture in millimetres and its resolution in dots per inch."""

    width_mm: float
    dots_per_inch: int

    @property
    def pixels(self) -> int:
        """The width in pixels."""
        return max(1, round(self.width_mm / MM_PER_INCH * self.dots_per_inch))


@dataclass(frozen=True, eq=False)
class Drawing:
    """A recorded drawing of a certain size in pixels of the screen."""

    picture: QPicture
    size: QSize

    @property
    def dots_per_inch(self) -> int:
        """The resolution it was recorded at; whatever replays it needs the same one, or it comes out scaled."""
        return self.picture.logicalDpiX()


def record(size: QSize, paint: Paint) -> Drawing:
    """Record what ``paint`` draws."""
    picture = QPicture()
    painter = QPainter(picture)
    paint(painter, QRectF(0, 0, size.width(), size.height()))
    painter.end()
    return Drawing(picture, size)


def side_by_side(left: Drawing, right: Drawing) -> Drawing:
    """Join two drawings side by side."""

    def paint(painter: QPainter, area: QRectF) -> None:
        painter.drawPicture(QPointF(), left.picture)
        painter.drawPicture(QPointF(left.size.width(), 0), right.picture)

    high = max(left.size.height(), right.size.height())
    return record(QSize(left.size.width() + right.size.width(), high), paint)


def save_drawing(
    drawing: Drawing, target: Path, paper: PageSize | None = None, progress: Progress | None = None
) -> Path:
    """Write a drawing as the kind of file that the ending says (PNG without one); returns where it is.

    Without ``paper`` it is as large as on the screen, and a PNG twice as fine.
    """
    (progress or NO_PROGRESS).update(SAVING)
    kind = target.suffix.lower().lstrip(".")
    if kind not in FILTERS:
        kind = "png"
        target = target.with_name(f"{target.name}.png")
        # Nobody was asked about this name.
        check_target(target)
    unfinished = target.with_name(f".{target.name}.part")
    try:
        {"png": _save_png, "svg": _save_svg, "pdf": _save_pdf}[kind](drawing, unfinished, paper)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def offer_to_save(
    context: UiContext, parent: QWidget, drawing: Drawing, name: str, paper: PageSize | None = None
) -> None:
    """Ask where a drawing is to go and write it there in the background; no file that is read is written over."""

    def save(chosen: str) -> None:
        inputs = context.state.named_inputs()

        def job(progress: Progress) -> Path:
            check_saved_file(Path(chosen), inputs)
            return save_drawing(drawing, Path(chosen), paper, progress)

        context.worker.start(SAVING, job, lambda path: context.show_message(f"Saved {path}."))

    ask_to_save(parent, "Save as", ";;".join(FILTERS.values()), Path(f"{name}.png"), save)


def copy_drawing(context: UiContext, drawing: Drawing) -> None:
    """Put a drawing on the clipboard as an image; it is painted in the background."""

    def job(progress: Progress) -> QImage:
        progress.update("Copying the picture")
        return render_image(drawing)

    def on_painted(image: QImage) -> None:
        QGuiApplication.clipboard().setImage(image)
        context.show_message("The picture is on the clipboard.")

    context.worker.start("Copying the picture", job, on_painted)


def render_image(drawing: Drawing, paper: PageSize | None = None) -> QImage:
    """Render a drawing as an image, fine enough for print. Raises OSError if there is not enough memory."""
    factor = _PNG_SCALE if paper is None else paper.pixels / drawing.size.width()
    image = QImage((drawing.size.toSizeF() * factor).toSize(), QImage.Format.Format_RGB32)
    if image.isNull():
        raise OSError(0, "there is not enough memory for a picture of this size", "")
    image.fill(0xFFFFFFFF)
    # What is recorded is replayed at the resolution it was recorded at; the one of the file is told afterwards.
    _resolve(image, drawing.dots_per_inch)
    painter = QPainter(image)
    painter.scale(factor, factor)
    drawing.picture.play(painter)
    painter.end()
    if paper is not None:
        _resolve(image, paper.dots_per_inch)
    return image


def _resolve(image: QImage, dots_per_inch: int) -> None:
    image.setDotsPerMeterX(round(dots_per_inch / 0.0254))
    image.setDotsPerMeterY(round(dots_per_inch / 0.0254))


def _save_png(drawing: Drawing, target: Path, paper: PageSize | None) -> None:
    image = render_image(drawing, paper)
    if not image.save(str(target), "PNG"):  # type: ignore[call-overload]
        raise _unwritable(target)


def _save_svg(drawing: Drawing, target: Path, paper: PageSize | None) -> None:
    generator = QSvgGenerator()
    generator.setFileName(str(target))
    generator.setSize(drawing.size)
    generator.setViewBox(QRectF(0, 0, drawing.size.width(), drawing.size.height()))
    generator.setResolution(drawing.dots_per_inch)
    _replay(drawing, QPainter(generator), target)
    text = readable_svg(target.read_text(encoding="utf-8"))
    if paper is not None:
        high = paper.width_mm * drawing.size.height() / drawing.size.width()
        text = _SVG_SIZE.sub(f'<svg width="{paper.width_mm:.4g}mm" height="{high:.4g}mm"', text, count=1)
    target.write_text(text, encoding="utf-8")


_MASK = re.compile(r'<mask id="patternmask(\d+)"[^>]*>(.*?)</mask>', re.DOTALL)
_MASKED = re.compile(r'<rect [^>]*fill="(#\w+)" mask="url\(#patternmask(\d+)\)" />')
_SVG_SIZE = re.compile(r'<svg width="[^"]*" height="[^"]*"')
_FAMILY = re.compile(r'font-family="([^"]*)"')


def readable_svg(text: str) -> str:
    """Qt's SVG as other programs show it alike: hatches without masks, and fonts by names that everybody knows."""
    marks: dict[str, str] = dict(_MASK.findall(text))
    text = _MASKED.sub(
        lambda found: f'<g stroke="none" fill="{found[1]}">{marks.get(found[2], "")}</g>', text
    )
    text = _MASK.sub("", text).replace(' version="1.2" baseProfile="tiny"', "")
    return _FAMILY.sub(lambda found: f'font-family="{_families(found[1])}"', text)


@cache
def _families(name: str) -> str:
    """List the family that was drawn with, and the nearest that every browser has."""
    drawn = QFontInfo(QFont(name.split(",")[0].strip("'\" "))).family()
    return ", ".join(dict.fromkeys((f"'{drawn}'", "Verdana", "sans-serif")))


def _save_pdf(drawing: Drawing, target: Path, paper: PageSize | None) -> None:
    writer = QPdfWriter(str(target))
    writer.setResolution(drawing.dots_per_inch)
    width = drawing.size.width()
    points = 72 / drawing.dots_per_inch if paper is None else paper.width_mm / MM_PER_INCH * 72 / width
    page = QSizeF(drawing.size.width() * points, drawing.size.height() * points)
    writer.setPageSize(QPageSize(page, QPageSize.Unit.Point))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    _replay(drawing, QPainter(writer), target, points * drawing.dots_per_inch / 72)


def _replay(drawing: Drawing, painter: QPainter, target: Path, factor: float = 1.0) -> None:
    if not painter.isActive():
        raise _unwritable(target)
    painter.scale(factor, factor)
    drawing.picture.play(painter)
    painter.end()


def _unwritable(target: Path) -> OSError:
    return OSError(0, "could not be written", str(target))

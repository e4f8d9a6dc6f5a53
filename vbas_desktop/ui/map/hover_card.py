"""The small card beside the pointer: what is under it, in words."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QWidget

from vbas_desktop.model.text import format_count

from ..core.theme import ColourScheme
from ..presentation.region_geometry import RegionGeometry, SolutionGeometry
from ..presentation.region_measures import RegionMeasure, find_measure
from ..widgets.plain_text import rich_text

_OFFSET = 14


def card_text(
    base: RegionGeometry,
    geometry: SolutionGeometry | None,
    figures: tuple[RegionMeasure, ...],
    aggregated: int | None,
    region: int | None,
    released_in: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
) -> str:
    """Build the text of the card on regions as rich text; empty if none is under the pointer.

    ``released_in`` says where the records of the aggregated region are released, if that is in tiers; ``names`` are
    those of the aggregated regions.
    """
    lines = []
    if geometry is not None and aggregated is not None:
        lines = _aggregated_lines(geometry, figures, aggregated, released_in, names)
    if region is not None:
        name = base.regions.names[region] if base.regions.names else ""
        title = f"Initial region {base.regions.ids[region]}" + (f" · {name}" if name else "")
        records = "" if base.records is None else f": {_records(int(base.records[region]))}"
        lines.append(f"<span>{rich_text(title)}{records}</span>")
        if geometry is not None and geometry.detoured is not None and geometry.detoured[region]:
            lines.append("<span>another site than the nearest, because of an obstacle</span>")
        if geometry is not None and geometry.moved is not None and geometry.moved[region]:
            lines.append(f"<span>{_moved_words(geometry, region)}</span>")
    return "<br>".join(lines)


def obstacle_text(base: RegionGeometry, obstacle: int | None) -> str:
    """Build the line of the card about an obstacle as rich text; empty without one."""
    if obstacle is None or base.regions.obstacles is None:
        return ""
    name = base.regions.obstacles.names[obstacle]
    return f"<span>Obstacle{f': {rich_text(name)}' if name else ''}</span>"


def _moved_words(geometry: SolutionGeometry, region: int) -> str:
    """Describe from where a refinement moved an initial region, or that it will move it."""
    unrefined = geometry.solution.unrefined
    if unrefined is None:
        return "moved to a neighbour by the refinement"
    former = int(np.searchsorted(geometry.solution.owners_used, unrefined.owner[region]))
    code = geometry.codes[former] if former < len(geometry.codes) else ""
    return f"came from {rich_text(code)} by the refinement"


def _aggregated_lines(
    geometry: SolutionGeometry,
    figures: tuple[RegionMeasure, ...],
    aggregated: int,
    released_in: tuple[str, ...],
    names: tuple[str, ...],
) -> list[str]:
    site = int(geometry.solution.owners_used[aggregated])
    of_site = f" · site {site + 1:,}" if geometry.sites is not None else ""
    lines = [f"<b>Aggregated region {rich_text(geometry.codes[aggregated])}</b>{of_site}"]
    if names:
        lines.append(rich_text(names[aggregated]))
    texts = {figure.name: figure.text(aggregated) for figure in figures}
    if "records" in texts:
        share = f" ({texts['share_suppressed']})" if texts["suppressed"] != "0 records" else ""
        lines.append(
            f"{texts['records']}, {texts['suppressed'].replace(' records', '')} suppressed{share}"
        )
        lines += map(rich_text, released_in)
        if "raised" in texts and not released_in:
            lines.append(f"{texts['raised'].removesuffix(' records')} released in larger areas")
        lines.append(f"anonymity {texts['anonymity_before']} → {texts['anonymity']}")
        if "largest_share" in texts:
            lines.append(f"commonest harmful value: {texts['largest_share']} of a class")
    pieces = find_measure(figures, "pieces")
    parts = (
        f" in {int(pieces.values[aggregated]):,} pieces"
        if pieces and pieces.values[aggregated] > 1
        else ""
    )
    if "initial_regions" in texts:
        members = int(find_measure(figures, "initial_regions").values[aggregated])  # type: ignore[union-attr]
        lines.append(f"{format_count(members, 'initial region')}{parts}")
    return lines


def _records(number: int) -> str:
    return "no records" if number == 0 else format_count(number, "record")


class HoverCard(QLabel):
    """A card that floats over its parent and never catches the mouse; Esc closes it, wherever the focus is."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setMargin(6)
        self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        """Watch the keys of the window while there is something to close."""
        super().showEvent(event)
        self.window().installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave Esc to others."""
        super().hideEvent(event)
        self.window().removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take Esc before the window's own shortcut: a second shortcut with this key would block both."""
        is_override = event.type() is QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            self.hide()
            event.accept()
        # Cards of other maps in this window get it, too.
        return False

    def use_colours(self, colours: ColourScheme) -> None:
        """Draw in other colours."""
        self.setStyleSheet(
            f"background: {colours.raised}; color: {colours.text}; "
            f"border: 1px solid {colours.line}; border-radius: 4px;"
        )

    def show_text(self, text: str, position: QPoint) -> None:
        """Show a text beside a position of the parent, inside of it; an empty text hides the card."""
        if not text:
            self.hide()
            return
        self.setText(text)
        self.adjustSize()
        parent = self.parentWidget()
        assert parent is not None
        bounds = parent.rect()
        x = position.x() + _OFFSET
        y = position.y() + _OFFSET
        if x + self.width() > bounds.right():
            x = position.x() - _OFFSET - self.width()
        if y + self.height() > bounds.bottom():
            y = position.y() - _OFFSET - self.height()
        self.move(max(0, x), max(0, y))
        self.show()
        self.raise_()

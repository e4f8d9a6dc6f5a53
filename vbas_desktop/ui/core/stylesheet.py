"""The few rules that the palette alone cannot express."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vbas_desktop.io.paths import resource_path

if TYPE_CHECKING:
    from .theme import ColourScheme


def build_stylesheet(colours: ColourScheme) -> str:
    """Build the style sheet in these colours. Widgets opt in through the property ``look``."""
    # combobox-popup: 0 lists the entries in a view. As a menu, which is the style's own way, the highlighted entry
    # would be painted in the colours of the list itself, so that nobody sees which one it is.
    shade = "dark" if colours.on_accent != "#ffffff" else "light"
    tick, up, down = (
        resource_path(f"icons/{name}-{shade}.svg").as_posix() for name in ("tick", "up", "down")
    )
    return f"""
QMainWindow::separator {{ width: 1px; height: 1px; background: {colours.line}; }}
QToolBar {{ border: none; border-bottom: 1px solid {colours.line}; padding: 4px 8px; spacing: 4px;
  background: {colours.window}; }}
QToolBar QToolButton {{ padding: 4px 8px; border-radius: 4px; border: 1px solid transparent; }}
QToolBar QToolButton:hover:enabled {{ background: {colours.raised}; border-color: {colours.line}; }}
QToolBar QToolButton:focus {{ border-color: {colours.accent}; }}
QMenu {{ border: 1px solid {colours.line}; padding: 3px 0; }}
QMenu::item {{ padding: 5px 24px 5px 8px; min-height: 14px; }}
QMenu::item:selected {{ background: {colours.accent}; color: {colours.on_accent}; }}
QMenu::item:disabled {{ color: {colours.muted}; background: transparent; }}
QMenu::icon {{ padding-left: 8px; }}
QMenu::separator {{ height: 1px; background: {colours.line}; margin: 3px 6px; }}
QMenu::indicator {{ width: 13px; height: 13px; margin-left: 8px; }}
QMenu::indicator:non-exclusive {{ border: 1px solid {colours.muted}; border-radius: 2px; background: {colours.base}; }}
QMenu::indicator:non-exclusive:checked {{ background: {colours.accent}; border-color: {colours.accent};
  image: url("{tick}"); }}
QStatusBar {{ border-top: 1px solid {colours.line}; background: {colours.window}; }}
QStatusBar::item {{ border: none; }}
QSplitter::handle {{ background: {colours.line}; }}
QSplitter::handle:hover {{ background: {colours.accent}; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {colours.line}; }}
QTabBar::tab {{ padding: 7px 14px; border: none; border-bottom: 2px solid transparent; color: {colours.muted}; }}
QTabBar::tab:selected {{ color: {colours.text}; border-bottom-color: {colours.accent}; }}
QTabBar::tab:hover {{ color: {colours.text}; }}
QTabBar {{ outline: 0; }}
QHeaderView::section {{ background: {colours.window}; color: {colours.muted}; border: none;
  border-bottom: 1px solid {colours.line}; padding: 4px 6px; }}
QHeaderView::up-arrow, QHeaderView::down-arrow {{ subcontrol-origin: padding; subcontrol-position: top center;
  width: 9px; height: 6px; }}
QTableView, QTreeView, QListView, QPlainTextEdit, QTextBrowser {{ border: 1px solid {colours.line};
  background: {colours.base}; }}
QTableView, QTreeView, QListView {{ selection-color: {colours.on_accent};
  selection-background-color: {colours.accent}; }}
QTableView[look="frozen"] {{ border: none; border-right: 1px solid {colours.line}; }}
QTableView:focus, QTreeView:focus, QListView:focus {{ border-color: {colours.accent}; }}
QScrollArea {{ border: none; background: transparent; }}
QToolTip {{ border: 1px solid {colours.line}; padding: 4px; background: {colours.raised}; color: {colours.text}; }}
QProgressBar {{ border: 1px solid {colours.field}; border-radius: 4px; background: {colours.base};
  max-height: 12px; min-height: 12px; }}
QProgressBar::chunk {{ background: {colours.accent}; border-radius: 3px; }}
QCheckBox::indicator, QTableView::indicator, QListView::indicator {{ width: 13px; height: 13px;
  border: 1px solid {colours.muted}; border-radius: 2px; background: {colours.base}; }}
QCheckBox::indicator:checked, QTableView::indicator:checked, QListView::indicator:checked {{
  background: {colours.accent}; border-color: {colours.accent}; image: url("{tick}"); }}
QCheckBox::indicator:disabled, QTableView::indicator:disabled {{ border-color: {colours.line}; }}
QLineEdit, QAbstractSpinBox, QComboBox {{ border: 1px solid {colours.field}; border-radius: 3px;
  background: {colours.base}; padding: 4px; }}
QPushButton {{ padding: 4px 12px; }}
QToolButton {{ padding: 4px; }}
QCheckBox, QRadioButton {{ padding: 5px 0; }}
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled {{ border-color: {colours.line};
  background: {colours.window}; }}
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {{ border-color: {colours.accent}; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: none; padding: 0; }}
QComboBox {{ padding-right: 18px; combobox-popup: 0; }}
QComboBox::drop-down {{ subcontrol-origin: padding; subcontrol-position: center right; width: 18px; border: none; }}
QComboBox::down-arrow {{ image: url("{down}"); width: 10px; height: 7px; }}
QComboBox QAbstractItemView {{ border: 1px solid {colours.field}; background: {colours.base};
  selection-background-color: {colours.accent}; selection-color: {colours.on_accent}; outline: 0; }}
QAbstractSpinBox {{ padding-right: 18px; }}
QAbstractSpinBox::up-button {{ subcontrol-origin: border; subcontrol-position: top right; width: 18px; border: none; }}
QAbstractSpinBox::down-button {{ subcontrol-origin: border; subcontrol-position: bottom right; width: 18px;
  border: none; }}
QAbstractSpinBox::up-arrow {{ image: url("{up}"); width: 8px; height: 6px; }}
QAbstractSpinBox::down-arrow {{ image: url("{down}"); width: 8px; height: 6px; }}
QPlainTextEdit {{ border: 1px solid {colours.field}; border-radius: 3px; }}
QScrollBar {{ background: {colours.window}; border: none; margin: 0; }}
QScrollBar:vertical {{ width: 12px; }}
QScrollBar:horizontal {{ height: 12px; }}
QScrollBar::handle {{ background: {colours.field}; border-radius: 4px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 24px; }}
QScrollBar::handle:horizontal {{ min-width: 24px; }}
QScrollBar::handle:hover, QScrollBar::handle:pressed {{ background: {colours.accent}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
*[look="live"]:disabled {{ color: {colours.muted}; }}
*[look="muted"] {{ color: {colours.muted}; }}
*[look="error"] {{ color: {colours.error}; }}
*[look="warning"] {{ color: {colours.warning}; }}
*[look="good"] {{ color: {colours.good}; }}
*[look="title"] {{ font-weight: 600; color: {colours.text}; margin-top: 8px; }}
*[look="page"] {{ font-weight: 600; color: {colours.text}; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
*[look="heading"] {{ font-size: 20pt; font-weight: 300; color: {colours.text}; }}
*[look="live"] {{ background: {colours.base}; border: 1px solid {colours.line}; border-radius: 4px; padding: 6px 8px; }}
QToolButton[look="unfold"] {{ border: none; background: transparent; padding: 5px 2px; color: {colours.text}; }}
QToolButton[look="unfold"]:hover, QToolButton[look="unfold"]:focus {{ color: {colours.accent}; }}
QFrame[look="hint"] {{ background: {colours.raised}; border-bottom: 1px solid {colours.line}; }}
QLineEdit[look="wrong"], QComboBox[look="wrong"] {{ border: 1px solid {colours.error}; border-radius: 3px; }}
QPushButton[look="primary"] {{ background: {colours.accent}; color: {colours.on_accent};
  border: 1px solid {colours.accent}; border-radius: 4px; padding: 6px 16px; }}
QPushButton[look="primary"]:disabled {{ background: {colours.line}; color: {colours.muted};
  border-color: {colours.line}; }}
QPushButton[look="primary"]:focus {{ border: 2px solid {colours.text}; padding: 5px 15px; }}
QPushButton[look="link"] {{ border: 1px solid transparent; background: transparent; color: {colours.accent};
  padding: 2px 4px; }}
QPushButton[look="link"]:hover {{ text-decoration: underline; }}
QPushButton[look="link"]:disabled {{ color: {colours.muted}; }}
QPushButton[look="link"]:focus {{ border-color: {colours.accent}; border-radius: 4px; }}
QPushButton[look="plain"] {{ background: {colours.raised}; color: {colours.text}; border: 1px solid {colours.line};
  border-radius: 4px; padding: 6px 16px; }}
QPushButton[look="plain"]:hover {{ border-color: {colours.accent}; }}
QPushButton[look="plain"]:focus {{ border: 2px solid {colours.accent}; padding: 5px 15px; }}
"""

"""The few rules that the palette alone cannot express."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vbas_desktop.files.places import resource

if TYPE_CHECKING:
    from .theme import Colours


def stylesheet(colours: Colours) -> str:
    """The style sheet in these colours. Widgets opt in through the property ``look``."""
    tick = resource(f"icons/{'tick-dark' if colours.on_accent != '#ffffff' else 'tick-light'}.svg").as_posix()
    return f"""
QMainWindow::separator {{ width: 1px; height: 1px; background: {colours.line}; }}
QToolBar {{ border: none; border-bottom: 1px solid {colours.line}; padding: 4px 8px; spacing: 4px;
  background: {colours.window}; }}
QToolBar QToolButton {{ padding: 4px 8px; border-radius: 4px; border: 1px solid transparent; }}
QToolBar QToolButton:hover:enabled {{ background: {colours.raised}; border-color: {colours.line}; }}
QToolBar QToolButton:focus {{ border-color: {colours.accent}; }}
QMenu {{ border: 1px solid {colours.line}; }}
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
QTableView:focus, QTreeView:focus, QListView:focus {{ border-color: {colours.accent}; }}
QScrollArea {{ border: none; background: transparent; }}
QToolTip {{ border: 1px solid {colours.line}; padding: 4px; background: {colours.raised}; color: {colours.text}; }}
QProgressBar {{ border: 1px solid {colours.line}; border-radius: 4px; background: {colours.base};
  text-align: center; max-height: 14px; min-height: 14px; }}
QProgressBar::chunk {{ background: {colours.accent}; border-radius: 3px; }}
QCheckBox::indicator, QTableView::indicator, QListView::indicator {{ width: 13px; height: 13px;
  border: 1px solid {colours.muted}; border-radius: 2px; background: {colours.base}; }}
QCheckBox::indicator:checked, QTableView::indicator:checked, QListView::indicator:checked {{
  background: {colours.accent}; border-color: {colours.accent}; image: url("{tick}"); }}
QCheckBox::indicator:disabled, QTableView::indicator:disabled {{ border-color: {colours.line}; }}
QAbstractSpinBox {{ min-height: 2.4ex; }}
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
QToolButton[look="unfold"] {{ border: none; background: transparent; padding: 2px; color: {colours.text}; }}
QToolButton[look="unfold"]:hover, QToolButton[look="unfold"]:focus {{ color: {colours.accent}; }}
QFrame[look="hint"] {{ background: {colours.raised}; border-bottom: 1px solid {colours.line}; }}
QLineEdit[look="wrong"], QComboBox[look="wrong"] {{ border: 1px solid {colours.error}; border-radius: 3px; }}
QPushButton[look="primary"] {{ background: {colours.accent}; color: {colours.on_accent};
  border: 1px solid {colours.accent}; border-radius: 4px; padding: 6px 16px; }}
QPushButton[look="primary"]:disabled {{ background: {colours.line}; color: {colours.muted};
  border-color: {colours.line}; }}
QPushButton[look="primary"]:focus {{ border: 2px solid {colours.text}; padding: 5px 15px; }}
QPushButton[look="link"] {{ border: 1px solid transparent; background: transparent; color: {colours.accent};
  padding: 2px 8px; }}
QPushButton[look="link"]:hover {{ text-decoration: underline; }}
QPushButton[look="link"]:focus {{ border-color: {colours.accent}; border-radius: 4px; }}
QPushButton[look="plain"] {{ background: {colours.raised}; color: {colours.text}; border: 1px solid {colours.line};
  border-radius: 4px; padding: 6px 16px; }}
QPushButton[look="plain"]:hover {{ border-color: {colours.accent}; }}
QPushButton[look="plain"]:focus {{ border: 2px solid {colours.accent}; padding: 5px 15px; }}
"""

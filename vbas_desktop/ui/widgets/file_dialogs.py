"""Asking for files, and opening them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from vbas_desktop.io.databases.address import containing_folder
from vbas_desktop.io.paths import sample_data_folder

RECORD_FILES = "Records (*.csv *.tsv *.txt *.gz *.parquet);;All files (*)"
REGION_FILES = "Regions (*.csv *.tsv *.txt *.geojson *.json *.gpkg *.shp);;All files (*)"
OBSTACLE_FILES = "Areas and lines (*.geojson *.json *.gpkg *.shp);;All files (*)"
CODEBOOK_FILES = "Codebooks (*.csv *.tsv *.txt);;All files (*)"
POLICY_FILES = "Policies (*.toml);;All files (*)"
PROJECT_FILES = "VBAS projects (*.vbas)"


def is_sample(path: Path) -> bool:
    """Say if a file came with the program, whose folder is no place for results."""
    return path.is_relative_to(sample_data_folder())


def parse_typed_path(text: str) -> Path:
    """Read a path as a person types it: “~” is the home folder, and stays where the system knows no such user."""
    return Path(os.path.expanduser(text.strip()))


def documents_folder() -> Path:
    """Return the user's folder for documents."""
    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation))


def ask_to_open(
    parent: QWidget, title: str, kinds: str, start: Path | None, then: Callable[[str], None]
) -> QFileDialog:
    """Let the user choose an existing file, then call ``then`` with it."""
    dialog = QFileDialog(parent, title, str(start or ""), kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return _open(dialog, then)


def ask_to_save(
    parent: QWidget, title: str, kinds: str, suggested: Path, then: Callable[[str], None]
) -> QFileDialog:
    """Let the user choose where to write, then call ``then`` with the place."""
    dialog = QFileDialog(parent, title, str(suggested.parent), kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(suggested.suffix.lstrip("."))
    dialog.selectFile(suggested.name)
    return _open(dialog, then)


def ask_for_folder(
    parent: QWidget, title: str, start: Path | None, then: Callable[[str], None]
) -> QFileDialog:
    """Let the user choose a folder, then call ``then`` with it."""
    dialog = QFileDialog(parent, title, str(start or ""))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    return _open(dialog, then)


def sibling_path(source: Path, name: str) -> Path:
    """Suggest a place for what is made of a file or dataset: next to it.

    What is made of the sample, or of records on no disk of this machine, goes among the user's documents.
    """
    folder = None if is_sample(source) else containing_folder(source)
    return documents_folder() / name if folder is None else folder.absolute() / name


def open_outside(path: Path) -> bool:
    """Open a file or folder with the program that the system has for it; return False if it has none."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def _open(dialog: QFileDialog, then: Callable[[str], None]) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(then)
    dialog.open()
    return dialog

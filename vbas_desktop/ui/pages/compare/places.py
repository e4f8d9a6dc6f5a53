"""Where the tables of a comparison go unless the user says otherwise."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths

from vbas_desktop.files.places import sample_data
from vbas_desktop.session.session import Session


def suggested_target(session: Session) -> Path:
    """A folder beside the project or the records; never among the files that come with the program."""
    path = session.project_path or session.records_path
    if path is None or sample_data() in path.absolute().parents:
        home = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        return Path(home or Path.home()) / "vbas comparison"
    return path.absolute().parent / f"{path.stem.partition('.')[0]} comparison"

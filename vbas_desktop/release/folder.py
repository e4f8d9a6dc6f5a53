"""The folder of a release, and which folder may be replaced by one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from vbas_desktop.files.atomic import RUN_FILE
from vbas_desktop.files.folders import check_target_folder, new_folder

NAMES = (RUN_FILE, "release", "internal")


def complete_folder(target: Path) -> AbstractContextManager[Path]:
    """A hidden folder that takes the target's place if the block ends well and vanishes otherwise."""
    return new_folder(target, NAMES)


def check_target(target: Path) -> None:
    """Refuse a target that holds anything but an earlier release: replacing it would lose what is not ours."""
    check_target_folder(target, NAMES)

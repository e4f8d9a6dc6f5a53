"""Where the files are that come with the program: icons, sample data, documentation; and what it keeps for its user.

In a source tree the shipped ones stand at the top; in an installed program inside the package.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def resource(name: str) -> Path:
    """A file that the program draws with, for example ``icons/vbas.svg``."""
    return _shipped("resources") / name


def sample_data() -> Path:
    """The folder of the sample data."""
    return _shipped("sample_data")


def documentation() -> Path:
    """The folder of the documentation (Markdown)."""
    return _shipped("docs")


def kept_for_user() -> Path:
    """The folder for what belongs to the user and to no file of theirs."""
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "vbas-desktop"


def _shipped(folder: str) -> Path:
    in_tree = _PACKAGE.parent / folder
    # An installed package may have a stranger's "docs" beside it in site-packages: only a source tree counts.
    if (_PACKAGE.parent / "pyproject.toml").is_file() and in_tree.is_dir():
        return in_tree
    return _PACKAGE / f"_{folder}"

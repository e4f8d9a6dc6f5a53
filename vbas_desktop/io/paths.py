"""Paths of the files that come with the program (icons, sample data, documentation) and of the user's data.

In a source tree the shipped ones stand at the top; in an installed program inside the package.
"""

from __future__ import annotations

from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parents[1]


def resource_path(name: str) -> Path:
    """Return the path of a resource, for example ``icons/vbas.svg``."""
    return _find_shipped("resources") / name


def sample_data_folder() -> Path:
    """Return the folder of the sample data."""
    return _find_shipped("sample_data")


def documentation_folder() -> Path:
    """Return the folder of the documentation (Markdown)."""
    return _find_shipped("docs")


def user_data_folder() -> Path:
    """Return the folder for data of the user that belong to no file of theirs."""
    return platformdirs.user_data_path("vbas-desktop", appauthor=False)


def _find_shipped(folder: str) -> Path:
    in_tree = _PACKAGE.parent / folder
    # An installed package may have a stranger's "docs" beside it in site-packages: only a source tree counts.
    if (_PACKAGE.parent / "pyproject.toml").is_file() and in_tree.is_dir():
        return in_tree
    return _PACKAGE / f"_{folder}"

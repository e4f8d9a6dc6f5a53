"""Small made-up data for sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_sessions import open_data, write_data

from vbas_desktop.ui.state.app_state import AppState


@pytest.fixture
def data(tmp_path) -> tuple[Path, Path]:
    return write_data(tmp_path / "data")


@pytest.fixture
def state(data) -> AppState:
    """A state with loaded data."""
    return open_data(*data)

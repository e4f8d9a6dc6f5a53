"""What several tests of commands need."""

from pathlib import Path

import pytest
from ledger_house import house  # noqa: F401 (found by its name)


def pytest_collection_modifyitems(items):
    """Let findings be warnings here: these tests look at the findings themselves."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("ignore::vbas_desktop.FindingWarning"))

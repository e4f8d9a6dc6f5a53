"""What several tests of commands need."""

from ledger_house import house  # noqa: F401 (found by its name)

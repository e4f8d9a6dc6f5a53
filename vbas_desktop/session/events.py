"""What can happen in a session."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Event(StrEnum):
    """Something that happened; the session itself says what is true now."""

    DATA_LOADED = "data_loaded"
    PROBLEM_COUNTED = "problem_counted"
    CHOICES_CHANGED = "choices_changed"
    RUN_STARTED = "run_started"
    SOLUTION_ADDED = "solution_added"
    RUN_FINISHED = "run_finished"
    SOLUTIONS_CHANGED = "solutions_changed"
    SELECTION_CHANGED = "selection_changed"
    REGION_CHOSEN = "region_chosen"
    COLOURING_CHANGED = "colouring_changed"
    LOOK_CHANGED = "look_changed"
    REQUIREMENT_CHANGED = "requirement_changed"
    POLICY_CHANGED = "policy_changed"
    SAVED = "saved"


Listener = Callable[[Event], None]

"""The events of a state."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Event(StrEnum):
    """Something that happened; the state itself says what is true now."""

    DATA_LOADED = "data_loaded"
    PROBLEM_COUNTED = "problem_counted"
    CHOICES_CHANGED = "choices_changed"
    SOLUTION_ADDED = "solution_added"
    RUN_FINISHED = "run_finished"
    SOLUTIONS_CHANGED = "solutions_changed"
    SELECTION_CHANGED = "selection_changed"
    REGION_CHOSEN = "region_chosen"
    COLOURING_CHANGED = "colouring_changed"
    MAP_STYLE_CHANGED = "map_style_changed"
    REQUIREMENT_CHANGED = "requirement_changed"
    POLICY_CHANGED = "policy_changed"
    EDITED = "edited"
    SAVED = "saved"
    VIEW_CHANGED = "view_changed"
    RESEARCH_SHOWN = "research_shown"


Listener = Callable[[Event], None]

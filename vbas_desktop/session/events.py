"""What can happen in a session, and how listeners hear of it."""

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


class Subject:
    """Tells every subscriber about every event, in the order of their subscription."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` on every event from now on; the returned function ends that."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def tell(self, event: Event) -> None:
        """Pass the event on."""
        for listener in tuple(self._listeners):
            listener(event)

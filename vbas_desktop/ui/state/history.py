"""Undo and redo: of settings, and of changes to the list of solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.settings.generated import format_as_noun
from vbas_desktop.settings.run import COMPONENTS, Parameters

from .choices import Choices, changed_fields

CHOICES_AT = "Input"
SOLUTIONS_AT = "Results"
"""The tabs where a step is seen."""

_UNDECLARED = {
    "roles": "role",
    "decided": "role",
    "approaches": "approach",
    "groupings": "grouping of categories",
}
"""The names of the choices that are not declared as settings."""


@dataclass(frozen=True)
class Step:
    """One thing the user did: its name (“k”, “removal of 2 solutions”), the tab that shows it, and both directions."""

    name: str
    seen_at: str
    back: Callable[[], None]
    again: Callable[[], None]


class History:
    """The choices in force and the steps behind them. Consecutive changes that give the same ``merge`` name are one."""

    def __init__(self, start: Choices | None = None) -> None:
        self._now = start or Choices()
        self._past: list[Step] = []
        self._future: list[Step] = []
        self._merge: str | None = None

    @property
    def now(self) -> Choices:
        """Return the settings in force."""
        return self._now

    @property
    def last(self) -> Step | None:
        """Return the step that undo reverts."""
        return self._past[-1] if self._past else None

    @property
    def next(self) -> Step | None:
        """Return the step that redo applies."""
        return self._future[-1] if self._future else None

    def change(self, choices: Choices, merge: str | None = None) -> bool:
        """Put new choices in force; return False if they are the ones in force already.

        Consecutive changes with the same ``merge`` name are one step of undo.
        """
        if choices == self._now:
            return False
        if merge is not None and merge == self._merge and self._past:
            self._past[-1] = replace(self._past[-1], again=partial(setattr, self, "_now", choices))
            self._future.clear()
        else:
            fields = changed_fields(self._now, choices)
            seen_at = SOLUTIONS_AT if fields == ("pareto_measures",) else CHOICES_AT
            back, again = (partial(setattr, self, "_now", each) for each in (self._now, choices))
            self.add(Step(name_change(self._now, choices), seen_at, back, again))
        self._now = choices
        self._merge = merge
        return True

    def set_choices(self, choices: Choices) -> None:
        """Put choices in force as part of a step that changes more than them."""
        self._now = choices
        self._merge = None

    def add(self, step: Step) -> None:
        """Add a step that was done."""
        self._past.append(step)
        self._future.clear()
        self._merge = None

    def undo(self) -> Step | None:
        """Undo the last step and return it; None if there is none."""
        return self._move_step(self._past, self._future, lambda step: step.back())

    def redo(self) -> Step | None:
        """Redo the step that was undone last and return it; None if there is none."""
        return self._move_step(self._future, self._past, lambda step: step.again())

    def _move_step(
        self, steps: list[Step], others: list[Step], go: Callable[[Step], None]
    ) -> Step | None:
        if not steps:
            return None
        others.append(steps.pop())
        self._merge = None
        go(others[-1])
        return others[-1]

    def restart(self, choices: Choices) -> None:
        """Begin a new history, as after opening other data."""
        self._now = choices
        self._past = []
        self._future = []
        self._merge = None


def name_change(before: Choices, after: Choices) -> str:
    """Name what differs between two sets of choices by the labels of the declared settings: “change of k”."""
    labels: dict[str, None] = {}
    for field in changed_fields(before, after):
        if field == "parameters":
            labels |= dict.fromkeys(_changed_parameters(before.parameters, after.parameters))
        elif field in _UNDECLARED:
            labels[_UNDECLARED[field]] = None
        else:
            labels[format_as_noun(Choices.option(field).title)] = None
    return f"change of {' and '.join(labels)}"


def _changed_parameters(before: Parameters, after: Parameters) -> Iterator[str]:
    for component in COMPONENTS:
        for name, approach in list_approaches(component).items():
            old = before.get(component, {}).get(name, {})
            new = after.get(component, {}).get(name, {})
            for declared in approach.options():
                if old.get(declared.name, declared.default) != new.get(declared.name, declared.default):
                    yield format_as_noun(declared.label)

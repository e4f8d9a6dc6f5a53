"""What can be taken back and made again: choices, and what was done to the list of solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.settings.declaration import setting_of
from vbas_desktop.settings.run import COMPONENTS, Parameters

from .choices import Choices, changed_fields

CHOICES_AT, SOLUTIONS_AT = "Input", "Results"
"""The tabs where a step is seen."""

_UNDECLARED = {"roles": "role", "decided": "role", "approaches": "approach", "groupings": "grouping of categories"}
"""The names of the choices that are not declared as settings."""


@dataclass(frozen=True)
class Step:
    """One thing the user did: its name (“k”, “removal of 2 solutions”), where it is seen, and how it goes both ways."""

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
        """The choices in force."""
        return self._now

    @property
    def last(self) -> Step | None:
        """The step that would be taken back."""
        return self._past[-1] if self._past else None

    @property
    def next(self) -> Step | None:
        """The step that would be made again."""
        return self._future[-1] if self._future else None

    def change(self, choices: Choices, merge: str | None = None) -> bool:
        """Put new choices in force; False if they are the ones in force already."""
        if choices == self._now:
            return False
        if merge is not None and merge == self._merge and self._past:
            self._past[-1] = replace(self._past[-1], again=partial(setattr, self, "_now", choices))
            self._future.clear()
        else:
            fields = changed_fields(self._now, choices)
            seen_at = SOLUTIONS_AT if fields == ("pareto_measures",) else CHOICES_AT
            back, again = (partial(setattr, self, "_now", each) for each in (self._now, choices))
            self.done(Step(name_change(self._now, choices), seen_at, back, again))
        self._now, self._merge = choices, merge
        return True

    def done(self, step: Step) -> None:
        """Remember something that was done."""
        self._past.append(step)
        self._future.clear()
        self._merge = None

    def undo(self) -> Step | None:
        """Take the last step back; None if there is none."""
        return self._walk(self._past, self._future, lambda step: step.back())

    def redo(self) -> Step | None:
        """Do the step again that was taken back last; None if there is none."""
        return self._walk(self._future, self._past, lambda step: step.again())

    def _walk(self, steps: list[Step], others: list[Step], go: Callable[[Step], None]) -> Step | None:
        if not steps:
            return None
        others.append(steps.pop())
        self._merge = None
        go(others[-1])
        return others[-1]

    def restart(self, choices: Choices) -> None:
        """Begin a new history, as after opening other data."""
        self._now, self._past, self._future, self._merge = choices, [], [], None


def name_change(before: Choices, after: Choices) -> str:
    """Name what differs between two sets of choices by the labels of the declared settings: “change of k”."""
    labels: dict[str, None] = {}
    for field in changed_fields(before, after):
        if field == "parameters":
            labels |= dict.fromkeys(_changed_parameters(before.parameters, after.parameters))
        elif field in _UNDECLARED:
            labels[_UNDECLARED[field]] = None
        else:
            labels[_as_noun(setting_of(Choices, field).title)] = None
    return f"change of {' and '.join(labels)}"


def _changed_parameters(before: Parameters, after: Parameters) -> Iterator[str]:
    for component in COMPONENTS:
        for name, approach in approaches(component).items():
            old = before.get(component, {}).get(name, {})
            new = after.get(component, {}).get(name, {})
            for declared in approach.parameters():
                if old.get(declared.name, declared.default) != new.get(declared.name, declared.default):
                    yield _as_noun(declared.label)


def _as_noun(label: str) -> str:
    """Put a label into a sentence: one word as it is, several in quotes, without the remark in brackets."""
    short = label.partition(" (")[0]
    return f"“{short}”" if " " in short else short[:1].lower() + short[1:]

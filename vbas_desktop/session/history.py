"""What can be taken back and made again: choices, and what was done to the list of solutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from .choices import Choices, changed_fields

CHOICES_AT, SOLUTIONS_AT = "Input", "Results"
"""The tabs where a step is seen."""

_WORDS = {
    "roles": "role",
    "k": "k",
    "approaches": "approach",
    "parameters": "parameter",
    "range_step_percent": "range of site numbers",
    "range_reach": "range of site numbers",
    "global_suppression": "suppression before merging",
    "random_seed": "random seed",
    "unknown_regions": "records of unknown regions",
    "pareto_measures": "measures that decide about dominance",
    "groupings": "grouping of categories",
}
"""What a field of the choices is called; the others are reading options."""


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
            self._past[-1] = replace(self._past[-1], again=self._putting(choices))
            self._future.clear()
        else:
            before, fields = self._now, changed_fields(self._now, choices)
            self.done(Step(_name(fields), _seen_at(fields), self._putting(before), self._putting(choices)))
        self._now, self._merge = choices, merge
        return True

    def done(self, step: Step) -> None:
        """Remember something that was done."""
        self._past.append(step)
        self._future.clear()
        self._merge = None

    def _putting(self, choices: Choices) -> Callable[[], None]:
        def put() -> None:
            self._now = choices

        return put

    def undo(self) -> Step | None:
        """Take the last step back; None if there is none."""
        if not self._past:
            return None
        step = self._past.pop()
        self._future.append(step)
        self._merge = None
        step.back()
        return step

    def redo(self) -> Step | None:
        """Do the step again that was taken back last; None if there is none."""
        if not self._future:
            return None
        step = self._future.pop()
        self._past.append(step)
        self._merge = None
        step.again()
        return step

    def restart(self, choices: Choices) -> None:
        """Begin a new history, as after opening other data."""
        self._now, self._past, self._future, self._merge = choices, [], [], None


def _name(fields: tuple[str, ...]) -> str:
    names = dict.fromkeys(_WORDS.get(field, "reading options") for field in fields)
    return f"change of {' and '.join(names)}"


def _seen_at(fields: tuple[str, ...]) -> str:
    return SOLUTIONS_AT if fields == ("pareto_measures",) else CHOICES_AT

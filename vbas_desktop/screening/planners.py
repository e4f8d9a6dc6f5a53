"""What a planner is, and the registry of all planners: declared like approaches, chosen by name."""

from __future__ import annotations

import importlib
import time
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from vbas_desktop.approaches.base import Approach
from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress

from .task import Plan, Task


@dataclass(frozen=True)
class Planner(Approach):
    """Makes a plan; ``obeys_limits`` tells whether it can keep limits on the groups within a slot."""

    component: ClassVar[str] = "planner"
    obeys_limits: ClassVar[bool] = False

    @abstractmethod
    def make(self, task: Task, progress: Progress) -> Plan:
        """A valid plan for the task."""

    def plan(self, task: Task, progress: Progress) -> Plan:
        """A valid plan with the time it took; refused where the task has constraints that this planner cannot keep."""
        if task.limits is not None and task.limits.active and not self.obeys_limits:
            raise InputError(
                Finding(
                    "planner-limits",
                    f"{self.card.title} cannot keep limits on groups within a slot.",
                    "Choose the planner “optimal”, or leave the limits out.",
                )
            )
        started = time.perf_counter()
        made = self.make(task, progress)
        wrong = made.violations(task)
        if wrong:
            raise AssertionError(f"planner {self.card.name} made an invalid plan: {'; '.join(wrong)}")
        return replace(made, seconds=time.perf_counter() - started)


_MODULES = ("heuristic", "better", "optimal", "random_plan")


def planners() -> dict[str, type[Planner]]:
    """All planners by name, in menu order."""
    found: dict[str, type[Planner]] = {}
    for name in _MODULES:
        module = importlib.import_module(f"{__package__}.{name}")
        for item in vars(module).values():
            if isinstance(item, type) and issubclass(item, Planner) and item.__module__ == module.__name__:
                found[item.card.name] = item
    return found


def planner(name: str, **values: Any) -> Planner:
    """The planner of that name with these parameters (those it does not have are left out)."""
    known = planners()
    if name not in known:
        raise InputError(Finding("unknown-planner", f"There is no planner “{name}”.", f"Known: {', '.join(known)}."))
    kind = known[name]
    names = {parameter.name for parameter in kind.parameters()}
    return kind.from_texts({key: value for key, value in values.items() if key in names and value is not None})

"""Planning a screening: people, slots and constraints become a task, a planner solves it, and the plan is rated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.model.regions import Regions
from vbas_desktop.screening.inputs import Constraints, People, build_task
from vbas_desktop.screening.outputs import Assessment, assess
from vbas_desktop.screening.planners import planner
from vbas_desktop.screening.slots import SlotTable, place_slots
from vbas_desktop.screening.task import Plan, Task


@dataclass(frozen=True, eq=False)
class PlanJob:
    """Plan the appointments of these people."""

    people: People
    slots: SlotTable
    constraints: Constraints = field(default_factory=Constraints)
    regions: Regions | None = None
    planner: str = "heuristic"
    time_limit: float | None = None
    random_seed: int = 0
    parameters: Mapping[str, str] = field(default_factory=dict)

    def task(self) -> Task:
        """What is to be solved."""
        return build_task(self.people, place_slots(self.slots, self.regions), self.constraints, self.regions)

    def plan(self, task: Task, progress: Progress = Silent()) -> Plan:  # noqa: B008 (Silent has no state)
        """A plan; stopped, some planners give the best so far."""
        values = {"time_limit": self.time_limit, "random_seed": self.random_seed, **self.parameters}
        return planner(self.planner, **values).plan(task, progress)

    def execute(self, progress: Progress = Silent()) -> Assessment:  # noqa: B008
        """Plan and rate. What was planned when the work was stopped is rated all the same."""
        task = self.task()
        return assess(task, self.plan(task, progress), self.random_seed, Silent())

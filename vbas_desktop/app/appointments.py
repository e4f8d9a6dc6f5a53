"""Plan the appointments of a screening: people, slots and constraints in, a rated plan out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vbas_desktop.appointments.inputs import (
    PeopleTable,
    SideConstraints,
    SlotTable,
    build_task,
    project_slots,
)
from vbas_desktop.appointments.outputs import PlanAssessment, assess_plan
from vbas_desktop.appointments.plan import AppointmentPlan, AppointmentTask
from vbas_desktop.appointments.planners import create_planner
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.model.regions import Regions


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """People and slots to plan, and how.

    regions: to project the points of slots, and for distances. time_limit: in seconds, of planners that have one.
    parameters: of the planner, as texts.
    """

    people: PeopleTable
    slots: SlotTable
    constraints: SideConstraints = field(default_factory=SideConstraints)
    regions: Regions | None = None
    planner: str = "heuristic"
    time_limit: float | None = None
    random_seed: int = 0
    parameters: Mapping[str, str] = field(default_factory=dict)

    def build_task(self) -> AppointmentTask:
        """Build the task. Raises `InputError` if a constraint cannot be applied or leaves people without a slot."""
        return build_task(
            self.people, project_slots(self.slots, self.regions), self.constraints, self.regions
        )

    def make_plan(self, task: AppointmentTask, progress: Progress = NO_PROGRESS) -> AppointmentPlan:
        """Make a plan with the chosen planner; if cancelled, some planners return the best plan so far."""
        values = {"time_limit": self.time_limit, "random_seed": self.random_seed, **self.parameters}
        return create_planner(self.planner, **values).plan(task, progress)


def plan_appointments(request: PlanRequest, progress: Progress = NO_PROGRESS) -> PlanAssessment:
    """Plan and rate the plan; one that was cancelled early is rated as well."""
    task = request.build_task()
    plan = request.make_plan(task, progress)
    return assess_plan(task, plan, request.random_seed, NO_PROGRESS)

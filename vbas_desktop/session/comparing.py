"""Comparing many combinations on the loaded data: from what is ticked to runs in the list of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.approaches.base import Approach
from vbas_desktop.approaches.registry import approach, make
from vbas_desktop.comparison.plan import COMPONENTS, Plan
from vbas_desktop.comparison.run import Finished
from vbas_desktop.jobs.compare import CompareJob, plan_of
from vbas_desktop.jobs.data import Data
from vbas_desktop.model.errors import InputError

from .choices import Choices, in_words
from .results import ProblemKey, Run, grouping_entries, split_sensitive

if TYPE_CHECKING:
    from vbas_desktop.session.session import Session


@dataclass(frozen=True)
class Ticked:
    """What the user ticked: names of approaches by component, seedings, values of k, sets of quasi-identifiers."""

    approaches: Mapping[str, tuple[str, ...]]
    seedings: tuple[str, ...] = ()
    ks: tuple[int, ...] = ()
    quasi_identifier_sets: tuple[tuple[str, ...], ...] = ()
    generalised: str = "no"


@dataclass(frozen=True, eq=False)
class ComparisonOrder:
    """A comparison on the session's data, and how its combinations become runs of the session."""

    job: CompareJob
    choices: Choices
    region_ids_sha256: str = ""

    @property
    def plan(self) -> Plan:
        """What is compared."""
        return self.job.plan

    def run_of(self, finished: Finished) -> Run:
        """A finished combination as a run of the session, as if it had been chosen and run by itself."""
        combination, scenario = finished.combination, finished.combination.scenario
        groupings = self.choices.groupings if scenario.generalised else {}
        choices = replace(self.choices, k=scenario.k, groupings=groupings)
        for component, chosen in combination.by_component.items():
            parameters = {**choices.parameters.get(component, {}), chosen.card.name: chosen.settings()}
            choices = replace(
                choices.with_approach(component, chosen.card.name),
                parameters={**choices.parameters, component: parameters},
            )
        key = ProblemKey(
            self.plan.region_column,
            scenario.quasi_identifiers,
            self.plan.unknown_regions,
            scenario.k,
            grouping_entries(choices.groupings_of(scenario.quasi_identifiers)),
            *split_sensitive(self.plan.sensitive),
        )
        return Run(
            0,
            in_words(choices.approaches),
            key,
            choices,
            finished.problem,
            records_sha256=self.job.data.table.source.identity,
            region_ids_sha256=self.region_ids_sha256,
        )


def order_comparison(ticked: Ticked, session: Session, target: Path) -> ComparisonOrder:
    """Freeze what a thread needs to know. Call `why_not_compare` first."""
    assert session.table is not None
    assert session.regions is not None
    job = CompareJob(ticked_plan(ticked, session), Data(session.table, session.regions), target)
    return ComparisonOrder(job, session.choices, session.region_ids_sha256)


def why_not_compare(ticked: Ticked, session: Session) -> str | None:
    """The first reason against comparing, as a sentence that says what to do."""
    if session.table is None or session.regions is None:
        return "Open a record file and a region file first."
    if session.choices.region_column is None:
        return "Say which column names the region: give it the role “region” in Input."
    for component in COMPONENTS:
        if not ticked.approaches.get(component):
            return f"Tick at least one approach for {component.replace('_', ' ')}."
    if not ticked.ks:
        return "Enter at least one k, such as 5 or 5, 10."
    if not ticked.quasi_identifier_sets:
        return "Enter at least one set of quasi-identifiers, such as age, sex."
    for name in dict.fromkeys(name for names in ticked.quasi_identifier_sets for name in names):
        if name not in session.table.dialect.header:
            return f"There is no column “{name}”."
        if name == session.choices.region_column:
            return f"“{name}” names the region; it cannot be a quasi-identifier too."
        if not session.table.facts(name).categorical:
            return f"“{name}” has too many different values for a quasi-identifier."
    try:
        made = approaches_of(ticked, session.choices)
    except InputError as error:  # a project can hold parameters that no field would take
        return error.findings[0].message
    if not made["site_location"]:
        return "Tick at least one approach that ADC can start from."
    return None


def ticked_plan(ticked: Ticked, session: Session) -> Plan:
    """The plan of what is ticked, with the other choices as they are in Input. Call `why_not_compare` first."""
    made = approaches_of(ticked, session.choices)
    settings = session.choices.settings()
    return plan_of(settings, ticked.quasi_identifier_sets, ticked.ks, made, ticked.generalised)


def approaches_of(ticked: Ticked, choices: Choices) -> dict[str, tuple[Approach, ...]]:
    """The ticked approaches with the parameters that were given in Input; one for each seeding where there is one."""
    return {
        component: tuple(
            one for name in ticked.approaches.get(component, ()) for one in _made(component, name, ticked, choices)
        )
        for component in COMPONENTS
    }


def _made(component: str, name: str, ticked: Ticked, choices: Choices) -> Sequence[Approach]:
    values = dict(choices.values_of(component, name))
    inner = [declared.name for declared in approach(component, name).parameters() if declared.kind == "approach"]
    if not inner:
        return [make(component, name, values)]
    return [
        make(component, name, {**values, parameter: make(component, seeding, choices.values_of(component, seeding))})
        for parameter in inner
        for seeding in ticked.seedings
        if seeding != name
    ]

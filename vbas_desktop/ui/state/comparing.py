"""Comparing many combinations on the loaded data: from what is ticked to runs in the list of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.app.compare import CompareRequest, plan_of
from vbas_desktop.app.data import LoadedData
from vbas_desktop.approaches.interface import Approach
from vbas_desktop.approaches.registry import create_approach, get_approach
from vbas_desktop.engine.comparison.plan import COMPONENTS, ComparisonPlan
from vbas_desktop.engine.comparison.run import FinishedCombination
from vbas_desktop.model.findings import InputError

from .choices import Choices, describe_choices
from .scenario import RunEntry, Scenario, grouping_entries, split_sensitive

if TYPE_CHECKING:
    from .app_state import AppState


@dataclass(frozen=True)
class ComparisonForm:
    """What the user ticked: names of approaches by component, seedings, values of k, sets of quasi-identifiers."""

    approaches: Mapping[str, tuple[str, ...]]
    seedings: tuple[str, ...] = ()
    ks: tuple[int, ...] = ()
    quasi_identifier_sets: tuple[tuple[str, ...], ...] = ()
    generalised: str = "no"


@dataclass(frozen=True, eq=False)
class RequestedComparison:
    """A comparison on the state's data, and how its combinations become runs of the state."""

    request: CompareRequest
    choices: Choices
    region_ids_sha256: str = ""

    @property
    def plan(self) -> ComparisonPlan:
        """Return the plan of the comparison."""
        return self.request.plan

    def run_of(self, finished: FinishedCombination) -> RunEntry:
        """Make a finished combination a run of the state, as if it had been chosen and run by itself."""
        combination = finished.combination
        scenario = finished.combination.scenario
        groupings = self.choices.groupings if scenario.generalised else {}
        choices = self.choices.replaced(k=scenario.k, groupings=groupings)
        for component, chosen in combination.by_component.items():
            parameters = {
                **choices.parameters.get(component, {}),
                chosen.metadata.name: chosen.settings(),
            }
            choices = choices.with_approach(component, chosen.metadata.name).replaced(
                parameters={**choices.parameters, component: parameters},
            )
        key = Scenario(
            self.plan.settings.region_column,
            scenario.quasi_identifiers,
            self.plan.settings.unknown_regions,
            scenario.k,
            grouping_entries(choices.groupings_of(scenario.quasi_identifiers)),
            *split_sensitive(self.plan.settings.sensitive_columns),
        )
        return RunEntry(
            0,
            describe_choices(choices.approaches),
            key,
            choices,
            finished.problem,
            records_sha256=self.request.data.table.source.identity,
            region_ids_sha256=self.region_ids_sha256,
        )


def request_comparison(ticked: ComparisonForm, state: AppState, target: Path) -> RequestedComparison:
    """Freeze what a thread needs to know. Call `reason_not_to_compare` first."""
    assert state.table is not None
    assert state.regions is not None
    request = CompareRequest(ticked_plan(ticked, state), LoadedData(state.table, state.regions), target)
    return RequestedComparison(request, state.choices, state.region_ids_sha256)


def reason_not_to_compare(ticked: ComparisonForm, state: AppState) -> str | None:
    """Return the first reason against comparing, as a sentence that says what to do; None if there is none."""
    if state.table is None or state.regions is None:
        return "Open a record file and a region file first."
    if state.choices.region_column is None:
        return "Choose the region column: give it the role “region” in Input."
    for component in COMPONENTS:
        if not ticked.approaches.get(component):
            return f"Tick at least one approach for {component.replace('_', ' ')}."
    if not ticked.ks:
        return "Enter at least one k, such as 5 or 5, 10."
    if not ticked.quasi_identifier_sets:
        return "Enter at least one set of quasi-identifiers, such as age, sex."
    for name in dict.fromkeys(name for names in ticked.quasi_identifier_sets for name in names):
        if name not in state.table.file_format.header:
            return f"There is no column “{name}”."
        if name == state.choices.region_column:
            return f"“{name}” names the region; it cannot be a quasi-identifier too."
        if not state.table.facts(name).categorical:
            return f"“{name}” has too many different values for a quasi-identifier."
    try:
        approaches = approaches_of(ticked, state.choices)
    except InputError as error:  # a project can hold parameters that no field would take
        return error.findings[0].message
    if not approaches["site_location"]:
        return "Tick at least one approach that ADC can start from."
    return None


def ticked_plan(ticked: ComparisonForm, state: AppState) -> ComparisonPlan:
    """Build the plan of what is ticked, the rest as in Input. Call `reason_not_to_compare` first."""
    approaches = approaches_of(ticked, state.choices)
    settings = state.choices.settings()
    return plan_of(settings, ticked.quasi_identifier_sets, ticked.ks, approaches, ticked.generalised)


def approaches_of(ticked: ComparisonForm, choices: Choices) -> dict[str, tuple[Approach, ...]]:
    """Create the ticked approaches with the parameters given in Input; one for each seeding where there is one."""
    return {
        component: tuple(
            approach
            for name in ticked.approaches.get(component, ())
            for approach in _create_variants(component, name, ticked, choices)
        )
        for component in COMPONENTS
    }


def _create_variants(
    component: str, name: str, ticked: ComparisonForm, choices: Choices
) -> Sequence[Approach]:
    values = dict(choices.values_of(component, name))
    inner = [declared.name for declared in get_approach(component, name).options() if declared.is_nested]
    if not inner:
        return [create_approach(component, name, values)]
    return [
        create_approach(
            component,
            name,
            {
                **values,
                parameter: create_approach(component, seeding, choices.values_of(component, seeding)),
            },
        )
        for parameter in inner
        for seeding in ticked.seedings
        if seeding != name
    ]

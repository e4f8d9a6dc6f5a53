"""Comparing many combinations on the loaded data: from what is ticked to runs in the list of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.approaches.base import Approach
from vbas_desktop.approaches.registry import approach, make
from vbas_desktop.comparison.plan import COMPONENTS, Plan
from vbas_desktop.comparison.run import Comparison, Finished, Prepared, count_scenarios, prepare, run_prepared
from vbas_desktop.comparison.store import Store
from vbas_desktop.domain.progress import Progress, Silent, Span
from vbas_desktop.domain.records import Role
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.words import agreeing, counted

from .choices import Choices, in_words
from .results import ProblemKey, Run, grouping_entries

if TYPE_CHECKING:
    from vbas_desktop.files.records import RecordTable
    from vbas_desktop.session.session import Session

GENERALISED = {"no": (False,), "yes": (True,), "both": (False, True)}


@dataclass(frozen=True)
class Ticked:
    """What the user ticked: names of approaches by component, seedings, values of k, sets of quasi-identifiers."""

    approaches: Mapping[str, tuple[str, ...]]
    seedings: tuple[str, ...] = ()
    ks: tuple[int, ...] = ()
    quasi_identifier_sets: tuple[tuple[str, ...], ...] = ()
    generalised: str = "no"


@dataclass(frozen=True, eq=False)
class Compared:
    """A finished comparison, what is said of it, and the folder that holds its tables."""

    comparison: Comparison
    text: str
    target: Path


@dataclass(frozen=True, eq=False)
class ComparisonOrder:
    """A comparison on frozen data; ``target`` receives the tables, a folder beside it the finished combinations."""

    plan: Plan
    table: RecordTable
    regions: Regions
    choices: Choices
    target: Path
    region_ids_sha256: str = ""

    @property
    def store(self) -> Store:
        """Where finished combinations are kept."""
        from vbas_desktop.release.comparison import store_beside

        return Store(store_beside(self.target))

    def look_ahead(self, progress: Progress = Silent()) -> Prepared:  # noqa: B008 (Silent has no state)
        """Count, and see how much work it is and how much of it is done."""
        problems = count_scenarios(self.plan, self.table, self.regions, progress)
        return prepare(self.plan, problems, self.store, progress)

    def execute(
        self,
        progress: Progress = Silent(),  # noqa: B008
        on_finished: Callable[[Finished], None] | None = None,
    ) -> Compared:
        """Run what is missing and write the folder."""
        from vbas_desktop.release.comparison import check_comparison_target, write_comparison

        check_comparison_target(self.target)
        prepared = self.look_ahead(Span(progress, 0.0, 0.05))
        comparison = run_prepared(prepared, self.store, Span(progress, 0.05, 1.0), on_finished)
        return Compared(comparison, write_comparison(comparison, self.target), self.target)

    def run_of(self, finished: Finished) -> Run:
        """A finished combination as a run of the session, as if it had been chosen and run by itself."""
        combination, scenario = finished.combination, finished.combination.scenario
        choices = replace(self.choices, k=scenario.k, groupings=_groupings(self.choices, scenario.generalised))
        for component, chosen in zip(COMPONENTS, combination.approaches, strict=True):
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
        )
        return Run(
            0,
            in_words(choices.approaches),
            key,
            dict(choices.approaches),
            self.plan.global_suppression,
            self.plan.random_seed,
            choices.columns(Role.IDENTIFIER),
            finished.problem,
            records_sha256=self.table.source.sha256,
            region_ids_sha256=self.region_ids_sha256,
            choices=choices,
        )


def _groupings(choices: Choices, generalised: bool) -> Mapping[str, Mapping[str, str]]:
    return choices.groupings if generalised else {}


def order_comparison(ticked: Ticked, session: Session, target: Path) -> ComparisonOrder:
    """Freeze what a thread needs to know. Call `why_not_compare` first."""
    assert session.table is not None
    assert session.regions is not None
    plan = plan_of(ticked, session)
    sha256 = session.region_ids_sha256
    return ComparisonOrder(plan, session.table, session.regions, session.choices, target, sha256)


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
    if not approaches_of(ticked, session.choices)["site_location"]:
        return "Tick at least one approach that ADC can start from."
    return None


def plan_of(ticked: Ticked, session: Session) -> Plan:
    """The plan of what is ticked, with the other choices as they are in Input. Call `why_not_compare` first."""
    from vbas_desktop.files.generalise import from_plain

    choices = session.choices
    assert choices.region_column is not None
    made = approaches_of(ticked, choices)
    return Plan(
        region_column=choices.region_column,
        quasi_identifier_sets=ticked.quasi_identifier_sets,
        ks=ticked.ks,
        site_numbers=made["site_number"],
        site_locations=made["site_location"],
        constructions=made["construction"],
        tierings=made["tiers"],
        groupings=from_plain(choices.groupings),
        generalised=GENERALISED[ticked.generalised],
        unknown_regions=choices.unknown_regions,
        global_suppression=choices.global_suppression,
        range_step_percent=choices.range_step_percent,
        range_reach=choices.range_reach,
        random_seed=choices.random_seed,
        pareto_measures=session.pareto_measures,
        allowed_loss_percent=choices.allowed_loss_percent,
    )


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


def plan_in_words(plan: Plan) -> str:
    """How much the plan makes at most, before anything is counted."""
    return (
        f"{counted(len(plan.combinations), 'combination')} in {counted(len(plan.scenarios), 'scenario')} make at most "
        f"{counted(plan.most_aggregations, 'aggregation')}."
    )


def prepared_in_words(prepared: Prepared) -> str:
    """How much the plan makes, how much of it is done, and how long the rest will take."""
    scenarios = counted(len(prepared.plan.scenarios), "scenario")
    aggregations = counted(sum(prepared.aggregations), "aggregation")
    text = f"{counted(len(prepared.settings), 'combination')} in {scenarios} make {aggregations}."
    kept = sum(prepared.kept)
    if kept == len(prepared.kept):
        return f"{text} All of them are finished already."
    if kept:
        text += f" {counted(kept, 'combination')} {agreeing(kept, 'is', 'are')} finished already."
    return f"{text} About {duration_in_words(prepared.seconds_left)} to go."


def duration_in_words(seconds: float) -> str:
    """A time no more exact than it can be known."""
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return counted(round(seconds), "second")
    return counted(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:,.1f} hours"

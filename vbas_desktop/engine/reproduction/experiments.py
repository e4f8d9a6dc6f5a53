"""The experiments of the thesis that this program builds on: 12 scenarios, 18 combinations, 5 numbers of sites.

Tables 7–12 are Eastern Canada, 13–18 Western Canada; central Canada has none in the thesis. Each is one selection of
quasi-identifiers, generalised or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vbas_desktop.approaches.registry import NOTHING, THESIS, create_approach, list_approaches, preset
from vbas_desktop.engine.reproduction.published import Values
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.records import Grouping
from vbas_desktop.model.text import format_csv
from vbas_desktop.settings.run import RunSettings

from ..comparison.plan import ComparisonPlan
from ..comparison.run import Comparison

SELECTIONS = {
    "Age, Gender": ("age", "gender"),
    "Age, Marital Status": ("age", "marital"),
    "Age, Gender, Income": ("age", "gender", "income"),
}
"""The selections of attributes as the tables name them, and the columns that `vbas generate` writes."""

FIRST_TABLE = {"eastern": 7, "central": 1, "western": 13}
"""The number of the first of the six tables. Of central Canada none were published: ours are numbered from 1."""
LOCATIONS: tuple[str, ...] = ("anonymity", "density", "balanced-density")
NUMBERS = ("anonymity", "maxcombs", "entropy")
MEASURES = (
    "suppressed_records",
    "average_distance",
    "precision_loss",
    "discernibility",
    "non_uniform_entropy",
)
FACTS = ("region", "quasi_identifiers", "generalised", "records", "regions", "classes")
COLUMNS = ("table", *FACTS, "site_number", "site_location", "adc_seeding", "sites", *MEASURES, "seconds")
"""The columns of a table as CSV; a reference file has the same."""

SOURCE = (
    "W. L. Croft, Geographic Partitioning Techniques for the Anonymization of Health Care Data, Carleton University, "
    "2015, tables 7 to 18"
)
"""Where the published figures come from."""

Key = tuple[int, str, str, str, int]
"""Table, number approach, location approach, what ADC starts from, place."""


@dataclass(frozen=True)
class ThesisRow:
    """One row of a table: a combination at one place in its range of site numbers (0 … 4)."""

    table: int
    site_number: str
    site_location: str
    adc_seeding: str
    rank: int
    sites: int
    values: Values
    facts: Mapping[str, str]

    @property
    def key(self) -> Key:
        """Return what identifies the row in its table."""
        return self.table, self.site_number, self.site_location, self.adc_seeding, self.rank

    @property
    def location(self) -> str:
        """Name the location approach with its initializer."""
        return f"adc from {self.adc_seeding}" if self.adc_seeding else self.site_location


def split_further_approaches(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the names of further approaches into locations and refinements."""
    component_of = {
        name: "site_location"
        for name in list_approaches("site_location")
        if name not in (*LOCATIONS, "adc")
    }
    component_of |= {name: "refinement" for name in list_approaches("refinement") if name != NOTHING}
    for name in names:
        if name not in component_of:
            problem = f"“{name}” is no approach that the tables could have besides."
            raise InputError(Finding("also", problem, f"Known are: {', '.join(component_of)}."))
    chosen = tuple(dict.fromkeys(names))
    locations = tuple(name for name in chosen if component_of[name] == "site_location")
    return locations, tuple(name for name in chosen if component_of[name] == "refinement")


def build_refined_plan(plan: ComparisonPlan, refinements: Sequence[str]) -> ComparisonPlan:
    """Build the plan of the same scenarios and numbers with balanced density, refined."""
    balanced = (create_approach("site_location", "balanced-density"),)
    refined = tuple(create_approach("refinement", name) for name in refinements)
    return replace(
        plan, approaches={**plan.approaches, "site_location": balanced, "refinement": refined}
    )


def build_thesis_plan(
    like: str,
    groupings: tuple[Grouping, ...],
    region_column: str = "region",
    workers: int = 0,
    random_seed: int = 0,
    also: Sequence[str] = (),
) -> ComparisonPlan:
    """Build the plan of one half of the tables, with further locations if there are any."""
    locations = [create_approach("site_location", name) for name in LOCATIONS]
    clustered = [
        create_approach("site_location", "adc", {"seeding": location}) for location in locations
    ]
    return ComparisonPlan(
        settings=RunSettings(
            region_column=region_column,
            random_seed=random_seed,
            pareto_measures=preset(THESIS),
            workers=workers,
        ),
        quasi_identifier_sets=tuple(SELECTIONS.values()),
        ks=(5,),
        approaches={
            "site_number": tuple(
                create_approach("site_number", name, {} if name == "anonymity" else {"model": like})
                for name in NUMBERS
            ),
            "site_location": (
                *locations,
                *clustered,
                *(create_approach("site_location", name) for name in also),
            ),
        },
        groupings=groupings,
        generalised=(False, True),
    )


def build_thesis_rows(comparison: Comparison, like: str) -> list[ThesisRow]:
    """Build the rows of the tables from a finished comparison of `build_thesis_plan`."""
    names = {columns: name for name, columns in SELECTIONS.items()}
    tables = {
        scenario: FIRST_TABLE[like] + index for index, scenario in enumerate(comparison.plan.scenarios)
    }
    cells = []
    for finished in comparison.finished:
        scenario = finished.combination.scenario
        problem = finished.problem
        facts = {
            "region": like,
            "quasi_identifiers": names[scenario.quasi_identifiers],
            "generalised": "yes" if scenario.generalised else "no",
            "records": str(problem.records),
            "regions": str(len(problem.regions)),
            "classes": str(problem.counts.max_combinations),
        }
        for position, solution in enumerate(finished.result.solutions):
            named = solution.approaches
            refinement = solution.approaches["refinement"]
            refined = "" if refinement == NOTHING else f" + {refinement}"
            values = {name: solution.measures.get(name) for name in (*MEASURES, "seconds")}
            cells.append(
                ThesisRow(
                    tables[scenario],
                    named["site_number"],
                    named["site_location"] + refined,
                    named.get("adc_seeding") or "",
                    position,
                    solution.site_count,
                    values,
                    facts,
                )
            )
    return cells


def format_thesis_csv(cells: Iterable[ThesisRow]) -> str:
    """Format rows as CSV, in the form of a reference file."""
    own = ("table", "site_number", "site_location", "adc_seeding", "sites")
    rows = (
        {**cell.facts, **cell.values, **{name: getattr(cell, name) for name in own}} for cell in cells
    )
    return format_csv(COLUMNS, ([row[name] for name in COLUMNS] for row in rows))

"""The experiments of the thesis that this program builds on: 12 scenarios, 18 combinations, 5 numbers of sites.

Tables 7–12 are Eastern Canada, 13–18 Western Canada; central Canada has none in the thesis. Each is one selection of
quasi-identifiers, generalised or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vbas_desktop.approaches.registry import NOTHING, THESIS, approaches, make, preset
from vbas_desktop.io.places import resource
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.records import Grouping

from .plan import Plan
from .published import Values, csv_of, read_published
from .run import Comparison

SELECTIONS = {
    "Age, Gender": ("age", "gender"),
    "Age, Marital Status": ("age", "marital"),
    "Age, Gender, Income": ("age", "gender", "income"),
}
"""The selections of attributes as the tables name them, and the columns that `vbas generate` writes."""

FIRST_TABLE = {"eastern": 7, "central": 1, "western": 13}
"""The number of the first of the six tables. Of central Canada none were published: ours are numbered from 1."""
LOCATIONS = ("anonymity", "density", "balanced-density")
NUMBERS = ("anonymity", "maxcombs", "entropy")
MEASURES = ("suppressed_records", "average_distance", "precision_loss", "discernibility", "non_uniform_entropy")
_FACTS = ("region", "quasi_identifiers", "generalised", "records", "regions", "classes")
COLUMNS = ("table", *_FACTS, "site_number", "site_location", "adc_seeding", "sites", *MEASURES, "seconds")
"""The columns of a table as CSV; a reference file has the same."""

SOURCE = (
    "W. L. Croft, Geographic Partitioning Techniques for the Anonymization of Health Care Data, Carleton University, "
    "2015, tables 7 to 18"
)
"""Where the published figures come from."""

Key = tuple[int, str, str, str, int]
"""Table, number approach, location approach, what ADC starts from, place."""


@dataclass(frozen=True)
class Cell:
    """One row of a table: a combination at one place in its range of site numbers (0 … 4)."""

    table: int
    site_number: str
    site_location: str
    adc_seeding: str
    place: int
    sites: int
    values: Values
    facts: Mapping[str, str]

    @property
    def key(self) -> Key:
        """What the row is about, whatever came out."""
        return self.table, self.site_number, self.site_location, self.adc_seeding, self.place

    @property
    def location(self) -> str:
        """The location approach in words."""
        return f"adc from {self.adc_seeding}" if self.adc_seeding else self.site_location


def further_approaches(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Locations and refinements that the tables get beside those of the thesis, by their names."""
    known = {name: "site_location" for name in approaches("site_location") if name not in (*LOCATIONS, "adc")}
    known |= {name: "refinement" for name in approaches("refinement") if name != NOTHING}
    for name in names:
        if name not in known:
            problem = f"“{name}” is no approach that the tables could have besides."
            raise InputError(Finding("also", problem, f"Known are: {', '.join(known)}."))
    chosen = tuple(dict.fromkeys(names))
    locations = tuple(name for name in chosen if known[name] == "site_location")
    return locations, tuple(name for name in chosen if known[name] == "refinement")


def refined_plan(plan: Plan, refinements: Sequence[str]) -> Plan:
    """The same scenarios and numbers with balanced density, refined."""
    balanced = (make("site_location", "balanced-density"),)
    refined = tuple(make("refinement", name) for name in refinements)
    return replace(plan, approaches={**plan.approaches, "site_location": balanced, "refinement": refined})


def thesis_plan(
    like: str,
    groupings: tuple[Grouping, ...],
    region_column: str = "region",
    workers: int = 0,
    random_seed: int = 0,
    also: Sequence[str] = (),
) -> Plan:
    """The plan of one half of the tables, with further locations if there are any."""
    locations = [make("site_location", name) for name in LOCATIONS]
    clustered = [make("site_location", "adc", {"seeding": one}) for one in locations]
    return Plan(
        region_column=region_column,
        quasi_identifier_sets=tuple(SELECTIONS.values()),
        ks=(5,),
        approaches={
            "site_number": tuple(
                make("site_number", name, {} if name == "anonymity" else {"model": like}) for name in NUMBERS
            ),
            "site_location": (*locations, *clustered, *(make("site_location", name) for name in also)),
        },
        groupings=groupings,
        generalised=(False, True),
        random_seed=random_seed,
        pareto_measures=preset(THESIS),
        workers=workers,
    )


def cells_of(comparison: Comparison, like: str) -> list[Cell]:
    """The rows of the tables from a finished comparison of `thesis_plan`."""
    names = {columns: name for name, columns in SELECTIONS.items()}
    tables = {scenario: FIRST_TABLE[like] + place for place, scenario in enumerate(comparison.plan.scenarios)}
    cells = []
    for one in comparison.finished:
        scenario, problem = one.combination.scenario, one.problem
        facts = {
            "region": like,
            "quasi_identifiers": names[scenario.quasi_identifiers],
            "generalised": "yes" if scenario.generalised else "no",
            "records": str(problem.records),
            "regions": str(len(problem.regions)),
            "classes": str(problem.counts.max_combinations),
        }
        for place, solution in enumerate(one.result.solutions):
            named, refinement = solution.approaches, solution.approaches["refinement"]
            refined = "" if refinement == NOTHING else f" + {refinement}"
            values = {name: solution.measures.get(name) for name in (*MEASURES, "seconds")}
            cells.append(
                Cell(
                    tables[scenario],
                    named["site_number"],
                    named["site_location"] + refined,
                    named.get("adc_seeding") or "",
                    place,
                    solution.site_count,
                    values,
                    facts,
                )
            )
    return cells


def published_canada(like: str) -> list[Cell]:
    """Read the published rows of one half that come with the program; there are none of central Canada."""
    return read_reference(resource("published/canada.csv"), like)


def read_reference(path: Path, like: str) -> list[Cell]:
    """The published rows of one half, from a CSV with the columns of `COLUMNS`; an empty cell was left out."""
    cells = read_published(path, COLUMNS, "", lambda row: _published(row) if row["region"] == like else None)
    numbers: dict[tuple[int, str], set[int]] = {}
    for cell in cells:
        numbers.setdefault((cell.table, cell.site_number), set()).add(cell.sites)
    # The place of a number of sites is its rank among those of its table and number approach.
    return [replace(c, place=sorted(numbers[c.table, c.site_number]).index(c.sites)) for c in cells]


def _published(row: Mapping[str, str]) -> Cell | None:
    """A row without a number of sites stands for a combination that was given up: nothing was published of it."""
    if not row["sites"]:
        return None
    return Cell(
        int(row["table"]),
        row["site_number"],
        row["site_location"],
        row["adc_seeding"],
        0,
        int(row["sites"]),
        {name: _number(row[name]) for name in (*MEASURES, "seconds")},
        {name: row[name] for name in _FACTS},
    )


def _number(text: str) -> float | int | None:
    if text == "":
        return None
    value = float(text)
    return int(text) if text.lstrip("-").isdecimal() else value


def table_csv(cells: Iterable[Cell]) -> str:
    """Rows as CSV, in the form of a reference file."""
    own = ("table", "site_number", "site_location", "adc_seeding", "sites")
    rows = ({**cell.facts, **cell.values, **{name: getattr(cell, name) for name in own}} for cell in cells)
    return csv_of(COLUMNS, ([row[name] for name in COLUMNS] for row in rows))
